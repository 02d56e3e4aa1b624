"""The memory of joints and servos from one step to the next."""

import warp as wp

from rattleback.core.arrays import field, group
from rattleback.core.precision import real
from rattleback.core.ranges import FLAG, NOT_NEGATIVE, between, row_of

# Angles this large [rad] still tell a ten-thousandth; at 1000 rad/s they are reached in 35 years.
MOST_TURNED = 2.0**40
TURNED = between(-MOST_TURNED, MOST_TURNED)


@group(axis="joints")
class JointState:
    """Memory of joints: angles counted over full turns, in double precision, and their loads."""

    angle: wp.float64 = field(
        "rad", "turn of B against A about the z axis; of a gear, azimuth of B's centre in A", within=TURNED
    )
    other_angle: wp.float64 = field("rad", "of a gear, azimuth of A's centre in B; else zero", within=TURNED)
    load: real = field("N s", "half of the size of its impulse in the last step", within=NOT_NEGATIVE)
    peak: real = field(
        "J", "largest energy of motion of its mechanism lately, at the first joint of that", within=NOT_NEGATIVE
    )
    gap: real = field("m", "how far joints of that are apart since the user put them so", within=NOT_NEGATIVE)
    debt: real = field("J", "what joints and contacts of that have added to its energy lately", within=NOT_NEGATIVE)
    highest: real = field("J", "largest energy of motion of a world lately", axis="worlds", within=NOT_NEGATIVE)
    surplus: real = field(
        "J", "what joints and contacts of a world have added to it lately, untold", axis="worlds", within=NOT_NEGATIVE
    )


@group(axis="servos")
class ServoState:
    """Memory of servos: the last error, and its integral over a window as a ring of intervals."""

    target: real = field("rad, m, rad/s or m/s", "target set by hand; unused where manual is 0")
    manual: wp.int32 = field("1", "1 where the target was set by hand", within=FLAG)
    error: real = field("rad, m, rad/s or m/s", "error at the start of the last step")
    step: wp.float64 = field("s", "length of the last step; zero before the first", within=NOT_NEGATIVE)
    integral: real = field("rad s, m s, rad or m", "integral of the error over the window")
    effort: real = field("N m or N", "effort in the last step")
    newest: wp.int32 = field("1", "place of the newest stretch in the ring", within=row_of("ring"))
    duration: wp.float64 = field("s", "length of a stretch", axis="stretches", within=NOT_NEGATIVE)
    area: real = field("rad s, m s, rad or m", "integral of the error over a stretch", axis="stretches")
