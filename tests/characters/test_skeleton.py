import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rattleback as rb
from rattleback.characters import Joint, Pose, Skeleton

ANGLES = st.lists(st.floats(-1.5, 1.5), min_size=12, max_size=12)


def test_joints_come_after_their_parents_and_are_found_by_name(arm: Skeleton) -> None:
    assert arm.names == ("Upper", "Forearm", "Hand", "Hand_end")
    assert arm.children("Forearm") == ("Hand",)
    with pytest.raises(rb.UnknownName, match="'arm' has no joint 'Elbow'"):
        arm.number("Elbow")


def test_forward_is_the_product_of_what_leads_to_a_joint(arm: Skeleton) -> None:
    turn = rb.rotation.quaternion_from_axis_angle((1, 0, 0), 0.7)
    frames = arm.forward(arm.posed({"Upper": turn}))
    about_y = rb.rotation.matrix_from_quaternion(arm.joints[1].rotation)
    about_x = np.array([[1, 0, 0], [0, np.cos(0.7), -np.sin(0.7)], [0, np.sin(0.7), np.cos(0.7)]])
    elbow = np.array([1.0, 2.0, 3.0]) + about_x @ (0, 0, 3.0)
    np.testing.assert_allclose(frames["Forearm"][:3, 3], elbow, atol=1e-14)
    np.testing.assert_allclose(frames["Hand_end"][:3, 3], elbow + about_x @ about_y @ (0, 0, 3.0), atol=1e-14)


@given(angles=ANGLES)
def test_the_tree_of_a_skeleton_is_the_skeleton(angles: list[float]) -> None:
    bent = rb.rotation.quaternion_from_axis_angle((0, 1, 0), 0.3)
    skeleton = Skeleton(
        [Joint("a", "", (1, 2, 3), bent), Joint("b", "a", (0, 0, 2), bent, (2, 2, 2)), Joint("c", "b", (1, 0, 0))]
    )
    tree, q = skeleton.tree(), np.array(angles)
    pose = skeleton.pose_at(q)
    frames = skeleton.forward(pose)
    for name, frame in frames.items():
        np.testing.assert_allclose(tree.forward(q, name)[:3, 3], frame[:3, 3], atol=1e-12)
    np.testing.assert_allclose(skeleton.coordinates(pose), q, atol=1e-9)


def test_inverse_kinematics_works_on_the_tree(arm: Skeleton) -> None:
    tree = arm.tree()
    wanted = np.array([2.0, 4.0, 6.0])
    found = rb.ik.solve(tree, rb.ik.Position(wanted, tool="Hand_end"))
    assert found.reached
    pose = arm.pose_at(found.q)
    np.testing.assert_allclose(arm.forward(pose)["Hand_end"][:3, 3], wanted, atol=1e-6)


def test_limits_of_joints_are_limits_of_the_tree() -> None:
    skeleton = Skeleton([Joint("a"), Joint("b", "a", (1, 0, 0), limits=((-1, 1), None, (0, 2)))])
    tree = skeleton.tree()
    bounds = dict(zip(tree.coordinates, zip(tree.lower, tree.upper, strict=True), strict=True))
    assert bounds["b.turn_z"] == (-1, 1)
    assert bounds["b.turn_y"] == (-np.inf, np.inf)
    assert bounds["b.turn_x"] == (0, 2)


@pytest.mark.parametrize(
    ("joints", "words"),
    [
        ([], "A skeleton has no joints"),
        ([Joint("a"), Joint("a")], "Two joints of a skeleton are called 'a'"),
        (
            [Joint("hip"), Joint("b", "hop")],
            "Joint 'b' hangs on 'hop', which is no joint of the skeleton. Did you mean 'hip'",
        ),
        ([Joint("a", "b"), Joint("b", "a")], "The joints 'a', 'b' hang on each other in a circle"),
    ],
)
def test_what_is_no_skeleton_is_refused(joints: list[Joint], words: str) -> None:
    with pytest.raises(rb.InputError, match=words):
        Skeleton(joints)


def test_what_is_no_joint_and_no_pose_is_refused(arm: Skeleton) -> None:
    with pytest.raises(rb.InputError, match="The limits of joint 'a' are .* three pairs"):
        Joint("a", limits=((1, -1), None, None))
    with pytest.raises(rb.InputError, match="The rotation of a pose has shape"):
        Pose(np.zeros(4), np.zeros((2, 3)), np.ones((2, 3)))
    with pytest.raises(rb.InputError, match="not finite"):
        Pose(np.full((2, 4), np.nan), np.zeros((2, 3)), np.ones((2, 3)))
    with pytest.raises(rb.InputError, match="do not fit each other"):
        Pose(np.ones((3, 4)), np.zeros((2, 3)), np.ones((2, 3)))
    with pytest.raises(rb.InputError, match="single pose; only a stack of poses can be indexed"):
        arm.rest[0]
    with pytest.raises(rb.InputError, match="single pose; only a stack of poses has a length"):
        len(arm.rest)
    with pytest.raises(rb.InputError, match="The pose has 4 joints; 'skeleton' has 1"):
        Skeleton([Joint("a")]).matrices(arm.rest)
    with pytest.raises(rb.InputError, match="its last axis must be 12"):
        arm.pose_at(np.zeros(3))
    with pytest.raises(rb.InputError, match=r"has the scale \[1.0, 2.0, 1.0\] at rest"):
        Skeleton([Joint("a", scale=(1, 2, 1))], "odd").tree()
