"""What every contact scheme keeps with every solver: towers, braking, rebounds, momentum, joints, worlds, copies."""

import itertools
import json
import math
import sys
from pathlib import Path

import numpy as np
import pytest

import rattleback as rb
from rattleback.cli.main import main
from rattleback.solvers.contacts import MENU, SOLVERS

SCHEMES = [name for name, kind in MENU.items() if kind.resolves and hasattr(kind(), "solver")]
PAIRS = list(itertools.product(SCHEMES, SOLVERS))
each_pair = pytest.mark.parametrize(("scheme", "solver"), PAIRS, ids=[f"{a}-{b}" for a, b in PAIRS])
pytestmark = pytest.mark.contacts


def method(scheme, solver, **settings):
    return MENU[scheme](solver=SOLVERS[solver](sweeps=500), **settings)


def tower(count=3):
    scene = rb.Scene()
    scene.add_static(rb.Plane())
    for k in range(count):
        scene.add_body(rb.Box(1, 1, 1), mass=1.0, position=(0, 0, 0.5 + k), name=f"cube_{k}")
    return scene


@each_pair
@pytest.mark.parametrize("propagates", [True, False])
def test_a_tower_stands(scheme, solver, propagates):
    contacts = method(scheme, solver, load_propagation=propagates)
    sim = rb.Simulation(tower(), contacts=contacts, time_step=0.005)
    sim.run(1.0)
    np.testing.assert_allclose(sim.state.position[1:, 2], 0.5 + np.arange(3), atol=2e-4)
    assert np.abs(sim.state.velocity).max() < 2e-3


@each_pair
def test_a_cube_brakes_within_the_way_of_its_energy(scheme, solver):
    scene, mu = rb.Scene(), 0.4
    material = rb.Material(friction=mu / 2)
    scene.add_static(rb.Plane(), material=material)
    scene.add_body(
        rb.Box(0.2, 0.2, 0.2), mass=2.0, position=(0, 0, 0.1), velocity=(2, 0, 0), name="cube", material=material
    )
    sim = rb.Simulation(scene, contacts=method(scheme, solver), time_step=0.001)
    sim.run(0.7)
    assert sim["cube"].position[0] == pytest.approx(2.0**2 / (2 * mu * 9.81), abs=1e-4)
    assert abs(sim["cube"].velocity[0]) < 1e-3


@each_pair
@pytest.mark.parametrize("law", ["newton", "poisson", "stronge"])
def test_a_ball_rebounds_with_its_restitution(scheme, solver, law):
    scene, e = rb.Scene(gravity=(0, 0, 0)), 0.6
    material = rb.Material(friction=0.0, restitution=math.sqrt(e))
    scene.add_static(rb.Plane(), material=material)
    scene.add_body(
        rb.Sphere(0.1), mass=1.0, position=(0, 0, 0.2), velocity=(0.5, 0, -3), name="ball", material=material
    )
    # Over-relaxed and gradient steps end within their tolerance, not at once.
    fine = {} if law == "stronge" else {"contact_velocity_tolerance": 1e-9}
    sim = rb.Simulation(scene, contacts=method(scheme, solver, restitution=law), time_step=0.001, **fine)
    sim.run(0.1)
    np.testing.assert_allclose(sim["ball"].velocity, (0.5, 0, 3 * e), atol=2e-2 * 3 if law == "stronge" else 1e-9)


@each_pair
def test_free_bodies_keep_their_momentum(scheme, solver):
    scene, rng = rb.Scene(gravity=(0, 0, 0)), np.random.default_rng(5)
    for k in range(6):
        place = np.array([1.05 * (k % 3), 1.05 * (k // 3), 0.0])
        given = {"position": place, "velocity": -place + rng.normal(size=3), "angular_velocity": rng.normal(size=3)}
        scene.add_body(rb.Box(1, 1, 1), mass=1.0 + k, material=rb.Material(0.3, restitution=0.5), **given)
    sim = rb.Simulation(scene, contacts=method(scheme, solver), time_step=0.005, warn=False)
    before = sim.momentum()
    sim.run(0.5)
    after = sim.momentum()
    assert len(sim.contacts) > 0
    np.testing.assert_allclose(after.linear, before.linear, atol=1e-9)
    np.testing.assert_allclose(after.angular, before.angular, atol=0.05)


def leg():
    """A body on a foot with an ankle, which tips over."""
    scene, material = rb.Scene(), rb.Material(friction=0.5)
    scene.add_static(rb.Plane(), material=material)
    scene.add_body(rb.Box(0.3, 0.2, 0.1), mass=1.0, position=(0, 0, 0.05), name="foot", material=material)
    scene.add_body(rb.Box(0.1, 0.1, 0.8), mass=10.0, position=(0, 0, 0.52), name="leg", angular_velocity=(0, 0.5, 0))
    scene.add_joint(rb.Revolute("foot", "leg", at=(0, 0, 0.11), axis=(0, 1, 0), limits=(-0.6, 0.4)), name="ankle")
    return scene


@each_pair
def test_a_leg_that_tips_over_on_its_foot_gains_no_energy_and_keeps_its_joint(scheme, solver):
    sim = rb.Simulation(leg(), contacts=method(scheme, solver), time_step=1 / 120, warn=False)
    energies = [sim.energy().total]
    for _ in range(150):
        sim.step()
        energies.append(sim.energy().total)
        assert sim.report.position_error < 1e-5
    assert np.diff(energies).max() < 0.5
    assert abs(sim["leg"].orientation[1]) > 0.1


@each_pair
def test_worlds_have_the_bits_of_single_runs_where_only_some_touch(scheme, solver):
    settings = {"contacts": method(scheme, solver), "time_step": 1 / 120, "warn": False}
    both = rb.Simulation(leg(), worlds=2, **settings)
    both["foot"].position = [(0, 0, 0.05), (0, 0, 3.05)]
    both["leg"].position = [(0, 0, 0.52), (0, 0, 3.52)]
    both.step(40)
    for world, height in enumerate((0.0, 3.0)):
        alone = rb.Simulation(leg(), **settings)
        alone["foot"].position, alone["leg"].position = (0, 0, 0.05 + height), (0, 0, 0.52 + height)
        alone.step(40)
        assert np.array_equal(both.state.position[world], alone.state.position)
        assert np.array_equal(both.state.velocity[world], alone.state.velocity)


@each_pair
def test_copies_files_and_calls_go_on_bit_for_bit(scheme, solver, tmp_path):
    make = lambda: rb.Simulation(leg(), contacts=method(scheme, solver), time_step=1 / 120, warn=False)  # noqa: E731
    sim, copied = make(), make()
    sim.step(30)
    copied.state = sim.state.copy()
    sim.save(tmp_path / "leg.npz")
    loaded = rb.load(tmp_path / "leg.npz")
    assert loaded.methods.contacts == sim.methods.contacts
    sim.step(20)
    loaded.step(20)
    for _ in range(20):
        copied.step()
    assert copied.hash() == loaded.hash() == sim.hash()


def test_a_solver_of_ones_own_in_one_short_file_runs_a_tower_by_its_name(monkeypatch, capsys):
    source = Path(__file__).parents[2] / "examples" / "relaxed_solver.py"
    assert len(source.read_text(encoding="utf-8").splitlines()) <= 120
    monkeypatch.chdir(source.parents[1])
    monkeypatch.setattr(sys, "path", list(sys.path))
    named = "impulse(solver='examples.relaxed_solver:Relaxed(factor=1.3)', load_propagation=False)"
    assert main(["run", "tower", "--duration", "0.2", "--contacts", named, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["hash"]
    from examples.relaxed_solver import Relaxed, tower

    for solver in (Relaxed(1.3, sweeps=500), Relaxed(1.0, sweeps=500)):
        sim = rb.Simulation(tower(), contacts=rb.contacts.Impulse(solver, load_propagation=False), time_step=0.005)
        sim.run(0.5)
        np.testing.assert_allclose(sim.state.position[1:, 2], 0.5 + np.arange(8), atol=1e-3)
        assert sim.report.contact_sweeps > 0
