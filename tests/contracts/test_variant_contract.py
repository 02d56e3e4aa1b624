"""Worlds with parameters of their own are the single runs of their scenes, bit for bit, for everything on the menus."""

from typing import Any

import numpy as np
import pytest

import rattleback as rb
from contracts.test_batch_contract import HELD, METHODS, SETTINGS, meeting, put, same_bits, situations
from rattleback.integrators import MENU as INTEGRATORS

pytestmark = pytest.mark.contacts

WORLDS = 3


def differ(scene: rb.Scene, world: int) -> None:
    """Give the bodies, joints, forces and the gravity of a scene values of a world."""
    rng = np.random.default_rng(world)
    scene.gravity = (0, 0.1 * rng.normal(), -rng.uniform(5, 15))
    for body in [body for body in scene.bodies if not body.static]:
        material = rb.Material(friction=rng.uniform(0.2, 0.8), restitution=rng.uniform(0, 0.5))
        scene.change_body(
            body, mass=body.mass * rng.uniform(0.5, 2), material=material, velocity=0.1 * rng.normal(size=3)
        )
    for name, joint in list(scene.joints.items()):
        if isinstance(joint, rb.Revolute) and joint.limits:
            scene.change_joint(name, limits=(-rng.uniform(0.1, 0.3), 0.2), restitution=rng.uniform(0, 0.5))
        elif isinstance(joint, rb.Ball):
            scene.change_joint(name, at=np.array(joint.at) + 0.01 * rng.normal(size=3))
    for name, force in list(scene.forces.items()):
        if isinstance(force, rb.Servo):
            scene.change_force(name, gain=rng.uniform(2, 8), target=rng.uniform(0, 0.2), rate_time=rng.uniform(0, 0.1))


def check_variants(scene: rb.Scene, steps: int = 30, **settings: Any) -> None:
    settings = {"time_step": 0.005, "warn": False, **settings}
    batch = rb.Simulation(scene, worlds=WORLDS, vary=differ, **settings)
    given = situations(len(scene.bodies))
    put(batch, *given)
    batch.step(steps)
    for world in range(WORLDS):
        own = scene.copy()
        differ(own, world)
        alone = rb.Simulation(own, **settings)
        put(alone, *(array[world] for array in given))
        alone.step(steps)
        same_bits(batch, world, alone)


@pytest.mark.parametrize("method", METHODS)
def test_variants_have_the_bits_they_have_alone_with_every_contact_method(method: str) -> None:
    check_variants(meeting(), contacts=METHODS[method])


@pytest.mark.parametrize("method", HELD)
def test_variants_have_the_bits_they_have_alone_with_every_joint_method(method: str) -> None:
    check_variants(meeting(), steps=10, joints=HELD[method])


@pytest.mark.parametrize("method", INTEGRATORS)
def test_variants_have_the_bits_they_have_alone_with_every_integrator(method: str) -> None:
    check_variants(meeting(), steps=15, integrator=method)


@pytest.mark.parametrize("name", SETTINGS)
def test_variants_have_the_bits_they_have_alone_with_every_setting(name: str) -> None:
    check_variants(meeting(), **SETTINGS[name])
