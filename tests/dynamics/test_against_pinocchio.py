"""Random trees with every kind of joint Pinocchio has, on the ground or floating, agree with it in everything."""

from typing import Any, NamedTuple

import numpy as np
import pytest

import rattleback as rb
from rattleback.joints import MENU
from rattleback.maths import rotation

pin = pytest.importorskip("pinocchio", reason="Pinocchio is not installed: pip install 'rattleback[oracles]'")

LEAD = 0.3
# The joints of Pinocchio that stand for a joint, one after the other.
SERIES: dict[str, list[str]] = {
    "revolute": ["RZ"],
    "prismatic": ["PZ"],
    "cylindrical": ["PZ", "RZ"],
    "planar": ["PX", "PY", "RZ"],
    "ball": ["Spherical"],
    "fixed": [],
    "fixed_orientation": ["Translation"],
    "point_on_line": ["PZ", "Spherical"],
    "point_on_plane": ["PX", "PY", "Spherical"],
    "common_direction": ["Translation", "RZ"],
    "universal": ["Universal"],
    "double_rotation": ["Translation", "Universal"],
    "screw": ["Helical"],
}
# Pinocchio differentiates its universal joint as if its axes stayed where they are.
HINGED = {**SERIES, "universal": ["RZ", "RX"], "double_rotation": ["Translation", "RZ", "RX"]}
CROSSED = np.array([[0.0, 0.0, 1.0], [0.0, -1.0, 0.0], [1.0, 0.0, 0.0]])
BASES = ("ground", "flying", "slides and a ball")


def joint_model(kind: str) -> Any:
    if kind == "Universal":
        return pin.JointModelUniversal(np.array((0.0, 0.0, 1.0)), np.array((1.0, 0.0, 0.0)))
    if kind == "Helical":
        return pin.JointModelHelicalUnaligned(np.array((0.0, 0.0, 1.0)), LEAD / (2.0 * np.pi))
    return getattr(pin, f"JointModel{kind}")()


def se3(frame: tuple[np.ndarray, np.ndarray]) -> Any:
    return pin.SE3(rotation.matrix_from_quaternion(frame[1]), np.array(frame[0]))


def draw_frame(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    turn = rng.standard_normal(4)
    return rng.uniform(-0.6, 0.6, 3), turn / np.linalg.norm(turn)


def draw_frames(rng: np.random.Generator) -> list[tuple[np.ndarray, np.ndarray]]:
    """Frames on two bodies that are not turned at the start, where the z axes do not point against each other."""
    while True:
        frames = [draw_frame(rng), draw_frame(rng)]
        first, second = (rotation.rotate(turn, np.array((0.0, 0.0, 1.0))) for _, turn in frames)
        if first @ second > 0.0:
            return frames


class Drawn(NamedTuple):
    """A tree in both forms, and a random state of it."""

    robot: rb.dynamics.Articulation
    model: Any
    data: Any
    q: np.ndarray
    v: np.ndarray
    a: np.ndarray
    frames: dict[str, tuple[int, Any]]


def draw(seed: int, base: str, series: dict[str, list[str]]) -> Drawn:
    """A tree of up to ten bodies, in depth-first order; its gravity is not along an axis."""
    rng = np.random.default_rng(seed)
    scene, model = rb.Scene(gravity=rng.uniform(-9.0, 9.0, 3)), pin.Model()
    model.gravity = pin.Motion(np.array(scene.gravity), np.zeros(3))
    frames: dict[str, tuple[int, Any]] = {"world": (0, pin.SE3.Identity())}
    branch: list[str] = []
    for k in range(int(rng.integers(2, 11))):
        body = add_body(scene, rng, f"body{k}")
        if k == 0 and base != "ground":
            joints = ["FreeFlyer"] if base == "flying" else ["Translation", "Spherical"]
            # The coordinates of a floating body are those of its centre of mass.
            end = pin.SE3(np.eye(3), -body.center_of_mass)
            frames[body.name] = hang(model, frames["world"], joints, end, body)
        else:
            branch = branch[: int(rng.integers(base != "ground", len(branch) + 1))]
            parent, kind = branch[-1] if branch else "world", str(rng.choice(list(series)))
            # Pinocchio leaves out of its sums what is fixed to the ground.
            kind = "revolute" if kind == "fixed" and frames[parent][0] == 0 else kind
            first, second = draw_frames(rng)
            options = {"pitch": LEAD} if kind == "screw" else {}
            scene.add_joint(MENU[kind](parent, body, frame_a=first, frame_b=second, **options), f"joint{k}")
            start = frames[parent][0], frames[parent][1] * se3(first)
            frames[body.name] = hang(model, start, series[kind], se3(second).inverse(), body)
        branch.append(body.name)
    robot = rb.dynamics.Articulation(scene)
    v, a = rng.standard_normal((2, robot.nv))
    return Drawn(robot, model, model.createData(), robot.random(rng), v, a, frames)


def add_body(scene: rb.Scene, rng: np.random.Generator, name: str) -> Any:
    mass, turn = rng.uniform(0.5, 4.0), rotation.matrix_from_quaternion(draw_frame(rng)[1])
    x, y, z = mass * rng.uniform(0.01, 0.1, 3)
    inertia = turn @ np.diag([y + z, z + x, x + y]) @ turn.T
    return scene.add_body(mass=mass, inertia=inertia, center_of_mass=rng.uniform(-0.2, 0.2, 3), name=name)


def hang(model: Any, start: tuple[int, Any], kinds: list[str], end: Any, body: Any) -> tuple[int, Any]:
    """Add joints in a row and the body, whose frame is given at their end; returns its joint and its frame in it."""
    joint, place = start
    if not kinds:
        model.appendBodyToJoint(joint, weight(body), place * end)
        return joint, place * end
    for kind in kinds:
        joint = model.addJoint(joint, joint_model(kind), place, f"{body.name}{kind}{model.njoints}")
        place = pin.SE3.Identity()
    frame = pin.SE3(CROSSED, np.zeros(3)) * end if kinds[-2:] == ["RZ", "RX"] or kinds[-1:] == ["Universal"] else end
    model.appendBodyToJoint(joint, weight(body), frame)
    return joint, frame


def weight(body: Any) -> Any:
    return pin.Inertia(body.mass, body.center_of_mass, np.array(body.inertia))


def close(found: np.ndarray, expected: np.ndarray) -> None:
    np.testing.assert_allclose(found, expected, rtol=1e-11, atol=1e-11 * max(1.0, np.abs(expected).max(initial=0.0)))


def compare(seed: int) -> None:
    base = BASES[seed % 3]
    robot, model, data, q, v, a, frames = draw(seed, base, SERIES)
    assert (model.nq, model.nv) == (robot.nq, robot.nv)
    # Pinocchio has the velocity of a flying base in its own axes.
    T, extra = np.eye(robot.nv), np.zeros(robot.nv)
    if base == "flying":
        T[:3, :3] = rotation.matrix_from_quaternion(q[3:7]).T
        extra[:3] = -np.cross(v[3:6], T[:3, :3] @ v[:3])
    u, b = T @ v, T @ a + extra
    tau = pin.rnea(model, data, q, u, b)
    close(robot.inverse(q, v, a), T.T @ tau)
    close(robot.bias(q, v), T.T @ pin.rnea(model, data, q, u, extra))
    close(robot.gravity_torque(q), T.T @ pin.computeGeneralizedGravity(model, data, q))
    M = pin.crba(model, data, q)
    M = np.triu(M) + np.triu(M, 1).T
    close(robot.mass_matrix(q), T.T @ M @ T)
    found = robot.forward(q, v, T.T @ tau)
    expected = np.linalg.solve(T, pin.aba(model, data, q, u, tau) - extra)
    condition = np.linalg.cond(M) if len(M) else 1.0
    np.testing.assert_allclose(
        found, expected, rtol=1e-11, atol=1e-15 * condition * np.abs(expected).max(initial=0.0) + 1e-11
    )
    compare_motion(robot, (model, data), (q, v, u, T), frames)


def compare_motion(
    robot: Any, pair: tuple[Any, Any], state: tuple[Any, ...], frames: dict[str, tuple[int, Any]]
) -> None:
    """Frames, Jacobians and their rates, momentum and energy."""
    (model, data), (q, v, u, T) = pair, state
    point = np.array((0.3, -0.2, 0.1))
    pin.forwardKinematics(model, data, q, u)
    numbers = []
    for name, found in zip(robot.bodies, robot.frames(q), strict=True):
        joint, frame = frames[name]
        close(found, (data.oMi[joint] * frame).homogeneous)
        place = pin.SE3(np.eye(3), frame.act(point))
        numbers.append(model.addFrame(pin.Frame(f"{name} point", joint, place, pin.FrameType.OP_FRAME)))
    data = model.createData()
    pin.computeJointJacobiansTimeVariation(model, data, q, u)
    pin.framesForwardKinematics(model, data, q)
    turning = np.zeros_like(T)
    if not np.array_equal(T, np.eye(len(T))):
        turning[:3, :3] = -pin.skew(v[3:6]) @ T[:3, :3]
    for name, number in zip(robot.bodies, numbers, strict=True):
        J = pin.getFrameJacobian(model, data, number, pin.LOCAL_WORLD_ALIGNED)
        close(robot.jacobian(q, name, point), J @ T)
        # The rate of its universal joint leaves out that the second axis turns with the first.
        if any("Universal" in name for name in model.names):
            continue
        rate = pin.getFrameJacobianTimeVariation(model, data, number, pin.LOCAL_WORLD_ALIGNED)
        close(robot.jacobian_dot(q, v, name, point), rate @ T + J @ turning)
    compare_sums(robot, pair, state)


def compare_sums(robot: Any, pair: tuple[Any, Any], state: tuple[np.ndarray, ...]) -> None:
    (model, data), (q, v, u, T) = pair, state
    close(robot.center_of_mass(q), pin.centerOfMass(model, data, q))
    pin.ccrba(model, data, q, u)
    close(robot.momentum(q, v), data.hg.vector)
    close(robot.momentum_matrix(q), data.Ag @ T)
    kinetic, potential = robot.energy(q, v)
    close(kinetic, pin.computeKineticEnergy(model, data, q, u))
    close(potential, pin.computePotentialEnergy(model, data, q))


def compare_derivatives(seed: int) -> None:
    """Derivatives, where rates and tangents mean the same: without the flying base, universal joints as two hinges."""
    robot, model, data, q, v, a, _ = draw(seed, BASES[0 if seed % 2 else 2], HINGED)
    tau = pin.rnea(model, data, q, v, a)
    slopes = [
        symmetric(found) if k == 2 else found
        for k, found in enumerate(pin.computeRNEADerivatives(model, data, q, v, a))
    ]
    for found, expected in zip(robot.inverse_derivatives(q, v, a), slopes, strict=True):
        close(found, expected)
    answers = pin.computeABADerivatives(model, data, q, v, tau)
    # These are products of the inverse mass matrix and the derivatives above; rounding is that of their factors.
    ease = np.abs(np.linalg.inv(slopes[2])).sum(axis=1).max(initial=0.0)
    for k, (found, expected) in enumerate(zip(robot.forward_derivatives(q, v, tau), answers, strict=True)):
        factor = 1.0 if k == 2 else np.abs(slopes[k]).max(initial=0.0)
        expected = symmetric(expected) if k == 2 else expected
        np.testing.assert_allclose(found, expected, rtol=1e-11, atol=1e-11 * max(1.0, ease * factor))


def symmetric(upper: np.ndarray) -> np.ndarray:
    return np.triu(upper) + np.triu(upper, 1).T


def test_thirty_trees_agree() -> None:
    for seed in range(30):
        compare(seed)


def test_derivatives_of_twenty_trees_agree() -> None:
    for seed in range(20):
        compare_derivatives(seed)


@pytest.mark.slow
def test_two_hundred_trees_agree() -> None:
    for seed in range(30, 230):
        compare(seed)
        compare_derivatives(seed)
