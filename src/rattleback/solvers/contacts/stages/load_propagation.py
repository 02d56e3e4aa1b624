"""What stands stays: bodies that rest on each other hand their momentum down to the ground, in one pass.

    f_c = F_c (a + b × (r_c − q)),    Σ f_c = −P,    Σ r_c × f_c = −L

P, L momentum and angular momentum that a body has no use for when it stands, with what bodies above have handed down;
F_c what the points below it push with, r_c from its centre of mass, q their middle, weighted with F_c. The opposite of
f_c goes to the bodies below. If every point then still pushes and grips, all of them stand still, which sweeps would
find only in many rounds: it takes one for every floor until the ground has answered to the top. Bodies whose points
would pull or slide, and all that stand on them, are left to the sweeps, as are those with joints. Every world is asked
for itself.

    twice a step: what every body is to lose; from the top down who hands down how much, until all who stand can stand;
    then their points push
A load that is off by rounding moves a body by less than the rounding of its position, so that it would stay off; it is
put right where the end of the step shows it.

Cost: about that of two sweeps over what moves a little and all that carries it; at rest a look at every body. Use it
wherever things lie on each other; it does nothing for what moves.
"""

import math
from typing import Any

import warp as wp

from rattleback.core import arrays
from rattleback.core.kernel import kernel
from rattleback.core.precision import epsilon, real, vec3
from rattleback.model.bench import Bench
from rattleback.model.model import Bodies
from rattleback.model.state import Motion
from rattleback.solvers.contacts.kernels.friction import allowed
from rattleback.solvers.contacts.problem.contact_graph import Graph
from rattleback.solvers.contacts.problem.contact_problem import ContactProblem
from rattleback.solvers.contacts.problem.manifolds import PatchPoints, Pressing, local, moment_at, world
from rattleback.solvers.contacts.schemes.displacements import Flights
from rattleback.solvers.contacts.schemes.inputs import ContactLimits
from rattleback.solvers.contacts.stages.support import (
    Pace,
    Standing,
    arm,
    ask,
    find_footing,
    lose_velocity,
    lose_way,
    lower,
    settle_who,
    strike_off,
    weight,
)

# Times that those who cannot stand are taken out before nobody does.
TRIES = wp.constant(8)
# Part of the tolerance that may be left to a body that stands.
LEFT = wp.constant(real(0.1))
# Part of an impulse up to which a change of it is rounding.
SLIGHT = wp.constant(real(epsilon**0.5))


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
        push = pushed(pressing, share, k, c)
        standing.push[c] = push
        p = push - pressing.points.impulse[c]
        f += p
        m += moment_at(pressing.points.place[c], p)
    side = wp.where(pressing.patches.body_a[k] == i, real(1.0), real(-1.0))
    force = side * world(pressing.patches.normal[k], pressing.patches.tangent[k], f)
    moment = side * world(pressing.patches.normal[k], pressing.patches.tangent[k], m)
    below = lower(pressing, k, i)
    standing.momentum[i] = standing.momentum[i] + force
    standing.spin[i] = standing.spin[i] + moment + wp.cross(arm(pressing, k, i), force)
    standing.momentum[below] = standing.momentum[below] - force
    standing.spin[below] = standing.spin[below] - moment - wp.cross(arm(pressing, k, below), force)


@wp.func
def hand_all_down(bodies: Bodies, pressing: Pressing, standing: Standing, listed: int) -> None:
    """Hand everything down, from the top, in worlds that are tried."""
    for n in range(standing.members[0]):
        i = standing.member[n]
        if standing.tries[bodies.world[i]] == 1:
            standing.aimed[i] = 0
            standing.momentum[i] = standing.velocity[i]
            standing.spin[i] = standing.turning[i]
    for n in range(listed):
        k = standing.listed[n]
        i = pressing.patches.rider[k]
        if standing.tries[pressing.patches.world[k]] == 1:
            if standing.aimed[i] == 0:
                aim(standing, i)
            hand_down(pressing, standing, k, i)


@wp.func
def try_standing(bodies: Bodies, pressing: Pressing, standing: Standing, listed: int, speed: real) -> bool:
    """Hand everything down; those who cannot do not stand any more. Whether all of every world could."""
    hand_all_down(bodies, pressing, standing, listed)
    for w in range(standing.tries.shape[0]):
        standing.holds[w] = 1
    all_hold = bool(True)
    for n in range(standing.members[0]):
        i = standing.member[n]
        w = bodies.world[i]
        if standing.aimed[i] == 1 and standing.tries[w] == 1:
            left = bodies.inverse_mass[i] * wp.length(standing.momentum[i])
            left += wp.length(pressing.weights.inverse_inertia[i] * standing.spin[i]) * wp.length(standing.middle[i])
            if left > LEFT * speed:
                standing.stands[i] = 0
                standing.holds[w] = 0
                all_hold = False
    for w in range(standing.tries.shape[0]):
        standing.tries[w] = 1 - standing.holds[w]
    return all_hold


@wp.func
def push_point(points: PatchPoints, standing: Standing, c: int) -> None:
    """A point pushes with what is handed down over it; a load that was off by rounding is right from now on."""
    p = points.impulse[c]
    change = standing.push[c] - p
    if wp.dot(change, change) < SLIGHT * SLIGHT * p[0] * p[0]:
        # The load is twice the impulse by the length of the step; one half of it has acted at the start.
        points.load[c] = points.load[c] + (real(0.5) * points.load[c][0] / p[0]) * change
    points.impulse[c] = standing.push[c]


@wp.func
def push_all(bodies: Bodies, pressing: Pressing, standing: Standing, motion: Motion, listed: int) -> None:
    """All points of those who stand push with what is handed down over them, in worlds where all of them can."""
    for n in range(listed):
        k = standing.listed[n]
        first = pressing.patches.first[k]
        if standing.holds[pressing.patches.world[k]] == 1:
            for c in range(first, first + pressing.patches.count[k]):
                push_point(pressing.points, standing, c)
    for n in range(standing.members[0]):
        i = standing.member[n]
        if standing.aimed[i] == 1 and standing.holds[bodies.world[i]] == 1:
            turned = pressing.weights.inverse_inertia[i] * (standing.spin[i] - standing.turning[i])
            gained = bodies.inverse_mass[i] * (standing.momentum[i] - standing.velocity[i])
            motion.velocity[i] = motion.velocity[i] + gained
            motion.angular_velocity[i] = motion.angular_velocity[i] + turned


@kernel
def stand(bodies: Bodies, pressing: Pressing, graph: Graph, standing: Standing, motion: Motion, speed: real) -> None:
    """Let all who can stand, on one thread."""
    listed = ask(pressing, graph, standing)
    if listed == 0:
        return
    find_footing(bodies, pressing, standing, motion, listed)
    listed = strike_off(pressing, standing, listed)
    for w in range(standing.tries.shape[0]):
        standing.tries[w] = 1
    tries = int(0)
    done = bool(False)
    while tries < TRIES and not done:
        done = try_standing(bodies, pressing, standing, listed, speed)
        if not done:
            settle_who(pressing, standing, listed)
            listed = strike_off(pressing, standing, listed)
        tries += 1
    push_all(bodies, pressing, standing, motion, listed)


class Ground:
    """Records what lets bodies stand: on one thread, so not on CUDA.

    Args:
        bench: What the step works on.
        problem: The contact problem.
        limits: What contacts aim at.
        alone: 1 for every body without joints.
    """

    def __init__(self, bench: Bench, problem: ContactProblem, limits: ContactLimits, alone: Any) -> None:
        self.bench, self.problem, self.pace = bench, problem, Pace()
        self.pace.speed, self.pace.rebound = limits.speed, limits.rebound
        self.pace.gravity, self.pace.clock = math.hypot(*bench.model.scene.gravity), bench.state.clock
        model = bench.model
        counts = {"bodies": model.count, "contacts": problem.room, "worlds": model.worlds, "flags": 1}
        self.standing = arrays.allocate(Standing, counts, model.device)
        wp.copy(self.standing.alone, alone)

    def stop(self, motion: Motion, which: Any) -> None:
        """Record that bodies that stand lose their velocities, in the worlds where ``which`` is 1."""
        self._stand(lose_velocity, motion, motion, which)

    def stay(self, flights: Flights, which: Any) -> None:
        """Record that bodies that stand do not move over the predicted step, in the worlds where ``which`` is 1."""
        self._stand(lose_way, flights.start, flights.ways, which)

    def _stand(self, lose: Any, motion: Motion, what: Any, which: Any) -> None:
        program, bodies, problem = self.bench.program, self.bench.model.bodies, self.problem
        program.share(lose, self.bench.model.count, bodies, what, self.standing, self.pace, which)
        given = (bodies, problem.pressing, problem.graph, self.standing, motion, self.pace.speed)
        program.launch(stand, 1, *given)
