"""The ball on a plate: a plate that tilts about two axes keeps a rolling ball in its middle."""

from __future__ import annotations

import numpy as np

from rattleback.forces.servo import Servo
from rattleback.gym.acting import Target
from rattleback.gym.task import Step, Task
from rattleback.joints import Revolute
from rattleback.model import Material, Scene
from rattleback.shapes import Box, Sphere
from rattleback.simulation import Simulation

SIZE, THICK, RADIUS = 0.6, 0.02, 0.03
# Height of the middle of a ball that lies on the plate [m], and the largest tilt that is aimed at [rad].
HEIGHT, TILT = 0.5 * THICK + RADIUS, 0.2
FASTEST = 20.0


def ball_on_plate_scene() -> Scene:
    """A plate of 1 kg and 0.6 m on two hinges with servos, about x and y, and a ball of 0.1 kg on it."""
    scene, rough = Scene(name="ball_on_plate"), Material(friction=0.6, restitution=0.0)
    ring = scene.add_body(mass=0.2, inertia=(5e-3, 5e-3, 5e-3), name="ring")
    plate = scene.add_body(Box(SIZE, SIZE, THICK), mass=1.0, name="plate", material=rough)
    scene.add_body(Sphere(RADIUS), mass=0.1, position=(0, 0, HEIGHT), name="ball", material=rough)
    scene.add_joint(Revolute(scene.world, ring, at=(0, 0, 0), axis=(1, 0, 0)), name="roll")
    scene.add_joint(Revolute(ring, plate, at=(0, 0, 0), axis=(0, 1, 0)), name="pitch")
    for joint in ("roll", "pitch"):
        scene.add_force(Servo(joint, gain=15.0, rate_time=0.08, limit=5.0), name=f"{joint}_servo")
    return scene


def ball_on_plate() -> Task:
    """Bring the ball to the middle of the plate and keep it there.

    | | |
    |---|---|
    | observation | place (x, y) [m] and velocity (x, y) [m/s] of the ball |
    | | angles of roll and pitch [rad], rates of both [rad/s] |
    | action | targets of the servos of roll and pitch, −1 … 1 in units of 0.2 rad |
    | reward | 1 − r / 0.3 m − 0.01 · sum of the squares of the action, a step; r the distance from the middle |
    | terminated | the ball is farther than 0.3 m from the middle along x or y, or has left the plate |
    | truncated | after 300 steps of 0.02 s |
    | start | the ball at rest, uniform within ±0.15 m along x and y; the plate level |
    """
    most = np.array([1.0] * 2 + [FASTEST] * 2 + [3.2] * 2 + [100.0] * 2)
    return Task(
        ball_on_plate_scene(),
        observe=[_ball, "roll.angle", "pitch.angle", "roll.velocity", "pitch.velocity"],
        act=[Target("roll_servo", scale=TILT), Target("pitch_servo", scale=TILT)],
        reward=_centred,
        done=_lost,
        start={"ball.position": ((-0.15, -0.15, HEIGHT), (0.15, 0.15, HEIGHT))},
        bounds=(-most, most),
        steps=2,
        max_episode_steps=300,
        settings={"time_step": 0.01, "joints": "reduced"},
    )


def _ball(simulation: Simulation) -> np.ndarray:
    state = simulation.state
    return np.concatenate([state.now("position")[:, 2, :2], state.now("velocity")[:, 2, :2]], axis=1)


def _centred(step: Step) -> np.ndarray:
    away = np.linalg.norm(step.observation[:, :2], axis=1) / (0.5 * SIZE)
    found: np.ndarray = 1.0 - away - 0.01 * (step.action**2).sum(axis=1)
    return found


def _lost(step: Step) -> np.ndarray:
    height = step.simulation.state.now("position")[:, 2, 2]
    lost: np.ndarray = (np.abs(step.observation[:, :2]) > 0.5 * SIZE).any(axis=1) | (height < -0.2)
    return lost
