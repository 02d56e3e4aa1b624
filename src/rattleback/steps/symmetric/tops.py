"""Free rotation by turns about the axes of a body: symmetric, exact for symmetric bodies, with its exact derivative.

    ½ l·J⁻¹l = ½ s |L|² + ½ c₂ l_y² + ½ c₃ l_z²,      s = 1/J_x,   c₂ = 1/J_y − s,   c₃ = 1/J_z − s
    q(h) = exp(h s L) ⊗ q ⊗ Z(α) ⊗ Y(β) ⊗ Z(α′)

L angular momentum in the world, which stays; l = q* L in the principal axes of the body, named so that J_x and J_y
differ least; Y(β), Z(α) turns of the body about its own axes by  α = ½ h c₃ l_z,  β = h c₂ l_y,  α′ = ½ h c₃ l_z,  each
with the l reached by then. Each turn solves its part of the energy exactly, and the first commutes with the others.
The error is of second order with even powers of h; it is zero where J_x = J_y.

D = ∂θ/∂L, θ the turn of q(h) in the world, follows factor by factor; Newton's method for the joints needs it.

Cost: four sines, no iteration. Reference: Hairer, Lubich, Wanner, Geometric Numerical Integration, VII.5.3; McLachlan
and Zanna, The discrete Moser–Veselov algorithm, 2005.
"""

from typing import Any

import numpy as np
import warp as wp

from rattleback.core import arrays
from rattleback.core.arrays import field, group
from rattleback.core.precision import mat33, numpy_real, quat, real, vec3
from rattleback.maths import rotation
from rattleback.maths.quat import quat_from_rotation_vector, rotate, rotate_back
from rattleback.model.model import Model

# Below this square of an angle [rad²] the series of the derivative of the exponential is exact to rounding.
SMALL = wp.constant(real(1e-4))
# The turn that brings the z axis to the x, y or z axis of another frame, in the cyclic order.
CYCLES = np.array([(0.5, 0.5, 0.5, 0.5), (-0.5, -0.5, -0.5, 0.5), (0.0, 0.0, 0.0, 1.0)])


@group(axis="bodies")
class Tops:
    """How the bodies turn by themselves."""

    frame: quat = field("1", "orientation in the body of its principal axes, the first two the most alike")
    inverse: vec3 = field("1/(kg m²)", "inverse moments about them; ones for a body that nothing can turn")


@wp.struct
class Halves:
    """The turns about the axes of a body, and the angular momenta in those axes after the first and the second."""

    first: real
    second: real
    third: real
    between: vec3
    after: vec3


@wp.func
def about_y(v: vec3, angle: real) -> vec3:
    """A vector in the axes that have turned about y."""
    c = wp.cos(angle)
    s = wp.sin(angle)
    return vec3(c * v[0] - s * v[2], v[1], s * v[0] + c * v[2])


@wp.func
def about_z(v: vec3, angle: real) -> vec3:
    """A vector in the axes that have turned about z."""
    c = wp.cos(angle)
    s = wp.sin(angle)
    return vec3(c * v[0] + s * v[1], c * v[1] - s * v[0], v[2])


@wp.func
def halves_of(spin: vec3, inverse: vec3, h: real) -> Halves:
    """α, β, α′ for an angular momentum in the axes of the body."""
    two = inverse[1] - inverse[0]
    three = inverse[2] - inverse[0]
    t = Halves()
    t.first = real(0.5) * h * three * spin[2]
    t.between = spin
    t.after = spin
    if two == real(0.0):
        t.third = t.first
        return t
    t.between = about_z(spin, t.first)
    t.second = h * two * t.between[1]
    t.after = about_y(t.between, t.second)
    t.third = real(0.5) * h * three * t.after[2]
    return t


@wp.func
def turned(q: quat, momentum: vec3, frame: quat, inverse: vec3, h: real) -> quat:
    """Orientation after free rotation over h."""
    ahead = quat_from_rotation_vector(h * inverse[0] * momentum)
    if inverse[0] == inverse[1] and inverse[0] == inverse[2]:
        return wp.normalize(ahead * q)
    p = q * frame
    t = halves_of(rotate_back(p, momentum), inverse, h)
    half = real(0.5)
    if inverse[0] == inverse[1]:
        own = quat(real(0.0), real(0.0), wp.sin(t.first), wp.cos(t.first))
    else:
        z = quat(real(0.0), real(0.0), wp.sin(half * t.first), wp.cos(half * t.first))
        y = quat(real(0.0), wp.sin(half * t.second), real(0.0), wp.cos(half * t.second))
        z2 = quat(real(0.0), real(0.0), wp.sin(half * t.third), wp.cos(half * t.third))
        own = z * y * z2
    return wp.normalize(ahead * p * own * wp.quat_inverse(frame))


@wp.func
def left_jacobian(w: vec3) -> mat33:
    """Turn in the world that exp(w) makes for a change of w: 1 + (1 − cos φ)/φ² ŵ + (φ − sin φ)/φ³ ŵ²."""
    square = wp.dot(w, w)
    a = real(0.5) - square * (real(1.0) / real(24.0) - square / real(720.0))
    b = real(1.0) / real(6.0) - square * (real(1.0) / real(120.0) - square / real(5040.0))
    if square > SMALL:
        angle = wp.sqrt(square)
        a = (real(1.0) - wp.cos(angle)) / square
        b = (angle - wp.sin(angle)) / (square * angle)
    cross = wp.skew(w)
    return wp.identity(n=3, dtype=real) + a * cross + b * (cross * cross)


@wp.func
def slope(q: quat, momentum: vec3, frame: quat, inverse: vec3, h: real) -> mat33:
    """D/h of free rotation over h."""
    w = h * inverse[0] * momentum
    total = inverse[0] * left_jacobian(w)
    if inverse[0] == inverse[1] and inverse[0] == inverse[2]:
        return total
    p = q * frame
    t = halves_of(rotate_back(p, momentum), inverse, h)
    two = inverse[1] - inverse[0]
    three = real(0.5) * (inverse[2] - inverse[0])
    back = wp.transpose(wp.quat_to_matrix(p))
    end = wp.quat_to_matrix(quat_from_rotation_vector(w)) * wp.transpose(back)
    for k in range(3):
        # Changes for a unit of L about one axis of the world, divided by h.
        dl = vec3(back[0, k], back[1, k], back[2, k])
        first = three * dl[2]
        m = about_z(dl, t.first) - h * first * wp.cross(vec3(real(0.0), real(0.0), real(1.0)), t.between)
        second = two * m[1]
        n = about_y(m, t.second) - h * second * wp.cross(vec3(real(0.0), real(1.0), real(0.0)), t.after)
        third = three * n[2]
        # Axes of the turns as the body had them before its own turning.
        y_axis = about_z(vec3(real(0.0), real(1.0), real(0.0)), -t.first)
        z_axis = about_z(about_y(vec3(real(0.0), real(0.0), real(1.0)), -t.second), -t.first)
        turn = end * (vec3(real(0.0), real(0.0), first) + second * y_axis + third * z_axis)
        for row in range(3):
            total[row, k] = total[row, k] + turn[row]
    return total


@wp.func
def angular_velocity_of(q: quat, momentum: vec3, frame: quat, inverse: vec3) -> vec3:
    """ω = J⁻¹ L."""
    p = q * frame
    return rotate(p, wp.cw_mul(inverse, rotate_back(p, momentum)))


@wp.func
def momentum_of(q: quat, w: vec3, frame: quat, inverse: vec3) -> vec3:
    """L = J ω."""
    p = q * frame
    return rotate(p, wp.cw_div(rotate_back(p, w), inverse))


@wp.func
def inverse_inertia_of(q: quat, frame: quat, inverse: vec3) -> mat33:
    """J⁻¹ in the world."""
    r = wp.quat_to_matrix(q * frame)
    return r * wp.diag(inverse) * wp.transpose(r)


def make_tops(model: Model) -> Any:
    """The tops of the bodies of a model."""
    moments, axes = (np.array(array.numpy(), dtype=np.float64) for array in (model.bodies.moments, model.bodies.axes))
    still = np.array(model.bodies.inverse_mass.numpy()) == 0.0
    inverse = 1.0 / np.where(still[:, None], 1.0, moments)
    # z becomes the axis whose two others are most alike, beside their size.
    others = np.stack([np.roll(inverse, -1, axis=1), np.roll(inverse, -2, axis=1)])
    odd = np.argmin(np.abs(others[0] - others[1]), axis=1)
    tops: Any = arrays.allocate(Tops, {"bodies": model.count}, model.device)
    order = (odd[:, None] + np.array([1, 2, 0])) % 3
    frame = rotation.multiply(axes, CYCLES[odd])
    tops.inverse.assign(np.take_along_axis(inverse, order, axis=1).astype(numpy_real))
    tops.frame.assign(np.asarray(frame, dtype=numpy_real))
    return tops
