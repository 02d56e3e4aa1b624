# SPDX-License-Identifier: GPL-3.0-or-later
"""Blender's own rigid bodies and constraints taken over: their settings become ours, and what is lost is told.

Blender's hinge turns about z of its object, its slider and piston slide along x; ours have the axis along z, so a new
object is made for those, turned. Damping of bodies is Bullet's, v (1 − d)^t, and has no counterpart here.
"""

from __future__ import annotations

import math
from typing import Any

from mathutils import Quaternion

from .modelling import new_joint

SHAPES = {
    "BOX": "box",
    "SPHERE": "sphere",
    "CAPSULE": "capsule",
    "CYLINDER": "cylinder",
    "CONE": "cone",
    "CONVEX_HULL": "convex_hull",
    "MESH": "mesh",
    "COMPOUND": "auto",
}
# From Blender's constraints: which joint, and the axis of theirs that is our z.
KINDS = {"FIXED": ("fixed", "Z"), "POINT": ("ball", "Z"), "HINGE": ("revolute", "Z")}
SLIDES = {"SLIDER": ("prismatic", "X"), "PISTON": ("cylindrical", "X"), "MOTOR": ("velocity_joint", "X")}
# What Blender gives every body unasked.
DAMPING = (0.04, 0.1)
# From z to x.
ONTO_X = Quaternion((0.0, 1.0, 0.0), math.pi / 2)


def take_over(scene: Any) -> list[str]:
    """Take over all rigid bodies and constraints of a scene; returns what is lost, in sentences."""
    lost: list[str] = []
    # Bullet multiplies the coefficients of two bodies that touch.
    scene.rattleback.friction_rule = scene.rattleback.restitution_rule = "product"
    for thing in scene.objects:
        if thing.rigid_body is not None:
            _body(thing, lost)
    for thing in list(scene.objects):
        if thing.rigid_body_constraint is not None and thing.rigid_body_constraint.enabled:
            _constraint(scene, thing, lost)
    if scene.rigidbody_world is not None:
        # Else it would go on moving what is baked.
        scene.rigidbody_world.enabled = False
    return lost


def _body(thing: Any, lost: list[str]) -> None:
    theirs, ours = thing.rigid_body, thing.rattleback
    ours.role = "body"
    ours.body.static = theirs.type == "PASSIVE" or theirs.kinematic or not theirs.enabled
    ours.body.shape = SHAPES[theirs.collision_shape]
    ours.body.use_mass, ours.body.mass = True, theirs.mass
    ours.material.friction, ours.material.restitution = theirs.friction, theirs.restitution
    ours.body.margin = theirs.collision_margin if theirs.use_margin else 0.0
    given = (theirs.linear_damping, theirs.angular_damping)
    if max(abs(value - usual) for value, usual in zip(given, DAMPING, strict=True)) > 1e-6:
        lost.append(f"{thing.name!r}: the damping of the body is left out; add drag or damped joints.")
    if theirs.kinematic:
        lost.append(f"{thing.name!r}: an animated body is taken as static.")
    if theirs.collision_shape == "COMPOUND":
        lost.append(f"{thing.name!r}: make its parts collision objects; its own mesh is taken for now.")


def _constraint(scene: Any, thing: Any, lost: list[str]) -> None:
    theirs = thing.rigid_body_constraint
    kind, axis = {**KINDS, **SLIDES}.get(theirs.type) or _generic(theirs)
    if not kind:
        lost.append(f"{thing.name!r}: a constraint with these free axes has no joint here and is left out.")
        return
    if axis == "?":
        lost.append(f"{thing.name!r}: limits and springs of a generic constraint are left out.")
    turn = ONTO_X if axis == "X" else Quaternion()
    place, turned, _ = thing.matrix_world.decompose()
    joint = new_joint(scene, kind, (theirs.object1, theirs.object2), place)
    joint.name = f"{thing.name} joint"
    joint.rotation_mode = "QUATERNION"
    joint.rotation_quaternion = turned @ turn
    _limits(theirs, joint.rattleback.joint)
    if theirs.use_breaking:
        lost.append(f"{thing.name!r}: breaking by an impulse is taken as by a force over one step of 1/60 s.")
        joint.rattleback.joint.use_breaking_force = True
        joint.rattleback.joint.breaking_force = 60.0 * theirs.breaking_threshold
    if theirs.type == "MOTOR":
        _motor(theirs, joint.rattleback.joint)
        lost.append(
            f"{thing.name!r}: the motor keeps its velocity whatever that takes; its greatest impulse is left out."
        )
    joint.rattleback.collide = not theirs.disable_collisions


def _generic(theirs: Any) -> tuple[str, str]:
    """The joint a generic constraint is, by the axes that are held at zero; empty where there is none."""
    slides = [axis for axis in "xyz" if not _held(theirs, "lin", axis)]
    turns = [axis for axis in "xyz" if not _held(theirs, "ang", axis)]
    found = {
        (0, 0): "fixed",
        (0, 3): "ball",
        (3, 0): "fixed_orientation",
    }.get((len(slides), len(turns)), "")
    if slides == [] and turns == ["z"]:
        found = "revolute"
    if slides == ["z"] and turns in ([], ["z"]):
        found = "cylindrical" if turns else "prismatic"
    return found, "?"


def _held(theirs: Any, kind: str, axis: str) -> bool:
    name = f"limit_{kind}_{axis}"
    low, high = getattr(theirs, f"{name}_lower"), getattr(theirs, f"{name}_upper")
    return bool(getattr(theirs, f"use_{name}")) and low == high == 0.0


def _limits(theirs: Any, ours: Any) -> None:
    """Limits of hinges, sliders and pistons."""
    if theirs.type == "HINGE" and theirs.use_limit_ang_z:
        ours.use_limits, ours.limits = True, (theirs.limit_ang_z_lower, theirs.limit_ang_z_upper)
    if theirs.type in ("SLIDER", "PISTON") and theirs.use_limit_lin_x:
        ours.use_limits, ours.limits = True, (theirs.limit_lin_x_lower, theirs.limit_lin_x_upper)
    if theirs.type == "PISTON" and theirs.use_limit_ang_x:
        ours.use_turn_limits, ours.turn_limits = True, (theirs.limit_ang_x_lower, theirs.limit_ang_x_upper)


def _motor(theirs: Any, ours: Any) -> None:
    """A motor keeps velocities along and about its axis, and nothing else."""
    for kind, short in (("linear", "lin"), ("angular", "ang")):
        if getattr(theirs, f"use_motor_{short}"):
            setattr(ours, f"use_{kind}", True)
            setattr(ours, kind, (0.0, 0.0, getattr(theirs, f"motor_{short}_target_velocity")))
            setattr(ours, f"{kind}_axes", (False, False, True))
