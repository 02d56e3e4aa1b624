"""The sweeps over a tree: what the mean rates fall short of the equation of motion, and the change that mends it.

    forces    outwards: ω, v, α, a of each link; inwards: Σ (J α + …, m a − F) over what it carries, r = Sᵀ Σ
    change    (M + h²/4 K) δ = −r   by articulated inertias:
              inwards  U = I S,  D = Sᵀ U + A + h/2 k,  u = −Sᵀ p − A v̇ + τ,
                       I_parent += I − U D⁻¹ Uᵀ,  p_parent += p + U D⁻¹ u
              outwards δ = D⁻¹ (u − Uᵀ δa_parent),  δa = δa_parent + S δ

S motion subspace; I articulated inertia; A armature; τ servo and friction, k what the servo loses per rate; p missing
wrench. Velocities are those at the origin of the tree; inertias and wrenches are about the joint of each link, as far
links would lose their digits about one origin for all.

Cost: O(n). Reference: Featherstone, Rigid Body Dynamics Algorithms, §5.3 and §7.3.
"""

import warp as wp

from rattleback.core.precision import mat33, real, vec3
from rattleback.model.state import Loads
from rattleback.reduced.midpoint.friction import end_at_rest, pull
from rattleback.reduced.midpoint.links import HELD, SOFT, STIFFER, Trees
from rattleback.reduced.midpoint.placing import BALL_LINK, FREE_LINK, SLIDE_LINK, TURN_LINK
from rattleback.reduced.midpoint.steering import steer, weigh


@wp.func
def is_single(kind: int) -> bool:
    """Whether a link has one freedom."""
    return kind == TURN_LINK or kind == SLIDE_LINK


@wp.func
def set_subspace(trees: Trees, link: int, k: int) -> None:
    """The motion subspace of a link with one freedom."""
    frame = trees.step.frame[k]
    z = vec3(frame[0, 2], frame[1, 2], frame[2, 2])
    if trees.links.kind[link] == TURN_LINK:
        trees.step.s_turn[k] = z
        trees.step.s_way[k] = wp.cross(trees.step.x[k], z) + trees.links.lead[k] * z
    else:
        trees.step.s_turn[k] = vec3()
        trees.step.s_way[k] = z


@wp.func
def begin_rates(trees: Trees, link: int, k: int, h: real) -> tuple[vec3, vec3, vec3, vec3]:
    """Velocities and accelerations of what carries a link."""
    step = trees.step
    p = trees.links.parent[link]
    if p >= 0:
        m = k - link + p
        return step.spinning[m], step.drifting[m], step.spin_rate[m], step.drift_rate[m]
    if trees.links.kind[link] == FREE_LINK:
        return vec3(), vec3(), vec3(), vec3()
    w = step.base_spin[k]
    drift = step.base_drift[k]
    return w, drift - wp.cross(w, step.base_way[k] + real(0.5) * h * drift), vec3(), -wp.cross(w, drift)


@wp.func
def set_rates(trees: Trees, link: int, k: int, h: real) -> None:
    """Velocities of a link at the mean rates, and accelerations by their change since the start of the step."""
    step = trees.step
    kind = trees.links.kind[link]
    w, v, alpha, a = begin_rates(trees, link, k, h)
    if is_single(kind):
        rate = step.mean_spin[k][0]
        gain = real(2.0) / h * (rate - step.spin[k][0])
        s = step.s_turn[k]
        y = step.s_way[k]
        alpha += gain * s + rate * wp.cross(w, s)
        a += gain * y + rate * (wp.cross(w, y) + wp.cross(v, s))
        w += rate * s
        v += rate * y
    elif kind == BALL_LINK:
        turn = step.frame[k] * step.mean_spin[k]
        gains = step.frame[k] * (real(2.0) / h * (step.mean_spin[k] - step.spin[k]))
        x = step.x[k]
        y = wp.cross(x, turn)
        alpha += gains + wp.cross(w, turn)
        a += wp.cross(x, gains) + wp.cross(w, y) + wp.cross(v, turn)
        w += turn
        v += y
    elif kind == FREE_LINK:
        w = step.frame[k] * step.mean_spin[k]
        alpha = step.frame[k] * (real(2.0) / h * (step.mean_spin[k] - step.spin[k]))
        x = step.x[k]
        drift = step.mean_drift[k]
        v = drift + wp.cross(x, w)
        a = real(2.0) / h * (drift - step.drift[k]) + wp.cross(x, alpha) + wp.cross(drift, w)
    step.spinning[k] = w
    step.drifting[k] = v
    step.spin_rate[k] = alpha
    step.drift_rate[k] = a


@wp.func
def set_missing(trees: Trees, loads: Loads, link: int, k: int, w: int, h: real) -> None:
    """The torque and force that a body would need for its acceleration, less those that it has."""
    step = trees.step
    if trees.driven == 1:
        end_at_rest(trees, k, h)
        step.drive[k] = trees.links.armature[k] * (real(2.0) / h * (step.mean_spin[k][0] - step.spin[k][0]))
    if trees.links.body[link] < 0:
        step.couple[k] = vec3()
        step.force[k] = vec3()
        return
    i = w * int(trees.body_count) + trees.links.body[link]
    frame = step.frame[k]
    back = wp.transpose(frame)
    spin = step.spinning[k]
    alpha = step.spin_rate[k]
    inertia = trees.links.inertia[k]
    c = step.x[k] + frame * trees.links.body_way[k]
    at = step.drift_rate[k] + wp.cross(alpha, c) + wp.cross(spin, step.drifting[k] + wp.cross(spin, c))
    f = trees.links.mass[k] * at - loads.force[i]
    momentum = frame * (inertia * (back * spin))
    torque = frame * (inertia * (back * alpha)) + wp.cross(spin, momentum) - loads.torque[i]
    step.couple[k] = torque + wp.cross(frame * trees.links.body_way[k], f)
    step.force[k] = f


@wp.func
def set_inertia(trees: Trees, link: int, k: int) -> None:
    """The inertia of a body about the joint of its link."""
    step = trees.step
    if trees.links.body[link] < 0:
        step.turning[k] = mat33()
        step.mixed[k] = mat33()
        step.moving[k] = mat33()
        return
    frame = step.frame[k]
    m = trees.links.mass[k]
    c = frame * trees.links.body_way[k]
    o = real(0.0)
    square = m * wp.dot(c, c)
    mc = m * c
    step.turning[k] = frame * trees.links.inertia[k] * wp.transpose(frame) + mat33(
        square - mc[0] * c[0], -mc[0] * c[1], -mc[0] * c[2],
        -mc[1] * c[0], square - mc[1] * c[1], -mc[1] * c[2],
        -mc[2] * c[0], -mc[2] * c[1], square - mc[2] * c[2],
    )  # fmt: skip
    step.mixed[k] = mat33(o, -mc[2], mc[1], mc[2], o, -mc[0], -mc[1], mc[0], o)
    step.moving[k] = mat33(m, o, o, o, m, o, o, o, m)


@wp.func
def geometric(f: vec3, r: vec3) -> mat33:
    """Torque by turn of a force that keeps its direction, on a lever that turns: its symmetric part."""
    return wp.dot(f, r) * wp.identity(n=3, dtype=real) - real(0.5) * (wp.outer(f, r) + wp.outer(r, f))


@wp.func
def stiffen(trees: Trees, link: int, k: int, h: real) -> None:
    """Add h²/4 K to the inertia of a link and of its parent, K by the force of the round before on the link."""
    step = trees.step
    f = (real(0.25) * h * h) * step.force[k]
    x = step.x[k]
    p = trees.links.parent[link]
    if p >= 0:
        m = k - link + p
        if trees.links.body[p] >= 0:
            r = x - step.x[m] - step.frame[m] * trees.links.body_way[m]
            step.turning[m] = step.turning[m] + geometric(-f, r)
    if trees.links.body[link] >= 0 and trees.links.kind[link] != FREE_LINK:
        r = -(step.frame[k] * trees.links.body_way[k])
        step.turning[k] = step.turning[k] + geometric(f, r)


@wp.func
def symmetric(m: mat33) -> mat33:
    """The symmetric part; the rest is rounding, which would grow from link to link."""
    return real(0.5) * (m + wp.transpose(m))


@wp.func
def hand_on(trees: Trees, link: int, k: int, turning: mat33, mixed: mat33, moving: mat33) -> None:
    """Add an inertia about the joint of a link to that of its parent, about the joint of that."""
    step = trees.step
    p = trees.links.parent[link]
    if p >= 0:
        m = k - link + p
        far = wp.skew(step.x[k] - step.x[m])
        across = mixed + far * moving
        step.turning[m] = step.turning[m] + symmetric(turning - across * far + far * wp.transpose(mixed))
        step.mixed[m] = step.mixed[m] + across
        step.moving[m] = step.moving[m] + moving


@wp.func
def own_way(trees: Trees, link: int, k: int) -> vec3:
    """Velocity of a freedom at the joint of its link."""
    if trees.links.kind[link] == TURN_LINK:
        return trees.links.lead[k] * trees.step.s_turn[k]
    return trees.step.s_way[k]


@wp.func
def factor_single(trees: Trees, link: int, k: int) -> None:
    """U, D of one freedom; what is left of the inertia goes to the parent."""
    step = trees.step
    s = step.s_turn[k]
    y = own_way(trees, link, k)
    turning = step.turning[k]
    mixed = step.mixed[k]
    moving = step.moving[k]
    u = turning * s + mixed * y
    v = wp.transpose(mixed) * s + moving * y
    own = wp.dot(s, u) + wp.dot(y, v)
    if trees.driven == 1:
        if trees.stepping == 1:
            step.extra[k] = trees.links.armature[k] + weigh(trees, k, own + trees.links.armature[k])
        own += step.extra[k]
        if step.grip[k] == SOFT:
            own *= STIFFER
    inverse = real(1.0) / own
    step.u_turn[k] = u
    step.u_way[k] = v
    step.give[k] = inverse
    if step.grip[k] == HELD:
        inverse = real(0.0)
    a = inverse * u
    b = inverse * v
    hand_on(trees, link, k, turning - wp.outer(a, u), mixed - wp.outer(a, v), moving - wp.outer(b, v))


@wp.func
def factor_ball(trees: Trees, link: int, k: int) -> None:
    """The same of three turns, about the axes of the world: nothing but an inertia at the joint is left."""
    step = trees.step
    mixed = step.mixed[k]
    turning = symmetric(step.turning[k])
    inverse = symmetric(wp.inverse(turning))
    step.block_turn[k] = turning
    step.block_way[k] = wp.transpose(mixed)
    step.inverse[k] = inverse
    hand_on(trees, link, k, mat33(), mat33(), symmetric(step.moving[k] - wp.transpose(mixed) * inverse * mixed))


@wp.func
def factor_free(trees: Trees, k: int) -> None:
    """The inverse of the articulated inertia of what moves freely: by Schur complement of its mass."""
    step = trees.step
    inner = wp.inverse(step.moving[k])
    mixed = step.mixed[k]
    across = mixed * inner
    inverse = wp.inverse(step.turning[k] - across * wp.transpose(mixed))
    step.inverse[k] = inverse
    step.block_turn[k] = inverse * across
    step.block_way[k] = inner + wp.transpose(across) * inverse * across


@wp.func
def factor(trees: Trees, link: int, k: int) -> None:
    """Factor a link, after those that it carries."""
    step = trees.step
    kind = trees.links.kind[link]
    if is_single(kind):
        factor_single(trees, link, k)
    elif kind == BALL_LINK:
        factor_ball(trees, link, k)
    elif kind == FREE_LINK:
        factor_free(trees, k)
    else:
        hand_on(trees, link, k, step.turning[k], step.mixed[k], step.moving[k])


@wp.func
def gather(trees: Trees, link: int, k: int) -> None:
    """What a link is short of, after those that it carries; the rest goes to the parent."""
    step = trees.step
    kind = trees.links.kind[link]
    n = step.couple[k]
    f = step.force[k]
    if is_single(kind):
        u = -wp.dot(step.s_turn[k], n) - wp.dot(own_way(trees, link, k), f)
        if trees.driven == 1:
            u -= step.drive[k]
            if trees.stepping == 1:
                u += pull(trees, link, k) + steer(trees, k)
        step.wanted[k] = u
        u = wp.where(step.grip[k] == HELD, step.rest[k], u * step.give[k])
        n += u * step.u_turn[k]
        f += u * step.u_way[k]
    elif kind == BALL_LINK:
        step.wanted_turn[k] = -n
        f -= step.block_way[k] * (step.inverse[k] * n)
        n = vec3()
    p = trees.links.parent[link]
    if p >= 0:
        m = k - link + p
        step.couple[m] = step.couple[m] + n + wp.cross(step.x[k] - step.x[m], f)
        step.force[m] = step.force[m] + f


@wp.func
def change(trees: Trees, link: int, k: int, part: real) -> real:
    """The change of the accelerations of a link, at its joint; a part of it goes to the mean rates."""
    step = trees.step
    kind = trees.links.kind[link]
    p = trees.links.parent[link]
    alpha = vec3()
    a = vec3()
    if p >= 0:
        m = k - link + p
        alpha = step.spin_rate[m]
        a = step.drift_rate[m] + wp.cross(alpha, step.x[k] - step.x[m])
    size = real(0.0)
    if is_single(kind):
        left = step.wanted[k] - wp.dot(step.u_turn[k], alpha) - wp.dot(step.u_way[k], a)
        gain = wp.where(step.grip[k] == HELD, step.rest[k], step.give[k] * left)
        alpha += gain * step.s_turn[k]
        a += gain * own_way(trees, link, k)
        mean = step.mean_spin[k]
        mean[0] = mean[0] + part * gain
        step.mean_spin[k] = mean
        size = wp.abs(gain)
        if trees.driven == 1:
            step.gained[k] = gain
            step.relieved[k] = left - gain / step.give[k]
    elif kind == BALL_LINK:
        want = step.wanted_turn[k]
        want -= wp.transpose(step.block_turn[k]) * alpha + wp.transpose(step.block_way[k]) * a
        gains = step.inverse[k] * want
        alpha += gains
        step.mean_spin[k] = step.mean_spin[k] + part * (wp.transpose(step.frame[k]) * gains)
        size = wp.length(gains)
    elif kind == FREE_LINK:
        n = step.couple[k]
        f = step.force[k]
        alpha = step.block_turn[k] * f - step.inverse[k] * n
        a = wp.transpose(step.block_turn[k]) * n - step.block_way[k] * f
        step.mean_spin[k] = step.mean_spin[k] + part * (wp.transpose(step.frame[k]) * alpha)
        step.mean_drift[k] = step.mean_drift[k] + part * a
        size = wp.max(wp.length(alpha), wp.length(a))
    step.spin_rate[k] = alpha
    step.drift_rate[k] = a
    return part * size
