"""Candidate pairs: what a broad phase hands to the narrow phase, and which colliders may meet at all.

Row k of ``Pairs`` is a pair of colliders a < b whose boxes overlap and which may meet. The pairs of collider a are the
rows first[a] … first[a + 1] − 1, sorted by b: the list is the same whatever method found it, on every device.
"""

import warp as wp

from rattleback.collision.geometry.colliders import Colliders, Exclusions
from rattleback.core.arrays import field, group


@group(axis="pairs")
class Pairs:
    """Pairs of colliders whose boxes overlap."""

    a: wp.int32 = field("1", "first collider")
    b: wp.int32 = field("1", "second collider, of a higher row")
    first: wp.int32 = field("1", "first pair of a collider; one more entry than colliders", axis="colliders_and_one")
    needed: wp.int32 = field("1", "number of pairs there are, whether they fit or not", axis="one")


@wp.func
def may_meet(colliders: Colliders, exclusions: Exclusions, each_body: int, i: int, j: int) -> bool:
    """Whether two colliders may touch: of one world and two bodies, one of which moves, and not filtered out.

    Args:
        colliders: The colliders.
        exclusions: Bodies that must not meet.
        each_body: Number of bodies of a world.
        i: A collider.
        j: Another one.
    """
    if colliders.world[i] != colliders.world[j] or colliders.body[i] == colliders.body[j]:
        return False
    if colliders.movable[i] + colliders.movable[j] == 0:
        return False
    if (colliders.category[i] & colliders.mask[j]) == 0 or (colliders.category[j] & colliders.mask[i]) == 0:
        return False
    other = colliders.body[j] - colliders.world[j] * each_body
    for k in range(colliders.excluded[i], colliders.excluded[i] + colliders.exclusions[i]):
        if exclusions.body[k] == other:
            return False
    return True
