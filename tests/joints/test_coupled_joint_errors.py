"""What screws, gears, racks and velocity joints refuse, and what placement by frames refuses."""

from typing import Any

import numpy as np
import pytest

import rattleback as rb
from rattleback.core.errors import InputError
from rattleback.joints import MENU

HERE = ((0, 0, 0), (0, 0, 0, 1))
SPUR = {"at": (0, 0, 0), "at_b": (0.3, 0, 0)}
BEVEL = {"at": (0, 0, 0.2), "at_b": (0.1, 0, 0), "axis_b": (1, 0, 0)}
NEEDED = {
    "screw": {"pitch": 0.1},
    "gear": {"radii": (0.1, 0.2)},
    "rack": {"radius": 0.1},
    "velocity_joint": {"angular": (None, None, 1.0)},
    **{name: {"length": 0.5} for name in ("distance", "distance_to_line", "distance_to_plane")},
}


def refused(kind: Any, message: str, **given: Any) -> None:
    with pytest.raises(InputError, match=message):
        kind("a", "b", **given)


def test_a_screw_needs_a_pitch_that_is_a_number_and_not_zero() -> None:
    refused(rb.Screw, r"^Screw needs pitch=, the way along its axis in one turn \[m\]\.$")
    refused(rb.Screw, r"^The pitch of Screw is 0; a screw without a pitch is a Revolute\.$", pitch=0)
    refused(rb.Screw, r"^The pitch of Screw is 'steep'; it must be a number\.$", pitch="steep")
    refused(rb.Screw, r"^The pitch of Screw is nan; it must be finite\.$", pitch=np.nan)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({**SPUR}, "Gear needs ratio= or radii=; where the axes are parallel the centres leave it open."),
        ({**SPUR, "ratio": 0}, "The ratio of Gear is 0; it must be greater than zero."),
        ({**SPUR, "ratio": -2}, "The ratio of Gear is -2; it must be greater than zero."),
        ({**SPUR, "radii": 0.1}, "The radii of Gear has shape"),
        ({**SPUR, "radii": (0.1, 0.0)}, "A radius of Gear is 0.0; it must be greater than zero."),
        ({**SPUR, "radii": (0.1, 0.3)}, "have the radii 0.1 m and 0.3 m; to touch, .* would be 0.075 m and 0.225 m."),
        ({**SPUR, "radii": (0.1, 0.2), "ratio": 3}, "The radii .* of Gear have another ratio than 3; give one of"),
        ({**SPUR, "ratio": 1, "internal": True}, "The ratio of Gear is 1; one gear cannot lie inside the other."),
        ({**SPUR, "radii": (2, 2), "internal": True}, "Both radii of Gear are 2 m; one gear cannot lie inside the"),
        ({**SPUR, "ratio": 2, "internal": "yes"}, "The option internal of Gear is 'yes'; it must be True or False."),
        ({"ratio": 2}, "Both gears of Gear have the same axis; give at=, the centre of A, and at_b=, that of B."),
        ({"ratio": 2, "at_b": (0, 0, 1)}, "Both gears of Gear have the same axis;"),
        ({**BEVEL, "ratio": 3}, "The ratio of Gear is 3; where axes cross the centres determine it: 2."),
        ({**BEVEL, "radii": (0.2, 0.1)}, "have the radii 0.2 m and 0.1 m; to touch, .* would be 0.1 m and 0.2 m."),
        (
            {**BEVEL, "internal": True},
            "Gear is internal and its axes cross; there the centres say how the gears touch.",
        ),
        ({**BEVEL, "at_b": (0.1, 0.1, 0)}, "The axes of Gear neither are parallel nor meet; such gears slip on each"),
        ({"at": (0, 0, 1), "axis_b": (1, 0, 0)}, "of Gear leave a gear without a radius, or lie where its axes meet;"),
        ({"at": (0, 0, 1), "at_b": (0, 0, 0), "axis_b": (1, 0, 0)}, "leave a gear without a radius, or lie where"),
    ],
)
def test_gears_that_cannot_roll_are_refused(given: dict[str, Any], message: str) -> None:
    refused(rb.Gear, message, **given)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"radius": 0.1}, "Rack needs axis_b=, the direction of the rack."),
        ({"axis_b": (1, 0, 0)}, r"Rack needs radius=, that of the pinion's pitch circle \[m\]."),
        ({"axis_b": (1, 0, 0), "radius": 0}, "The radius of Rack is 0; it must be greater than zero."),
        ({"axis_b": (0, 0, 1), "radius": 1}, "of Rack is not perpendicular to the pinion's axis .* cannot roll on it."),
        ({"axis_b": (1, 0, 1), "radius": 1}, "of Rack is not perpendicular to the pinion's axis"),
        (
            {"axis_b": (1, 0, 0), "at_b": (1, 0, 0)},
            "The point at_b of Rack is level with the pinion's centre; give one",
        ),
        (
            {"axis_b": (1, 0, 0), "at_b": (1, 0.2, 0), "radius": 0.3},
            "The point at_b of Rack is 0.2 m beside the pinion's centre and its radius 0.3 m; the pitch circle does",
        ),
    ],
)
def test_racks_that_cannot_roll_are_refused(given: dict[str, Any], message: str) -> None:
    refused(rb.Rack, message, **given)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({}, "VelocityJoint has no velocity to keep; give a number in linear= or angular=."),
        ({"linear": 3}, "The linear velocity of VelocityJoint is 3; it must be three numbers, None where free."),
        ({"angular": "fast"}, "The angular velocity of VelocityJoint is 'fast'; it must be three numbers, None where"),
        (
            {"linear": (1, 2)},
            "The linear velocity of VelocityJoint has 2 entries; it must have three, None where free.",
        ),
        ({"linear": (1, None, "x")}, "The linear velocity of VelocityJoint is 'x'; it must be a number."),
        ({"angular": (np.inf, None, None)}, "The angular velocity of VelocityJoint is inf; it must be finite."),
    ],
)
def test_a_velocity_joint_needs_velocities(given: dict[str, Any], message: str) -> None:
    refused(rb.VelocityJoint, message, **given)


def test_a_velocity_joint_has_a_row_for_each_rate_and_a_freedom_for_each_none() -> None:
    joint = rb.VelocityJoint("a", "b", linear=(0.5, None, 0), angular=np.array([1.0, 2.0, 3.0]))
    assert [(row.kind, row.axis_a, row.rate) for row in joint.rows()] == [
        ("linear_rate", 0, 0.5),
        ("linear_rate", 2, 0.0),
        *(("angular_rate", k, k + 1.0) for k in range(3)),
    ]
    assert joint.freedoms == ("slide_y",)


@pytest.mark.parametrize("name", MENU)
def test_points_and_frames_are_not_mixed(name: str) -> None:
    kind = MENU[name].__name__
    for option in ("at", "axis", "at_b", "axis_b"):
        given = {**NEEDED.get(name, {}), option: (1, 0, 0), "frame_a": HERE, "frame_b": HERE}
        refused(MENU[name], f"^{kind} is placed by {option}= and by frames; give one or the other.$", **given)
    needed = NEEDED.get(name, {})
    refused(MENU[name], f"^{kind} has frame_a= without frame_b=; give a frame on each body.$", frame_a=HERE, **needed)
    refused(MENU[name], f"^{kind} has frame_b= without frame_a=; give a frame on each body.$", frame_b=HERE, **needed)


@pytest.mark.parametrize(
    ("frame", "message"),
    [
        (3, r"^The frame_b of Ball is 3; it must be a pair \(point, quaternion\).$"),
        ((1, 2, 3), r"^The frame_b of Ball is \(1, 2, 3\); it must be a pair \(point, quaternion\).$"),
        (((0, 0), (0, 0, 0, 1)), "^The point of the frame_b of Ball has shape"),
        (((0, 0, 0), (0, 0, 0, 2)), "^The orientation of the frame_b of Ball is .* it must have length 1.$"),
    ],
)
def test_a_frame_is_a_point_and_a_quaternion(frame: Any, message: str) -> None:
    refused(rb.Ball, message, frame_a=HERE, frame_b=frame)


@pytest.mark.parametrize("name", ["distance", "distance_to_line", "distance_to_plane"])
def test_a_distance_between_frames_is_given(name: str) -> None:
    kind = MENU[name]
    message = f"^The length of {kind.__name__} is not given; a joint placed by frames needs length=.$"
    refused(kind, message, frame_a=HERE, frame_b=HERE)


def test_gears_and_racks_placed_by_frames_need_their_radii() -> None:
    frames = {"frame_a": HERE, "frame_b": HERE}
    refused(rb.Gear, "^Gear is placed by frames; it then needs radii=, those of its pitch circles", **frames, ratio=2)
    refused(rb.Rack, "^Rack needs radius=, that of the pinion's pitch circle", **frames)
