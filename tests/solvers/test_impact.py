"""Collisions: closed forms, momentum, energy, worlds that keep out of each other, and names not on the menu."""

from typing import Any

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import rattleback as rb
from rattleback.core.errors import InputError
from rattleback.scenes.impacts import bounces, cradle
from rattleback.solvers.contacts import Impulse

LAWS = ("newton", "poisson", "stronge")
STILL = {"time_step": 1e-6, "contact_distance": 1e-4, "contact_velocity_tolerance": 1e-11}
NEUTRAL = rb.Material(friction=0.0, restitution=1.0)


def surface(friction: float, restitution: float) -> rb.Material:
    return rb.Material(friction=friction, restitution=restitution)


def balls(masses: list[float], speeds: list[float], restitution: float) -> rb.Scene:
    """Balls in a row along x that touch, without gravity."""
    scene = rb.Scene(gravity=(0.0, 0.0, 0.0))
    material = surface(0.0, np.sqrt(restitution))
    for k, (mass, speed) in enumerate(zip(masses, speeds, strict=True)):
        place, velocity = (2.0 * k, 0.0, 0.0), (speed, 0.0, 0.0)
        scene.add_body(
            rb.Sphere(1.0), mass=mass, position=place, velocity=velocity, name=f"ball_{k}", material=material
        )
    return scene


def after_impact(scene: rb.Scene, law: str = "newton", impact: str = "sequential", **settings: Any) -> rb.Simulation:
    """The simulation after a first step so short that nothing but the impact counts."""
    sim = rb.Simulation(scene, contacts=Impulse(restitution=law, impact=impact), **(STILL | settings))
    sim.step()
    return sim


def speeds_along_x(sim: rb.Simulation) -> np.ndarray:
    return sim.state.velocity[:, 0].copy()


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("e", [0.0, 0.5, 1.0])
def test_two_balls_head_on_leave_with_the_speeds_of_the_textbook(law: str, e: float) -> None:
    (m1, m2), (v1, v2) = (1.0, 3.0), (2.0, -0.5)
    sim = after_impact(balls([m1, m2], [v1, v2], e), law)
    middle = (m1 * v1 + m2 * v2) / (m1 + m2)
    expected = [middle + m2 / (m1 + m2) * e * (v2 - v1), middle + m1 / (m1 + m2) * e * (v1 - v2)]
    np.testing.assert_allclose(speeds_along_x(sim), expected, atol=1e-9)


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize(("friction", "e"), [(0.05, 0.6), (0.15, 1.0), (0.8, 0.6), (0.0, 0.3)])
def test_a_ball_that_strikes_the_ground_at_an_angle_gets_the_friction_it_needs_or_all_there_is(
    law: str, friction: float, e: float
) -> None:
    radius, mass, velocity, spin = 0.5, 2.0, np.array([1.5, -0.7, -2.0]), np.array([0.4, 3.0, 1.1])
    scene = rb.Scene(gravity=(0.0, 0.0, 0.0))
    scene.add_static(rb.Plane(), material=NEUTRAL)
    scene.add_body(
        rb.Sphere(radius),
        mass=mass,
        position=(0, 0, radius),
        velocity=velocity,
        angular_velocity=spin,
        name="ball",
        material=surface(friction, e),
    )
    sim = after_impact(scene, law)
    arm = np.array([0.0, 0.0, -radius])
    slip = (velocity + np.cross(spin, arm)) * (1.0, 1.0, 0.0)
    pull = min(friction * (1.0 + e) * mass * 2.0, 2.0 / 7.0 * mass * np.linalg.norm(slip))
    p = -pull * slip / np.linalg.norm(slip) + np.array([0.0, 0.0, (1.0 + e) * mass * 2.0])
    turned = spin + np.cross(arm, p) / (0.4 * mass * radius**2)
    np.testing.assert_allclose(sim["ball"].velocity, velocity + p / mass, atol=2e-6)
    np.testing.assert_allclose(sim["ball"].angular_velocity, turned, atol=2e-6)


@pytest.mark.parametrize("law", LAWS)
def test_a_rod_dropped_at_an_angle_without_friction_turns_as_its_tip_is_pushed_up(law: str) -> None:
    length, mass, e, angle, speed = 1.0, 2.0, 0.7, 0.6, 3.0
    scene = rb.Scene(gravity=(0.0, 0.0, 0.0))
    scene.add_static(rb.Plane(), material=NEUTRAL)
    moment = mass * length**2 / 12.0
    needle = rb.ConvexHull([(0, 0, -0.5), (0.01, 0, 0), (0, 0.01, 0), (-0.01, 0, 0), (0, -0.01, 0), (0, 0, 0.5)])
    scene.add_body(
        needle,
        mass=mass,
        inertia=(moment, moment, 1e-3 * moment),
        position=(0, 0, 0.5 * length * np.cos(angle)),
        orientation=Rotation.from_rotvec([0, angle, 0]).as_quat(),
        velocity=(0, 0, -speed),
        name="rod",
        material=surface(0.0, e),
    )
    sim = after_impact(scene, law)
    across = 0.5 * length * np.sin(angle)
    p = (1.0 + e) * speed / (1.0 / mass + across**2 / moment)
    np.testing.assert_allclose(sim["rod"].velocity, [0.0, 0.0, p / mass - speed], atol=1e-6)
    np.testing.assert_allclose(sim["rod"].angular_velocity, [0.0, across * p / moment, 0.0], atol=1e-6)


@pytest.mark.parametrize("law", LAWS)
def test_a_box_that_lands_flat_bounces_without_turning(law: str) -> None:
    scene = rb.Scene(gravity=(0.0, 0.0, 0.0))
    scene.add_static(rb.Plane(), material=NEUTRAL)
    scene.add_body(
        rb.Box(1.0, 0.6, 0.4),
        mass=1.0,
        position=(0, 0, 0.2),
        velocity=(0.3, 0, -1),
        name="box",
        material=surface(0.0, 0.5),
    )
    sim = after_impact(scene, law)
    np.testing.assert_allclose(sim["box"].velocity, [0.3, 0.0, 0.5], atol=1e-9)
    np.testing.assert_allclose(sim["box"].angular_velocity, 0.0, atol=1e-9)


def thrown_boxes(worlds: int, law: str, friction: float, restitution: float, seed: int = 1) -> rb.Simulation:
    """A box of every world about to strike the ground in its own way."""
    size, rng = np.array([1.0, 0.7, 0.4]), np.random.default_rng(seed)
    scene = rb.Scene(gravity=(0.0, 0.0, 0.0))
    scene.add_static(rb.Plane(), material=NEUTRAL)
    scene.add_body(rb.Box(*size), mass=1.5, position=(0, 0, 5), name="box", material=surface(friction, restitution))
    sim = rb.Simulation(scene, contacts=Impulse(restitution=law), worlds=worlds, **(STILL | {"time_step": 1e-9}))
    turn = Rotation.random(worlds, random_state=rng)
    half = 0.5 * size * np.abs(turn.as_matrix()[:, 2, :])
    sim["box"].orientation = turn.as_quat()
    sim["box"].position = np.stack([np.zeros(worlds), np.zeros(worlds), half.sum(axis=1)], axis=1)
    sim["box"].velocity = rng.normal(size=(worlds, 3)) - (0.0, 0.0, 1.0)
    sim["box"].angular_velocity = 2.0 * rng.normal(size=(worlds, 3))
    return sim


def test_newton_and_poisson_agree_without_friction() -> None:
    ends = []
    for law in ("newton", "poisson", "stronge"):
        sim = thrown_boxes(50, law, 0.0, 0.6)
        sim.step()
        ends.append(np.concatenate([sim["box"].velocity, sim["box"].angular_velocity], axis=1))
    np.testing.assert_allclose(ends[1], ends[0], atol=1e-8)
    np.testing.assert_allclose(ends[2], ends[0], atol=1e-6)


def kinetic(sim: rb.Simulation) -> np.ndarray:
    return np.asarray(sim.energy().kinetic).copy()


@pytest.mark.parametrize(("friction", "restitution", "worlds"), [(0.2, 0.5, 1000), (0.9, 1.0, 1000)])
def test_stronge_never_creates_energy(friction: float, restitution: float, worlds: int) -> None:
    sim = thrown_boxes(worlds, "stronge", friction, restitution)
    before = kinetic(sim)
    sim.step()
    assert np.all(kinetic(sim) <= before * (1.0 + 1e-9))
    assert np.mean(kinetic(sim) < before - 1e-3) > 0.5


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::rattleback.NotConvergedWarning")
def test_stronge_never_creates_energy_in_a_hundred_thousand_oblique_impacts() -> None:
    rng = np.random.default_rng(5)
    for seed in range(20):
        sim = thrown_boxes(5000, "stronge", rng.uniform(0.0, 1.5), rng.uniform(0.05, 1.0), seed)
        before = kinetic(sim)
        sim.step()
        assert np.all(kinetic(sim) <= before * (1.0 + 1e-9))


@pytest.mark.parametrize("law", LAWS)
def test_momentum_is_conserved_when_boxes_strike_each_other_with_friction(law: str) -> None:
    scene = rb.Scene(gravity=(0.0, 0.0, 0.0))
    material = surface(0.3, 0.8)
    turn = Rotation.from_rotvec([0.3, 0.5, -0.2])
    reach = 0.5 * np.abs(turn.as_matrix()[2]).sum()
    scene.add_body(rb.Box(4.0, 4.0, 0.5), mass=3.0, name="slab", material=material, angular_velocity=(0.2, -0.1, 0.3))
    scene.add_body(
        rb.Box(1.0, 1.0, 1.0),
        mass=1.0,
        name="cube",
        material=material,
        position=(0.4, -0.3, 0.25 + reach),
        orientation=turn.as_quat(),
        velocity=(0.7, 0.2, -2.0),
    )
    sim = rb.Simulation(scene, contacts=Impulse(restitution=law), **STILL)
    before = sim.momentum()
    sim.step()
    assert sim["slab"].velocity[2] < -0.1
    np.testing.assert_allclose(sim.momentum().linear, before.linear, atol=1e-12)
    np.testing.assert_allclose(sim.momentum().angular, before.angular, atol=1e-11)


def test_a_shock_goes_through_a_row_of_balls_one_after_the_other() -> None:
    sim = after_impact(balls([1.0] * 3, [1.0, 0.0, 0.0], 1.0))
    np.testing.assert_allclose(speeds_along_x(sim), [0.0, 0.0, 1.0], atol=1e-9)


@pytest.mark.parametrize("law", LAWS)
def test_simultaneous_impact_shares_the_shock_among_all_that_touch(law: str) -> None:
    sim = after_impact(balls([1.0] * 3, [1.0, 0.0, 0.0], 1.0), law, "simultaneous")
    # By Newton v₂ − v₁ = 1 and v₃ = v₂. Else impulses 2/3 and 1/3 bring all to 1/3, and come back: the same.
    np.testing.assert_allclose(speeds_along_x(sim), [-1 / 3, 2 / 3, 2 / 3], atol=1e-8)


def heap() -> rb.Scene:
    """Cubes that fall on each other, askew."""
    scene, rng = rb.Scene(), np.random.default_rng(0)
    scene.add_static(rb.Plane(), material=surface(0.3, 0.8))
    for k in range(16):
        scene.add_body(
            rb.Box(1, 1, 1),
            mass=rng.uniform(0.5, 2.0),
            position=(1.1 * (k % 2), 1.1 * (k // 2 % 2), 0.9 + 1.2 * (k // 4)),
            orientation=Rotation.from_rotvec(rng.uniform(-0.1, 0.1, 3)).as_quat(),
            material=surface(0.3, 0.8),
        )
    return scene


@pytest.mark.filterwarnings("ignore::rattleback.core.errors.NotConvergedWarning")
def test_worlds_keep_out_of_each_other() -> None:
    scene = bounces(0.8, 0.5)
    sim = rb.Simulation(scene, contacts="impulse", worlds=3, time_step=0.01, contact_distance=1e-3)
    sim["ball"].velocity = [(0, 0, -8.0), (0, 0, 0), (0, 0, -3.0)]
    sim.step(60)
    for world, speed in enumerate((-8.0, 0.0, -3.0)):
        alone = rb.Simulation(scene, contacts="impulse", time_step=0.01, contact_distance=1e-3)
        alone["ball"].velocity = (0, 0, speed)
        alone.step(60)
        assert np.array_equal(sim["ball"].position[world], alone["ball"].position)
        assert np.array_equal(sim["ball"].velocity[world], alone["ball"].velocity)


@pytest.mark.parametrize("law", LAWS)
def test_nothing_changes_where_nothing_collides(law: str) -> None:
    bits = []
    for restitution in (0.0, 1.0):
        scene = rb.Scene()
        scene.add_static(rb.Plane(), material=NEUTRAL)
        material = surface(0.3, restitution)
        # So light that half of a step's fall is faster than the fall through the contact distance.
        for k in range(2):
            scene.add_body(rb.Box(0.05, 0.05, 0.05), mass=0.1, position=(0, 0, 0.025 + 0.05 * k), material=material)
        sim = rb.Simulation(scene, contacts=Impulse(restitution=law), time_step=0.01)
        sim.step(30)
        state = sim.state
        bits.append([state.position, state.orientation, state.velocity, state.angular_velocity, sim.contacts.force])
    for plastic, elastic in zip(*bits, strict=True):
        np.testing.assert_array_equal(plastic, elastic)


@pytest.mark.parametrize("ground", [0.0, 1.0])
def test_no_energy_comes_from_the_ground_when_a_stack_of_elastic_boxes_lands(ground: float) -> None:
    scene = rb.Scene()
    scene.add_static(rb.Plane(), material=surface(0.0, ground))
    for k in range(3):
        place = (0.0, 0.0, 0.3 + 0.2 * k)
        scene.add_body(rb.Box(0.2, 0.2, 0.2), mass=1.0 + k, position=place, material=surface(0.0, 1.0))
    sim = rb.Simulation(scene, contacts="impulse", time_step=0.01, contact_time="interpolate", contact_distance=1e-5)
    start = sim.energy().total
    energies = []
    for _ in range(200):
        sim.step()
        energies.append(sim.energy().total)
    assert max(energies) < start + 1e-6
    # The ground takes what strikes it where it is not elastic, and nothing where it is.
    assert energies[-1] < 0.9 * start if ground == 0.0 else energies[-1] > start - 1e-3


def test_a_ball_between_two_heavy_ones_that_close_in_stays_while_they_rebound() -> None:
    """By symmetry it stays, and the heavy ones reverse: each pair has its relative velocity reversed."""
    sim = after_impact(balls([1e4, 1.0, 1e4], [1.0, 0.0, -1.0], 1.0))
    np.testing.assert_allclose(speeds_along_x(sim), (-1.0, 0.0, 1.0), atol=1e-9)
    assert sim.report.converged


def test_impulses_of_collisions_are_not_remembered() -> None:
    sim = after_impact(balls([1.0, 1.0], [1.0, -1.0], 1.0))
    assert not sim.state.contacts.load.numpy().any()


@pytest.mark.parametrize(("name", "wrong"), [("restitution", "poison"), ("impact", "sequentially")])
def test_a_wrong_name_gives_the_menu(name: str, wrong: str) -> None:
    with pytest.raises(InputError, match=f"{name} of Impulse is '{wrong}'; it may be .*Did you mean"):
        Impulse(**{name: wrong})


def tops(sim: rb.Simulation, count: int) -> np.ndarray:
    """Heights above the ground between bounces."""
    found: list[float] = []
    rising = False
    while len(found) < count:
        sim.step()
        speed, height = sim["ball"].velocity[2], sim["ball"].position[2] - 0.1
        if rising and speed <= 0.0:
            found.append(height + 0.5 * speed**2 / 9.81)
        rising = speed > 0.0
    return np.array(found)


@pytest.mark.parametrize("law", LAWS)
def test_ten_bounces_lose_their_height_by_the_square_of_the_restitution(law: str) -> None:
    method = Impulse(restitution=law)
    sim = rb.Simulation(
        bounces(0.8), time_step=0.001, contacts=method, contact_distance=1e-5, contact_time="interpolate"
    )
    np.testing.assert_allclose(tops(sim, 10), 0.8 ** (2.0 * np.arange(1, 11)), rtol=1e-3)


def test_an_elastic_ball_keeps_its_height_for_a_hundred_bounces() -> None:
    sim = rb.Simulation(
        bounces(1.0, 0.05), time_step=0.001, contacts="impulse", contact_distance=1e-5, contact_time="interpolate"
    )
    np.testing.assert_allclose(tops(sim, 100), 0.05, rtol=1e-4)


@pytest.mark.filterwarnings("ignore::rattleback.core.errors.NotConvergedWarning")
@pytest.mark.parametrize("h", [0.004, 0.002, 0.001])
def test_without_contact_time_bounces_are_off_by_no_more_than_a_step_of_travel(h: float) -> None:
    sim = rb.Simulation(bounces(0.8), time_step=h, contacts="impulse", contact_distance=1e-5)
    expected = 0.8 ** (2.0 * np.arange(1, 4))
    # Each bounce is found up to one step late, h v below the ground, and what is lost there is (1 − e²) of it.
    late = h * np.sqrt(2.0 * 9.81)
    assert np.all(np.abs(tops(sim, 3) - expected) <= 1.5 * late)


ACCURATE = dict.fromkeys(
    ("position_tolerance", "velocity_tolerance", "orientation_tolerance", "contact_velocity_tolerance"), 1e-8
)


def swing(lifted: int, duration: float) -> np.ndarray:
    """Angular velocities of the balls of a cradle and its energy beside that of the start, after every step."""
    sim = rb.Simulation(
        cradle(lifted),
        time_step=0.001,
        contacts="impulse",
        contact_time="interpolate",
        contact_distance=1e-6,
        **ACCURATE,
    )
    start, rows = sim.energy().total, []
    while sim.time < duration:
        sim.step()
        rows.append([*sim.state.angular_velocity[:, 1], sim.energy().total - start])
    return np.array(rows)


def check_swing(rows: np.ndarray, lifted: int, impacts: int) -> None:
    speeds, energy = np.abs(rows[:, :5]), rows[:, 5]
    struck = np.flatnonzero(np.abs(np.diff(rows[:, :5], axis=0)).max(axis=1) > 0.1)
    assert len(struck) == impacts
    assert np.abs(energy[struck + 1] - energy[struck]).max() < 2e-6
    for k, place in enumerate(struck):
        moving = np.arange(5) >= 5 - lifted if k % 2 == 0 else np.arange(5) < lifted
        until = struck[k + 1] if k + 1 < len(struck) else len(rows) - 1
        assert np.all(speeds[place + 1 : until + 1, ~moving] < 1e-5)
        np.testing.assert_allclose(speeds[place + 1, moving], speeds[place].max(), atol=3.5e-6)
    turning = np.flatnonzero(np.diff(np.sign(rows[:, [0, 4]].sum(axis=1))) != 0)
    assert np.all(np.abs(energy[turning]) < 2e-6)


def test_as_many_balls_leave_a_cradle_as_have_arrived() -> None:
    check_swing(swing(2, 1.3), lifted=2, impacts=1)


@pytest.mark.slow
@pytest.mark.parametrize("lifted", [1, 2, 3, 4])
def test_a_cradle_swings_for_ten_seconds(lifted: int) -> None:
    check_swing(swing(lifted, 10.0), lifted, impacts=4)
