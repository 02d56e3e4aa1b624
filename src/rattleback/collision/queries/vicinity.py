"""What is nearest to each of many points, one thread a point.

    distance(x) = min over colliders of (signed distance from the core − shell)

Inside a solid it is negative; inside a mesh only if that closes around a solid, behind a height field always. Cost:
O(log n) boxes and a few solids a point.
"""

from dataclasses import dataclass
from typing import Any

import warp as wp

from rattleback.collision.geometry.solid import MESH, load
from rattleback.collision.geometry.world_poses import FAR
from rattleback.collision.narrowphase.closed_forms.nearest import Nearest
from rattleback.collision.narrowphase.closed_forms.sphere import point_core
from rattleback.collision.queries.bvh_walk import Walk, next_near, point_probe
from rattleback.collision.queries.triangle_scene import Scenery, is_behind, near_surface
from rattleback.core.arrays import field, group
from rattleback.core.kernel import kernel
from rattleback.core.precision import real, vec3
from rattleback.core.sealed import sealed


@group(axis="points")
class Points:
    """Points, and what is nearest to them."""

    place: vec3 = field("m", "where it is")
    distance: real = field("m", "signed distance of what is nearest")
    nearest: vec3 = field("m", "point of its surface")
    normal: vec3 = field("1", "outward unit normal there")
    collider: wp.int32 = field("1", "collider it belongs to; -1 for none")


@sealed
@dataclass(frozen=True, eq=False)
class Vicinity:
    """What is nearest to points; with one point, single values without the leading axis.

    Attributes:
        distance: Signed distance [m], negative inside, shape (points,); infinite where there is nothing.
        name: Name of what is nearest, a string or a list of them; empty where there is nothing.
        point: Nearest point of its surface, world frame [m], shape (points, 3).
        normal: Outward unit normal there, shape (points, 3).
    """

    distance: Any
    name: Any
    point: Any
    normal: Any


@wp.func
def near_at(scenery: Scenery, i: int, x: vec3, far: real) -> Nearest:
    """The point of collider i's surface nearest to x, in the world; of surfaces in front of x, only up to ``far``."""
    R = scenery.places.rotation[i]
    y = wp.transpose(R) * (x - scenery.places.position[i])
    shell = scenery.colliders.round[i]
    near = Nearest()
    if scenery.colliders.kind[i] == MESH:
        behind = is_behind(scenery, i, y)
        near = near_surface(scenery, i, y, wp.where(behind, real(0.25) * FAR, far + shell))
        if behind and near.distance > real(0.0):
            near.distance = -near.distance
            near.normal = -near.normal
    else:
        near = point_core(y, load(scenery.colliders, scenery.places, i, -1, x), scenery.hulls)
    near.distance = near.distance - shell
    near.point = scenery.places.position[i] + R * (near.point + shell * near.normal)
    near.normal = R * near.normal
    return near


@kernel
def look_around(scenery: Scenery, points: Points) -> None:
    """What is nearest to every point."""
    p = wp.tid()
    x = points.place[p]
    best = Nearest()
    best.distance = real(0.25) * FAR
    which = int(-1)
    walk = Walk()
    probe = point_probe(x)
    # The half-spaces first, one by one; then the leaves of the tree. One loop keeps the kernel small.
    k = int(0)
    going = bool(True)
    while going:
        i = int(-1)
        if k < scenery.endless.shape[0]:
            i = scenery.endless[k]
            k = k + 1
        elif scenery.leaves > 0:
            # Inside something, others that hold the point may hold it deeper.
            walk = next_near(scenery.tree, 0, scenery.leaves, walk, probe, wp.max(best.distance, real(0.0)))
            if walk.node > 0:
                i = scenery.tree.item[walk.node]
        going = i >= 0
        if going:
            near = near_at(scenery, i, x, wp.max(best.distance, real(0.0)))
            if near.distance < best.distance or (near.distance == best.distance and i < which):
                best = near
                which = i
    points.distance[p] = best.distance
    points.nearest[p] = best.point
    points.normal[p] = best.normal
    points.collider[p] = which
