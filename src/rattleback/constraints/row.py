"""Row definitions: conditions between two frames, each with its error and its Jacobian at any two poses.

A frame is fixed to each of two bodies: its origin is the anchor, its axes are x, y, z. With d the way from the anchor
of A to that of B, a_k and b_l axes of the two frames, r the rotation from frame A to frame B as a quaternion:

| kind | error e | what it forbids |
|---|---|---|
| ``slide`` | d · a_k − offset | B moving along an axis of A |
| ``cross`` | a_k · b_l − offset | the angle between two axes changing; with offset 0 they stay perpendicular |
| ``orient`` | 2 r_k (sign of r_w) | B turning about an axis of A |
| ``distance`` | |d| − offset | the anchors coming closer or drifting apart |
| ``radius`` | |d − (d · a_z) a_z| − offset | B leaving a cylinder about the z axis of A |
| ``screw``, ``mesh``, ``rack`` | see ``constraints.coupling`` | a slide and a turn, or two turns, going on apart |
| ``turn`` | q − offset, q a turn left free, see ``coordinate`` | that turn; for springs and drives |
| ``linear_rate`` | none; ė = velocity of B's anchor against A, along a_k | that velocity being another than ``rate`` |
| ``angular_rate`` | none; ė = a_k · (ω_B − ω_A) | that angular velocity being another than ``rate`` |

The Jacobian gives ė = j_a · v_A + k_a · ω_A + j_b · v_B + k_b · ω_B exactly, also away from e = 0. A joint is a list
of rows; no solver knows which.

Reference: Bender, dissertation, section 3.2.3, where the projections P of the six basic joints are lists of these rows.
"""

import warp as wp

from rattleback.constraints.coordinate import TURN_Z, coordinate, coordinate_row
from rattleback.constraints.coupling import MESH, RACK, SCREW, coupling_error, coupling_row
from rattleback.constraints.frame import Frames, Row, about, along, axis
from rattleback.constraints.frame import RowDefinition as RowDefinition
from rattleback.core.precision import real, vec3
from rattleback.maths.quat import rotate

SLIDE, CROSS, ORIENT, DISTANCE, RADIUS = range(5)
LINEAR_RATE, ANGULAR_RATE, FREE_TURN = 8, 9, 10
KINDS = {
    "slide": SLIDE,
    "cross": CROSS,
    "orient": ORIENT,
    "distance": DISTANCE,
    "radius": RADIUS,
    "screw": SCREW,
    "mesh": MESH,
    "rack": RACK,
    "linear_rate": LINEAR_RATE,
    "angular_rate": ANGULAR_RATE,
    "turn": FREE_TURN,
}
# Rows whose error is a length; the others are angles.
LENGTHS = ("slide", "distance", "radius", "screw", "mesh", "rack", "linear_rate")
# Rows that couple: their error needs angles counted on over full turns.
COUPLINGS = ("screw", "mesh", "rack")
# Rows without a position: their velocity has a target, their error is zero.
VELOCITY_ONLY = ("linear_rate", "angular_rate")


@wp.func
def orient_row(frames: Frames, k: int) -> Row:
    """With r = q_a* q_b, e = 2 r_k on the half where r_w ≥ 0; ė = ω · q_a (r_w e_k + r_v × e_k)."""
    r = wp.quat_inverse(frames.turn_a) * frames.turn_b
    if r[3] < real(0.0):
        r = -r
    e = vec3()
    e[k] = real(1.0)
    n = rotate(frames.turn_a, r[3] * e + wp.cross(vec3(r[0], r[1], r[2]), e))
    return about(n, real(2.0) * r[k])


@wp.func
def turn_row(definition: RowDefinition, frames: Frames) -> Row:
    """A turn that the joint leaves free; one about z is counted over full turns."""
    freedom = TURN_Z + definition.axis_a
    near = wp.where(freedom == TURN_Z, frames.angle, wp.float64(0.0))
    row = coordinate_row(freedom, frames)
    row.error = real(coordinate(freedom, frames, near) - wp.float64(definition.offset))
    return row


@wp.func
def plain_row(definition: RowDefinition, frames: Frames) -> Row:
    """Error and Jacobian of a row that does not couple."""
    if definition.kind == SLIDE:
        n = axis(frames.turn_a, definition.axis_a)
        return along(n, frames, wp.dot(frames.way, n) - definition.offset)
    if definition.kind == CROSS:
        a = axis(frames.turn_a, definition.axis_a)
        b = axis(frames.turn_b, definition.axis_b)
        return about(wp.cross(b, a), wp.dot(a, b) - definition.offset)
    if definition.kind == ORIENT:
        return orient_row(frames, definition.axis_a)
    if definition.kind == LINEAR_RATE:
        return along(axis(frames.turn_a, definition.axis_a), frames, real(0.0))
    if definition.kind == ANGULAR_RATE:
        return about(axis(frames.turn_a, definition.axis_a), real(0.0))
    p = frames.way
    if definition.kind == RADIUS:
        z = axis(frames.turn_a, 2)
        p = p - wp.dot(p, z) * z
    length = wp.length(p)
    n = axis(frames.turn_a, 0)
    if length > real(0.0):
        n = p / length
    if definition.kind == DISTANCE:
        row = along(n, frames, length - definition.offset)
        row.angular_a = -wp.cross(frames.lever_a, n)
        return row
    return along(n, frames, length - definition.offset)


@wp.func
def row_of(definition: RowDefinition, frames: Frames) -> Row:
    """Error and Jacobian of a row at two poses."""
    if definition.kind == FREE_TURN:
        return turn_row(definition, frames)
    if definition.kind < SCREW or definition.kind > RACK:
        return plain_row(definition, frames)
    row = coupling_row(definition, frames)
    row.error = coupling_error(definition, frames)
    return row


@wp.func
def plain_error(definition: RowDefinition, frames: Frames, local: vec3) -> real:
    """Error of a row that does not couple; ``local`` is the way in the axes of A."""
    if definition.kind == SLIDE:
        return local[definition.axis_a] - definition.offset
    return plain_row(definition, frames).error


@wp.func
def error_of(definition: RowDefinition, frames: Frames, local: vec3) -> real:
    """Error of any row but a free turn, which only yields and is measured apart.

    Where speed counts, call the one of the two that is meant: both in one loop cost a tenth.
    """
    if definition.kind < SCREW or definition.kind > RACK:
        return plain_error(definition, frames, local)
    return coupling_error(definition, frames)
