"""Poses between steps, against the motion itself and against finer steps."""

import math

import numpy as np
import pytest

import rattleback as rb
from rattleback.scenes import bricard


def thrown(order):
    scene = rb.Scene()
    scene.add_body(mass=1.0, inertia=(1, 1, 1), velocity=(1, 0, 5), angular_velocity=(0, 0.7, 0), name="ball")
    sim = rb.Simulation(scene, time_step=0.1, step=rb.Extrapolated(order=4))
    dense = rb.DenseOutput(sim, order)
    sim.run(1.0)
    return dense


@pytest.mark.parametrize("order", [None, 4, 10])
def test_a_parabola_and_a_steady_turn_are_met_exactly(order):
    dense, t = thrown(order), np.linspace(0.0, 1.0, 37)
    flight = np.stack([t, 0 * t, 5 * t - 0.5 * 9.81 * t**2], axis=-1)
    assert dense.position(t)[:, 0] == pytest.approx(flight, abs=1e-12)
    assert dense.velocity(t)[:, 0, 2] == pytest.approx(5.0 - 9.81 * t, abs=1e-11)
    turn = np.stack([0 * t, np.sin(0.35 * t), 0 * t, np.cos(0.35 * t)], axis=-1)
    assert dense.orientation(t)[:, 0] == pytest.approx(turn, abs=1e-12)
    assert dense.angular_velocity(t)[:, 0] == pytest.approx(np.tile([0, 0.7, 0], (37, 1)), abs=1e-11)


@pytest.mark.parametrize("order", [4, 6, 8])
def test_it_has_its_order_between_the_steps_of_a_mechanism(order):
    def run(length, **settings):
        sim = rb.Simulation(bricard(), time_step=length, step=rb.Extrapolated(order=10))
        dense = rb.DenseOutput(sim, **settings)
        sim.run(2.4)
        return dense

    times = np.array([1.05, 1.15, 1.25, 1.35])
    truth, errors, turns = run(0.025), [], []
    for length in (0.2, 0.1):
        dense = run(length, order=order)
        errors.append(np.abs(dense.position(times + 0.017) - truth.position(times + 0.017)).max())
        turns.append(dense.orientation(times + 0.017))
    assert math.log2(errors[0] / errors[1]) == pytest.approx(order, abs=1.2)
    assert np.abs(turns[1] - truth.orientation(times + 0.017)).max() < 10.0 * errors[1]


def test_it_meets_the_state_at_the_ends_of_steps_and_states_its_error():
    sim = rb.Simulation(bricard(), time_step=0.1, step=rb.Extrapolated(order=8))
    dense, seen = rb.DenseOutput(sim), []
    assert dense.order == 8
    for _ in range(12):
        sim.step()
        seen.append((sim.time, np.array(sim.state.position), np.array(sim.state.angular_velocity)))
    dense.detach()
    sim.step()
    assert dense.span == (0.0, pytest.approx(1.2))
    for time, position, spin in seen:
        assert dense.position(time)[0] == pytest.approx(position, abs=1e-12)
        assert dense.angular_velocity(time)[0] == pytest.approx(spin, abs=1e-9)
    finer = rb.Simulation(bricard(), time_step=0.05, step=rb.Extrapolated(order=10))
    finer.run(0.65)
    error = np.abs(dense.position(0.65)[0] - finer.state.position).max()
    assert error < dense.error(0.65)[0] < 1e-3


def test_worlds_have_an_axis_of_their_own():
    scene = rb.Scene()
    scene.add_body(mass=1.0, inertia=(1, 1, 1))
    sim = rb.Simulation(scene, worlds=2, time_step=0.1)
    dense = rb.DenseOutput(sim)
    assert dense.order == 4
    sim.run(0.3)
    assert dense.position([0.11, 0.22]).shape == (2, 2, 1, 3)


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (lambda sim: rb.DenseOutput(sim, order=5), "order of a DenseOutput is 5; it may be 4, 6, 8 or 10"),
        (lambda sim: rb.DenseOutput(sim.scene), "What a DenseOutput watches"),
        (lambda sim: rb.DenseOutput(sim).position(0.0), "has seen no step yet"),
        (lambda sim: rb.DenseOutput(sim).position(3.0), "from 0 s to 0 s; 3.0 is outside"),
    ],
)
def test_what_it_cannot_tell_gets_a_sentence(wrong, said):
    with pytest.raises(rb.InputError, match=said):
        wrong(rb.Simulation(bricard()))
