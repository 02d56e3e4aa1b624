"""The drawing of an arm: every piece is where forward kinematics puts it."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import rattleback as rb
from rattleback.kinematics import Link, Look, Tree
from rattleback.viewer.arm.drawing import TOOL, TURNING, Arm, Ellipsoid, base_height, extent, parts_of, thickness
from rattleback.viewer.arm.problem import MODELS
from rattleback.viewer.front import Front
from rattleback.viewer.gate import Gate
from rattleback.viewer.server import make_server, stop_server


@pytest.fixture
def scene():
    server = make_server(Gate(), Front("arm"), "127.0.0.1", port=0)
    yield server.scene
    stop_server(server)


def drawn(arm):
    """Place and turn of every piece on the page, in the order of the parts."""
    count = len(arm.crowd.rows)
    place, turn = np.zeros((count, 3)), np.zeros((count, 4))
    for batch in arm.crowd.batches:
        place[batch.members], turn[batch.members] = batch.handle.batched_positions, batch.handle.batched_wxyzs
    return place, Rotation.from_quat(np.roll(turn, -1, axis=1)).as_matrix()


@pytest.mark.parametrize("name", ["puma560", "scara", "hand"])
def test_pieces_are_fastened_to_the_frames_of_their_links(scene, name):
    tree = MODELS[name]()
    arm = Arm(scene, tree, tree.middle)
    q = tree.random(1, seed=5)[0]
    arm.place(q)
    place, turn = drawn(arm)
    frames = np.concatenate([tree.frames(q), np.eye(4)[None]])
    for k, part in enumerate(parts_of(tree)):
        own = np.eye(4)
        own[:3, :3] = Rotation.from_quat(part.piece.orientation).as_matrix()
        own[:3, 3] = part.piece.position
        expected = frames[part.row] @ own
        np.testing.assert_allclose(place[k], expected[:3, 3], atol=1e-6)
        np.testing.assert_allclose(turn[k], expected[:3, :3], atol=1e-6)


@pytest.mark.parametrize("name", list(MODELS))
def test_a_stick_runs_from_every_joint_to_the_next_and_a_ball_marks_each_tool(scene, name):
    tree = MODELS[name]()
    parts, radius = parts_of(tree), thickness(tree)
    tubes = [part for part in parts if part.piece.key == "tube"]
    for link in tree.links:
        length = np.linalg.norm(link.place.position)
        if link.parent and length > 1e-6:
            row = tree.link(link.parent)
            assert any(
                part.row == row
                and np.allclose(part.piece.position, 0.5 * np.array(link.place.position))
                and np.isclose(part.piece.scale[2], length)
                for part in tubes
            )
    balls = [part for part in parts if part.colour == TOOL]
    assert len(balls) == len(tree.tools)
    assert 0.0 < radius < tree.size


def test_the_mark_of_a_hinge_lies_along_its_axis():
    tree = Tree([Link("arm", axis=(0.0, 1.0, 0.0))], {"tip": ("arm", ((1.0, 0.0, 0.0), (0.0, 0.0, 0.0, 1.0)))})
    (mark,) = [part for part in parts_of(tree) if part.colour == TURNING]
    axis = Rotation.from_quat(mark.piece.orientation).apply((0.0, 0.0, 1.0))
    np.testing.assert_allclose(axis, (0.0, 1.0, 0.0), atol=1e-12)


def test_an_arm_on_a_post_of_its_own_stands_on_the_ground_others_are_lifted():
    assert base_height(MODELS["six_axis"]()) == 0.0
    assert base_height(MODELS["puma560"]()) > 0.0


def test_a_look_of_ones_own_takes_the_place_of_sticks(scene):
    tree = MODELS["planar_2r"]()
    look = Look({"joint1": rb.Placed(rb.Box(1.0, 0.1, 0.1), position=(0.5, 0.0, 0.0))})
    parts = parts_of(tree, look)
    boxes = [part for part in parts if part.piece.key == "box"]
    assert [(part.row, part.piece.scale) for part in boxes] == [(0, (1.0, 0.1, 0.1))]
    assert not [part for part in parts if part.piece.key == "tube"]


def test_the_ellipsoid_holds_the_velocities_of_unit_rates(scene):
    tree = MODELS["puma560"]()
    q = tree.random(1, seed=2)[0]
    ellipsoid = Ellipsoid(scene, tree)
    ellipsoid.place(q, "tip")
    handle = ellipsoid.handle
    turn = Rotation.from_quat(np.roll(handle.batched_wxyzs[0], -1)).as_matrix()
    half = handle.batched_scales[0] / ellipsoid.seconds
    rates = np.random.default_rng(0).normal(size=(500, 6))
    velocity = (rates / np.linalg.norm(rates, axis=1, keepdims=True)) @ tree.jacobian(q)[:3].T
    inside = np.linalg.norm((velocity @ turn) / half, axis=1)
    assert inside.max() <= 1.0 + 1e-5
    np.testing.assert_allclose(handle.batched_positions[0], tree.forward(q)[:3, 3], atol=1e-6)


@pytest.mark.parametrize("name", ["planar_3r", "puma560"])
def test_the_ellipsoid_leaves_the_arm_to_be_seen(scene, name):
    tree = MODELS[name]()
    ellipsoid, arm = Ellipsoid(scene, tree), extent(tree)
    for q in [tree.middle, *tree.random(20, seed=4)]:
        ellipsoid.place(q, "tip")
        assert ellipsoid.handle.batched_scales.max() < 0.5 * arm
    ellipsoid.place(tree.middle, "tip")
    assert ellipsoid.handle.batched_scales.max() == pytest.approx(Ellipsoid.PART * arm)


def test_a_removed_arm_leaves_nothing(scene):
    tree = MODELS["planar_2r"]()
    arm = Arm(scene, tree, tree.middle)
    before = len(scene._handle_from_node_name)
    arm.remove()
    assert len(scene._handle_from_node_name) <= before - len(arm.crowd.batches)
