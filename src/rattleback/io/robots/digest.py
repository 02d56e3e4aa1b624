"""A digest of a scene as a robot: the same before and after a file, as far as the format of the file has words for it.

    SHA-256 of   names, masses and principal moments of bodies
                 names, kinds, limits, friction (armature but in URDF) of the joints of the trees
                 laws of joints that follow others (only linear ones in URDF)
                 S(q), p(q)   at two configurations

S the mass matrix of the rates of joints with all else free, M_jj − M_jf M_ff⁻¹ M_fj, so that frames of floating roots
do not matter; p the places of the centres of mass of a robot that stands. Configurations follow from the names of the
coordinates, so that neither frames of links nor starts matter. Numbers count to seven digits of the largest of their
kind. Left out are looks, shapes, loops, drives, links without mass, and S and p where a ball joint is in a tree, as
its coordinates are others in other files, and in URDF where a pinion stands for a coupling, as it lies where they
start.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

import numpy as np

from rattleback.core import checks
from rattleback.joints import Ball, VelocityJoint
from rattleback.joints.stop import stops_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from rattleback.dynamics import Articulation
    from rattleback.model import Scene

    Floats = NDArray[np.float64]

FORMATS = ("urdf", "mjcf", "sdf", "usd")
DIGITS = 7
CONFIGURATIONS = ("first", "second")
# Largest coordinate of a configuration [rad or m].
REACH = 0.5


def digest(scene: Scene, format: str | None = None) -> str:
    """A digest of a scene as a robot, which a file keeps that is written and read again.

    Args:
        scene: The scene.
        format: ``"urdf"``, ``"mjcf"``, ``"sdf"`` or ``"usd"``: leave out what that format cannot say; None for nothing.

    Returns:
        64 hexadecimal digits.
    """
    from rattleback.dynamics import Articulation

    if format is not None:
        checks.one_of(format, FORMATS, "The format of digest")
    moving = any(not body.static for body in scene.bodies)
    robot = Articulation(scene, armature=0.0) if moving else None
    told = _told(scene, format)
    lines = [*_bodies(scene, told), *_joints(scene, robot, format), *_laws(scene, format)]
    if robot is not None:
        lines += _dynamics(scene, robot, told, format)
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()


def _text(values: Any, scale: float | None = None) -> str:
    """Numbers to so many digits of the largest of them, or of a scale."""
    array = np.atleast_1d(np.asarray(values, dtype=np.float64)).ravel()
    finite = np.abs(array[np.isfinite(array)])
    size = max(float(finite.max(initial=0.0)), 1e-30) if scale is None else scale
    # A zero has no sign.
    return " ".join(f"{value:.{DIGITS}f}" for value in np.round(array / size, DIGITS) + 0.0) + f" {size:.{DIGITS - 1}e}"


def _told(scene: Scene, format: str | None) -> set[str]:
    """Bodies that move and have a mass in files of a format: what links borrow is theirs in USD."""
    robot: Any = scene.robot
    masses = robot.masses if robot is not None and format != "usd" else {}
    hollow = {name for name, (before, _) in masses.items() if before is None}
    return {str(body.name) for body in scene.bodies if not body.static} - hollow


def _bodies(scene: Scene, told: set[str]) -> Iterator[str]:
    for body in sorted(scene.bodies, key=lambda entry: str(entry.name)):
        if body.name in told:
            yield f"body {body.name} {_text(body.mass)} {_text(np.linalg.eigvalsh(body.inertia))}"


def _joints(scene: Scene, robot: Articulation | None, format: str | None) -> Iterator[str]:
    cut = set(robot.cut_joints) if robot else set()
    for name, joint in sorted(scene.joints.items()):
        if name in cut or isinstance(joint, VelocityJoint):
            continue
        stops = sorted((stop.freedom, stop.lower, stop.upper) for stop in stops_of(joint))
        limits = [f"{freedom} {_text((lower, upper))}" for freedom, lower, upper in stops]
        drive = [getattr(joint, "friction", 0.0), getattr(joint, "armature", 0.0) if format != "urdf" else 0.0]
        yield f"joint {name} {type(joint).__name__} {' '.join(limits)} {' '.join(map(_text, drive))}"


def _laws(scene: Scene, format: str | None) -> Iterator[str]:
    robot: Any = scene.robot
    laws = robot.couplings if robot is not None else []
    for law in sorted(laws, key=lambda entry: (entry.follower, entry.leader)):
        if law.linear or format != "urdf":
            yield f"law {law.follower} {law.leader} {_text([law.value(x) for x in (-0.7, 0.0, 0.9)])}"


def _dynamics(scene: Scene, robot: Articulation, told: set[str], format: str | None) -> Iterator[str]:
    """S and p at configurations that follow from the names of the coordinates."""
    joints = {name: robot.places(name) for name in scene.joints if _is_of_tree(robot, name)}
    balls = any(isinstance(scene.joints[name], Ball) for name in joints)
    if balls or (format == "urdf" and scene.robot and scene.robot.pinions):
        return
    owned = [k for _, rates in joints.values() for k in range(rates.start, rates.stop)]
    names = sorted(owned, key=lambda k: robot.rates[k])
    for seed in CONFIGURATIONS:
        q = robot.neutral()
        for coordinates, _ in joints.values():
            for k in range(coordinates.start, coordinates.stop):
                q[k] = _drawn(f"{seed} {robot.coordinates[k]}")
        yield f"inertia {_text(_left_over(np.asarray(robot.mass_matrix(q)), names))}"
        if len(owned) == robot.nv:
            yield f"places {_text(_centers(scene, robot, told, q))}"


def _is_of_tree(robot: Articulation, name: str) -> bool:
    return any(rate == name or rate.startswith(f"{name}.") for rate in robot.rates) and name not in robot.cut_joints


def _drawn(label: str) -> float:
    """A coordinate that a label stands for."""
    share = int.from_bytes(hashlib.sha256(label.encode()).digest()[:6], "big") / 2.0**48
    return REACH * (2.0 * share - 1.0)


def _left_over(matrix: Floats, kept: list[int]) -> Floats:
    """The part of a mass matrix for some rates where all others are free."""
    others = [k for k in range(len(matrix)) if k not in kept]
    found = matrix[np.ix_(kept, kept)]
    if others and kept:
        between = matrix[np.ix_(kept, others)]
        found = found - between @ np.linalg.solve(matrix[np.ix_(others, others)], between.T)
    return found


def _centers(scene: Scene, robot: Articulation, told: set[str], q: Floats) -> Floats:
    """Centres of mass of the bodies by name, of those with a mass in the file."""
    frames = np.asarray(robot.frames(q))
    found = {}
    for place, name in enumerate(robot.bodies):
        if name in told:
            found[name] = (frames[place] @ np.append(scene[name].center_of_mass, 1.0))[:3]
    return np.array([found[name] for name in sorted(found)])
