"""Two frames and a row between them: the pieces every kind of row is put together from.

    along   ė = n · (ḋ − ω_A × d)      n turns with A
    about   ė = n · (ω_B − ω_A)

with d the way from anchor to anchor, ḋ = v_B + ω_B × l_B − v_A − ω_A × l_A, and l the levers from the centres of mass.
Impulses along such rows keep linear and angular momentum.
"""

import warp as wp

from rattleback.core.precision import quat, real, vec3
from rattleback.maths.quat import rotate


@wp.struct
class Frames:
    """The two frames of a joint in the world, and the levers from the centres of mass to their origins.

    ``angle`` and ``other_angle`` are the angles remembered from the last step, with all their turns [rad]; only the
    errors of rows that couple need them, no Jacobian does.
    """

    turn_a: quat
    turn_b: quat
    lever_a: vec3
    lever_b: vec3
    way: vec3
    angle: wp.float64
    other_angle: wp.float64


@wp.struct
class Row:
    """Error and Jacobian of one row."""

    error: real
    linear_a: vec3
    angular_a: vec3
    linear_b: vec3
    angular_b: vec3


@wp.struct
class RowDefinition:
    """One row of a joint: which condition, on which axes; the radii are the metres a coupling gives for a radian.

    ``bend`` are the parts of the second, third and fourth power of what leads a coupling, see ``coupling``.
    """

    kind: wp.int32
    axis_a: wp.int32
    axis_b: wp.int32
    offset: real
    radius_a: real
    radius_b: real
    bend: vec3


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
