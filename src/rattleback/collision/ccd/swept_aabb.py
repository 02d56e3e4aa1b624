"""Boxes around colliders on their whole way through a step.

    box = box(start) ∪ box(end) ± θ² ρ / 8

θ angle by which the body turns, ρ how far the core reaches from its centre of mass: a point on an arc that is run
through evenly is never farther than that from where a straight way would have it. What meets the triangles of a mesh
that moves itself needs a wider box, because the mesh looks for it from where it is at the start.
"""

from typing import Any

import warp as wp

from rattleback.collision.ccd.rigid_motion import Passage, turn_between
from rattleback.collision.geometry.colliders import Colliders, Hulls, Places
from rattleback.collision.geometry.solid import MESH
from rattleback.collision.geometry.world_poses import bound, pose
from rattleback.core.kernel import kernel
from rattleback.core.precision import real, vec3
from rattleback.model.state import Motion


@wp.struct
class Ways:
    """What the kernels read: the colliders, where they are at the start, and how their bodies move."""

    colliders: Colliders
    hulls: Hulls
    places: Places
    start: Motion
    end: Motion
    distance: real


@wp.func
def course_of(ways: Ways, i: int, origin: vec3) -> Passage:
    """How collider i moves, seen from an origin."""
    body = ways.colliders.body[i]
    out = Passage()
    out.center = ways.start.position[body] - origin
    out.travel = ways.end.position[body] - ways.start.position[body]
    out.turn = turn_between(ways.start.orientation[body], ways.end.orientation[body])
    core = wp.max(real(0.0), ways.colliders.reach[i] - ways.colliders.round[i])
    out.reach = core + wp.length(ways.colliders.position[i])
    return out


@kernel
def sweep_boxes(ways: Ways) -> None:
    """Place every collider where it starts, with a box that holds it on its whole way."""
    i = wp.tid()
    wider = real(0.5) * ways.distance
    pose(ways.colliders, ways.end, ways.places, i)
    bound(ways.colliders, ways.hulls, ways.places, i, wider)
    lower = ways.places.lower[i]
    upper = ways.places.upper[i]
    pose(ways.colliders, ways.start, ways.places, i)
    bound(ways.colliders, ways.hulls, ways.places, i, wider)
    course = course_of(ways, i, vec3())
    bulge = real(0.125) * wp.dot(course.turn, course.turn) * course.reach
    wide = vec3(bulge, bulge, bulge)
    ways.places.lower[i] = wp.min(ways.places.lower[i], lower) - wide
    ways.places.upper[i] = wp.max(ways.places.upper[i], upper) + wide


@kernel
def clear_shifts(shift: wp.array[real]) -> None:
    """No mesh has moved."""
    shift[wp.tid()] = real(0.0)


@kernel
def find_shifts(ways: Ways, shift: wp.array[real]) -> None:
    """How far the points of the meshes of a world go at most."""
    i = wp.tid()
    if ways.colliders.kind[i] == MESH:
        course = course_of(ways, i, vec3())
        wp.atomic_max(shift, ways.colliders.world[i], wp.length(course.travel) + wp.length(course.turn) * course.reach)


@kernel
def widen(ways: Ways, shift: wp.array[real]) -> None:
    """Let the boxes of what meets the triangles of meshes hold its way as the meshes see it, which may move."""
    i = wp.tid()
    d = shift[ways.colliders.world[i]]
    if ways.colliders.movable[i] == 1:
        ways.places.lower[i] = ways.places.lower[i] - vec3(d, d, d)
        ways.places.upper[i] = ways.places.upper[i] + vec3(d, d, d)


def record_widening(program: Any, ways: Ways, shift: Any) -> None:
    """Record what widens the boxes for meshes that move; the pairs have been found before.

    Args:
        program: Where to record.
        ways: The colliders and how they move.
        shift: Room for one number a world.
    """
    count = int(ways.colliders.kind.shape[0])
    program.launch(clear_shifts, int(shift.shape[0]), shift)
    program.launch(find_shifts, count, ways, shift)
    program.launch(widen, count, ways, shift)
