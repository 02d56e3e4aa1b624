"""Between simulations and coordinates: the poses and velocities of bodies as q and v, and back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import warp as wp

from rattleback.core import arrays
from rattleback.core.errors import InputError
from rattleback.dynamics import measure_kernels
from rattleback.model.state import Motion
from rattleback.reduced.moves import BY_TWIST, TURN

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import ArrayLike, NDArray

    from rattleback.dynamics.articulation import Articulation

    Floats = NDArray[np.float64]

NAMES = ("position", "orientation", "velocity", "angular_velocity")


def read_state(robot: Articulation, sim: Any) -> tuple[Floats, Floats]:
    """Coordinates and rates of a simulation of the same scene."""
    _check_scene(robot, sim)
    sim.state.send()
    _check_place(robot, sim)
    count, worlds = len(robot.scene.bodies), sim.worlds or 1
    q = np.tile(robot.neutral(), (worlds, 1))
    angle = sim.state.mirror("joints", "angle").look().reshape(worlds, -1)
    for place, first in counted_angles(robot):
        q[:, first] = angle[:, place]
    bench = robot.bench(worlds)
    bench.put("q", q.ravel())
    world: Any = arrays.allocate(Motion, {"bodies": count * worlds}, robot.device)
    for name, array in arrays.each(world):
        array.assign(np.ascontiguousarray(sim.state.now(name)).reshape(count * worlds, -1))
    inputs = [bench.forest, bench.state, world, count, bench.span(), bench.fault]
    wp.launch(measure_kernels.read, bench.lanes, inputs, device=robot.device)
    bench.check((0, worlds))
    lead = () if sim.worlds is None else (worlds,)
    return bench.take("q").reshape(*lead, robot.nq), bench.take("v").reshape(*lead, robot.nv)


def write_state(robot: Articulation, sim: Any, q: ArrayLike, v: ArrayLike) -> None:
    """Put the bodies of a simulation of the same scene where coordinates and rates say."""
    _check_scene(robot, sim)
    lead = () if sim.worlds is None else (sim.worlds,)
    q, v = (np.broadcast_to(value, (*lead, n)) for value, n in ((np.asarray(q), robot.nq), (np.asarray(v), robot.nv)))
    rows = [robot.scene.index(name) for name in robot.bodies]
    for name, values in zip(NAMES, robot.motion(q, v), strict=True):
        sim.state.write(name, (..., rows, slice(None)), values)
    memory = sim.state.mirror("joints", "angle")
    angle = memory.take().reshape(sim.worlds or 1, -1)
    for place, first in counted_angles(robot):
        angle[:, place] = q[..., first]
    memory.put(angle.ravel())


def counted_angles(robot: Articulation) -> Iterator[tuple[int, int]]:
    """Place of every joint whose angle is counted over full turns, and its coordinate."""
    joints = list(robot.scene.joints)
    for move, label, first, _ in robot.moves:
        if label in joints and move.kind == TURN and move.read == BY_TWIST and move.names == ("turn_z",):
            yield joints.index(label), first


def _check_scene(robot: Articulation, sim: Any) -> None:
    """Refuse a simulation of another scene, or of several with bodies or joints in other places."""
    if not same_places(sim.model.scenes.scenes):
        raise InputError(
            "The worlds of this simulation have bodies or joints in places of their own, and an articulation has those "
            "of one; make one of a single world: alone = sim.world(3), rb.dynamics.Articulation(alone.scene)."
        )
    scenes = [robot.scene, sim.scene]
    bodies, joints = ([[*names(scene)] for scene in scenes] for names in (_body_names, lambda scene: scene.joints))
    if bodies[0] != bodies[1] or joints[0] != joints[1]:
        raise InputError(
            f"The simulation has the scene {sim.scene.name!r}, the articulation {robot.scene.name!r} with other bodies "
            "or joints; make one of its scene: rb.dynamics.Articulation(sim.scene)."
        )


def same_places(scenes: Sequence[Any]) -> bool:
    """Whether bodies and joints of all scenes are in the same places: coordinates then mean the same in all."""
    return len(scenes) == 1 or len({_places(scene) for scene in scenes}) == 1


def _places(scene: Any) -> bytes:
    """Where bodies and joints of a scene are."""
    bodies = [(*body.position, *body.orientation, *body.center_of_mass) for body in scene.bodies]
    joints = [np.concatenate([np.ravel(part) for part in (*j.points(), *j.frames())]) for j in scene.joints.values()]
    found: Floats = np.concatenate([np.ravel(bodies), *joints])
    return found.tobytes()


def _check_place(robot: Articulation, sim: Any) -> None:
    """Refuse a simulation in which the ground was moved or a joint is broken."""
    scene, worlds = robot.scene, sim.worlds or 1
    broken = sim.state.mirror("breaks", "broken").look().reshape(worlds, -1).any(axis=0)
    if broken.any():
        name = list(scene.joints)[int(broken.argmax())]
        raise InputError(f"Joint {name!r} is broken in the simulation; it has no coordinates any more.")
    position, turn = (sim.state.now(name).reshape(worlds, len(scene.bodies), -1) for name in NAMES[:2])
    carriers = {side for joint in scene.joints.values() for side in (joint.a, joint.b)}
    for row, body in enumerate(scene.bodies):
        stays = np.allclose(position[:, row], body.position) and np.allclose(turn[:, row], body.orientation)
        if body.static and body.name in carriers and not stays:
            raise InputError(
                f"The static body {body.name!r} was moved in the simulation; coordinates are against where it was. "
                "Move it in the scene, scene.change_body, and make the articulation of that."
            )


def _body_names(scene: Any) -> list[str]:
    return [body.name for body in scene.bodies]
