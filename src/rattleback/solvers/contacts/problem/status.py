"""Status of the sweeps of a solver in every world: whether it is active, sweeps done, residual reached.

    residual of a manifold: the change of velocity that its correction made, along the normal and across

It is the natural residual of the contact problem: zero where every point either pushes or separates, and either sticks
or slides at its Coulomb limit.

Worlds that hardly move are solved to a finer residual, a part of their fastest velocity. A velocity within the
tolerance at the foot of a column is ten times that at its top, so a heap that is stopped only to within the tolerance
creeps and rocks for ever.
"""

import warp as wp

from rattleback.core.arrays import field, group
from rattleback.core.kernel import kernel
from rattleback.core.precision import real
from rattleback.model.model import Bodies
from rattleback.model.state import Motion

# Finer residual, as a part of the fastest velocity of a world, and its least value, as a part of the tolerance.
REST_FRACTION = wp.constant(real(0.01))
FINEST_FRACTION = wp.constant(real(0.03))
# Sweeps after which the tolerance is enough.
MAX_FINE_SWEEPS = wp.constant(8)
# Multiple of the tolerance up to which a finer residual tells a slow world.
SLOW_MULTIPLE = wp.constant(real(10.0))
# Larger than any residual.
ANY_RESIDUAL = wp.constant(real(1e30))


@group(axis="worlds")
class SolverStatus:
    """How the sweeps of each world go."""

    busy: wp.int32 = field("1", "1 while the world is active: its sweeps have not converged")
    sweeps: wp.int32 = field("1", "sweeps done")
    normal_residual: real = field("m/s", "largest residual along a normal in the last sweep")
    tangential_residual: real = field("m/s", "the same across")
    finer_residual: real = field("m/s", "residual to reach where that is finer than the tolerance")
    jointed_residual: real = field("m/s", "largest residual where joints hold a body, in the last sweep")
    first_residual: real = field("m/s", "largest residual of the first sweep")
    sweep: wp.int32 = field("1", "most sweeps of any world", axis="flags")
    any_busy: wp.int32 = field("1", "1 while any world is active", axis="flags")
    exchanging: wp.int32 = field("1", "1 while the world exchanges impulses with joints")
    exchanges: wp.int32 = field("1", "exchanges done", axis="flags")
    any_exchanging: wp.int32 = field("1", "1 while any world does", axis="flags")


@kernel
def begin_sweeps(status: SolverStatus, wanted: wp.array[wp.int32], marked: int) -> None:
    """Selected worlds become active: all their manifolds are swept, or those that are not marked as swept.

    Other worlds keep their status.
    """
    w = wp.tid()
    status.busy[w] = wanted[w]
    status.any_busy[0] = 1
    status.sweep[0] = marked
    if wanted[w] == 1:
        status.sweeps[w] = 0
        status.normal_residual[w] = real(0.0)
        status.tangential_residual[w] = real(0.0)
        status.first_residual[w] = real(0.0)
        status.finer_residual[w] = ANY_RESIDUAL


@kernel
def find_finer_residuals(bodies: Bodies, motion: Motion, status: SolverStatus, tolerance: wp.array[real]) -> None:
    """The finer residual of every world, on one thread."""
    for w in range(status.finer_residual.shape[0]):
        status.finer_residual[w] = FINEST_FRACTION * tolerance[w]
    for i in range(bodies.world.shape[0]):
        if bodies.inverse_mass[i] > real(0.0):
            moments = bodies.moments[i]
            spin = bodies.inverse_mass[i] * (moments[0] + moments[1] + moments[2])
            v = motion.velocity[i]
            turn = motion.angular_velocity[i]
            speed = wp.sqrt(wp.dot(v, v) + spin * wp.dot(turn, turn))
            status.finer_residual[bodies.world[i]] = wp.max(
                status.finer_residual[bodies.world[i]], REST_FRACTION * speed
            )


@wp.func
def target_residual(status: SolverStatus, w: int, tolerance: real) -> real:
    """The residual to reach; after enough sweeps the tolerance."""
    return wp.where(status.sweeps[w] < MAX_FINE_SWEEPS, wp.min(tolerance, status.finer_residual[w]), tolerance)


@wp.func
def is_slow(status: SolverStatus, w: int, tolerance: real) -> bool:
    """Whether a world hardly moves."""
    return status.finer_residual[w] < SLOW_MULTIPLE * tolerance


@kernel
def begin_sweep(status: SolverStatus) -> None:
    """A sweep begins."""
    w = wp.tid()
    if status.busy[w] == 1:
        status.normal_residual[w] = real(0.0)
        status.tangential_residual[w] = real(0.0)
        status.jointed_residual[w] = real(0.0)
    status.any_busy[0] = 0


@wp.func
def set_busy(status: SolverStatus, w: int, off: bool) -> None:
    """Set whether a world is active."""
    status.busy[w] = wp.where(off, 1, 0)
    if off:
        status.any_busy[0] = 1


@wp.func
def check_world_convergence(status: SolverStatus, w: int, tolerance: real, most: int, cost: int) -> None:
    """A sweep is done: the world stays active above its residual, if the budget has the cost of another."""
    if status.busy[w] == 0:
        return
    worst = wp.max(status.normal_residual[w], status.tangential_residual[w])
    if status.sweeps[w] == 0:
        status.first_residual[w] = worst
    status.sweeps[w] = status.sweeps[w] + 1
    set_busy(status, w, worst > tolerance and status.sweeps[w] + cost <= most)


@kernel
def check_convergence(status: SolverStatus, tolerance: wp.array[real], most: int, cost: int) -> None:
    """A sweep is done: which worlds stay active."""
    w = wp.tid()
    check_world_convergence(status, w, target_residual(status, w, tolerance[w]), most, cost)


@kernel
def check_plain_convergence(status: SolverStatus, tolerance: wp.array[real], most: int, early: int) -> None:
    """A plain sweep is done: which worlds stay active; fewer sweeps where joints disturb contacts or all is slow."""
    w = wp.tid()
    few = status.jointed_residual[w] > tolerance[w] or is_slow(status, w, tolerance[w])
    check_world_convergence(status, w, target_residual(status, w, tolerance[w]), wp.where(few, early, most), 1)


@kernel
def resume_unconverged(status: SolverStatus, wanted: wp.array[wp.int32], tolerance: wp.array[real], most: int) -> None:
    """Worlds outside their residual become active again, for symmetric sweeps, while the budget has two left."""
    w = wp.tid()
    worst = wp.max(status.normal_residual[w], status.tangential_residual[w])
    off = worst > target_residual(status, w, tolerance[w]) and status.sweeps[w] + 2 <= most
    set_busy(status, w, wanted[w] == 1 and off)


@kernel
def copy_status(status: SolverStatus, which: wp.array[wp.int32], noted: SolverStatus) -> None:
    """Store the status of some worlds before others follow."""
    w = wp.tid()
    if which[w] == 1:
        noted.sweeps[w] = status.sweeps[w]
        noted.normal_residual[w] = status.normal_residual[w]
        noted.tangential_residual[w] = status.tangential_residual[w]


@kernel
def begin_exchange(status: SolverStatus, which: wp.array[wp.int32]) -> None:
    """Selected worlds exchange impulses with joints."""
    w = wp.tid()
    status.exchanging[w] = which[w]
    status.exchanges[0] = 0
    status.any_exchanging[0] = 1


@kernel
def count_exchange(status: SolverStatus) -> None:
    """An exchange begins."""
    status.exchanges[0] = status.exchanges[0] + 1
    status.any_exchanging[0] = 0


@kernel
def check_exchange(status: SolverStatus, tolerance: wp.array[real], most: int) -> None:
    """An exchange is done: continue where the joints disturbed the contacts."""
    w = wp.tid()
    off = status.exchanging[w] == 1 and status.first_residual[w] > tolerance[w] and status.exchanges[0] < most
    status.exchanging[w] = wp.where(off, 1, 0)
    if off:
        status.any_exchanging[0] = 1


@wp.func
def update_residual(status: SolverStatus, w: int, normal: real, tangential: real) -> None:
    """A manifold of a world has this residual."""
    status.normal_residual[w] = wp.max(status.normal_residual[w], normal)
    status.tangential_residual[w] = wp.max(status.tangential_residual[w], tangential)
