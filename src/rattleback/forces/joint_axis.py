"""The free coordinate of a joint about or along its axis: measured with its rate, and pushed without net momentum.

    turn    q = θ, with all its full turns      q̇ = z · (ω_B − ω_A)                     torque u z on B, −u z on A
    slide   q = d · z                           q̇ = z · (ḋ − ω_A × d)                   force u z on B, −u z on A

z the axis of the joint, which moves with A; d the way from the anchor of A to that of B; u the effort. Both forces of
a slide act at the anchor of B, also the one on A, so that they lie on one line and angular momentum is kept. The
effort does the work u q̇.
"""

from dataclasses import replace
from typing import Any

import warp as wp

from rattleback.constraints.frame import axis
from rattleback.core.errors import InputError, UnknownName, did_you_mean, listing
from rattleback.core.precision import real, vec3
from rattleback.forces.push import push
from rattleback.model.coordinates import SLIDE, TURN
from rattleback.model.joint_memory import JointState
from rattleback.model.state import Loads, Motion
from rattleback.problem.joint_coordinates import coordinate_of
from rattleback.problem.joint_rows import Joints, frames_of

# What a control is called, the freedom it needs, and what a joint must do to have it.
CONTROLS = {"angle": (TURN,), "position": (SLIDE,), "velocity": (TURN, SLIDE)}
NEEDED = {
    "angle": "turns about one axis only, such as Revolute or Cylindrical",
    "position": "slides along its axis, such as Prismatic or Cylindrical",
    "velocity": "turns about one axis only or slides along it, such as Revolute, Cylindrical or Prismatic",
}


@wp.struct
class Place:
    """Which joint of every world, and whether it is turned or slid."""

    joint: wp.int32
    joints: wp.int32
    turning: wp.int32


@wp.func
def coordinate(
    joints: Joints, motion: Motion, remembered: JointState, place: Place, world: int
) -> tuple[wp.float64, real]:
    """Coordinate and rate of a joint at a motion; angles are counted on from those of the last step."""
    return coordinate_of(joints, motion, remembered, world * int(place.joints) + int(place.joint), int(place.turning))


@wp.struct
class Effect:
    """What a unit effort does: a force on B, its opposite on A, and torques. Along these motions go with its rate."""

    force: vec3
    torque_a: vec3
    torque_b: vec3


@wp.func
def effect_of(joints: Joints, motion: Motion, j: int, turning: int) -> Effect:
    """The effect of a unit effort on a joint."""
    frames = frames_of(joints, motion, j)
    z = axis(frames.turn_a, 2)
    effect = Effect()
    if turning == 1:
        effect.torque_a = -z
        effect.torque_b = z
    else:
        effect.force = z
        effect.torque_a = -wp.cross(frames.lever_a + frames.way, z)
        effect.torque_b = wp.cross(frames.lever_b, z)
    return effect


@wp.func
def act(joints: Joints, motion: Motion, place: Place, world: int, effort: real, loads: Loads) -> None:
    """An effort that drives the coordinate up: on B, and its opposite on A; none where the joint is broken."""
    j = world * int(place.joints) + int(place.joint)
    if joints.broken[j] != 0:
        return
    frames = frames_of(joints, motion, j)
    load = effort * axis(frames.turn_a, 2)
    if place.turning == 1:
        push(loads, int(joints.body_b[j]), vec3(), load)
        push(loads, int(joints.body_a[j]), vec3(), -load)
    else:
        push(loads, int(joints.body_b[j]), load, wp.cross(frames.lever_b, load))
        push(loads, int(joints.body_a[j]), -load, -wp.cross(frames.lever_a + frames.way, load))


def make_place(names: tuple[str, ...], joint: str, turning: bool) -> Place:
    """The place of a joint among those of a world."""
    place = Place()
    place.joint, place.joints, place.turning = names.index(joint), len(names), int(turning)
    return place


def check_joint(joint: Any, what: str) -> None:
    """Refuse what is neither the name of a joint nor a joint."""
    named = isinstance(joint, str) and joint
    if not named and (isinstance(joint, type) or not callable(getattr(joint, "rows", None))):
        raise InputError(f"The joint of {what} is {joint!r}; give its name, or what scene.add_joint returned.")


def placed(force: Any, scene: Any, label: str) -> Any:
    """A force on a joint as a scene keeps it, with the joint's name, after a look at whether it is there and fits."""
    found = named_joint(force, scene, label)
    freedom_for(force.control, scene.joints[found.joint], f"Force {label!r}", found.joint)
    return found


def named_joint(force: Any, scene: Any, label: str) -> Any:
    """A force on a joint with the joint's name, after a look at whether it is there."""
    names = list(scene.joints)
    name = scene.joint_name(force.joint)
    if name is None:
        shown = repr(force.joint) if isinstance(force.joint, str) else f"a {type(force.joint).__name__}"
        raise UnknownName(
            f"Force {label!r} acts on the joint {shown}, which is not in the scene.{did_you_mean(force.joint, names)} "
            f"There are {listing(names)}."
        )
    return force if name == force.joint else replace(force, joint=name)


def freedom_for(control: str, joint: Any, what: str, name: str) -> str:
    """The freedom of a joint that a control drives, the turn before the slide; refused where the joint has none."""
    able = [freedom for freedom in (TURN, SLIDE) if _has(joint, freedom)]
    for freedom in CONTROLS[control]:
        if freedom in able:
            return freedom
    instead = [other for other in CONTROLS if set(CONTROLS[other]) & set(able)]
    hint = f" Of this joint it can control {listing(instead)}." if instead else ""
    raise InputError(
        f"{what} controls the {control} of joint {name!r}, a {type(joint).__name__}, which has none of its own; it "
        f"needs a joint that {NEEDED[control]}.{hint}"
    )


def _has(joint: Any, freedom: str) -> bool:
    """Whether one number tells the freedom: a turn must be the joint's only one, a slide is measured along z anyhow."""
    if freedom == SLIDE:
        return SLIDE in joint.freedoms
    return [name for name in joint.freedoms if name.startswith("turn")] == [TURN]
