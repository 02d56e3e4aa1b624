"""One contact with friction, all others held: its impulse by the law, exactly.

    u = W r + q,   r ∈ K,   û ∈ K*,   r · û = 0          (W 3 × 3, symmetric or not)

Under ``coulomb`` there are three cases, tried in this order:

    q_n ≥ 0                              r = 0, the contact parts
    r = −W⁻¹ q within the cone           the contact sticks
    (W + α diag(0, 1, 1)) r = −q         it slides, with the α > 0 at which ‖r_t‖ = μ r_n (false position, halved)

Under ``cone`` a sliding contact also parts (u_n = μ‖u_t‖); there projected steps r ← P(r − W r − q over ‖W‖) are done
until they stand still. Contacts in the plane carry a third row that stays zero.

Cost: 0.1 µs to stick, 0.4 µs to slide, 1 to 5 µs under ``cone``.

Reference: Acary, Brémond, Huber, On solving contact problems with Coulomb friction, INRIA RR-9118 (2018), §4.2.
"""

import warp as wp

from rattleback.core.precision import epsilon, mat33, real, vec3

# How often the bracket of α is widened and narrowed, and how many projected steps are done.
WIDEN, NARROW, STEPS = 60, 100, 1000
SMALL = wp.constant(real(epsilon))


@wp.func
def onto_cone(z: vec3, mu: real) -> vec3:
    """The nearest point of the cone ‖r_t‖ ≤ μ r_n."""
    t = wp.sqrt(z[1] * z[1] + z[2] * z[2])
    if mu * t <= -z[0]:
        return vec3()
    if t <= mu * z[0]:
        return z
    n = (z[0] + mu * t) / (real(1.0) + mu * mu)
    return vec3(n, mu * n / t * z[1], mu * n / t * z[2])


@wp.func
def sliding(W: mat33, q: vec3, alpha: real) -> vec3:
    """Impulse r with (W + α diag(0, 1, 1)) r = −q."""
    part = real(1.0) / W[0, 0]
    a11 = W[1, 1] - W[1, 0] * W[0, 1] * part + alpha
    a12 = W[1, 2] - W[1, 0] * W[0, 2] * part
    a21 = W[2, 1] - W[2, 0] * W[0, 1] * part
    a22 = W[2, 2] - W[2, 0] * W[0, 2] * part + alpha
    b1 = W[1, 0] * q[0] * part - q[1]
    b2 = W[2, 0] * q[0] * part - q[2]
    inverse = real(1.0) / (a11 * a22 - a12 * a21)
    x = (a22 * b1 - a12 * b2) * inverse
    y = (a11 * b2 - a21 * b1) * inverse
    return vec3(-(q[0] + W[0, 1] * x + W[0, 2] * y) * part, x, y)


@wp.func
def excess(r: vec3, mu: real) -> real:
    """How far friction is beyond its bound [N s]."""
    return wp.sqrt(r[1] * r[1] + r[2] * r[2]) - mu * r[0]


@wp.func
def slide(W: mat33, q: vec3, mu: real) -> vec3:
    """The impulse of a sliding contact."""
    low = real(0.0)
    at_low = excess(sliding(W, q, SMALL * (W[1, 1] + W[2, 2])), mu)
    high = W[1, 1] + W[2, 2]
    at_high = excess(sliding(W, q, high), mu)
    for _ in range(WIDEN):
        if at_high > real(0.0):
            low = high
            at_low = at_high
            high = real(4.0) * high
            at_high = excess(sliding(W, q, high), mu)
    side = int(0)
    for k in range(NARROW):
        middle = real(0.5) * (low + high)
        if k % 4 != 3 and at_low > at_high:
            middle = (low * at_high - high * at_low) / (at_high - at_low)
        if high - low <= SMALL * high or middle <= low or middle >= high:
            break
        value = excess(sliding(W, q, middle), mu)
        if value > real(0.0):
            low = middle
            at_low = value
            if side == 1:
                at_high = real(0.5) * at_high
            side = int(1)
        else:
            high = middle
            at_high = value
            if side == -1:
                at_low = real(0.5) * at_low
            side = int(-1)
    r = sliding(W, q, high)
    t = wp.sqrt(r[1] * r[1] + r[2] * r[2])
    n = wp.max(r[0], real(0.0))
    if t > real(0.0):
        r = vec3(n, mu * n / t * r[1], mu * n / t * r[2])
    return r


@wp.func
def project_until_still(W: mat33, q: vec3, mu: real, old: vec3) -> vec3:
    """The impulse of a contact under the convex law."""
    r = onto_cone(old, mu)
    step = real(1.0) / wp.sqrt(wp.ddot(W, W))
    for _ in range(STEPS):
        next = onto_cone(r - step * (W * r + q), mu)
        change = next - r
        r = next
        if wp.length(change) <= SMALL * wp.length(r):
            break
    return r


@wp.func
def solve_contact(W: mat33, q: vec3, mu: real, old: vec3, convex: bool) -> vec3:
    """The impulse of a contact whose velocity without it is q."""
    if convex:
        return project_until_still(W, q, mu, old)
    if q[0] >= real(0.0):
        return vec3()
    if wp.abs(wp.determinant(W)) > SMALL * wp.pow(wp.trace(W), real(3.0)):
        r = -(wp.inverse(W) * q)
        if r[0] >= real(0.0) and excess(r, mu) <= real(0.0):
            return r
    return slide(W, q, mu)
