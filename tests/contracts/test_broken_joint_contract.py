"""Every joint with every joint method: broken it exerts nothing, and the rest of the scene goes on as without it."""

from typing import Any

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import rattleback as rb
from rattleback.joints import MENU
from rattleback.solvers.joints import IMPULSES as METHODS
from rattleback.solvers.joints import Direct

ALL_METHODS: dict[str, Any] = {**{name: name for name in METHODS}, "cut": Direct(loops="cut")}
PARTS = ("position", "orientation", "velocity", "angular_velocity")
every_joint = pytest.mark.parametrize("name", MENU)
every_method = pytest.mark.parametrize("method", ALL_METHODS)


def joint(name: str, rng: np.random.Generator, **options: Any) -> Any:
    axis = rng.standard_normal(3)
    across = np.cross(axis, rng.standard_normal(3))
    across /= np.linalg.norm(across)
    at = np.array((0.45, 0.1, 0.05))
    needed: dict[str, dict[str, Any]] = {
        "screw": {"pitch": 0.4},
        "gear": {"at_b": at + 0.5 * across, "ratio": 1.5},
        "rack": {"axis_b": across, "radius": 0.2},
        "velocity_joint": {"linear": (0.3, None, 0.1), "angular": (None, 0.2, None)},
        "double_rotation": {"axis_b": across},
        "universal": {"axis_b": across},
    }
    needed |= {name: {"at_b": (0.7, 0.25, -0.2)} for name in MENU if name.startswith("distance")}
    return MENU[name]("first", "second", at=at, axis=axis, **needed.get(name, {}), **options)


def pair(name: str, joined: bool = True, **options: Any) -> rb.Scene:
    """Two boxes that fly and tumble, with a joint between them, and a third on a pin that never breaks."""
    rng = np.random.default_rng(sorted(MENU).index(name))
    scene = rb.Scene(gravity=(0, 0, 0))
    for k, label in enumerate(("first", "second")):
        scene.add_body(
            rb.Box(0.8, 0.3, 0.2),
            mass=(2.0, 1.0)[k],
            position=(0.9 * k, 0.1 * k, 0),
            orientation=Rotation.from_rotvec(rng.uniform(-0.5, 0.5, 3)).as_quat(),
            velocity=rng.uniform(-1, 1, 3),
            angular_velocity=rng.uniform(-2, 2, 3),
            name=label,
        )
    scene.add_body(rb.Box(0.8, 0.3, 0.2), mass=1.0, position=(5.4, 0, 0), name="third", angular_velocity=(0, 2, 1))
    scene.add_joint(rb.Ball("world", "third", at=(5, 0, 0)), name="pin")
    if joined:
        scene.add_joint(joint(name, rng, **options), name="between")
    return scene


def spins(sim: rb.Simulation) -> np.ndarray:
    """Angular momentum of each body about its own centre of mass, in the world."""
    turned = [
        (Rotation.from_quat(q).as_matrix() @ body.inertia @ Rotation.from_quat(q).as_matrix().T) @ w
        for body, q, w in zip(sim.scene.bodies, sim.state.orientation, sim.state.angular_velocity, strict=True)
    ]
    return np.array(turned)


@every_joint
@every_method
def test_a_broken_joint_leaves_the_momentum_of_each_of_its_bodies_alone(name: str, method: str, device: str) -> None:
    sim = rb.Simulation(pair(name), joints=ALL_METHODS[method], device=device)
    sim["between"].broken = True
    velocity, spin = sim.state.velocity[:2].copy(), spins(sim)[:2]
    sim.step(50)
    np.testing.assert_allclose(sim.state.velocity[:2], velocity, atol=1e-14)
    np.testing.assert_allclose(spins(sim)[:2], spin, atol=1e-13)
    np.testing.assert_array_equal(sim["between"].reaction_force, 0.0)
    np.testing.assert_array_equal(sim["between"].reaction_torque, 0.0)
    assert sim.report.converged, sim.report.reason
    assert sim.report.redundant_rows == 0


@every_joint
def test_all_goes_on_as_in_a_scene_without_the_joint(name: str, device: str) -> None:
    broken, without = (rb.Simulation(pair(name, joined), device=device) for joined in (True, False))
    broken["between"].broken = True
    for sim in (broken, without):
        sim.step(50)
    for part in PARTS:
        np.testing.assert_allclose(getattr(broken.state, part), getattr(without.state, part), atol=1e-12, err_msg=part)


@every_joint
@every_method
def test_a_joint_of_little_strength_breaks_in_the_first_step_and_is_part_of_the_state(name: str, method: str) -> None:
    """A push along and about all axes loads whatever it forbids; nothing but the joint itself breaks."""
    sims = []
    for _ in range(2):
        scene = pair(name, breaking_force=1e-3, breaking_torque=1e-3)
        scene.add_force(rb.Wrench("first", force=(300.0, 200.0, 100.0), torque=(30.0, 20.0, 10.0)))
        sims.append(rb.Simulation(scene, joints=ALL_METHODS[method], time_step=1e-3, max_iterations=1000))
    sim, other = sims
    sim.step()
    assert sim["between"].broken
    assert not sim["pin"].broken
    kept = sim.state.copy()
    sim.step(20)
    other.state = kept
    assert other["between"].broken
    other.step(20)
    assert sim.hash() == other.hash()
    sim["between"].broken = False
    assert sim.hash() != other.hash()


@every_joint
def test_a_mended_joint_holds_again(name: str) -> None:
    """Where it was broken for so short that its bodies are still about where they were."""
    sim = rb.Simulation(pair(name), time_step=1e-4, max_iterations=500)
    sim.step(5)
    sim["between"].broken = True
    sim.step(5)
    sim["between"].broken = False
    sim.step(50)
    sim.step(50)
    assert sim.report.converged, sim.report.reason
