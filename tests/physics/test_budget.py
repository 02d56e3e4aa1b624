"""Steps with a budget: the same bits where it suffices, the best found so far where it does not, and said so."""

import math
import time
import warnings
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import rattleback as rb
from rattleback import replay, scenes
from rattleback.core import stages

AMPLE = 60_000.0
TINY = 1e-6


class TickingClock(SimpleNamespace):
    """A clock on which a millisecond passes between any two looks at it."""

    def __init__(self) -> None:
        super().__init__(looks=0)

    def perf_counter(self) -> float:
        self.looks += 1
        return 1e-3 * self.looks


@pytest.fixture
def ticking(monkeypatch: pytest.MonkeyPatch) -> TickingClock:
    """A clock for steps with a budget: how long the machine takes has no part in the test."""
    clock = TickingClock()
    monkeypatch.setattr(stages, "time", clock)
    monkeypatch.setattr(replay, "time", clock)
    return clock


def swinging(joints: Any = "direct", **settings: Any) -> rb.Simulation:
    """A chain that needs several corrections a step."""
    return rb.Simulation(
        scenes.chain(12), joints=joints, **{"time_step": 0.02, "position_tolerance": 1e-10, **settings}
    )


def quietly(sim: rb.Simulation, *given: Any, **settings: Any) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", rb.NotConvergedWarning)
        sim.step(*given, **settings)


MECHANISMS = {
    "chain": swinging,
    "iterative chain": lambda: swinging("iterative", position_tolerance=1e-6, max_iterations=1000),
    "mobile": lambda: rb.Simulation(scenes.tree(5), time_step=1.0 / 30.0),
    "stiff rope": lambda: rb.Simulation(scenes.rope(60), time_step=0.02),
    "loops": lambda: rb.Simulation(scenes.four_bar(3), time_step=0.01),
    "batch": lambda: rb.Simulation(scenes.chain(6), time_step=0.02, worlds=3),
}


@pytest.mark.parametrize("name", MECHANISMS)
def test_a_budget_that_suffices_changes_no_bit(name: str) -> None:
    plain, timed = MECHANISMS[name](), MECHANISMS[name]()
    for _ in range(20):
        plain.step()
        timed.step(budget_ms=AMPLE)
        assert timed.hash() == plain.hash()
        assert timed.report == plain.report


def test_steps_without_joints_have_the_same_bits_under_any_budget() -> None:
    plain, timed = (rb.Simulation(scenes.tumbling(), time_step=0.01) for _ in range(2))
    plain.step(10)
    timed.step(10, budget_ms=TINY)
    assert timed.hash() == plain.hash()


@pytest.mark.parametrize("integrator", ["rk45", "implicit_euler"])
def test_a_budget_does_not_cut_short_the_integrator(integrator: str) -> None:
    scene = rb.Scene()
    scene.add_body(rb.Box(1, 2, 3), angular_velocity=(1, 0.2, 3))
    plain, timed = (rb.Simulation(scene, time_step=0.1, integrator=integrator) for _ in range(2))
    plain.step()
    quietly(timed, budget_ms=TINY)
    np.testing.assert_array_equal(timed.state.position, plain.state.position)
    np.testing.assert_array_equal(timed.state.orientation, plain.state.orientation)


@pytest.mark.parametrize("joints", ["direct", "iterative"])
def test_however_small_the_budget_one_correction_is_made(joints: str) -> None:
    sim = swinging(joints)
    for _ in range(5):
        quietly(sim, budget_ms=TINY)
        assert sim.report.iterations == 1
        assert np.isfinite(sim.state.position).all()


@pytest.mark.usefixtures("ticking")
def test_the_corrections_end_with_the_budget() -> None:
    """On the ticking clock a correction takes a millisecond: the more milliseconds, the more corrections."""
    made = {}
    for budget in (1, 20, 30, 40, 60, 20_000):
        sim = swinging("iterative", max_iterations=5000)
        quietly(sim, budget_ms=budget)
        made[budget] = sim.report.iterations
    needed = swinging("iterative", max_iterations=5000)
    needed.step()
    assert made[1] == 1
    assert list(made.values()) == sorted(made.values())
    assert len(set(made.values())) >= 4
    assert all(count <= max(1, budget) for budget, count in made.items())
    assert made[20_000] == needed.report.iterations


@pytest.mark.usefixtures("ticking")
def test_a_step_that_ran_out_of_its_budget_says_so() -> None:
    sim = swinging()
    with pytest.warns(rb.NotConvergedWarning, match="after 1 corrections, .* a larger budget .* help"):
        sim.step(budget_ms=1)
    report = sim.report
    assert not report.converged
    assert report.position_error > report.position_tolerance
    assert repr(report.worst_joint) in report.reason
    sim.use(strict=True)
    with pytest.raises(rb.NotConverged, match="a larger budget"):
        sim.step(budget_ms=1)


def test_the_steps_that_follow_repair_what_a_budget_left() -> None:
    """A chain torn by a centimetre: one correction a step, and each leaves the square of what it found."""
    sim = rb.Simulation(scenes.chain(12, speed=0.0), time_step=0.01, position_tolerance=1e-10)
    rng = np.random.default_rng(0)
    sim.state.position = sim.state.position + 0.01 * rng.normal(size=sim.state.position.shape)
    errors = []
    for _ in range(6):
        quietly(sim, budget_ms=TINY)
        errors.append(sim.report.position_error)
    assert sim.report.iterations == 1
    assert errors[0] < 0.1 * 0.01
    assert max(errors[1:]) < 0.05 * errors[0]


def test_a_step_without_a_budget_closes_what_those_with_one_left() -> None:
    sim = swinging("iterative", position_tolerance=1e-8)
    for _ in range(10):
        quietly(sim, budget_ms=TINY)
    assert not sim.report.converged
    sim.use(max_iterations=1000)
    quietly(sim)
    assert sim.report.position_error <= 1e-8
    assert sim.report.velocity_error <= sim.report.velocity_tolerance


def test_several_steps_have_a_budget_each(ticking: TickingClock) -> None:
    """Three steps in one call do as much as three calls, whatever the first ones have used."""
    together, apart = swinging("iterative"), swinging("iterative")
    quietly(together, 3, budget_ms=40)
    for _ in range(3):
        quietly(apart, budget_ms=40)
    assert together.state.steps == apart.state.steps == 3
    assert together.report.iterations > 1
    assert ticking.looks > 0
    ample, plain = swinging(), swinging()
    ample.step(3, budget_ms=AMPLE)
    plain.step(3)
    assert ample.hash() == plain.hash()


def test_observers_are_called_after_steps_with_a_budget() -> None:
    sim, times = swinging(), []
    sim.observe(SimpleNamespace(every=2, observe=lambda seen: times.append(round(seen.time, 9))))
    quietly(sim, 5, budget_ms=TINY)
    sim.step(budget_ms=AMPLE)
    assert times == [0.04, 0.08, 0.12]


def test_a_budget_is_forgotten_after_its_call() -> None:
    sim, plain = swinging(), swinging()
    sim.use(strict=True)
    with pytest.raises(rb.NotConverged):
        sim.step(budget_ms=TINY)
    sim.state = plain.state.copy()
    sim.step()
    plain.step()
    assert sim.hash() == plain.hash()


def test_a_body_that_is_no_longer_finite_stops_a_step_with_a_budget_too() -> None:
    scene = rb.Scene()
    scene.add_body(rb.Sphere(0.1), mass=1.0, velocity=(1e300, 0, 0), name="bullet")
    scene.add_body(rb.Sphere(0.1), mass=1.0, position=(1, 0, 0), name="arm")
    scene.add_joint(rb.Ball("world", "arm"))
    sim = rb.Simulation(scene, time_step=1e10)
    with pytest.raises(rb.DivergenceError, match="'bullet' is no longer finite in step 1"):
        sim.step(3, budget_ms=AMPLE)
    assert sim.state.steps == 0


@pytest.mark.parametrize(
    ("budget", "words"),
    [
        (0, "budget_ms is 0; it must be greater than zero."),
        (-1.5, "budget_ms is -1.5; it must be greater than zero."),
        (math.nan, "budget_ms is nan; it must be finite."),
        (math.inf, "budget_ms is inf; it must be finite."),
        ("short", "budget_ms is 'short'; it must be a number."),
        (True, "budget_ms is True; it must be a number."),
    ],
)
def test_a_budget_is_a_positive_number(budget: Any, words: str) -> None:
    sim = swinging()
    with pytest.raises(rb.InputError) as caught:
        sim.step(budget_ms=budget)
    assert words in str(caught.value)
    assert sim.state.steps == 0


@pytest.mark.slow
@pytest.mark.parametrize("budget", [0.5, 1.0, 3.0])
def test_a_step_returns_within_a_fifth_of_its_budget(budget: float) -> None:
    """The median of many steps, each of which could go on correcting for ever; other work disturbs single ones."""
    sim = swinging("iterative", position_tolerance=1e-300, velocity_tolerance=1e-300, max_iterations=1_000_000)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", rb.NotConvergedWarning)
        seconds = []
        for _ in range(300):
            begun = time.perf_counter()
            sim.step(budget_ms=budget)
            seconds.append(time.perf_counter() - begun)
    assert 0.8 * budget <= 1e3 * np.median(seconds) <= 1.2 * budget
