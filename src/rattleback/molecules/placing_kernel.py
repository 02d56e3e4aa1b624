"""The kernel that places atoms: see ``placing``."""

import warp as wp

from rattleback.core.kernel import kernel
from rattleback.core.precision import quat, real, vec3
from rattleback.kinematics.arrays import Links, Pose, carried, value_of
from rattleback.maths.quat import matrix_from_quat


@wp.func
def walk_links(
    links: Links, base: Pose, q: wp.array2d[real], row: int, place: wp.array2d[vec3], turn: wp.array2d[quat], lane: int
) -> None:
    """Write the frames of all links of conformation ``row`` to the lane's row."""
    for i in range(links.parent.shape[0]):
        parent = base
        p = links.parent[i]
        if p >= 0:
            parent.position = place[lane, p]
            parent.turn = turn[lane, p]
        pose = carried(links, i, value_of(links, i, q, row), parent)
        place[lane, i] = pose.position
        turn[lane, i] = wp.normalize(pose.turn)


@kernel
def place_atoms(
    links: Links,
    base: Pose,
    q: wp.array2d[real],
    place: wp.array2d[vec3],
    turn: wp.array2d[quat],
    own: wp.array[wp.int32],
    local: wp.array[vec3],
    found: wp.array2d[vec3],
) -> None:
    """Write the positions of all atoms in all conformations; each lane takes every so many."""
    lane = wp.tid()
    row = lane
    while row < q.shape[0]:
        walk_links(links, base, q, row, place, turn, lane)
        last = int(-1)
        matrix = matrix_from_quat(base.turn)
        for a in range(own.shape[0]):
            i = own[a]
            if i != last:
                matrix = matrix_from_quat(turn[lane, i])
                last = i
            found[row, a] = place[lane, i] + matrix * local[a]
        row += place.shape[0]
