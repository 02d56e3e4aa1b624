"""The memory of trees in reduced coordinates: what the rates of their joints gained in the last steps."""

import warp as wp

from rattleback.core.arrays import field, group
from rattleback.core.precision import real, vec3
from rattleback.core.ranges import NOT_NEGATIVE


@group(axis="bodies")
class TreeMemory:
    """Gains of the joint that carries a body, in half of a step: of its turns, and of its slides or free velocity.

    A step starts from them with its mean rates; they change how many rounds it takes, and nothing else but rounding.
    """

    turn: vec3 = field("rad/s", "gain of the rates of its turns in the last step")
    slide: vec3 = field("m/s", "gain of the rates of its slides")
    turn_rise: vec3 = field("rad/s", "that gain less the one of the step before")
    slide_rise: vec3 = field("m/s", "the same of slides")
    ratio: real = field(
        "1", "part of a change of the rates that a round left, when last seen", axis="worlds", within=NOT_NEGATIVE
    )
    age: wp.int32 = field("1", "steps since then", axis="worlds", within=NOT_NEGATIVE)
