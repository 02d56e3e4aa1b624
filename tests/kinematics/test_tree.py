"""Trees: what is refused, and that frames, limits, tools and mimics are where they should be."""

import time

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import rattleback as rb
from rattleback.kinematics import Link, Mimic, Tree, models

HERE = ((0.0, 0.0, 0.0), (0.0, 0.0, 0.0, 1.0))


def along(x, y, z):
    return ((x, y, z), (0.0, 0.0, 0.0, 1.0))


def slow_frame(tree, q, name):
    """The frame of a link by SciPy's rotations, one link after the other."""
    link = tree.links[tree.link(name)]
    before = slow_frame(tree, q, link.parent) if link.parent else np.eye(4)
    if not link.parent:
        before[:3, :3], before[:3, 3] = Rotation.from_quat(tree.base.orientation).as_matrix(), tree.base.position
    place, motion = np.eye(4), np.eye(4)
    place[:3, :3], place[:3, 3] = Rotation.from_quat(link.place.orientation).as_matrix(), link.place.position
    leader, ratio, offset = link.mimic or (link.name, 1.0, 0.0)
    value = link.offset + offset
    if leader in tree.coordinates:
        value += ratio * q[tree.coordinates.index(leader)]
    if link.joint == "revolute":
        motion[:3, :3] = Rotation.from_rotvec(value * np.array(link.axis)).as_matrix()
    elif link.joint == "prismatic":
        motion[:3, 3] = value * np.array(link.axis)
    return before @ place @ motion


def branched():
    turn = Rotation.from_rotvec([0.3, -0.2, 0.5]).as_quat()
    return Tree(
        [
            Link("hand", "arm", "prismatic", ((0.1, 0.2, 0.3), turn), axis=(1, 2, 2), limits=(-0.2, 0.5), offset=0.1),
            Link("arm", "post", axis=(0, 1, 0), place=along(0, 0, 1), limits=(-1, 2), offset=0.4),
            Link("post", place=((0.5, 0, 0), turn)),
            Link("bolt", "post", "fixed", along(0.1, 0, 0)),
            Link("twin", "post", axis=(1, 0, 0), mimic=Mimic("arm", -2.0, 0.3)),
            Link("other", place=along(0, 3, 0), axis=(1, 1, 0)),
        ],
        tools={"tip": ("hand", along(0, 0, 0.2)), "eye": "twin"},
        base=((1.0, 2.0, 3.0), turn),
    )


def test_frames_of_a_branched_tree_are_those_of_a_slow_walk():
    tree = branched()
    for q in tree.random(20, seed=3):
        frames = tree.frames(q)
        for i, link in enumerate(tree.links):
            np.testing.assert_allclose(frames[i], slow_frame(tree, q, link.name), atol=1e-14)


def test_forward_gives_the_frame_of_tools_and_links():
    tree = branched()
    q = tree.random(4, seed=1).reshape(2, 2, -1)
    tip = np.eye(4)
    tip[2, 3] = 0.2
    assert tree.forward(q).shape == (2, 2, 4, 4)
    np.testing.assert_allclose(tree.forward(q), tree.frames(q)[..., tree.link("hand"), :, :] @ tip, atol=1e-14)
    np.testing.assert_allclose(tree.forward(q, "eye"), tree.frames(q)[..., tree.link("twin"), :, :], atol=1e-14)
    np.testing.assert_allclose(tree.forward(q[0, 0], "bolt"), slow_frame(tree, q[0, 0], "bolt"), atol=1e-14)


def test_limits_are_those_of_the_joint_less_its_offset():
    tree = branched()
    lower = dict(zip(tree.coordinates, tree.lower, strict=True))
    assert lower["arm"] == pytest.approx(-1.4)
    assert lower["hand"] == pytest.approx(-0.3)
    assert lower["post"] == -np.inf


def test_limits_of_a_joint_that_follows_are_limits_of_the_one_it_follows():
    tree = Tree([Link("a", limits=(-3, 3)), Link("b", "a", mimic=Mimic("a", -2.0, 1.0), limits=(-1.0, 2.0))])
    assert (tree.lower[0], tree.upper[0]) == (-0.5, 1.0)


def test_a_limit_may_be_on_one_side_only():
    tree = Tree([Link("a", limits=(None, 1.0)), Link("b", "a", limits=(2.0, np.inf))])
    np.testing.assert_array_equal(tree.lower, [-np.inf, 2.0])
    np.testing.assert_array_equal(tree.upper, [1.0, np.inf])
    assert tree.within_limits(tree.middle)
    assert tree.within_limits(tree.random(100, seed=0)).all()


def test_links_are_sorted_parents_first():
    assert [link.name for link in branched().links] == ["post", "bolt", "twin", "other", "arm", "hand"]


def test_the_path_to_a_tool_starts_at_the_base():
    tree = branched()
    assert [tree.links[i].name for i in tree.path("tip")] == ["post", "arm", "hand"]


def test_random_configurations_are_within_limits_and_the_same_for_the_same_seed():
    tree = models.puma560()
    q = tree.random(1000, seed=4)
    assert tree.within_limits(q).all()
    np.testing.assert_array_equal(q, tree.random(1000, seed=4))
    assert not tree.within_limits(tree.upper + 1e-6)
    assert tree.within_limits(tree.upper + 1e-6, slack=1e-5)


@pytest.mark.slow
def test_a_million_configurations_of_a_six_axis_arm_take_less_than_a_second_on_one_core():
    tree = models.six_axis()
    q = np.tile(tree.random(1000, seed=0), (100, 1))
    tree.forward(q[:10])
    best = np.inf
    for _ in range(3):
        begun = time.process_time()
        tree.forward(q)
        best = min(best, time.process_time() - begun)
    assert best * 10 < 1.0


def test_the_representation_says_what_it_is():
    assert repr(models.puma560()) == "<'puma560': 6 links, 6 coordinates>"
    assert len(models.hand()) == 21


@pytest.mark.parametrize(
    "model", ["planar_2r", "planar_3r", "scara", "puma560", "six_axis", "seven_axis", "snake", "hand"]
)
def test_every_model_is_within_its_own_limits_in_the_middle(model):
    tree = getattr(models, model)()
    assert tree.name == model
    assert tree.within_limits(tree.middle)


def test_the_fingers_of_the_hand_bend_down_together():
    tree = models.hand()
    q = np.zeros(len(tree.coordinates))
    q[tree.coordinates.index("index_middle")] = 0.6
    end, middle = tree.forward(q, "index_end"), tree.forward(q, "index_middle")
    turned = Rotation.from_matrix(middle[:3, :3].T @ end[:3, :3]).as_rotvec()
    np.testing.assert_allclose(turned, [0.0, 0.4, 0.0], atol=1e-14)
    assert tree.forward(q)[2, 3] < 0.0


def test_the_planar_arm_is_the_one_of_the_lecture():
    one, two, a, b = 1.3, 0.7, 0.4, -1.1
    place = models.planar_2r(one, two).forward([a, b])[:3, 3]
    wanted = [one * np.cos(a) + two * np.cos(a + b), one * np.sin(a) + two * np.sin(a + b), 0.0]
    np.testing.assert_allclose(place, wanted, atol=1e-15)


def test_the_slide_of_the_scara_goes_down():
    tree = models.scara()
    high, low = tree.forward([0.1, 0.2, 0.0, 0.3]), tree.forward([0.1, 0.2, 0.15, 0.3])
    np.testing.assert_allclose(low[:3, 3] - high[:3, 3], [0, 0, -0.15], atol=1e-15)


REFUSED = [
    (lambda: Tree([]), "A tree has no links; give at least one."),
    (lambda: Tree([Link("a"), Link("a")]), "Two links are called 'a'; give each a name of its own."),
    (lambda: Tree([Link("arm"), Link("b", "amr")]), "which is no link of the tree. Did you mean 'arm'?"),
    (lambda: Tree([Link("a", "b"), Link("b", "a")]), "The links 'a', 'b' hang on each other in a circle."),
    (lambda: Tree([Link("a", mimic=Mimic("b")), Link("b", joint="fixed")]), "Link 'a' follows 'b', which has no coord"),
    (lambda: Tree([Link("a")], {"tip": 3}), "Tool 'tip' is 3; it must be the name of a link, or (link, frame)."),
    (lambda: Tree([Link("a")], {"tip": "b"}), "'tree' has no link 'b'."),
    (lambda: Tree([Link("a")]).forward([1.0, 2.0]), "its last axis must be 1, one for each of 'a'."),
    (lambda: Tree([Link("a")]).forward([np.nan]), "every number must be finite"),
    (lambda: Tree([Link("a")]).forward([0.0], "b"), "'tree' has no link 'b'."),
    (lambda: Link("a", joint="ball"), "The joint of link 'a' is 'ball'; it may be 'fixed', 'revolute', 'prismatic'."),
    (lambda: Link("a", joint="fixed", limits=(0, 1)), "Link 'a' is fixed; it has no limits, no offset"),
    (lambda: Link("a", limits=(1, 0)), "The limits of link 'a' are 1 and 0; the first must not be above the second."),
    (lambda: Link("a", limits=3), "The limits of link 'a' are 3; they must be two numbers, or None."),
    (
        lambda: Link("a", place=7),
        "The place of link 'a' is 7; it must be a pair (point, quaternion) or a 4 × 4 matrix.",
    ),
    (lambda: Link("a", place=np.ones((4, 4))), "whose last row is [1.0, 1.0, 1.0, 1.0]; it must be (0, 0, 0, 1)."),
    (lambda: Link("a", axis=(0, 0, 0)), "The axis of link 'a' is the zero vector; a direction needs a length."),
    (lambda: models.planar_2r(-1.0), "The first length is -1.0; it must be greater than zero."),
]


@pytest.mark.parametrize(("build", "message"), REFUSED)
def test_what_cannot_be_is_refused_in_a_sentence(build, message):
    with pytest.raises(rb.RattlebackError) as caught:
        build()
    assert message in str(caught.value)
