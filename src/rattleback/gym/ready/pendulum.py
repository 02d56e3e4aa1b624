"""The pendulum: a motor too weak to lift a rod swings it up and holds it."""

from __future__ import annotations

import math

import numpy as np

from rattleback.gym.acting import Effort
from rattleback.gym.task import Step, Task
from rattleback.joints import Revolute
from rattleback.model import Scene
from rattleback.shapes import Box
from rattleback.simulation import Simulation

# Largest torque [N m] and fastest turn that is observed [rad/s].
TORQUE, FASTEST = 2.0, 20.0


def pendulum_scene(mass: float = 1.0, length: float = 1.0, damping: float = 0.0) -> Scene:
    """A rod that turns about its lower end, upright at the angle zero.

    Args:
        mass: Mass of the rod [kg].
        length: Length of it [m].
        damping: Damping of the hinge [N m s/rad].
    """
    scene = Scene(name="pendulum")
    rod = scene.add_body(Box(0.05, 0.05, length), mass=mass, position=(0, 0, 0.5 * length), name="rod")
    scene.add_joint(Revolute(scene.world, rod, at=(0, 0, 0), axis=(0, 1, 0), damping=damping), name="hinge")
    return scene


def pendulum() -> Task:
    """Swing the rod up and hold it, with little torque.

    | | |
    |---|---|
    | observation | cosine and sine of the angle θ from upright, its rate [rad/s] |
    | action | torque about the hinge, −1 … 1 in units of 2 N m; to hold the rod level takes 4.9 N m |
    | reward | −(θ² + 0.1 θ̇² + 0.001 τ²) a step, θ in −π … π before the step [rad], τ the torque [N m] |
    | terminated | never |
    | truncated | after 200 steps of 0.05 s |
    | start | angle uniform within ±π, rate within ±1 rad/s |
    """
    most = np.array([1.0, 1.0, FASTEST])
    return Task(
        pendulum_scene(),
        observe=[_direction, "hinge.velocity"],
        act=[Effort("hinge", scale=TORQUE)],
        reward=_cost,
        start={"hinge.angle": (-math.pi, math.pi), "hinge.velocity": (-1.0, 1.0)},
        bounds=(-most, most),
        steps=5,
        max_episode_steps=200,
        settings={"time_step": 0.01, "joints": "reduced", "contacts": "none"},
    )


def _direction(simulation: Simulation) -> np.ndarray:
    angle = simulation.joints.position
    return np.concatenate([np.cos(angle), np.sin(angle)], axis=1)


def _cost(step: Step) -> np.ndarray:
    angle = np.arctan2(step.before[:, 1], step.before[:, 0])
    torque = TORQUE * step.action[:, 0]
    cost: np.ndarray = angle**2 + 0.1 * step.before[:, 2] ** 2 + 0.001 * torque**2
    return -cost
