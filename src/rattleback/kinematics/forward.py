"""Forward kinematics: frames of links and tools, for one configuration or a million.

    T(q) = B · ∏ P_i M_i(q) · F

B frame of the base, P_i place of joint i in the link before, M_i its turn or way, F frame of the tool on the last link;
the product is over the links from the base to the tool.

One thread walks the links of one configuration from the base outwards, parents before children. On the CPU a single
thread takes all configurations, which spares it the cost of starting each.

Reference: lecture notes on forward and inverse kinematics, §4.2.
"""

import functools
from typing import Any

import numpy as np
import warp as wp

from rattleback.core.kernel import kernel
from rattleback.core.precision import numpy_real, quat, real, vec3
from rattleback.kinematics.arrays import Links, Pose, carried, value_of
from rattleback.kinematics.link import Frame
from rattleback.maths.quat import matrix_from_quat, rotate


@wp.func
def walk(
    links: Links,
    base: Pose,
    q: wp.array2d[real],
    row: int,
    position: wp.array2d[vec3],
    turn: wp.array2d[quat],
) -> None:
    """Write the frames of all links in one configuration."""
    for i in range(links.parent.shape[0]):
        parent = base
        p = links.parent[i]
        if p >= 0:
            parent.position = position[row, p]
            parent.turn = turn[row, p]
        pose = carried(links, i, value_of(links, i, q, row), parent)
        position[row, i] = pose.position
        turn[row, i] = pose.turn


@kernel
def walk_all(
    links: Links,
    base: Pose,
    q: wp.array2d[real],
    position: wp.array2d[vec3],
    turn: wp.array2d[quat],
    lanes: int,
) -> None:
    """Write the frames of all links in all configurations; each of ``lanes`` threads takes every so many."""
    row = wp.tid()
    while row < q.shape[0]:
        walk(links, base, q, row, position, turn)
        row += lanes


@kernel
def write_tools(
    links: Links,
    base: Pose,
    route: wp.array[wp.int32],
    q: wp.array2d[real],
    tool: Pose,
    matrix: wp.array3d[real],
    lanes: int,
) -> None:
    """Write the frame of a tool as a matrix, in all configurations; the route is the links that lead to it."""
    row = wp.tid()
    while row < q.shape[0]:
        pose = base
        for k in range(route.shape[0]):
            i = route[k]
            pose = carried(links, i, value_of(links, i, q, row), pose)
        position = pose.position + rotate(pose.turn, tool.position)
        turned = matrix_from_quat(wp.normalize(pose.turn * tool.turn))
        for r in range(3):
            for c in range(3):
                matrix[row, r, c] = turned[r, c]
                matrix[row, 3, c] = real(0.0)
            matrix[row, r, 3] = position[r]
        matrix[row, 3, 3] = real(1.0)
        row += lanes


@kernel
def write_links(position: wp.array2d[vec3], turn: wp.array2d[quat], matrix: wp.array4d[real], lanes: int) -> None:
    """Write the frames of all links as matrices, in all configurations."""
    row = wp.tid()
    while row < position.shape[0]:
        for i in range(position.shape[1]):
            turned = matrix_from_quat(wp.normalize(turn[row, i]))
            for r in range(3):
                for c in range(3):
                    matrix[row, i, r, c] = turned[r, c]
                matrix[row, i, r, 3] = position[row, i][r]
            matrix[row, i, 3, 3] = real(1.0)
        row += lanes


@functools.lru_cache(maxsize=256)
def as_pose(frame: Frame) -> Pose:
    """A frame for kernels."""
    pose = Pose()
    pose.position, pose.turn = vec3(*frame.position), quat(*frame.orientation)
    return pose


def lanes_on(device: Any, rows: int) -> int:
    """How many threads share so many rows: all of them on a GPU, one on the CPU."""
    return rows if device.is_cuda else 1


def on_device(tree: Any, q: Any, kind: Any = real) -> Any:
    """Numbers as an array of the tree's device, which for the CPU is the memory they are in."""
    if isinstance(q, wp.array):
        return q
    number = np.int32 if kind is wp.int32 else numpy_real
    values = np.ascontiguousarray(q, dtype=number)
    return wp.array(values, dtype=kind, device=tree.device, copy=not (tree.device.is_cpu and values.flags.writeable))


def link_poses(tree: Any, q: Any) -> tuple[Any, Any]:
    """Positions (n, links, 3) and quaternions (n, links, 4) of all links, as Warp arrays, for rows of q."""
    count, device = len(q), tree.device
    position = wp.empty((count, len(tree.links)), dtype=vec3, device=device)
    turn = wp.empty((count, len(tree.links)), dtype=quat, device=device)
    lanes = lanes_on(device, count)
    inputs = [tree.arrays, as_pose(tree.base), on_device(tree, q), position, turn, lanes]
    wp.launch(walk_all, lanes, inputs, device=device)
    return position, turn


def all_frames(tree: Any, q: Any) -> np.ndarray:
    """Frames of all links as matrices (..., links, 4, 4)."""
    rows, shape = tree.configurations(q)
    position, turn = link_poses(tree, rows)
    matrix = wp.zeros((len(rows), len(tree.links), 4, 4), dtype=real, device=tree.device)
    lanes = lanes_on(tree.device, len(rows))
    wp.launch(write_links, lanes, [position, turn, matrix, lanes], device=tree.device)
    return np.asarray(matrix.numpy(), dtype=np.float64).reshape(*shape, len(tree.links), 4, 4)


def frames_of(tree: Any, q: Any, tool: str) -> np.ndarray:
    """Frames of a tool or a link as matrices (..., 4, 4)."""
    rows, shape = tree.configurations(q)
    matrix = wp.empty((len(rows), 4, 4), dtype=real, device=tree.device)
    lanes, given = lanes_on(tree.device, len(rows)), on_device(tree, rows)
    route = wp.array(tree.path(tool), dtype=wp.int32, device=tree.device)
    inputs = [tree.arrays, as_pose(tree.base), route, given, as_pose(tree.tool(tool)[1]), matrix, lanes]
    wp.launch(write_tools, lanes, inputs, device=tree.device)
    return np.asarray(matrix.numpy(), dtype=np.float64).reshape(*shape, 4, 4)
