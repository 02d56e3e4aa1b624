"""The rows of cones during a step: they go along with the way on which the axes of a ball joint part.

    n = a_z × b_z/|a_z × b_z| at the end of the step, in frame A;   the row turns B about R_A n, R_A at its start

The coordinate of a cone is a length, that of the swing, and its gradient turns as the swing goes around or through
zero: a light limb passes by the axis in one step, and the direction of its start then pushes it further out. Where the
direction at the predicted end is another, the row is made anew along that, and of the impulse so far only the part
along it counts. Worlds that are stiff have all their rows from the end of the step already.

Cost: a look at every cone at each prediction; columns of the stops anew where a row has turned.
"""

import warp as wp

from rattleback.constraints.coordinate import SWING, coordinate_row
from rattleback.core.kernel import kernel
from rattleback.core.precision import real
from rattleback.maths.quat import rotate, rotate_back
from rattleback.problem.joint_limits import StopRows, StopStatus
from rattleback.problem.joint_rows import Inertias, frames_of, respond

# Cosine of the angle by which the direction of a swing may turn before its row is made anew.
SAME = wp.constant(real(0.995))


@kernel
def turn_swings(system: StopRows, inertias: Inertias) -> None:
    """The row of a cone along the swing at the predicted end of the step, where that is another than before."""
    s = wp.tid()
    stops = system.stops
    j = stops.joint[s]
    w = system.joints.world[j]
    if stops.freedom[s] != SWING or system.loop.going[w] == 0 or system.loop.stiff[w] == 1:
        return
    if system.joints.broken[j] != 0:
        return
    end = frames_of(system.joints, system.flight.end, j)
    n = rotate_back(end.turn_a, coordinate_row(SWING, end).angular_b)
    n = rotate(frames_of(system.joints, system.flight.start, j).turn_a, n)
    r = stops.row[s]
    along = wp.dot(n, system.rows.angular_b[r])
    if along > SAME or wp.length_sq(n) == real(0.0):
        return
    system.rows.angular_a[r] = -n
    system.rows.angular_b[r] = n
    respond(system.joints, inertias, system.rows, j, r)
    stops.total[s] = wp.max(along, real(0.0)) * stops.total[s]
    system.status.anew[w] = 1


@kernel
def end_turns(status: StopStatus) -> None:
    """The columns of rows that were made anew are forgotten."""
    status.anew[wp.tid()] = 0
