"""Bodies at rest on each other: a wall and what knocks it down, a tower, and books that hang over the edge of a table.

    books:  Σ j dⱼ / k < l/2 for every k,   with dⱼ = l/(2 j) in the limit;   overhang of all  ½ l Σ 1/j,  j = 1 … n

l length of a book, dⱼ how far the j-th book from the top hangs over what it lies on, n number of books. Where every dⱼ
is a part p of the limit, the middle of the upper k books is (1 − p) l/2 inside the edge they lie on, for every k: the
stack stands where p < 1 and falls where p > 1.

Reference: Bender, dissertation, §5.5.1.2, figure 5.10 (wall).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from rattleback.core import checks
from rattleback.core.errors import InputError
from rattleback.model import Material, Scene
from rattleback.scenes.impacts import hang_ball
from rattleback.shapes import Box, Plane

if TYPE_CHECKING:
    from rattleback.model.body import BodyOptions

MASONRY = Material(restitution=0.1, static_friction=0.2, dynamic_friction=0.1)
ROUGH = Material(friction=0.5)
# A brick [m], and how many lie in a layer: one fewer in every second.
BRICK, BRICKS_ACROSS = (1.0, 0.4, 0.3), 11
# The ball: length of its arm, how far in front of the wall it hangs, its least height [m]; its mass [kg].
BALL_ARM, BALL_DISTANCE, BALL_LOWEST, BALL_MASS = 7.0, 1.2, 1.1, 10.0
# A book of 1 kg, and the table it lies on [m].
BOOK, TABLE = (0.3, 0.2, 0.04), (1.0, 0.6, 1.0)


def wall(layers: int = 24, ball: bool = True) -> Scene:
    """A wall of 252 bricks, and a ball on a hinged arm that swings into it.

    The bricks have 1 kg, the ball 10 kg; it starts at rest with its arm level, and touches the wall when it hangs.

    Args:
        layers: Number of layers, of 11 and 10 bricks by turns.
        ball: Whether there is a ball.
    """
    layers = checks.count(layers, "The layers of wall")
    ball = checks.flag(ball, "The ball of wall")
    scene = Scene(name="wall")
    length, _, height = BRICK
    scene.add_static(Plane(), name="ground", material=MASONRY)
    for layer in range(layers):
        across = BRICKS_ACROSS - layer % 2
        for k in range(across):
            place = (length * (k - 0.5 * (across - 1)), 0.0, height * (layer + 0.5))
            name = f"brick_{layer + 1}_{k + 1}"
            scene.add_body(Box(*BRICK), mass=1.0, name=name, material=MASONRY, position=place)
    if ball:
        pivot = (0.0, -BALL_DISTANCE, max(0.5 * height * layers, BALL_LOWEST) + BALL_ARM)
        options: BodyOptions = {"name": "ball", "mass": BALL_MASS, "material": MASONRY}
        hang_ball(scene, pivot, BALL_ARM, (1.0, 0.0, 0.0), -0.5 * math.pi, options)
    return scene


def tower(cubes: int = 50, growth: float = 1.0) -> Scene:
    """Cubes of 1 m on top of each other, at rest.

    Args:
        cubes: Number of cubes; the lowest has 1 kg.
        growth: Mass of each beside that of the one below it.
    """
    cubes = checks.count(cubes, "The cubes of tower")
    growth = checks.positive(growth, "The growth of tower")
    if abs(math.log10(growth)) * (cubes - 1) > 100.0:
        raise InputError(
            f"The growth of tower is {growth!r}; with {cubes} cubes, masses would differ by a factor above 1e100."
        )
    scene = Scene(name="tower")
    scene.add_static(Plane(), name="ground", material=ROUGH)
    for k in range(cubes):
        place = (0.0, 0.0, k + 0.5)
        scene.add_body(Box(1.0, 1.0, 1.0), mass=growth**k, name=f"cube_{k + 1}", material=ROUGH, position=place)
    return scene


def book_stack(books: int = 10, part: float = 0.99) -> Scene:
    """Books on top of each other that hang over the edge of a table, each as far as it can, or a part of that.

    Args:
        books: Number of books, each 0.3 m long and of 1 kg.
        part: Overhang as a part of the limit, beyond which the stack falls; at most 2.
    """
    books = checks.count(books, "The books of book_stack")
    part = checks.not_negative(part, "The part of book_stack")
    if part > 2.0:
        raise InputError(f"The part of book_stack is {part!r}; it must be at most 2, where books no longer overlap.")
    scene = Scene(name="book_stack")
    length, _, thickness = BOOK
    scene.add_static(Plane(), name="ground", material=ROUGH)
    scene.add_static(Box(*TABLE), name="table", material=ROUGH, position=(-0.5 * TABLE[0], 0.0, 0.5 * TABLE[2]))
    edge = 0.0
    for k in range(books):
        edge += part * length / (2 * (books - k))
        place = (edge - 0.5 * length, 0.0, TABLE[2] + thickness * (k + 0.5))
        scene.add_body(Box(*BOOK), mass=1.0, name=f"book_{k + 1}", material=ROUGH, position=place)
    return scene


def overhang_limit(books: int) -> float:
    """How far a stack of books can hang over the edge of a table [m]."""
    return 0.5 * BOOK[0] * math.fsum(1.0 / k for k in range(1, books + 1))
