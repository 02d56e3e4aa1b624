"""What stands stays: bodies that rest on each other hand their momentum down to the ground, in one pass.

    f_c = F_c (a + b × (r_c − q)),    Σ f_c = −P,    Σ r_c × f_c = −L

P, L momentum and angular momentum that a body has no use for when it stands, with what bodies above have handed down;
F_c what the points below it push with, r_c from its centre of mass, q their middle, weighted with F_c. The opposite of
f_c goes to the bodies below. If every point then still pushes and grips, all of them stand still, which sweeps would
find only in many rounds: it takes one for every floor until the ground has answered to the top. Bodies whose points
would pull or slide, and all that stand on them, are left to the sweeps, as are those with joints.

    twice a step: what every body is to lose; from the top down who hands down how much, until all who stand can stand;
    then their points push
Cost: about that of two sweeps. Use it wherever things lie on each other; it does nothing for what moves.
"""

import numpy as np
import warp as wp

from rattleback.core.arrays import field, group
from rattleback.core.precision import mat33, real, vec3
from rattleback.maths.quat import small_turn
from rattleback.model.bench import Bench
from rattleback.model.model import Bodies
from rattleback.model.state import Clock, Motion
from rattleback.solvers.contacts.conjugate import allowed
from rattleback.solvers.contacts.contact_graph import Graph
from rattleback.solvers.contacts.patch import Pressing, local, world
from rattleback.solvers.contacts.resting import Flights
from rattleback.solvers.contacts.sweep import apply

# Times that those who cannot stand are taken out before nobody does.
TRIES = wp.constant(8)
# Part of the load of a patch with which all its points take part.
BASE = wp.constant(real(0.1))
# What the points of a patch that has no load yet take part with, by the mass of the body [m/s].
UNLOADED = wp.constant(real(1e-9))
# Part of the tolerance that may be left to a body that stands.
LEFT = wp.constant(real(0.1))
# Points nearly on a line, by the ratio of their moments, carry nobody.
NARROW = wp.constant(real(1e-3))


@group(axis="bodies")
class Standing:
    """What bodies stand on, and what they hand down."""

    alone: wp.int32 = field("1", "1 where no joint holds it")
    stands: wp.int32 = field("1", "1 where it stands; static bodies do")
    aimed: wp.int32 = field("1", "1 where it is known how it hands down")
    velocity: vec3 = field("m/s", "what it is to lose; then, where it may stand, its momentum [N s]")
    turning: vec3 = field("rad/s", "the same of its angular velocity, and its angular momentum [N m s]")
    momentum: vec3 = field("N s", "P")
    spin: vec3 = field("N m s", "L")
    load: real = field("N s", "Σ F_c of the points below it")
    middle: vec3 = field("m", "q, world frame, from its centre of mass")
    spread: mat33 = field("N m² s", "Σ F_c (r² 1 − r rᵀ), about its centre of mass; then its inverse about q")
    lift: vec3 = field("1", "a")
    tilt: vec3 = field("1/m", "b")


@wp.kernel(enable_backward=False)
def lose_velocity(bodies: Bodies, motion: Motion, standing: Standing) -> None:
    """At the end of a step bodies that stand lose their velocities."""
    i = wp.tid()
    standing.velocity[i] = motion.velocity[i]
    standing.turning[i] = motion.angular_velocity[i]


@wp.kernel(enable_backward=False)
def lose_way(bodies: Bodies, flights: Flights, clock: Clock, standing: Standing) -> None:
    """At its start they lose what makes them move over it."""
    i = wp.tid()
    rate = real(1.0) / real(clock.time_step[bodies.world[i]])
    standing.velocity[i] = rate * (flights.end.position[i] - flights.start.position[i])
    standing.turning[i] = rate * small_turn(flights.start.orientation[i], flights.end.orientation[i])


@wp.func
def find_rider(pressing: Pressing, graph: Graph, k: int) -> int:
    """The body of a patch that stands on the other, one level higher; -1 where neither does."""
    a = pressing.patches.body_a[k]
    b = pressing.patches.body_b[k]
    rider = int(-1)
    if graph.level[a] == graph.level[b] + 1:
        rider = a
    elif graph.level[b] == graph.level[a] + 1:
        rider = b
    pressing.patches.rider[k] = rider
    return rider


@wp.func
def lower(pressing: Pressing, k: int, i: int) -> int:
    """The other body of a patch."""
    return wp.where(pressing.patches.body_a[k] == i, pressing.patches.body_b[k], pressing.patches.body_a[k])


@wp.func
def arm(pressing: Pressing, k: int, i: int) -> vec3:
    """From the centre of mass of a body of a patch to its middle."""
    return wp.where(pressing.patches.body_a[k] == i, pressing.patches.arm_a[k], pressing.patches.arm_b[k])


@wp.func
def plate(r: vec3) -> mat33:
    """r² 1 − r rᵀ."""
    return wp.dot(r, r) * wp.identity(n=3, dtype=real) - wp.outer(r, r)


@wp.func
def weight(pressing: Pressing, k: int, c: int) -> real:
    """How much of what is handed down a point takes, beside others."""
    p = pressing.points.impulse[c][0]
    if pressing.points.place[c][2] > real(0.0):
        return p
    return p + BASE * pressing.patches.load[k]


@wp.func
def add_footing(bodies: Bodies, pressing: Pressing, standing: Standing, k: int, i: int) -> None:
    """Add the points of a patch to what carries a body."""
    first = pressing.patches.first[k]
    end = first + pressing.patches.count[k]
    # Where nobody pushes yet all points of a patch are alike.
    load = UNLOADED * bodies.mass[i]
    for c in range(first, end):
        load += pressing.points.impulse[c][0]
    pressing.patches.load[k] = load
    total = real(0.0)
    x = real(0.0)
    y = real(0.0)
    xx = real(0.0)
    xy = real(0.0)
    yy = real(0.0)
    for c in range(first, end):
        p = weight(pressing, k, c)
        place = pressing.points.place[c]
        total += p
        x += p * place[0]
        y += p * place[1]
        xx += p * place[0] * place[0]
        xy += p * place[0] * place[1]
        yy += p * place[1] * place[1]
    s = pressing.patches.tangent[k]
    u = wp.cross(pressing.patches.normal[k], s)
    m = arm(pressing, k, i)
    d = x * s + y * u
    # Σ p (r² 1 − r rᵀ) of r = m + d, where d is in the plane of the patch.
    tilted = wp.outer(m, d) + wp.outer(xx * s + xy * u, s) + wp.outer(xy * s + yy * u, u)
    round_about = (real(2.0) * wp.dot(m, d) + xx + yy) * wp.identity(n=3, dtype=real)
    standing.load[i] = standing.load[i] + total
    standing.middle[i] = standing.middle[i] + total * m + d
    standing.spread[i] = standing.spread[i] + total * plate(m) + round_about - tilted - wp.outer(d, m)


@wp.func
def find_footing(bodies: Bodies, pressing: Pressing, graph: Graph, standing: Standing) -> None:
    """What carries every body, what it is to lose, and who may stand."""
    for i in range(bodies.world.shape[0]):
        standing.load[i] = real(0.0)
        standing.middle[i] = vec3()
        standing.spread[i] = mat33()
        standing.stands[i] = wp.where(bodies.inverse_mass[i] == real(0.0), 1, 0)
    for k in range(graph.total[0]):
        i = find_rider(pressing, graph, k)
        if i >= 0:
            add_footing(bodies, pressing, standing, k, i)
    for i in range(bodies.world.shape[0]):
        if standing.load[i] > real(0.0) and standing.alone[i] == 1:
            q = standing.middle[i] / standing.load[i]
            spread = standing.spread[i] - standing.load[i] * plate(q)
            wide = spread[0, 0] + spread[1, 1] + spread[2, 2]
            if wp.determinant(spread) > NARROW * wide * wide * wide:
                standing.middle[i] = q
                standing.spread[i] = wp.inverse(spread)
                standing.stands[i] = 1
                standing.velocity[i] = bodies.mass[i] * standing.velocity[i]
                standing.turning[i] = wp.inverse(pressing.weights.inverse_inertia[i]) * standing.turning[i]


@wp.func
def settle_who(pressing: Pressing, graph: Graph, standing: Standing) -> None:
    """Who stands on somebody who does not stand does not either."""
    for k in range(graph.total[0]):
        i = pressing.patches.rider[k]
        if i >= 0 and standing.stands[lower(pressing, k, i)] == 0:
            standing.stands[i] = 0


@wp.func
def aim(standing: Standing, i: int) -> None:
    """How a body hands down what it has."""
    standing.aimed[i] = 1
    standing.lift[i] = -standing.momentum[i] / standing.load[i]
    around = standing.spin[i] - wp.cross(standing.middle[i], standing.momentum[i])
    standing.tilt[i] = -(standing.spread[i] * around)


@wp.struct
class Share:
    """What the points of a patch take, for each unit of their weight: (a, b) at its middle, in its axes, on A."""

    lift: vec3
    tilt: vec3


@wp.func
def share_of(pressing: Pressing, standing: Standing, k: int, i: int) -> Share:
    """What a patch takes of what a body hands down."""
    n = pressing.patches.normal[k]
    t = pressing.patches.tangent[k]
    side = wp.where(pressing.patches.body_a[k] == i, real(1.0), real(-1.0))
    lift = standing.lift[i] + wp.cross(standing.tilt[i], arm(pressing, k, i) - standing.middle[i])
    share = Share()
    share.lift = side * local(n, t, lift)
    share.tilt = side * local(n, t, standing.tilt[i])
    return share


@wp.func
def pushed(pressing: Pressing, share: Share, k: int, c: int) -> vec3:
    """What a point pushes with when it takes its share, no more than it can."""
    x = pressing.points.place[c][0]
    y = pressing.points.place[c][1]
    a = share.lift
    b = share.tilt
    f = vec3(a[0] + b[1] * y - b[2] * x, a[1] - b[0] * y, a[2] + b[0] * x)
    return allowed(pressing.points.impulse[c] + weight(pressing, k, c) * f, pressing.patches.grip[k])


@wp.func
def hand_down(pressing: Pressing, standing: Standing, k: int, i: int) -> None:
    """Hand the share of a patch down to the body below."""
    f = vec3()
    m = vec3()
    share = share_of(pressing, standing, k, i)
    first = pressing.patches.first[k]
    for c in range(first, first + pressing.patches.count[k]):
        p = pushed(pressing, share, k, c) - pressing.points.impulse[c]
        place = pressing.points.place[c]
        f += p
        m += vec3(place[0] * p[2] - place[1] * p[1], place[1] * p[0], -place[0] * p[0])
    side = wp.where(pressing.patches.body_a[k] == i, real(1.0), real(-1.0))
    force = side * world(pressing.patches.normal[k], pressing.patches.tangent[k], f)
    moment = side * world(pressing.patches.normal[k], pressing.patches.tangent[k], m)
    below = lower(pressing, k, i)
    standing.momentum[i] = standing.momentum[i] + force
    standing.spin[i] = standing.spin[i] + moment + wp.cross(arm(pressing, k, i), force)
    standing.momentum[below] = standing.momentum[below] - force
    standing.spin[below] = standing.spin[below] - moment - wp.cross(arm(pressing, k, below), force)


@wp.func
def try_standing(bodies: Bodies, pressing: Pressing, graph: Graph, standing: Standing, speed: real) -> bool:
    """Hand everything down, from the top; those who cannot do not stand any more. Whether all could."""
    for i in range(bodies.world.shape[0]):
        standing.aimed[i] = 0
        standing.momentum[i] = standing.velocity[i]
        standing.spin[i] = standing.turning[i]
    count = graph.total[0]
    for down in range(count):
        k = count - 1 - down
        i = pressing.patches.rider[k]
        if i >= 0 and standing.stands[i] == 1:
            if standing.aimed[i] == 0:
                aim(standing, i)
            hand_down(pressing, standing, k, i)
    all_hold = bool(True)
    for i in range(bodies.world.shape[0]):
        if standing.aimed[i] == 1:
            left = bodies.inverse_mass[i] * wp.length(standing.momentum[i])
            left += wp.length(pressing.weights.inverse_inertia[i] * standing.spin[i]) * wp.length(standing.middle[i])
            if left > LEFT * speed:
                standing.stands[i] = 0
                all_hold = False
    return all_hold


@wp.func
def push_standing(bodies: Bodies, pressing: Pressing, standing: Standing, motion: Motion, k: int) -> None:
    """The points of a patch push with what is handed down over them."""
    f = vec3()
    m = vec3()
    share = share_of(pressing, standing, k, pressing.patches.rider[k])
    first = pressing.patches.first[k]
    for c in range(first, first + pressing.patches.count[k]):
        new_impulse = pushed(pressing, share, k, c)
        p = new_impulse - pressing.points.impulse[c]
        place = pressing.points.place[c]
        f += p
        m += vec3(place[0] * p[2] - place[1] * p[1], place[1] * p[0], -place[0] * p[0])
        pressing.points.impulse[c] = new_impulse
    n = pressing.patches.normal[k]
    t = pressing.patches.tangent[k]
    apply(bodies, pressing, motion, k, world(n, t, f), world(n, t, m))


@wp.kernel(enable_backward=False)
def stand(bodies: Bodies, pressing: Pressing, graph: Graph, standing: Standing, motion: Motion, speed: real) -> None:
    """Let all who can stand, on one thread."""
    find_footing(bodies, pressing, graph, standing)
    settle_who(pressing, graph, standing)
    tries = int(0)
    done = bool(False)
    while tries < TRIES and not done:
        done = try_standing(bodies, pressing, graph, standing, speed)
        if not done:
            settle_who(pressing, graph, standing)
        tries += 1
    if done:
        for k in range(graph.total[0]):
            i = pressing.patches.rider[k]
            if i >= 0 and standing.stands[i] == 1:
                push_standing(bodies, pressing, standing, motion, k)


@wp.kernel(enable_backward=False)
def begin_look(jointed: wp.array[wp.int32], apart: wp.array[wp.int32]) -> None:
    """Nothing that touches has been found to have joints."""
    jointed[0] = 0
    apart[0] = 1


@wp.kernel(enable_backward=False)
def look_for_joints(
    pressing: Pressing,
    graph: Graph,
    standing: Standing,
    jointed: wp.array[wp.int32],
    apart: wp.array[wp.int32],
    lanes: int,
) -> None:
    """Whether a joint holds anything that touches."""
    for k in range(wp.tid(), graph.total[0], lanes):
        alone = standing.alone[pressing.patches.body_a[k]] + standing.alone[pressing.patches.body_b[k]]
        pressing.patches.jointed[k] = wp.where(alone < 2, 1, 0)
        if alone < 2:
            jointed[0] = 1
            apart[0] = 0


class Ground:
    """Records what lets bodies stand: on one thread, so not on CUDA.

    Attributes:
        standing: What bodies stand on.
        jointed: 1 where a joint holds anything that touches.
        apart: 1 where none does.

    Args:
        bench: What the step works on.
        pressing: The patches.
        graph: Their order.
        speed: Tolerance of velocities [m/s].
    """

    def __init__(self, bench: Bench, pressing: Pressing, graph: Graph, speed: float) -> None:
        self.bench, self.pressing, self.graph, self.speed = bench, pressing, graph, speed
        self.standing = bench.scratch(Standing)
        self.jointed, self.apart = (wp.zeros(1, dtype=wp.int32, device=bench.model.device) for _ in range(2))
        model = bench.model
        held = {name for joint in model.scene.joints.values() for name in (joint.a, joint.b)}
        alone = np.array([name not in held for name in model.names], dtype=np.int32)
        self.standing.alone.assign(np.tile(alone, model.worlds))

    def record_look(self) -> None:
        """Record the look whether a joint holds anything that touches."""
        program, flags = self.bench.program, (self.jointed, self.apart)
        given = (self.pressing, self.graph, self.standing, *flags)
        program.launch(begin_look, 1, *flags)
        program.share(look_for_joints, len(self.pressing.patches.first), *given)

    def stop(self, motion: Motion) -> None:
        """Record that bodies that stand lose their velocities."""
        if self.bench.model.device.is_cpu:
            self.bench.for_bodies(lose_velocity, motion, self.standing)
            self._stand(motion)

    def stay(self, flights: Flights) -> None:
        """Record that bodies that stand do not move over the predicted step."""
        if self.bench.model.device.is_cpu:
            self.bench.for_bodies(lose_way, flights, self.bench.state.clock, self.standing)
            self._stand(flights.start)

    def _stand(self, motion: Motion) -> None:
        bench, given = self.bench, (self.pressing, self.graph, self.standing, motion, self.speed)
        bench.program.launch(stand, 1, bench.model.bodies, *given)
