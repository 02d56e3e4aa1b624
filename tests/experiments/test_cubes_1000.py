"""What the experiment of the falling cubes calls linear, times that belong to the contacts found, and heaps at rest."""

import math
import warnings

import numpy as np
import pytest

import rattleback as rb
from rattleback.collision.detection import Detection
from rattleback.collision.geometry.compile import compile_colliders
from rattleback.core import arrays
from rattleback.experiments.cubes_1000 import above_line, crossing, exponent, line
from rattleback.experiments.settled import settle, sleeps
from rattleback.experiments.stage_times import KERNELS, StageTimes, medians
from rattleback.scenes import cubes_1000

COLLISIONS = list(range(10, 310, 10))


def fallen(across: int, high: int, steps: int = 120) -> rb.Simulation:
    sim = rb.Simulation(cubes_1000(across, high), time_step=0.005, contacts="impulse")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", rb.NotConvergedWarning)
        sim.step(steps)
    return sim


@pytest.mark.parametrize("power", [0.5, 1.0, 2.0])
def test_the_exponent_is_that_of_a_power_law(power):
    assert exponent(COLLISIONS, [3.0 * n**power for n in COLLISIONS]) == pytest.approx(power, abs=0.02)


def test_without_growth_there_is_no_exponent():
    assert math.isnan(exponent([5, 5, 5], [1.0, 2.0, 3.0]))


def test_a_line_is_found_with_how_well_it_fits():
    assert line(COLLISIONS, [0.5 + 0.02 * n for n in COLLISIONS]) == pytest.approx((0.5, 0.02, 1.0))
    zigzag = [0.5 + 0.02 * n + (-1) ** n for n in range(20)]
    assert line(list(range(20)), zigzag)[2] == pytest.approx(np.corrcoef(range(20), zigzag)[0, 1] ** 2)


def test_times_above_the_line_of_the_emptier_half_are_noticed():
    assert above_line(COLLISIONS, [0.5 + 0.02 * n for n in COLLISIONS]) == pytest.approx(1.0)
    assert above_line(COLLISIONS, [0.5 + 2e-4 * n**2 for n in COLLISIONS]) > 1.5
    assert above_line(COLLISIONS, [math.sqrt(n) for n in COLLISIONS]) < 0.9


def test_lines_cross_where_they_are_equal():
    assert crossing({"gjk": (1.0, 0.03), "vclip": (2.0, 0.02)}) == pytest.approx(100.0)
    assert crossing({"gjk": (1.0, 0.02), "vclip": (2.0, 0.03)}) is None


@pytest.mark.parametrize("method", ["closed_forms", "gjk", "vclip"])
def test_stages_run_one_by_one_find_what_the_finder_finds(method):
    sim = fallen(2, 3)
    stages = StageTimes(compile_colliders(sim.model), sim.state.motion, Detection(narrowphase=method))
    seconds = stages.find(sim.state.motion)
    found = arrays.read(stages.finder.contacts)
    many = stages.counts()["contacts"]
    stages.finder.find()
    again = arrays.read(stages.finder.contacts)
    assert list(seconds) == list(KERNELS)
    assert min(seconds.values()) > 0.0
    assert many > 20
    for name in ("body_a", "body_b", "normal", "point", "separation"):
        np.testing.assert_array_equal(found[name][:many], again[name][:many])


def test_stages_whose_buffers_are_too_small_run_again():
    sim = fallen(2, 2)
    stages = StageTimes(compile_colliders(sim.model), sim.state.motion, Detection())
    wanted = (stages.find(sim.state.motion), stages.counts())[1]
    stages.finder.room |= {"pairs": 1, "items": 1, "contacts": 1}
    stages.finder._allocate()
    stages.find(sim.state.motion)
    assert stages.counts() == wanted


def test_a_heap_comes_to_rest_with_layers_a_cube_apart_and_falls_asleep():
    sim = fallen(2, 4, 600)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", rb.NotConvergedWarning)
        seen = settle(sim)
    heights = np.sort(sim.state.position[1:, 2]).reshape(4, 4)
    np.testing.assert_allclose(heights, np.tile([[0.5], [1.5], [2.5], [3.5]], 4), atol=0.02)
    assert seen.deepest <= 5e-4
    assert sleeps(sim)
    assert seen.asleep < 0.2 * seen.awake
    assert [row.quantity for row in seen.rows() if row.passed is False] == []


def test_what_does_not_come_to_rest_never_has_a_time_asleep():
    scene = rb.Scene()
    scene.add_body(rb.Sphere(1.0), mass=1.0)
    seen = settle(rb.Simulation(scene))
    assert seen.asleep == math.inf
    assert [row.passed for row in seen.rows() if "asleep: a step" in row.quantity] == [False]


def test_every_stage_has_its_own_median():
    assert medians([{"a": 1.0, "b": 9.0}, {"a": 3.0, "b": 7.0}, {"a": 2.0, "b": 8.0}]) == {"a": 2.0, "b": 8.0}
