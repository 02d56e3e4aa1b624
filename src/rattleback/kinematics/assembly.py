"""All assembly modes of a Stewart platform: every pose its legs allow, by continuation from a machine that is known.

    |p + R b_i − a_i| = l_i,   i = 1 … 6          40 solutions (p, R) in complex numbers, if the machine is general

a_i anchors on the base, b_i on the platform, l_i lengths of the legs.

    once     a generic complex machine and its 40 solutions, found by monodromy: legs are led around loops in the space
             of all machines until no loop brings a new solution (``starts.npz`` has them; ``generic_start`` finds them)
    always   its 40 paths are followed to the machine asked for (``continuation``)
    sort     arrived and real: a mode; arrived and not real: none; where |x|² is or tends to zero: at infinity; lost
             elsewhere: unsure
    polish   real ones by Newton's method on the lengths

A special machine has fewer: 16 where the legs share three anchors on the platform or on both sides, 28 where they are
three symmetric pairs on a circle on either side. Poses that belong to a continuous motion at fixed lengths, or to a
double solution, are no isolated ones and count as ``unsure``.

Cost: 40 paths, 0.3 s on one core.

Reference: Ronga and Vust (1995) and Mourrain (1993) for the number 40; Dietmaier, Advances in Robot Kinematics (1998),
7–16, for a machine with 40 real modes; Sommese and Wampler, The Numerical Solution of Systems of Polynomials (2005),
for paths between machines and for monodromy.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rattleback.kinematics import study
from rattleback.kinematics.continuation import Legs, follow

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

SOLUTIONS = 40
STARTS = Path(__file__).with_name("starts.npz")
# Points of length one: real to this part, the same to this angle squared.
REAL, SAME = 1e-8, 1e-10
# At infinity |x·x| is zero: to rounding for paths that arrive there, nearly so for those that get lost on their way.
NO_POSE, HARDLY_A_POSE = 1e-12, 1e-4
MOST_LOOPS = 60


class Assemblies(NamedTuple):
    """Every way six legs of given lengths can be assembled.

    Attributes:
        pose: Real poses (modes, 4, 4), the highest first.
        finite: How many isolated poses there are in complex numbers, the real ones among them.
        infinite: How many of the 40 have gone to infinity, as this machine is a special one.
        unsure: How many belong to a double pose or a continuous motion; not zero: the modes may not be complete.
    """

    pose: Floats
    finite: int
    infinite: int
    unsure: int


def assemblies_of(base: Floats, platform: Floats, lengths: Floats) -> Assemblies:
    """All poses of a machine with given lengths; not yet polished.

    Args:
        base: Anchors on the base (6, 3) [m].
        platform: Anchors on the platform (6, 3) [m].
        lengths: Lengths of the legs (6,) [m].
    """
    scale = float(np.abs(np.concatenate([base, platform])).max())
    start, points = known_start()
    ends = follow(start, Legs(base / scale, platform / scale, (lengths / scale) ** 2), points)
    away = study.size_of(ends.points) < np.where(ends.arrived, NO_POSE, HARDLY_A_POSE)
    found = ends.points[ends.arrived & ~away]
    # A real machine has every solution together with its conjugate, so that a path that got lost is not missed.
    there = _distinct(np.concatenate([found, found.conj()]))
    infinite = min(int(away.sum()), SOLUTIONS - len(there))
    real = study.real_poses(there[study.imaginary_part(there) < REAL]) if len(there) else np.zeros((0, 4, 4))
    real[:, :3, 3] *= scale
    order = np.argsort(-real[:, 2, 3], kind="stable")
    return Assemblies(real[order], len(there), infinite, SOLUTIONS - len(there) - infinite)


@lru_cache(maxsize=1)
def known_start() -> tuple[Legs, Any]:
    """A generic complex machine and its 40 solutions (40, 8), as they were found once."""
    with np.load(STARTS) as stored:
        return Legs(stored["base"], stored["platform"], stored["squares"]), stored["points"]


def generic_start(seed: int) -> tuple[Legs, Any]:
    """A generic complex machine and all solutions that loops find, by monodromy."""
    generator = np.random.default_rng(seed)
    start, points = _one_solution(generator)
    for _ in range(MOST_LOOPS):
        if len(points) == SOLUTIONS:
            break
        corners, ends = [start, _any_legs(generator), _any_legs(generator), start], points
        for one, other in pairwise(corners):
            found = follow(one, other, ends)
            ends = found.points[found.arrived]
        points = _distinct(np.concatenate([points, ends]))
    return start, points


def _one_solution(generator: np.random.Generator) -> tuple[Legs, Any]:
    """A machine made to fit a pose: of all coefficients only the squares of the lengths are chosen."""
    base, platform, _ = _any_legs(generator)
    x, y = _complex(generator, 4), _complex(generator, 4)
    z = np.concatenate([x, y - (x @ y) / (x @ x) * x])
    legs = study.quadrics(study.coefficients(base, platform, np.zeros(6)))
    squares = np.einsum("ijk,j,k->i", legs, z, z) / (x @ x)
    return Legs(base, platform, squares), (z / np.linalg.norm(z))[None]


def _any_legs(generator: np.random.Generator) -> Legs:
    return Legs(_complex(generator, 6, 3), _complex(generator, 6, 3), _complex(generator, 6))


def _complex(generator: np.random.Generator, *shape: int) -> Any:
    return generator.standard_normal(shape) + 1j * generator.standard_normal(shape)


def _distinct(points: Any) -> Any:
    """Points of length one without repetitions up to a factor, in their order."""
    kept: list[Any] = []
    for point in points:
        if all(1.0 - abs(np.vdot(other, point)) > SAME for other in kept):
            kept.append(point)
    return np.array(kept, dtype=np.complex128).reshape(-1, 8)
