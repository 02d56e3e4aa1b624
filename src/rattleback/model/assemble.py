"""Putting a scene together before it starts: bodies are moved until every joint is closed; nothing else changes.

    scene.assemble(tolerance=1e-9, fixed=["base"])

Joints stay where they are on their bodies. A joint placed by frames is not touched. One placed in the world, where the
bodies no longer are, is placed by frames instead, which keeps the zero of its angle; where its rows depend on its place
in the world (``Screw``, ``Gear``, ``Rack``), it is placed anew at the poses found. What pulls at points of bodies, like
a ``Spring``, is carried along. How the poses are found stands in ``closing``.

Reference: Bender, dissertation, §3.3.3: a model that has fallen apart completely is put together again.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from rattleback.constraints.row import VELOCITY_ONLY
from rattleback.core import checks
from rattleback.core.errors import InputError, NotConverged
from rattleback.core.precision import epsilon
from rattleback.core.sealed import sealed
from rattleback.maths import rotation
from rattleback.model.closing import Ends, Measured, Mechanism, Poses, Search

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rattleback.joints.joint import RowSpec
    from rattleback.model.scene import Scene

    Floats = NDArray[np.float64]

# In single precision a metre is known to a tenth of a micrometre; several of them add up.
TOLERANCE = 1e-9 if epsilon < 1e-10 else 1e-4
# Part of the tolerance that is aimed at, so that rounding in what is written back does not use it up.
SHARE = 0.5
# Axes this close are one axis to a joint that is placed anew.
SAME_AXIS = 1e-6


@sealed
@dataclass(frozen=True)
class Assembly:
    """What ``scene.assemble()`` says about itself.

    Attributes:
        position_error: Largest position error of a joint that is left [m].
        orientation_error: Largest orientation error of a joint that is left [rad].
        worst_joint: Joint with the largest error; empty without joints.
        iterations: Most steps a mechanism of the scene needed; zero where nothing had to move.
        redundant_rows: Conditions of the joints that others imply.
    """

    position_error: float = 0.0
    orientation_error: float = 0.0
    worst_joint: str = ""
    iterations: int = 0
    redundant_rows: int = 0


@np.errstate(over="ignore", invalid="ignore")
def assemble(scene: Scene, tolerance: float, max_iterations: int, fixed: Iterable[Any]) -> Assembly:
    """Move the bodies of a scene until its joints are closed; see :meth:`Scene.assemble`."""
    goal = checks.positive(tolerance, "The tolerance of assemble")
    most = checks.count(max_iterations, "The max_iterations of assemble")
    names, ends, start = list(scene.joints), ends_of(scene), _poses(scene)
    specs = [[row for row in joint.rows() if row.kind not in VELOCITY_ONLY] for joint in scene.joints.values()]
    sizes = _sizes(scene, ends, _held(scene, fixed))
    poses, report = start, Assembly()
    for part in _parts(ends.body, sizes, [bool(rows) for rows in specs]):
        labels = [names[k] for k in part]
        mechanism = Mechanism(ends.some(part), [specs[k] for k in part], sizes, poses)
        search = Search(mechanism, poses)
        if not np.isfinite(search.found.sum):
            raise InputError(f"Joint {labels[0]!r} or one it hangs together with is too far away to be computed with.")
        if search.best[0] > goal:
            search.run(SHARE * goal, most if len(mechanism.bodies) else 0)
            poses = search.best[1]
        report = _joined(report, _report(mechanism, labels, poses, search.iterations))
        if search.best[0] > goal:
            raise NotConverged(_complaint(scene, mechanism.measure(poses), labels, search))
    _move(scene, ends, start, poses)
    return report


def ends_of(scene: Scene) -> Ends:
    """Where the joints of a scene sit on their bodies."""
    made, world = list(scene.joints.values()), scene.world.name
    body = np.array([[-1 if name == world else scene.index(name) for name in (j.a, j.b)] for j in made], dtype=np.int64)
    point = np.array([joint.points() for joint in made], dtype=np.float64).reshape(-1, 2, 3)
    turn = np.array([joint.frames() for joint in made], dtype=np.float64).reshape(-1, 2, 4)
    body, poses = body.reshape(-1, 2), _poses(scene)
    center = np.array([*(body.center_of_mass for body in scene.bodies), np.zeros(3)])
    back = rotation.conjugate(poses.orientation[body])
    own = np.array([joint.in_bodies for joint in made], dtype=bool).reshape(-1, 1, 1)
    anchor = np.where(own, point - center[body], rotation.rotate(back, point - poses.position[body]))
    return Ends(body, anchor, np.where(own, turn, rotation.multiply(back, turn)))


def _poses(scene: Scene) -> Poses:
    position = [*(body.position for body in scene.bodies), np.zeros(3)]
    return Poses(np.array(position), np.array([*(body.orientation for body in scene.bodies), rotation.identity()]))


def _held(scene: Scene, fixed: Iterable[Any]) -> set[int]:
    """Indices of the bodies that must not move."""
    given = [fixed] if isinstance(fixed, str) or not isinstance(fixed, Iterable) else fixed
    still = {index for index, body in enumerate(scene.bodies) if body.static}
    for entry in given:
        members = scene.groups.get(entry, [entry]) if isinstance(entry, str) else [entry]
        still.update(scene.index(body) for body in members)
    return still


def _sizes(scene: Scene, ends: Ends, held: set[int]) -> Floats:
    """Size of every body [m]: its radius of gyration or the way to its farthest joint; zero where it must not move."""
    sizes = np.array([0.0 if b.static else np.sqrt(0.5 * np.trace(b.inertia) / b.mass) for b in scene.bodies] + [0.0])
    np.maximum.at(sizes, ends.body, np.linalg.norm(ends.anchor, axis=-1))
    sizes[[*held, -1]] = 0.0
    return sizes[:-1]


def _parts(body: NDArray[np.int64], sizes: Floats, counts: list[bool]) -> list[list[int]]:
    """Joints that hang together through bodies that may move; those between bodies that may not are one part."""
    leader = list(range(len(sizes) + 1))

    def find(node: int) -> int:
        while leader[node] != node:
            leader[node] = node = leader[leader[node]]
        return node

    nodes = [sorted({len(sizes) if i < 0 or sizes[i] == 0.0 else int(i) for i in pair}) for pair in body]
    for pair in nodes:
        if pair[-1] != len(sizes):
            leader[find(pair[0])] = find(pair[-1])
    parts: dict[int, list[int]] = {}
    for joint, pair in enumerate(nodes):
        if counts[joint]:
            parts.setdefault(find(pair[0]), []).append(joint)
    return list(parts.values())


def _report(mechanism: Mechanism, names: list[str], poses: Poses, iterations: int) -> Assembly:
    found = mechanism.measure(poses)
    worst = names[int(np.argmax(np.maximum(found.position, found.orientation)))]
    redundant = mechanism.redundant_rows(found)
    return Assembly(float(found.position.max()), float(found.orientation.max()), worst, iterations, redundant)


def _joined(first: Assembly, second: Assembly) -> Assembly:
    """The report on two parts of a scene."""
    ahead = max(first.position_error, first.orientation_error) > max(second.position_error, second.orientation_error)
    return Assembly(
        max(first.position_error, second.position_error),
        max(first.orientation_error, second.orientation_error),
        first.worst_joint if ahead and first.worst_joint else second.worst_joint,
        max(first.iterations, second.iterations),
        first.redundant_rows + second.redundant_rows,
    )


def _complaint(scene: Scene, found: Measured, names: list[str], search: Search) -> str:
    worst = int(np.argmax(np.maximum(found.position, found.orientation)))
    joint, ending = scene.joints[names[worst]], f"when the {search.iterations} iterations allowed are used up"
    if search.was_stuck or not search.iterations:
        ending = "and no way leads on: the other joints, or bodies that must not move, seem to forbid it"
    return (
        f"Scene {scene.name!r} cannot be assembled: joint {names[worst]!r} of {joint.a!r} and {joint.b!r} is still off "
        f"by {found.position[worst]:.3g} m and {found.orientation[worst]:.3g} rad, {ending}. Nothing was moved."
    )


def _move(scene: Scene, ends: Ends, start: Poses, poses: Poses) -> None:
    """Put the bodies into the poses found, and keep joints and springs where they are on them."""
    moved = (poses.position != start.position).any(axis=1) | (poses.orientation != start.orientation).any(axis=1)
    joints = {
        name: _placed_anew(scene, name, ends.some([k]), poses)
        for k, (name, joint) in enumerate(scene.joints.items())
        if moved[ends.body[k]].any() and not joint.in_bodies
    }
    forces = {
        name: replace(force, **_carried(scene, force, ("at",), poses))
        for name, force in scene.forces.items()
        if all(hasattr(force, field) for field in ("a", "b", "at", "at_b"))
    }
    bodies = {
        i: replace(scene.bodies[i], position=poses.position[i].copy(), orientation=poses.orientation[i].copy())
        for i in np.flatnonzero(moved).tolist()
    }
    scene.renew(bodies, joints, forces if moved.any() else {})


def _placed_anew(scene: Scene, name: str, end: Ends, poses: Poses) -> Any:
    """A joint that was placed in the world, where it is on its bodies."""
    joint = scene.joints[name]
    world = {"at": None, "axis": None, "at_b": None, "axis_b": None}
    center = [np.zeros(3) if i < 0 else scene.bodies[i].center_of_mass for i in end.body[0]]
    frames = {f"frame_{side}": (end.anchor[0, s] + center[s], end.turn[0, s]) for s, side in enumerate("ab")}
    try:
        framed = replace(joint, **world, **frames)
        if _same_rows(framed.rows(), joint.rows()):
            return framed
        if getattr(joint, "bend", None):
            raise InputError("its bend counts from where it was placed.")
        place = _carried(scene, joint, ("at", "axis"), poses)
        if np.abs(place["axis"] - place["axis_b"]).max() < SAME_AXIS:
            place["axis_b"] = place["axis"]
        return replace(joint, **place)
    except InputError as error:
        raise InputError(
            f"Joint {name!r} does not fit where its bodies have to go: {error} Place it by frame_a= and frame_b=."
        ) from None


def _same_rows(first: list[RowSpec], second: list[RowSpec]) -> bool:
    numbers = [np.array([np.hstack(row[1:]) for row in rows]) for rows in (first, second)]
    if [row.kind for row in first] != [row.kind for row in second]:
        return False
    return bool(np.allclose(numbers[0], numbers[1], rtol=1e-12, atol=1e-12))


def _carried(scene: Scene, held: Any, fields: tuple[str, ...], poses: Poses) -> dict[str, Floats]:
    """Points and axes in the world of something held by bodies a and b, carried along by them."""
    before, place = _poses(scene), {}
    for name, side in ((held.a, ""), (held.b, "_b")):
        body = -1 if name == scene.world.name else scene.index(name)
        turn = rotation.multiply(poses.orientation[body], rotation.conjugate(before.orientation[body]))
        for field in fields:
            given, origin = getattr(held, field + side), before.position[body] if field == "at" else np.zeros(3)
            goal = poses.position[body] if field == "at" else np.zeros(3)
            place[field + side] = goal + rotation.rotate(turn, np.subtract(given, origin))
    return place
