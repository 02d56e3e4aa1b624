"""Springs: they bring a point to the pointer, give no energy of their own, and leave nothing behind."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import rattleback as rb
from rattleback.viewer.frame import take_picture
from rattleback.viewer.interaction.grab import grab, point_of, total_mass
from rattleback.viewer.interaction.spring import (
    FIRMNESS,
    HARDEST,
    SpringHand,
    cross,
    inverse,
    let_go,
    mobility,
    take,
    turn_of,
)
from rattleback.viewer.session import Session

GRAVITY = (0.0, 0.0, -9.81)


def box(gravity=GRAVITY, mass=2.0, **settings):
    scene = rb.Scene(gravity=gravity)
    scene.add_body(rb.Box(0.4, 0.6, 0.8), mass=mass, name="box")
    return rb.Simulation(scene, **settings)


def hand_on(sim, name, point, target):
    return SpringHand(grab(take_picture(sim, "", (), {}), name, point), np.array(target, dtype=np.float64))


def held_steps(sim, hand, steps):
    for _ in range(steps):
        hand.before_step(sim)
        sim.step()
        hand.observe(sim)


def place(sim, hand):
    view = sim[hand.grab.body]
    return point_of(view.position, view.orientation, hand.grab.local)


@pytest.mark.parametrize("time_step", [0.005, 0.02, 0.05])
@pytest.mark.parametrize("mass", [1e-3, 2.0, 5e4])
def test_a_spring_holds_the_grabbed_point_at_the_target_but_for_the_sag_of_its_weight(time_step, mass):
    sim = box(mass=mass, time_step=time_step)
    hand = hand_on(sim, "box", (0.2, 0.3, 0.4), (0.5, -0.4, 1.0))
    # Long steps calm it more slowly.
    held_steps(sim, hand, round(3.0 / time_step) + 200)
    sag = 9.81 / FIRMNESS**2
    np.testing.assert_allclose(place(sim, hand), [0.5, -0.4, 1.0 - sag], atol=1e-3)


@pytest.mark.parametrize("time_step", [0.002, 0.02])
def test_a_body_on_a_spring_never_gains_energy_while_the_hand_rests(time_step):
    sim = box(gravity=(0.0, 0.0, 0.0), time_step=time_step)
    hand = hand_on(sim, "box", (0.2, 0.3, 0.4), (0.5, 0.2, 0.6))
    stiffness = 2.0 * FIRMNESS**2

    def energy():
        stretch = place(sim, hand) - hand.target
        return sim.energy().kinetic + 0.5 * stiffness * stretch @ stretch

    energies = [energy()]
    for _ in range(round(2.0 / time_step)):
        held_steps(sim, hand, 1)
        energies.append(energy())
    assert all(later <= earlier + 1e-9 * energies[0] for earlier, later in itertools.pairwise(energies))
    assert energies[-1] < 1e-3 * energies[0]


def test_a_spring_pulls_no_harder_than_it_may():
    sim = box()
    hand = hand_on(sim, "box", (0.0, 0.0, 0.0), (1e6, 0.0, 0.0))
    force, _ = hand.pull(sim)
    np.testing.assert_allclose(force, [2.0 * HARDEST, 0.0, 0.0], atol=1e-2)


def test_mobility_is_how_a_struck_point_moves():
    sim = box(gravity=(0.0, 0.0, 0.0))
    arm, impulse = np.array([0.2, -0.3, 0.1]), np.array([0.3, 1.0, -2.0])
    sim["box"].apply_impulse(impulse, arm)
    moved = sim["box"].velocity + np.cross(sim["box"].angular_velocity, arm)
    body = sim.scene["box"]
    np.testing.assert_allclose(mobility(body.mass, body.inertia, arm) @ impulse, moved, atol=1e-13)


def test_between_steps_the_state_holds_nothing_of_a_spring():
    sim = box()
    sim["box"].applied_force = (1.0, 2.0, 3.0)
    hand = hand_on(sim, "box", (0.2, 0.3, 0.4), (0.5, -0.4, 1.0))
    hand.before_step(sim)
    assert np.linalg.norm(sim["box"].applied_force - [1.0, 2.0, 3.0]) > 1.0
    sim.step()
    hand.observe(sim)
    np.testing.assert_array_equal(sim["box"].applied_force, [1.0, 2.0, 3.0])
    np.testing.assert_array_equal(sim["box"].applied_torque, [0.0, 0.0, 0.0])


def test_what_somebody_else_wrote_during_a_step_is_left_alone():
    sim = box()
    hand = hand_on(sim, "box", (0.2, 0.3, 0.4), (0.5, -0.4, 1.0))
    hand.before_step(sim)
    sim["box"].applied_force = (0.0, 0.0, 7.0)
    hand.observe(sim)
    np.testing.assert_array_equal(sim["box"].applied_force, [0.0, 0.0, 7.0])


def test_a_spring_on_a_chain_carries_all_its_links_and_its_joints_hold():
    scene = rb.Scene()
    for i in range(5):
        scene.add_body(rb.Box(0.2, 0.05, 0.05), mass=0.5, position=(0.1 + 0.2 * i, 0.0, 0.0), name=f"link{i}")
    for i in range(4):
        scene.add_joint(rb.Ball(f"link{i}", f"link{i + 1}", at=(0.2 * (i + 1), 0.0, 0.0)))
    sim = rb.Simulation(scene, time_step=0.005)
    hand = hand_on(sim, "link0", (0.0, 0.0, 0.0), (0.0, 0.0, 0.5))
    assert total_mass(scene, "link0") == pytest.approx(2.5)
    held_steps(sim, hand, 1200)
    # In rest all five links hang straight down, and the spring sags as it does under one body of their mass.
    np.testing.assert_allclose(place(sim, hand), [0.0, 0.0, 0.5 - 9.81 / FIRMNESS**2], atol=0.02)
    assert sim.report.position_error <= 1e-6


@pytest.mark.contacts
def test_a_spring_pulls_a_body_to_a_wall_and_not_through_it():
    scene = rb.Scene(gravity=(0.0, 0.0, 0.0))
    scene.add_body(rb.Box(0.2, 0.2, 0.2), mass=1.0, name="box")
    scene.add_static(rb.Box(0.1, 2.0, 2.0), position=(0.55, 0.0, 0.0), name="wall")
    sim = rb.Simulation(scene, time_step=0.005)
    hand = hand_on(sim, "box", (0.1, 0.0, 0.0), (1.5, 0.0, 0.0))
    deepest = 0.0
    for _ in range(300):
        held_steps(sim, hand, 1)
        deepest = max(deepest, sim["box"].position[0] + 0.1 - 0.5)
    assert deepest < 1e-3
    np.testing.assert_allclose(sim["box"].position, [0.4, 0.0, 0.0], atol=2e-3)


@pytest.fixture
def session():
    running = Session([box(), box(integrator="rk4")])
    running.start()
    yield running
    running.stop()


def test_a_released_body_has_no_applied_force_left(session):
    hand = hand_on(session.sims[0], "box", (0.2, 0.3, 0.4), (0.5, -0.4, 1.0))
    take(session, hand).result(10.0)
    session.step(20).result(10.0)
    while session.frame.playing:
        session.do(lambda sim: None).result(10.0)
    assert all(np.linalg.norm(picture.velocity[0]) > 0.1 for picture in session.frame.pictures)
    let_go(session, hand).result(10.0)
    assert session.hands == []
    for sim in session.sims:
        assert len(sim.observers) == 0
        np.testing.assert_array_equal(sim["box"].applied_force, [0.0, 0.0, 0.0])
        np.testing.assert_array_equal(sim["box"].applied_torque, [0.0, 0.0, 0.0])


def test_a_hand_whose_body_is_gone_does_nothing(session):
    hand = hand_on(session.sims[0], "box", (0.2, 0.3, 0.4), (0.5, -0.4, 1.0))
    take(session, hand).result(10.0)
    other = rb.Scene()
    other.add_body(rb.Sphere(1.0), name="ball")
    session.open(lambda: rb.Simulation(other)).result(10.0)
    session.do(hand.before_step).result(10.0)
    let_go(session, hand).result(10.0)
    np.testing.assert_array_equal(session.sims[0]["ball"].applied_force, [0.0, 0.0, 0.0])
    assert not session.notices


def test_small_matrices_are_those_of_numpy():
    rng = np.random.default_rng(5)
    matrices, turns = rng.normal(size=(40, 3, 3)), rb.rotation.random(40, seed=6)
    assert inverse(matrices) == pytest.approx(np.linalg.inv(matrices), rel=1e-9, abs=1e-9)
    assert turn_of(turns) == pytest.approx(rb.rotation.matrix_from_quaternion(turns), abs=1e-14)
    assert cross(matrices[:, 0], matrices[:, 1]) == pytest.approx(np.cross(matrices[:, 0], matrices[:, 1]))
