"""Contacts: the points where bodies touch, as collision finding writes them and solvers read them."""

import warp as wp

from rattleback.core.arrays import field, group
from rattleback.core.precision import real, vec3


@group(axis="contacts")
class Contacts:
    """Contact points, sorted by their colliders; those of one pair of solids have one normal.

    The surfaces are at ``point ± ½ separation normal``, that of A on the side of the normal.
    """

    body_a: wp.int32 = field("1", "row of body A")
    body_b: wp.int32 = field("1", "row of body B")
    collider_a: wp.int32 = field("1", "collider of A; of a lower row than that of B")
    collider_b: wp.int32 = field("1", "collider of B")
    part: wp.int32 = field("1", "triangle of the one that is a mesh; -1 where none is")
    feature: wp.int32 = field("1", "feature id of the point within its pair; small motions leave it as it is")
    normal: vec3 = field("1", "unit normal from B to A")
    point: vec3 = field("m", "middle between the two surfaces, world frame")
    separation: real = field("m", "signed distance of the surfaces along the normal; negative where they overlap")
    previous: wp.int32 = field("1", "row of the same point in the last list; -1 for a new one")
    rests: wp.int32 = field("1", "1 where all but ``previous`` is as it was in the same row in the last list")
    first: wp.int32 = field("1", "first contact of a collider as A; one more entry than colliders", axis="rows")
    needed: wp.int32 = field("1", "number of contacts there are, whether they fit or not", axis="one")
    alike: wp.int32 = field("1", "1 where all rows belong to the same solids as the last time; -1 if moved", axis="one")
    carried: wp.int32 = field("1", "1 where every contact is in the row it was in the last time", axis="one")
    times: wp.int32 = field("1", "how often contacts were found, where that is counted", axis="one")
