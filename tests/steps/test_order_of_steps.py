"""The orders of steps by extrapolation and composition, with joints of all kinds and closed loops."""

import math

import numpy as np
import pytest

import rattleback as rb
from rattleback.scenes import bricard, double_pendulum, four_bar, heavy_top
from rattleback.steps.symmetric.scheme import COMPOSED_ORDERS, ORDERS, composition, extrapolation


def free_body():
    scene = rb.Scene(gravity=(0, 0, 0))
    scene.add_body(mass=1.0, inertia=(1, 2, 3), angular_velocity=(0.5, 2.0, 0.3), velocity=(1, 0, 0))
    return scene


def geared():
    """Two wheels that mesh on a frame, one of them driven round by a weight, and a nut on a screw."""
    scene = rb.Scene()
    small = scene.add_body(mass=1.0, inertia=(0.02, 0.02, 0.04), angular_velocity=(0, 0, 3), name="small")
    large = scene.add_body(
        mass=2.0, inertia=(0.1, 0.1, 0.2), position=(3, 0, 0), angular_velocity=(0, 0, -1.5), name="large"
    )
    nut = scene.add_body(mass=0.5, inertia=(0.01, 0.02, 0.03), position=(0, 2, 0), name="nut")
    for body, at in ((small, (0, 0, 0)), (large, (3, 0, 0))):
        scene.add_joint(rb.Revolute(scene.world, body, at=at, axis=(0, 0, 1)))
    scene.add_joint(rb.Gear(small, large, at=(0, 0, 0), at_b=(3, 0, 0), axis=(0, 0, 1), ratio=2.0))
    scene.add_joint(rb.Screw(scene.world, nut, at=(0, 2, 0), axis=(0, 0, 1), pitch=0.3))
    scene.add_force(rb.Spring(scene.world, small, at=(2, 1, 0), at_b=(0.2, 0, 0), stiffness=4.0))
    return scene


# Scene, time [s], and the longer of two steps [s] for every order: short enough for the order to show, long enough for
# errors above rounding.
SCENES = {
    "heavy top": (heavy_top, 0.2, {2: 1 / 500, 4: 1 / 500, 6: 1 / 500, 8: 1 / 250, 10: 1 / 125}),
    "double pendulum": (double_pendulum, 0.4, {2: 0.02, 4: 0.02, 6: 0.04, 8: 0.04, 10: 0.05}),
    "damped pendulum": (lambda: double_pendulum(0.3), 0.4, {2: 0.02, 4: 0.02, 6: 0.04, 8: 0.04, 10: 0.05}),
    "four-bar": (lambda: four_bar(1), 0.5, {2: 0.05, 4: 0.025, 6: 0.05, 8: 0.1, 10: 0.125}),
    "bricard": (bricard, 1.0, {2: 0.05, 4: 0.05, 6: 0.1, 8: 0.125, 10: 0.25}),
    "free body": (free_body, 2.0, {2: 0.1, 4: 0.1, 6: 0.1, 8: 0.2, 10: 0.4}),
    "gears": (geared, 0.5, {2: 0.02, 4: 0.02, 6: 0.05, 8: 0.1, 10: 0.125}),
}
QUICK = [("heavy top", 6), ("double pendulum", 8), ("damped pendulum", 4), ("four-bar", 6), ("bricard", 4)]
QUICK += [("free body", 6), ("gears", 4)]


def end_of(scene, duration, step, length):
    sim = rb.Simulation(scene, time_step=length, step=step)
    sim.step(round(duration / length))
    assert sim.report.converged, sim.report.reason
    motion = (sim.state.position, sim.state.velocity, sim.state.angular_velocity)
    return np.concatenate([np.ravel(part) for part in motion]), sim


def measured_order(name, step):
    make, duration, lengths = SCENES[name]
    length = lengths[step.order]
    truth, _ = end_of(make(), duration, rb.Extrapolated(order=10), length / 8)
    errors = [np.abs(end_of(make(), duration, step, length / n)[0] - truth).max() for n in (1, 2)]
    return math.log2(errors[0] / errors[1])


@pytest.mark.parametrize(("name", "order"), QUICK)
def test_extrapolation_has_its_order(name, order):
    assert measured_order(name, rb.Extrapolated(order=order)) == pytest.approx(order, abs=0.35)


@pytest.mark.parametrize(("name", "order"), [("double pendulum", 4), ("bricard", 6), ("heavy top", 4)])
def test_composition_has_its_order(name, order):
    assert measured_order(name, rb.Composed(order=order)) == pytest.approx(order, abs=0.15)


def test_weights_are_those_of_the_requirements():
    printed = {
        4: (-1 / 3, 4 / 3),
        6: (1 / 24, -16 / 15, 81 / 40),
        8: (-1 / 360, 16 / 45, -729 / 280, 1024 / 315),
        10: (1 / 8640, -64 / 945, 6561 / 4480, -16384 / 2835, 390625 / 72576),
    }
    for order, weights in printed.items():
        assert extrapolation(order).weights == pytest.approx(weights, rel=1e-15)


@pytest.mark.parametrize("order", COMPOSED_ORDERS)
def test_parts_of_a_composition_cancel_their_odd_powers(order):
    parts = np.array(composition(order).runs[0])
    assert parts.sum() == pytest.approx(1.0, abs=1e-15)
    for power in range(3, order, 2):
        # The parts are published to twenty digits, and some are larger than one half.
        assert abs((parts**power).sum()) < 1e-14


def test_every_scheme_sums_up_to_the_step():
    for scheme in [*map(extrapolation, ORDERS), *map(composition, COMPOSED_ORDERS)]:
        assert sum(scheme.weights) == pytest.approx(1.0, abs=1e-14)
        assert sum(scheme.difference) == pytest.approx(0.0, abs=1e-14)
        assert [sum(run) for run in scheme.runs] == pytest.approx([1.0] * len(scheme.runs), abs=1e-14)


@pytest.mark.slow
def test_the_experiment_meets_all_its_orders_and_digits():
    from rattleback.experiments import MENU
    from rattleback.experiments.result import Options

    result = MENU["orders"].run(Options())
    assert len(result.rows) > 40
    assert [row.quantity for row in result.rows if row.passed is not True] == []
