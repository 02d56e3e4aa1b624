# SPDX-License-Identifier: GPL-3.0-or-later
"""Every attribute of bodies, materials, joints, motors and springs as data: the properties, the panels and the files.

A field has the name it has in scene files. An optional one comes with a switch, ``use_NAME``; off, the file does not
have it. Nothing here needs Blender.
"""

from __future__ import annotations

from typing import Any, NamedTuple


class Field(NamedTuple):
    """An attribute.

    Attributes:
        name: Its name in scene files.
        kind: ``number``, ``positive`` (zero or more), ``pair``, ``vector``, ``switches``, ``flag``, ``text`` or
            ``choice``.
        default: Its value at first.
        about: What it is, with its unit.
        optional: Whether it may be left out.
        choices: What a choice may be.
    """

    name: str
    kind: str
    default: Any
    about: str
    optional: bool = False
    choices: tuple[str, ...] = ()


ZERO = (0.0, 0.0, 0.0)
SHAPES = ("auto", "box", "sphere", "capsule", "cylinder", "cone", "ellipsoid", "plane", "convex_hull", "mesh", "none")

BODY = (
    Field("static", "flag", False, "Nothing can push it"),
    Field("shape", "choice", "auto", "What its geometry is to the simulation", choices=SHAPES),
    Field("collides", "flag", True, "Off: a body that is only for show"),
    Field("mass", "positive", 1.0, "Mass [kg]; else it follows from the density", optional=True),
    Field("density", "positive", 1000.0, "Density [kg/m³]", optional=True),
    Field("center_of_mass", "vector", ZERO, "Centre of mass in the frame of the object [m]", optional=True),
    Field(
        "inertia", "vector", (1.0, 1.0, 1.0), "Moments of inertia about the axes of the object [kg m²]", optional=True
    ),
    Field("products", "vector", ZERO, "Products of inertia, matrix entries xy, xz, yz [kg m²]", optional=True),
    Field("velocity", "vector", ZERO, "Velocity of the centre of mass [m/s]"),
    Field("angular_velocity", "vector", ZERO, "Angular velocity [rad/s]"),
    Field("group", "text", "", "Name of the group it belongs to"),
    Field("margin", "positive", 0.0, "Thickness of a shell around what collides [m]"),
    Field("category", "text", "default", "Categories it belongs to, parted by commas"),
    Field("collides_with", "text", "", "Categories it can meet, parted by commas; empty for all"),
    Field("continuous", "flag", False, "It must not pass through others within a step"),
)

MATERIAL = (
    Field("friction", "positive", 0.5, "Coefficient of friction"),
    Field("restitution", "positive", 0.0, "Coefficient of restitution, 0 plastic to 1 elastic"),
    Field("static_friction", "positive", 0.5, "Coefficient of a contact that sticks", optional=True),
    Field("dynamic_friction", "positive", 0.5, "Coefficient of a contact that slides", optional=True),
    Field("rolling_friction", "positive", 0.0, "Arm of the rolling resistance [m]"),
    Field("spinning_friction", "positive", 0.0, "Arm of the resistance to spinning [m]"),
    Field("surface_velocity", "vector", ZERO, "Velocity of the surface against the body [m/s]"),
)

JOINT = (
    Field(
        "limits", "pair", (-1.0, 1.0), "Least and largest angle [rad], or position where it slides [m]", optional=True
    ),
    Field("turn_limits", "pair", (-1.0, 1.0), "Least and largest angle where it slides too [rad]", optional=True),
    Field("limits_b", "pair", (-1.0, 1.0), "Least and largest angle about the second axis [rad]", optional=True),
    Field("swing", "positive", 1.0, "Largest angle between the axes of A and B [rad]", optional=True),
    Field("twist", "pair", (-1.0, 1.0), "Least and largest turn of B about its axis [rad]", optional=True),
    Field("restitution", "positive", 0.0, "Part of the velocity left after hitting a limit, 0 to 1"),
    Field("damping", "positive", 0.0, "Torque [N m s/rad] or force [N s/m] that brakes it"),
    Field("armature", "positive", 0.0, "Inertia [kg m²] or mass [kg] of its drive"),
    Field("friction", "positive", 0.0, "Torque [N m] or force [N] up to which it holds"),
    Field(
        "stiffness",
        "positive",
        1e5,
        "Pull of its rows for a unit they are off [N/m, N m/rad]; else they hold",
        optional=True,
    ),
    Field("row_damping", "positive", 0.0, "Damping of its soft rows [N s/m, N m s/rad]", optional=True),
    Field("length", "number", 1.0, "Distance that is kept [m]; the one at the start if off", optional=True),
    Field("pitch", "number", 0.01, "Way along the axis in one turn [m]", optional=True),
    Field("ratio", "positive", 1.0, "Turns of gear A for one turn of gear B", optional=True),
    Field("radii", "pair", (0.1, 0.1), "Radii of the two pitch circles [m]", optional=True),
    Field("internal", "flag", False, "One gear lies inside the other"),
    Field("bend", "vector", ZERO, "Parts of the second to fourth power of what leads", optional=True),
    Field("leads", "choice", "pinion", "What leads where there is a bend", choices=("pinion", "rack")),
    Field("radius", "positive", 0.1, "Radius of the pinion's pitch circle [m]", optional=True),
    Field("linear", "vector", ZERO, "Velocities of B along the axes of the joint [m/s]", optional=True),
    Field("angular", "vector", ZERO, "Angular velocities of B about the axes of the joint [rad/s]", optional=True),
    Field("linear_axes", "switches", (True, True, True), "Along which axes of the joint a velocity is kept"),
    Field("angular_axes", "switches", (True, True, True), "About which axes of the joint one is kept"),
    Field("linear_damping", "positive", 1.0, "Force for every m/s that is lacking [N s/m]", optional=True),
    Field("angular_damping", "positive", 1.0, "Torque for every rad/s that is lacking [N m s/rad]", optional=True),
    Field("breaking_force", "positive", 1000.0, "Force above which it breaks [N]", optional=True),
    Field("breaking_torque", "positive", 1000.0, "Torque above which it breaks [N m]", optional=True),
)

# What every joint has: soft rows, and a strength.
COMMON = ("stiffness", "row_damping", "breaking_force", "breaking_torque")
DRIVE = ("limits", "restitution", "damping", "armature", "friction")
# The joints, and which attributes each has besides.
JOINTS: dict[str, tuple[str, ...]] = {
    "ball": ("swing", "twist", "restitution"),
    "revolute": DRIVE,
    "prismatic": DRIVE,
    "cylindrical": ("limits", "turn_limits", "restitution"),
    "universal": ("limits", "limits_b", "restitution"),
    "fixed": (),
    "planar": (),
    "screw": ("pitch", "limits", "restitution"),
    "distance": ("length",),
    "distance_to_line": ("length",),
    "distance_to_plane": ("length",),
    "point_on_line": (),
    "point_on_plane": (),
    "fixed_orientation": (),
    "common_direction": (),
    "double_rotation": (),
    "gear": ("ratio", "radii", "internal", "bend"),
    "rack": ("radius", "bend", "leads"),
    "velocity_joint": (
        "linear",
        "linear_axes",
        "angular",
        "angular_axes",
        "linear_damping",
        "angular_damping",
    ),
}
# Joints whose second axis is the x axis of their object, and those that have a second object for the point on B.
CROSSED = ("universal", "double_rotation", "rack")
TWO_ENDED = ("distance", "distance_to_line", "distance_to_plane", "gear")

MOTOR = (
    Field("control", "choice", "angle", "What of the joint is controlled", choices=("angle", "position", "velocity")),
    Field("target", "number", 0.0, "What to aim at [rad, m, rad/s or m/s]"),
    Field("schedule", "text", "", "Times and values instead of one target, as 0: 0, 1.5: 3.14"),
    Field("between", "choice", "linear", "What lies between two of them", choices=("step", "linear", "cubic")),
    Field("gain", "positive", 10.0, "Effort per error [N m or N per unit of the target]"),
    Field("reset_time", "positive", 1.0, "Reset time of the integral part [s]", optional=True),
    Field("rate_time", "positive", 0.0, "Rate time of the differential part [s]"),
    Field("window", "positive", 1.0, "Time after which the integral forgets an error [s]", optional=True),
    Field("limit", "positive", 100.0, "Largest torque [N m] or force [N]", optional=True),
)
TORSION = (
    Field("stiffness", "positive", 1.0, "Torque per angle [N m/rad]"),
    Field("damping", "positive", 0.0, "Torque per angular velocity [N m s/rad]"),
    Field("angle", "number", 0.0, "Angle without load [rad]"),
)
SPRING = (
    Field("stiffness", "positive", 100.0, "Force per elongation [N/m]"),
    Field("damping", "positive", 0.0, "Force per velocity of elongation [N s/m]"),
    Field("length", "positive", 1.0, "Length without load [m]; the one at the start if off", optional=True),
)
GROUPS = {
    "body": BODY,
    "material": MATERIAL,
    "joint": JOINT,
    "motor": MOTOR,
    "torsion": TORSION,
    "spring": SPRING,
}


def file_name(kind: str, name: str) -> str:
    """What a scene file calls an attribute of a joint: damping is that of soft rows where no axis has its own."""
    return "damping" if name == "row_damping" and "damping" not in JOINTS[kind] else name


def values(group: str, settings: Any, names: tuple[str, ...] | None = None) -> dict[str, Any]:
    """What a scene file says of a group of settings, without what is switched off.

    Args:
        group: ``body``, ``material`` and so on.
        settings: Has the fields as attributes.
        names: Which of them; None for all.
    """
    found = {}
    for field in GROUPS[group]:
        wanted = names is None or field.name in names
        if wanted and not (field.optional and not getattr(settings, f"use_{field.name}")):
            value = getattr(settings, field.name)
            found[field.name] = list(value) if field.kind in ("pair", "vector", "switches") else value
    return found


def schedule(text: str) -> tuple[list[float], list[float]]:
    """Times and values of a text such as ``0: 0, 1.5: 3.14``.

    Raises:
        ValueError: The text is something else.
    """
    try:
        pairs = [tuple(float(number) for number in entry.split(":")) for entry in text.split(",")]
        times, targets = zip(*pairs, strict=True)
    except ValueError:
        raise ValueError(
            f"The schedule {text!r} of a motor cannot be read; write times and values as 0: 0, 1.5: 3.14."
        ) from None
    return list(times), list(targets)
