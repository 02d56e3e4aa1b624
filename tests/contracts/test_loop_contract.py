"""Every joint in a loop with the loops left whole and cut: tolerances, the same motion, the same bits."""

from typing import Any

import numpy as np
import pytest

import rattleback as rb
from rattleback.joints import MENU
from rattleback.solvers.joints import Direct

CUT = Direct(loops="cut")
EXTRA: dict[str, dict[str, Any]] = {
    "distance": {"at_b": (0.7, 0.25, -0.2)},
    "distance_to_line": {"at_b": (0.7, 0.25, -0.2)},
    "distance_to_plane": {"at_b": (0.7, 0.25, -0.2)},
    "double_rotation": {"axis_b": (2.0, -1.0, 0.0)},
    "universal": {"axis_b": (2.0, -1.0, 0.0)},
    "screw": {"pitch": 0.4},
    "gear": {"at_b": (0.85, -0.1, 0.05), "ratio": 1.5},
    "rack": {"axis_b": (2.0, -1.0, 0.0), "radius": 0.2},
    "velocity_joint": {"linear": (0.1, None, None), "angular": (None, 0.2, None)},
}
every_joint = pytest.mark.parametrize("name", MENU)


def ring(name: str) -> rb.Scene:
    """Three boxes in a loop with the world: the joint is between the first two, ball joints are at the other places."""
    scene = rb.Scene()
    for k, label in enumerate(("first", "second", "third")):
        scene.add_body(rb.Box(0.8, 0.3, 0.2), mass=2.0 - 0.5 * k, position=(0.9 * k, 0.1 * k, 0), name=label)
    scene.add_joint(rb.Ball("world", "first", at=(-0.4, 0, 0.1)))
    scene.add_joint(MENU[name]("first", "second", at=(0.45, 0.1, 0.05), axis=(1, 2, 3), **EXTRA.get(name, {})))
    scene.add_joint(rb.Ball("second", "third", at=(1.35, 0.15, 0)))
    scene.add_joint(rb.Ball("third", "world", at=(2.2, 0.2, 0.1)))
    return scene


def run(name: str, method: Any, tolerance: float = 1e-6, **settings: Any) -> rb.Simulation:
    tolerances = {f"{kind}_tolerance": tolerance for kind in ("position", "orientation", "velocity")}
    sim = rb.Simulation(ring(name), joints=method, time_step=0.005, **tolerances, **settings)
    for _ in range(60):
        sim.step()
        assert sim.report.converged, sim.report.reason
    return sim


@every_joint
def test_a_cut_loop_moves_as_a_whole_one_does(name: str) -> None:
    whole, cut = (run(name, method, 1e-10) for method in (Direct(), CUT))
    assert len(cut._step.preview.solver.closing) == 1
    for part in ("position", "orientation", "velocity", "angular_velocity"):
        np.testing.assert_allclose(getattr(cut.state, part), getattr(whole.state, part), rtol=0, atol=1e-7)


@every_joint
def test_a_cut_loop_has_the_bits_it_had(name: str, device: str) -> None:
    first, second = (run(name, CUT, device=device) for _ in range(2))
    assert first.hash() == second.hash()
    middle = first.state.copy()
    first.step(20)
    second.state = middle
    second.step(20)
    assert first.hash() == second.hash()


@every_joint
def test_cut_loops_of_worlds_side_by_side_have_the_bits_they_have_alone(name: str, device: str) -> None:
    spins = np.array([0.0, 3.0, -1.0])
    batch = rb.Simulation(ring(name), joints=CUT, device=device, worlds=3, time_step=0.005)
    batch["third"].angular_velocity = spins[:, None] * np.array([1.0, 0.2, 0.0])
    batch.step(20)
    for world, spin in enumerate(spins):
        alone = rb.Simulation(ring(name), joints=CUT, device=device, time_step=0.005)
        alone["third"].angular_velocity = spin * np.array([1.0, 0.2, 0.0])
        alone.step(20)
        np.testing.assert_array_equal(alone.state.position, batch.state.position[world])
        np.testing.assert_array_equal(alone.state.angular_velocity, batch.state.angular_velocity[world])
