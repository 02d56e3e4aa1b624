"""Items: the pairs a narrow phase looks at, with meshes taken apart into triangles.

A pair of convex colliders is one item; a pair with a mesh or a height field is one item for each of its triangles whose
box overlaps the other collider. The items of pair k are the rows first[k] … first[k + 1] − 1.
"""

import warp as wp

from rattleback.core.arrays import field, group


@group(axis="items")
class Items:
    """Two convex solids to be looked at."""

    a: wp.int32 = field("1", "first collider")
    b: wp.int32 = field("1", "second collider")
    part: wp.int32 = field("1", "triangle of the one that is a mesh; -1 where none is")
    pair: wp.int32 = field("1", "pair it belongs to")
    first: wp.int32 = field("1", "first item of a pair; one more entry than pairs", axis="pairs_and_one")
    needed: wp.int32 = field("1", "number of items there are, whether they fit or not", axis="one")
