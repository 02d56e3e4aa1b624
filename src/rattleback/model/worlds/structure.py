"""The structure of a scene: what worlds side by side must have in common, as their equations have one pattern.

Numbers may differ from world to world: masses, sizes, places, materials, gains. Names, kinds and their order may not,
nor which rows a joint has, which of its laws are there at all, and what may touch what.
"""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from typing import TYPE_CHECKING, Any

from rattleback.core.errors import InputError
from rattleback.joints.soft import soft_rows
from rattleback.joints.stop import stops_of
from rattleback.model.breaks import LIMITS
from rattleback.model.collider_list import triangle_counts
from rattleback.shapes import Compound, Mesh

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from rattleback.model.body import Body
    from rattleback.model.scene import Scene

# Numbers of a row of which only matters whether they are there.
LAWS = ("rate", "damping", "stiffness", "armature", "friction", "limit")


def check_structure(scenes: Sequence[Scene]) -> None:
    """Refuse scenes of different structure; the message names the first difference.

    Args:
        scenes: The scene of each world.
    """
    for world, scene in enumerate(scenes[1:], 1):
        if (said := difference(scenes[0], scene)) is not None:
            raise InputError(
                f"World {world} cannot run beside world 0: {said}. Worlds side by side have the same bodies, joints "
                "and forces, of the same kinds; make a Simulation of its own for the others."
            )


def difference(one: Scene, other: Scene) -> str | None:
    """The first difference in structure between two scenes, as part of a sentence; None where there is none."""
    return next(_differences(one, other), None)


def _differences(one: Scene, other: Scene) -> Iterator[str]:
    names: tuple[list[str], list[str]] = ([body.name for body in one.bodies], [body.name for body in other.bodies])
    pairs: list[tuple[str, Iterable[Any], Iterable[Any], Callable[[Any, Scene], dict[str, Any]]]] = [
        ("body", one.bodies, other.bodies, _of_body),
        ("joint", one.joints.values(), other.joints.values(), _of_joint),
        ("force", one.forces.values(), other.forces.values(), _of_force),
    ]
    listed = (names, (list(one.joints), list(other.joints)), (list(one.forces), list(other.forces)))
    for (kind, first, second, of), (known, there) in zip(pairs, listed, strict=True):
        if known != there:
            yield _of_names(kind, known, there)
            return
        for name, a, b in zip(known, first, second, strict=True):
            yield from _of_two(f"{kind} {name!r}", a, b, (of(a, one), of(b, other)) if a is not b else ({}, {}))
    yield from _of_two("the scene", one, other, (_of_scene(one), _of_scene(other)))


def _of_names(kind: str, known: list[str], there: list[str]) -> str:
    """What one list of names has and the other has not."""
    plural = {"body": "bodies"}.get(kind, f"{kind}s")
    if lacking := [name for name in known if name not in there]:
        return f"it has no {kind} {lacking[0]!r}"
    if added := [name for name in there if name not in known]:
        return f"it has the {kind} {added[0]!r}, which world 0 has not"
    return f"its {plural} are in another order"


def _of_two(what: str, a: Any, b: Any, both: tuple[dict[str, Any], dict[str, Any]]) -> Iterator[str]:
    """In what two things differ."""
    if both[0] == both[1] and type(a) is type(b):
        if both[0].get("code", False) and a != b:
            yield f"{what} is a {type(a).__name__}, which all worlds must have alike"
        return
    if type(a) is not type(b):
        yield f"{what} is a {type(b).__name__} there and a {type(a).__name__} in world 0"
        return
    aspect = next(name for name, value in both[0].items() if both[1].get(name) != value)
    yield f"{what} differs in its {aspect} from the one of world 0"


def _of_body(body: Body, scene: Scene) -> dict[str, Any]:
    return {
        "static": body.static,
        "collision shapes": [kind for placed in body.colliders for kind in _kinds(placed)],
        "triangles of its collision shapes": triangle_counts(body),
        "category": (body.category, body.collides_with),
        "continuous": body.continuous,
        "group": body.group,
    }


def _kinds(placed: Any) -> list[type[Any]]:
    """The classes of the colliders that a shape becomes."""
    shape = getattr(placed, "shape", placed)
    if isinstance(shape, Compound):
        return [kind for inner in shape.parts for kind in _kinds(inner)]
    if isinstance(shape, Mesh) and shape.decompose:
        return [type(part) for part in shape.parts]
    return [type(shape)]


def _of_joint(joint: Any, scene: Scene) -> dict[str, Any]:
    return {
        "bodies": (joint.a, joint.b),
        "rows": [_of_row(row) for row in soft_rows(joint)],
        "limits": [stop.freedom for stop in stops_of(joint)],
        "breaking limits": [getattr(joint, option, None) is None for option in LIMITS],
        "damping, armature or friction": [
            bool(getattr(joint, name, 0.0)) for name in ("axis_damping", "armature", "friction")
        ],
        "way of being placed": joint.in_bodies,
    }


def _of_row(row: Any) -> tuple[Any, ...]:
    askew = row.kind in ("cross", "orient") and bool(row.offset)
    return row.kind, row.axis_a, row.axis_b, askew, *(bool(getattr(row, name)) for name in LAWS)


def _of_force(force: Any, scene: Scene) -> dict[str, Any]:
    label = next(name for name, own in scene.forces.items() if own is force)
    rows = force.drive_rows(scene, label) if hasattr(force, "drive_rows") else {}
    words = {field.name: getattr(force, field.name) for field in fields(force)} if is_dataclass(force) else {}
    named = {name: value for name, value in words.items() if _is_name(value)}
    return {
        **named,
        "schedules": [name for name, value in words.items() if _is_course(value)],
        "rows": {name: [_of_row(row) for row in own] for name, own in rows.items()},
        "integral over a window": getattr(force, "stretches", None),
        "damping": force.depends_on_velocity,
        "dependence on poses": force.depends_on_pose,
        "code": not getattr(force, "by_world", False),
    }


def _is_name(value: Any) -> bool:
    """Whether a field is a name, or a list of names, and no number."""
    return isinstance(value, str) or (isinstance(value, tuple) and all(isinstance(part, str) for part in value))


def _is_course(value: Any) -> bool:
    """Whether a field changes with time, or one of its parts does."""
    return callable(value) or (isinstance(value, tuple) and any(map(callable, value)))


def _of_scene(scene: Scene) -> dict[str, Any]:
    return {
        "groups": {name: [body.name for body in members] for name, members in scene.groups.items()},
        "pairs that may collide": scene.meetings,
        "exclusions by function": scene.predicates,
        "rules for materials": scene.rules,
    }
