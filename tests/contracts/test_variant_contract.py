"""Worlds with parameters of their own are the single runs of their scenes, bit for bit, for everything on the menus."""

from typing import Any

import numpy as np
import pytest

import rattleback as rb
from contracts.test_batch_contract import HELD, METHODS, SETTINGS, meeting, put, same_bits, situations
from rattleback.integrators import MENU as INTEGRATORS
from rattleback.solvers.joints import MENU as JOINTS
from rattleback.steps import MENU as STEPS

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


QUICK = ("impulse", "time_stepping", "direct", "iterative", "reduced", "implicit_euler", "bisect", "sleep")


def some_quick(menu: Any) -> list[Any]:
    """The entries of a menu, most of them for the long run only."""
    return [name if name in QUICK else pytest.param(name, marks=pytest.mark.slow) for name in menu]


@pytest.mark.parametrize("method", some_quick(METHODS))
def test_variants_have_the_bits_they_have_alone_with_every_contact_method(method: str) -> None:
    check_variants(meeting(), contacts=METHODS[method])


@pytest.mark.parametrize("method", some_quick(HELD))
def test_variants_have_the_bits_they_have_alone_with_every_joint_method(method: str) -> None:
    check_variants(meeting(), steps=10, joints=HELD[method])


@pytest.mark.parametrize("method", some_quick(INTEGRATORS))
def test_variants_have_the_bits_they_have_alone_with_every_integrator(method: str) -> None:
    check_variants(meeting(), steps=15, integrator=method)


@pytest.mark.parametrize("name", some_quick(SETTINGS))
def test_variants_have_the_bits_they_have_alone_with_every_setting(name: str) -> None:
    check_variants(meeting(), **SETTINGS[name])


def driven_chain() -> rb.Scene:
    """Three bars on hinges and a ball that nothing holds, with one of every force."""
    scene, before = rb.Scene(), "world"
    for k in range(3):
        scene.add_body(rb.Box(0.4, 0.06, 0.05), mass=1.0, position=(0.2 + 0.4 * k, 0, 2), name=f"bar_{k}")
        hinge = rb.Revolute(before, f"bar_{k}", at=(0.4 * k, 0, 2), axis=(0, 1, 0), damping=0.05)
        scene.add_joint(hinge, name=f"hinge_{k}")
        before = f"bar_{k}"
    scene.add_body(rb.Sphere(0.1), mass=0.5, position=(0, 1, 2), name="loose")
    coil = rb.Spring("bar_1", "loose", at=(0.6, 0, 2), at_b=(0, 1, 2), stiffness=20, damping=0.5)
    scene.add_force(coil, name="spring")
    scene.add_force(rb.TorsionSpring("hinge_1", stiffness=5, damping=0.1), name="torsion")
    scene.add_force(rb.Drag(linear=0.1, angular=0.01, wind=(1, 0, 0)), name="drag")
    scene.add_force(rb.Wrench("bar_2", force=(0, 0, 1), at=(1, 0, 2)), name="wrench")
    scene.add_force(rb.Attraction(constant=1e-2, softening=0.1), name="pull")
    scene.add_force(rb.Gravity((0, 0.5, 0), bodies="loose"), name="side")
    return scene


def with_drives() -> rb.Scene:
    """The same with a servo and a controller inside the constraint solve."""
    scene = driven_chain()
    course = rb.Schedule((0, 0.1), (0, 0.3))
    scene.add_force(
        rb.Servo("hinge_0", target=course, gain=20, rate_time=0.05, reset_time=0.5, window=0.1), name="servo"
    )
    scene.add_force(rb.ImplicitPD("hinge_2", stiffness=50, damping=1, target=0.2), name="pd")
    return scene


def differ_in_forces(scene: rb.Scene, world: int) -> None:
    """Give every force, joint and body of a chain values of a world."""
    rng = np.random.default_rng(world)
    scene.gravity = (0, 0.1 * rng.normal(), -rng.uniform(8, 12))
    for body in list(scene.bodies):
        scene.change_body(body, mass=body.mass * rng.uniform(0.5, 2), velocity=0.1 * rng.normal(size=3))
    for k in range(3):
        at, axis = (0.4 * k, 0, 2 + 0.02 * rng.normal()), (0.1 * rng.normal(), 1, 0)
        scene.change_joint(f"hinge_{k}", damping=rng.uniform(0.02, 0.1), at=at, axis=axis)
    course = rb.Schedule((0, rng.uniform(0.05, 0.2)), (0, rng.uniform(0, 0.5)))
    changes: dict[str, dict[str, Any]] = {
        "spring": {"stiffness": rng.uniform(10, 30), "length": rng.uniform(0.5, 1.5)},
        "torsion": {"stiffness": rng.uniform(2, 8), "angle": 0.2 * rng.normal()},
        "drag": {"linear": rng.uniform(0, 0.2), "wind": rng.normal(size=3)},
        "wrench": {"force": rng.normal(size=3), "start": 0.01 * rng.uniform()},
        "pull": {"constant": rng.uniform(0, 0.1)},
        "side": {"acceleration": rng.normal(size=3)},
        "servo": {"gain": rng.uniform(5, 20), "target": course, "window": rng.uniform(0.05, 0.2)},
        "pd": {"stiffness": rng.uniform(20, 80), "target": rng.uniform(0, 0.5)},
    }
    for name in changes.keys() & scene.forces.keys():
        scene.change_force(name, **changes[name])


CHAINS: dict[str, tuple[Any, dict[str, Any]]] = {
    **{name: (driven_chain, {"joints": name}) for name in JOINTS},
    **{name: (driven_chain, {"step": name}) for name in STEPS},
    "drives": (with_drives, {}),
    "drives_of_trees": (with_drives, {"joints": "reduced"}),
}


@pytest.mark.parametrize("name", CHAINS)
def test_forces_drives_and_joints_of_variants_do_what_they_do_alone(name: str) -> None:
    made, settings = CHAINS[name]
    settings = {"time_step": 0.005, "warn": False, "contacts": "none", **settings}
    batch = rb.Simulation(made(), worlds=WORLDS, vary=differ_in_forces, **settings)
    batch.step(15)
    for world in range(WORLDS):
        scene = made()
        differ_in_forces(scene, world)
        alone = rb.Simulation(scene, **settings)
        alone.step(15)
        same_bits(batch, world, alone)
        np.testing.assert_allclose(batch.energy().total[world], alone.energy().total, rtol=1e-12)
