"""Displacements of bodies and contacts over a step: the part that is linear in the rotation, and its remainder.

    D = x_A + t_A × r_A − x_B − t_B × r_B
    e_n = gap₁ − gap₀ − n·D,    e_t = ½ ((t_A − t_B) × Δp − t_A × x_A + t_B × x_B)
    expected of the next step   e min(1, m'² / m²),     m² = D² + |t_A|² r_A² + |t_B|² r_B²

x translation of a centre of mass, t its rotation, r arm from it to the contact point p at the start, Δp change of p, n
normal.

The remainder e is of second order in the motion: corners move on circles, and round surfaces touch elsewhere after the
step. It is measured when the step is taken and contacts are detected, for any shape: along the normal from the gaps,
across it from the mean of the arms at both ends. The target of the solver is D + e with the e of the last step. Its
error is of third order in a step, and along the normal the errors add up to the last e alone.

New points have no remainder, nor have motions below the rounding of e, so that bodies at rest stay. A remainder that is
not small beside the motion belongs to a point that has jumped, and is dropped.

Reference: Anitescu, Potra (2002), A time-stepping method for stiff multibody dynamics with contact and friction
(second derivative of the gap); the measured remainder is derived here.
"""

import warp as wp

from rattleback.core import arrays
from rattleback.core.arrays import field, group
from rattleback.core.kernel import kernel
from rattleback.core.precision import epsilon, real, vec3
from rattleback.maths.quat import small_turn
from rattleback.model.contact_memory import ADVANCED, ContactMemory
from rattleback.model.contacts import Contacts
from rattleback.model.model import Bodies
from rattleback.model.state import Clock, Motion
from rattleback.solvers.contacts.problem.manifolds import ContactSystem, relative_motion, to_manifold

HALF = wp.constant(real(0.5))
ZERO = wp.constant(real(0.0))
# Square of the turn in a step of which the remainder is rounding.
MIN_DETERMINANT_RATIO = wp.constant(real(epsilon))
# Square of the largest part of the motion that a remainder is: of a turn by half a radian in a step.
LARGEST = wp.constant(real(0.0625))


@group(axis="bodies")
class Displacements:
    """Displacements of the bodies over the predicted step."""

    translation: vec3 = field("m", "translation of its centre of mass")
    rotation: vec3 = field("rad", "its rotation")
    velocity_gain: vec3 = field("m/s", "its mean velocity over the step less that at the start")
    angular_gain: vec3 = field("rad/s", "the same of its angular velocity")


@wp.struct
class Prediction:
    """The step: its start with the impulses found so far, its predicted end, and the displacements between."""

    start: Motion
    end: Motion
    displacements: Displacements


@group(axis="contacts")
class Departures:
    """The contact points at the start of the step that is taken, by their rows then, and their linear displacements."""

    point: vec3 = field("m", "where it was, world frame")
    gap: real = field("m", "gap after its linear displacement")
    across: vec3 = field("m", "part of the remainder across the normal from its bodies, world frame")
    twist: real = field("rad", "rotation of A against B about the normal")
    extent: real = field("m²", "square of the motion of its manifold; zero where its remainder is rounding")
    afresh: wp.int32 = field("1", "1 where a whole step begins", axis="worlds")
    duration: wp.float64 = field("s", "time since it began, when the step is taken", axis="worlds")


@kernel
def find_displacements(bodies: Bodies, prediction: Prediction, clock: Clock, lanes: int) -> None:
    """Displacements of the bodies over the predicted step."""
    for i in range(wp.tid(), bodies.world.shape[0], lanes):
        rate = real(1.0) / real(clock.time_step[bodies.world[i]])
        translation = prediction.end.position[i] - prediction.start.position[i]
        rotation = small_turn(prediction.start.orientation[i], prediction.end.orientation[i])
        prediction.displacements.translation[i] = translation
        prediction.displacements.rotation[i] = rotation
        prediction.displacements.velocity_gain[i] = rate * translation - prediction.start.velocity[i]
        prediction.displacements.angular_gain[i] = rate * rotation - prediction.start.angular_velocity[i]


@wp.func
def displacement_of(system: ContactSystem, displacements: Displacements, k: int) -> tuple[vec3, vec3]:
    """Translation and rotation of A against B at the middle of a manifold, in its axes. Belts do not move the point."""
    return relative_motion(system.manifolds, displacements.translation, displacements.rotation, k)


@wp.func
def extent_of(system: ContactSystem, displacements: Displacements, k: int, d: vec3) -> real:
    """Square of the motion of a manifold with displacement d, and of its bodies."""
    by_a = wp.length_sq(displacements.rotation[system.manifolds.body_a[k]]) * wp.length_sq(system.manifolds.arm_a[k])
    by_b = wp.length_sq(displacements.rotation[system.manifolds.body_b[k]]) * wp.length_sq(system.manifolds.arm_b[k])
    return wp.dot(d, d) + by_a + by_b


@wp.func
def part_expected(system: ContactSystem, k: int, extent: real) -> real:
    """The part of the last remainder that is expected of a step with this square of the motion."""
    return wp.min(real(1.0), extent / system.manifolds.extent[k])


@wp.func
def note_departures(
    contacts: Contacts,
    system: ContactSystem,
    displacements: Displacements,
    departures: Departures,
    k: int,
    extent: real,
) -> None:
    """Store the points of a manifold before the step that is taken, and their linear displacements."""
    first = system.manifolds.contact[k]
    arms = wp.length_sq(system.manifolds.arm_a[k]) + wp.length_sq(system.manifolds.arm_b[k])
    if extent <= MIN_DETERMINANT_RATIO * arms:
        for i in range(system.manifolds.count[k]):
            departures.extent[first + i] = ZERO
        return
    a = system.manifolds.body_a[k]
    b = system.manifolds.body_b[k]
    d, turn = displacement_of(system, displacements, k)
    tangential = -HALF * (
        wp.cross(displacements.rotation[a], displacements.translation[a])
        - wp.cross(displacements.rotation[b], displacements.translation[b])
    )
    for i in range(system.manifolds.count[k]):
        row = first + i
        place = system.points.place[system.manifolds.first[k] + i]
        departures.point[row] = contacts.point[row]
        departures.gap[row] = contacts.separation[row] + d[0] + turn[1] * place[1] - turn[2] * place[0]
        departures.across[row] = tangential
        departures.twist[row] = turn[0]
        departures.extent[row] = extent


@wp.func
def remainder_of(contacts: Contacts, departures: Departures, row: int, former: int, n: vec3) -> vec3:
    """The remainder of a point over the step that is taken, world frame."""
    moved = contacts.point[row] - departures.point[former]
    e = departures.across[former] + (HALF * departures.twist[former]) * wp.cross(n, moved)
    e += (contacts.separation[row] - departures.gap[former] - wp.dot(e, n)) * n
    if wp.dot(e, e) > LARGEST * departures.extent[former]:
        return vec3()
    return e


@wp.func
def recall_remainders(
    contacts: Contacts, memory: ContactMemory, system: ContactSystem, departures: Departures, k: int
) -> None:
    """The remainders of the points of a manifold: measured after a step, else from the memory."""
    advanced = memory.pending[system.manifolds.world[k]] == ADVANCED
    for i in range(system.manifolds.count[k]):
        row = system.manifolds.contact[k] + i
        c = system.manifolds.first[k] + i
        former = contacts.previous[row]
        extent = ZERO
        # Rows beyond are of contacts that were stored while their bodies slept.
        if former >= 0 and former < memory.count[0]:
            extent = departures.extent[former]
            if not advanced:
                extent = memory.extent[former]
        system.points.extent[c] = extent
        if extent > ZERO:
            remainder = memory.remainder[former]
            if advanced:
                remainder = remainder_of(contacts, departures, row, former, system.manifolds.normal[k])
            system.points.remainder[c] = remainder


@wp.func
def begin_remainders(memory: ContactMemory, system: ContactSystem, k: int) -> None:
    """The mean remainder of a manifold, and the differences of its points along the normal."""
    row = system.manifolds.contact[k]
    count = system.manifolds.count[k]
    extent = ZERO
    for i in range(count):
        extent = wp.max(extent, memory.extent[row + i])
        system.points.lift[system.manifolds.first[k] + i] = ZERO
    system.manifolds.extent[k] = extent
    if extent == ZERO:
        return
    mean = vec3()
    known = ZERO
    for i in range(count):
        mean += memory.remainder[row + i]
        known += wp.where(memory.extent[row + i] > ZERO, real(1.0), ZERO)
    mean *= real(1.0) / known
    n = system.manifolds.normal[k]
    system.manifolds.remainder[k] = to_manifold(n, system.manifolds.tangent[k], mean)
    for i in range(count):
        lift = wp.dot(memory.remainder[row + i] - mean, n)
        # A flat manifold is solved as one block only where all its points have the same bias.
        knows = system.manifolds.flat[k] == 0 and memory.extent[row + i] > ZERO
        system.points.lift[system.manifolds.first[k] + i] = wp.where(knows, lift, ZERO)


@wp.func
def keep_remainders(memory: ContactMemory, system: ContactSystem, k: int) -> None:
    """Store the remainders of the points, by the rows of the contacts found last."""
    for i in range(system.manifolds.count[k]):
        row = system.manifolds.contact[k] + i
        c = system.manifolds.first[k] + i
        # Points at rest have none, and had none.
        extent = system.points.extent[c]
        if extent + memory.extent[row] > ZERO:
            memory.remainder[row] = wp.where(extent > ZERO, system.points.remainder[c], vec3())
            memory.extent[row] = extent


def take_over_departures(new: Departures, old: Departures) -> None:
    """Continue with those of the step under way, where the room for contacts is another."""
    for name, array in arrays.each(old):
        room = getattr(new, name)
        wp.copy(room, array, count=min(len(room), len(array)))
