"""What is wanted of contact regions."""

import warp as wp

from rattleback.core.precision import real

# Name of a point that belongs to no corner: where round solids touch.
NO_VERTEX = wp.constant(2097152)
# Names of points are smaller than this; contacts carry the class of what lies ahead of their item above it.
FEATURE_IDS = wp.constant(2**24)


@wp.struct
class ManifoldLimits:
    """Surfaces no farther apart than ``max_gap`` and an item's ``ahead``, and so many points.

    ``most`` are the slots of an item and the points of a region that lies ahead, ``few`` those of others.
    """

    max_gap: real
    most: wp.int32
    few: wp.int32


@wp.func
def points_of(limits: ManifoldLimits, margin_class: int) -> int:
    """Most points of a region of this class."""
    return wp.where(margin_class > 0, limits.most, limits.few)
