"""Bodies beside trees: those that nothing can push go on at their velocity, others are moved by an integrator.

    x₁ = x₀ + t v,   q₁ = exp(t ω) ∘ q₀,      t a part of the step

x, q position and orientation, v, ω velocities.

Cost: a pass over such bodies, and none over those of trees.
"""

import warp as wp

from rattleback.core.kernel import kernel
from rattleback.core.precision import real
from rattleback.maths.quat import quat_from_rotation_vector
from rattleback.model.model import Bodies
from rattleback.model.state import Clock, Motion
from rattleback.model.step_context import move


@kernel
def drive(
    bodies: Bodies, rows: wp.array[wp.int32], start: Motion, clock: Clock, part: real, end: Motion, lanes: int
) -> None:
    """Where bodies that nothing can push are after a part of the step; they go on at their velocity."""
    for n in range(wp.tid(), rows.shape[0], lanes):
        i = rows[n]
        h = part * real(clock.time_step[bodies.world[i]])
        v = start.velocity[i]
        w = start.angular_velocity[i]
        end.velocity[i] = v
        end.angular_velocity[i] = w
        end.position[i] = start.position[i] + h * v
        q = start.orientation[i]
        if wp.dot(w, w) > real(0.0):
            q = wp.normalize(quat_from_rotation_vector(h * w) * q)
        end.orientation[i] = q


@kernel
def copy_left(rows: wp.array[wp.int32], source: Motion, target: Motion, lanes: int) -> None:
    """The motion of bodies that are in no tree becomes another."""
    for n in range(wp.tid(), rows.shape[0], lanes):
        move(source, target, rows[n])
