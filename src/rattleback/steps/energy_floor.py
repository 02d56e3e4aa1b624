"""What a step may leave of energy: what tolerances, gravity and rounding stand for."""

from dataclasses import dataclass
from typing import Any

import warp as wp

from rattleback.core.precision import epsilon, real
from rattleback.model.model import Model

# How many units of rounding a sum of energies may be off.
ROUNDINGS = 100.0


@wp.struct
class Floor:
    """What a step may leave: energy per mass that tolerances stand for, g δ + u² [J/kg]; gravity; gap of joints.

    Numbers of arrays are those of every world.

    ``speed`` is how fast joints close; ``resolves`` 1 where contacts push; ``first_order`` 1 for such integrators;
    ``lift`` and ``creep`` are the reported tolerances of contacts and joints together, as energy per mass [J/kg] and as
    speed [m/s]; ``rounding`` is the part of an energy that rounding may take.
    """

    energy: wp.array[real]
    gravity: wp.array[real]
    gap: real
    speed: real
    lift: wp.array[real]
    creep: wp.array[real]
    rounding: real
    first_order: wp.int32
    resolves: wp.int32


@dataclass(frozen=True)
class Sizes:
    """How far positions [m] and velocities [m/s] may be off, in every world or in all of them.

    Attributes:
        depth: Positions that are aimed at.
        slip: Velocities that are aimed at.
        reported_depth: Positions up to which a step has converged, joints and contacts together.
        reported_slip: The same of velocities.
        first_order: Whether the integrator is of first order.
    """

    depth: Any
    slip: Any
    reported_depth: Any
    reported_slip: Any
    first_order: bool


def make_floor(sizes: Sizes, model: Model, limits: Any, resolves: bool) -> Any:
    """What a step may leave.

    Args:
        sizes: How far positions and velocities may be off.
        model: The model, for the gravity of its worlds.
        limits: Tolerances of the joints; None without joints.
        resolves: Whether contacts push.
    """
    floor, gravity = Floor(), model.gravity
    floor.gravity = model.world_numbers(gravity)
    if limits is not None:
        floor.gap, floor.speed = limits.position, limits.speed
    floor.energy = model.world_numbers(gravity * sizes.depth + sizes.slip**2)
    floor.lift = model.world_numbers(gravity * sizes.reported_depth + sizes.reported_slip**2)
    floor.creep = model.world_numbers(sizes.reported_slip)
    floor.rounding, floor.first_order, floor.resolves = ROUNDINGS * epsilon, int(sizes.first_order), int(resolves)
    return floor
