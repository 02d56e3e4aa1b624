"""The iteration that first-order solvers share: trial, response, products, decision, residual, best impulses kept.

    y = p + β (p − p'),   g = u + β (u − u')        extrapolated impulses and velocities; W is linear
    t = P(y − τ ρ ĝ),     d = t − y                 trial, with ĝ = g + μ |g_t| n under ``coulomb``, ĝ = g under ``cone``
    v ← v + M⁻¹ Jᵀ (t − t'),   joints answer        bodies have the last trial; so u at t costs one product with W
    p ← p + λ (t − p),    u ← u + λ (u(t) − u)      λ, τ and β of the next trial by the method

p' and u' those before; ρ = 3 / tr K of a point; τ a step length of the world. Products over points decide about τ, β
and λ, see ``apgd`` and ``bb``: d·W d, d·d/ρ, (y − t)·(t − p)/ρ, d·ĝ and ρ (W d)². Resisting moments are rows as points
are. The residual is |p − P(p − ρ û)| / ρ, along the normal and across; the best impulses are kept and come back where
the last are worse.

Cost: about three sweeps of ``pgs`` an iteration on a CPU; all of it in parallel on a GPU but for products, which are
summed in a fixed order. Positions are corrected by Gauss–Seidel sweeps: their friction has no limit.

Reference: Mazhar, Heyn, Negrut, Tasora (2015), §3; Acary, Brogliato, §13.2, for the residual.
"""

from typing import Any

import warp as wp

from rattleback.core import arrays
from rattleback.core.arrays import field, group
from rattleback.core.kernel import kernel
from rattleback.core.precision import real, vec3
from rattleback.model.model import Bodies
from rattleback.model.state import Motion
from rattleback.solvers.contacts.kernels.by_law import block_correction
from rattleback.solvers.contacts.kernels.cone_point import point_block
from rattleback.solvers.contacts.kernels.friction import has_resistance
from rattleback.solvers.contacts.kernels.laws import project_on_cone, shift_velocity
from rattleback.solvers.contacts.kernels.twist import TINY, apply_wrench
from rattleback.solvers.contacts.problem.colouring import Colouring
from rattleback.solvers.contacts.problem.contact_graph import Graph
from rattleback.solvers.contacts.problem.contact_problem import Active, ContactProblem
from rattleback.solvers.contacts.problem.goal import Goal
from rattleback.solvers.contacts.problem.manifolds import ContactSystem, Manifolds, moment_at, to_world, twist_of
from rattleback.solvers.contacts.problem.status import (
    ANY_RESIDUAL,
    SolverStatus,
    begin_sweep,
    check_convergence,
)
from rattleback.solvers.contacts.problem.world_sums import WorldSums
from rattleback.solvers.contacts.solvers.gauss_seidel import Sweeps, drivers
from rattleback.solvers.contacts.solvers.iteration import begin, iterate

# First step length, as a part of ρ: a body has about so many points.
FIRST_STEP = wp.constant(real(0.25))


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
        if status.busy[w] * active.marked[k] == 0:
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
def push_bodies(bodies: Bodies, system: ContactSystem, motion: Motion, descent: Descent, k: int) -> None:
    """Apply the push of a manifold."""
    f = descent.pushes.force[k]
    m = descent.pushes.moment[k]
    # A NaN must reach the velocities, where it is detected.
    if wp.dot(f, f) + wp.dot(m, m) != real(0.0):
        n = system.manifolds.normal[k]
        t = system.manifolds.tangent[k]
        apply_wrench(bodies, system, motion, k, to_world(n, t, f), to_world(n, t, m))


@kernel
def push_in_order(
    bodies: Bodies,
    system: ContactSystem,
    active: Active,
    motion: Motion,
    descent: Descent,
    which: wp.array[wp.int32],
) -> None:
    """Apply the pushes of selected worlds, on one thread."""
    for n in range(active.count[0]):
        k = active.listed[n]
        if which[system.manifolds.world[k]] == 1:
            push_bodies(bodies, system, motion, descent, k)


@kernel
def push_colour(
    bodies: Bodies,
    system: ContactSystem,
    colouring: Colouring,
    active: Active,
    motion: Motion,
    descent: Descent,
    which: wp.array[wp.int32],
    colour: int,
    threads: int,
) -> None:
    """Apply the pushes of the manifolds of a colour, in parallel."""
    place = colouring.first[colour] + wp.tid()
    while place < colouring.first[colour + 1]:
        k = colouring.order[place]
        if which[system.manifolds.world[k]] * active.marked[k] == 1:
            push_bodies(bodies, system, motion, descent, k)
        place += threads


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
def note_residual(status: SolverStatus, descent: Descent, w: int, c: int, mu: real) -> None:
    """The residual of a point, for its world."""
    p = descent.rows.impulse[c]
    rho = descent.rows.scale[c]
    e = p - project_on_cone(p - rho * shifted_velocity(descent, descent.rows.velocity[c], mu), mu)
    normal = wp.abs(e[0]) / rho
    tangential = wp.sqrt(e[1] * e[1] + e[2] * e[2]) / rho
    if not normal <= status.normal_residual[w]:
        wp.atomic_max(status.normal_residual, w, normal)
    if not tangential <= status.tangential_residual[w]:
        wp.atomic_max(status.tangential_residual, w, tangential)


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
            note_residual(status, descent, w, c, system.manifolds.friction[k])
        if has_resistance(system.manifolds, k):
            accept_row(descent, descent.room + k, part)


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
        w = system.manifolds.world[k]
        if status.busy[w] * active.marked[k] == 0:
            continue
        u, omega = twist_of(system.manifolds, motion, k)
        u += system.manifolds.bias[k]
        omega += system.manifolds.angular_bias[k]
        for c in range(system.manifolds.first[k], system.manifolds.first[k] + system.manifolds.count[k]):
            place = system.points.place[c]
            response = wp.trace(point_block(system.manifolds, k, place[0], place[1]))
            begin_row(descent, c, system.points.impulse[c], velocity_of(system, c, u, omega), response)
            note_residual(status, descent, w, c, system.manifolds.friction[k])
        turning = system.manifolds.block_tt[k][2, 2] + system.manifolds.block_nn[k][1, 1]
        turning += system.manifolds.block_nn[k][2, 2]
        begin_row(descent, descent.room + k, system.manifolds.resisting_moment[k], omega, turning)


@kernel
def begin_steps(status: SolverStatus, steps: Steps) -> None:
    """Active worlds begin with a plain step."""
    w = wp.tid()
    if status.busy[w] == 1:
        steps.step[w] = FIRST_STEP
        steps.momentum[w] = real(0.0)
        steps.weight[w] = real(1.0)
        steps.part[w] = real(1.0)
        steps.best_normal[w] = ANY_RESIDUAL
        steps.best_tangential[w] = ANY_RESIDUAL


@kernel
def note_best(status: SolverStatus, steps: Steps, which: wp.array[wp.int32]) -> None:
    """Whether the impulses of an iteration are the best so far, in worlds that had it."""
    w = wp.tid()
    if which[w] == 0:
        return
    worst = wp.max(status.normal_residual[w], status.tangential_residual[w])
    better = worst < wp.max(steps.best_normal[w], steps.best_tangential[w])
    steps.improved[w] = wp.where(better, 1, 0)
    if better:
        steps.best_normal[w] = status.normal_residual[w]
        steps.best_tangential[w] = status.tangential_residual[w]


@kernel
def choose_kept(status: SolverStatus, steps: Steps, which: wp.array[wp.int32]) -> None:
    """In which worlds bodies have to get other impulses than those of the last trial, on one thread."""
    steps.any_restored[0] = 0
    for w in range(steps.restored.shape[0]):
        steps.restored[w] = 0
        if which[w] == 1:
            best = wp.max(steps.best_normal[w], steps.best_tangential[w])
            worse = wp.max(status.normal_residual[w], status.tangential_residual[w]) > best
            if worse:
                status.normal_residual[w] = steps.best_normal[w]
                status.tangential_residual[w] = steps.best_tangential[w]
            if worse or steps.part[w] != real(1.0):
                steps.restored[w] = 1
                steps.any_restored[0] = 1
            steps.improved[w] = wp.where(worse, 0, 1)


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
        if which[w] * active.marked[k] == 0:
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


class FirstOrder:
    """Records the iterations of a first-order solver; see ``core.protocols.BoundContactSolver``.

    Args:
        problem: The problem.
        decide: Kernel (status, steps) of all worlds: λ of the trial, and τ and β of the next.
    """

    def __init__(self, problem: ContactProblem, decide: Any) -> None:
        self.problem, self.decide = problem, decide
        counts = {"rows": 2 * problem.room + 1, "contacts": problem.room, "worlds": problem.worlds, "flags": 1}
        device = problem.bodies.world.device
        self.descent: Any = Descent()
        rows, pushes, steps = (arrays.allocate(kind, counts, device) for kind in (Rows, Pushes, Steps))
        self.descent.rows, self.descent.pushes, self.descent.steps = rows, pushes, steps
        self.descent.room, self.descent.shifted = problem.room, int(problem.law == "coulomb")
        self.steps, self.had = steps, wp.zeros(problem.worlds, dtype=wp.int32, device=device)
        self.sums = WorldSums(problem, ((pushes.first, steps.first), (pushes.second, steps.second)))
        self.of_positions = Sweeps(problem, drivers(block_correction("coulomb")))

    def record(self, motion: Motion, goal: Goal, which: Any, response: Any = None) -> None:
        """Record what solves the problem in the worlds where ``which`` is 1."""
        problem, status, program = self.problem, self.problem.status, self.problem.program
        if goal.posed == "positions":
            iterate(problem, lambda: self.of_positions.record(motion, goal), motion, goal, which, response)
            return
        if response is not None:
            response.note(motion, which)
        begin(problem, goal, which)
        self._begin(motion, goal)
        with program.loop(status.any_busy, may_stop=True):
            program.launch(copy_busy, problem.worlds, status, self.had)
            program.launch(begin_sweep, problem.worlds, status)
            self._iterate(motion, response)
            program.launch(check_convergence, problem.worlds, status, goal.tolerance, goal.sweeps, 1)
            program.launch(note_best, problem.worlds, status, self.steps, self.had)
        self._end(motion, which, response)

    def _begin(self, motion: Motion, goal: Goal) -> None:
        problem, status, program = self.problem, self.problem.status, self.problem.program
        program.launch(copy_busy, problem.worlds, status, self.had)
        program.launch(begin_steps, problem.worlds, status, self.steps)
        program.launch(begin_sweep, problem.worlds, status)
        given = (problem.graph, problem.system, problem.active, motion, status, self.descent)
        problem.for_manifolds(begin_rows, *given)
        self.sums.record_ranges()
        program.launch(check_convergence, problem.worlds, status, goal.tolerance, goal.sweeps, 1)
        program.launch(note_best, problem.worlds, status, self.steps, self.had)

    def _iterate(self, motion: Motion, response: Any) -> None:
        """One iteration of the worlds that are active."""
        problem, status, parts = self.problem, self.problem.status, (self.problem.system, self.problem.active)
        problem.for_manifolds(try_step, problem.graph, *parts, status, self.descent)
        self._push(motion, status.busy)
        if response is not None:
            response.answer(motion, status.busy)
        problem.for_manifolds(measure_trial, problem.graph, *parts, motion, status, self.descent)
        self.sums.record()
        problem.program.launch(self.decide, problem.worlds, status, self.steps)
        problem.for_manifolds(accept_trial, problem.graph, *parts, status, self.descent)

    def _end(self, motion: Motion, which: Any, response: Any) -> None:
        """The best impulses, with the velocities that belong to them."""
        problem, program, steps = self.problem, self.problem.program, self.steps
        program.launch(choose_kept, 1, problem.status, steps, which)
        problem.for_manifolds(keep_impulses, problem.graph, problem.system, problem.active, which, self.descent)
        with program.when(steps.any_restored):
            self._push(motion, steps.restored)
            if response is not None:
                response.answer(motion, steps.restored)

    def _push(self, motion: Motion, which: Any) -> None:
        problem, rest = self.problem, (self.problem.active, motion, self.descent, which)
        if problem.colour_driver is None:
            problem.program.launch(push_in_order, 1, problem.bodies, problem.system, *rest)
        else:
            problem.colour_driver.by_colour(push_colour, *rest)


@kernel
def copy_busy(status: SolverStatus, had: wp.array[wp.int32]) -> None:
    """Which worlds have the iteration."""
    had[wp.tid()] = status.busy[wp.tid()]
