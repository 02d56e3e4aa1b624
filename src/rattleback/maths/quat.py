"""Rotations inside kernels: unit quaternions and their conversions to and from every other form.

    q = (u sin(φ/2), cos(φ/2))      R v = q v q*      R = E Gᵀ      Ṙ = 2 E Ġᵀ      q̇ = ½ Eᵀ ω

with, the columns in the order (x, y, z, w) and v = (x, y, z),

    E = [ṽ + w I, −v]        G = [−ṽ + w I, −v]        ṽ b = v × b

E and G are linear in q and have orthonormal rows if q has length one.

Symbols: q = (x, y, z, w) unit quaternion; u unit axis; φ angle [rad]; ω angular velocity, world frame [rad/s];
R rotation matrix, from the body frame to the world frame; ṽ cross-product matrix.
Source: lecture on contact dynamics, "Kvaterniony místo Eulerových úhlů"; Bender, dissertation, A.1, A.2, C.1 and C.3.
The exponential and the logarithm change to their series where the rest of the series is below rounding, so the
change of branch cannot be seen in the result.
"""

import math

import warp as wp

from rattleback.core.precision import epsilon, mat33, mat34, quat, real, vec3

LOCK = wp.constant(real(4.0 * epsilon))
SERIES = wp.constant(real(1e-6))
SETTLED = wp.constant(real(epsilon**0.5))
PI = wp.constant(real(math.pi))


@wp.func
def canonical(q: quat) -> quat:
    """The one of q and −q with w > 0, or at a half turn with the first component that is not zero above zero."""
    lead = q[3]
    if lead == real(0.0):
        lead = q[0]
    if lead == real(0.0):
        lead = q[1]
    if lead == real(0.0):
        lead = q[2]
    return wp.where(lead < real(0.0), -q, q)


@wp.func
def quat_from_rotation_vector(w: vec3) -> quat:
    """The exponential map: the turn by |w| [rad] about w."""
    square = wp.dot(w, w)
    angle = wp.sqrt(square)
    factor = real(0.5) - square * (real(1.0) / real(48.0) - square / real(3840.0))
    if square > SERIES:
        factor = wp.sin(real(0.5) * angle) / angle
    return quat(factor * w[0], factor * w[1], factor * w[2], wp.cos(real(0.5) * angle))


@wp.func
def rotation_vector_from_quat(q: quat) -> vec3:
    """The logarithm: the axis times the angle [rad], of length at most π; equal for q and −q."""
    p = canonical(q)
    v = vec3(p[0], p[1], p[2])
    square = wp.dot(v, v)
    factor = real(2.0) / p[3]
    if square > SERIES:
        length = wp.sqrt(square)
        factor = real(2.0) * wp.atan2(length, p[3]) / length
    else:
        tangent = square / (p[3] * p[3])
        factor *= real(1.0) - tangent * (real(1.0) / real(3.0) - tangent / real(5.0))
    return factor * v


@wp.func
def small_turn(before: quat, after: quat) -> vec3:
    """Rotation vector of the turn from one orientation to another, but for the cube of its angle, without a sine."""
    # Multiplied and added at once, as on CUDA, what should cancel leaves its rounding.
    if before == after:
        return vec3()
    d = after * wp.quat_inverse(before)
    return wp.where(d[3] < real(0.0), real(-2.0), real(2.0)) * vec3(d[0], d[1], d[2])


@wp.func
def quat_from_cayley(w: vec3) -> quat:
    """The Cayley map: the turn by 2 atan(|w|/2) about w, which needs no sine."""
    scale = real(1.0) / wp.sqrt(real(1.0) + real(0.25) * wp.dot(w, w))
    half = real(0.5) * scale
    return quat(half * w[0], half * w[1], half * w[2], scale)


@wp.func
def quat_from_axis_angle(axis: vec3, angle: real) -> quat:
    """The turn by an angle [rad] about an axis of length one."""
    s = wp.sin(real(0.5) * angle)
    return quat(s * axis[0], s * axis[1], s * axis[2], wp.cos(real(0.5) * angle))


@wp.func
def axis_angle(q: quat) -> tuple[vec3, real]:
    """The unit axis and the angle in [0, π] [rad]; the axis of no turn at all is x."""
    p = canonical(q)
    axis = vec3(real(1.0), real(0.0), real(0.0))
    angle = real(0.0)
    # Scaled by its largest entry, so that the square of a tiny vector does not vanish.
    largest = wp.max(wp.max(wp.abs(p[0]), wp.abs(p[1])), wp.abs(p[2]))
    if largest > real(0.0):
        v = vec3(p[0] / largest, p[1] / largest, p[2] / largest)
        length = wp.length(v)
        axis = v / length
        angle = real(2.0) * wp.atan2(largest * length, p[3])
    return axis, angle


@wp.func
def quat_from_matrix(r: mat33) -> quat:
    """The canonical quaternion of a rotation matrix: the row of 4 q qᵀ with the largest diagonal entry, scaled."""
    w = real(1.0) + r[0, 0] + r[1, 1] + r[2, 2]
    x = real(1.0) + r[0, 0] - r[1, 1] - r[2, 2]
    y = real(1.0) - r[0, 0] + r[1, 1] - r[2, 2]
    z = real(1.0) - r[0, 0] - r[1, 1] + r[2, 2]
    row = quat(r[2, 1] - r[1, 2], r[0, 2] - r[2, 0], r[1, 0] - r[0, 1], w)
    if x > w and x >= y and x >= z:
        row = quat(x, r[1, 0] + r[0, 1], r[0, 2] + r[2, 0], r[2, 1] - r[1, 2])
    elif y > w and y >= z:
        row = quat(r[1, 0] + r[0, 1], y, r[2, 1] + r[1, 2], r[0, 2] - r[2, 0])
    elif z > w:
        row = quat(r[0, 2] + r[2, 0], r[2, 1] + r[1, 2], z, r[1, 0] - r[0, 1])
    return canonical(wp.normalize(row))


@wp.func
def matrix_from_quat(q: quat) -> mat33:
    """The rotation matrix of a unit quaternion."""
    x2, y2, z2 = q[0] + q[0], q[1] + q[1], q[2] + q[2]
    xx, yy, zz = q[0] * x2, q[1] * y2, q[2] * z2
    xy, xz, yz = q[0] * y2, q[0] * z2, q[1] * z2
    wx, wy, wz = q[3] * x2, q[3] * y2, q[3] * z2
    one = real(1.0)
    return mat33(one - yy - zz, xy - wz, xz + wy, xy + wz, one - xx - zz, yz - wx, xz - wy, yz + wx, one - xx - yy)


@wp.func
def rotate(q: quat, v: vec3) -> vec3:
    """R v without forming R: v + s w (u × v) + s u × (u × v) with u = (x, y, z), s = 2/|q|².

    Dividing by |q|² keeps lengths even when rounding has left q a little off length one, step after step.
    """
    u = vec3(q[0], q[1], q[2])
    t = (real(2.0) / wp.dot(q, q)) * wp.cross(u, v)
    return v + q[3] * t + wp.cross(u, t)


@wp.func
def rotate_back(q: quat, v: vec3) -> vec3:
    """Rᵀ v without forming R: from the world frame into the body frame."""
    u = vec3(q[0], q[1], q[2])
    t = (real(2.0) / wp.dot(q, q)) * wp.cross(u, v)
    return v - q[3] * t + wp.cross(u, t)


@wp.func
def cross_matrix(v: vec3) -> mat33:
    """The matrix ṽ with ṽ b = v × b."""
    o = real(0.0)
    return mat33(o, -v[2], v[1], v[2], o, -v[0], -v[1], v[0], o)


@wp.func
def e_matrix(q: quat) -> mat34:
    """The matrix E = [ṽ + w I, −v], columns in the order (x, y, z, w)."""
    x, y, z, w = q[0], q[1], q[2], q[3]
    return mat34(w, -z, y, -x, z, w, -x, -y, -y, x, w, -z)


@wp.func
def g_matrix(q: quat) -> mat34:
    """The matrix G = [−ṽ + w I, −v], columns in the order (x, y, z, w)."""
    x, y, z, w = q[0], q[1], q[2], q[3]
    return mat34(w, z, -y, -x, -z, w, x, -y, y, -x, w, -z)


@wp.func
def quat_rate(q: quat, w: vec3) -> quat:
    """The rate q̇ = ½ Eᵀ ω [1/s] at the angular velocity ω in the world frame [rad/s]."""
    v = vec3(q[0], q[1], q[2])
    rate = real(0.5) * (q[3] * w + wp.cross(w, v))
    return quat(rate[0], rate[1], rate[2], real(-0.5) * wp.dot(w, v))


@wp.func
def orthonormalise(m: mat33) -> mat33:
    """The rotation nearest to a matrix of positive determinant: Newton's iteration X ← ½ (X + X⁻ᵀ).

    The rows of X⁻ᵀ are the cross products of the rows of X, divided by the determinant. Bender's C.3 leaves out the
    division, so that the error in the common scale of the rows grows by half in every round.
    The error is squared in every round; a step shorter than √eps is therefore the last one.
    """
    x = m
    change = real(1.0)
    rounds = wp.int32(0)
    while change > SETTLED and rounds < 20:
        a, b, c = x[0], x[1], x[2]
        bc, ca, ab = wp.cross(b, c), wp.cross(c, a), wp.cross(a, b)
        step = real(0.5) * (wp.matrix_from_rows(bc, ca, ab) / wp.dot(a, bc) - x)
        x = x + step
        change = wp.sqrt(wp.ddot(step, step))
        rounds += 1
    return x


@wp.func
def wrap_angle(angle: real) -> real:
    """The same angle in (−π, π], for angles in [−2π, 2π]."""
    if angle > PI:
        return angle - real(2.0) * PI
    if angle <= -PI:
        return angle + real(2.0) * PI
    return angle


@wp.func
def quat_about(axis: int, angle: real) -> quat:
    """The turn by an angle [rad] about coordinate axis 0, 1 or 2."""
    q = quat(real(0.0), real(0.0), real(0.0), wp.cos(real(0.5) * angle))
    q[axis] = wp.sin(real(0.5) * angle)
    return q


@wp.func
def quat_from_euler(angles: vec3, sequence: int) -> quat:
    """The canonical quaternion of three turns [rad]; the sequence is a number from ``euler.sequence_code``."""
    a = quat_about(sequence % 3, angles[0])
    b = quat_about((sequence // 3) % 3, angles[1])
    c = quat_about((sequence // 9) % 3, angles[2])
    if sequence >= 27:
        return canonical(c * b * a)
    return canonical(a * b * c)


@wp.func
def euler_from_quat(q: quat, sequence: int) -> vec3:
    """The three turns [rad]; the formulas and the rule at the gimbal lock are those of ``euler``."""
    i, j, k = sequence % 3, (sequence // 3) % 3, (sequence // 9) % 3
    fixed = sequence >= 27
    if fixed:
        i, k = (sequence // 9) % 3, sequence % 3
    sign = wp.where((j - i + 3) % 3 == 1, real(1.0), real(-1.0))
    cos_sum, sin_sum, cos_difference, sin_difference = q[3], q[i], q[j], sign * q[3 - i - j]
    if i != k:
        cos_sum, sin_sum = q[3] + sign * q[j], q[i] + q[k]
        cos_difference, sin_difference = q[3] - sign * q[j], q[i] - q[k]
    length_sum = wp.sqrt(cos_sum * cos_sum + sin_sum * sin_sum)
    length_difference = wp.sqrt(cos_difference * cos_difference + sin_difference * sin_difference)
    middle = real(2.0) * wp.atan2(length_difference, length_sum)
    if i != k:
        middle = wp.atan2(real(2.0) * (q[3] * q[j] + sign * q[i] * q[k]), length_sum * length_difference)
    half_sum = wp.atan2(sin_sum, cos_sum)
    half_difference = wp.atan2(sin_difference, cos_difference)
    third = wp.where(fixed, real(-1.0), real(1.0))
    if length_difference <= LOCK:
        half_difference = third * half_sum
    elif length_sum <= LOCK:
        half_sum = third * half_difference
    first = wrap_angle(half_sum + half_difference)
    last = wrap_angle(half_sum - half_difference)
    if fixed:
        return vec3(last, middle, first)
    return vec3(first, middle, last)
