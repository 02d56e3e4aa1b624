"""What is measured over many configurations: poses, velocities, Jacobians, momentum, energy, steps and differences."""

import warp as wp

from rattleback.core.arrays import field, group
from rattleback.core.kernel import kernel
from rattleback.core.precision import real, vec3
from rattleback.dynamics.kernels import Span, heed
from rattleback.model.state import Motion
from rattleback.reduced import momentum as momenta
from rattleback.reduced import points
from rattleback.reduced.composite import Composite
from rattleback.reduced.forest import Coordinates, Forest, Slot, slot_of
from rattleback.reduced.manifold import difference_of_body, step_body
from rattleback.reduced.newton_euler import TreeForces
from rattleback.reduced.points import Carried
from rattleback.reduced.reading import read_body
from rattleback.reduced.walk import ForestMotion, walk_forest


@group(axis="coordinates")
class Aim:
    """What is asked beside the configurations: a point on a body, other configurations, a time."""

    body: wp.int32 = field("1", "place of the body in the forest", axis="fields")
    point: real = field("m", "point in the body's frame", axis="places")
    q1: real = field("rad, m or 1", "coordinates to be reached")
    duration: real = field("s", "how long the rates last", axis="fields")


@wp.func
def aimed(aim: Aim, row: int) -> vec3:
    """The point of a configuration."""
    return vec3(aim.point[3 * row], aim.point[3 * row + 1], aim.point[3 * row + 2])


@kernel
def poses(
    forest: Forest,
    state: Coordinates,
    motion: ForestMotion,
    bodies: Motion,
    out: wp.array[real],
    span: Span,
    fault: wp.array[wp.int32],
) -> None:
    """Poses and velocities of all bodies, in the order of the forest, and the frames of the bodies as matrices."""
    count = forest.parent.shape[0]
    for row in range(span.first + wp.tid(), span.rows, span.lanes):
        slot = slot_of(forest, span.first + wp.tid(), row, span.coordinates)
        walk_forest(forest, slot, state, motion)
        for i in range(count):
            k = slot.body + i
            b = row * count + i
            bodies.position[b] = motion.position[k]
            bodies.orientation[b] = motion.orientation[k]
            bodies.velocity[b] = motion.velocity[k]
            bodies.angular_velocity[b] = motion.angular_velocity[k]
            R = wp.quat_to_matrix(motion.orientation[k])
            origin = motion.position[k] - R * forest.center[i]
            for r in range(3):
                for c in range(3):
                    out[16 * b + 4 * r + c] = R[r, c]
                    out[16 * b + 12 + c] = real(0.0)
                out[16 * b + 4 * r + 3] = origin[r]
            out[16 * b + 15] = real(1.0)
        heed(out, 16 * row * count, 16 * count, row, fault)


@kernel
def jacobian(
    forest: Forest,
    state: Coordinates,
    motion: ForestMotion,
    aim: Aim,
    out: wp.array[real],
    span: Span,
    fault: wp.array[wp.int32],
) -> None:
    """Jacobians of a point."""
    n = forest.owner.shape[0]
    for row in range(span.first + wp.tid(), span.rows, span.lanes):
        slot = slot_of(forest, span.first + wp.tid(), row, span.coordinates)
        walk_forest(forest, slot, state, motion)
        i = aim.body[0]
        points.jacobian(forest, slot, i, points.point_on(forest, slot, i, aimed(aim, row), motion), motion, out)
        heed(out, 6 * slot.v, 6 * n, row, fault)


@kernel
def jacobian_rate(
    forest: Forest,
    state: Coordinates,
    motion: ForestMotion,
    aim: Aim,
    out: wp.array[real],
    span: Span,
    fault: wp.array[wp.int32],
) -> None:
    """Rates of the Jacobians of a point."""
    n = forest.owner.shape[0]
    for row in range(span.first + wp.tid(), span.rows, span.lanes):
        slot = slot_of(forest, span.first + wp.tid(), row, span.coordinates)
        walk_forest(forest, slot, state, motion)
        at = Carried()
        at.body = aim.body[0]
        at.point = points.point_on(forest, slot, at.body, aimed(aim, row), motion)
        k = slot.body + at.body
        at.velocity = motion.velocity[k] + wp.cross(motion.angular_velocity[k], at.point - motion.position[k])
        points.jacobian_rate(forest, slot, at, state.v, motion, out)
        heed(out, 6 * slot.v, 6 * n, row, fault)


@kernel
def momentum_matrix(
    forest: Forest,
    state: Coordinates,
    motion: ForestMotion,
    composite: Composite,
    out: wp.array[real],
    span: Span,
    fault: wp.array[wp.int32],
) -> None:
    """Centroidal momentum matrices."""
    n = forest.owner.shape[0]
    for row in range(span.first + wp.tid(), span.rows, span.lanes):
        slot = slot_of(forest, span.first + wp.tid(), row, span.coordinates)
        walk_forest(forest, slot, state, motion)
        momenta.momentum_matrix(forest, slot, motion, composite, out)
        heed(out, 6 * slot.v, 6 * n, row, fault)


@wp.func
def write_vector(out: wp.array[real], first: int, value: vec3) -> None:
    """Write three numbers."""
    for e in range(3):
        out[first + e] = value[e]


@wp.func
def write_sums(
    forest: Forest, slot: Slot, state: Coordinates, motion: ForestMotion, gravity: vec3, out: wp.array[real]
) -> None:
    """Centre of mass, momentum, angular momentum about it, kinetic and potential energy: eleven numbers."""
    first = 11 * slot.wrench // forest.parent.shape[0]
    center, _total = momenta.center_of_mass(forest, slot, motion)
    linear, angular = momenta.momentum(forest, slot, motion)
    kinetic, potential = momenta.energy(forest, slot, state.v, motion, gravity)
    write_vector(out, first, center)
    write_vector(out, first + 3, linear)
    write_vector(out, first + 6, angular)
    out[first + 9] = kinetic
    out[first + 10] = potential


@kernel
def sums(
    forest: Forest,
    state: Coordinates,
    motion: ForestMotion,
    forces: TreeForces,
    out: wp.array[real],
    span: Span,
    fault: wp.array[wp.int32],
) -> None:
    """Centres of mass, momenta and energies."""
    for row in range(span.first + wp.tid(), span.rows, span.lanes):
        slot = slot_of(forest, span.first + wp.tid(), row, span.coordinates)
        walk_forest(forest, slot, state, motion)
        write_sums(forest, slot, state, motion, forces.gravity[0], out)
        heed(out, 11 * row, 11, row, fault)


@kernel
def step(
    forest: Forest, state: Coordinates, aim: Aim, out: wp.array[real], span: Span, fault: wp.array[wp.int32]
) -> None:
    """Coordinates after moving at the rates for a time."""
    for row in range(span.first + wp.tid(), span.rows, span.lanes):
        slot = slot_of(forest, span.first + wp.tid(), row, span.coordinates)
        for i in range(forest.parent.shape[0]):
            step_body(forest, slot, i, state, aim.duration[0], out)
        heed(out, slot.q, span.coordinates, row, fault)


@kernel
def difference(
    forest: Forest, state: Coordinates, aim: Aim, out: wp.array[real], span: Span, fault: wp.array[wp.int32]
) -> None:
    """Steps from one configuration to another."""
    for row in range(span.first + wp.tid(), span.rows, span.lanes):
        slot = slot_of(forest, span.first + wp.tid(), row, span.coordinates)
        for i in range(forest.parent.shape[0]):
            difference_of_body(forest, slot, i, state.q, aim.q1, out)
        heed(out, slot.v, forest.owner.shape[0], row, fault)


@kernel
def read(forest: Forest, state: Coordinates, world: Motion, count: int, span: Span, fault: wp.array[wp.int32]) -> None:
    """Coordinates and rates of bodies in the order of the scene, ``count`` of them in a world."""
    for row in range(span.first + wp.tid(), span.rows, span.lanes):
        slot = slot_of(forest, span.first + wp.tid(), row, span.coordinates)
        for i in range(forest.parent.shape[0]):
            read_body(forest, slot, i, state, world, row * count)
        heed(state.q, slot.q, span.coordinates, row, fault)
