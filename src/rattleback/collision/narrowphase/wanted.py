"""What is wanted of contact regions."""

import warp as wp

from rattleback.core.precision import real

# Name of a point that belongs to no corner: where round solids touch.
ALONE = wp.constant(2097152)


@wp.struct
class Wanted:
    """Surfaces no farther apart than ``gap``, at most so many points, that many slots of an item."""

    gap: real
    most: wp.int32
