"""Contact methods against closed forms, statics and each other: braking, resting, conveying, rolling, stacking."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

import rattleback as rb
from rattleback.solvers.contacts.problem.colouring import COLOURS_PER_STEP, MAX_COLOURS, USUAL_COLOURS

pytestmark = pytest.mark.contacts
by_each_method = pytest.mark.usefixtures("contact_method")
G = 9.81


def on_ground(shape, friction=0.5, ground=None, **options):
    """A scene with one body on the ground; friction is that of the pair."""
    scene = rb.Scene()
    scene.add_static(rb.Plane(), name="ground", material=ground or rb.Material(friction=0.0))
    scene.add_body(shape, mass=1.0, name="body", material=rb.Material(friction=friction), **options)
    return scene


def tower(count, masses=None):
    scene = rb.Scene()
    scene.add_static(rb.Plane(), name="ground")
    for k in range(count):
        mass = 1.0 if masses is None else masses[k]
        scene.add_body(rb.Box(1, 1, 1), mass=mass, position=(0, 0, 0.5 + k), name=f"cube_{k}")
    return scene


@by_each_method
def test_contacts_are_resolved_unless_said_otherwise():
    sim = rb.Simulation(on_ground(rb.Sphere(0.5), position=(0, 0, 1.0)), time_step=0.005)
    sim.run(1.0)
    assert sim["body"].position[2] == pytest.approx(0.5, abs=1e-3)


@by_each_method
@pytest.mark.parametrize("angle", [0.0, 0.3, 1.1])
def test_a_sliding_cube_stops_after_its_braking_distance(angle):
    along = np.array([math.cos(angle), math.sin(angle), 0.0])
    scene = on_ground(rb.Box(1, 1, 1), position=(0, 0, 0.5), velocity=3.0 * along)
    sim = rb.Simulation(scene, time_step=0.001, contact_velocity_tolerance=1e-6, penetration_tolerance=1e-6)
    sim.run(1.0)
    way = sim["body"].position - (0, 0, 0.5)
    np.testing.assert_allclose(way[:2], 9.0 / (2 * 0.5 * G) * along[:2], atol=2e-6)
    assert np.abs(sim["body"].velocity).max() < 1e-9


@by_each_method
def test_a_cube_on_a_slope_sticks_below_the_angle_of_friction_and_does_not_creep():
    slope = Rotation.from_rotvec((0, 0.5, 0))
    scene = rb.Scene()
    scene.add_static(rb.Plane(), orientation=slope.as_quat(), material=rb.Material(friction=0.0))
    place = slope.apply((0, 0, 0.5))
    rough = rb.Material(friction=1.01 * math.tan(0.5))
    scene.add_body(rb.Box(1, 1, 1), position=place, orientation=slope.as_quat(), name="body", material=rough)
    sim = rb.Simulation(scene, time_step=0.005)
    sim.run(5.0)
    assert np.linalg.norm(sim["body"].position - place) < 2e-4


@by_each_method
def test_static_friction_holds_what_dynamic_friction_would_not():
    slope = Rotation.from_rotvec((0, 0.5, 0))
    rests = rb.Material(static_friction=0.8, dynamic_friction=0.2)
    speeds = []
    for push in (0.0, 0.5):
        scene = rb.Scene()
        scene.add_static(rb.Plane(), orientation=slope.as_quat(), material=rb.Material(friction=0.0))
        place, along = slope.apply((0, 0, 0.5)), slope.apply((1, 0, 0))
        options = {"position": place, "orientation": slope.as_quat(), "velocity": push * along}
        scene.add_body(rb.Box(1, 1, 1), name="body", material=rests, **options)
        sim = rb.Simulation(scene, time_step=0.001, contact_velocity_tolerance=1e-6)
        sim.run(0.5)
        speeds.append(sim["body"].velocity @ along)
    assert abs(speeds[0]) < 1e-6
    assert speeds[1] == pytest.approx(0.5 + 0.5 * G * (math.sin(0.5) - 0.2 * math.cos(0.5)), rel=1e-4)


@by_each_method
def test_a_belt_carries_a_cube_along():
    belt = rb.Material(friction=0.0, surface_velocity=(1.0, 0.0, 0.0))
    scene = on_ground(rb.Box(1, 1, 1), friction=0.3, ground=belt, position=(0, 0, 0.5))
    sim = rb.Simulation(scene, time_step=0.001, contact_velocity_tolerance=1e-6)
    sim.run(0.2)
    assert sim["body"].velocity[0] == pytest.approx(0.3 * G * 0.2, rel=1e-4)
    sim.run(1.0)
    assert sim["body"].velocity[0] == pytest.approx(1.0, abs=1e-5)


@by_each_method
def test_rolling_friction_slows_a_ball_down():
    scene = rb.Scene()
    scene.add_static(rb.Plane(), material=rb.Material(friction=0.0))
    soft = rb.Material(friction=0.8, rolling_friction=0.01)
    spin = {"velocity": (2.0, 0, 0), "angular_velocity": (0, 4.0, 0)}
    scene.add_body(rb.Sphere(0.5), position=(0, 0, 0.5), name="body", material=soft, **spin)
    sim = rb.Simulation(scene, time_step=0.001, contact_velocity_tolerance=1e-7)
    sim.run(1.0)
    # Work of the moment δ m g over the angle turned: a = δ g / (1.4 r).
    assert sim["body"].velocity[0] == pytest.approx(2.0 - 0.01 * G / (1.4 * 0.5), rel=1e-3)


@by_each_method
def test_spinning_friction_stops_a_ball_that_spins_in_place():
    scene = rb.Scene()
    scene.add_static(rb.Plane(), material=rb.Material(friction=0.0))
    soft = rb.Material(friction=0.5, spinning_friction=0.02)
    scene.add_body(
        rb.Sphere(0.5), mass=1.0, position=(0, 0, 0.5), name="body", material=soft, angular_velocity=(0, 0, 3.0)
    )
    sim = rb.Simulation(scene, time_step=0.001, contact_velocity_tolerance=1e-7)
    sim.run(0.5)
    slower = 0.5 * 0.02 * G / (0.4 * 0.25)
    assert sim["body"].angular_velocity[2] == pytest.approx(3.0 - slower, rel=1e-3)


@pytest.mark.parametrize("masses", [None, [1.0, 3.0, 0.5, 2.0], [10.0**k for k in range(4)]])
def test_a_tower_stands_and_every_contact_carries_what_is_above_it(masses, contact_method):
    sim = rb.Simulation(tower(4, masses), time_step=0.005, contact_velocity_tolerance=1e-7, penetration_tolerance=1e-6)
    sim.use(contacts=contact_method(solver=rb.contacts.BlockGaussSeidel(sweeps=1000)))
    sim.run(1.0)
    masses = np.ones(4) if masses is None else np.array(masses)
    for k in range(4):
        assert sim[f"cube_{k}"].position[2] == pytest.approx(0.5 + k, abs=1e-5)
        below = "ground" if k == 0 else f"cube_{k - 1}"
        rows = sim.contacts.of(f"cube_{k}", below)
        force = sim.state.contacts.load.numpy()[rows].sum(axis=0)
        assert abs(force[2]) == pytest.approx(G * masses[k:].sum(), rel=1e-4)
        assert np.abs(force[:2]).max() < 1e-3 * abs(force[2])


def pile(seed, count=12):
    rng = np.random.default_rng(seed)
    scene = rb.Scene()
    scene.add_static(rb.Plane())
    shapes = (rb.Box(0.5, 0.4, 0.3), rb.Sphere(0.25), rb.Capsule(0.15, 0.4), rb.Cylinder(0.2, 0.4))
    for k in range(count):
        place = (*rng.uniform(-0.4, 0.4, 2), 0.6 + 0.5 * k)
        turn = Rotation.random(random_state=rng).as_quat()
        scene.add_body(shapes[k % 4], density=500.0, position=place, orientation=turn, name=f"body_{k}")
    return scene


@by_each_method
@pytest.mark.filterwarnings("ignore::rattleback.NotConvergedWarning")
def test_steps_one_by_one_and_copied_states_have_the_same_bits(device):
    many, single = (rb.Simulation(pile(1), time_step=0.004, device=device) for _ in range(2))
    many.step(300)
    for _ in range(300):
        single.step()
    assert many.hash() == single.hash()
    middle = many.state.copy()
    many.step(200)
    other = rb.Simulation(pile(1), time_step=0.004, device=device)
    other.state = middle
    other.step(200)
    assert other.hash() == many.hash()


@by_each_method
@pytest.mark.filterwarnings("ignore::rattleback.NotConvergedWarning")
def test_a_saved_pile_goes_on_bit_for_bit(tmp_path):
    sim = rb.Simulation(pile(2), time_step=0.004)
    sim.step(250)
    sim.save(tmp_path / "pile.npz")
    again = rb.load(tmp_path / "pile.npz")
    assert again.hash() == sim.hash()
    sim.step(100)
    again.step(100)
    assert again.hash() == sim.hash()


@by_each_method
@pytest.mark.filterwarnings("ignore::rattleback.NotConvergedWarning")
def test_worlds_have_the_bits_of_single_runs():
    single, batch = rb.Simulation(pile(3), time_step=0.004), rb.Simulation(pile(3), time_step=0.004, worlds=3)
    # Contacts of the last world are in other rows in almost every step, for what those before it do.
    batch["body_0"].position = batch["body_0"].position + np.array([[1.0, 0, 0], [0, 0, 2.0], [0, 0, 0]])
    single.step(250)
    batch.step(250)
    np.testing.assert_array_equal(batch.state.position[2], single.state.position)
    assert np.abs(batch.state.position[1] - single.state.position).max() > 1e-3


def laden_table():
    """A slab with twelve cubes on it, each of which takes a colour of its own."""
    scene = rb.Scene()
    scene.add_static(rb.Plane(), name="ground")
    scene.add_body(rb.Box(4, 3, 0.2), density=100.0, position=(0, 0, 0.1), name="table")
    for k in range(12):
        scene.add_body(rb.Box(0.5, 0.5, 0.5), density=100.0, position=(k % 4 - 1.5, k // 4 - 1, 0.45), name=f"cube {k}")
    return scene


@pytest.mark.parametrize(("make", "count"), [(lambda: tower(6), 6), (laden_table, 13)])
def test_colours_find_what_the_order_finds(make, count, give_colours, contact_method):
    method = contact_method(solver=rb.contacts.BlockGaussSeidel(sweeps=2000))
    settings = {"time_step": 0.005, "contact_velocity_tolerance": 1e-8}
    ordered = rb.Simulation(make(), contacts=method, **settings)
    give_colours()
    coloured = rb.Simulation(make(), contacts=method, **settings)
    for sim in (ordered, coloured):
        sim.run(0.3)
    np.testing.assert_allclose(coloured.state.position, ordered.state.position, atol=1e-6)
    problem = coloured._step.impulses.problem
    colour_driver, manifolds = problem.colour_driver, problem.system.manifolds
    colours = colour_driver.colouring.colour.numpy()[:count]
    assert colours.min() >= 0
    steps = np.arange(USUAL_COLOURS, MAX_COLOURS, COLOURS_PER_STEP)
    np.testing.assert_array_equal(colour_driver.colouring.more_needed.numpy(), colours.max() >= steps)
    for i in range(count):
        for j in range(i):
            if colours[i] == colours[j]:
                mine, other = ({manifolds.body_a.numpy()[k], manifolds.body_b.numpy()[k]} - {0} for k in (i, j))
                assert not mine & other
    assert count <= USUAL_COLOURS or colours.max() >= USUAL_COLOURS


@by_each_method
def test_contacts_conserve_momentum_between_free_bodies():
    scene = rb.Scene(gravity=(0, 0, 0))
    rng = np.random.default_rng(4)
    for k in range(6):
        place, turn = np.array([2.2 * k - 5.0, 0, 0]) + rng.uniform(-0.2, 0.2, 3), Rotation.random(random_state=rng)
        velocity, turn = -0.3 * place + rng.normal(size=3) * 0.1, turn.as_quat()
        scene.add_body(rb.Box(1, 1.2, 0.8), mass=1.0 + k, position=place, orientation=turn, velocity=velocity)
    sim = rb.Simulation(scene, time_step=0.005, penetration_tolerance=1e-3, contact_velocity_tolerance=1e-4)
    sim.use(contacts=replace(sim.methods.contacts, solver=rb.contacts.BlockGaussSeidel(sweeps=50)))
    before = sim.momentum()
    for _ in range(10):
        sim.step(50)
        np.testing.assert_allclose(sim.momentum().linear, before.linear, atol=1e-11)
    assert sim.energy().kinetic < 0.9 * rb.Simulation(scene).energy().kinetic


@by_each_method
def test_the_report_names_the_worst_contact_and_what_would_help():
    scene = tower(2)
    scene.add_body(rb.Box(1, 1, 1), mass=1.0, position=(3, 0, 0.3), name="sunk")
    sim = rb.Simulation(scene, time_step=0.005)
    with pytest.warns(rb.NotConvergedWarning, match=r"Bodies 'ground' and 'sunk' overlap by 0\.1.* a shorter"):
        sim.step()
    assert sim.report.worst_contact == ("ground", "sunk")
    assert sim.report.penetration == pytest.approx(0.2, abs=0.01)
    assert sim.report.penetration_tolerance == pytest.approx(0.25 * sim._step.contacts.finder.distance)
    with pytest.raises(rb.NotConverged, match="overlap by"):
        rb.Simulation(scene, strict=True).step()


def column(balls):
    """Balls on top of each other: on single points nobody stands, which leaves it all to sweeps."""
    scene = rb.Scene()
    scene.add_static(rb.Plane())
    for k in range(balls):
        scene.add_body(rb.Sphere(0.5), mass=1.0, position=(0, 0, 0.5 + k), name=f"ball_{k}")
    return scene


def test_a_column_of_balls_that_may_not_sweep_says_how_fast_it_was_left(contact_method):
    sim = rb.Simulation(
        column(10), contacts=contact_method(solver=rb.contacts.BlockGaussSeidel(sweeps=1)), penetration_tolerance=1.0
    )
    with pytest.warns(rb.NotConvergedWarning, match=r"velocity error of .* after 1 sweeps, above the contact"):
        sim.step()


@by_each_method
def test_bodies_that_start_deep_in_each_other_part_without_flying_apart():
    scene = rb.Scene(gravity=(0, 0, 0))
    scene.add_body(rb.Box(1, 1, 1), mass=1.0, position=(0, 0, 0), name="a")
    scene.add_body(rb.Box(1, 1, 1), mass=1.0, position=(0.7, 0.1, 0), name="b")
    sim = rb.Simulation(scene, time_step=0.01)
    with pytest.warns(rb.NotConvergedWarning):
        sim.run(1.0)
    assert np.abs(sim.state.velocity).max() < 1e-6
    assert sim.contacts.separation.min() > -1.1 * sim.report.penetration_tolerance


@pytest.mark.filterwarnings("ignore::rattleback.NotConvergedWarning")
def test_shock_propagation_stops_a_tall_column_with_few_sweeps():
    def sag(method):
        sim = rb.Simulation(column(30), time_step=0.005, contacts=method, contact_velocity_tolerance=1e-5)
        sim.run(0.25)
        return 29.5 - sim["ball_29"].position[2]

    assert abs(sag(rb.contacts.ShockPropagation(after=4))) < 0.1 * abs(
        sag(rb.contacts.Impulse(solver=rb.contacts.BlockGaussSeidel(sweeps=4)))
    )


@by_each_method
@given(
    size=st.floats(-2, 2), mass=st.floats(-3, 4), seed=st.integers(0, 2**20), friction=st.sampled_from([0.0, 0.4, 2.0])
)
@pytest.mark.filterwarnings("ignore::rattleback.NotConvergedWarning")
def test_nothing_becomes_infinite_whatever_the_sizes_masses_and_overlaps(size, mass, seed, friction):
    rng, length = np.random.default_rng(seed), 10.0**size
    scene = rb.Scene()
    scene.add_static(rb.Plane(), material=rb.Material(friction=friction))
    for k in range(5):
        shape = (rb.Box(length, 0.5 * length, length), rb.Sphere(0.5 * length), rb.Capsule(0.2 * length, length))[k % 3]
        place = rng.uniform((-1, -1, 0), (1, 1, 3)) * length
        turn = Rotation.random(random_state=rng).as_quat()
        rough = rb.Material(friction=friction)
        heavy = 10.0 ** (mass if k % 2 else 0.0)
        scene.add_body(shape, mass=heavy, position=place, orientation=turn, material=rough)
    sim = rb.Simulation(scene, time_step=0.01)
    sim.step(20)
    assert np.isfinite(sim.state.velocity).all()
    assert np.abs(sim.state.velocity).max() < 20.0 * math.sqrt(G * length) + G


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: rb.contacts.Impulse(solver=rb.contacts.BlockGaussSeidel(sweeps=0)), "sweeps of BlockGaussSeidel"),
        (lambda: rb.contacts.Impulse(sweeps_between=0), "sweeps_between of Impulse"),
        (lambda: rb.contacts.Impulse(exchanges=0), "exchanges of Impulse"),
        (lambda: rb.contacts.TimeStepping(solver=rb.contacts.BlockGaussSeidel(sweeps=0)), "sweeps of BlockGaussSeidel"),
        (lambda: rb.contacts.TimeStepping(restitution="newtonian"), "restitution of TimeStepping"),
        (lambda: rb.contacts.ShockPropagation(after=0), "after of ShockPropagation"),
        (
            lambda: rb.contacts.ShockPropagation(inner="impulse"),
            "inner of ShockPropagation is 'impulse'",
        ),
        (lambda: rb.Simulation(tower(1), contacts="pushy"), "no contact method 'pushy'"),
        (lambda: rb.Simulation(tower(1), penetration_tolerance=0.0), "penetration_tolerance"),
        (lambda: rb.Simulation(tower(1), contact_velocity_tolerance=-1.0), "contact_velocity_tolerance"),
    ],
)
def test_wrong_parameters_are_refused_by_name(make, message):
    with pytest.raises(rb.RattlebackError, match=message):
        make()


def test_what_is_pressed_together_hardly_overlaps_with_two_sweeps():
    """A thousand newtons over a row of ten cubes to a wall: what overlaps deep is swept on."""
    scene, material = rb.Scene(gravity=(0, 0, 0)), rb.Material(friction=0.1)
    scene.add_static(rb.Box(1, 4, 4), position=(-0.5, 0, 0), material=material)
    for k in range(10):
        scene.add_body(rb.Box(1, 1, 1), mass=1.0, position=(0.5 + k, 0, 0), material=material, name=f"cube {k}")
    scene.add_force(rb.Wrench("cube 9", force=(-1000.0, 0, 0)))
    settings = {"time_step": 1e-3, "penetration_tolerance": 1e-4, "warn": False}
    sim = rb.Simulation(scene, contacts=rb.contacts.Impulse(solver=rb.contacts.BlockGaussSeidel(sweeps=2)), **settings)
    sim.step(300)
    assert sim.report.penetration < 4.5e-4


@pytest.mark.parametrize("spin", [0.0, 3.0, -12.0])
def test_every_point_of_a_plate_that_slides_fast_rubs_against_its_own_velocity(contact_method, spin):
    """Coulomb's law point by point, where a plate slides and spins: |f_t| = μ f_n, against the velocity there."""
    scene = rb.Scene()
    scene.add_static(rb.Plane(), name="ground", material=rb.Material(0.0))
    plate = {"velocity": (20.0, 5.0, 0), "angular_velocity": (0, 0, spin), "material": rb.Material(0.3)}
    scene.add_body(rb.Box(1.0, 0.6, 0.1), mass=2.0, position=(0, 0, 0.05), name="plate", **plate)
    sim = rb.Simulation(scene, time_step=1e-4, contacts=contact_method())
    sim.step(20)
    state, contacts, row = sim.state, sim.contacts, sim.model.index("plate")
    arms = contacts.point - state.position[row]
    velocities = state.velocity[row] + np.cross(state.angular_velocity[row], arms)
    forces = contacts.force * np.where(contacts.body_a == row, 1.0, -1.0)[:, None]
    assert len(forces) == 4
    assert forces[:, 2].sum() == pytest.approx(2.0 * 9.81, rel=1e-4)
    along = velocities[:, :2] / np.linalg.norm(velocities[:, :2], axis=1)[:, None]
    np.testing.assert_allclose(forces[:, :2], -0.3 * forces[:, 2:] * along, rtol=0.0, atol=2e-3)
