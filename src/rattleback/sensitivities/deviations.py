"""What a Jacobian of a running simulation is taken by: coordinates and rates of joints, motion, commands, parameters.

| name | what is changed |
|---|---|
| ``hinge.angle``, ``rail.position``, ``hinge.velocity`` | coordinate or rate of a joint, with all that hangs on it |
| ``ball.position``, ``ball.velocity``, ``ball.angular_velocity`` | motion of a body, (3,) |
| ``ball.applied_force``, ``ball.applied_torque`` | what is applied to it, (3,) |
| ``hinge.effort`` | the torque or force written to a joint |
| ``motor.target`` | the target of a servo |
| any other, as ``arm.mass``, ``hinge.damping`` | a parameter of the scene, as ``vary`` names it |
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from rattleback.core.errors import InputError, RattlebackError
from rattleback.dynamics.articulation import Articulation
from rattleback.model.row_counts import servo_places
from rattleback.model.worlds.parameters import change, split_name, value_of
from rattleback.model.worlds.structure import check_structure
from rattleback.sensitivities.result import distance_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rattleback.model.scene import Scene
    from rattleback.simulation import Simulation

    Floats = NDArray[np.float64]

WINDOWS = ("position", "velocity", "angular_velocity", "applied_force", "applied_torque")
# Parts of the state that a parameter of this name would not reach.
IN_STATE = ("breaking_force", "breaking_torque")


@dataclass(frozen=True)
class Deviation:
    """Something that is changed.

    Attributes:
        kind: ``"coordinate"``, ``"rate"``, ``"motion"``, ``"effort"``, ``"target"`` or ``"parameter"``.
        owner: What it belongs to.
        inner: What of it.
        value: What it is now, (n,).
        shape: Its shape, where it is a parameter.
    """

    kind: str
    owner: str
    inner: str
    value: Floats
    shape: tuple[int, ...] = ()

    @property
    def names(self) -> list[str]:
        """Names of its numbers."""
        name = f"{self.owner}.{self.inner}"
        if len(self.value) == 1:
            return [name]
        ends = "xyz" if len(self.value) == 3 else map(str, range(len(self.value)))
        return [f"{name}.{end}" for end in ends]

    @property
    def distances(self) -> list[float]:
        """The largest distances of its numbers."""
        if self.kind == "parameter":
            return [distance_of(float(np.abs(self.value).max()))] * len(self.value)
        return [distance_of(max(1.0, abs(value))) for value in self.value.tolist()]


def find_deviation(simulation: Simulation, name: str, world: int) -> Deviation:
    """What a name means, and what it is in a world now."""
    owner, _, inner = str(name).rpartition(".")
    state, scene = simulation.state, simulation.scene
    if owner in scene.joints and inner in ("angle", "position", "velocity", "effort"):
        return _of_joint(simulation, owner, inner, world)
    if owner in scene and inner in WINDOWS:
        row = state.now(inner).reshape(-1, state.shape[-1], 3)[world, simulation.model.index(owner)]
        return Deviation("motion", owner, inner, np.array(row, dtype=np.float64))
    if owner in servo_places(scene) and inner == "target":
        return Deviation("target", owner, inner, np.atleast_1d(simulation.servo(owner).target)[[world]])
    if owner in scene and inner == "orientation":
        raise InputError(f"{name!r} has no three directions of its own; take the angles of joints, or its velocities.")
    owner, inner = split_name(scene, name)
    try:
        value = np.asarray(value_of(simulation.model.scenes.of(world), owner, inner), dtype=np.float64)
    except (TypeError, ValueError):
        value = np.array([])
    if not value.size or not np.isfinite(value).all() or inner in IN_STATE:
        raise InputError(f"A Jacobian cannot be taken by {name!r}, which has no number that changes a little.")
    return Deviation("parameter", owner, inner, value.ravel(), value.shape)


def _of_joint(simulation: Simulation, owner: str, inner: str, world: int) -> Deviation:
    joints = simulation.joints
    places = [place for place, found in enumerate(joints.names) if found.split(".")[0] == owner]
    if len(places) != 1 or (
        (inner == "position") != (joints.coordinates[places[0]].freedom == "slide_z")
        and inner
        in (
            "angle",
            "position",
        )
    ):
        raise InputError(f"Joint {owner!r} has no {inner!r} that one number tells.")
    kinds = {"velocity": ("rate", joints.velocity), "effort": ("effort", joints.torque)}
    kind, values = kinds.get(inner, ("coordinate", joints.position))
    return Deviation(kind, owner, inner, np.atleast_2d(np.array(values, dtype=np.float64))[world, places])


def varied_scenes(
    base: Scene, deviations: list[Deviation], moved: list[Floats]
) -> tuple[list[Scene], list[list[bool]]]:
    """The scene of every world, and which numbers cannot be smaller.

    Args:
        base: The scene of all of them, but for parameters.
        deviations: What is changed.
        moved: How far, of each (worlds, n); where it cannot be smaller, what would make it so is set to zero.
    """
    one_sided = []
    for deviation, by in zip(deviations, moved, strict=True):
        alone = [False] * len(deviation.value)
        if deviation.kind == "parameter":
            for k, (name, distance) in enumerate(zip(deviation.names, deviation.distances, strict=True)):
                if refused := _refusal(base, deviation, distance, k):
                    raise InputError(f"A Jacobian cannot be taken by {name!r}: {refused}")
                alone[k] = bool(_refusal(base, deviation, -distance, k))
            by[:, alone] = by[:, alone].clip(min=0.0)
        one_sided.append(alone)
    scenes = []
    for world in range(len(moved[0])):
        scene = base
        for deviation, by in zip(deviations, moved, strict=True):
            if deviation.kind == "parameter" and by[world].any():
                scene = base.copy()
                _change(scene, deviation, by[world])
        scenes.append(scene)
    return scenes, one_sided


def apply(simulation: Simulation, deviations: list[Deviation], moved: list[Floats]) -> None:
    """Change the states and commands of all worlds of a simulation."""
    driven = [(deviation, by) for deviation, by in zip(deviations, moved, strict=True) if deviation.kind != "parameter"]
    if joints := [(found, by) for found, by in driven if found.kind in ("coordinate", "rate")]:
        robot = Articulation(simulation.scene)
        q, v = (np.array(found) for found in robot.coordinates_of(simulation))
        for deviation, by in joints:
            place = robot.places(deviation.owner)[deviation.kind == "rate"]
            (q if deviation.kind == "coordinate" else v)[:, place] += by
        robot.move_to(simulation, q, v)
    for deviation, by in driven:
        value = deviation.value + by
        if deviation.kind == "motion":
            setattr(simulation[deviation.owner], deviation.inner, value)
        elif deviation.kind == "effort":
            column = [name.split(".")[0] for name in simulation.joints.names].index(deviation.owner)
            simulation.joints.torque[:, column] = value[:, 0]
        elif deviation.kind == "target":
            simulation.servo(deviation.owner).target = value[:, 0]


def _refusal(base: Scene, deviation: Deviation, by: float, place: int) -> str:
    """Why a scene does not take a parameter that is changed in one number, beside itself; empty where it does."""
    shift, changed = np.zeros(len(deviation.value)), base.copy()
    shift[place] = by
    try:
        _change(changed, deviation, shift)
        check_structure([base, changed])
    except RattlebackError as error:
        return str(error)
    return ""


def _change(scene: Scene, deviation: Deviation, by: Floats) -> None:
    value = (deviation.value + by).reshape(deviation.shape)
    change(scene, deviation.owner, {deviation.inner: float(value) if value.ndim == 0 else value})
