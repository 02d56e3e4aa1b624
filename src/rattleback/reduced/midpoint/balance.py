"""Momentum of trees that nothing holds: after a step it is what it was before, and what the loads gave.

    p₁ = p₀ + h Σ F,   L₁ = L₀ + h Σ (τ + x½ × F),   x̄₁ = x̄₀ + h (p₀ + p₁)/2m

p, L momentum and angular momentum about the origin of the tree, x̄ centre of mass, m mass, x½ positions in the middle of
the step. The midpoint rule in coordinates keeps them to its order; what it leaves, of the third order in h, is given
back to all bodies as one rigid motion, which no joint notices.

Cost: two sums over the bodies of such a tree, and one pass.
"""

import warp as wp

from rattleback.core.precision import mat33, real, vec3
from rattleback.model.state import Loads, Motion
from rattleback.reduced.midpoint.links import Trees


@wp.struct
class Balance:
    """Momentum, and what it takes to correct it."""

    mass: real
    center: vec3
    linear: vec3
    angular: vec3
    inertia: mat33


@wp.func
def body_of(trees: Trees, link: int, w: int) -> int:
    """Row of the body that a link ends in; −1 for none."""
    i = trees.links.body[link]
    return wp.where(i < 0, -1, w * int(trees.body_count) + i)


@wp.func
def local_inertia(trees: Trees, k: int, motion: Motion, i: int) -> mat33:
    """Inertia of a body about its centre of mass, in the axes of the world."""
    turn = wp.quat_to_matrix(motion.orientation[i] * wp.quat_inverse(trees.links.body_turn[k]))
    return turn * trees.links.inertia[k] * wp.transpose(turn)


@wp.func
def momentum_of(trees: Trees, motion: Motion, root: int, w: int) -> Balance:
    """Sums over the bodies of a tree."""
    found = Balance()
    origin = trees.step.origin[w * int(trees.count) + root]
    link = int(root)
    while link < int(trees.count) and trees.links.root[wp.min(link, int(trees.count) - 1)] == root:
        i = body_of(trees, link, w)
        if i >= 0:
            k = w * int(trees.count) + link
            m = trees.links.mass[k]
            x = motion.position[i] - origin
            p = m * motion.velocity[i]
            turning = local_inertia(trees, k, motion, i)
            found.mass += m
            found.center += m * x
            found.linear += p
            found.angular += turning * motion.angular_velocity[i] + wp.cross(x, p)
            found.inertia += turning + m * (wp.dot(x, x) * wp.identity(n=3, dtype=real) - wp.outer(x, x))
        link += 1
    found.center = found.center / found.mass
    return found


@wp.func
def add_loads(trees: Trees, loads: Loads, root: int, w: int, h: real, found: Balance) -> Balance:
    """What the loads of a step add to a momentum, at the positions in its middle."""
    link = int(root)
    while link < int(trees.count) and trees.links.root[wp.min(link, int(trees.count) - 1)] == root:
        i = body_of(trees, link, w)
        if i >= 0:
            k = w * int(trees.count) + link
            x = trees.step.x[k] + trees.step.frame[k] * trees.links.body_way[k]
            found.linear += h * loads.force[i]
            found.angular += h * (loads.torque[i] + wp.cross(x, loads.force[i]))
        link += 1
    return found


@wp.func
def give_back(trees: Trees, end: Motion, root: int, w: int, wanted: Balance) -> None:
    """Correct momentum and centre of mass at the end of a step by one rigid motion."""
    now = momentum_of(trees, end, root, w)
    about = now.inertia - now.mass * (
        wp.dot(now.center, now.center) * wp.identity(n=3, dtype=real) - wp.outer(now.center, now.center)
    )
    push = wanted.linear - now.linear
    gone = wanted.center - now.center
    lever = wp.cross(now.center, push) + wp.cross(gone, wanted.linear)
    spin = wp.inverse(about) * (wanted.angular - now.angular - lever)
    origin = trees.step.origin[w * int(trees.count) + root]
    link = int(root)
    while link < int(trees.count) and trees.links.root[wp.min(link, int(trees.count) - 1)] == root:
        i = body_of(trees, link, w)
        if i >= 0:
            x = end.position[i] - origin - now.center
            end.velocity[i] = end.velocity[i] + push / now.mass + wp.cross(spin, x)
            end.angular_velocity[i] = end.angular_velocity[i] + spin
            end.position[i] = end.position[i] + gone
        link += 1


@wp.func
def want_momentum(trees: Trees, start: Motion, loads: Loads, root: int, w: int, h: real) -> None:
    """Store the momentum and the centre of mass of a tree at the end of a step, with its links in the middle of it."""
    before = momentum_of(trees, start, root, w)
    linear = before.linear
    wanted = add_loads(trees, loads, root, w, h, before)
    k = w * int(trees.count) + root
    trees.step.couple[k] = wanted.angular
    trees.step.force[k] = wanted.linear
    trees.step.wanted_turn[k] = wanted.center + real(0.5) * h / wanted.mass * (linear + wanted.linear)


@wp.func
def balance(trees: Trees, end: Motion, root: int, w: int) -> None:
    """Give a tree the momentum that was stored, and its centre of mass the place that goes with it."""
    k = w * int(trees.count) + root
    wanted = Balance()
    wanted.angular = trees.step.couple[k]
    wanted.linear = trees.step.force[k]
    wanted.center = trees.step.wanted_turn[k]
    give_back(trees, end, root, w, wanted)
