"""Robots from files at work: a gripper holds a cube, a quadruped stands, a cart and an ant run.

Small models are in the project; the same with real robots of ``shared/data`` beside the checkout.
"""

import warnings
from pathlib import Path

import numpy as np
import pytest

import rattleback as rb

MODELS = Path(__file__).with_name("models")
DATA = Path(__file__).resolve().parents[4] / "shared" / "data"
needs_data = pytest.mark.skipif(not (DATA / "mjcf").exists(), reason="the robots are not in ../shared/data")
EDGE = 0.04


def gripped(
    path: Path, actuator: str, controls: tuple[float, float], joints: str, drives: bool = True
) -> tuple[rb.Simulation, np.ndarray]:
    """A gripper that has opened and closed on a cube of 0.2 kg, whose stand is gone."""
    scene = rb.Scene.from_file(path, drives=drives)
    robot, place = scene.robot, scene.robot.frame(scene, "pinch")[:3, 3]
    scene.add_body(rb.Box(EDGE, EDGE, EDGE), mass=0.2, position=place, name="cube", material=rb.Material(friction=0.7))
    scene.add_static(rb.Box(0.02, 0.02, 0.02), position=place - (0, 0, 0.5 * EDGE + 0.01), name="stand")
    sim = rb.Simulation(scene, time_step=0.002, joints=joints)
    for control in controls:
        robot.control(sim, {actuator: control})
        sim.run(0.6)
    sim["stand"].position = (5.0, 0.0, 0.0)
    return sim, np.array(sim["cube"].position)


def test_a_gripper_of_parallelograms_opens_closes_and_holds_a_cube() -> None:
    path = MODELS / "mjcf" / "gripper.xml"
    scene = rb.Scene.from_file(path)
    found = scene.assemble()
    assert max(found.position_error, found.orientation_error) <= 1e-9
    sim = rb.Simulation(scene, time_step=0.002)
    for control, angle in ((-80.0, -0.2), (255.0, 0.6375)):
        scene.robot.control(sim, {"grip": control})
        sim.run(1.5)
        # The weight of the fingers takes a little of it.
        assert scene.robot.measure(sim, "opening") == pytest.approx(angle, abs=0.015)
        assert sim["left"].angle == pytest.approx(sim["right"].angle, abs=1e-5)
        # A finger on a parallelogram never turns.
        np.testing.assert_allclose(abs(sim["left finger"].orientation), (1, 0, 0, 0), atol=1e-6)


@pytest.mark.contacts
@pytest.mark.parametrize("joints", ["direct", "reduced"])
def test_a_small_gripper_holds_a_cube(joints: str) -> None:
    sim, before = gripped(MODELS / "mjcf" / "gripper.xml", "grip", (-80.0, 255.0), joints)
    sim.run(2.0)
    assert np.abs(sim["cube"].position - before).max() < 1e-3
    assert sim.report.position_error < 1e-6


@needs_data
@pytest.mark.slow
@pytest.mark.contacts
@pytest.mark.parametrize(("joints", "drives"), [("direct", False), ("reduced", True)])
def test_the_two_finger_gripper_holds_a_cube_for_twenty_seconds(joints: str, drives: bool) -> None:
    path = DATA / "mjcf" / "robotiq_2f85" / "2f85.xml"
    with warnings.catch_warnings():
        # Without rotors its servos are held to what a step can follow.
        warnings.simplefilter("ignore", rb.NotConvergedWarning)
        sim, before = gripped(path, "fingers_actuator", (0.0, 255.0), joints, drives)
        sim.run(20.0)
        assert np.abs(sim["cube"].position - before).max() < 1e-3
        sim.scene.robot.control(sim, {"fingers_actuator": 0.0})
        sim.run(0.5)
    assert sim["cube"].position[2] < before[2] - 0.02


def standing(path: Path, hinges: dict[str, float], foot: str, sole: float) -> tuple[rb.Scene, dict[str, float]]:
    """A quadruped in a pose on the ground, with a servo on every hinge; ``sole`` is below the frame of a foot [m]."""
    scene = rb.Scene.from_file(path, base="floating")
    robot = scene.robot
    legs = [name.removesuffix(foot) for name in robot.frames if name.endswith(foot)]
    # Knees of the hind legs bend the other way.
    signs = {leg: 1.0 if leg.endswith("F") else -1.0 for leg in legs}
    pose = {f"{leg}{name}": sign * angle for leg, sign in signs.items() for name, angle in hinges.items()}
    robot.pose(scene, pose)
    low = min(robot.frame(scene, f"{leg}{foot}")[2, 3] for leg in legs) - sole
    scene.add_static(rb.Plane(), position=(0, 0, low), name="ground")
    for name, label in robot.joint_names.items():
        drive = {"gain": 200.0, "rate_time": 0.04, "limit": robot.joints[name].effort_limit}
        scene.add_force(rb.Servo(label, target=pose.get(name, 0.0), **drive), name=f"{name} servo")
    return scene, pose


def stands(scene: rb.Scene, pose: dict[str, float], seconds: float, joints: str) -> None:
    """It sinks a little as its servos yield, comes to rest and stays there."""
    sim = rb.Simulation(scene, time_step=0.002, joints=joints)
    trunk = scene.bodies[0].name
    start = np.array(sim[trunk].position)
    with warnings.catch_warnings():
        # Servos are held to what light legs can follow in a step.
        warnings.simplefilter("ignore", rb.NotConvergedWarning)
        sim.run(1.0)
        settled = np.array(sim[trunk].position)
        sim.run(seconds - 1.0)
    assert np.abs(settled - start).max() < 0.05
    assert np.abs(sim[trunk].position - settled).max() < 1e-3
    assert np.abs(sim.state.velocity).max() < 1e-2
    assert all(sim[name].angle == pytest.approx(angle, abs=0.3) for name, angle in pose.items())


@pytest.mark.contacts
@pytest.mark.parametrize("joints", ["direct", "reduced"])
def test_a_small_quadruped_stands_with_servos(joints: str) -> None:
    scene, pose = standing(MODELS / "urdf" / "dog.urdf", {" hip": 0.5, " knee": -1.0}, " foot", 0.025)
    assert scene["LF shin"].material.friction == 0.9
    stands(scene, pose, 3.0, joints)


@needs_data
@pytest.mark.slow
@pytest.mark.contacts
@pytest.mark.parametrize("joints", ["direct", "reduced"])
def test_a_quadruped_stands_for_ten_seconds(joints: str) -> None:
    path = DATA / "urdf" / "anymal_nomesh.urdf"
    scene, pose = standing(path, {"_HFE": 0.4, "_KFE": -0.8}, "_FOOT", 0.00775)
    stands(scene, pose, 10.0, joints)
