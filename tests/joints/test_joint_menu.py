"""Every joint on the menu: what it forbids and what it leaves add up to six, and neither touches the other."""

import functools
from typing import Any

import numpy as np
import pytest
import warp as wp
from scipy.spatial.transform import Rotation

import rattleback as rb
from rattleback.constraints.row import row_of
from rattleback.core.precision import real
from rattleback.joints import MENU
from rattleback.model.state import Motion
from rattleback.problem.joint_rows import Joints, RowDefinitions, definition_of, evaluate_rows, frames_of

DISTANCES = ("distance", "distance_to_line", "distance_to_plane")
CROSSED = ("double_rotation", "universal")
COUPLED = ("screw", "gear", "rack")
# A velocity joint keeps no position: what holds of positions is asked of the others.
KEEPING_POSITIONS = [name for name in MENU if name != "velocity_joint"]
OWNERS = ("world", "base")
SEEDS = range(5)


@wp.kernel(enable_backward=False)
def find_errors(joints: Joints, letters: RowDefinitions, motion: Motion, error: wp.array(dtype=real)) -> None:
    j = wp.tid()
    frames = frames_of(joints, motion, j)
    for k in range(joints.count[j]):
        r = joints.first[j] + k
        error[r] = row_of(definition_of(letters, r), frames).error


class Pair:
    """A body or the world, joined to another body at a random place; the other may be moved along its freedoms."""

    def __init__(self, name: str, owner: str, seed: int) -> None:
        self.name, self.owner, self.rng = name, owner, np.random.default_rng(seed)
        rng, scene = self.rng, rb.Scene(gravity=(0, 0, 0))
        for body in ("base", "arm"):
            scene.add_body(
                rb.Box(0.5, 0.3, 0.2),
                mass=rng.uniform(1.0, 3.0),
                position=rng.uniform(-1.0, 1.0, 3),
                orientation=Rotation.random(rng=rng).as_quat(),
                name=body,
            )
        at, axis = rng.uniform(-1.0, 1.0, 3), rng.standard_normal(3)
        given: dict[str, Any] = {"at": at, "axis": axis}
        if name in DISTANCES:
            given["at_b"] = at + rng.uniform(0.2, 1.0, 3)
        if name in CROSSED:
            given["axis_b"] = np.cross(axis, rng.standard_normal(3))
        given |= self.coupling(at, axis)
        self.joint = scene.add_joint(MENU[name](owner, "arm", **given))
        self.sim = rb.Simulation(scene)
        self.problem = self.sim._step.preview.problem
        base = scene["base"]
        self.first, self.second = (Rotation.from_quat(q) for q in self.joint.frames())
        self.at, self.at_b = self.joint.points()
        arm = Rotation.from_quat(scene["arm"].orientation)
        self.arm_in_frame = self.second.inv() * arm
        self.centre_in_frame = self.second.inv().apply(scene["arm"].position - self.at_b)
        self.base = base
        self.errors_at_the_start = np.empty(0)

    def coupling(self, at: np.ndarray, axis: np.ndarray) -> dict[str, Any]:
        """What only some kinds need."""
        across = np.cross(axis, self.rng.standard_normal(3))
        across /= np.linalg.norm(across)
        return {
            "screw": {"pitch": 0.3},
            "gear": {"at_b": at + 0.9 * across, "ratio": 2.0, "internal": self.rng.random() < 0.5},
            "rack": {"axis_b": across, "radius": 0.2},
            "velocity_joint": {"linear": (0.1, None, 0.0), "angular": (None, None, 2.0)},
        }.get(self.name, {})

    def scatter(self) -> None:
        """Move the owner anywhere and the arm anywhere its freedoms let it go."""
        rng = self.rng
        if self.owner == "base":
            turn, shift = Rotation.random(rng=rng), rng.uniform(-1.0, 1.0, 3)
            self.sim["base"].position = shift + turn.apply(self.base.position.copy())
            self.sim["base"].orientation = (turn * Rotation.from_quat(self.base.orientation.copy())).as_quat()
            self.at, self.at_b = shift + turn.apply(self.at), shift + turn.apply(self.at_b)
            self.first, self.second = turn * self.first, turn * self.second
        way, turn = self.coupled() if self.name in COUPLED else (self.slide(), self.turn())
        self.second = turn
        self.at_b = self.at + self.first.apply(way)
        self.sim["arm"].orientation = (self.second * self.arm_in_frame).as_quat()
        self.sim["arm"].position = self.at_b + self.second.apply(self.centre_in_frame)

    def coupled(self) -> tuple[np.ndarray, Rotation]:
        """Way and orientation after a coupled motion; an angle and what goes with it."""
        angle, other, joint = *self.rng.uniform(-1.0, 1.0, 2), self.joint
        about = Rotation.from_rotvec([0.0, 0.0, angle])
        if self.name == "screw":
            return np.array([0.0, 0.0, joint.pitch * angle / (2.0 * np.pi)]), self.second * about
        if self.name == "rack":
            # The rack turns about the pinion by an angle and moves back along itself by the arc.
            along = self.first * about * self.first.inv() * self.second
            way = along.apply([0.2 + 0.1 * other, 0.3 * other, -joint.radius * angle])
            return self.first.inv().apply(way), along
        # The line of centres turns by the angle; B rolls on A by R_a/R_b of it, the other way inside a ring.
        rolled = (-1 if joint.internal else 1) * joint.radii[0] / joint.radii[1] * angle
        own = Rotation.from_rotvec([0.0, 0.0, angle + rolled])
        line = about.apply(self.first.inv().apply(self.at_b - self.at))
        return line, self.first * own * self.first.inv() * self.second

    def slide(self) -> np.ndarray:
        """A way from anchor to anchor, in the frame of the owner, that the joint allows."""
        rng, way = self.rng, np.zeros(3)
        for k, letter in enumerate("xyz"):
            if f"slide_{letter}" in self.joint.freedoms:
                way[k] = rng.uniform(-1.0, 1.0)
        if self.name == "distance":
            way = rng.standard_normal(3)
            way *= self.joint.length / np.linalg.norm(way)
        if self.name == "distance_to_line":
            angle = rng.uniform(0.0, 2.0 * np.pi)
            way[:2] = self.joint.length * np.array([np.cos(angle), np.sin(angle)])
        if self.name == "distance_to_plane":
            way[2] = self.joint.length
        return way

    def turn(self) -> Rotation:
        """An orientation of the frame on the arm that the joint allows."""
        alpha, beta = (Rotation.from_rotvec([0.0, 0.0, angle]) for angle in self.rng.uniform(-np.pi, np.pi, 2))
        free = {freedom for freedom in self.joint.freedoms if freedom.startswith("turn")}
        if {"turn_x", "turn_y", "turn_z"} <= free:
            return Rotation.random(rng=self.rng)
        if free == {"turn_a", "turn_b"}:
            return self.first * alpha * (self.first.inv() * self.second) * beta
        return self.second * alpha if free == {"turn_z"} else self.second

    def jacobian(self) -> np.ndarray:
        """The rows now, by the velocities of the owner and of the arm."""
        problem, sim, preview = self.problem, self.sim, self.sim._step.preview
        sim.state.send()
        rows, levers, everywhere = problem.rows, preview.levers, preview.everywhere
        inputs = [problem.joints, problem.definitions, sim.state.motion, sim.state.joints, preview.inertias, rows]
        wp.launch(evaluate_rows, 1, inputs=[*inputs, levers, everywhere], device="cpu")
        linear, angular_a, angular_b = (part.numpy() for part in (rows.linear, rows.angular_a, rows.angular_b))
        return np.concatenate([-linear, angular_a, linear, angular_b], axis=1)

    def errors(self) -> np.ndarray:
        problem, sim = self.problem, self.sim
        sim.state.send()
        found = wp.zeros(problem.row_count, dtype=real, device="cpu")
        wp.launch(find_errors, 1, inputs=[problem.joints, problem.definitions, sim.state.motion, found], device="cpu")
        return np.array(found.numpy())

    def freedom_twists(self) -> np.ndarray:
        """Velocities of the arm the freedoms give it, the owner standing still, one a column."""
        lever = self.sim["arm"].position - self.at_b
        axes, own = self.first.as_matrix(), self.second.as_matrix()
        named = {f"turn_{letter}": own[:, k] for k, letter in enumerate("xyz")}
        named |= {"turn_a": axes[:, 2], "turn_b": own[:, 2]}
        columns = []
        for freedom in self.joint.freedoms:
            kind, letter = freedom.split("_")
            if kind == "slide":
                columns.append(np.concatenate([np.zeros(6), axes[:, "xyz".index(letter)], np.zeros(3)]))
            else:
                spin = named[freedom]
                columns.append(np.concatenate([np.zeros(6), np.cross(spin, lever), spin]))
        return np.array(columns).reshape(-1, 12).T


@functools.cache
def scattered(name: str, owner: str, seed: int) -> Pair:
    """A pair that was moved along its freedoms, with the errors it had before; the tests only look at it."""
    pair = Pair(name, owner, seed)
    pair.errors_at_the_start = pair.errors()
    pair.scatter()
    return pair


def test_every_joint_of_the_menu_is_a_public_name() -> None:
    for kind in MENU.values():
        assert getattr(rb, kind.__name__) is kind


@pytest.mark.parametrize("name", MENU)
def test_rows_and_freedoms_add_up_to_six(name: str) -> None:
    joint = scattered(name, "world", 0).joint
    assert len(joint.rows()) + len(joint.freedoms) == 6


@pytest.mark.parametrize("owner", OWNERS)
@pytest.mark.parametrize("name", KEEPING_POSITIONS)
def test_a_joint_holds_at_the_start(name: str, owner: str) -> None:
    for seed in SEEDS:
        np.testing.assert_allclose(scattered(name, owner, seed).errors_at_the_start, 0.0, atol=1e-14)


@pytest.mark.parametrize("owner", OWNERS)
@pytest.mark.parametrize("name", KEEPING_POSITIONS)
def test_a_joint_holds_wherever_its_freedoms_lead(name: str, owner: str) -> None:
    for seed in SEEDS:
        np.testing.assert_allclose(scattered(name, owner, seed).errors(), 0.0, atol=1e-13)


@pytest.mark.parametrize("owner", OWNERS)
@pytest.mark.parametrize("name", MENU)
def test_the_rows_of_a_joint_say_different_things(name: str, owner: str) -> None:
    """The Jacobian by the arm alone has as many independent rows as there are."""
    for seed in SEEDS:
        pair = scattered(name, owner, seed)
        sizes = np.linalg.svd(pair.jacobian()[:, 6:], compute_uv=False)
        assert (sizes > 1e-3).sum() == len(pair.joint.rows())


@pytest.mark.parametrize("owner", OWNERS)
@pytest.mark.parametrize("name", [name for name in KEEPING_POSITIONS if name not in (*DISTANCES, *COUPLED)])
def test_the_rows_do_not_feel_the_freedoms(name: str, owner: str) -> None:
    for seed in SEEDS:
        pair = scattered(name, owner, seed)
        twists = pair.freedom_twists()
        assert np.linalg.matrix_rank(twists) == len(pair.joint.freedoms) if twists.size else not pair.joint.freedoms
        np.testing.assert_allclose(pair.jacobian() @ twists, 0.0, atol=1e-12)


def test_a_screw_does_not_feel_turning_with_its_way() -> None:
    for seed in SEEDS:
        pair = scattered("screw", "base", seed)
        axis = pair.first.apply([0.0, 0.0, 1.0])
        way = np.cross(axis, pair.sim["arm"].position - pair.at_b) + pair.joint.pitch / (2.0 * np.pi) * axis
        twist = np.concatenate([np.zeros(6), way, axis])
        np.testing.assert_allclose(pair.jacobian() @ twist, 0.0, atol=1e-12)


@pytest.mark.parametrize("name", MENU)
def test_a_motion_that_is_not_a_freedom_is_felt(name: str) -> None:
    """Five or fewer freedoms: a twist outside their span changes a row."""
    pair = scattered(name, "world", 3)
    free = np.linalg.svd(pair.jacobian()[:, 6:])[2][len(pair.joint.rows()) :]
    twist = np.random.default_rng(3).standard_normal(6)
    outside = twist - free.T @ (free @ twist)
    assert np.abs(pair.jacobian()[:, 6:] @ outside).max() > 1e-3


@pytest.mark.parametrize(
    ("axis", "turned"), [((0, 0, -1), (0, 0, -1)), ((0, 0, -2), (0, 0, -1)), ((3, 0, 4), (0.6, 0, 0.8))]
)
def test_the_frames_have_the_axis_as_their_z_axis(axis: tuple[float, ...], turned: tuple[float, ...]) -> None:
    for q in rb.Revolute("a", "b", axis=axis).frames():
        np.testing.assert_allclose(Rotation.from_quat(q).apply([0, 0, 1]), turned, atol=1e-15)


@pytest.mark.parametrize("far", [1e-3, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9, 1e-16, 1e-200])
def test_the_frames_are_right_next_to_the_downward_axis(far: float) -> None:
    """The shortest turn from z is hardest to find there."""
    axis = np.array([far, -0.3 * far, -1.0])
    axis /= np.linalg.norm(axis)
    q = rb.Revolute("a", "b", axis=axis).frames()[0]
    np.testing.assert_allclose(Rotation.from_quat(q).apply([0, 0, 1]), axis, atol=1e-15)


def test_the_distance_is_the_one_at_the_start_unless_given() -> None:
    place = {"at": (0, 0, 0), "axis": (0, 0, 1), "at_b": (3, 4, 12)}
    assert rb.Distance("a", "b", **place).length == pytest.approx(13.0, abs=1e-15)
    assert rb.DistanceToLine("a", "b", **place).length == pytest.approx(5.0, abs=1e-15)
    assert rb.DistanceToPlane("a", "b", **place).length == pytest.approx(12.0, abs=1e-15)
    for kind in (rb.Distance, rb.DistanceToLine, rb.DistanceToPlane):
        assert kind("a", "b", **place, length=2.5).length == 2.5


def test_a_plane_may_be_on_the_other_side_or_at_no_distance() -> None:
    assert rb.DistanceToPlane("a", "b", at_b=(1, 2, -0.5)).length == -0.5
    assert rb.DistanceToPlane("a", "b", at_b=(1, 2, 0)).length == 0.0
