"""Limits of a manifold: the largest gap of its points, and how many points it may have.

Feature ids are smaller than ``FEATURE_IDS``. Contacts carry the class of their speculative margin above it:
id in the list = FEATURE_IDS · class + feature id.
"""

import warp as wp

from rattleback.core.precision import real

# Feature id of a point that belongs to no vertex: where round solids touch.
NO_VERTEX = wp.constant(2097152)
# Feature ids are smaller than this.
FEATURE_IDS = wp.constant(2**24)


@wp.struct
class ManifoldLimits:
    """Largest gap and number of points.

    Points have a gap of at most ``max_gap`` plus the speculative margin of their item. An item has ``most`` slots,
    which a speculative manifold may fill; any other manifold has at most ``few`` points.
    """

    max_gap: real
    most: wp.int32
    few: wp.int32


@wp.func
def points_of(limits: ManifoldLimits, margin_class: int) -> int:
    """Most points of a manifold whose speculative margin has this class."""
    return wp.where(margin_class > 0, limits.most, limits.few)
