"""The reacher: an arm of two links in a plane brings its tip to a target."""

from __future__ import annotations

import numpy as np

from rattleback.gym.acting import Effort
from rattleback.gym.task import Step, Task
from rattleback.joints import Revolute
from rattleback.model import Scene
from rattleback.recording.camera import Camera
from rattleback.shapes import Box, Sphere
from rattleback.simulation import Simulation

LINK = 0.1
FASTEST = 50.0


def reacher_scene() -> Scene:
    """Two links of 0.1 m and 50 g that turn about z, without gravity, and a ball that marks the target."""
    scene = Scene(name="reacher", gravity=(0, 0, 0))
    upper = scene.add_body(Box(LINK, 0.02, 0.02), mass=0.05, position=(0.5 * LINK, 0, 0), name="upper")
    lower = scene.add_body(Box(LINK, 0.02, 0.02), mass=0.05, position=(1.5 * LINK, 0, 0), name="lower")
    scene.add_body(Sphere(0.01), mass=0.01, position=(0, LINK, 0), name="target")
    scene.add_joint(Revolute(scene.world, upper, at=(0, 0, 0), axis=(0, 0, 1), damping=1e-3), name="shoulder")
    scene.add_joint(Revolute(upper, lower, at=(LINK, 0, 0), axis=(0, 0, 1), damping=1e-3), name="elbow")
    return scene


def reacher() -> Task:
    """Bring the tip of the arm to the target, with little torque.

    | | |
    |---|---|
    | observation | cosines of shoulder and elbow, sines of both, rates of both [rad/s] |
    | | target (x, y) [m], way from the tip of the arm to it (x, y) [m] |
    | action | torques of shoulder and elbow, −1 … 1 in units of 0.02 N m |
    | reward | −distance of the tip from the target [m] − 0.01 · sum of the squares of the action, a step |
    | terminated | never |
    | truncated | after 50 steps of 0.02 s |
    | start | angles and rates uniform within ±0.1, target uniform in a square of 0.26 m about the shoulder |
    """
    most = np.array([1.0] * 4 + [FASTEST] * 2 + [0.2] * 2 + [0.5] * 2)
    start: dict[str, object] = {f"{joint}.angle": (-0.1, 0.1) for joint in ("shoulder", "elbow")}
    start |= {f"{joint}.velocity": (-0.1, 0.1) for joint in ("shoulder", "elbow")}
    start["target.position"] = ((-0.13, -0.13, 0.0), (0.13, 0.13, 0.0))
    return Task(
        reacher_scene(),
        observe=[_directions, "shoulder.velocity", "elbow.velocity", _target, _way],
        act=[Effort("shoulder", scale=0.02), Effort("elbow", scale=0.02)],
        reward=_nearness,
        start=start,
        bounds=(-most, most),
        steps=2,
        max_episode_steps=50,
        camera=Camera(elevation=1.5, distance=0.9, target=(0, 0, 0)),
        settings={"time_step": 0.01, "joints": "reduced", "contacts": "none"},
    )


def _directions(simulation: Simulation) -> np.ndarray:
    angle = simulation.joints.position
    return np.concatenate([np.cos(angle), np.sin(angle)], axis=1)


def _target(simulation: Simulation) -> np.ndarray:
    place: np.ndarray = simulation.state.now("position")[:, 2, :2]
    return place


def _way(simulation: Simulation) -> np.ndarray:
    angle = np.cumsum(simulation.joints.position, axis=1)
    tip = LINK * np.stack([np.cos(angle).sum(axis=1), np.sin(angle).sum(axis=1)], axis=1)
    return _target(simulation) - tip


def _nearness(step: Step) -> np.ndarray:
    away: np.ndarray = np.linalg.norm(step.observation[:, -2:], axis=1) + 0.01 * (step.action**2).sum(axis=1)
    return -away
