"""What is wanted of contact regions."""

import warp as wp

from rattleback.core.precision import real

# Name of a point that belongs to no corner: where round solids touch.
ALONE = wp.constant(2097152)
# Names of points are smaller than this; contacts carry the class of what lies ahead of their item above it.
NAMES = wp.constant(2**24)


@wp.struct
class Wanted:
    """Surfaces no farther apart than ``gap`` and an item's ``ahead``, and so many points.

    ``most`` are the slots of an item and the points of a region that lies ahead, ``few`` those of others.
    """

    gap: real
    most: wp.int32
    few: wp.int32


@wp.func
def points_of(wanted: Wanted, sight: int) -> int:
    """Most points of a region of this class."""
    return wp.where(sight > 0, wanted.most, wanted.few)
