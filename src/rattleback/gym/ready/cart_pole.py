"""The cart-pole: a cart on a rail keeps a pole upright that turns freely on it."""

from __future__ import annotations

import math

import numpy as np

from rattleback.gym.acting import Effort
from rattleback.gym.task import Step, Task
from rattleback.joints import Prismatic, Revolute
from rattleback.model import Scene
from rattleback.shapes import Box

# Beyond these the episode ends [m, rad].
RAIL, TILT = 2.4, math.radians(12.0)
FASTEST = 50.0


def cart_pole_scene(cart_mass: float = 1.0, pole_mass: float = 0.1, length: float = 1.0) -> Scene:
    """A cart on a rail along x with a pole that turns about y.

    Args:
        cart_mass: Mass of the cart [kg].
        pole_mass: Mass of the pole, a thin bar [kg].
        length: Length of the pole [m].
    """
    scene = Scene(name="cart_pole")
    cart = scene.add_body(Box(0.5, 0.3, 0.2), mass=cart_mass, name="cart")
    middle = (0.0, 0.0, 0.5 * length)
    pole = scene.add_body(Box(0.04, 0.04, length), mass=pole_mass, position=middle, name="pole")
    scene.add_joint(Prismatic(scene.world, cart, at=(0, 0, 0), axis=(1, 0, 0)), name="rail")
    scene.add_joint(Revolute(cart, pole, at=(0, 0, 0), axis=(0, 1, 0)), name="hinge")
    return scene


def cart_pole() -> Task:
    """Keep the pole upright and the cart on the rail, as long as an episode lasts.

    | | |
    |---|---|
    | observation | position [m] and velocity [m/s] of the cart, angle from upright [rad] and rate [rad/s] of the pole |
    | action | force on the cart along the rail, −1 … 1 in units of 10 N |
    | reward | 1 a step |
    | terminated | the cart is farther than 2.4 m from the middle, or the pole tilts more than 12° |
    | truncated | after 500 steps of 0.02 s |
    | start | all four uniform within ±0.05 |
    """
    start = {name: (-0.05, 0.05) for name in ("rail.position", "rail.velocity", "hinge.angle", "hinge.velocity")}
    most = np.array([2.0 * RAIL, FASTEST, 2.0 * TILT, FASTEST])
    return Task(
        cart_pole_scene(),
        observe=["rail.position", "rail.velocity", "hinge.angle", "hinge.velocity"],
        act=[Effort("rail", scale=10.0)],
        reward=lambda step: np.ones(len(step.observation)),
        done=_fallen,
        start=start,
        bounds=(-most, most),
        max_episode_steps=500,
        settings={"time_step": 0.02, "joints": "reduced", "contacts": "none"},
    )


def _fallen(step: Step) -> np.ndarray:
    place, angle = step.observation[:, 0], step.observation[:, 2]
    fallen: np.ndarray = (np.abs(place) > RAIL) | (np.abs(angle) > TILT)
    return fallen
