"""The quadruped: a trunk on four legs of two hinges each learns to run along x."""

from __future__ import annotations

from typing import Any

import numpy as np

from rattleback.forces.servo import Servo
from rattleback.gym.acting import Target
from rattleback.gym.task import Step, Task
from rattleback.joints import Revolute
from rattleback.maths.rotation import conjugate, quaternion_from_axis_angle, rotate
from rattleback.model import Material, Scene
from rattleback.shapes import Box, Capsule, Plane
from rattleback.simulation import Simulation

LEGS = {"front_left": (1, 1), "front_right": (1, -1), "rear_left": (-1, 1), "rear_right": (-1, -1)}
# Half of the trunk [m], length of a thigh or shin [m], height of the trunk where it stands [m].
TRUNK, LINK, HEIGHT = (0.25, 0.12), 0.2, 0.37
# How far thigh and shin lean forwards and backwards where it stands [rad].
LEAN = 0.5
RUBBER = Material(friction=0.8)


def quadruped_scene() -> Scene:
    """A trunk of 8 kg on four legs that stand with bent knees on the ground; servos hold hips and knees."""
    scene = Scene(name="quadruped")
    scene.add_static(Plane(), name="ground", material=RUBBER)
    trunk = scene.add_body(Box(0.5, 0.2, 0.1), mass=8.0, position=(0, 0, HEIGHT), name="trunk", material=RUBBER)
    back, forth = (quaternion_from_axis_angle((0, 1, 0), angle) for angle in (LEAN, -LEAN))
    for leg, (along, aside) in LEGS.items():
        hip = np.array([along * TRUNK[0] * 0.8, aside * TRUNK[1] * 1.2, HEIGHT])
        knee = hip + rotate(back, (0, 0, -LINK))
        parts = {"thigh": (hip, back, 1.0), "shin": (knee, forth, 0.4)}
        for part, (top, turn, mass) in parts.items():
            middle = top + rotate(turn, (0, 0, -0.5 * LINK))
            given: dict[str, Any] = {
                "position": middle,
                "orientation": turn,
                "material": RUBBER,
                "name": f"{leg}_{part}",
            }
            scene.add_body(Capsule(0.02, LINK), mass=mass, **given)
        joints = {"hip": (trunk, f"{leg}_thigh", hip), "knee": (f"{leg}_thigh", f"{leg}_shin", knee)}
        for joint, (a, b, at) in joints.items():
            limits = (-1.2, 1.2) if joint == "hip" else (-1.0, 1.2)
            hinge = Revolute(a, b, at=at, axis=(0, 1, 0), damping=0.5, limits=limits)
            scene.add_joint(hinge, name=f"{leg}_{joint}")
            scene.add_force(Servo(f"{leg}_{joint}", gain=60.0, rate_time=0.02, limit=40.0), name=f"{leg}_{joint}_servo")
        scene.exclude("trunk", f"{leg}_shin")
    return scene


def quadruped() -> Task:
    """Run along x without falling.

    | | |
    |---|---|
    | observation | height of the trunk [m]; what is up in its axes (3,) |
    | | its velocity [m/s] and angular velocity [rad/s] in its axes (3, 3) |
    | | angles of hip and knee, leg by leg (8,) [rad]; their rates (8,) [rad/s] |
    | action | targets of the servos of hips and knees, leg by leg, −1 … 1 in units of 0.6 rad about where it stands |
    | reward | velocity along x [m/s] + 0.5 − 0.05 · mean square of the action − 0.5 · velocity aside² [m²/s²], a step |
    | terminated | the trunk is lower than 0.18 m or tilts more than 60° |
    | truncated | after 500 steps of 0.02 s |
    | start | hips and knees uniform within ±0.05 rad, trunk 1 to 3 cm above where it stands |
    """
    names = [f"{leg}_{joint}" for leg in LEGS for joint in ("hip", "knee")]
    most = np.array([5.0] + [1.0] * 3 + [30.0] * 3 + [100.0] * 3 + [4.0] * 8 + [200.0] * 8)
    start: dict[str, object] = {f"{name}.angle": (-0.05, 0.05) for name in names}
    start["trunk.position"] = ((0, 0, HEIGHT + 0.01), (0, 0, HEIGHT + 0.03))
    return Task(
        quadruped_scene(),
        observe=[_trunk, *[f"{name}.angle" for name in names], *[f"{name}.velocity" for name in names]],
        act=[Target(f"{name}_servo", scale=0.6) for name in names],
        reward=_speed,
        done=lambda step: (step.observation[:, 0] < 0.18) | (step.observation[:, 3] < 0.5),
        start=start,
        bounds=(-most, most),
        steps=2,
        max_episode_steps=500,
        settings={"time_step": 0.01, "joints": "reduced", "preset": "fast"},
    )


def _trunk(simulation: Simulation) -> np.ndarray:
    """Height, what is up, velocity and angular velocity of the trunk, in its axes."""
    state = simulation.state
    place, turn, speed, spin = (
        state.now(name)[:, 1] for name in ("position", "orientation", "velocity", "angular_velocity")
    )
    back = conjugate(turn)
    up = np.broadcast_to([0.0, 0.0, 1.0], place.shape)
    return np.concatenate([place[:, 2:], *(rotate(back, vector) for vector in (up, speed, spin))], axis=1)


def _speed(step: Step) -> np.ndarray:
    along, aside = step.simulation.state.now("velocity")[:, 1, :2].T
    found: np.ndarray = along + 0.5 - 0.05 * (step.action**2).mean(axis=1) - 0.5 * aside**2
    return found
