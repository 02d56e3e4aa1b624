"""Rows of a first-order solver: trials of points and resisting moments, their velocities, products and residuals.

Kernels go over manifolds in any order, in parallel on a GPU; only pushes are applied in order, or by colour. See
``solvers.descent`` for the iteration and its symbols.
"""

import warp as wp

from rattleback.core.arrays import field, group
from rattleback.core.kernel import kernel
from rattleback.core.precision import real, vec3
from rattleback.model.model import Bodies
from rattleback.model.state import Motion
from rattleback.solvers.contacts.kernels.cone_point import point_block
from rattleback.solvers.contacts.kernels.friction import has_resistance
from rattleback.solvers.contacts.kernels.laws import project_on_cone, shift_velocity
from rattleback.solvers.contacts.kernels.twist import TINY, apply_wrench
from rattleback.solvers.contacts.problem.colouring import Colouring
from rattleback.solvers.contacts.problem.contact_graph import Graph
from rattleback.solvers.contacts.problem.contact_problem import Active
from rattleback.solvers.contacts.problem.manifolds import ContactSystem, Manifolds, moment_at, to_world, twist_of
from rattleback.solvers.contacts.problem.status import SolverStatus


@group(axis="rows")
class Rows:
    """Rows of three: impulses of points, then resisting moments of manifolds, from row ``room`` on."""

    impulse: vec3 = field("N s, N m s", "p")
    former: vec3 = field("N s, N m s", "p before the last iteration")
    velocity: vec3 = field("m/s, rad/s", "u, with the bias")
    former_velocity: vec3 = field("m/s, rad/s", "u before the last iteration")
    trial: vec3 = field("N s, N m s", "t, which the bodies have")
    change: vec3 = field("N s, N m s", "d")
    start_velocity: vec3 = field("m/s, rad/s", "g")
    trial_velocity: vec3 = field("m/s, rad/s", "u at the trial")
    best: vec3 = field("N s, N m s", "p of the smallest residual so far")
    scale: real = field("kg, kg m²", "ρ")


@group(axis="contacts")
class Pushes:
    """What a manifold gives its bodies, and its part of the products."""

    force: vec3 = field("N s", "force on A, axes of the manifold")
    moment: vec3 = field("N m s", "moment on A about the middle, axes of the manifold")
    applies: wp.int32 = field("1", "1 where they are to be applied")
    first: vec3 = field("J", "d·W d, d·d/ρ, (y − t)·(t − p)/ρ")
    second: vec3 = field("J", "d·ĝ, ρ (W d)², nothing")


@group(axis="worlds")
class Steps:
    """Step lengths of each world, and the products that they follow from."""

    step: real = field("1", "τ")
    momentum: real = field("1", "β")
    weight: real = field("1", "what β follows from")
    part: real = field("1", "λ")
    first: vec3 = field("J", "d·W d, d·d/ρ, (y − t)·(t − p)/ρ")
    second: vec3 = field("J", "d·ĝ, ρ (W d)², nothing")
    best_normal: real = field("m/s", "residual along the normal of the best impulses")
    best_tangential: real = field("m/s", "the same across")
    improved: wp.int32 = field("1", "1 where the last impulses are the best")
    restored: wp.int32 = field("1", "1 where the bodies do not have the impulses that are kept")
    any_restored: wp.int32 = field("1", "1 where any world is restored", axis="flags")


@wp.struct
class Descent:
    """Rows, pushes and steps."""

    rows: Rows
    pushes: Pushes
    steps: Steps
    room: wp.int32
    shifted: wp.int32


@wp.func
def push_bodies(bodies: Bodies, system: ContactSystem, motion: Motion, pushes: Pushes, k: int) -> None:
    """Apply the push of a manifold."""
    f = pushes.force[k]
    m = pushes.moment[k]
    # A NaN must reach the velocities, where it is detected.
    if pushes.applies[k] == 1 and wp.dot(f, f) + wp.dot(m, m) != real(0.0):
        n = system.manifolds.normal[k]
        t = system.manifolds.tangent[k]
        apply_wrench(bodies, system, motion, k, to_world(n, t, f), to_world(n, t, m))


@kernel
def push_in_order(bodies: Bodies, system: ContactSystem, graph: Graph, motion: Motion, pushes: Pushes) -> None:
    """Apply the pushes of all manifolds, on one thread."""
    for k in range(graph.total[0]):
        push_bodies(bodies, system, motion, pushes, k)


@kernel
def push_colour(
    bodies: Bodies,
    system: ContactSystem,
    colouring: Colouring,
    motion: Motion,
    pushes: Pushes,
    colour: int,
    threads: int,
) -> None:
    """Apply the pushes of the manifolds of a colour, in parallel."""
    place = colouring.first[colour] + wp.tid()
    while place < colouring.first[colour + 1]:
        push_bodies(bodies, system, motion, pushes, colouring.order[place])
        place += threads


@wp.func
def shifted_velocity(descent: Descent, u: vec3, mu: real) -> vec3:
    """The velocity with its De Saxcé shift under Coulomb's law."""
    if descent.shifted == 1:
        return shift_velocity(u, mu)
    return u


@wp.func
def clamp_moment(manifolds: Manifolds, k: int, m: vec3, pushed: real) -> vec3:
    """A resisting moment within its limits: spinning about the normal, rolling across."""
    limit = manifolds.spinning[k] * pushed
    size = wp.sqrt(m[1] * m[1] + m[2] * m[2])
    part = wp.min(real(1.0), manifolds.rolling[k] * pushed / wp.max(size, TINY))
    return vec3(wp.clamp(m[0], -limit, limit), part * m[1], part * m[2])


@wp.func
def take_trial(descent: Descent, w: int, r: int, trial: vec3, y: vec3, g: vec3) -> vec3:
    """Note a trial of a row; returns what the bodies have yet to get."""
    push = trial - descent.rows.trial[r]
    descent.rows.trial[r] = trial
    descent.rows.change[r] = trial - y
    descent.rows.start_velocity[r] = g
    if descent.steps.improved[w] == 1:
        descent.rows.best[r] = descent.rows.impulse[r]
    return push


@kernel
def try_step(
    graph: Graph, system: ContactSystem, active: Active, status: SolverStatus, descent: Descent, lanes: int
) -> None:
    """Trials of the rows of every manifold that takes part in an active world."""
    for k in range(wp.tid(), graph.total[0], lanes):
        w = system.manifolds.world[k]
        descent.pushes.applies[k] = status.busy[w] * active.marked[k]
        if descent.pushes.applies[k] == 0:
            continue
        beta = descent.steps.momentum[w]
        tau = descent.steps.step[w]
        mu = system.manifolds.friction[k]
        force = vec3()
        moment = vec3()
        pushed = real(0.0)
        for c in range(system.manifolds.first[k], system.manifolds.first[k] + system.manifolds.count[k]):
            p = descent.rows.impulse[c]
            u = descent.rows.velocity[c]
            y = p + beta * (p - descent.rows.former[c])
            g = u + beta * (u - descent.rows.former_velocity[c])
            trial = project_on_cone(y - tau * descent.rows.scale[c] * shifted_velocity(descent, g, mu), mu)
            push = take_trial(descent, w, c, trial, y, g)
            pushed += trial[0]
            force += push
            moment += moment_at(system.points.place[c], push)
        if has_resistance(system.manifolds, k):
            r = descent.room + k
            p = descent.rows.impulse[r]
            u = descent.rows.velocity[r]
            y = p + beta * (p - descent.rows.former[r])
            g = u + beta * (u - descent.rows.former_velocity[r])
            trial = clamp_moment(system.manifolds, k, y - tau * descent.rows.scale[r] * g, pushed)
            moment += take_trial(descent, w, r, trial, y, g)
        descent.pushes.force[k] = force
        descent.pushes.moment[k] = moment


@wp.func
def velocity_of(system: ContactSystem, c: int, u: vec3, omega: vec3) -> vec3:
    """Velocity of a point with its bias, of the twist of its manifold."""
    place = system.points.place[c]
    return vec3(
        u[0] + omega[1] * place[1] - omega[2] * place[0] + place[2],
        u[1] - omega[0] * place[1],
        u[2] + omega[0] * place[0],
    )


@wp.func
def add_products(descent: Descent, k: int, r: int, shifted: vec3, u: vec3) -> None:
    """Add the products of a row whose trial has the velocity u to those of its manifold."""
    d = descent.rows.change[r]
    rate = u - descent.rows.start_velocity[r]
    part = real(1.0) / descent.rows.scale[r]
    moved = descent.rows.trial[r] - descent.rows.impulse[r]
    first = vec3(wp.dot(d, rate), part * wp.dot(d, d), -part * wp.dot(d, moved))
    second = vec3(wp.dot(d, shifted), descent.rows.scale[r] * wp.dot(rate, rate), real(0.0))
    descent.rows.trial_velocity[r] = u
    descent.pushes.first[k] = descent.pushes.first[k] + first
    descent.pushes.second[k] = descent.pushes.second[k] + second


@kernel
def measure_trial(
    graph: Graph,
    system: ContactSystem,
    active: Active,
    motion: Motion,
    status: SolverStatus,
    descent: Descent,
    lanes: int,
) -> None:
    """Velocities at the trial, and the products of every manifold."""
    for k in range(wp.tid(), graph.total[0], lanes):
        if status.busy[system.manifolds.world[k]] * active.marked[k] == 0:
            continue
        u, omega = twist_of(system.manifolds, motion, k)
        u += system.manifolds.bias[k]
        omega += system.manifolds.angular_bias[k]
        mu = system.manifolds.friction[k]
        descent.pushes.first[k] = vec3()
        descent.pushes.second[k] = vec3()
        for c in range(system.manifolds.first[k], system.manifolds.first[k] + system.manifolds.count[k]):
            shifted = shifted_velocity(descent, descent.rows.start_velocity[c], mu)
            add_products(descent, k, c, shifted, velocity_of(system, c, u, omega))
        if has_resistance(system.manifolds, k):
            r = descent.room + k
            add_products(descent, k, r, descent.rows.start_velocity[r], omega)


@wp.func
def accept_row(descent: Descent, r: int, part: real) -> None:
    """The impulse of a row and its velocity, a part of the way to the trial."""
    p = descent.rows.impulse[r]
    u = descent.rows.velocity[r]
    descent.rows.former[r] = p
    descent.rows.former_velocity[r] = u
    if part == real(1.0):
        descent.rows.impulse[r] = descent.rows.trial[r]
        descent.rows.velocity[r] = descent.rows.trial_velocity[r]
    else:
        descent.rows.impulse[r] = p + part * (descent.rows.trial[r] - p)
        descent.rows.velocity[r] = u + part * (descent.rows.trial_velocity[r] - u)


@wp.func
def note_residual(status: SolverStatus, w: int, normal: real, tangential: real) -> None:
    """A residual along the normal and across, for its world."""
    if not normal <= status.normal_residual[w]:
        wp.atomic_max(status.normal_residual, w, normal)
    if not tangential <= status.tangential_residual[w]:
        wp.atomic_max(status.tangential_residual, w, tangential)


@wp.func
def note_residuals(system: ContactSystem, status: SolverStatus, descent: Descent, k: int) -> None:
    """The residuals of the rows of a manifold; that of a resisting moment is its rate times its arm."""
    w = system.manifolds.world[k]
    mu = system.manifolds.friction[k]
    pushed = real(0.0)
    for c in range(system.manifolds.first[k], system.manifolds.first[k] + system.manifolds.count[k]):
        p = descent.rows.impulse[c]
        rho = descent.rows.scale[c]
        pushed += p[0]
        e = p - project_on_cone(p - rho * shifted_velocity(descent, descent.rows.velocity[c], mu), mu)
        note_residual(status, w, wp.abs(e[0]) / rho, wp.sqrt(e[1] * e[1] + e[2] * e[2]) / rho)
    if has_resistance(system.manifolds, k):
        r = descent.room + k
        m = descent.rows.impulse[r]
        rho = descent.rows.scale[r]
        e = m - clamp_moment(system.manifolds, k, m - rho * descent.rows.velocity[r], pushed)
        rolling = system.manifolds.rolling[k] * wp.sqrt(e[1] * e[1] + e[2] * e[2])
        note_residual(status, w, real(0.0), wp.max(system.manifolds.spinning[k] * wp.abs(e[0]), rolling) / rho)


@kernel
def accept_trial(
    graph: Graph, system: ContactSystem, active: Active, status: SolverStatus, descent: Descent, lanes: int
) -> None:
    """Impulses of the iteration, and their residual."""
    for k in range(wp.tid(), graph.total[0], lanes):
        w = system.manifolds.world[k]
        if status.busy[w] * active.marked[k] == 0:
            continue
        part = descent.steps.part[w]
        for c in range(system.manifolds.first[k], system.manifolds.first[k] + system.manifolds.count[k]):
            accept_row(descent, c, part)
        if has_resistance(system.manifolds, k):
            accept_row(descent, descent.room + k, part)
        note_residuals(system, status, descent, k)


@wp.func
def begin_row(descent: Descent, r: int, p: vec3, u: vec3, response: real) -> None:
    """A row begins with its impulse so far."""
    descent.rows.impulse[r] = p
    descent.rows.former[r] = p
    descent.rows.trial[r] = p
    descent.rows.best[r] = p
    descent.rows.velocity[r] = u
    descent.rows.former_velocity[r] = u
    descent.rows.scale[r] = real(3.0) / response


@kernel
def begin_rows(
    graph: Graph,
    system: ContactSystem,
    active: Active,
    motion: Motion,
    status: SolverStatus,
    descent: Descent,
    lanes: int,
) -> None:
    """Rows of active worlds: impulses so far, velocities, scales; and the residual that this begins with."""
    for k in range(wp.tid(), graph.total[0], lanes):
        if status.busy[system.manifolds.world[k]] * active.marked[k] == 0:
            continue
        u, omega = twist_of(system.manifolds, motion, k)
        u += system.manifolds.bias[k]
        omega += system.manifolds.angular_bias[k]
        for c in range(system.manifolds.first[k], system.manifolds.first[k] + system.manifolds.count[k]):
            place = system.points.place[c]
            response = wp.trace(point_block(system.manifolds, k, place[0], place[1]))
            begin_row(descent, c, system.points.impulse[c], velocity_of(system, c, u, omega), response)
        turning = system.manifolds.block_tt[k][2, 2] + system.manifolds.block_nn[k][1, 1]
        turning += system.manifolds.block_nn[k][2, 2]
        begin_row(descent, descent.room + k, system.manifolds.resisting_moment[k], omega, turning)
        note_residuals(system, status, descent, k)


@wp.func
def keep_row(descent: Descent, w: int, r: int) -> vec3:
    """The impulse that a row keeps."""
    if descent.steps.improved[w] == 1:
        return descent.rows.impulse[r]
    return descent.rows.best[r]


@kernel
def keep_impulses(
    graph: Graph, system: ContactSystem, active: Active, which: wp.array[wp.int32], descent: Descent, lanes: int
) -> None:
    """Impulses of the points of selected worlds, and what their bodies have yet to get."""
    for k in range(wp.tid(), graph.total[0], lanes):
        w = system.manifolds.world[k]
        descent.pushes.applies[k] = which[w] * active.marked[k]
        if descent.pushes.applies[k] == 0:
            continue
        force = vec3()
        moment = vec3()
        for c in range(system.manifolds.first[k], system.manifolds.first[k] + system.manifolds.count[k]):
            p = keep_row(descent, w, c)
            push = p - descent.rows.trial[c]
            system.points.impulse[c] = p
            force += push
            moment += moment_at(system.points.place[c], push)
        if has_resistance(system.manifolds, k):
            r = descent.room + k
            system.manifolds.resisting_moment[k] = keep_row(descent, w, r)
            moment += system.manifolds.resisting_moment[k] - descent.rows.trial[r]
        descent.pushes.force[k] = force
        descent.pushes.moment[k] = moment
