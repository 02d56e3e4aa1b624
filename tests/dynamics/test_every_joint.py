"""Every joint with coordinates, from A to B and from B to A: its rows hold, and it moves as dense constraints say."""

import functools

import numpy as np
import pytest
import warp as wp
from hypothesis import given, settings
from hypothesis import strategies as st

import rattleback as rb
from rattleback.constraints.bias import rates_of, row_bias
from rattleback.constraints.evaluation import definitions_of, evaluate, frames_of
from rattleback.constraints.frame import Frames
from rattleback.constraints.row import RowDefinition
from rattleback.core.precision import real, vec3
from rattleback.joints import MENU
from rattleback.maths import rotation
from rattleback.reduced.spanning import frame_on

PLACED = {"at": (0.3, 0.2, 0.9), "axis": (0.3, 0.8, 0.5)}
APART = {**PLACED, "at_b": (0.5, 0.4, 1.3)}
CROSSED = {"at": PLACED["at"], "axis": (1.0, 0.0, 0.2), "axis_b": (-0.2, 0.4, 1.0)}
OPTIONS = {
    **dict.fromkeys(("double_rotation", "universal"), CROSSED),
    **dict.fromkeys(("distance", "distance_to_line", "distance_to_plane"), APART),
    "screw": {**PLACED, "pitch": 0.4},
}
NAMES = [name for name in MENU if name not in ("gear", "rack", "velocity_joint")]
CASES = [(name, forward) for name in NAMES for forward in (True, False)]


@wp.kernel(enable_backward=False)
def find_biases(
    definitions: wp.array[RowDefinition], frames: wp.array[Frames], twist: wp.array2d[vec3], out: wp.array[real]
) -> None:
    i = wp.tid()
    out[i] = row_bias(
        definitions[i], frames[0], rates_of(frames[0], twist[0, 0], twist[0, 1], twist[0, 2], twist[0, 3])
    )


class Pair:
    """Two bodies that float, joined by a joint, with a third one on a hinge."""

    def __init__(self, name: str, forward: bool) -> None:
        scene = rb.Scene()
        for k, body in enumerate(("owner", "arm", "tip")):
            turn = rotation.random(3, 5)[k]
            scene.add_body(
                rb.Box(0.3 + 0.1 * k, 0.4, 0.5), mass=1.0 + k, position=(0.4 * k, 0.1, 1.0), orientation=turn, name=body
            )
        ends = ("owner", "arm") if forward else ("arm", "owner")
        self.joint = scene.add_joint(MENU[name](*ends, **OPTIONS.get(name, PLACED)), "joint")
        scene.add_joint(rb.Revolute("arm", "tip", at=(0.6, 0.1, 1.0), axis=(1, 1, 0)), "hinge")
        self.scene, self.robot = scene, rb.dynamics.Articulation(scene)
        rng = np.random.default_rng(11)
        self.q, self.v = self.robot.random(rng), rng.standard_normal(self.robot.nv)
        self.wrenches = rng.standard_normal((3, 6))

    def rows(self, name: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Errors, Jacobian by the velocities of all bodies and J̇ V of a joint, at the configuration."""
        joint, robot = self.scene.joints[name], self.robot
        x, turn, v, w = robot.motion(self.q, self.v)
        sides = [robot.bodies.index(side) for side in (joint.a, joint.b)]
        columns = {}
        for letter, side, (point, own) in zip(
            "ab", sides, (frame_on(self.scene, joint, s) for s in (0, 1)), strict=True
        ):
            columns[f"turn_{letter}"] = rotation.multiply(turn[side], own)[None]
            columns[f"lever_{letter}"] = rotation.rotate(turn[side], point)[None]
        columns["way"] = x[sides[1]] + columns["lever_b"] - x[sides[0]] - columns["lever_a"]
        places = robot.places(name)[0] if name in {label for _, label, *_ in robot.moves} else None
        columns["angle"] = self.q[places][-1:] if joint.freedoms == ("turn_z",) else np.zeros(1)
        definitions, frames = definitions_of(joint.rows()), frames_of(columns)
        errors, found = evaluate(definitions, np.zeros(len(definitions), dtype=np.int32), frames)
        J = np.zeros((len(errors), 3, 6))
        J[:, sides[0]], J[:, sides[1]] = found[:, :2].reshape(-1, 6), found[:, 2:].reshape(-1, 6)
        twist = np.stack([v[sides[0]], w[sides[0]], v[sides[1]], w[sides[1]]])[None]
        out = wp.zeros(len(errors), dtype=real, device="cpu")
        given = [wp.array(definitions, dtype=RowDefinition, device="cpu"), wp.array(frames, dtype=Frames, device="cpu")]
        wp.launch(find_biases, len(errors), [*given, wp.array(twist, dtype=vec3, device="cpu")], [out], device="cpu")
        return errors, J.reshape(-1, 18), out.numpy()

    def all_rows(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        first, second = self.rows("joint"), self.rows("hinge")
        errors, J, bias = (np.concatenate(parts) for parts in zip(first, second, strict=True))
        return errors, J, bias

    def dense(self) -> np.ndarray:
        """Accelerations of all bodies, from M V̇ − Jᵀ λ = F and J V̇ = −J̇ V."""
        _, J, bias = self.all_rows()
        _, turn, _, w = self.robot.motion(self.q, self.v)
        M, F = np.zeros((18, 18)), np.zeros(18)
        for k, name in enumerate(self.robot.bodies):
            body, R, e = self.scene[name], rotation.matrix_from_quaternion(turn[k]), 6 * k
            inertia = R @ body.inertia @ R.T
            M[e : e + 3, e : e + 3], M[e + 3 : e + 6, e + 3 : e + 6] = body.mass * np.eye(3), inertia
            F[e : e + 6] = self.wrenches[k]
            F[e : e + 3] += body.mass * self.scene.gravity
            F[e + 3 : e + 6] -= np.cross(w[k], inertia @ w[k])
        n = len(bias)
        whole = np.block([[M, -J.T], [J, np.zeros((n, n))]])
        return np.linalg.solve(whole, np.concatenate([F, -bias]))[:18]

    def jacobians(self) -> tuple[np.ndarray, np.ndarray]:
        """Jacobians of the centres of mass of all bodies and their rates (18, nv)."""
        robot, found = self.robot, ([], [])
        for name in robot.bodies:
            center = self.scene[name].center_of_mass
            found[0].append(robot.jacobian(self.q, name, center))
            found[1].append(robot.jacobian_dot(self.q, self.v, name, center))
        return np.concatenate(found[0]), np.concatenate(found[1])


@functools.cache
def pair(name: str, forward: bool) -> Pair:
    return Pair(name, forward)


@pytest.mark.parametrize(("name", "forward"), CASES)
def test_the_rows_of_a_joint_hold_at_any_coordinates_and_rates(name: str, forward: bool) -> None:
    errors, J, bias = pair(name, forward).all_rows()
    S, rate = pair(name, forward).jacobians()
    v = pair(name, forward).v
    np.testing.assert_allclose(errors, 0.0, atol=1e-14)
    np.testing.assert_allclose(J @ S, 0.0, atol=1e-14)
    # J S = 0 at all times, so that J Ṡ v = −J̇ S v.
    np.testing.assert_allclose(J @ rate @ v, -bias, atol=1e-12)
    assert len(v) + len(errors) == 18


@pytest.mark.parametrize(("name", "forward"), CASES)
def test_forward_dynamics_agrees_with_dense_constraints(name: str, forward: bool) -> None:
    case = pair(name, forward)
    a = case.robot.forward(case.q, case.v, np.zeros(case.robot.nv), case.wrenches)
    S, rate = case.jacobians()
    expected = case.dense()
    np.testing.assert_allclose(S @ a + rate @ case.v, expected, rtol=1e-10, atol=1e-10 * np.abs(expected).max())


@pytest.mark.parametrize(("name", "forward"), CASES)
def test_inverse_dynamics_gives_the_forces_of_forward_dynamics_back(name: str, forward: bool) -> None:
    case = pair(name, forward)
    tau = np.random.default_rng(2).standard_normal(case.robot.nv)
    a = case.robot.forward(case.q, case.v, tau, case.wrenches)
    scale = np.abs(case.robot.mass_matrix(case.q) @ a).max()
    np.testing.assert_allclose(case.robot.inverse(case.q, case.v, a, case.wrenches), tau, atol=1e-13 * max(scale, 1.0))


@pytest.mark.parametrize(("name", "forward"), CASES)
def test_velocities_are_the_rates_of_poses(name: str, forward: bool) -> None:
    case, h = pair(name, forward), 1e-5
    _, _, v, w = case.robot.motion(case.q, case.v)
    (x0, q0), (x1, q1) = (case.robot.motion(case.robot.integrate(case.q, case.v, s * h), case.v)[:2] for s in (-1, 1))
    np.testing.assert_allclose((x1 - x0) / (2 * h), v, atol=1e-8)
    spin = rotation.rotation_vector_from_quaternion(rotation.multiply(q1, rotation.conjugate(q0))) / (2 * h)
    np.testing.assert_allclose(spin, w, atol=1e-8)


@pytest.mark.parametrize(("name", "forward"), CASES)
def test_coordinates_are_read_back_from_a_simulation(name: str, forward: bool) -> None:
    case = pair(name, forward)
    sim = rb.Simulation(case.scene, time_step=0.01)
    case.robot.move_to(sim, case.q, case.v)
    q, v = case.robot.coordinates_of(sim)
    np.testing.assert_allclose(case.robot.difference(case.q, q), 0.0, atol=1e-13)
    np.testing.assert_allclose(
        v[: -6 if name == "distance" else None], case.v[: -6 if name == "distance" else None], atol=1e-12
    )
    for found, expected in zip(case.robot.motion(q, v), case.robot.motion(case.q, case.v), strict=True):
        np.testing.assert_allclose(
            np.abs(found) if found.shape[-1] == 4 else found,
            np.abs(expected) if found.shape[-1] == 4 else expected,
            atol=1e-12,
        )


@pytest.mark.parametrize(("name", "forward"), CASES)
def test_derivatives_of_inverse_dynamics_agree_with_differences(name: str, forward: bool) -> None:
    case, h = pair(name, forward), 1e-5
    robot, q, v = case.robot, case.q, case.v
    a, units = np.random.default_rng(4).standard_normal(robot.nv), np.eye(robot.nv)
    by_q, by_v, by_a = robot.inverse_derivatives(q, v, a, case.wrenches)
    ways = [robot.integrate(np.tile(q, (robot.nv, 1)), s * h * units) for s in (-1, 1)]
    low, high = (robot.inverse(way, v, a, case.wrenches) for way in ways)
    np.testing.assert_allclose(by_q, (high - low).T / (2 * h), atol=1e-8 * np.abs(by_q).max())
    low, high = (robot.inverse(q, v + s * h * units, a, case.wrenches) for s in (-1, 1))
    np.testing.assert_allclose(by_v, (high - low).T / (2 * h), atol=1e-8 * np.abs(by_v).max())
    np.testing.assert_allclose(by_a, robot.mass_matrix(q), atol=1e-13)


@settings(max_examples=40, deadline=None)
@given(name=st.sampled_from(NAMES), forward=st.booleans(), seed=st.integers(0, 2**31))
def test_a_difference_leads_from_one_configuration_to_the_other(name: str, forward: bool, seed: int) -> None:
    robot, rng = pair(name, forward).robot, np.random.default_rng(seed)
    q0, q1 = robot.random(rng, 2)
    step = robot.difference(q0, q1)
    reached = robot.integrate(q0, step)
    np.testing.assert_allclose(robot.frames(reached), robot.frames(q1), atol=1e-12)
    np.testing.assert_allclose(robot.difference(q0, reached), step, atol=1e-11)
    np.testing.assert_allclose(robot.difference(q0, q0), 0.0, atol=1e-15)


@pytest.mark.parametrize(("name", "forward"), CASES)
def test_derivatives_of_forward_dynamics_agree_with_differences(name: str, forward: bool) -> None:
    case, h = pair(name, forward), 1e-5
    robot, q, v = case.robot, case.q, case.v
    tau, units = np.random.default_rng(5).standard_normal(robot.nv), np.eye(robot.nv)
    by_q, by_v, by_tau = robot.forward_derivatives(q, v, tau, case.wrenches)
    ways = [robot.integrate(np.tile(q, (robot.nv, 1)), s * h * units) for s in (-1, 1)]
    low, high = (robot.forward(way, v, tau, case.wrenches) for way in ways)
    np.testing.assert_allclose(by_q, (high - low).T / (2 * h), atol=1e-7 * np.abs(by_q).max())
    low, high = (robot.forward(q, v + s * h * units, tau, case.wrenches) for s in (-1, 1))
    np.testing.assert_allclose(by_v, (high - low).T / (2 * h), atol=1e-7 * np.abs(by_v).max())
    np.testing.assert_allclose(by_tau @ robot.mass_matrix(q), units, atol=1e-11)


@pytest.mark.parametrize(("name", "forward"), CASES)
def test_the_rate_of_a_jacobian_agrees_with_differences(name: str, forward: bool) -> None:
    case, h, point = pair(name, forward), 1e-5, (0.2, -0.1, 0.3)
    ways = [case.robot.integrate(case.q, case.v, s * h) for s in (-1, 1)]
    for body in case.robot.bodies:
        low, high = (case.robot.jacobian(way, body, point) for way in ways)
        found = case.robot.jacobian_dot(case.q, case.v, body, point)
        np.testing.assert_allclose(found, (high - low) / (2 * h), atol=1e-8 * np.abs(found).max(initial=1.0))


@pytest.mark.parametrize("name", [name for name in NAMES if name != "distance"])
def test_the_linear_system_says_how_deviations_grow(name: str) -> None:
    robot, q, v = pair(name, True).robot, pair(name, True).q, pair(name, True).v
    rng, h, e = np.random.default_rng(6), 1e-4, 1e-5
    tau, n = rng.standard_normal(robot.nv), robot.nv
    A, B = robot.linearize(q, v, tau)
    x, u = rng.standard_normal(2 * n), rng.standard_normal(n)

    def after(sign: float, time: float) -> tuple[np.ndarray, np.ndarray]:
        """A state that deviates, after a short time, by the midpoint rule."""
        start, rate, force = robot.integrate(q, sign * e * x[:n]), v + sign * e * x[n:], tau + sign * e * u
        half = rate + 0.5 * time * robot.forward(start, rate, force)
        middle = robot.integrate(start, rate, 0.5 * time)
        return robot.integrate(start, half, time), rate + time * robot.forward(middle, half, force)

    grown = []
    for time in (-h, h):
        low, high = after(-1.0, time), after(1.0, time)
        grown.append(np.concatenate([robot.difference(low[0], high[0]), high[1] - low[1]]) / (2 * e))
    expected = (grown[1] - grown[0]) / (2 * h)
    np.testing.assert_allclose(A @ x + B @ u, expected, atol=1e-5 * np.abs(expected).max())
