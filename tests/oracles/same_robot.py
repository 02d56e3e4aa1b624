"""Whether two scenes are the same robot: bodies, joints and limits by name, and dynamics at random configurations."""

from typing import Any

import numpy as np
import pytest

import rattleback as rb
from rattleback.joints.stop import stops_of
from rattleback.kinematics.pose import make_pose
from rattleback.maths.rotation import matrix_from_quaternion, quaternion_from_matrix


def frame(point: Any, turn: Any) -> np.ndarray:
    return make_pose(point, matrix_from_quaternion(np.asarray(turn)))


def body_frame(scene: rb.Scene, name: str) -> np.ndarray:
    return np.eye(4) if name == "world" else frame(scene[name].origin, scene[name].orientation)


def joint_frame(scene: rb.Scene, joint: Any, side: int) -> np.ndarray:
    """Frame of a joint on a body, in the world at the start."""
    own = frame(joint.points()[side], joint.frames()[side])
    return body_frame(scene, (joint.a, joint.b)[side]) @ own if joint.in_bodies else own


def articulation(scene: rb.Scene, rotors: bool = True) -> Any:
    return rb.dynamics.Articulation(scene, **({} if rotors else {"armature": 0.0}))


def ball_turns(scene: rb.Scene, robot: Any) -> dict[str, np.ndarray]:
    """Orientations of the frames of ball joints on the bodies that hang by them, in the axes of these bodies."""
    found = {}
    for name, joint in scene.joints.items():
        if isinstance(joint, rb.Ball) and name not in robot.cut_joints:
            found[name] = [
                body_frame(scene, (joint.a, joint.b)[side])[:3, :3].T @ joint_frame(scene, joint, side)[:3, :3]
                for side in (0, 1)
            ]
    return found


def check_dynamics(one: rb.Scene, other: rb.Scene, seed: int, rotors: bool = True, count: int = 100) -> None:
    """Mass matrix, torque of the weight and named frames at random configurations agree to 1e-9 of the largest."""
    first, second = (articulation(scene, rotors) for scene in (one, other))
    assert set(first.rates) == set(second.rates)
    rates = [second.rates.index(name) for name in first.rates]
    balls = ball_turns(one, first), ball_turns(other, second)
    q = first.random(np.random.default_rng(seed), count)
    mapped = np.stack([mapped_configuration(first, second, balls, row) for row in q])
    turn = turn_of_rates(first, second, balls)
    expected = turn @ first.mass_matrix(q) @ turn.T
    found = second.mass_matrix(mapped)[:, rates][:, :, rates]
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-9 * np.abs(expected).max())
    expected = first.gravity_torque(q) @ turn.T
    found = second.gravity_torque(mapped)[:, rates]
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-9 * max(1e-3, np.abs(expected).max()))
    if one.robot and other.robot:
        check_frames((one, first, q), (other, second, mapped))


def mapped_configuration(first: Any, second: Any, balls: Any, q: np.ndarray) -> np.ndarray:
    """The configuration of the second robot in which its bodies lie as those of the first."""
    found = np.array([q[first.coordinates.index(name)] for name in second.coordinates])
    for name, (a, b) in balls[0].items():
        place, own = first.places(name)[0], second.places(name)[0]
        other_a, other_b = balls[1][name]
        turn = other_a.T @ a @ matrix_from_quaternion(q[place]) @ b.T @ other_b
        found[own] = quaternion_from_matrix(turn)
    return found


def turn_of_rates(first: Any, second: Any, balls: Any) -> np.ndarray:
    """Rates of the second robot, in the order of the first, for those of the first."""
    found = np.eye(first.nv)
    for name, (_, b) in balls[0].items():
        place = first.places(name)[1]
        found[place, place] = balls[1][name][1].T @ b
    return found


def hollow(scene: rb.Scene) -> set[str]:
    """Links without mass in the file of a scene, which MJCF has no names for."""
    masses = scene.robot.masses if scene.robot else {}
    return {name for name, (before, _) in masses.items() if before is None}


def check_bodies(one: rb.Scene, other: rb.Scene, atol: float = 1e-9) -> None:
    """Bodies that move have the same names, masses, inertias about their centres in the world, and places."""
    names, found = ({body.name for body in scene.bodies if not body.static} for scene in (one, other))
    assert names - hollow(one) <= found <= names | hollow(other)
    for name in names & found:
        a, b = one[name], other[name]
        turns = [matrix_from_quaternion(body.orientation) for body in (a, b)]
        np.testing.assert_allclose(b.mass, a.mass, rtol=1e-12)
        scale = max(1.0, float(np.abs(a.position).max()))
        np.testing.assert_allclose(b.position, a.position, rtol=0, atol=atol * scale)
        inertias = [turn @ body.inertia @ turn.T for turn, body in zip(turns, (a, b), strict=True)]
        np.testing.assert_allclose(inertias[1], inertias[0], rtol=0, atol=atol * np.abs(a.inertia).max())


def check_joints(one: rb.Scene, other: rb.Scene, skip: tuple[type, ...] = (), posed: bool = True) -> None:
    """Joints of the trees have the same names, kinds and limits, and where the bodies lie alike the same axes."""
    cut = set(articulation(one).cut_joints)
    for name, joint in one.joints.items():
        if name in cut or isinstance(joint, skip):
            continue
        twin = other.joints[name]
        assert type(twin) is type(joint), name
        stops = [sorted((stop.freedom, stop.lower, stop.upper) for stop in stops_of(entry)) for entry in (joint, twin)]
        assert [entry[0] for entry in stops[0]] == [entry[0] for entry in stops[1]], name
        np.testing.assert_allclose([s[1:] for s in stops[1]], [s[1:] for s in stops[0]], rtol=1e-12, atol=1e-12)
        frames = [joint_frame(scene, entry, 0) for scene, entry in ((one, joint), (other, twin))]
        if posed and isinstance(joint, (rb.Revolute, rb.Prismatic, rb.Cylindrical, rb.Screw)):
            np.testing.assert_allclose(frames[1][:3, 2], frames[0][:3, 2], rtol=0, atol=1e-9)


DATA = {
    "urdf": ("effort_limit", "velocity_limit", "damping", "friction_loss"),
    "xml": ("effort_limit", "damping", "friction_loss", "armature", "stiffness", "rest"),
    "usda": ("armature", "friction_loss"),
}
FAR = 1e6


def check_data(one: rb.Scene, other: rb.Scene, ending: str) -> None:
    """Joints of one freedom have the same data, and what follows or drives them is the same, as far as files say."""
    if one.robot is None or other.robot is None:
        return
    cut = set(articulation(one).cut_joints)
    for told, made in one.robot.joint_names.items():
        joint = one.robot.joints[told]
        if made in cut or joint.kind not in ("revolute", "prismatic"):
            continue
        for field in DATA[ending]:
            values = [getattr(joint, field), getattr(other.robot.joints[told], field)]
            first, second = (FAR if value is None or abs(value) > FAR else value for value in values)
            if field.endswith("limit") and 0.0 in (first, second):
                continue
            assert second == pytest.approx(first, rel=1e-9, abs=1e-9), (told, field)
    laws = [{(c.follower, c.leader): c for c in scene.robot.couplings} for scene in (one, other)]
    for pair, coupling in laws[0].items():
        if coupling.linear or ending != "urdf":
            for value in (-0.7, 0.0, 0.9):
                assert laws[1][pair].value(value) == pytest.approx(coupling.value(value), abs=1e-9)
    if ending == "xml":
        check_actuators(one, other)


def check_actuators(one: rb.Scene, other: rb.Scene) -> None:
    """Actuators have the same laws."""
    found = {actuator.name: actuator for actuator in other.robot.actuators}
    for actuator in one.robot.actuators:
        twin = found[actuator.name]
        assert (twin.kind, twin.joints, twin.control_range) == (actuator.kind, actuator.joints, actuator.control_range)
        for field in ("gain", "position_gain", "velocity_gain", "bias", "limit"):
            assert getattr(twin, field) == pytest.approx(getattr(actuator, field)), (actuator.name, field)


def check_frames(one: Any, other: Any) -> None:
    """Named frames lie where they lay, at all configurations."""
    places = []
    for scene, robot, q in (one, other):
        frames = robot.frames(q)
        fixed = {body.name: body_frame(scene, body.name) for body in scene.bodies if body.static}
        moving = {name: frames[:, k] for k, name in enumerate(robot.bodies)}
        bodies = {"world": np.eye(4), **fixed, **moving}
        places.append({name: bodies[body] @ place for name, (body, place) in scene.robot.frames.items()})
    for name, expected in places[0].items():
        # URDF puts the frames of links at their joints, and keeps their own under another name.
        found = places[1].get(f"{name} frame", places[1].get(name))
        if name != "world" and (found is not None or name not in hollow(one[0])):
            np.testing.assert_allclose(found, expected, rtol=0, atol=1e-9 * max(1.0, np.abs(expected).max()))
