"""Rattleback as one of the peers: the same scenes from our own menu, with every joint within 1e-6 m in every step.

``peer_engine.py`` imports it beside the peers' ``common``, in a process of its own like the others.
"""

from typing import Any

import common

import rattleback as rb
from rattleback.scenes import chain, tree

TOLERANCE = 1e-6


class World:
    """Ours, as the peers' worlds are; a step that does not meet its tolerance raises."""

    def __init__(self, scene: Any) -> None:
        count = len(scene.bodies)
        own = chain(count) if scene.name.startswith("chain") else tree(count.bit_length())
        self.sim = rb.Simulation(own, time_step=scene.h, position_tolerance=TOLERANCE, strict=True)
        self.step, self.advance = self.sim.step, self.sim.step

    def torque(self, body: int, torque: Any) -> None:
        """Nothing to do: the scene twists its top bar for the first 1/30 s."""

    def state(self) -> tuple[Any, ...]:
        """Positions, rotation matrices, velocities and angular velocities."""
        state = self.sim.state
        turned = common.mats(state.orientation[:, [3, 0, 1, 2]])
        return state.position.copy(), turned, state.velocity.copy(), state.angular_velocity.copy()
