"""The hand of the manipulator: it leads a body where joints and walls let it, holds it up, and lets go of it."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import rattleback as rb
from rattleback.viewer.interaction.grip import (
    FIRM,
    FOLLOW,
    GRIP,
    SPEED,
    STRENGTH,
    GripHand,
    Pose,
    let_go,
    take,
    without_grip,
)
from rattleback.viewer.session import Session

UPRIGHT = np.array([0.0, 0.0, 0.0, 1.0])


def box(**settings):
    scene = rb.Scene()
    scene.add_body(rb.Box(0.2, 0.3, 0.4), mass=2.0, name="box", position=(0.0, 0.0, 1.0))
    return rb.Simulation(scene, **settings)


def lead(sim, hand, steps, look=lambda: None):
    for _ in range(steps):
        hand.before_step(sim)
        sim.step()
        look()


@pytest.mark.parametrize("time_step", [0.002, 0.01])
@pytest.mark.parametrize("joints", ["direct", "iterative"])
def test_a_body_is_led_to_its_pose_and_held_up_there_a_millimetre_low(time_step, joints):
    sim = box(time_step=time_step, joints=joints)
    turn = Rotation.from_rotvec([0.0, 0.4, -0.9])
    hand = GripHand("box", Pose(np.array([0.3, -0.2, 1.5]), turn.as_quat()))
    hand.take(sim)
    lead(sim, hand, round(1.2 / time_step))
    np.testing.assert_allclose(sim["box"].position, [0.3, -0.2, 1.5 - 9.81 * FOLLOW * FIRM], atol=1e-5)
    assert (Rotation.from_quat(sim["box"].orientation) * turn.inv()).magnitude() < 1e-4


def test_a_hand_moves_no_faster_and_pulls_no_harder_than_it_may():
    sim = box(time_step=0.01)
    hand = GripHand("box", Pose(np.array([1e3, 0.0, 1.0]), UPRIGHT))
    hand.take(sim)
    # Held fast against it, the joint pulls with its damping times the velocity that is lacking.
    hand.before_step(sim)
    assert np.linalg.norm(sim[GRIP].linear) * sim.scene.joints[GRIP].linear_damping <= 2.0 * STRENGTH * (1.0 + 1e-9)
    speeds = [0.0]
    lead(sim, hand, 60, lambda: speeds.append(float(sim["box"].velocity[0])))
    assert max(speeds) <= SPEED * (1.0 + 1e-9)
    assert max(np.diff(speeds)) <= 0.01 * STRENGTH * (1.0 + 1e-9)
    assert speeds[-1] == pytest.approx(SPEED, rel=1e-3)


@pytest.mark.parametrize("time_step", [0.005, 0.02])
def test_a_hand_brakes_in_time_and_does_not_overshoot(time_step):
    sim = box(time_step=time_step)
    hand = GripHand("box", Pose(np.array([2.0, 0.0, 1.0]), Rotation.from_rotvec([0.0, 0.0, 2.0]).as_quat()))
    hand.take(sim)
    places, turns = [], []

    def look():
        places.append(float(sim["box"].position[0]))
        turns.append(float(Rotation.from_quat(sim["box"].orientation).as_rotvec()[2]))

    lead(sim, hand, round(1.2 / time_step), look)
    assert max(places) < 2.0 + 1e-6
    assert max(turns) < 2.0 + 1e-6
    assert (places[-1], turns[-1]) == pytest.approx((2.0, 2.0), abs=1e-4)


@pytest.mark.contacts
@pytest.mark.parametrize("time_step", [0.004, 0.01])
def test_a_hand_leads_a_body_up_to_a_wall_and_not_through_it(time_step):
    scene = rb.Scene()
    scene.add_static(rb.Plane())
    scene.add_static(rb.Box(0.1, 2.0, 2.0), position=(0.55, 0.0, 1.0), name="wall")
    scene.add_body(rb.Box(0.2, 0.2, 0.2), mass=1.0, name="box", position=(0.0, 0.0, 0.1))
    sim = rb.Simulation(scene, time_step=time_step)
    hand = GripHand("box", Pose(np.array([1.5, 0.0, 0.5]), UPRIGHT))
    hand.take(sim)
    farthest = []
    lead(sim, hand, round(1.0 / time_step), lambda: farthest.append(sim["box"].position[0] + 0.1))
    # The face of the wall is at 0.5 m.
    assert max(farthest) < 0.5 + 1e-4
    assert farthest[-1] > 0.5 - 1e-3
    assert np.linalg.norm(sim["box"].velocity) < 0.05


def chain(anchored):
    scene = rb.Scene()
    for i in range(6):
        scene.add_body(rb.Box(0.2, 0.05, 0.05), mass=0.5, position=(0.1 + 0.2 * i, 0.0, 1.0), name=f"link{i}")
    for i in range(5):
        scene.add_joint(rb.Ball(f"link{i}", f"link{i + 1}", at=(0.2 * (i + 1), 0.0, 1.0)))
    if anchored:
        scene.add_joint(rb.Ball(scene.world, "link0", at=(0.0, 0.0, 1.0)))
    return rb.Simulation(scene, time_step=0.005)


@pytest.mark.parametrize("anchored", [True, False])
def test_a_hand_leads_a_link_of_a_chain_and_its_joints_hold(anchored):
    sim = chain(anchored)
    hand = GripHand("link5", Pose(np.array([0.6, 0.3, 1.2]), UPRIGHT))
    hand.take(sim)
    errors = []
    lead(sim, hand, 600, lambda: errors.append(sim.report.position_error))
    assert max(errors) <= 1e-6
    # The rest of the chain swings on and pulls with some times its weight, each of which is worth 1.2 mm.
    np.testing.assert_allclose(sim["link5"].position, [0.6, 0.3, 1.2], atol=6e-3)


def test_a_hand_that_wants_more_than_a_joint_allows_gets_no_farther():
    sim = chain(True)
    hand = GripHand("link5", Pose(np.array([3.0, 0.0, 1.0]), UPRIGHT))
    hand.take(sim)
    lead(sim, hand, 400)
    # The middle of the last link is at most 1.1 m from the anchor; under its weight the chain sags a little.
    assert 1.095 < np.linalg.norm(sim["link5"].position - [0.0, 0.0, 1.0]) < 1.1 + 1e-5
    assert sim["link5"].position[0] > 1.09
    assert sim.report.position_error <= 1e-6


def test_what_is_let_go_falls_freely():
    sim = box(time_step=0.01)
    hand = GripHand("box", Pose(np.array([0.0, 0.0, 1.0]), UPRIGHT))
    hand.take(sim)
    lead(sim, hand, 100)
    without_grip(sim)
    start = float(sim["box"].position[2])
    sim.run(0.5)
    assert GRIP not in sim.scene.joints
    assert sim["box"].position[2] == pytest.approx(start - 0.5 * 9.81 * 0.25, abs=1e-3)
    without_grip(sim)


def test_a_hand_holds_and_lets_go_in_every_simulation_of_a_session():
    session = Session([box(), box(joints="iterative")])
    session.start()
    hand = GripHand("box", Pose(np.array([0.5, 0.0, 1.0]), UPRIGHT))
    take(session, hand).result(20.0)
    session.step(100).result(20.0)
    while session.frame.playing:
        session.do(lambda sim: None).result(20.0)
    for picture in session.frame.pictures:
        np.testing.assert_allclose(picture.position[0], [0.5, 0.0, 1.0], atol=2e-3)
    let_go(session, hand).result(20.0)
    assert session.hands == []
    assert all(not sim.scene.joints for sim in session.sims)
    session.stop()


def test_a_hand_whose_joint_is_gone_does_nothing():
    sim = box()
    hand = GripHand("box", Pose(np.array([5.0, 0.0, 1.0]), UPRIGHT))
    hand.before_step(sim)
    sim.run(0.1)
    assert sim["box"].position[0] == 0.0
