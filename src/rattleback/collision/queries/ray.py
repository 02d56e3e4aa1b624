"""Ray casts: the first thing each of many rays hits, one thread a ray.

    o' = Rᵀ (o − p)      d' = Rᵀ d      s = −o' · d'      the line is tested from o' + s d', its point nearest to p

o, d origin and unit direction of the ray, p, R place of a collider. Seen from there the closed forms keep their digits,
however far the ray comes. Cost: O(log n) boxes and a few solids a ray.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import warp as wp
from numpy.typing import ArrayLike, NDArray

from rattleback.collision.geometry.solid import MESH, load
from rattleback.collision.geometry.world_poses import FAR
from rattleback.collision.narrowphase.closed_forms.sphere import point_core
from rattleback.collision.queries.bvh_walk import Walk, next_near, ray_probe
from rattleback.collision.queries.line_interval import has_shell, in_core, to_shell
from rattleback.collision.queries.placed_colliders import Arrangement, arrange
from rattleback.collision.queries.placement import paired, read, rows
from rattleback.collision.queries.triangle_scene import Hit, Scenery, cast_surface, scenery_of
from rattleback.core import arrays
from rattleback.core.arrays import field, group
from rattleback.core.device import load_kernels
from rattleback.core.errors import InputError
from rattleback.core.kernel import kernel
from rattleback.core.precision import numpy_real, real, vec3
from rattleback.core.sealed import sealed


@group(axis="rays")
class Rays:
    """Rays, and what they hit."""

    origin: vec3 = field("m", "where it starts")
    direction: vec3 = field("1", "unit vector along it")
    far: real = field("m", "where it ends")
    distance: real = field("m", "how far along it the hit is")
    normal: vec3 = field("1", "unit normal of what is hit, against the ray")
    collider: wp.int32 = field("1", "collider that is hit; -1 for none")
    triangle: wp.int32 = field("1", "triangle of it if it is a surface; -1")


@sealed
@dataclass(frozen=True, eq=False)
class Hits:
    """What rays hit first; with one ray, single values without the leading axis.

    Attributes:
        hit: Whether there is anything, shape (rays,).
        distance: Distance from the origin of the ray [m], shape (rays,); infinite where nothing is hit, zero where the
            ray starts inside a solid.
        point: Where, world frame [m], shape (rays, 3); not a number where nothing is hit.
        normal: Outward unit normal there, facing the ray, shape (rays, 3); minus the direction of a ray that starts
            inside; not a number where nothing is hit.
        index: Which of the placements, shape (rays,); −1 where nothing is hit.
        part: Which of its parts, for compounds, decomposed meshes and bodies with several colliders, shape (rays,).
        triangle: Which triangle of a mesh or height field, shape (rays,); −1 for solids.
    """

    hit: Any
    distance: Any
    point: Any
    normal: Any
    index: Any
    part: Any
    triangle: Any


@wp.func
def cast_at(scenery: Scenery, i: int, origin: vec3, d: vec3, far: real) -> Hit:
    """Where a ray meets collider i first, no farther than ``far``."""
    out = Hit()
    out.distance = FAR
    out.collider = i
    out.triangle = -1
    back = wp.transpose(scenery.places.rotation[i])
    o = back * (origin - scenery.places.position[i])
    e = back * d
    shift = -wp.dot(o, e)
    if scenery.colliders.kind[i] == MESH:
        out = cast_surface(scenery, i, o, e, far, scenery.colliders.round[i])
        out.collider = i
    else:
        solid = load(scenery.colliders, scenery.places, i, -1, origin)
        if has_shell(solid):
            near = point_core(o, solid, scenery.hulls)
            if near.distance <= solid.round:
                out.distance = real(0.0)
            else:
                line = to_shell(o, e, real(0.0), solid, scenery.hulls)
                out.distance = line.enter
                out.normal = line.normal
        else:
            line = in_core(o + shift * e, e, solid, scenery.hulls)
            enter = line.enter + shift
            leave = line.leave + shift
            if enter <= leave and leave >= real(0.0):
                out.distance = wp.max(enter, real(0.0))
                out.normal = line.normal
        if out.distance == real(0.0):
            out.normal = -e
    if out.distance > far:
        out.distance = FAR
    out.normal = scenery.places.rotation[i] * out.normal
    return out


@wp.func
def nearer(best: Hit, hit: Hit) -> Hit:
    """The hit that comes first; of two at the same place, that of the lower collider."""
    if hit.distance < best.distance or (
        hit.distance < FAR and hit.distance == best.distance and hit.collider < best.collider
    ):
        return hit
    return best


@kernel
def cast_rays(scenery: Scenery, rays: Rays) -> None:
    """What every ray hits first."""
    r = wp.tid()
    o = rays.origin[r]
    d = rays.direction[r]
    far = rays.far[r]
    best = Hit()
    best.distance = FAR
    best.collider = -1
    best.triangle = -1
    walk = Walk()
    probe = ray_probe(o, d)
    # The half-spaces first, one by one; then the leaves of the tree. One loop keeps the kernel small.
    k = int(0)
    going = bool(True)
    while going:
        i = int(-1)
        if k < scenery.endless.shape[0]:
            i = scenery.endless[k]
            k = k + 1
        elif scenery.leaves > 0:
            walk = next_near(scenery.tree, 0, scenery.leaves, walk, probe, wp.min(far, best.distance))
            if walk.node > 0:
                i = scenery.tree.item[walk.node]
        going = i >= 0
        if going:
            best = nearer(best, cast_at(scenery, i, o, d, far))
    rays.distance[r] = best.distance
    rays.normal[r] = best.normal
    rays.collider[r] = wp.where(best.distance < FAR, best.collider, -1)
    rays.triangle[r] = best.triangle


def ray_cast(
    placements: Any,
    origins: ArrayLike,
    directions: ArrayLike,
    max_distance: ArrayLike = np.inf,
    *,
    device: str = "cpu",
) -> Hits:
    """What rays hit first.

    A ray that starts inside a solid hits it at distance 0, with the normal against its direction. Meshes and height
    fields are surfaces and are hit from both sides.

    Args:
        placements: What can be hit: a placement or a list of them.
        origins: Where the rays start [m], shape (rays, 3), or (3,) for all of them.
        directions: Where they go, of any length but zero, shape (rays, 3) or (3,).
        max_distance: How far they go [m], one number or (rays,).
        device: ``"cpu"``, ``"cuda"`` or ``"cuda:0"``.

    Returns:
        The hits; of one origin and one direction given as (3,), a single one.
    """
    arrangement = arrange(read(placements, "The placements"), device)
    scenery = scenery_of(arrangement, np.ones(len(arrangement.owner)))
    return cast(arrangement, scenery, origins, directions, max_distance)


def cast(
    arrangement: Arrangement, scenery: Scenery, origins: ArrayLike, directions: ArrayLike, max_distance: ArrayLike
) -> Hits:
    """What rays hit first in a scenery that is there already; see ``ray_cast``."""
    starts, ways = rows(origins, 3, "The origins of rays"), _directions(directions)
    single = np.ndim(origins) == 1 and np.ndim(directions) == 1 and np.ndim(max_distance) == 0
    count = paired(len(starts), len(ways), "A ray cast", "origins", "directions")
    ends = _ends(max_distance)
    count = paired(count, len(ends), "A ray cast", "rays", "maximal distances")
    starts, ways = np.broadcast_to(starts, (count, 3)), np.broadcast_to(ways, (count, 3))
    rays = arrays.allocate(Rays, {"rays": count}, arrangement.device)
    rays.origin.assign(starts.astype(numpy_real))
    rays.direction.assign(ways.astype(numpy_real))
    rays.far.assign(np.broadcast_to(np.minimum(ends, 0.25 * float(FAR)), count).astype(numpy_real))
    load_kernels([cast_rays.module], arrangement.device)
    wp.launch(cast_rays, count, inputs=[scenery, rays], device=arrangement.device)
    return _hits(arrangement, rays, (starts, ways), single)


def _hits(arrangement: Arrangement, rays: Rays, lines: tuple[NDArray[Any], NDArray[Any]], single: bool) -> Hits:
    collider, triangle = rays.collider.numpy(), rays.triangle.numpy()
    hit = collider >= 0
    distance = np.where(hit, rays.distance.numpy(), np.inf)
    point = lines[0] + np.where(hit, distance, np.nan)[:, None] * lines[1]
    normal = np.where(hit[:, None], rays.normal.numpy(), np.nan)
    index = np.where(hit, arrangement.owner[collider], -1)
    part = np.where(hit, collider - arrangement.first[index], -1)
    found = (hit, distance, point, normal, index, part, np.where(hit, triangle, -1))
    return Hits(*(one(array) for array in found)) if single else Hits(*found)


def one(array: NDArray[Any]) -> Any:
    """The only row of an array, a single value as a Python number."""
    return array[0].copy() if array.ndim > 1 else array[0].item()


def _directions(given: ArrayLike) -> NDArray[np.float64]:
    ways = rows(given, 3, "The directions of rays")
    largest = np.abs(ways).max(axis=1, keepdims=True, initial=0.0)
    zero = np.flatnonzero(largest == 0.0)
    if zero.size:
        raise InputError(f"Direction {zero[0]} of a ray cast is the zero vector; a direction needs a length.")
    scaled = ways / largest  # the squares of very large or small numbers would leave the range of floats
    result: NDArray[np.float64] = scaled / np.linalg.norm(scaled, axis=1, keepdims=True)
    return result


def _ends(given: ArrayLike) -> NDArray[np.float64]:
    try:
        ends = np.atleast_1d(np.asarray(given, dtype=np.float64))
    except (TypeError, ValueError):
        ends = np.full(1, np.nan)
    if ends.ndim != 1 or not (ends >= 0.0).all():
        raise InputError(f"max_distance is {given!r}; it must be zero or more, one number or one for each ray.")
    return ends
