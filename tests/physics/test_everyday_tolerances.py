"""Everyday scenes at default settings: steps end within the default tolerances, and what does not is told.

A tenth of what other engines leave cubes of 1 m to overlap, 3 to 5 mm, is what the default tolerance allows them.
"""

import re
import warnings
from collections.abc import Callable
from typing import Any

import pytest

import rattleback as rb
from rattleback.core.report import Report

pytestmark = pytest.mark.contacts


def dominoes(count: int = 30) -> rb.Scene:
    scene = rb.Scene()
    scene.add_static(rb.Plane(), name="ground")
    for k in range(count):
        first = {"angular_velocity": (0, 4.0, 0), "velocity": (0.096, 0, 0)} if k == 0 else {}
        place = (0.03 * k, 0, 0.024)
        scene.add_body(rb.Box(0.0075, 0.024, 0.048), density=700, position=place, name=f"domino_{k}", **first)
    return scene


def cylinders() -> rb.Scene:
    """A slender tower of fifteen, each a millimetre off the one below."""
    scene = rb.Scene()
    scene.add_static(rb.Plane(), name="ground")
    for k in range(15):
        scene.add_body(rb.Cylinder(0.05, 0.2), density=1000, position=(0.001 * (k % 2), 0, 0.1 + 0.2 * k), name=f"c{k}")
    return scene


def pyramid() -> rb.Scene:
    """Ten layers of cubes that fall by a millimetre a layer."""
    scene = rb.Scene()
    scene.add_static(rb.Plane(), name="ground")
    for layer in range(10):
        for k in range(10 - layer):
            place = ((k - 0.5 * (9 - layer)) * 1.1, 0, 0.5 + layer * 1.001)
            scene.add_body(rb.Box(1, 1, 1), mass=1, position=place, name=f"cube_{layer}_{k}")
    return scene


def outside(scene: rb.Scene, rate: int, steps: int = 600, **settings: Any) -> list[Report]:
    """Reports of the steps that did not meet the tolerances, every one of which says why."""
    sim, found = rb.Simulation(scene, time_step=1 / rate, warn=False, **settings), []
    for _ in range(steps):
        sim.step()
        report = sim.report
        said = report.penetration > report.penetration_tolerance
        said |= report.normal_velocity_error > report.contact_velocity_tolerance
        said |= report.tangential_velocity_error > report.contact_velocity_tolerance
        assert not (said and report.converged)
        if not report.converged:
            found.append(report)
    return found


@pytest.mark.parametrize("rate", [60, 120, 240])
@pytest.mark.parametrize("build", [cylinders, pyramid, rb.scenes.book_stack, rb.scenes.arch])
def test_what_stands_is_within_the_default_tolerances_in_every_step(build: Callable[[], rb.Scene], rate: int) -> None:
    assert outside(build(), rate) == []


def test_a_rattleback_is_within_the_default_tolerances_in_every_step() -> None:
    assert outside(rb.scenes.rattleback(), 1000) == []


def test_dominoes_topple_over_each_other_and_seldom_penetrate_by_more_than_they_may() -> None:
    """By straight ways they would, in five steps of six: every turn takes their edges in, by up to 80 µm in all."""
    reports = outside(dominoes(), 240)
    assert len(reports) <= 0.03 * 600
    assert all(report.penetration <= 2.0 * report.penetration_tolerance for report in reports)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "rate", "part"),
    [
        ("ragdoll_on_stairs", 240, 0.01),
        ("ragdoll_on_stairs", 120, 0.02),
        ("hanging_bridge", 240, 0.01),
        ("breaking_bridge", 120, 0.01),
        ("tippe_top", 1000, 0.01),
        ("wall", 240, 0.03),
        ("cradle", 120, 0.0),
        ("incline", 120, 0.0),
        ("tower", 120, 0.0),
    ],
)
def test_scenes_of_the_menu_are_seldom_outside_the_default_tolerances(name: str, rate: int, part: float) -> None:
    assert len(outside(rb.scenes.MENU[name].build(), rate)) <= part * 600


def column(balls: int = 10) -> rb.Scene:
    """Balls on top of each other: on single points nothing stands, which leaves it all to sweeps."""
    scene = rb.Scene()
    scene.add_static(rb.Plane(), name="ground")
    for k in range(balls):
        scene.add_body(rb.Sphere(0.5), mass=1.0, position=(0, 0, 0.5 + k), name=f"ball_{k}")
    return scene


@pytest.mark.parametrize(
    ("method", "named"),
    [
        (rb.contacts.Impulse(rb.contacts.BlockGaussSeidel(1)), "after 1 sweeps, .* sweeps=1 allows no more"),
        (rb.contacts.ShockPropagation(after=3), "after 3 sweeps, .* after=3 allows no more"),
    ],
)
def test_the_budget_that_ended_sweeps_is_named(method: object, named: str) -> None:
    sim = rb.Simulation(column(), contacts=method, penetration_tolerance=1.0, contact_velocity_tolerance=1e-6)
    with pytest.warns(rb.NotConvergedWarning, match=named):
        sim.step()


def test_sweeps_that_joints_answer_to_are_named_by_what_ended_them() -> None:
    """The blow of a stair: the joints of the ragdoll are corrected after every two sweeps, twice."""
    method = rb.contacts.Impulse(rb.contacts.BlockGaussSeidel(4), sweeps_between=2, exchanges=2)
    reports = outside(rb.scenes.ragdoll_on_stairs(), 120, 120, contacts=method)
    fast = [report.reason for report in reports if "velocity error" in report.reason]
    assert fast
    assert all("sweeps_between=2, at most exchanges=2 times" in reason for reason in fast)


def test_a_tolerance_that_is_missed_by_a_hair_is_missed_in_the_sentence_too() -> None:
    scene = rb.Scene()
    scene.add_static(rb.Plane(), name="ground")
    scene.add_body(rb.Box(1, 1, 1), mass=1.0, position=(0, 0, 0.4), name="sunk")
    sim = rb.Simulation(scene, time_step=1e-3, warn=False)
    sim.step()
    sim = rb.Simulation(scene, time_step=1e-3, warn=False, penetration_tolerance=sim.report.penetration * (1 - 1e-6))
    sim.step()
    value, limit = (float(text) for text in re.findall(r"(?:by|of) ([\d.e+-]+) m[,;]", sim.report.reason))
    assert value > limit


def test_a_call_says_how_many_of_its_steps_were_outside() -> None:
    scene = rb.Scene()
    scene.add_static(rb.Plane(), name="ground")
    scene.add_body(rb.Box(1, 1, 1), mass=1.0, position=(0, 0, 0.49), name="sunk")
    single = len(outside(scene, 1000, 20))
    sim = rb.Simulation(scene, time_step=1e-3, warn=False)
    sim.step(20)
    assert single > 1
    assert sim.report.reason.endswith(f"This is the worst of {single} such steps.")


def test_a_loop_of_steps_warns_in_the_first_and_the_tenth_and_again_when_a_setting_changed() -> None:
    scene = rb.Scene(gravity=(0, 0, 0))
    scene.add_body(rb.Box(1, 1, 1), mass=1.0, position=(0, 0, 0), name="a")
    scene.add_body(rb.Box(1, 1, 1), mass=1.0, position=(0.5, 0.1, 0), name="b")
    sim, steps = rb.Simulation(scene, time_step=1e-3), []
    for _ in range(30):
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            sim.step()
        steps += [(sim.state.steps, str(entry.message)) for entry in said]
        assert not sim.report.converged
    assert [step for step, _ in steps] == [1, 10]
    assert steps[1][1].endswith("That is the worst of 9 such calls in the 9 steps since step 1.")
    sim.use(penetration_tolerance=1e-3)
    with pytest.warns(rb.NotConvergedWarning, match="overlap by"):
        sim.step()


def test_a_step_in_which_buffers_grow_reports_what_it_has_left() -> None:
    """The same step with ample room, which a former step has made."""
    scene = rb.Scene()
    scene.add_static(rb.Plane(), name="ground")
    for k in range(100):
        place = (1.0 * (k % 10), 1.0 * (k // 10), 0.4)
        scene.add_body(rb.Box(1, 1, 1), mass=1.0, position=place, name=f"cube_{k}")
    sim = rb.Simulation(scene, time_step=1 / 60, warn=False)
    start = sim.state.copy()
    sim.step()
    first = sim.report
    sim.state = start
    sim.step()
    assert not first.converged
    assert first.penetration == sim.report.penetration > first.penetration_tolerance
    assert first.contact_sweeps == sim.report.contact_sweeps
