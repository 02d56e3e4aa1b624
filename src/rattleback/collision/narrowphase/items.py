"""Items: the pairs a narrow phase looks at, with meshes taken apart into triangles.

A pair of convex colliders is one item; a pair with a mesh or a height field is one item for each of its triangles whose
box overlaps the other collider. The items of pair k are the rows first[k] … first[k + 1] − 1. Where contacts that lie
ahead are looked for, the triangles that only come near in the coming step are the last ones of a pair.
"""

import warp as wp

from rattleback.core.arrays import field, group
from rattleback.core.precision import real


@group(axis="items")
class Items:
    """Two convex solids to be looked at."""

    a: wp.int32 = field("1", "first collider")
    b: wp.int32 = field("1", "second collider")
    part: wp.int32 = field("1", "triangle of the one that is a mesh; -1 where none is")
    pair: wp.int32 = field("1", "pair it belongs to")
    speculative_margin: real = field(
        "m", "how much farther apart than the contact distance they may be; zero for nothing ahead"
    )
    approach: real = field("m", "how much nearer they may come in the step by their velocities; zero for nothing ahead")
    margin_class: wp.int32 = field("1", "class of what lies ahead; zero for nothing")
    kept: wp.int32 = field("1", "1 where it has the answer of the last time, in the same slot")
    first: wp.int32 = field("1", "first item of a pair; one more entry than pairs", axis="pairs_and_one")
    speculative_count: wp.int32 = field(
        "1", "number of items of a pair that only lie ahead, its last ones", axis="pairs_and_one"
    )
    chosen: wp.int32 = field("1", "1 where the points on the surface of a pair are chosen", axis="pairs_and_one")
    changed: wp.int32 = field("1", "1 where an item is not the one that was in its slot the last time", axis="one")
    needed: wp.int32 = field("1", "number of items there are, whether they fit or not", axis="one")
