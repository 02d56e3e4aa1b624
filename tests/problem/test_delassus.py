"""The matrix of all joints, the responses and what impulses do, against dense matrices made with NumPy."""

from typing import Any

import numpy as np
import pytest
import warp as wp
from scipy.spatial.transform import Rotation

import rattleback as rb
from rattleback.core import arrays
from rattleback.joints import MENU
from rattleback.problem.corrections import apply_impulses, find_reactions
from rattleback.problem.delassus import REDUNDANT, Delassus, fill, make_delassus, shared_bodies
from rattleback.problem.joint_rows import evaluate_rows
from rattleback.problem.stiffness import weigh

SEEDS = range(6)


def random_joint(rng: np.random.Generator, a: str, b: str) -> Any:
    name = str(rng.choice(list(MENU)))
    at, axis = rng.uniform(-1.0, 1.0, 3), rng.standard_normal(3)
    given = {"at": at, "axis": axis, "at_b": at + rng.uniform(0.1, 1.0, 3)}
    given["axis_b"] = np.cross(axis, rng.standard_normal(3))
    needed = {
        "screw": {"pitch": 0.3},
        "gear": {"axis_b": None, "ratio": 2.0},
        "velocity_joint": {"linear": (None, 0.1, None), "angular": (0.2, None, None)},
    }
    return MENU[name](a, b, **given | needed.get(name, {}))


def random_mechanism(seed: int, bodies: int = 7, joints: int = 11) -> rb.Scene:
    """Joints of every kind between any two of the bodies, the ground and the world; errors do not matter here."""
    rng = np.random.default_rng(seed)
    scene = rb.Scene()
    scene.add_static(rb.Box(1, 1, 1), name="ground")
    for k in range(bodies):
        scene.add_body(
            rb.Box(*rng.uniform(0.2, 1.0, 3)),
            mass=10.0 ** rng.uniform(-1.0, 1.0),
            position=rng.uniform(-1.0, 1.0, 3),
            orientation=Rotation.random(rng=rng).as_quat(),
            velocity=rng.standard_normal(3),
            angular_velocity=rng.standard_normal(3),
            name=f"body_{k}",
        )
    names = ["world", "ground", *(f"body_{k}" for k in range(bodies))]
    for _ in range(joints):
        a, b = rng.integers(0, len(names)), rng.integers(2, len(names))
        scene.add_joint(
            random_joint(rng, names[b] if a == b else names[a], names[2 + (b - 1) % bodies if a == b else b])
        )
    return scene


class Dense:
    """J and M⁻¹ of a scene's joints at the start."""

    def __init__(self, scene: rb.Scene, worlds: int | None = None) -> None:
        self.sim = rb.Simulation(scene, worlds=worlds)
        self.problem = self.sim._step.preview.problem
        problem, sim, preview = self.problem, self.sim, self.sim._step.preview
        inputs = [sim.model.bodies, sim.state.motion, preview.inertias, preview.everywhere]
        wp.launch(weigh, sim.model.count, inputs=inputs, device="cpu")
        self.evaluate(preview.everywhere)
        self.rows, self.joints = arrays.read(problem.rows), arrays.read(problem.joints)
        self.J = self.spread("angular").T
        self.inverse_mass = np.kron(np.eye(sim.model.worlds), self._inverse_mass(scene))

    def evaluate(self, which: Any) -> None:
        """The rows at the start, in the worlds where ``which`` is 1."""
        problem, sim, preview = self.problem, self.sim, self.sim._step.preview
        inputs = [
            problem.joints,
            problem.definitions,
            sim.state.motion,
            sim.state.joints,
            preview.inertias,
            problem.rows,
        ]
        wp.launch(evaluate_rows, problem.joint_count, inputs=[*inputs, preview.levers, which], device="cpu")

    def spread(self, turn: str) -> np.ndarray:
        """The two sides of the rows at the places of their bodies, one column a row: "angular" or "spin"."""
        found = np.zeros((6 * self.sim.model.count, self.problem.row_count))
        for side, sign in (("a", -1.0), ("b", 1.0)):
            lightness = self.joints[f"inverse_mass_{side}"] if turn == "spin" else np.ones(self.problem.joint_count)
            sides = (self.joints[f"body_{side}"], self.joints["first"], self.joints["count"], sign * lightness)
            for body, first, count, factor in zip(*sides, strict=True):
                for r in range(first, first + count) if body >= 0 else ():
                    found[6 * body : 6 * body + 3, r] += factor * self.rows["linear"][r]
                    found[6 * body + 3 : 6 * body + 6, r] += self.rows[f"{turn}_{side}"][r]
        return found

    @staticmethod
    def _inverse_mass(scene: rb.Scene) -> np.ndarray:
        found = np.zeros((6 * len(scene), 6 * len(scene)))
        for i, body in enumerate(scene.bodies):
            if not body.static:
                turn = Rotation.from_quat(body.orientation.copy()).as_matrix()
                found[6 * i : 6 * i + 3, 6 * i : 6 * i + 3] = np.eye(3) / body.mass
                found[6 * i + 3 : 6 * i + 6, 6 * i + 3 : 6 * i + 6] = turn @ np.linalg.inv(body.inertia) @ turn.T
        return found

    def filled(self) -> np.ndarray:
        """The whole matrix out of the blocks below and on the diagonal; NaN where no block says anything."""
        delassus = make_delassus(self.problem, shared_bodies(self.problem))
        self.fill(delassus, self.sim._step.preview.everywhere)
        blocks, sizes, values = arrays.read(delassus.blocks), delassus.sizes, delassus.entries.value.numpy()
        np.testing.assert_array_equal(blocks["at"], delassus.starts)
        found = np.full((self.problem.row_count,) * 2, np.nan)
        for world in range(self.sim.model.worlds):
            for i, j, at in zip(blocks["row"], blocks["column"], blocks["at"] + world * sizes.entries, strict=True):
                joints = (world * sizes.joints + k for k in (i, j))
                r, s = (np.arange(self.joints["count"][k]) + self.joints["first"][k] for k in joints)
                block = values[at : at + len(r) * len(s)].reshape(len(r), len(s))
                found[np.ix_(r, s)] = block
                found[np.ix_(s, r)] = block.T
        return found

    def apply(self) -> None:
        """What the impulses of the rows do to the velocities, in worlds that are busy."""
        sim, preview, joints = self.sim, self.sim._step.preview, self.problem.joints
        inputs = [joints, self.problem.rows, preview.levers, preview.status, preview.reactions]
        wp.launch(find_reactions, self.problem.joint_count, inputs=inputs, device="cpu")
        acting = [preview.links, preview.levers, preview.reactions, preview.inertias, preview.status]
        inputs = [sim.model.bodies, *acting, sim.state.motion]
        wp.launch(apply_impulses, sim.model.count, inputs=inputs, device="cpu")

    def fill(self, delassus: Delassus, which: Any) -> None:
        """Fill the matrix in the worlds where ``which`` is 1."""
        inputs = [self.problem.joints, self.problem.rows, delassus.blocks, delassus.entries, delassus.sizes, which]
        count = delassus.sizes.blocks * self.sim.model.worlds
        wp.launch(fill, count, inputs=inputs, device="cpu")


@pytest.mark.parametrize("seed", SEEDS)
def test_the_response_of_a_row_is_the_inverse_mass_times_its_jacobian(seed: int) -> None:
    case = Dense(random_mechanism(seed))
    expected = case.inverse_mass @ case.J.T
    np.testing.assert_allclose(case.spread("spin"), expected, atol=1e-12 * np.abs(expected).max())


@pytest.mark.parametrize("seed", SEEDS)
def test_the_blocks_are_those_of_the_dense_matrix(seed: int) -> None:
    case = Dense(random_mechanism(seed))
    expected = case.J @ case.inverse_mass @ case.J.T
    found = case.filled()
    missing = np.isnan(found)
    np.testing.assert_array_equal(expected[missing], 0.0)
    np.testing.assert_allclose(found[~missing], expected[~missing], atol=1e-12 * np.abs(expected).max())


def test_worlds_have_matrices_of_their_own() -> None:
    case = Dense(random_mechanism(3), worlds=3)
    expected = case.J @ case.inverse_mass @ case.J.T
    found = case.filled()
    np.testing.assert_allclose(np.nan_to_num(found), expected, atol=1e-12 * np.abs(expected).max())
    own = case.problem.row_count // 3
    np.testing.assert_array_equal(found[:own, :own], found[own : 2 * own, own : 2 * own])
    assert np.isnan(found[:own, own:]).all()


def only(*worlds: int) -> Any:
    return wp.array(np.array(worlds, dtype=np.int32), device="cpu")


def test_a_world_that_is_not_wanted_keeps_its_rows_bit_for_bit() -> None:
    case = Dense(random_mechanism(2), worlds=3)
    for name in ("linear", "angular_a", "angular_b", "spin_a", "spin_b", "error"):
        getattr(case.problem.rows, name).fill_(7.25)
    for lever in (case.sim._step.preview.levers.a, case.sim._step.preview.levers.b):
        lever.fill_(7.25)
    case.evaluate(only(0, 1, 0))
    found, own = arrays.read(case.problem.rows), case.problem.row_count // 3
    for name in ("linear", "angular_a", "angular_b", "error"):
        assert (found[name][:own] == 7.25).all()
        assert (found[name][2 * own :] == 7.25).all()
        np.testing.assert_array_equal(found[name][own : 2 * own], case.rows[name][own : 2 * own])
    levers, joints = arrays.read(case.sim._step.preview.levers), len(case.problem.names)
    for name in ("a", "b"):
        assert (np.delete(levers[name], slice(joints, 2 * joints), axis=0) == 7.25).all()
        assert (levers[name][joints : 2 * joints] != 7.25).any()


def test_a_world_that_is_not_wanted_keeps_its_matrix_bit_for_bit() -> None:
    case = Dense(random_mechanism(4), worlds=3)
    delassus = make_delassus(case.problem, shared_bodies(case.problem))
    delassus.entries.value.fill_(7.25)
    delassus.entries.least.fill_(7.25)
    case.fill(delassus, only(1, 0, 1))
    middle = slice(delassus.sizes.entries, 2 * delassus.sizes.entries)
    assert (delassus.entries.value.numpy()[middle] == 7.25).all()
    assert (np.delete(delassus.entries.value.numpy(), middle) != 7.25).all()
    own = case.problem.row_count // 3
    assert (delassus.entries.least.numpy()[own : 2 * own] == 7.25).all()


@pytest.mark.parametrize("seed", SEEDS)
def test_the_least_pivot_of_a_row_is_a_small_part_of_its_entry_on_the_diagonal(seed: int) -> None:
    case = Dense(random_mechanism(seed))
    delassus = make_delassus(case.problem, shared_bodies(case.problem))
    case.fill(delassus, case.sim._step.preview.everywhere)
    expected = float(REDUNDANT) * np.diag(case.J @ case.inverse_mass @ case.J.T)
    np.testing.assert_allclose(delassus.entries.least.numpy(), expected, rtol=1e-12)


@pytest.mark.parametrize("seed", SEEDS)
def test_joints_are_neighbours_where_they_share_a_moving_body(seed: int) -> None:
    scene = random_mechanism(seed)
    ends = [{joint.a, joint.b} - {"world", "ground"} for joint in scene.joints.values()]
    expected = {(i, j) for i in range(len(ends)) for j in range(i + 1, len(ends)) if ends[i] & ends[j]}
    assert shared_bodies(Dense(scene).problem) == expected


@pytest.mark.parametrize("worlds", [None, 2])
@pytest.mark.parametrize("seed", SEEDS)
def test_impulses_change_the_velocities_by_the_inverse_mass_times_their_push(seed: int, worlds: int | None) -> None:
    case = Dense(random_mechanism(seed), worlds)
    sim, preview = case.sim, case.sim._step.preview
    impulses = np.random.default_rng(seed).standard_normal(case.problem.row_count)
    case.problem.rows.impulse.assign(impulses)
    preview.status.busy.fill_(1)
    preview.status.scale.fill_(1.0)
    before = np.concatenate([sim.state.velocity, sim.state.angular_velocity], axis=-1).reshape(-1)
    case.apply()
    motion = sim.state.motion
    after = np.concatenate([motion.velocity.numpy(), motion.angular_velocity.numpy()], axis=-1).reshape(-1)
    expected = case.inverse_mass @ case.J.T @ impulses
    np.testing.assert_allclose(after - before, expected, atol=1e-12 * np.abs(expected).max())


def test_impulses_leave_worlds_that_are_done_as_they_are() -> None:
    case = Dense(random_mechanism(1), worlds=2)
    sim, preview = case.sim, case.sim._step.preview
    case.problem.rows.impulse.fill_(1.0)
    preview.status.busy.assign(np.array([0, 1], dtype=np.int32))
    preview.status.scale.fill_(1.0)
    before = sim.state.velocity.copy()
    case.apply()
    after = sim.state.motion.velocity.numpy().reshape(before.shape)
    np.testing.assert_array_equal(after[0], before[0])
    assert np.abs(after[1] - before[1]).max() > 0.1


@pytest.mark.parametrize("seed", SEEDS)
def test_static_bodies_and_the_world_are_never_pushed(seed: int) -> None:
    case = Dense(random_mechanism(seed))
    assert np.abs(case.spread("spin")[:6]).max() == 0.0
