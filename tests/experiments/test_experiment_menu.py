"""Every experiment of the menu: what it says of itself, its published digits, and its short version."""

import math

import numpy as np
import pytest
from scipy.special import ellipk

from rattleback.experiments import MENU, Options, Result, heavy_top, pendulum, torque_free, tree, tree_sizes
from rattleback.experiments.convergence import order

# These hold at their short version whatever the machine; the others also judge ratios of measured times.
SURE = ["pendulum", "torque_free", "heavy_top", "n_four_bar", "slider_crank", "bricard", "six_bar", "orders"]
SURE += [
    "incline",
    "sliding_ball",
    "rolling",
    "towers",
    "book_stack",
    "arch",
    "painleve",
    "tippe_top",
    "rattleback",
    "bounces",
    "cradle",
    "double_pendulum_impact",
    "ragdoll_on_stairs",
    "wall",
    "presets",
    "wall_shock",
    "drift",
    "controllers",
    "soft_chain",
]
TIMED = ["rivals", "chain", "tree", "tree_sizes", "loops", "mass_ladder", "rope", "cubes_1000", "funnel"]
TIMED += ["contact_solvers", "run_solvers"]


def test_the_short_versions_cover_the_menu():
    assert sorted([*SURE, *TIMED, "adams"]) == sorted(MENU)


@pytest.mark.parametrize("name", MENU)
def test_an_experiment_asks_a_question_and_names_its_source(name):
    experiment = MENU[name]
    assert experiment.name == name
    assert experiment.question.endswith("?")
    assert experiment.source


def check_shape(result: Result) -> None:
    assert result.rows
    assert result.panels
    for panel in result.panels:
        assert all(len(curve.x) == len(curve.y) for curve in panel.curves)
    assert all(row.quantity for row in result.rows)


@pytest.mark.parametrize("name", SURE)
def test_the_short_version_meets_its_demands(name):
    told = []
    result = MENU[name].run(Options(quick=True, tell=told.append))
    check_shape(result)
    assert told
    assert [row for row in result.rows if row.passed is False] == []
    assert result.notes == ()


@pytest.mark.parametrize("name", TIMED)
def test_the_short_version_ends_with_a_verdict_for_every_demand(name):
    result = MENU[name].run(Options(quick=True))
    check_shape(result)
    judged = [row for row in result.rows if row.demand]
    assert judged
    assert all(isinstance(row.passed, bool) for row in judged)
    # Whatever ended early says why.
    assert bool(result.notes) >= any("worst joint" in row.quantity and row.passed is False for row in result.rows)


def test_the_period_of_the_pendulum_is_that_of_the_elliptic_integral():
    assert pytest.approx(4 * math.sqrt(1 / 9.81) * ellipk(0.5), abs=1e-13) == pendulum.PERIOD


def test_the_turnovers_of_the_torque_free_body_are_those_of_the_elliptic_integral():
    # Moments 1, 2, 3 and ω = (0.01, 1, 0): with 2T = 1e-4 + 2 and L² = 1e-4 + 4, Landau and Lifshitz (37.8), (37.9).
    energy, momentum = 1e-4 + 2.0, 1e-4 + 4.0
    large, small = 3.0 * energy - momentum, momentum - energy
    square = (2 - 1) * large / ((3 - 2) * small)
    rate = math.sqrt((3 - 2) * small / (1 * 2 * 3))
    if square > 1.0:
        square, rate = 1.0 / square, math.sqrt((2 - 1) * large / (1 * 2 * 3))
    between = 2 * ellipk(square) / rate
    assert between == pytest.approx(torque_free.BETWEEN, abs=1e-8)
    assert 0.5 * between == pytest.approx(torque_free.FIRST, abs=1e-8)


def test_the_published_place_of_the_top_is_one_metre_from_its_tip():
    assert np.linalg.norm(heavy_top.CENTRE) == pytest.approx(1.0, abs=1e-9)


def test_tables_that_repeat_a_number_of_the_dissertation_agree():
    assert tree.PUBLISHED_TIME["iterative"] == tree_sizes.PUBLISHED["iterative", 1e-6][2]
    assert tree.PUBLISHED_TIME["direct"] == tree_sizes.PUBLISHED["direct", 1e-6][2]


def test_the_order_is_the_slope_between_the_two_shortest_steps():
    assert order({0.1: 1.0, 0.02: 4e-4, 0.01: 1e-4}) == pytest.approx(2.0)
    assert math.isnan(order({0.1: math.nan, 0.2: 1.0}))
