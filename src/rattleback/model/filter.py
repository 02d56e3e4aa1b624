"""Collision filter: pairs of bodies that never collide, and categories as bits.

Bodies i and j meet where

    c_i & m_j ≠ 0   and   c_j & m_i ≠ 0   and   {i, j} is not excluded   and   not both are static

Symbols: c bits of the categories a body belongs to, m bits of those it can meet. Excluded are bodies joined by a joint,
those that ``scene.exclude`` names, alone or by group, and those a predicate names; less those ``scene.allow`` names.
"""

from __future__ import annotations

from itertools import combinations, product
from typing import TYPE_CHECKING

import numpy as np

from rattleback.core import checks
from rattleback.core.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from rattleback.model.body import Body
    from rattleback.model.scene import Scene

    Pair = tuple[int, int]

# The bits of a signed 32-bit number without its sign.
MOST_CATEGORIES = 31
EVERYTHING = 2**MOST_CATEGORIES - 1


def excluded_pairs(scene: Scene) -> set[tuple[int, int]]:
    """The pairs of bodies (i, j), i < j, of one world that never collide, categories and static bodies aside."""
    found = set(_joined(scene))
    by_hand = {True: set[tuple[int, int]](), False: set[tuple[int, int]]()}
    for names, meet in scene.meetings.items():
        by_hand[meet].update(_between(scene, names))
    found |= by_hand[False]
    for predicate in scene.predicates:
        found.update(_named(scene, predicate, found | by_hand[True]))
    return found - by_hand[True]


def category_bits(scene: Scene) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Categories as bits: those each body belongs to, and those it can meet, each (bodies,).

    Raises:
        InputError: The scene has more than 31 categories.
    """
    bits: dict[str, int] = {}
    for body in scene.bodies:
        for name in body.category:
            if name not in bits and len(bits) == MOST_CATEGORIES:
                raise InputError(
                    f"Scene {scene.name!r} has more than {MOST_CATEGORIES} categories; {name!r} of body {body.name!r} "
                    "is one too many. Use fewer, or scene.exclude(a, b) for single pairs and groups."
                )
            bits.setdefault(name, 1 << len(bits))
    category = [sum(bits[name] for name in body.category) for body in scene.bodies]
    # A category without bodies needs no bit.
    mask = [
        EVERYTHING if body.collides_with is None else sum(bits.get(name, 0) for name in body.collides_with)
        for body in scene.bodies
    ]
    return np.array(category, dtype=np.int32), np.array(mask, dtype=np.int32)


def check_predicate(predicate: object) -> None:
    """Refuse what ``exclude_if`` could not ask about a pair of bodies."""
    if not callable(predicate) or isinstance(predicate, type):
        example = "lambda a, b: a.group == b.group"
        raise InputError(f"exclude_if got {predicate!r}; it must be a function of two bodies, such as {example}.")


def predicate_name(predicate: object) -> str:
    """What a predicate is called in messages."""
    return str(getattr(predicate, "__name__", repr(predicate)))


def _joined(scene: Scene) -> Iterator[Pair]:
    """The pairs that a joint holds together."""
    for joint in scene.joints.values():
        if scene.world.name not in (joint.a, joint.b):
            yield from _ordered(scene.index(joint.a), scene.index(joint.b))


def _between(scene: Scene, names: tuple[str, ...]) -> Iterator[Pair]:
    """The pairs between two bodies or groups, or inside one group."""
    first, last = (_members(scene, name) for name in (names[0], names[-1]))
    for i, j in product(first, last):
        yield from _ordered(i, j)


def _members(scene: Scene, name: str) -> list[int]:
    return [scene.index(body) for body in scene.groups.get(name, [name])]


def _ordered(i: int, j: int) -> Iterator[Pair]:
    """The pair in order, unless it is one body twice."""
    if i != j:
        yield min(i, j), max(i, j)


def _named(scene: Scene, predicate: Callable[[Body, Body], bool], settled: set[Pair]) -> Iterator[Pair]:
    """The pairs that a predicate names; those that are settled, or can never meet, are not asked about."""
    able = [i for i, body in enumerate(scene.bodies) if body.colliders]
    called = predicate_name(predicate)
    for i, j in combinations(able, 2):
        a, b = scene.bodies[i], scene.bodies[j]
        if (a.static and b.static) or (i, j) in settled:
            continue
        if checks.flag(predicate(a, b), f"What {called!r} in exclude_if says of {a.name!r} and {b.name!r}"):
            yield i, j
