"""Who may collide with whom: joints, exclusions by hand, by group and by predicate, exceptions, and categories."""

import functools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rattleback as rb
from rattleback.model.filter import category_bits, excluded_pairs


def crowd(count=5, **options):
    """A scene of balls b0, b1, … far from one another."""
    scene = rb.Scene(name="crowd")
    for index in range(count):
        scene.add_body(rb.Sphere(0.1), name=f"b{index}", position=(index, 0, 0), **options)
    return scene


def test_bodies_that_nothing_separates_may_meet():
    assert excluded_pairs(crowd()) == set()
    assert excluded_pairs(rb.Scene()) == set()


@pytest.mark.parametrize("kind", list(rb.joints.MENU.values()), ids=lambda kind: kind.__name__)
def test_bodies_that_a_joint_of_any_kind_holds_do_not_meet(kind):
    scene = crowd(3)
    place = {"at_b": (1, 2, 3), "axis_b": (1, 0, 0)} | {
        rb.Screw: {"pitch": 0.2},
        rb.Gear: {"at_b": (1, 0, 0), "axis_b": None, "ratio": 2.5},
        rb.Rack: {"radius": 0.5, "at_b": None},
        rb.VelocityJoint: {"linear": (None, 1.5, None)},
    }.get(kind, {})
    scene.add_joint(kind("b2", "b0", **place))
    assert excluded_pairs(scene) == {(0, 2)}


def test_a_joint_to_the_world_separates_nobody_and_one_to_a_static_body_does():
    scene = crowd(2)
    scene.add_joint(rb.Ball(scene.world, "b0"))
    scene.add_joint(rb.Ball("b1", scene.world))
    assert excluded_pairs(scene) == set()
    scene.add_static(rb.Plane(), name="ground")
    scene.add_joint(rb.Ball("ground", "b1"))
    assert excluded_pairs(scene) == {(1, 2)}


def test_a_chain_excludes_neighbours_only_and_two_joints_of_one_pair_count_once():
    scene = crowd(4)
    for a, b in (("b0", "b1"), ("b1", "b2"), ("b3", "b2"), ("b2", "b3")):
        scene.add_joint(rb.Ball(a, b))
    assert excluded_pairs(scene) == {(0, 1), (1, 2), (2, 3)}


def test_bodies_are_excluded_by_name_or_as_objects():
    scene = crowd(4)
    scene.exclude("b3", scene["b1"])
    scene.exclude(scene["b0"], "b1")
    scene.exclude("b1", "b0")
    assert excluded_pairs(scene) == {(0, 1), (1, 3)}


def test_a_group_is_excluded_from_itself_from_a_body_and_from_another_group():
    def scene():
        made = rb.Scene()
        for name, group in (("a", "red"), ("b", "blue"), ("c", "red"), ("d", "blue"), ("e", "red")):
            made.add_body(rb.Sphere(1), name=name, group=group)
        return made

    apart = scene()
    apart.exclude("red")
    assert excluded_pairs(apart) == {(0, 2), (0, 4), (2, 4)}
    apart = scene()
    apart.exclude("red", "red")
    assert excluded_pairs(apart) == {(0, 2), (0, 4), (2, 4)}
    apart = scene()
    apart.exclude("c", "blue")
    apart.exclude("red", "c")
    assert excluded_pairs(apart) == {(1, 2), (2, 3), (0, 2), (2, 4)}
    apart = scene()
    apart.exclude("blue", "red")
    assert excluded_pairs(apart) == {(0, 1), (0, 3), (1, 2), (1, 4), (2, 3), (3, 4)}


def test_bodies_that_join_a_group_after_it_was_excluded_are_excluded_too():
    scene = crowd(2, group="balls")
    scene.exclude("balls")
    scene.add_body(rb.Sphere(1), name="late", group="balls")
    assert excluded_pairs(scene) == {(0, 1), (0, 2), (1, 2)}


def test_a_pair_is_allowed_although_a_joint_a_group_or_a_predicate_excludes_it():
    scene = crowd(4, group="balls")
    scene.add_joint(rb.Ball("b0", "b1"))
    scene.exclude("balls")
    scene.exclude_if(lambda a, b: True)
    assert len(excluded_pairs(scene)) == 6
    scene.allow("b1", "b0")
    scene.allow(scene["b2"], "b3")
    assert excluded_pairs(scene) == {(0, 2), (0, 3), (1, 2), (1, 3)}


def test_of_exclude_and_allow_for_the_same_bodies_the_later_one_counts():
    scene = crowd(2)
    scene.exclude("b0", "b1")
    scene.allow("b1", "b0")
    assert excluded_pairs(scene) == set()
    scene.exclude("b0", "b1")
    assert excluded_pairs(scene) == {(0, 1)}


def test_a_predicate_is_asked_once_for_every_pair_that_could_meet():
    scene = crowd(3)
    scene.add_static(rb.Plane(), name="ground")
    scene.add_static(rb.Box(1, 1, 1), name="wall")
    scene.add_body(rb.Sphere(1), name="shown", collision=None)
    scene.add_joint(rb.Ball("b0", "b1"))
    asked = []

    @scene.exclude_if
    def with_the_wall(a, b):
        asked.append((a.name, b.name))
        return b.name == "wall"

    assert excluded_pairs(scene) == {(0, 1), (0, 4), (1, 4), (2, 4)}
    assert sorted(asked) == [
        *(("b0", name) for name in ("b2", "ground", "wall")),
        *(("b1", name) for name in ("b2", "ground", "wall")),
        *(("b2", name) for name in ("ground", "wall")),
    ]
    assert with_the_wall(scene["b0"], scene["wall"])


def test_several_predicates_exclude_what_any_of_them_names():
    scene = crowd(3)
    scene.exclude_if(lambda a, b: np.bool_(b.name == "b1"))
    scene.exclude_if(functools.partial(lambda name, a, b: a.name == name, "b1"))
    assert excluded_pairs(scene) == {(0, 1), (1, 2)}


def test_a_predicate_that_says_neither_yes_nor_no_is_refused():
    scene = crowd(2)

    @scene.exclude_if
    def undecided(a, b):
        return None

    with pytest.raises(
        rb.InputError,
        match="What 'undecided' in exclude_if says of 'b0' and 'b1' is None; it must be True or False",
    ):
        excluded_pairs(scene)


@pytest.mark.parametrize(
    ("act", "words"),
    [
        (
            lambda scene: scene.exclude("b0", "ball"),
            "exclude got 'ball', which is not a body or group of the scene. Did you mean 'balls'?",
        ),
        (lambda scene: scene.exclude(scene.world, "b0"), "exclude got 'world', which is not a body or group"),
        (lambda scene: scene.exclude(3, "b0"), "exclude got 3, which is not a body or group"),
        (
            lambda scene: scene.exclude("b0"),
            "exclude got only the body 'b0'; name another body beside it, or a group.",
        ),
        (lambda scene: scene.exclude("b0", scene["b0"]), "exclude got only the body 'b0'; name another"),
        (lambda scene: scene.allow("b0", "c1"), "allow got 'c1', which is not a body or group of the scene."),
        (lambda scene: scene.allow("b0", "balls"), "allow got the group 'balls'; it takes two bodies."),
        (lambda scene: scene.allow("balls", "balls"), "allow got the group 'balls'; it takes two bodies."),
        (lambda scene: scene.allow("b1", "b1"), "allow got only the body 'b1'; name another body beside it."),
        (
            lambda scene: scene.exclude_if("b0"),
            "exclude_if got 'b0'; it must be a function of two bodies, such as lambda a, b: a.group == b.group.",
        ),
        (lambda scene: scene.exclude_if(rb.Body), "exclude_if got <class"),
    ],
)
def test_what_cannot_be_excluded_or_allowed_is_refused(act, words):
    scene = crowd(2, group="balls")
    with pytest.raises(rb.RattlebackError) as caught:
        act(scene)
    assert words in str(caught.value)
    assert excluded_pairs(scene) == set()


def test_a_copy_has_exclusions_of_its_own():
    scene = crowd(4)
    scene.exclude("b0", "b1")
    scene.exclude_if(lambda a, b: a.name == "b0" and b.name == "b3")
    twin = scene.copy()
    assert excluded_pairs(twin) == {(0, 1), (0, 3)}
    scene.exclude("b1", "b2")
    scene.exclude_if(lambda a, b: True)
    scene.allow("b0", "b1")
    assert excluded_pairs(twin) == {(0, 1), (0, 3)}
    assert twin.meetings is not scene.meetings


def test_exclusions_and_options_survive_an_assembly():
    scene = crowd(3, group="balls", margin=0.25, category="round", collides_with="flat", continuous=True)
    scene.add_joint(rb.Ball(scene.world, "b0", at=(5, 0, 0), at_b=(0, 0, 0)))
    scene.exclude("balls")
    scene.allow("b0", "b1")
    before = scene["b0"]
    scene.assemble()
    after = scene["b0"]
    assert after.position[0] == pytest.approx(5.0, abs=1e-3)
    assert excluded_pairs(scene) == {(0, 2), (1, 2)}
    for name in ("colliders", "margin", "category", "collides_with", "continuous"):
        assert getattr(after, name) == getattr(before, name)


NAMES = st.sampled_from(["a", "b", "c", "d", "default"])
SEVERAL = st.lists(NAMES, max_size=4).map(tuple)
FILTERS = st.fixed_dictionaries(
    {}, optional={"category": SEVERAL.filter(len) | NAMES, "collides_with": SEVERAL | NAMES | st.none()}
)


def admits(wanted, offered):
    """The rule in words: everything is admitted, or one category at least is on the list."""
    listed = (wanted,) if isinstance(wanted, str) else wanted
    return listed is None or not set(listed).isdisjoint((offered,) if isinstance(offered, str) else offered)


@given(st.lists(FILTERS, min_size=1, max_size=6))
def test_the_bits_say_what_the_names_say(filters):
    scene = rb.Scene()
    for options in filters:
        scene.add_body(rb.Sphere(1), **options)
    category, mask = category_bits(scene)
    assert category.dtype == mask.dtype == np.int32
    assert category.shape == mask.shape == (len(filters),)
    for i, first in enumerate(filters):
        for j, second in enumerate(filters):
            meet = bool(category[i] & mask[j]) and bool(category[j] & mask[i])
            assert meet == (
                admits(first.get("collides_with"), second.get("category", "default"))
                and admits(second.get("collides_with"), first.get("category", "default"))
            )


def test_there_are_31_categories_and_the_next_one_is_named():
    scene = rb.Scene(name="menagerie")
    for index in range(31):
        scene.add_body(rb.Sphere(1), category=f"kind {index}", collides_with=(f"kind {index}", f"absent {index}"))
    category, mask = category_bits(scene)
    assert (category > 0).all()
    np.testing.assert_array_equal((category[:, None] & mask[None, :]) != 0, np.eye(31, dtype=bool))
    scene.add_body(rb.Sphere(1), name="last", category=["kind 0", "kind 31"])
    with pytest.raises(
        rb.InputError,
        match=r"Scene 'menagerie' has more than 31 categories; 'kind 31' of body 'last' is one too many\. Use fewer",
    ):
        category_bits(scene)


def test_a_scene_without_bodies_has_no_bits():
    category, mask = category_bits(rb.Scene())
    assert category.shape == mask.shape == (0,)
