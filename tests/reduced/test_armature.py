"""Armature of joints: closed forms, MuJoCo's motion, energy, momentum, articulations; what is refused."""

from typing import Any

import numpy as np
import pytest

import rattleback as rb
from rattleback.core.errors import InputError
from rattleback.solvers.joints import IMPULSES, MENU

ARMATURE, DAMPING = (0.3, 0.1), (0.4, 0.2)
both_kinds = pytest.mark.parametrize("kind", [rb.Revolute, rb.Prismatic])


def wheel(kind: Any, free: bool = False, **settings: Any) -> rb.Simulation:
    """A wheel of 2 kg m², or a bead of 2 kg, with 3 of armature; on the world or on a like body."""
    scene = rb.Scene(gravity=(0, 0, 0))
    first = scene.add_body(mass=2.0, inertia=2.0 * np.eye(3), name="first") if free else scene.world
    scene.add_body(mass=2.0, inertia=2.0 * np.eye(3), name="second")
    scene.add_joint(kind(first, "second", at=(0, 0, 0), axis=(0, 0, 1), armature=3.0), name="joint")
    return rb.Simulation(scene, time_step=0.01, **{"joints": "reduced", **settings})


def arm(h: float, **settings: Any) -> rb.Simulation:
    """Two links in a plane, level and turning, with armature and damping."""
    scene = rb.Scene(gravity=(0, 0, -9.81))
    scene.add_body(mass=1.0, inertia=(0.01, 0.1, 0.1), position=(0.5, 0, 0), name="upper")
    scene.add_body(mass=0.5, inertia=(0.005, 0.02, 0.02), position=(1.3, 0, 0), name="fore")
    for k, (a, b) in enumerate((("world", "upper"), ("upper", "fore"))):
        given = {"armature": ARMATURE[k], "damping": DAMPING[k]}
        scene.add_joint(rb.Revolute(a, b, at=(k, 0, 0), axis=(0, 1, 0), **given), name=f"joint_{k}")
    sim = rb.Simulation(scene, time_step=h, joints="reduced", velocity_tolerance=1e-10, **settings)
    rb.dynamics.Articulation(scene).move_to(sim, [0.0, 0.0], [1.0, -2.0])
    return sim


@both_kinds
def test_a_load_accelerates_the_body_and_its_drive(kind: Any) -> None:
    """α = τ / (J + A)."""
    sim = wheel(kind)
    sim["second"].applied_torque = sim["second"].applied_force = (0, 0, 1.0)
    sim.step(100)
    assert sim["joint"].velocity == pytest.approx(1.0 / 5.0, rel=1e-12)


@both_kinds
def test_a_drive_between_two_bodies_keeps_their_momentum(kind: Any) -> None:
    """The relative motion has the reduced inertia of both and the armature: 1 + 3."""
    sim = wheel(kind, free=True)
    sim.joints.torque = [1.0]
    sim.step(100)
    assert sim["joint"].velocity == pytest.approx(1.0 / 4.0, rel=1e-10)
    now = sim.momentum()
    np.testing.assert_allclose(np.concatenate([now.linear, now.angular]), 0.0, atol=1e-12)


def test_a_servo_turns_its_drive_with_its_wheel() -> None:
    """φ = 1 − cos ωt with ω² = 20 / (2 + 3), with a servo that measures in short steps."""
    scene = wheel(rb.Revolute).scene
    scene.add_force(rb.Servo("joint", target=1.0, gain=20.0))
    sim = rb.Simulation(scene, time_step=0.0005, joints="reduced")
    sim.run(0.5)
    assert sim["joint"].angle == pytest.approx(1.0 - np.cos(1.0), rel=2e-3)


def test_energy_has_that_of_drives_and_is_kept() -> None:
    sim = arm(0.002)
    scene = sim.scene
    for k in range(2):
        scene.change_joint(f"joint_{k}", damping=0.0)
    sim = rb.Simulation(scene, time_step=0.002, joints="reduced")
    robot = rb.dynamics.Articulation(scene)
    robot.move_to(sim, [0.0, 0.0], [1.0, -2.0])
    start = sim.energy()
    assert [start.kinetic, start.potential] == pytest.approx(robot.energy([0.0, 0.0], [1.0, -2.0]))
    sim.step(500)
    assert sim.energy().total == pytest.approx(start.total, abs=1e-4)


def test_a_damped_arm_with_armature_moves_as_in_mujoco_with_order_two() -> None:
    mujoco = pytest.importorskip("mujoco", reason="needs MuJoCo, pip install mujoco")
    joint = '<joint type="hinge" axis="0 1 0" armature="{}" damping="{}"/>'
    model = mujoco.MjModel.from_xml_string(
        '<mujoco><option gravity="0 0 -9.81" timestep="0.0005" integrator="RK4"/><worldbody>'
        f'<body>{joint.format(ARMATURE[0], DAMPING[0])}<inertial pos="0.5 0 0" mass="1" diaginertia="0.01 0.1 0.1"/>'
        f'<body pos="1 0 0">{joint.format(ARMATURE[1], DAMPING[1])}'
        '<inertial pos="0.3 0 0" mass="0.5" diaginertia="0.005 0.02 0.02"/></body></body></worldbody></mujoco>'
    )
    data = mujoco.MjData(model)
    data.qvel[:] = (1.0, -2.0)
    for _ in range(2000):
        mujoco.mj_step(model, data)
    errors = []
    for steps in (100, 200):
        sim = arm(1.0 / steps)
        sim.step(steps)
        errors.append(np.abs(sim.joints.position - data.qpos).max())
    assert errors[1] < 1e-4
    assert np.log2(errors[0] / errors[1]) == pytest.approx(2.0, abs=0.05)


def test_an_articulation_takes_armature_and_damping_from_the_joints() -> None:
    scene, given = arm(0.01).scene, {"armature": ARMATURE, "damping": DAMPING}
    robot = rb.dynamics.Articulation(scene)
    for k in range(2):
        scene.change_joint(f"joint_{k}", armature=0.0, damping=0.0)
    other = rb.dynamics.Articulation(scene, **{name: np.array(value) for name, value in given.items()})
    q, v, tau = np.random.default_rng(3).standard_normal((3, 2))
    np.testing.assert_array_equal(robot.mass_matrix(q), other.mass_matrix(q))
    bare = rb.dynamics.Articulation(scene)
    np.testing.assert_allclose(robot.mass_matrix(q) - bare.mass_matrix(q), np.diag(ARMATURE), atol=1e-14)
    np.testing.assert_allclose(robot.bias(q, v) - bare.bias(q, v), DAMPING * v, atol=1e-12)
    np.testing.assert_allclose(robot.inverse(q, v, robot.forward(q, v, tau)), tau, atol=1e-12)
    over = rb.dynamics.Articulation(arm(0.01).scene, armature={"joint_1": 0.7})
    assert over.armature.tolist() == [ARMATURE[0], 0.7]


def test_the_first_step_has_the_acceleration_of_the_articulation() -> None:
    sim, h = arm(1e-5), 1e-5
    robot = rb.dynamics.Articulation(sim.scene)
    q, v = robot.coordinates_of(sim)
    sim.step()
    gained = (robot.coordinates_of(sim)[1] - v) / h
    np.testing.assert_allclose(gained, robot.forward(q, v, np.zeros(2)), rtol=1e-3)


def test_velocities_that_were_written_and_fit_stay() -> None:
    sim = wheel(rb.Revolute)
    sim["second"].angular_velocity = (0, 0, 2.0)
    sim.step(10)
    assert sim["joint"].velocity == pytest.approx(2.0, rel=1e-14)
    sim["second"].velocity = (1.0, 0, 0)
    sim.step()
    assert sim["joint"].velocity == pytest.approx(2.0, rel=1e-12)


def test_worlds_have_the_bits_of_single_runs() -> None:
    single, many = arm(0.01), rb.Simulation(arm(0.01).scene, time_step=0.01, joints="reduced", worlds=2)
    many["fore"].angular_velocity = single["fore"].angular_velocity = (0, 3.0, 0)
    single = rb.Simulation(single.scene, time_step=0.01, joints="reduced")
    single["fore"].angular_velocity = (0, 3.0, 0)
    for sim in (single, many):
        sim.step(50)
    np.testing.assert_array_equal(many.joints.position, np.tile(single.joints.position, (2, 1)))


def test_armature_goes_into_scene_files_and_back(tmp_path: Any) -> None:
    wheel(rb.Prismatic).scene.save(tmp_path / "wheel.json")
    assert rb.Scene.load(tmp_path / "wheel.json").joints["joint"].armature == 3.0


@both_kinds
def test_a_negative_armature_is_refused(kind: Any) -> None:
    with pytest.raises(InputError, match=f"The armature of {kind.__name__} is -1.0; it must be zero or more"):
        kind("a", "b", armature=-1.0)


@pytest.mark.parametrize("method", [name for name in MENU if name not in IMPULSES])
def test_other_methods_refuse_armature(method: str) -> None:
    said = f"Joint 'joint' has armature; joints='{method}' cannot hold that, use joints='direct', 'iterative'"
    with pytest.raises(InputError, match=said):
        wheel(rb.Revolute, joints=method)


def test_armature_is_refused_where_no_tree_holds_its_joint() -> None:
    scene = wheel(rb.Revolute).scene
    scene.change_joint("joint", breaking_force=1.0)
    with pytest.raises(InputError, match="'joint' has armature and is no part of a tree, since it closes a loop"):
        rb.Simulation(scene, joints="reduced")


def test_of_a_loop_the_joint_without_drive_is_cut() -> None:
    """A triangle of three bodies whose first joint alone has none, though trees would grow over it first."""
    scene = rb.Scene(gravity=(0, 0, 0))
    for k in range(3):
        scene.add_body(mass=1.0, inertia=np.eye(3), position=(k, 0, 0), name=f"body_{k}")
    for k, armature in enumerate((0.0, 0.1, 0.2)):
        ends = (f"body_{k}", f"body_{(k + 1) % 3}")
        scene.add_joint(rb.Revolute(*ends, at=(k, k == 1, 0), axis=(0, 0, 1), armature=armature), name=f"hinge_{k}")
    sim = rb.Simulation(scene, joints="reduced")
    assert sim._step.trees.found.joints == {1, 2}


def test_the_step_and_the_textbook_have_the_same_trees() -> None:
    """Without loops, and where drives choose them; the order of rates does not depend on armature."""
    for armature, cut in (((0.0, 0.0, 0.0, 0.0), True), ((0.0, 0.1, 0.2, 0.3), False), ((0.3, 0.1, 0.0, 0.2), False)):
        scene, names = rb.Scene(gravity=(0, 0, 0)), ("world", "a", "b", "c", "world")
        for k in range(3):
            scene.add_body(mass=1.0, inertia=np.eye(3), position=(k, 0, 0), name=names[k + 1])
        for k in range(3 if cut else 4):
            hinge = rb.Revolute(*names[k : k + 2], at=(k, k % 2, 0), axis=(0, 0, 1), armature=armature[k])
            scene.add_joint(hinge, name=f"hinge_{k}")
        robot, sim = rb.dynamics.Articulation(scene), rb.Simulation(scene, joints="reduced")
        held = [f"hinge_{k}" for k in sorted(sim._step.trees.found.joints)]
        assert sorted(robot.rates) == held
        assert all(f"hinge_{k}" in held for k in range(4) if armature[k])
