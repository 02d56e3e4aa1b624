"""What stands stays, from the first step and with one sweep; what cannot stand moves as it must."""

import numpy as np
import pytest

import rattleback as rb
from rattleback import scenes
from rattleback.core.precision import numpy_real

pytestmark = [pytest.mark.contacts, pytest.mark.filterwarnings("ignore::rattleback.NotConvergedWarning")]

G = 9.81
ONE_SWEEP = rb.contacts.Impulse(solver=rb.contacts.BlockGaussSeidel(sweeps=1))


def bricks(layers=8, wide=4):
    """A wall without mortar, every other layer shifted by half a brick, and its mass [kg]."""
    scene = rb.Scene()
    scene.add_static(rb.Plane(), material=rb.Material(friction=0.4))
    for z in range(layers):
        for x in range(wide):
            place = (x + 0.5 * (z % 2), 0, 0.15 + 0.3 * z)
            scene.add_body(rb.Box(1.0, 0.4, 0.3), mass=1.0 + z, position=place, material=rb.Material(friction=0.4))
    return scene, wide * sum(1.0 + z for z in range(layers))


def test_a_wall_of_bricks_does_not_move_at_all_with_one_sweep():
    scene, _ = bricks()
    sim = rb.Simulation(scene, time_step=0.005, contacts=ONE_SWEEP)
    start = sim.state.position.copy()
    sim.step(40)
    assert np.abs(sim.state.position - start).max() < 1e-11
    assert np.abs(sim.state.velocity).max() < 1e-11
    assert sim.report.penetration < 1e-11


def test_a_wall_at_rest_keeps_its_place_and_its_loads_to_rounding():
    scene, _ = bricks()
    sim = rb.Simulation(scene, time_step=0.005, contacts=ONE_SWEEP)
    sim.step(20)
    start, turned = sim.state.position.copy(), sim.state.orientation.copy()
    sim.step(200)
    assert np.abs(sim.state.position - start).max() < 1e-14
    assert np.abs(sim.state.orientation - turned).max() < 1e-14
    assert np.abs(sim.state.velocity).max() < 1e-13


def test_what_slides_on_a_wall_at_rest_leaves_it_in_its_place():
    scene, _ = bricks()
    scene.combine(friction="mean")
    slider = {"mass": 0.1, "material": rb.Material(friction=0.4), "name": "slider"}
    scene.add_body(rb.Box(0.2, 0.2, 0.2), position=(1.5, 0, 2.5), velocity=(0.5, 0, 0), **slider)
    sim = rb.Simulation(scene, time_step=0.005)
    start = sim.state.position.copy()
    sim.run(0.1)
    np.testing.assert_allclose(sim["slider"].position[0] - 1.5, 0.05 - 0.5 * 0.4 * G * 0.01, atol=1e-5)
    assert np.abs(sim.state.position - start)[:-1].max() < 1e-6


def test_who_slides_slowly_does_not_stand_before_friction_has_stopped_it():
    scene = rb.Scene()
    scene.add_static(rb.Plane(), material=rb.Material(friction=0.05))
    given = {"mass": 2.0, "velocity": (0.15, 0, 0), "material": rb.Material(friction=0.05), "name": "slider"}
    scene.add_body(rb.Box(1, 1, 1), position=(0, 0, 0.5), **given)
    sim = rb.Simulation(scene, time_step=0.001, contacts=ONE_SWEEP)
    standing = sim._step.impulses.load_propagation.support
    # It stops after v / μ g = 0.153 s.
    sim.run(0.14)
    assert standing.supported.numpy()[sim.model.index("slider")] == 0
    sim.run(0.06)
    assert standing.supported.numpy()[sim.model.index("slider")] == 1
    np.testing.assert_allclose(sim["slider"].position[0], 0.15**2 / (2 * 0.1 * G), atol=1e-6)


def test_the_ground_carries_the_weight_of_the_wall():
    scene, mass = bricks()
    sim = rb.Simulation(scene, time_step=0.005, contacts=ONE_SWEEP)
    sim.step(3)
    on_ground = np.array([pair[1] == sim.scene.bodies[0].name for pair in sim.contacts.bodies])
    on_ground |= np.array([pair[0] == sim.scene.bodies[0].name for pair in sim.contacts.bodies])
    carried = sim.state.contacts.load.numpy()[: len(sim.contacts)][on_ground].sum(axis=0)
    np.testing.assert_allclose(np.abs(carried), (0.0, 0.0, mass * G), atol=1e-8 * mass * G)


def test_a_tower_of_growing_masses_stands_with_one_sweep():
    scene = rb.Scene()
    scene.add_static(rb.Plane())
    for k in range(8):
        scene.add_body(rb.Box(1, 1, 1), mass=10.0**k, position=(0, 0, 0.5 + k), name=f"cube_{k}")
    sim = rb.Simulation(scene, time_step=0.01, contacts=ONE_SWEEP)
    sim.run(1.0)
    assert abs(sim["cube_7"].position[2] - 7.5) < 1e-9
    assert np.abs(sim.state.velocity).max() < 1e-9


@pytest.mark.parametrize("friction", [0.1, 0.5])
def test_a_tower_on_a_slope_slides_as_one_or_stays(friction):
    angle = 0.35
    scene = rb.Scene()
    turn = (0, np.sin(0.5 * angle), 0, np.cos(0.5 * angle))
    up = np.array([np.sin(angle), 0, np.cos(angle)])
    scene.add_static(rb.Plane(), orientation=turn, material=rb.Material(friction=friction))
    for k in range(3):
        plate = {"position": (0.1 + 0.2 * k) * up, "orientation": turn, "name": f"plate_{k}"}
        scene.add_body(rb.Box(1, 1, 0.2), mass=1.0, material=rb.Material(friction=2.0 * (k > 0)), **plate)
    exact = rb.contacts.Impulse(solver=rb.contacts.BlockGaussSeidel(sweeps=500))
    sim = rb.Simulation(scene, time_step=0.002, contacts=exact, contact_velocity_tolerance=1e-6)
    sim.run(0.5)
    pull = max(np.sin(angle) - friction * np.cos(angle), 0.0) * G
    down = np.array([np.cos(angle), 0, -np.sin(angle)])
    for k in range(3):
        gone = sim[f"plate_{k}"].position - (0.1 + 0.2 * k) * up
        np.testing.assert_allclose(gone, 0.5 * pull * 0.25 * down, atol=2e-5)


def test_a_column_that_leans_too_far_falls():
    sim = rb.Simulation(scenes.book_stack(books=4, part=1.05), time_step=0.005, contacts=ONE_SWEEP)
    top = sim.state.position[:, 2].max()
    sim.run(1.5)
    assert sim.state.position[:, 2].max() < top - 1e-3


def test_bodies_that_joints_hold_are_left_to_the_sweeps():
    scene, _ = bricks(layers=2, wide=1)
    scene.add_joint(rb.Ball(scene.world, scene.bodies[-1], at=(0.5, 0, 0.45)))
    sim = rb.Simulation(scene, time_step=0.005)
    sim.step()
    stands = sim._step.impulses.load_propagation.support.supported.numpy()
    assert stands.tolist() == [1, 1, 0]


@pytest.mark.parametrize("speed", [1e-4, 0.01])
def test_what_moves_together_is_not_stopped(speed):
    scene = rb.Scene(gravity=(0, 0, -G))
    scene.combine(friction="product")
    scene.add_static(rb.Plane(), material=rb.Material(friction=0.0))
    for k in range(3):
        scene.add_body(rb.Box(1, 1, 1), mass=1.0, position=(0, 0, 0.5 + k), velocity=(speed, 0, 0), name=f"cube_{k}")
    sim = rb.Simulation(scene, time_step=0.01)
    sim.run(1.0)
    off = 1e-3 * speed + 1e-2 * sim.report.contact_velocity_tolerance
    for k in range(3):
        np.testing.assert_allclose(sim[f"cube_{k}"].velocity, (speed, 0, 0), atol=off)


def leaning_tower(mass, friction):
    """Where four cubes of a mass [kg] that slide on each other are after a while."""
    scene = rb.Scene()
    scene.add_static(rb.Plane())
    for k in range(4):
        start = {"position": (0.01 * k, 0, 0.051 + 0.1 * k), "velocity": (0.1 * k, 0, 0)}
        scene.add_body(rb.Box(0.1, 0.1, 0.1), mass=mass, material=rb.Material(friction=friction), **start)
    sim = rb.Simulation(scene, time_step=0.001)
    sim.step(300)
    return sim.state.position.copy()


@pytest.mark.parametrize("friction", [0.0, 0.3])
@pytest.mark.parametrize("exponent", [-20, 20])
def test_the_unit_of_mass_does_not_matter(exponent, friction):
    assert (leaning_tower(2.0**exponent, friction) == leaning_tower(1.0, friction)).all()


def test_products_of_tiny_loads_do_not_underflow():
    # The cube of the smallest load that is seen is below the smallest number there is.
    mass = float(np.finfo(numpy_real).tiny) ** (1 / 3)
    assert np.abs(leaning_tower(mass, 0.0) - leaning_tower(1.0, 0.0)).max() < 1e-3


@pytest.mark.parametrize("sweeps", [3, 50])
def test_a_high_wall_finds_its_loads_by_time_stepping_without_moving(sweeps):
    # Its loads are found in many steps, and until then bricks below are fast at the end of each.
    scene, _ = bricks(layers=20)
    sim = rb.Simulation(
        scene, time_step=0.005, contacts=rb.contacts.TimeStepping(solver=rb.contacts.BlockGaussSeidel(sweeps=sweeps))
    )
    start = sim.state.position.copy()
    sim.step(40)
    assert np.abs(sim.state.position - start).max() < 1e-11
    assert np.abs(sim.state.velocity).max() < 1e-11
