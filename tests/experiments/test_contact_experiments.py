"""Experiments with resting contacts and friction: published and closed-form numbers, and what they are judged by."""

import math
import warnings

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import rattleback as rb
from rattleback.experiments import (
    MENU,
    Options,
    Picture,
    draw,
    incline,
    painleve,
    sliding_ball,
    tippe_top,
    towers,
    wall,
)
from rattleback.experiments import arch as arches
from rattleback.experiments import rattleback as stone
from rattleback.experiments.result import as_dict
from rattleback.experiments.snapshot import snapshot
from rattleback.experiments.standing import build
from rattleback.scenes.slopes import INCLINE_FRICTIONS, braking_distance
from rattleback.solvers.contacts import BlockGaussSeidel, Impulse

FULL = [
    "incline",
    "sliding_ball",
    "rolling",
    "towers",
    "book_stack",
    "arch",
    "painleve",
    "tippe_top",
    "rattleback",
    "wall",
    "wall_shock",
]


@pytest.mark.slow
@pytest.mark.parametrize("name", FULL)
def test_the_long_version_meets_its_demands(name):
    result = MENU[name].run(Options())
    assert [row for row in result.rows if row.passed is False] == []


def test_the_published_braking_distances_deviate_by_what_the_table_says():
    # Computed there, with the speed that was measured there.
    computed = np.array([31.8487, 28.1601, 25.2359, 22.8619, 20.8961, 19.2417, 17.8299, 16.6112, 15.5484, 14.6135])
    off = np.abs(np.array(incline.PUBLISHED) - computed)
    np.testing.assert_allclose(off, incline.PUBLISHED_DEVIATIONS, atol=1.01e-4)
    # A formula with one speed for all gives them, too.
    speed = math.sqrt(computed[0] * 2 * 9.81 * (0.535 * math.cos(math.pi / 12) - math.sin(math.pi / 12)))
    np.testing.assert_allclose(braking_distance(speed, INCLINE_FRICTIONS), computed, atol=2e-3)


def test_a_cube_stops_within_a_step_and_not_at_its_end():
    ways, speeds, left = incline.brake(0.004, 0.5, 1.1)
    # Half a step of the speed with which others stop is 2.6 mm here.
    assert np.abs(ways - braking_distance(speeds)).max() < 2e-5
    assert left < 1e-9


def test_the_closed_form_of_the_sliding_ball_solves_its_equation_of_motion():
    def rates(_, state):
        slip = state[1] - 0.5 * state[2]
        push = -sliding_ball.FRICTION * 9.81 * np.tanh(slip / 1e-4)
        return [state[1], push, -0.5 * push / (0.4 * 0.25)]

    path = solve_ivp(rates, (0.0, 2.0), [0.0, 7.0, 0.0], rtol=1e-8, atol=1e-10, method="LSODA")
    assert float(sliding_ball.place(2.0)) == pytest.approx(path.y[0, -1], abs=1e-3)


def test_the_rod_that_slides_brakes_as_the_equations_of_a_rigid_body_say():
    s, c, mu = math.sin(painleve.ANGLE), math.cos(painleve.ANGLE), 0.8
    # Unknown: acceleration of the middle along x and z, angular acceleration, normal force; J = 1/3.
    matrix = np.array([[1, 0, 0, mu], [0, 1, 0, -1], [0, 0, 1 / 3, -c + mu * s], [0, 1, c, 0]])
    ax, _, alpha, force = np.linalg.solve(matrix, [0, -9.81, 0, 0])
    assert force > 0.0
    assert -(ax + alpha * s) == pytest.approx(painleve.braking_of(mu), rel=1e-12)


@pytest.mark.parametrize("friction", [1.4, 3.0])
def test_the_rod_that_jams_keeps_its_angular_momentum_about_its_tip(friction):
    tip, middle = painleve.push(friction)
    assert np.abs(tip).max() < 1e-6
    # About the tip: before s v, after (1 + 1/3) ω; the middle turns about the tip.
    turning = 0.75 * math.sin(painleve.ANGLE)
    expected = turning * np.array([math.sin(painleve.ANGLE), math.cos(painleve.ANGLE)])
    np.testing.assert_allclose(middle, expected, atol=9.81 * painleve.STEP)


@pytest.mark.parametrize(("cubes", "growth"), [(30, 1.0), (8, 10.0), (6, 100.0), (12, 0.1)])
def test_a_tower_stands_whatever_its_masses(cubes, growth):
    scene = rb.scenes.tower(cubes, growth)
    method = Impulse(solver=BlockGaussSeidel(sweeps=200))
    seen = build(scene, 0.25, contacts=method, penetration_tolerance=1e-6, contact_velocity_tolerance=1e-6)
    assert seen.farthest < 1e-6
    assert seen.reason == ""


def test_the_lowest_contact_of_a_tower_carries_all_cubes():
    sim = rb.Simulation(
        rb.scenes.tower(10, 10.0),
        time_step=towers.STEP,
        contacts=Impulse(solver=BlockGaussSeidel(sweeps=200)),
        penetration_tolerance=1e-6,
        contact_velocity_tolerance=1e-6,
    )
    sim.step(3)
    memory = sim.state.contacts
    count = int(memory.count.numpy()[0])
    force = memory.load.numpy()[:count, 2]
    weight = 9.81 * math.fsum(10.0**k for k in range(10))
    assert np.abs(force.reshape(10, 4).sum(axis=1)).max() == pytest.approx(weight, rel=1e-9)


@pytest.mark.parametrize(("ratio", "seconds", "stands"), [(0.109, 3.0, True), (0.106, 1.0, False)])
def test_an_arch_stands_or_falls_on_either_side_of_its_least_thickness(ratio, seconds, stands):
    assert (arches.stand(ratio, seconds).farthest < arches.STANDS) is stands


def test_the_time_a_tippe_top_takes_goes_with_one_over_its_friction():
    times = [tippe_top.turned_over(tippe_top.spin(friction, 1.0 / friction)) for friction in (0.3, 0.5)]
    assert times[1] < times[0]
    assert 0.5 * times[1] == pytest.approx(0.3 * times[0], rel=0.05)


def test_the_largest_swing_is_found_between_two_swings():
    time = np.arange(0.0, 2.0, 1e-3)
    size = 1.0 - (time - 0.93) ** 2
    path = np.stack([time, size * np.cos(40.0 * time), 1.1 - time, np.ones_like(time)], axis=1)
    assert stone.rocking_peak(path) == pytest.approx(0.93, abs=2e-3)
    assert stone.reversal(path) == pytest.approx(1.1, abs=1e-9)
    assert stone.reversal(path[:500]) == math.inf


def test_a_wall_keeps_still_before_the_hit():
    sim = rb.Simulation(
        rb.scenes.wall(8),
        time_step=wall.STEP,
        contacts=rb.contacts.Impulse(),
        penetration_tolerance=1e-7,
        contact_velocity_tolerance=1e-7,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", rb.NotConvergedWarning)
        watched = wall.wait(sim, 0.25)
    assert watched[:, 1].max() < 1e-6
    assert watched[:, 2].max() < 1e-5
    assert wall.out_of_place(sim) == 0


def test_a_building_that_cannot_be_computed_has_not_stood():
    scene = rb.Scene()
    scene.add_body(rb.Sphere(1.0), mass=1.0)
    scene.add_force(rb.PythonForce(lambda time, bodies: (np.full((1, 3), math.nan), np.zeros((1, 3)))))
    seen = build(scene, 0.1)
    assert seen.farthest == math.inf
    assert "not finite" in seen.reason


def test_pictures_are_shown_above_the_panels_and_left_out_of_plain_data(tmp_path):
    sim = rb.Simulation(rb.scenes.tower(2), contacts="none")
    picture = snapshot(sim, {"cube_1": (1.0, 0.0, 0.0)})
    assert isinstance(picture, Picture)
    assert picture.title == "0.00 s"
    result = MENU["towers"].run(Options(quick=True))
    shown = type(result)(result.rows, result.panels, pictures=(picture, picture))
    figure = draw(MENU["towers"], shown, tmp_path / "towers.png")
    assert [axes.get_title() for axes in figure.axes][:2] == ["0.00 s", "0.00 s"]
    assert "pictures" not in as_dict(MENU["towers"], shown)
