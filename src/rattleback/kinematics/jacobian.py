"""The geometric Jacobian: how a point and a frame of a tree move with its coordinates.

    V = J q̇,   J_c = Σ r_i (a_i × (p − o_i), a_i)   for revolute,   Σ r_i (a_i, 0)   for prismatic joints

V velocity of the point p above angular velocity of its frame; the sum is over the joints i between the base and the
frame that coordinate c moves, r_i by how much, a_i axis and o_i place of the joint, all in the world.

Reference: lecture notes on forward and inverse kinematics, §4.2, geometric Jacobian.
"""

from typing import Any

import numpy as np
import warp as wp

from rattleback.core.kernel import kernel
from rattleback.core.precision import quat, real, vec3
from rattleback.kinematics.arrays import FIXED, REVOLUTE, Links
from rattleback.kinematics.forward import lanes_on, link_poses
from rattleback.maths.quat import rotate
from rattleback.maths.rotation import rotate as turned


@wp.func
def add_columns(
    links: Links,
    position: wp.array2d[vec3],
    turn: wp.array2d[quat],
    row: int,
    link: int,
    point: vec3,
    jacobian: wp.array3d[real],
) -> None:
    """Add the columns of the joints that carry a link to the Jacobian of a point of the world on it."""
    i = int(link)
    while i >= 0:
        c = links.coordinate[i]
        if c >= 0 and links.kind[i] != FIXED:
            axis = links.ratio[i] * rotate(turn[row, i], links.axis[i])
            linear, angular = axis, vec3()
            if links.kind[i] == REVOLUTE:
                linear, angular = wp.cross(axis, point - position[row, i]), axis
            for k in range(3):
                jacobian[row, k, c] = jacobian[row, k, c] + linear[k]
                jacobian[row, 3 + k, c] = jacobian[row, 3 + k, c] + angular[k]
        i = links.parent[i]


@kernel
def fill_jacobians(
    links: Links,
    position: wp.array2d[vec3],
    turn: wp.array2d[quat],
    link: int,
    point: vec3,
    jacobian: wp.array3d[real],
    lanes: int,
) -> None:
    """Fill the Jacobians of a point on a link, in its frame, in all configurations."""
    row = wp.tid()
    while row < position.shape[0]:
        where = position[row, link] + rotate(turn[row, link], point)
        add_columns(links, position, turn, row, link, where, jacobian)
        row += lanes


def geometric(tree: Any, q: Any, tool: str, point: Any) -> np.ndarray:
    """Jacobians of a point of a tool or a link (..., 6, coordinates), velocity above angular velocity."""
    rows, shape = tree.configurations(q)
    link, frame = tree.tool(tool)
    local = np.array(frame.position) + turned(np.array(frame.orientation), np.asarray(point, dtype=np.float64))
    position, turn = link_poses(tree, rows)
    size = (len(rows), 6, len(tree.coordinates))
    jacobian, lanes = wp.zeros(size, dtype=real, device=tree.device), lanes_on(tree.device, len(rows))
    inputs = [tree.arrays, position, turn, link, vec3(*local.tolist()), jacobian, lanes]
    wp.launch(fill_jacobians, lanes, inputs, device=tree.device)
    return np.asarray(jacobian.numpy(), dtype=np.float64).reshape(*shape, 6, size[2])
