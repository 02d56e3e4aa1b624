"""Swept AABBs: boxes that hold colliders on their whole motion through a step.

    box = box(start) ∪ box(end) ± θ² ρ / 8

θ angle by which the body rotates, ρ how far the core reaches from its centre of mass: a point on an arc is never
farther than that from the straight line between the same ends. Triangles of a mesh that moves are looked up from its
pose at the start, so boxes that meet them are wider by its motion.
"""

from typing import Any

import warp as wp

from rattleback.collision.ccd.rigid_motion import RigidMotion, turn_between
from rattleback.collision.geometry.colliders import Colliders, Hulls, Places
from rattleback.collision.geometry.solid import MESH
from rattleback.collision.geometry.world_poses import bound, pose
from rattleback.core.kernel import kernel
from rattleback.core.precision import real, vec3
from rattleback.model.state import Motion


@wp.struct
class SweptColliders:
    """What the kernels read: the colliders, where they are at the start, and how their bodies move."""

    colliders: Colliders
    hulls: Hulls
    places: Places
    start: Motion
    end: Motion
    distance: real


@wp.func
def motion_of(swept: SweptColliders, i: int, origin: vec3) -> RigidMotion:
    """How collider i moves, seen from an origin."""
    body = swept.colliders.body[i]
    out = RigidMotion()
    out.center = swept.start.position[body] - origin
    out.travel = swept.end.position[body] - swept.start.position[body]
    out.turn = turn_between(swept.start.orientation[body], swept.end.orientation[body])
    core = wp.max(real(0.0), swept.colliders.reach[i] - swept.colliders.round[i])
    out.reach = core + wp.length(swept.colliders.position[i])
    return out


@kernel
def sweep_boxes(swept: SweptColliders) -> None:
    """Place every collider at its start, with a box that holds its whole motion."""
    i = wp.tid()
    wider = real(0.5) * swept.distance
    pose(swept.colliders, swept.end, swept.places, i)
    bound(swept.colliders, swept.hulls, swept.places, i, wider)
    lower = swept.places.lower[i]
    upper = swept.places.upper[i]
    pose(swept.colliders, swept.start, swept.places, i)
    bound(swept.colliders, swept.hulls, swept.places, i, wider)
    motion = motion_of(swept, i, vec3())
    bulge = real(0.125) * wp.dot(motion.turn, motion.turn) * motion.reach
    wide = vec3(bulge, bulge, bulge)
    swept.places.lower[i] = wp.min(swept.places.lower[i], lower) - wide
    swept.places.upper[i] = wp.max(swept.places.upper[i], upper) + wide


@kernel
def clear_shifts(shift: wp.array[real]) -> None:
    """No mesh has moved."""
    shift[wp.tid()] = real(0.0)


@kernel
def find_shifts(swept: SweptColliders, shift: wp.array[real]) -> None:
    """How far the points of the meshes of a world go at most."""
    i = wp.tid()
    if swept.colliders.kind[i] == MESH:
        motion = motion_of(swept, i, vec3())
        wp.atomic_max(shift, swept.colliders.world[i], wp.length(motion.travel) + wp.length(motion.turn) * motion.reach)


@kernel
def widen(swept: SweptColliders, shift: wp.array[real]) -> None:
    """Widen boxes of moving colliders by the motion of the meshes of their world."""
    i = wp.tid()
    d = shift[swept.colliders.world[i]]
    if swept.colliders.movable[i] == 1:
        swept.places.lower[i] = swept.places.lower[i] - vec3(d, d, d)
        swept.places.upper[i] = swept.places.upper[i] + vec3(d, d, d)


def record_widening(program: Any, swept: SweptColliders, shift: Any) -> None:
    """Record what widens the boxes for meshes that move; the pairs have been found before.

    Args:
        program: Where to record.
        swept: The colliders and how they move.
        shift: Room for one number a world.
    """
    count = int(swept.colliders.kind.shape[0])
    program.launch(clear_shifts, int(shift.shape[0]), shift)
    program.launch(find_shifts, count, swept, shift)
    program.launch(widen, count, swept, shift)
