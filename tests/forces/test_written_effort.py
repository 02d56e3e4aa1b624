"""Torques and forces written to joints: motion in closed form, work and momentum, limits, state, worlds, messages."""

import math
from pathlib import Path

import numpy as np
import pytest

import rattleback as rb
from rattleback.core.precision import PRECISION

DOUBLE = PRECISION == "double"
INERTIA = 1.0 * (1.0 + 0.01) / 12.0 + 0.25


def arm(gravity: float = 0.0, **joint: object) -> rb.Scene:
    """A rod of 1 kg and 1 m on a hinge at its end, with its axis along −y: a positive angle lifts it."""
    scene = rb.Scene(gravity=(0, 0, -gravity))
    scene.add_body(rb.Box(1.0, 0.1, 0.1), mass=1.0, position=(0.5, 0, 0), name="arm")
    scene.add_joint(rb.Revolute("world", "arm", axis=(0, -1, 0), **joint), name="hinge")
    return scene


def lift(**settings: object) -> rb.Simulation:
    """A block of 2 kg on a vertical rail."""
    scene = rb.Scene()
    scene.add_body(rb.Box(0.1, 0.1, 0.1), mass=2.0, name="block")
    scene.add_joint(rb.Prismatic("world", "block", axis=(0, 0, 1)), name="rail")
    return rb.Simulation(scene, time_step=0.01, **settings)


def test_a_torque_turns_a_hinge_and_does_its_work(device: str) -> None:
    sim = rb.Simulation(arm(), time_step=0.001, device=device)
    sim["hinge"].torque = 5.0
    sim.run(0.5)
    assert sim["hinge"].torque == 5.0
    assert sim["hinge"].velocity == pytest.approx(5.0 / INERTIA * 0.5, rel=1e-6 if DOUBLE else 1e-4)
    assert sim["hinge"].angle == pytest.approx(0.5 * 5.0 / INERTIA * 0.25, rel=2e-5 if DOUBLE else 1e-3)
    assert sim.energy().kinetic == pytest.approx(5.0 * sim["hinge"].angle, rel=1e-4 if DOUBLE else 1e-3)
    assert sim.energy().potential == 0.0


def test_a_force_drives_a_slide_against_gravity(device: str) -> None:
    sim = lift(device=device)
    sim["rail"].force = 2.0 * (9.81 + 3.0)
    sim.run(1.0)
    assert sim["rail"].position == pytest.approx(1.5, abs=1e-9 if DOUBLE else 1e-4)
    assert sim["rail"].velocity == pytest.approx(3.0, abs=1e-9 if DOUBLE else 1e-4)
    sim["rail"].force = 2.0 * 9.81
    sim.run(0.5)
    assert sim["rail"].velocity == pytest.approx(3.0, abs=1e-9 if DOUBLE else 1e-4)


def test_an_array_drives_all_joints_at_once() -> None:
    scene = rb.Scene(gravity=(0, 0, 0))
    for k in range(3):
        scene.add_body(rb.Cylinder(0.2, 0.1), mass=3.0, position=(k, 0, 0), name=f"disk {k}")
        scene.add_joint(rb.Revolute("world", f"disk {k}", at=(k, 0, 0)), name=f"hinge {k}")
    sim, wanted = rb.Simulation(scene, time_step=0.01), np.array([1.0, -2.0, 0.0])
    sim.joints.torque = wanted
    sim.step(10)
    sim.joints.torque[2] = 4.0
    sim.step(10)
    rate = (wanted * 0.2 + np.array([0, 0, 0.4])) / (0.5 * 3.0 * 0.2**2)
    np.testing.assert_allclose(sim.joints.velocity, rate, rtol=1e-9 if DOUBLE else 1e-4)
    np.testing.assert_array_equal(sim.joints.torque, [1, -2, 4])


@pytest.mark.parametrize("integrator", list(rb.integrators.MENU))
def test_a_torque_holds_an_arm_level_against_its_weight(integrator: str) -> None:
    sim = rb.Simulation(arm(gravity=10.0), time_step=1e-3, integrator=integrator)
    sim["hinge"].torque = 10.0 * 0.5
    sim.run(0.1)
    assert sim["hinge"].angle == pytest.approx(0.0, abs=1e-5)
    np.testing.assert_allclose(sim["hinge"].reaction_force, [0, 0, 10.0], atol=1e-3)


def test_it_is_the_torque_that_can_be_written_to_both_bodies() -> None:
    """The axis of a hinge between two bodies that tumble; the pair of torques is written anew for every step."""
    scene = rb.Scene(gravity=(0, 0, 0))
    scene.add_body(rb.Box(0.3, 0.4, 0.6), mass=2.0, angular_velocity=(1, 2, 3), name="a")
    scene.add_body(rb.Box(0.5, 0.2, 0.2), mass=1.0, position=(0.4, 0, 0), name="b")
    scene.add_joint(rb.Revolute("a", "b", at=(0.15, 0, 0), axis=(0, 0, 1)), name="hinge")
    driven, by_hand = (rb.Simulation(scene, time_step=1e-4) for _ in range(2))
    driven["hinge"].torque = 3.0
    for _ in range(100):
        axis = rb.rotation.rotate(by_hand["a"].orientation, (0, 0, 1))
        by_hand["b"].applied_torque, by_hand["a"].applied_torque = 3.0 * axis, -3.0 * axis
        driven.step()
        by_hand.step()
    assert driven["hinge"].velocity > -3.0 + 0.5  # it began at −3 rad/s
    np.testing.assert_allclose(driven.state.angular_velocity, by_hand.state.angular_velocity, atol=1e-3)


def test_what_drives_a_free_mechanism_keeps_its_momentum_and_adds_its_work() -> None:
    """Two bodies in space, turned and slid against each other; the work is summed up by the trapezoidal rule."""
    scene = rb.Scene(gravity=(0, 0, 0))
    scene.add_body(rb.Box(0.3, 0.4, 0.6), mass=2.0, angular_velocity=(1, -2, 3), velocity=(1, 0, 0), name="a")
    scene.add_body(rb.Box(0.5, 0.2, 0.2), mass=1.0, position=(0.4, 0.1, 0), name="b")
    scene.add_joint(rb.Cylindrical("a", "b", at=(0.1, 0.2, 0), axis=(1, 2, 2)), name="rod")
    sim = rb.Simulation(scene, time_step=2e-4, position_tolerance=1e-10 if DOUBLE else 1e-4)
    sim.step()
    linear, angular, begun = sim.momentum().linear, sim.momentum().angular, sim.energy().kinetic
    sim["rod"].torque, sim["rod"].force = 0.4, -2.0
    np.testing.assert_array_equal(sim.joints.torque, np.float32([-2.0, 0.4]) if not DOUBLE else [-2.0, 0.4])
    work, rates = 0.0, sim.joints.velocity
    for _ in range(500):
        sim.step()
        work += 2e-4 * 0.5 * float(sim.joints.torque @ (rates + sim.joints.velocity))
        rates = sim.joints.velocity
    assert work > 0.1
    assert sim.energy().kinetic - begun == pytest.approx(work, rel=1e-4 if DOUBLE else 1e-2)
    np.testing.assert_allclose(sim.momentum().linear, linear, atol=1e-12 if DOUBLE else 1e-5)
    np.testing.assert_allclose(sim.momentum().angular, angular, atol=1e-6 if DOUBLE else 1e-4)


def test_a_screw_feels_the_mass_it_moves() -> None:
    scene = rb.Scene(gravity=(0, 0, 0))
    scene.add_body(rb.Cylinder(0.2, 0.1), mass=3.0, name="nut")
    scene.add_joint(rb.Screw("world", "nut", pitch=0.5), name="screw")
    sim = rb.Simulation(scene, time_step=1e-3)
    sim["screw"].torque = 2.0
    sim.run(0.5)
    felt = 0.5 * 3.0 * 0.2**2 + 3.0 * (0.5 / (2.0 * math.pi)) ** 2
    assert sim["screw"].velocity == pytest.approx(2.0 * 0.5 / felt, rel=1e-6 if DOUBLE else 1e-3)


def test_a_torque_presses_against_a_limit() -> None:
    """The stop carries it, and the reaction about the axis is its opposite."""
    sim = rb.Simulation(arm(limits=(-0.5, 0.25)), time_step=0.002)
    sim["hinge"].torque = 2.0
    sim.run(1.0)
    assert sim["hinge"].angle == pytest.approx(0.25, abs=1e-5)
    assert sim["hinge"].velocity == pytest.approx(0.0, abs=1e-5)
    np.testing.assert_allclose(sim["hinge"].reaction_torque, [0, 2.0, 0], atol=1e-3)
    assert sim.report.converged


def test_a_broken_joint_is_not_driven() -> None:
    sim = rb.Simulation(arm(breaking_force=1e6), time_step=0.01)
    sim["hinge"].torque = 2.0
    sim["hinge"].broken = True
    sim.step(10)
    np.testing.assert_array_equal(sim["arm"].angular_velocity, 0)
    sim["hinge"].broken = False
    sim.step(10)
    assert sim["hinge"].velocity > 0.1


def test_torques_are_part_of_the_state(tmp_path: Path) -> None:
    sim = rb.Simulation(arm(gravity=9.81), time_step=0.005)
    sim.step(7)
    untouched = sim.hash()
    sim["hinge"].torque = 3.0
    assert sim.hash() != untouched
    sim.step(5)
    kept = sim.state.copy()
    sim.save(tmp_path / "driven.rb.state")
    sim.step(20)
    wanted = sim.hash()
    sim["hinge"].torque = -1.0
    sim.state = kept
    assert sim["hinge"].torque == 3.0
    sim.step(20)
    assert sim.hash() == wanted
    other = rb.load(tmp_path / "driven.rb.state")
    assert other["hinge"].torque == 3.0
    other.step(20)
    assert other.hash() == wanted
    fresh = rb.Simulation(arm(gravity=9.81), time_step=0.005)
    fresh.state = kept
    fresh.step(20)
    assert fresh.hash() == wanted


def test_a_torque_of_zero_is_none(tmp_path: Path) -> None:
    """Whether torques were ever written makes no difference to any bit, nor when the step came to know of them."""
    sims = [rb.Simulation(arm(gravity=9.81), time_step=0.005) for _ in range(3)]
    sims[0]["hinge"].torque = 3.0
    sims[0].capture()
    sims[0]["hinge"].torque = 0.0
    sims[1]["hinge"].torque = 0.0
    for sim in sims:
        sim.step(10)
    assert len({sim.hash() for sim in sims}) == 1
    for sim in sims:
        sim["hinge"].torque = 3.0
        sim.step(10)
    assert len({sim.hash() for sim in sims}) == 1


def test_every_world_has_its_own_torque_and_the_bits_of_a_single_run(device: str) -> None:
    efforts = [0.0, 2.0, -3.0]
    batch = rb.Simulation(arm(gravity=9.81), time_step=0.005, worlds=3, device=device)
    batch["hinge"].torque = efforts
    assert batch.joints.torque.shape == (3, 1)
    batch.step(20)
    batch["hinge"].torque = 1.0
    batch.step(5)
    np.testing.assert_array_equal(batch["hinge"].torque, 1.0)
    for world, effort in enumerate(efforts):
        alone = rb.Simulation(arm(gravity=9.81), time_step=0.005, device=device)
        alone["hinge"].torque = effort
        alone.step(20)
        alone["hinge"].torque = 1.0
        alone.step(5)
        np.testing.assert_array_equal(batch.state.position[world], alone.state.position)
        np.testing.assert_array_equal(batch.state.angular_velocity[world], alone.state.angular_velocity)


def test_what_an_observer_writes_drives_the_next_step_already() -> None:
    """Also the first torque of a run, in the midst of a call."""
    sim = lift()

    @sim.after_step
    def push(sim: rb.Simulation) -> None:
        sim["rail"].force = 100.0 * sim.state.steps

    sim.step(3)
    rate = [-9.81 * 0.01 * 3 + (100.0 + 200.0) / 2.0 * 0.01]
    np.testing.assert_allclose(sim.joints.velocity, rate, rtol=1e-9 if DOUBLE else 1e-4)


def test_a_torque_wakes_what_sleeps() -> None:
    scene = arm()
    scene.add_body(rb.Box(0.1, 0.1, 0.1), position=(0, 0, 3), name="beside")
    sim = rb.Simulation(scene, time_step=0.01, sleep=True)
    sim.run(2.0)
    assert sim["arm"].asleep
    sim["hinge"].torque = 1.0
    sim.step(10)
    assert not sim["arm"].asleep
    assert sim["beside"].asleep
    assert sim["hinge"].velocity == pytest.approx(0.1 / INERTIA, rel=1e-3)


def test_a_rebuilt_scene_goes_on_with_its_torques() -> None:
    sim = rb.Simulation(arm(), time_step=0.01)
    sim["hinge"].torque = 2.0
    scene = sim.scene.copy()
    scene.add_body(rb.Sphere(0.1), position=(3, 0, 0), name="bead")
    scene.add_joint(rb.Prismatic("world", "bead"), name="rail")
    sim.rebuild(scene)
    np.testing.assert_array_equal(sim.joints.torque, [2, 0])
    sim.step(10)
    assert sim["hinge"].velocity == pytest.approx(0.2 / INERTIA, rel=1e-4)


def test_a_joint_without_one_axis_says_what_would_work() -> None:
    scene = arm()
    scene.add_body(rb.Sphere(0.1), position=(1, 0, 0), name="fist")
    scene.add_joint(rb.Ball("arm", "fist", at=(1, 0, 0)), name="wrist")
    sim = rb.Simulation(scene)
    with pytest.raises(
        rb.InputError, match="Joint 'wrist' is a Ball, which has no one axis for a torque; write applied"
    ):
        sim["wrist"].torque = 1.0
    with pytest.raises(rb.InputError, match="Joint 'hinge' is a Revolute, which has no one axis for a force; it has a"):
        sim["hinge"].force = 1.0


@pytest.mark.parametrize("value", ["up", None, float("nan"), (1, 2)])
def test_nonsense_is_refused_at_once(value: object) -> None:
    sim = rb.Simulation(arm())
    with pytest.raises(rb.InputError, match="The torque written to joint 'hinge'"):
        sim["hinge"].torque = value
    with pytest.raises(rb.InputError, match="The torque written to sim.joints"):
        sim.joints.torque = value
    sim.joints.torque[0] = math.inf
    with pytest.raises(rb.InputError, match="The torque written is not finite in row 0; nothing was changed"):
        sim.step()
    assert sim["hinge"].torque == 0.0
