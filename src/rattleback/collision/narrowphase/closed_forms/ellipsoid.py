"""The point of an ellipsoid's surface nearest to a point, by Newton's method on one equation.

    q_i = e_i² x_i / (s + δ_i)      Σ v_i² = 1      v_i = e_i |x_i| / (s + δ_i)      δ_i = e_i² − e_m²

e radii, e_m the smallest, q the nearest point, s = t + e_m² with the multiplier t of x − q = t ∇; s ≥ 0 belongs to the
nearest point. 1/|v| is increasing and concave in s, and nearly straight, so Newton's method on 1/|v| = 1 climbs from
the left to the root without passing it, in two iterations on average, twelve in the worst case found:

    s ← s + |v|² (|v| − 1) / (Σ v_i² / (s + δ_i))      from s = max(e_i |x_i| − δ_i)

Where x_m = 0 and Σ v_i² < 1 already at s = 0, that is on the focal disc, s stays 0 and the m-th coordinate of q makes
up what is missing. The iteration ends when rounding stops the climb.

Reference: Eberly (2013), Distance from a point to an ellipse, an ellipsoid, or a hyperellipsoid (the equation);
Conn, Gould and Toint (2000), Trust-region methods, section 7.3 (1/|v|).
"""

import warp as wp

from rattleback.collision.narrowphase.closed_forms.nearest import Nearest, direction
from rattleback.core.precision import epsilon, real, vec3

# Coordinates below this part of the smallest radius count as none: their effect is far below rounding.
NOTHING = wp.constant(real(epsilon * epsilon))
# Rounding ends the climb long before; the bound is there so that no input can hang a kernel.
MOST_ITERATIONS = wp.constant(100)


@wp.func
def ratios(y: vec3, differences: vec3, s: real) -> vec3:
    """The fractions y_i / (s + δ_i), none where y_i is none."""
    w = vec3(real(0.0), real(0.0), real(0.0))
    for i in range(3):
        if y[i] > real(0.0):
            w[i] = y[i] / (s + differences[i])
    return w


@wp.func
def climb(ey: vec3, differences: vec3) -> real:
    """The root s ≥ 0 of Σ (e_i y_i / (s + δ_i))² = 1."""
    first = ey - differences
    s = wp.max(wp.max(first[0], first[1]), wp.max(first[2], real(0.0)))
    for _ in range(MOST_ITERATIONS):
        v = ratios(ey, differences, s)
        square = wp.dot(v, v)
        fall = wp.dot(v, ratios(v, differences, s))
        if not (square > real(1.0)):
            break
        higher = s + square * (wp.sqrt(square) - real(1.0)) / fall
        if not (higher > s):
            break
        s = higher
    return s


@wp.func
def point_ellipsoid(x: vec3, radii: vec3) -> Nearest:
    """An ellipsoid with these radii."""
    m = int(0)
    for i in range(1, 3):
        if radii[i] < radii[m]:
            m = i
    e = radii / radii[m]
    one = vec3(real(1.0), real(1.0), real(1.0))
    differences = wp.cw_mul(e - one, e + one)
    y = vec3(wp.abs(x[0]), wp.abs(x[1]), wp.abs(x[2])) / radii[m]
    for i in range(3):
        if y[i] < NOTHING:
            y[i] = real(0.0)
    ey = wp.cw_mul(e, y)
    v = vec3(real(0.0), real(0.0), real(0.0))
    least = real(0.0)
    for i in range(3):
        if y[i] > real(0.0):
            # On a radius as short as the shortest there is no focal disc to be on.
            v[i] = wp.where(differences[i] > real(0.0), ey[i] / wp.max(differences[i], NOTHING), real(2.0))
        least += v[i] * v[i]
    if least <= real(1.0):
        v[m] = wp.sqrt(real(1.0) - least)
    else:
        v = ratios(ey, differences, climb(ey, differences))
        v = v / wp.length(v)
    for i in range(3):
        if x[i] < real(0.0):
            v[i] = -v[i]
    out = Nearest()
    out.point = wp.cw_mul(radii, v)
    out.normal = direction(wp.cw_div(v, e), v)
    out.distance = wp.dot(out.normal, x - out.point)
    return out
