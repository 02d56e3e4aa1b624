"""A batch of worlds is its single runs, bit for bit, where joints and contacts meet and every world does its own.

The first of three worlds touches the ground at once, the second never does, the third comes later and starts with its
joints apart. What a loop, a flag or a count of one of them does to another shows here.
"""

from typing import Any

import numpy as np
import pytest

import rattleback as rb
from rattleback.integrators import MENU as INTEGRATORS
from rattleback.presets import MENU as PRESETS
from rattleback.solvers.contacts import MENU as CONTACTS
from rattleback.solvers.contacts import Impulse
from rattleback.solvers.joints import IMPULSES as JOINTS
from rattleback.solvers.joints import Direct

pytestmark = pytest.mark.contacts

PARTS = ("position", "orientation", "velocity", "angular_velocity")
METHODS: dict[str, Any] = {
    **{name: name for name in CONTACTS},
    "poisson": Impulse(restitution="poisson"),
    "stronge": Impulse(restitution="stronge"),
    "simultaneous": Impulse(impact="simultaneous"),
    "few_sweeps": Impulse(solver=rb.contacts.BlockGaussSeidel(sweeps=6), sweeps_between=2),
}
HELD: dict[str, Any] = {
    **{name: name for name in JOINTS},
    "cut": Direct(loops="cut"),
    "by_chain": rb.joints_by_chain({"arm_0": "iterative"}),
}
SETTINGS: dict[str, dict[str, Any]] = {
    **{name: {"preset": name, "steps": 8 if name == "accurate" else 30} for name in PRESETS},
    "substeps": {"substeps": 2},
    "sleep": {"sleep": True},
    "contact_every": {"contact_every": 3},
    "bisect": {"contact_time": "bisect"},
    "interpolate": {"contact_time": "interpolate"},
    "long_steps": {"time_step": 0.03},
    "hardly_any_corrections": {"max_iterations": 2},
}


def add_chain(scene: rb.Scene, material: rb.Material) -> None:
    """Capsules on ball joints."""
    for k in range(3):
        place, across = (0.4 * k, 0, 1), (0, 0.5**0.5, 0, 0.5**0.5)
        scene.add_body(
            rb.Capsule(0.05, 0.3), mass=1.0, position=place, orientation=across, name=f"link_{k}", material=material
        )
        if k:
            scene.add_joint(rb.Ball(f"link_{k - 1}", f"link_{k}", at=(0.4 * k - 0.2, 0, 1)))


def add_arm(scene: rb.Scene, material: rb.Material) -> None:
    """Boxes on a hinge that breaks, one with stops and one with a servo, closed to a loop that has redundant rows."""
    for k in range(4):
        place = (0.35 * (k % 2), 0.6 + 0.35 * (k // 2), 1)
        scene.add_body(rb.Box(0.3, 0.2, 0.1), mass=1.0, position=place, name=f"arm_{k}", material=material)
    hinges = (("arm_0", "arm_1", (0.175, 0.6, 1)), ("arm_2", "arm_3", (0.175, 0.95, 1)))
    scene.add_joint(rb.Revolute(*hinges[0][:2], at=hinges[0][2], axis=(0, 1, 0), limits=(-0.2, 0.2), restitution=0.3))
    scene.add_joint(rb.Revolute(*hinges[1][:2], at=hinges[1][2], axis=(0, 1, 0), breaking_force=400.0), name="elbow")
    scene.add_joint(rb.Revolute("arm_0", "arm_2", at=(0, 0.775, 1), axis=(0, 1, 0)))
    scene.add_joint(rb.Revolute("arm_1", "arm_3", at=(0.35, 0.775, 1), axis=(0, 1, 0)))
    scene.add_force(rb.Servo("elbow", target=0.1, gain=5.0, rate_time=0.05))


def meeting(restitution: float = 0.3) -> rb.Scene:
    """A chain, a loop and a stack of two boxes above the ground."""
    scene, material = rb.Scene(), rb.Material(friction=0.4, restitution=restitution)
    scene.add_static(rb.Plane(), name="ground")
    add_chain(scene, material)
    add_arm(scene, material)
    for k in range(2):
        scene.add_body(rb.Box(0.2, 0.2, 0.2), mass=0.5, position=(1.5, 0.5, 1 + 0.201 * k), name=f"box_{k}")
    return scene


def situations(bodies: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """For three worlds how far bodies are moved, and what is added to their velocities and angular velocities."""
    rng = np.random.default_rng(0)
    moved, pushed, turned = np.zeros((3, bodies, 3)), *(0.3 * rng.normal(size=(2, 3, bodies, 3)))
    moved[:, 1:, 2] = np.array([-0.9, 8.0, -0.7])[:, None]
    moved[2, 1:] += 0.02 * rng.normal(size=(bodies - 1, 3))
    pushed[:, 0] = turned[:, 0] = 0.0
    return moved, pushed, turned


def put(sim: rb.Simulation, moved: np.ndarray, pushed: np.ndarray, turned: np.ndarray) -> None:
    """Bring a simulation into a situation, after a step at its start."""
    sim.step()
    sim.state.position = sim.state.position + moved
    sim.state.velocity = sim.state.velocity + pushed
    sim.state.angular_velocity = sim.state.angular_velocity + turned


def same_bits(batch: rb.Simulation, world: int, alone: rb.Simulation) -> None:
    for name in PARTS:
        there, here = getattr(batch.state, name)[world], getattr(alone.state, name)
        assert np.array_equal(there, here), (world, name, np.abs(there - here).max())


def check_worlds(scene: rb.Scene, steps: int = 30, **settings: Any) -> None:
    settings = {"time_step": 0.005, "warn": False, **settings}
    batch = rb.Simulation(scene, worlds=3, **settings)
    alone = rb.Simulation(scene, **settings)
    start = alone.state.copy()
    given = situations(alone.model.count)
    put(batch, *given)
    batch.step(steps)
    for world in range(3):
        alone.state = start
        put(alone, *(array[world] for array in given))
        alone.step(steps)
        same_bits(batch, world, alone)


@pytest.mark.parametrize("method", METHODS)
def test_worlds_have_the_bits_they_have_alone_with_every_contact_method(method: str) -> None:
    check_worlds(meeting(), contacts=METHODS[method])


@pytest.mark.parametrize("method", HELD)
def test_worlds_have_the_bits_they_have_alone_with_every_joint_method(method: str) -> None:
    check_worlds(meeting(), steps=10, joints=HELD[method])


@pytest.mark.parametrize("method", INTEGRATORS)
def test_worlds_have_the_bits_they_have_alone_with_every_integrator(method: str) -> None:
    check_worlds(meeting(), steps=20, integrator=method)


@pytest.mark.parametrize("name", SETTINGS)
def test_worlds_have_the_bits_they_have_alone_with_every_setting(name: str) -> None:
    check_worlds(meeting(), **SETTINGS[name])


@pytest.mark.parametrize("settings", [{}, {"contacts": "time_stepping"}, {"contact_every": 3}], ids=str)
def test_what_is_written_to_one_world_changes_no_bit_of_another(settings: dict[str, Any]) -> None:
    """As learning does, that puts worlds back one by one; the others go on as if nothing had been written."""
    scene, rng = meeting(), np.random.default_rng(1)
    batch, *alone = (rb.Simulation(scene, time_step=0.005, warn=False, worlds=n, **settings) for n in (3, None, None))
    given = situations(alone[0].model.count)
    put(batch, *given)
    for world, sim in enumerate(alone):
        put(sim, *(array[world] for array in given))
    for _ in range(10):
        batch.step(2)
        written, push = int(rng.integers(2)), 0.1 * rng.normal(size=(alone[0].model.count, 3))
        batch.state.velocity[written, 1:] += push[1:]
        batch.state.position[written, 1:] += 0.01 * push[1:]
        for world, sim in enumerate(alone):
            sim.step(2)
            if world == written:
                sim.state.velocity[1:] += push[1:]
                sim.state.position[1:] += 0.01 * push[1:]
            same_bits(batch, world, sim)


def test_an_island_that_falls_asleep_changes_no_bit_of_another_world() -> None:
    """Contacts are found after every fifth step; those of what tumbles are not found sooner where another one rests."""
    scene, rng = rb.Scene(), np.random.default_rng(0)
    scene.add_static(rb.Plane())
    for k in range(3):
        scene.add_body(rb.Box(0.2, 0.3, 0.25), mass=1.0, position=(0.4 * k, 0, 0.125))
    settings: dict[str, Any] = {"time_step": 0.01, "sleep": True, "contact_every": 5, "warn": False}
    batch, alone = (rb.Simulation(scene, worlds=n, **settings) for n in (2, None))
    spin = 20.0 * rng.normal(size=(3, 3))
    batch.state.velocity[0, 1:, 2], batch.state.angular_velocity[0, 1:] = 2.0, spin
    alone.state.velocity[1:, 2], alone.state.angular_velocity[1:] = 2.0, spin
    slept = False
    for _ in range(80):
        batch.step()
        alone.step()
        asleep = np.array(batch.state.sleep.asleep.numpy()).reshape(2, -1) > 0
        slept = slept or (asleep[1].any() and not asleep[0].any())
        same_bits(batch, 0, alone)
    assert slept


def test_worlds_of_over_determined_joints_swept_over_and_over_stay_whole() -> None:
    """Two universal joints hold one body too often; put off its place it is pulled back in each world for itself."""
    rng, scene = np.random.default_rng(0), rb.Scene()
    scene.add_static(rb.Plane())
    scene.add_body(rb.Box(0.3, 0.3, 0.3), mass=0.35, position=(0, 0, 3), name="body")
    for _ in range(2):
        axis, across = rng.normal(size=(2, 3))
        at, across = np.array([0, 0, 1]) + rng.normal(size=3), np.cross(axis, across)
        scene.add_joint(rb.Universal("world", "body", at=at, axis=axis, axis_b=across))
    moved = 0.3 * np.random.default_rng(0).normal(size=(3, 2, 3))
    moved[:, 0] = 0.0
    settings: dict[str, Any] = {"time_step": 0.05, "joints": "iterative", "warn": False}
    batch = rb.Simulation(scene, worlds=3, **settings)
    for sim, there in [(batch, moved), *((rb.Simulation(scene, **settings), place) for place in moved)]:
        sim.step()
        sim.state.position = sim.state.position + there
        sim.step(20)
        np.testing.assert_allclose(np.linalg.norm(sim.state.orientation, axis=-1), 1.0, atol=1e-12)
        if sim is not batch:
            same_bits(batch, int(np.flatnonzero((moved == there).all(axis=(1, 2)))[0]), sim)
