"""The kernel of ``lm``: one thread follows one problem from its start, through its restarts, to its verdict.

    (JᵀJ + λ I) Δq = Jᵀe,   λ = μ E + λ₀,   E = |e|²

over the coordinates that are free: one at a limit that Jᵀe pushes against is left out. The step is cut at the limits.
Where it makes E smaller it is taken; μ goes down where E fell as the linear model said, and up where it did not.

Tries go in rounds: on a GPU, threads that are done would wait for the few that are not, so that those are gathered.
What a try draws depends on the problem and the steps before it alone, so that rounds change no answer.

The scratch of a thread lies in its lane of shared arrays, so that chains of any length fit; on CUDA the lanes lie side
by side in memory.
"""

import warp as wp

from rattleback.core.kernel import kernel
from rattleback.core.precision import real
from rattleback.kinematics.arrays import Links, Pose
from rattleback.kinematics.forward import walk
from rattleback.kinematics.ik.tasks import Bench, Goals, Misses, Tasks, misses, write_errors, write_jacobian

LEAST_DAMPING = wp.constant(real(1e-8))
MOST_DAMPING = wp.constant(real(1e12))
# Below this part of itself a fall of E counts as none; so many in a row end a try. The last one is more patient.
SLOW = wp.constant(real(1e-3))
SLOWEST = wp.constant(real(1e-12))
PATIENCE = wp.constant(3)
POLISH = wp.constant(500)
# A try starts from the best of so many drawn configurations, which costs less than the steps it saves.
CANDIDATES = wp.constant(8)
# Minima whose E agree to this part are taken for the same.
SAME = wp.constant(real(0.02))


@wp.struct
class Search:
    """What the search may do: in one round, tries ``first`` to ``last`` of the problems ``which``."""

    which: wp.array[wp.int32]
    first: wp.int32
    last: wp.int32
    base: Pose
    lower: wp.array[real]
    upper: wp.array[real]
    low: wp.array[real]
    high: wp.array[real]
    start: wp.array2d[real]
    position_tolerance: real
    angle_tolerance: real
    bias: real
    slow: real
    iterations: wp.int32
    restarts: wp.int32
    seed: wp.int32


@wp.struct
class Work:
    """Scratch, one lane a thread: the configuration held, the step, the matrix, the steps taken."""

    q: wp.array2d[real]
    step: wp.array2d[real]
    gradient: wp.array2d[real]
    matrix: wp.array3d[real]
    count: wp.array[wp.int32]


@wp.struct
class Found:
    """Answers: configurations, misses (square, position, angle), iterations, and how often the best was found."""

    q: wp.array2d[real]
    misses: wp.array2d[real]
    iterations: wp.array[wp.int32]
    hits: wp.array[wp.int32]


@wp.func
def is_reached(found: Misses, search: Search) -> bool:
    """Whether a configuration is within the tolerances."""
    return found.position <= search.position_tolerance and found.angle <= search.angle_tolerance


@wp.func
def fill_matrix(bench: Bench, search: Search, work: Work, damping: real, lane: int) -> real:
    """Write the gradient Jᵀe and the lower half of JᵀJ + λI over the free coordinates; return the free |Jᵀe|²."""
    n, rows, square = work.q.shape[1], bench.error.shape[1], real(0.0)
    for i in range(n):
        g = real(0.0)
        for k in range(rows):
            g += bench.jacobian[lane, k, i] * bench.error[lane, k]
        q = work.q[lane, i]
        if (g > real(0.0) and q >= search.upper[i]) or (g < real(0.0) and q <= search.lower[i]):
            g = real(0.0)
            for k in range(rows):
                bench.jacobian[lane, k, i] = real(0.0)
        work.gradient[lane, i] = g
        square += g * g
        for j in range(i + 1):
            entry = real(0.0)
            for k in range(rows):
                entry += bench.jacobian[lane, k, i] * bench.jacobian[lane, k, j]
            work.matrix[lane, i, j] = entry
        work.matrix[lane, i, i] = work.matrix[lane, i, i] + damping
    return square


@wp.func
def solve_step(work: Work, damping: real, lane: int) -> real:
    """Solve for the step by Cholesky's factors; return how much E should fall by it."""
    n = work.q.shape[1]
    for j in range(n):
        pivot = work.matrix[lane, j, j]
        for k in range(j):
            pivot -= work.matrix[lane, j, k] * work.matrix[lane, j, k]
        pivot = wp.sqrt(wp.max(pivot, damping))
        work.matrix[lane, j, j] = pivot
        for i in range(j + 1, n):
            entry = work.matrix[lane, i, j]
            for k in range(j):
                entry -= work.matrix[lane, i, k] * work.matrix[lane, j, k]
            work.matrix[lane, i, j] = entry / pivot
    for i in range(n):
        entry = work.gradient[lane, i]
        for k in range(i):
            entry -= work.matrix[lane, i, k] * work.step[lane, k]
        work.step[lane, i] = entry / work.matrix[lane, i, i]
    fall = real(0.0)
    for back in range(n):
        i = n - 1 - back
        entry = work.step[lane, i]
        for k in range(i + 1, n):
            entry -= work.matrix[lane, k, i] * work.step[lane, k]
        entry = entry / work.matrix[lane, i, i]
        work.step[lane, i] = entry
        fall += entry * (work.gradient[lane, i] + damping * entry)
    return fall


@wp.func
def look(links: Links, tasks: Tasks, goals: Goals, row: int, bench: Bench, search: Search, lane: int) -> Misses:
    """How far off the configuration on the bench is."""
    walk(links, search.base, bench.q, lane, bench.position, bench.turn)
    return misses(tasks, goals, row, bench, lane)


@wp.func
def descend(
    links: Links, tasks: Tasks, goals: Goals, row: int, bench: Bench, search: Search, work: Work, lane: int
) -> Misses:
    """Follow one try from the configuration on the bench."""
    n, mu, idle, steps = work.q.shape[1], real(1.0), int(0), int(0)
    now = look(links, tasks, goals, row, bench, search, lane)
    fresh = bool(True)
    for i in range(n):
        work.q[lane, i] = bench.q[lane, i]
    while steps < search.iterations and idle < PATIENCE and mu < MOST_DAMPING and not is_reached(now, search):
        if fresh:
            write_errors(tasks, goals, row, bench, lane)
            write_jacobian(links, tasks, goals, row, bench, lane)
        damping = mu * now.square + search.bias
        fill_matrix(bench, search, work, damping, lane)
        expected = solve_step(work, damping, lane)
        for i in range(n):
            bench.q[lane, i] = wp.clamp(work.q[lane, i] + work.step[lane, i], search.lower[i], search.upper[i])
        then = look(links, tasks, goals, row, bench, search, lane)
        steps += 1
        fall = now.square - then.square
        fresh = bool(fall > real(0.0))
        if fresh:
            idle = wp.where(fall < search.slow * now.square, idle + 1, 0)
            for i in range(n):
                work.q[lane, i] = bench.q[lane, i]
            now = then
        elif expected <= real(1e-15) * now.square:
            idle = PATIENCE
        if fall > real(0.75) * expected:
            mu = wp.max(real(0.2) * mu, LEAST_DAMPING)
        elif fall < real(0.25) * expected:
            mu = real(4.0) * mu
    work.count[lane] = work.count[lane] + steps
    return now


@wp.func
def draw(
    links: Links, tasks: Tasks, goals: Goals, row: int, bench: Bench, search: Search, work: Work, lane: int
) -> None:
    """Put the best of a few configurations drawn within the limits on the bench; the draws depend on row and count."""
    n, best = work.q.shape[1], real(0.0)
    state = wp.rand_init(search.seed + row, work.count[lane])
    for candidate in range(CANDIDATES):
        for i in range(n):
            part = real(wp.randf(state))
            bench.q[lane, i] = search.low[i] + part * (search.high[i] - search.low[i])
        found = look(links, tasks, goals, row, bench, search, lane)
        if candidate == 0 or found.square < best:
            best = found.square
            for i in range(n):
                work.q[lane, i] = bench.q[lane, i]
    for i in range(n):
        bench.q[lane, i] = work.q[lane, i]


@wp.func
def keep(found: Found, row: int, work: Work, lane: int, now: Misses, hits: int) -> None:
    """Write an answer."""
    for i in range(work.q.shape[1]):
        found.q[row, i] = work.q[lane, i]
    found.misses[row, 0] = now.square
    found.misses[row, 1] = now.position
    found.misses[row, 2] = now.angle
    found.hits[row] = hits


@kernel
def search_round(
    links: Links, tasks: Tasks, goals: Goals, bench: Bench, search: Search, work: Work, found: Found, lanes: int
) -> None:
    """Do some of the tries of some of the problems; each of ``lanes`` threads takes every so many of them."""
    lane = wp.tid()
    turn, n = int(lane), work.q.shape[1]
    while turn < search.which.shape[0]:
        row, tries, done = search.which[turn], int(search.first), bool(False)
        work.count[lane] = found.iterations[row]
        for i in range(n):
            bench.q[lane, i] = search.start[row, i]
        while tries <= search.last and not done:
            if tries > 0:
                draw(links, tasks, goals, row, bench, search, work, lane)
            now = descend(links, tasks, goals, row, bench, search, work, lane)
            done = is_reached(now, search)
            best = found.misses[row, 0]
            if tries == 0 or done or now.square < (real(1.0) - SAME) * best:
                keep(found, row, work, lane, now, 1)
            elif now.square <= (real(1.0) + SAME) * best:
                found.hits[row] = found.hits[row] + 1
                if now.square < best:
                    keep(found, row, work, lane, now, found.hits[row])
            tries += 1
        if not done and tries > search.restarts:
            thorough = search
            thorough.iterations = POLISH
            thorough.slow = SLOWEST
            for i in range(n):
                bench.q[lane, i] = found.q[row, i]
            now = descend(links, tasks, goals, row, bench, thorough, work, lane)
            keep(found, row, work, lane, now, found.hits[row])
        found.iterations[row] = work.count[lane]
        turn += lanes
