"""A slow, obvious closure of a tripeptide: walk CA2 around, place both units by hand, and look where the angle fits.

For each τ on a grid, CA2 is a point of its circle. The first unit, a rigid body with two of its points fixed, is turned
until the angle at CA1 fits, which it does twice or never; likewise the last one. Where the angle at CA2 passes through
the one that is wanted, between two places of the grid and on the same pair of branches, is a closure.
"""

import numpy as np


def turned(points, axis, angle):
    """Points turned about an axis through the origin, one angle each (..., 3)."""
    cos, sin = np.cos(angle)[:, None], np.sin(angle)[:, None]
    along = np.sum(points * axis, axis=1, keepdims=True)
    return cos * points + sin * np.cross(axis, points) + (1.0 - cos) * along * axis


def frames(start, way, side):
    """Right-handed frames with z along ``way`` and x towards ``side`` (n, 3, 3)."""
    z = way / np.linalg.norm(way, axis=1, keepdims=True)
    x = side - np.sum(side * z, axis=1, keepdims=True) * z
    x /= np.linalg.norm(x, axis=1, keepdims=True)
    return np.stack([x, np.cross(z, x), z], axis=2)


def branches(pivot, middle, unit, fixed, bend):
    """Both places of the atom of a unit next to CA2, where the angle at the other pivot fits (2, n, 3); NaN elsewhere.

    unit: pivot, its neighbour, CA2's neighbour, CA2, as they stand; fixed: the other neighbour of the pivot.
    """
    count = len(middle)
    way = middle - pivot
    own = frames(None, (unit[3] - unit[0])[None], (unit[1] - unit[0])[None])[0]
    near, far = (unit[1] - unit[0]) @ own, (unit[2] - unit[3]) @ own
    here = frames(None, way, np.broadcast_to(np.array([0.31, -0.82, 0.48]), way.shape))
    goal = fixed - pivot
    # near·goal = |near||goal| cos(bend) for near turned about z by s: A cos s + B sin s = C.
    g = np.einsum("nij,i->nj", here, goal)
    a = near[0] * g[:, 0] + near[1] * g[:, 1]
    b = near[0] * g[:, 1] - near[1] * g[:, 0]
    c = np.linalg.norm(near) * np.linalg.norm(goal) * np.cos(bend) - near[2] * g[:, 2]
    with np.errstate(invalid="ignore"):
        spread = np.arccos(c / np.hypot(a, b))
    found = []
    for sign in (-1.0, 1.0):
        angle = np.arctan2(b, a) + sign * spread
        points = turned(np.broadcast_to(far, (count, 3)), np.array([0.0, 0.0, 1.0]), angle)
        found.append(np.einsum("nij,nj->ni", here, points))
    return np.array(found)


def closure_values(backbone, steps):
    """|a||b| cos of the angle at CA2 minus the wanted one, for both branches of both units (2, 2, steps)."""
    first, last, wanted = closure_sides(backbone, steps)
    return np.einsum("ink,jnk->ijn", first, last) - wanted


def closure_sides(backbone, steps):
    """Ways from CA2 to its neighbours on both units (2, steps, 3) each, and |a||b| cos of the wanted angle."""
    (n1, a1, c1), (n2, a2, c2), (n3, a3, c3) = backbone
    e = (a3 - a1) / np.linalg.norm(a3 - a1)
    foot = a1 + (a2 - a1) @ e * e
    arm = a2 - foot
    tau = 2.0 * np.pi * (np.arange(steps) + 0.37) / steps
    middle = foot + turned(np.broadcast_to(arm, (steps, 3)), e, tau)

    def bend(a, b, c):
        return np.arccos((a - b) @ (c - b) / np.linalg.norm(a - b) / np.linalg.norm(c - b))

    first = branches(a1, middle, (a1, c1, n2, a2), n1, bend(n1, a1, c1))
    last = branches(a3, middle, (a3, n3, c2, a2), c3, bend(n3, a3, c3))
    wanted = np.cos(bend(n2, a2, c2)) * np.linalg.norm(n2 - a2) * np.linalg.norm(c2 - a2)
    return first, last, wanted


def count_closures(backbone, steps=4000):
    """How many closures a tripeptide that is closed as it stands has, as far as the grid can tell.

    Where a unit stops to fit, its two branches meet, and a value that differs in sign between them has passed zero.
    """
    values = closure_values(backbone, steps)
    total = int(np.sum(values * np.roll(values, -1, axis=2) < 0.0))
    sides = closure_sides(backbone, steps)
    there = np.isfinite(values).all(axis=(0, 1))
    for step in np.flatnonzero(there != np.roll(there, -1)):
        edge = values[:, :, step if there[step] else (step + 1) % steps]
        outside = (step + 1) % steps if there[step] else step
        first = np.isnan(sides[0][0, outside]).any()
        pairs = [(edge[0, k], edge[1, k]) if first else (edge[k, 0], edge[k, 1]) for k in (0, 1)]
        total += sum(one * other < 0.0 for one, other in pairs)
    return total
