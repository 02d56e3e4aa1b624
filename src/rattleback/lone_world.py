"""One world of a batch as a simulation of its own, where it stands now."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rattleback.core import checks

if TYPE_CHECKING:
    from rattleback.simulation import Simulation


def lone_world(simulation: Simulation, number: int) -> Simulation:
    """One world of a batch as a simulation of its own, with its scene, its state and the methods of the batch.

    It goes on bit for bit as that world does, but has no observers.

    Args:
        simulation: The batch.
        number: Number of the world.
    """
    checks.count(number, "world", 0, simulation.model.worlds - 1)
    alone = type(simulation)(
        simulation.model.scenes.of(number),
        device=simulation.device.alias,
        strict=simulation.strict,
        warn=simulation.warn,
        time_step=simulation.time_step,
    )
    vars(alone).update(methods=simulation.methods)
    alone._replay.choose(simulation.methods)
    alone.reset(state=simulation.state.copy(), from_worlds=number)
    return alone
