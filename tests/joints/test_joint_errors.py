"""What a joint refuses, and what it says."""

from typing import Any

import numpy as np
import pytest

import rattleback as rb
from rattleback.core.errors import InputError, UnknownName
from rattleback.joints import MENU


def two_boxes() -> rb.Scene:
    scene = rb.Scene()
    scene.add_body(rb.Box(1, 1, 1), name="crank")
    scene.add_body(rb.Box(1, 1, 1), position=(2, 0, 0), name="rod")
    scene.add_static(rb.Plane(), name="floor")
    return scene


def made(name: str, **given: Any) -> Any:
    """A joint with the axes and points its kind cannot do without."""
    own = {"axis_b": (1, 0, 0)} if name in ("double_rotation", "universal") else {}
    own |= {"at_b": (1, 1, 1)} if "distance" in name else {}
    own |= {
        "screw": {"pitch": 0.1},
        "gear": {"at_b": (1, 0, 0), "ratio": 2.0},
        "rack": {"axis_b": (1, 0, 0), "radius": 0.1},
        "velocity_joint": {"linear": (None, 0.5, None)},
    }.get(name, {})
    return MENU[name](**({"a": "crank", "b": "rod"} | own | given))


@pytest.mark.parametrize("name", MENU)
def test_a_joint_needs_two_different_bodies(name: str) -> None:
    with pytest.raises(InputError, match=f"{MENU[name].__name__} joins 'crank' to itself; it needs two bodies."):
        made(name, b="crank")


@pytest.mark.parametrize("name", MENU)
@pytest.mark.parametrize("side", ["a", "b"])
@pytest.mark.parametrize("body", [None, 3, "", ["crank"], {"name": "crank"}, 1.5])
def test_a_body_is_given_by_name_or_as_an_object(name: str, side: str, body: object) -> None:
    message = f"Body {side} of {MENU[name].__name__} is .*; give a name, a body, or scene.world."
    with pytest.raises(InputError, match=message):
        made(name, **{side: body})


def test_names_objects_and_the_world_are_bodies() -> None:
    scene = two_boxes()
    joint = rb.Ball(scene.world, scene["rod"])
    assert (joint.a, joint.b) == ("world", "rod")
    assert joint == rb.Ball("world", "rod")


@pytest.mark.parametrize("name", MENU)
@pytest.mark.parametrize("option", ["axis", "axis_b"])
def test_an_axis_needs_a_length(name: str, option: str) -> None:
    message = f"The {option} of {MENU[name].__name__} is the zero vector; a direction needs a length."
    with pytest.raises(InputError, match=message):
        made(name, **{option: (0, 0, 0)})


@pytest.mark.parametrize("name", MENU)
@pytest.mark.parametrize("option", ["at", "axis", "at_b", "axis_b"])
@pytest.mark.parametrize("value", ["here", (1, 2), (1, 2, np.nan), (np.inf, 0, 0), 7, (1j, 0, 0)])
def test_points_and_axes_are_three_finite_numbers(name: str, option: str, value: object) -> None:
    with pytest.raises(InputError, match=f"The {option} of {MENU[name].__name__} "):
        made(name, **{option: value})


@pytest.mark.parametrize("name", ["double_rotation", "universal"])
def test_joints_of_two_axes_need_both(name: str) -> None:
    message = f"{MENU[name].__name__} needs two axes: axis=, fixed to A, and axis_b=, fixed to B."
    with pytest.raises(InputError, match=message):
        MENU[name]("crank", "rod", axis=(0, 0, 1))


@pytest.mark.parametrize("name", ["double_rotation", "universal"])
@pytest.mark.parametrize("axis_b", [(0, 0, 1), (1, 0, 1), (1, 0, 1e-5)])
def test_the_two_axes_must_be_perpendicular(name: str, axis_b: tuple[float, ...]) -> None:
    with pytest.raises(InputError, match=f"The axes .* of {MENU[name].__name__} are not perpendicular."):
        MENU[name]("crank", "rod", axis=(0, 0, 1), axis_b=axis_b)


@pytest.mark.parametrize("name", ["distance", "distance_to_line"])
@pytest.mark.parametrize("length", [0.0, -1.0])
def test_a_length_is_greater_than_zero(name: str, length: float) -> None:
    message = rf"The length of {MENU[name].__name__} is {length:g} m; it must be greater than zero."
    with pytest.raises(InputError, match=message):
        made(name, length=length)


@pytest.mark.parametrize("name", ["distance", "distance_to_line"])
def test_points_in_one_place_have_no_distance_to_keep(name: str) -> None:
    with pytest.raises(InputError, match=f"The length of {MENU[name].__name__} is 0 m; it must be greater than zero."):
        MENU[name]("crank", "rod", at=(1, 2, 3))


@pytest.mark.parametrize("name", ["distance", "distance_to_line", "distance_to_plane"])
@pytest.mark.parametrize("length", ["long", np.nan, np.inf, True, (1, 2)])
def test_a_length_is_a_finite_number(name: str, length: object) -> None:
    with pytest.raises(InputError, match=f"The length of {MENU[name].__name__} is .*; it must be (a number|finite)."):
        made(name, length=length)


@pytest.mark.parametrize("name", MENU)
def test_a_joint_cannot_be_changed_once_made(name: str) -> None:
    with pytest.raises(AttributeError):
        made(name).at = (1, 1, 1)


@pytest.mark.parametrize("thing", [rb.Ball, "ball", None, 3, rb.Box(1, 1, 1)])
def test_add_joint_wants_a_joint(thing: object) -> None:
    with pytest.raises(
        InputError, match=r"add_joint got .*; it must be a joint, such as rb.Ball\(a, b, at=\(0, 0, 0\)\)."
    ):
        two_boxes().add_joint(thing)


def test_an_unknown_body_gets_the_nearest_name() -> None:
    with pytest.raises(
        UnknownName, match="Joint 'ball_1' holds 'crnk', which is not in the scene. Did you mean 'crank'?"
    ):
        two_boxes().add_joint(rb.Ball("crnk", "rod"))


def test_a_misspelt_world_gets_its_name_too() -> None:
    with pytest.raises(
        UnknownName, match="Joint 'hinge' holds 'wold', which is not in the scene. Did you mean 'world'?"
    ):
        two_boxes().add_joint(rb.Revolute("wold", "rod"), name="hinge")


@pytest.mark.parametrize(("a", "b"), [("world", "floor"), ("floor", "world")])
def test_one_of_the_two_bodies_must_be_able_to_move(a: str, b: str) -> None:
    with pytest.raises(InputError, match=f"Joint 'ball_1' holds '{a}' and '{b}', neither of which can move."):
        two_boxes().add_joint(rb.Ball(a, b))


@pytest.mark.parametrize("name", ["hinge", "crank", "world"])
def test_the_name_of_a_joint_is_its_own(name: str) -> None:
    scene = two_boxes()
    scene.add_joint(rb.Ball("crank", "rod"), name="hinge")
    with pytest.raises(InputError, match=f"The scene already uses the name '{name}'; a joint needs one of its own."):
        scene.add_joint(rb.Ball("crank", "rod"), name=name)


def test_a_body_cannot_take_the_name_of_a_joint() -> None:
    scene = two_boxes()
    scene.add_joint(rb.Ball("crank", "rod"), name="hinge")
    with pytest.raises(InputError, match="The scene already uses the name 'hinge'; a body needs one of its own."):
        scene.add_body(rb.Box(1, 1, 1), name="hinge")


@pytest.mark.parametrize("name", ["", 3])
def test_the_name_of_a_joint_is_a_string(name: object) -> None:
    with pytest.raises(InputError, match="The name of a joint is .*; it must be a string that is not empty."):
        two_boxes().add_joint(rb.Ball("crank", "rod"), name=name)


def test_a_joint_that_was_refused_leaves_the_scene_as_it_was() -> None:
    scene = two_boxes()
    with pytest.raises(UnknownName):
        scene.add_joint(rb.Ball("crank", "nobody"))
    assert not scene.joints
    assert list(scene.joints) == []


def test_joints_without_a_name_are_numbered() -> None:
    scene = two_boxes()
    first = scene.add_joint(rb.Ball("crank", "rod"))
    scene.add_joint(rb.Revolute("crank", "rod"))
    assert list(scene.joints) == ["ball_1", "revolute_2"]
    assert scene.joints["ball_1"] is first
