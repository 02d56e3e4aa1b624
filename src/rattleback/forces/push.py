"""Loads on one body of a pair: the row it has in a world, and the sum of what acts on it."""

import warp as wp

from rattleback.core.precision import vec3
from rattleback.model.state import Loads


@wp.func
def row_of(body: wp.int32, bodies: wp.int32, world: int) -> int:
    """Row of a body in a world of so many bodies; −1, the world itself, stays."""
    if body < 0:
        return int(body)
    return int(body) + world * int(bodies)


@wp.func
def push(loads: Loads, body: int, force: vec3, torque: vec3) -> None:
    """Add a force through the centre of mass and a torque; the world takes them without moving."""
    if body >= 0:
        loads.force[body] = loads.force[body] + force
        loads.torque[body] = loads.torque[body] + torque
