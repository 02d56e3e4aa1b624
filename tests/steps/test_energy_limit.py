"""Joints, stops and contacts add no energy: what they would add beyond their share is taken from the velocities."""

import re

import numpy as np
import pytest
import warp as wp

import rattleback as rb
from rattleback.steps import energy_limit as limit
from rattleback.steps.energy_limit import SHARE

pytestmark = pytest.mark.contacts


def pulled_apart(gap: float) -> rb.Scene:
    """A box that two ball joints want in two places."""
    scene = rb.Scene()
    scene.add_body(rb.Box(0.3, 0.3, 0.3), mass=2.0, name="box", collision=None)
    scene.add_joint(rb.Ball("world", "box", at=(0.2, 0, 0), at_b=(0.2, 0, 0)), name="left")
    scene.add_joint(rb.Ball("world", "box", at=(-0.2 - gap, 0, 0), at_b=(-0.2, 0, 0)), name="right")
    return scene


@pytest.mark.parametrize("joints", ["direct", "iterative"])
@pytest.mark.parametrize("rate", [60, 240])
def test_joints_that_contradict_each_other_end_in_a_compromise_that_is_named(joints: str, rate: int) -> None:
    gap = 0.1
    sim = rb.Simulation(pulled_apart(gap), time_step=1 / rate, joints=joints, warn=False)
    for _ in range(2 * rate):
        sim.step()
        assert sim.energy().kinetic < 1e-6
        assert sim.report.worst_joint in ("left", "right")
        assert not sim.report.converged
    assert np.abs(sim["box"].position).max() <= gap + 1e-9


def double_pendulum(h: float) -> rb.Simulation:
    scene = rb.Scene()
    for k in range(2):
        scene.add_body(rb.Box(1.0, 0.1, 0.1), mass=1.0, position=(k + 0.5, 0, 0), name=f"bar_{k}")
        scene.add_joint(rb.Revolute(f"bar_{k - 1}" if k else "world", f"bar_{k}", at=(k, 0, 0), axis=(0, 1, 0)))
    return rb.Simulation(scene, time_step=h, contacts="none")


def test_a_run_that_keeps_its_energy_is_left_alone() -> None:
    sim = double_pendulum(0.005)
    start = sim.energy().total
    sim.run(5.0)
    assert sim.report.energy_limited == 0.0
    assert sim.report.converged
    assert sim.energy().total == pytest.approx(start, abs=1e-3 * 19.62)


def thrown_doll(rate: int) -> rb.Simulation:
    """A ragdoll that hits the ground at 12 m/s, limbs first, at a step that is much too long for that."""
    scene = rb.scenes.ragdoll_on_stairs()
    for body in [body for body in scene.bodies if not body.static]:
        scene.change_body(body, velocity=(0.0, 0.0, -12.0))
    return rb.Simulation(scene, time_step=1 / rate, warn=False)


@pytest.mark.parametrize("rate", [30, 60])
def test_a_hard_landing_adds_no_more_than_its_share(rate: int) -> None:
    sim = thrown_doll(rate)
    before, peak = sim.energy(), 0.0
    for _ in range(2 * rate):
        peak = max(peak, before.kinetic)
        sim.step()
        now = sim.energy()
        # Beside the share of all that moves, a step may lift what overlaps.
        assert now.total - before.total <= float(SHARE) * peak + 70.0 * 9.81 * 0.02
        before = now
    assert before.kinetic < 0.05 * peak


def limited(sim: rb.Simulation, part: float) -> None:
    """Play the end of a step before which the bodies had a part of their kinetic energy, and forces did nothing."""
    energy, model, state = sim._step.energy, sim.model, sim.state
    ledger, motion, worlds = energy.ledger, state.motion, model.worlds
    wp.launch(limit.note_before, 1, inputs=[model.bodies, motion, ledger, 1], device="cpu")
    ledger.before.assign(part * ledger.before.numpy())
    for array in (ledger.work, state.joints.peak, state.joints.debt):
        array.zero_()
    wp.launch(limit.begin_balance, worlds, inputs=[ledger], device="cpu")
    known = [model.bodies, energy.measured, motion, state.clock, state.joints]
    given = [*known, ledger, energy.floor, sim._step.context.stop]
    wp.launch(limit.balance, len(energy.measured.mechanisms.first), inputs=given, device="cpu")
    joints = energy.measured.joints
    joined = [model.bodies, motion, joints, ledger, len(joints.body_a) // worlds]
    wp.launch(limit.join_joints, worlds, inputs=joined, device="cpu")
    predicted = sim._step.context.predicted
    wp.launch(limit.limit, worlds, inputs=[model.bodies, motion, predicted, ledger], device="cpu")
    state.touch()


def test_what_hangs_on_the_world_is_left_what_it_had_and_its_share() -> None:
    sim = double_pendulum(0.001)
    sim.run(0.5)
    kinetic, velocity = sim.energy().kinetic, sim.state.velocity.copy()
    limited(sim, 0.5)
    fall = 2.0 * (0.5 * (9.81 * 0.001) ** 2 + 9.81 * 1e-6)
    assert sim.energy().kinetic == pytest.approx(0.5 * kinetic * (1.0 + float(SHARE)) + fall, rel=1e-6)
    scale = sim.state.velocity[0, 2] / velocity[0, 2]
    np.testing.assert_allclose(sim.state.velocity, scale * velocity, rtol=1e-12, atol=1e-14)
    said = sim._step.energy.summary()
    assert said["energy_limited"] == pytest.approx(kinetic - sim.energy().kinetic, rel=1e-9)
    assert re.match(
        r"Joints, stops and contacts of body 'bar_[01]' and what it touches would have added .* J", said["reason"]
    )


def test_what_floats_keeps_its_momentum() -> None:
    scene = rb.Scene(gravity=(0, 0, 0))
    for k in range(2):
        spin = {"velocity": (1.0, 0.5, (-1.0) ** k), "angular_velocity": (0, 2.0, 0)}
        scene.add_body(rb.Box(1.0, 0.1, 0.1), mass=1.0 + k, position=(k, 0, 0), name=f"bar_{k}", **spin)
    scene.add_joint(rb.Ball("bar_0", "bar_1", at=(0.5, 0, 0)))
    sim = rb.Simulation(scene, time_step=0.001)
    sim.step()
    kinetic, momentum = sim.energy().kinetic, sim.momentum().linear.copy()
    limited(sim, 0.9)
    np.testing.assert_allclose(sim.momentum().linear, momentum, rtol=1e-12, atol=1e-12)
    assert sim.energy().kinetic == pytest.approx(0.9 * kinetic * (1.0 + float(SHARE)), rel=1e-6)


def energy_of_pairs(sim: rb.Simulation) -> list[float]:
    """Kinetic energies of the first two and the last two of four bars that turn about the y axis."""
    inertia = sim.scene["bar_0"].inertia[1, 1]
    speed, spin = sim.state.motion.velocity.numpy(), sim.state.motion.angular_velocity.numpy()
    each = 0.5 * (speed**2).sum(axis=1) + 0.5 * inertia * spin[:, 1] ** 2
    return [float(each[:2].sum()), float(each[2:].sum())]


def test_what_is_left_of_a_broken_mechanism_is_limited_too() -> None:
    """Two pairs of bars whose joint broke: each pair loses what it gained, and keeps its part of the share."""
    scene = rb.Scene(gravity=(0, 0, 0))
    for k in range(4):
        speed = {"velocity": (0, 0, (-1.0) ** k * (1 + k)), "angular_velocity": (0, 2.0, 0)}
        scene.add_body(rb.Box(1.0, 0.1, 0.1), mass=1.0, position=(k, 0, 0), name=f"bar_{k}", **speed)
        if k:
            scene.add_joint(rb.Ball(f"bar_{k - 1}", f"bar_{k}", at=(k - 0.5, 0, 0)), name=f"joint_{k}")
    sim = rb.Simulation(scene, time_step=0.001, contacts="none")
    sim["joint_2"].broken = True
    sim.step()
    kinetic = sim.energy().kinetic
    pairs = energy_of_pairs(sim)
    limited(sim, 0.5)
    left = energy_of_pairs(sim)
    share = 0.5 * float(SHARE) * kinetic
    assert left == pytest.approx([0.5 * pairs[0] + share, 0.5 * pairs[1] + 0.5 * share], rel=1e-6)


def test_a_body_faster_than_light_is_a_divergence_while_its_numbers_are_finite() -> None:
    scene = rb.Scene(gravity=(0, 0, 0))
    scene.add_body(rb.Sphere(0.1), mass=1.0, velocity=(3e8, 0, 0), name="ball")
    sim = rb.Simulation(scene, time_step=0.01)
    with pytest.raises(rb.DivergenceError, match="Body 'ball' moves faster than light in step 1"):
        sim.step()
    assert sim["ball"].position == pytest.approx((0.0, 0.0, 0.0))


def test_a_body_that_turns_so_fast_that_squares_are_no_numbers_is_a_divergence_too() -> None:
    scene = rb.Scene(gravity=(0, 0, 0))
    scene.add_body(rb.Sphere(0.1), mass=1.0, angular_velocity=(1e200, 1e200, 0), name="ball")
    sim = rb.Simulation(scene, time_step=0.01)
    with pytest.raises(rb.DivergenceError, match=r"Body 'ball' turns faster than 1e\+15 rad/s in step 1"):
        sim.step()


def test_velocities_of_corrections_that_diverged_are_replaced_by_those_of_the_prediction() -> None:
    """A million times the energy means nothing any more, in no direction."""
    sim = double_pendulum(1e-5)
    sim["bar_1"].velocity = (0.0, 0.0, 3.0)
    sim.step()
    predicted = sim._step.context.predicted.velocity.numpy().copy()
    for velocity in (sim._step.state.motion.velocity, sim._step.state.motion.angular_velocity):
        velocity.assign(1e3 * velocity.numpy())
    limited(sim, 1e-6)
    np.testing.assert_array_equal(sim._step.state.motion.velocity.numpy(), predicted)
