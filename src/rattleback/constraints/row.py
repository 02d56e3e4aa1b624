"""The alphabet of rows: conditions between two frames, each with its error and its Jacobian at any two poses.

A frame is fixed to each of two bodies: its origin is the anchor, its axes are x, y, z. With d the way from the anchor
of A to that of B, a_k and b_l axes of the two frames, r the rotation from frame A to frame B as a quaternion:

| kind | error e | what it forbids |
|---|---|---|
| ``slide`` | d · a_k − offset | B moving along an axis of A |
| ``cross`` | a_k · b_l − offset | the angle between two axes changing; with offset 0 they stay perpendicular |
| ``orient`` | 2 r_k (sign of r_w) | B turning about an axis of A |
| ``distance`` | |d| − offset | the anchors coming closer or drifting apart |
| ``radius`` | |d − (d · a_z) a_z| − offset | B leaving a cylinder about the z axis of A |

The Jacobian gives ė = j_a · v_A + k_a · ω_A + j_b · v_B + k_b · ω_B exactly, also away from e = 0. A joint is a list
of rows; no solver knows which.

Reference: Bender, dissertation, section 3.2.3, where the projections P of the six basic joints are lists of these rows.
"""

import warp as wp

from rattleback.core.precision import quat, real, vec3
from rattleback.maths.quat import rotate

SLIDE, CROSS, ORIENT, DISTANCE, RADIUS = range(5)
KINDS = {"slide": SLIDE, "cross": CROSS, "orient": ORIENT, "distance": DISTANCE, "radius": RADIUS}
# Rows whose error is a length; the others are angles.
LENGTHS = ("slide", "distance", "radius")


@wp.struct
class Letter:
    """One row of a joint: which condition, on which axes."""

    kind: wp.int32
    axis_a: wp.int32
    axis_b: wp.int32
    offset: real


@wp.struct
class Frames:
    """The two frames of a joint in the world, and the levers from the centres of mass to their origins."""

    turn_a: quat
    turn_b: quat
    lever_a: vec3
    lever_b: vec3
    way: vec3


@wp.struct
class Row:
    """Error and Jacobian of one row."""

    error: real
    linear_a: vec3
    angular_a: vec3
    linear_b: vec3
    angular_b: vec3


@wp.func
def axis(q: quat, k: int) -> vec3:
    """Axis k of a frame, in the world."""
    e = vec3()
    e[k] = real(1.0)
    return rotate(q, e)


@wp.func
def along(n: vec3, frames: Frames, error: real) -> Row:
    """A row that measures the way along n, an axis that turns with A."""
    row = Row()
    row.error = error
    row.linear_a = -n
    row.angular_a = -wp.cross(frames.lever_a + frames.way, n)
    row.linear_b = n
    row.angular_b = wp.cross(frames.lever_b, n)
    return row


@wp.func
def about(n: vec3, error: real) -> Row:
    """A row that measures the turning of B against A about n."""
    row = Row()
    row.error = error
    row.angular_a = -n
    row.angular_b = n
    return row


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
def row_of(letter: Letter, frames: Frames) -> Row:
    """Error and Jacobian of a row at two poses."""
    if letter.kind == SLIDE:
        n = axis(frames.turn_a, letter.axis_a)
        return along(n, frames, wp.dot(frames.way, n) - letter.offset)
    if letter.kind == CROSS:
        a = axis(frames.turn_a, letter.axis_a)
        b = axis(frames.turn_b, letter.axis_b)
        return about(wp.cross(b, a), wp.dot(a, b) - letter.offset)
    if letter.kind == ORIENT:
        return orient_row(frames, letter.axis_a)
    p = frames.way
    if letter.kind == RADIUS:
        z = axis(frames.turn_a, 2)
        p = p - wp.dot(p, z) * z
    length = wp.length(p)
    n = axis(frames.turn_a, 0)
    if length > real(0.0):
        n = p / length
    if letter.kind == DISTANCE:
        row = along(n, frames, length - letter.offset)
        row.angular_a = -wp.cross(frames.lever_a, n)
        return row
    return along(n, frames, length - letter.offset)


@wp.func
def error_of(letter: Letter, frames: Frames, local: vec3) -> real:
    """Error of a row alone; ``local`` is the way in the axes of A."""
    if letter.kind == SLIDE:
        return local[letter.axis_a] - letter.offset
    return row_of(letter, frames).error
