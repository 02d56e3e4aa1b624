"""The rows of all joints as arrays: which condition each is, and what it is at one motion."""

import warp as wp

from rattleback.core.arrays import field, group
from rattleback.core.precision import real, vec3


@group(axis="rows")
class RowDefinitions:
    """Which condition each row is."""

    kind: wp.int32 = field("1", "kind of row, see constraints; −1 for a limit")
    axis_a: wp.int32 = field("1", "axis of frame A")
    axis_b: wp.int32 = field("1", "axis of frame B")
    offset: real = field("m or 1", "value its quantity must have")
    radius_a: real = field("m", "metres a radian of the first angle is worth, in rows that couple")
    radius_b: real = field("m", "the same of the second angle; of a rack, 1 where it leads its pinion")
    bend: vec3 = field("1", "parts of the second to fourth power of what leads, in rows that couple")
    is_length: wp.int32 = field("1", "1 where the error is a length, 0 where it is an angle")
    is_velocity: wp.int32 = field("1", "1 where only the velocity has a target, 0 where the position has one")
    rate: real = field("m/s or rad/s", "target of such a velocity; zero for the others")
    damping: real = field(
        "N s/m or N m s", "pull of a row that yields for every unit its rate is off; zero where it holds"
    )
    stiffness: real = field("N/m or N m/rad", "the same for every unit its quantity is off")
    armature: real = field("kg or kg m²", "inertia of a drive that moves with the row alone")
    friction: real = field("N or N m", "effort up to which a row that yields holds, and brakes beyond; zero for none")
    limit: real = field("N or N m", "largest effort of a row that yields; zero for none")


@group(axis="rows")
class Rows:
    """The rows at one motion."""

    linear: vec3 = field("1", "Jacobian by the velocity of B; that of A is its negative")
    angular_a: vec3 = field("m or 1", "Jacobian by the angular velocity of A")
    angular_b: vec3 = field("m or 1", "Jacobian by the angular velocity of B")
    spin_a: vec3 = field("1/(kg m)", "change of the angular velocity of A by a unit impulse")
    spin_b: vec3 = field("1/(kg m)", "change of the angular velocity of B")
    error: real = field("m or rad", "error at that motion")
    goal: real = field("m or rad", "error the step may leave; zero unless the joint is far open")
    wanted: real = field("m/s or rad/s", "change of the row's velocity that is looked for")
    impulse: real = field("N s or N m s", "impulse found for it")
    compliance: real = field("1/kg or 1/(kg m²)", "velocity it yields by a unit impulse; zero where it holds")
    begun: real = field("N s or N m s", "impulse of a row that yields when this part of the step began")
    yielded: real = field("m/s or rad/s", "velocity it has yielded by the impulse since")
    pull: real = field("1/s", "part of its law that looks at its error, see ``yielding``")
    brake: real = field("1", "part of its law that looks at its rate")
    carry: real = field("1", "part of its law that looks at the change of its rate")
    aim: real = field("m or rad", "error that its spring aims at, at the end of the step")
    next_aim: real = field("m or rad", "the same one step later")
    rate: real = field("m/s or rad/s", "its rate when the step began")
    entry: real = field("m/s or rad/s", "rate from which its armature counts in this half of the step")
    end: real = field("m or rad", "its error at the end of the step, when it was measured last")
    mode: wp.int32 = field("1", "0 where it holds or has its law, 1 or −1 beyond its bound, see ``bounded``")
    push: real = field("m/s or rad/s", "what its bound adds to its law")
    sent: real = field("m/s or rad/s", "its rate after the impulses at the start of the step")
    came: real = field("m/s or rad/s", "its rate before the impulses at the end of the step")
    work: real = field("J", "what it has done to the bodies by its impulse at the start of the step")
    mean: real = field("m/s or rad/s", "its mean rate over the step")
    steady: real = field("m/s or rad/s", "rate at the end of the step at which it does nothing")
