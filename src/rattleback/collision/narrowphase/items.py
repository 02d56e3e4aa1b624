"""Items: the pairs of convex solids that the narrow phase tests, with meshes taken apart into triangles.

A pair of convex colliders is one item; a pair with a mesh or a height field is one item for each triangle whose box
overlaps the other collider. The items of pair k are the rows first[k] … first[k + 1] − 1. Triangles that only the
stretched box reaches come last in their pair.
"""

import warp as wp

from rattleback.core.arrays import field, group
from rattleback.core.precision import real


@group(axis="items")
class Items:
    """Two convex solids to be tested."""

    a: wp.int32 = field("1", "first collider")
    b: wp.int32 = field("1", "second collider")
    part: wp.int32 = field("1", "triangle of the one that is a mesh; -1 where none is")
    pair: wp.int32 = field("1", "pair it belongs to")
    speculative_margin: real = field("m", "gap beyond the contact distance up to which they are tested; zero for none")
    approach: real = field("m", "how much nearer they may come in the step by their velocities")
    margin_class: wp.int32 = field("1", "class of the speculative margin; zero for none")
    kept: wp.int32 = field("1", "1 where it keeps the manifold of the last detection, in the same slot")
    first: wp.int32 = field("1", "first item of a pair; one more entry than pairs", axis="pairs_and_one")
    speculative_count: wp.int32 = field(
        "1", "number of items of a pair that only its stretched box reaches, its last ones", axis="pairs_and_one"
    )
    chosen: wp.int32 = field("1", "1 where the points on the surface of a pair are chosen", axis="pairs_and_one")
    changed: wp.int32 = field(
        "1", "1 where an item is not the one that was in its slot in the last detection", axis="one"
    )
    needed: wp.int32 = field("1", "number of items there are, whether they fit or not", axis="one")
