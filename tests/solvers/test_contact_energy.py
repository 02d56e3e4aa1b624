"""Contacts whose sweeps end too early create no energy, and what forces press keeps its loads."""

import numpy as np
import pytest

import rattleback as rb

pytestmark = [pytest.mark.contacts, pytest.mark.filterwarnings("ignore::rattleback.NotConvergedWarning")]

G = 9.81
FEW, ALL, SHARE = 3, 30, 9


def pile(seed):
    """Solids that fall on each other, with masses from 1e-2 to 1e3 kg."""
    rng = np.random.default_rng(seed)
    scene = rb.Scene()
    scene.add_static(rb.Plane(), material=rb.Material(friction=rng.uniform(0, 0.8)))
    for k in range(rng.integers(3, 20)):
        x, y, z = rng.uniform(0.2, 1.0, 3)
        shape = (rb.Box(x, y, z), rb.Sphere(x / 2), rb.Capsule(x / 3, x + y))[rng.integers(3)]
        q = rng.normal(size=4)
        scene.add_body(
            shape,
            mass=10 ** rng.uniform(-2, 3),
            position=(*rng.uniform(-0.3, 0.3, 2), 0.8 + 1.3 * k),
            orientation=q / np.linalg.norm(q),
            material=rb.Material(friction=rng.uniform(0, 0.8)),
        )
    return scene


def most_gained(seed, method, steps=400):
    """The largest gain of energy in a step, as a part of the energy at the beginning."""
    sim = rb.Simulation(pile(seed), time_step=0.005, contacts=method(solver=rb.contacts.BlockGaussSeidel(sweeps=10)))
    energy = [sim.energy().total]
    for _ in range(steps):
        sim.step()
        energy.append(sim.energy().total)
    return np.diff(energy).max() / energy[0]


def pressed(count, force, gravity=(0, 0, 0)):
    """A row of light and heavy cubes at a wall, pressed to it by a spring."""
    scene = rb.Scene(gravity=gravity)
    rough = rb.Material(friction=0.8)
    scene.add_static(rb.Box(1, 4, 4), position=(-0.5, 0, 0), material=rough)
    for k in range(count):
        mass = 1.0 if k % 2 else 0.1
        scene.add_body(rb.Box(1, 1, 1), name=f"cube_{k}", mass=mass, position=(0.5 + k, 0, 0), material=rough)
    at, at_b = (count - 0.5, 0, 0), (count + 1.0, 0, 0)
    scene.add_force(rb.Spring(f"cube_{count - 1}", scene.world, at=at, at_b=at_b, stiffness=force, length=2.5))
    return scene


def test_piles_of_light_and_heavy_solids_gain_no_energy_with_ten_sweeps(contact_method):
    assert max(most_gained(seed, contact_method) for seed in range(FEW)) < 1e-3


@pytest.mark.slow
@pytest.mark.parametrize("start", range(FEW, ALL, SHARE))
def test_thirty_piles_of_light_and_heavy_solids_gain_no_energy_with_ten_sweeps(start, contact_method):
    assert max(most_gained(seed, contact_method) for seed in range(start, start + SHARE)) < 1e-3


def test_cubes_that_a_spring_presses_to_a_wall_rest_there_and_take_few_sweeps():
    scene = pressed(4, force=1000.0)
    sim = rb.Simulation(scene, time_step=0.005)
    sim.step(20)
    start = sim.state.position.copy()
    for _ in range(50):
        sim.step()
        assert sim.report.converged
        assert sim.report.contact_sweeps <= 2
    assert np.abs(sim.state.position - start).max() < 1e-9
    assert np.abs(sim.state.velocity).max() < 1e-9


def test_a_cube_that_a_spring_presses_to_a_wall_does_not_sag():
    scene = pressed(1, force=200 * 0.1 * G, gravity=(0, 0, -G))
    sim = rb.Simulation(scene, time_step=0.005)
    for _ in range(100):
        sim.step()
        assert sim.report.converged
    assert sim.state.position[1] == pytest.approx((0.5, 0.0, 0.0), abs=1e-9)
    assert np.abs(sim.state.velocity).max() < 1e-9


def test_loads_of_a_spring_are_no_blows_where_sweeps_do_not_suffice():
    scene = rb.Scene(gravity=(0, 0, 0))
    scene.add_static(rb.Box(1, 8, 8), position=(-0.5, 0, 0))
    for k in range(6):
        scene.add_body(rb.Sphere(0.5), name=f"ball_{k}", mass=1.0 if k % 2 else 0.1, position=(0.5 + k, 0, 0))
    ends = {"at": (5.5, 0, 0), "at_b": (7, 0, 0)}
    scene.add_force(rb.Spring("ball_5", scene.world, **ends, stiffness=1000.0, length=2.5, damping=5.0))
    sim = rb.Simulation(
        scene, time_step=0.005, contacts=rb.contacts.Impulse(solver=rb.contacts.BlockGaussSeidel(sweeps=10))
    )
    sim.step(60)
    # The six contacts give way by 5 mm each while they find their loads; without loads of the last step by 46 mm.
    assert sim.state.position[6, 0] > 5.5 - 6 * 0.01


def test_a_pile_comes_to_rest_where_sweeps_suffice():
    scene = rb.Scene()
    scene.add_static(rb.Plane())
    for k, mass in enumerate((1.0, 1e3, 1e-2)):
        scene.add_body(rb.Box(1, 1, 1), mass=mass, position=(0, 0, 0.6 + 1.2 * k))
    sim = rb.Simulation(scene, time_step=0.005)
    sim.step(400)
    assert sim.report.converged
    assert np.abs(sim.state.velocity).max() < 1e-6
    assert sim.state.position[1:, 2] == pytest.approx([0.5, 1.5, 2.5], abs=1e-3)
