"""Coordinates of what a joint leaves free, with their Jacobians: what limits are set on.

| freedom | coordinate q | rate |
|---|---|---|
| ``slide_z`` | d · a_z | B's anchor moving along the z axis of A |
| ``turn_z`` | θ, turn of frame B against frame A about z | see ``coupling`` |
| ``turn_a`` | azimuth of b_z in frame A | B turning about the z axis of A, where b_z is perpendicular to it |
| ``swing`` | angle between a_z and b_z | B turning about a_z × b_z |
| ``twist`` | θ, nearest zero | see ``coupling`` |
| ``turn_b`` | minus the azimuth of a_z in frame B | B turning about its own z axis, where a_z is perpendicular to it |

Symbols: d way from anchor to anchor; a_z, b_z the z axes of the frames; azimuths and θ as in ``coupling``. The azimuth
of a vector v that turns with B changes by (ω_B − ω_A) · (v × t). An angle is the one nearest a given one. A
swing of zero or of half a turn has no direction and its row is empty.
"""

import warp as wp

from rattleback.constraints.coupling import azimuth, counted, screw_direction, steepest, twist
from rattleback.constraints.frame import Frames, Row, about, along, axis
from rattleback.core.precision import real

SLIDE_Z, TURN_Z, TURN_A, TURN_B, SWING = range(5)
COORDINATES = {
    "slide_z": SLIDE_Z, "turn_z": TURN_Z, "turn_a": TURN_A, "turn_b": TURN_B, "swing": SWING, "twist": TURN_Z,
}  # fmt: skip


@wp.func
def coordinate(freedom: wp.int32, frames: Frames, near: wp.float64) -> wp.float64:
    """A coordinate at two poses; of the angles that differ by full turns the one nearest ``near``."""
    if freedom == SLIDE_Z:
        return wp.float64(wp.dot(frames.way, axis(frames.turn_a, 2)))
    if freedom == TURN_A:
        return counted(azimuth(frames.turn_a, axis(frames.turn_b, 2)), near)
    if freedom == TURN_B:
        return counted(-azimuth(frames.turn_b, axis(frames.turn_a, 2)), near)
    if freedom == SWING:
        a = axis(frames.turn_a, 2)
        b = axis(frames.turn_b, 2)
        return wp.float64(wp.atan2(wp.length(wp.cross(a, b)), wp.dot(a, b)))
    return counted(twist(frames), near)


@wp.func
def coordinate_row(freedom: wp.int32, frames: Frames) -> Row:
    """The Jacobian of a coordinate; its error is left at zero."""
    if freedom == SLIDE_Z:
        return along(axis(frames.turn_a, 2), frames, real(0.0))
    if freedom == TURN_A:
        z = axis(frames.turn_b, 2)
        return about(wp.cross(z, steepest(frames.turn_a, z)), real(0.0))
    if freedom == TURN_B:
        z = axis(frames.turn_a, 2)
        return about(wp.cross(z, steepest(frames.turn_b, z)), real(0.0))
    if freedom == SWING:
        return about(wp.normalize(wp.cross(axis(frames.turn_a, 2), axis(frames.turn_b, 2))), real(0.0))
    return about(screw_direction(frames), real(0.0))
