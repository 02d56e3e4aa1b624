"""Scenes with joints: built as described, closed where they should be, starting with joints that already agree."""

import numpy as np
import pytest

import rattleback as rb
from rattleback.scenes import (
    MENU,
    bricard,
    chain,
    four_bar,
    heavy_top,
    loops,
    mass_ladder,
    pendulum,
    rope,
    six_bar,
    tree,
)

JOINTED = [name for name, entry in MENU.items() if entry.build().joints]


def point_velocity(scene: rb.Scene, name: str, point: np.ndarray) -> np.ndarray:
    if name == "world":
        return np.zeros(3)
    body = scene[name]
    return body.velocity + np.cross(body.angular_velocity, point - body.position)


def cross_matrix(r: np.ndarray) -> np.ndarray:
    return np.array([[0, -r[2], r[1]], [r[2], 0, -r[0]], [-r[1], r[0], 0]])


def projected_chain(count: int) -> np.ndarray:
    """The pushes of a chain projected onto its joints in the metric of the masses, dense: (count, 6)."""
    angle = np.random.default_rng(count).uniform(0, 2 * np.pi, count)
    u = np.zeros((count, 6))
    u[:, 0], u[:, 1] = 2 * np.cos(angle), 2 * np.sin(angle)
    across, along = (0.1**2 + 1.0) / 12, 2 * 0.1**2 / 12
    weight = np.diag(np.tile([1, 1, 1, 1 / across, 1 / across, 1 / along], count))
    jacobian = np.zeros((3 * count, 6 * count))
    for k in range(count):
        for body, sign in ((k - 1, -1), (k, 1)):
            if body >= 0:
                lever = np.array([0, 0, -float(k)]) - [0, 0, -body - 0.5]
                jacobian[3 * k : 3 * k + 3, 6 * body : 6 * body + 3] = sign * np.eye(3)
                jacobian[3 * k : 3 * k + 3, 6 * body + 3 : 6 * body + 6] = -sign * cross_matrix(lever)
    right = weight @ jacobian.T
    flat = u.ravel() - right @ np.linalg.solve(jacobian @ right, jacobian @ u.ravel())
    return flat.reshape(count, 6)


@pytest.mark.parametrize("name", JOINTED)
def test_no_joint_comes_apart_at_the_start(name):
    scene = MENU[name].build()
    for joint in scene.joints.values():
        at = np.array(joint.at)
        if isinstance(joint, rb.Distance):
            assert np.linalg.norm(np.subtract(joint.at_b, at)) == pytest.approx(joint.length, abs=1e-15)
        else:
            apart = point_velocity(scene, joint.a, at) - point_velocity(scene, joint.b, at)
            if isinstance(joint, rb.Prismatic):
                apart -= np.dot(apart, joint.axis) * np.array(joint.axis)
            np.testing.assert_allclose(apart, 0.0, rtol=0, atol=1e-12)


@pytest.mark.parametrize("count", [1, 2, 10, 50])
def test_the_chain_starts_with_the_motion_nearest_to_its_pushes(count):
    found = [np.concatenate([body.velocity, body.angular_velocity]) for body in chain(count).bodies]
    np.testing.assert_allclose(found, projected_chain(count), rtol=0, atol=1e-12)


@pytest.mark.parametrize("depth", [1, 2, 5, 8])
@pytest.mark.parametrize("hanging", [False, True])
def test_a_tree_has_the_bars_of_the_dissertation(depth, hanging):
    scene = tree(depth, hanging)
    lengths = sorted((body.shape.z for body in scene.bodies), reverse=True)
    expected = [0.1 * 1.5 ** (depth - 1 - level) for level in range(depth) for _ in range(2**level)]
    np.testing.assert_allclose(lengths, expected, rtol=1e-12)
    assert len(scene.joints) == len(scene) == 2**depth - 1
    assert sum(body.mass for body in scene.bodies) == pytest.approx(600 * 0.04**2 * sum(expected))


@pytest.mark.parametrize("hanging", [False, True])
def test_children_are_pinned_to_the_ends_of_their_parents_top_or_bottom_face(hanging):
    scene = tree(3, hanging)
    height = -0.02 if hanging else 0.02
    for joint in scene.joints.values():
        child = scene[joint.b]
        np.testing.assert_allclose(np.array(joint.at) - child.position, [0, 0, 0.02], atol=1e-15)
        if joint.a != "world":
            parent = scene[joint.a]
            way = np.array(joint.at) - parent.position
            assert way[2] == pytest.approx(height, abs=1e-15)
            assert np.hypot(*way[:2]) == pytest.approx(0.5 * parent.shape.z)


def test_the_twist_of_the_tree_acts_on_its_top_bar_for_the_first_step_only():
    sim = rb.Simulation(tree(6), time_step=1 / 30)
    for _ in range(3):
        sim.step()
        assert sim.momentum().angular[2] == pytest.approx(10 / 30, abs=1e-12)


@pytest.mark.parametrize("count", [1, 2, 5])
def test_the_four_bars_have_one_crank_more_than_couplers_and_thin_rods(count):
    scene = four_bar(count)
    assert len(scene) == 2 * count + 1
    assert len(scene.joints) == 3 * count + 1
    for body in scene.bodies:
        assert body.mass == pytest.approx(1.0)
        turned = rb.rotation.matrix_from_quaternion(body.orientation)
        assert (turned @ body.inertia @ turned.T)[1, 1] == pytest.approx(1 / 12)


def test_every_loop_has_one_longer_bar_and_closes():
    scene = loops(3, long=1.4)
    assert len(scene) == 9
    assert len(scene.joints) == 12
    lengths = [body.shape.x for body in scene.bodies]
    np.testing.assert_allclose(lengths, [1.0, 1.4, 1.0] * 3, rtol=1e-12)
    for joint in scene.joints.values():
        for name in (joint.a, joint.b):
            if name != "world":
                body = scene[name]
                reach = np.linalg.norm(np.array(joint.at) - body.position)
                assert reach == pytest.approx(0.5 * body.shape.x)


@pytest.mark.parametrize("build", [bricard, six_bar])
def test_the_joints_of_a_six_bar_lie_at_the_ends_of_its_bars_and_across_them(build):
    scene = build()
    assert len(scene.joints) == 6
    for joint in scene.joints.values():
        for name in (joint.a, joint.b):
            if name != "world":
                size, way = (
                    np.array([getattr(scene[name].shape, side) for side in "xyz"]),
                    np.array(joint.at) - scene[name].position,
                )
                assert np.linalg.norm(way) == pytest.approx(0.5 * size.max())
                assert np.dot(way, joint.axis) == pytest.approx(0.0, abs=1e-15)


def test_the_rope_and_the_ladder_are_straight_and_end_where_they_should():
    away = np.array([np.sin(0.3), 0, -np.cos(0.3)])
    np.testing.assert_allclose(rope(7, angle=0.3).bodies[-1].position, 0.65 * away, atol=1e-15)
    ladder = mass_ladder(50.0, 4, angle=0.3)
    assert ladder["load"].mass == pytest.approx(50.0)
    assert len(ladder) == 5
    np.testing.assert_allclose(ladder["load"].position, 0.6 * away, atol=1e-15)


def test_the_pendulum_and_the_top_start_as_their_published_problems():
    np.testing.assert_allclose(pendulum().bodies[0].position, [1, 0, 0], atol=1e-15)
    top = heavy_top().bodies[0]
    np.testing.assert_allclose(top.velocity, np.cross([0, 150, -4.61538], [0, 1, 0]))
    assert top.mass == 15.0
