"""Where the colliders are: poses from those of their bodies, and boxes around them along the axes.

    p = x + q p_l      R = R(q q_l)      box = extent of the solid ± (shell + half the contact distance)

x, q pose of the body, p_l, q_l place of the collider in it. Two colliders nearer than the contact distance have boxes
that overlap. Of a body that moves far in a step, the box also holds the places it comes from.
"""

import math

import numpy as np
import warp as wp

from rattleback.collision.geometry.colliders import Colliders, Hulls, Places
from rattleback.collision.geometry.solid import PLANE, Solid, half_extent, has_half_extent, load_whole, support
from rattleback.core.kernel import kernel
from rattleback.core.precision import numpy_real, real, vec3
from rattleback.model.state import Motion

# Where half-spaces have no end, their boxes end far beyond all else, yet sums and differences of corners stay finite.
FAR = wp.constant(real(math.sqrt(float(np.finfo(numpy_real).max))))


@wp.func
def lowest(solid: Solid, hulls: Hulls, axis: int) -> vec3:
    """Lowest and highest coordinate of a core along an axis, as the first two entries."""
    d = vec3(real(0.0), real(0.0), real(0.0))
    d[axis] = real(1.0)
    low = support(solid, hulls, -d)
    high = support(solid, hulls, d)
    return vec3(low[axis], high[axis], real(0.0))


@wp.func
def pose(colliders: Colliders, motion: Motion, places: Places, i: int) -> None:
    """Put one collider where its body is."""
    body = colliders.body[i]
    q = motion.orientation[body]
    places.position[i] = motion.position[body] + wp.quat_rotate(q, colliders.position[i])
    places.rotation[i] = wp.quat_to_matrix(q * colliders.orientation[i])


@wp.func
def bound_half_space(places: Places, i: int, grow: real) -> None:
    """Write the box around a half-space, this much wider: it has an end where its normal is exactly along an axis."""
    R = places.rotation[i]
    lower = vec3(-FAR, -FAR, -FAR)
    upper = vec3(FAR, FAR, FAR)
    for k in range(3):
        if R[(k + 1) % 3, 2] == real(0.0) and R[(k + 2) % 3, 2] == real(0.0):
            if R[k, 2] > real(0.0):
                upper[k] = places.position[i][k] + grow
            else:
                lower[k] = places.position[i][k] - grow
    places.lower[i] = lower
    places.upper[i] = upper


@wp.func
def bound(colliders: Colliders, hulls: Hulls, places: Places, i: int, wider: real) -> None:
    """Write the box around one collider, this much wider on every side; of a mesh, the one around its box."""
    solid = load_whole(colliders, places, i, vec3())
    kind = colliders.kind[i]
    grow = solid.round + wider
    wide = vec3(grow, grow, grow)
    if kind == PLANE:
        bound_half_space(places, i, grow)
        return
    if has_half_extent(solid):
        half = half_extent(solid) + wide
        places.lower[i] = solid.position - half
        places.upper[i] = solid.position + half
        return
    x = lowest(solid, hulls, 0)
    y = lowest(solid, hulls, 1)
    z = lowest(solid, hulls, 2)
    places.lower[i] = vec3(x[0], y[0], z[0]) - wide
    places.upper[i] = vec3(x[1], y[1], z[1]) + wide


@kernel
def place(colliders: Colliders, hulls: Hulls, motion: Motion, wider: real, places: Places) -> None:
    """Place every collider where its body is now."""
    i = wp.tid()
    pose(colliders, motion, places, i)
    bound(colliders, hulls, places, i, wider)
