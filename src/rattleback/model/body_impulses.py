"""Contact impulses of the bodies over the last step, and the length of that step."""

from typing import Any

import numpy as np
import warp as wp

from rattleback.core.arrays import field, group
from rattleback.core.mirror import seen
from rattleback.core.precision import real, vec3
from rattleback.core.ranges import NOT_NEGATIVE
from rattleback.model.model import Bodies


@group(axis="bodies")
class BodyImpulses:
    """Impulses of contacts since the last step began; those before it, where velocities were written, count with it."""

    impulse: vec3 = field("N s", "sum of the impulses of its contacts, world frame; zero for static bodies")
    duration: wp.float64 = field(
        "s", "length of the step they are of; zero before it is taken", axis="worlds", within=NOT_NEGATIVE
    )


@wp.func
def give(bodies: Bodies, impulses: BodyImpulses, a: int, b: int, p: vec3) -> None:
    """Apply an impulse of the world to body A, and its opposite to body B."""
    if bodies.inverse_mass[a] > real(0.0):
        impulses.impulse[a] = impulses.impulse[a] + p
    if bodies.inverse_mass[b] > real(0.0):
        impulses.impulse[b] = impulses.impulse[b] - p


def mean_force(impulse: np.ndarray, impulses: BodyImpulses, world: np.ndarray) -> np.ndarray:
    """Impulses by the length of the step they are of; zero before a step is taken (rows, 3) [N].

    Args:
        impulse: The impulses (rows, 3) [N s].
        impulses: What says how long the step was.
        world: World of every row.
    """
    duration = seen(impulses.duration)[world]
    rate = np.divide(1.0, duration, out=np.zeros_like(duration), where=duration > 0.0)
    return (impulse * rate[:, None]).astype(impulse.dtype)


def contact_forces(state: Any) -> np.ndarray:
    """Mean force of all contacts on every body over the last step (bodies, 3) [N]; of sleeping ones what holds them.

    Args:
        state: The state, of all worlds.
    """
    worlds, each = len(seen(state.impulses.duration)), state.shape[-1]
    force = mean_force(seen(state.impulses.impulse), state.impulses, np.repeat(np.arange(worlds), each))
    asleep, kept = seen(state.sleep.asleep) > 0, state.sleeping_contacts
    if asleep.any():
        force[asleep] = 0.0
        count = int(seen(kept.count)[0])
        for bodies, sign in ((kept.body_a, 1.0), (kept.body_b, -1.0)):
            rows = seen(bodies)[:count]
            np.add.at(force, rows[asleep[rows]], sign * seen(kept.load)[:count][asleep[rows]])
    return force
