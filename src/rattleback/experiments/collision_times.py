"""Collisions told apart from resting contacts: what each of them takes in a step, and how many points there are.

A recorded step resolves both in one stage. Here that stage is split where collisions are resolved, in the list of
stages that a profile goes through; the captured step stays as it is. A look costs one step more, and the simulation
stays where it is.

    collisions   points that strike each other at the first look of the step, and what resolving them takes, with all
                 rounds of those they cause
    contacts     points that are no farther apart than the contact distance, and what stopping them at both ends of the
                 step takes
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from rattleback.core.stages import Branch, HostCall, Node
from rattleback.solvers.contacts.restitution.search import COLLIDES

if TYPE_CHECKING:
    from rattleback.simulation import Simulation

# The stage that resolves both, and those it is split into: what comes before, a count, and collisions; the rest keeps
# its name.
BOTH, BEFORE, COUNT, COLLISIONS = "velocities", "look", "count", "collisions"
# Stages that stop resting contacts.
CONTACTS = ("contact impulses", BEFORE, BOTH)


@dataclass(frozen=True)
class Look:
    """One step, looked at.

    Attributes:
        time: When it begins [s].
        collisions: Number of points that collide.
        contacts: Number of points that touch.
        resolving: Time that resolving collisions takes [ms].
        stopping: Time that stopping resting contacts takes [ms].
    """

    time: float
    collisions: int
    contacts: int
    resolving: float
    stopping: float


class CollisionTimes:
    """A simulation whose collisions are told apart.

    Args:
        simulation: The simulation; it must resolve contacts.
        distance: Contact distance [m].
    """

    def __init__(self, simulation: Simulation, distance: float) -> None:
        self.simulation, self.distance = simulation, distance
        self._collisions = 0

    def look(self) -> Look:
        """Look at the next step."""
        sim = self.simulation
        separation = sim.contacts.separation
        if COLLISIONS not in sim._step.program.stages:
            self._tell_apart()
        seconds = sim.profile(1).seconds
        stopping = sum(seconds[name] for name in CONTACTS)
        touching = int((separation <= self.distance).sum())
        return Look(sim.time, self._collisions, touching, 1e3 * seconds[COLLISIONS], 1e3 * stopping)

    def _tell_apart(self) -> None:
        """Split the stage that resolves both."""
        step = self.simulation._step
        before, at, after = split(step.program.stages[BOTH], step.impulses.impacts.points.any_colliding)
        stages: dict[str, list[Node]] = {}
        for name, nodes in step.program.stages.items():
            if name == BOTH:
                stages |= {BEFORE: before, COUNT: [HostCall(self._count)], COLLISIONS: at, BOTH: after}
            else:
                stages[name] = nodes
        step.program.stages = stages

    def _count(self) -> None:
        """Count the points that collide now."""
        impulses = self.simulation._step.impulses
        found, manifolds = impulses.impacts.points, impulses.problem.system.manifolds
        total = int(impulses.problem.graph.total.numpy()[0])
        striking = found.state.numpy()[:total] == int(COLLIDES)
        first, count = (array.numpy()[:total][striking] for array in (manifolds.first, manifolds.count))
        point = found.point.numpy()
        self._collisions = sum(
            int(np.count_nonzero(point[i : i + n] == int(COLLIDES))) for i, n in zip(first, count, strict=True)
        )


def split(nodes: list[Node], flag: Any) -> tuple[list[Node], list[Node], list[Node]]:
    """Nodes before, at and after the branch that is taken where a flag is up; all before where there is none."""
    for k, node in enumerate(nodes):
        if not isinstance(node, Branch):
            continue
        if node.flag.ptr == flag.ptr:
            return nodes[:k], [node], nodes[k + 1 :]
        before, at, after = split(node.nodes, flag)
        if at:
            return (
                [*nodes[:k], Branch(node.flag, before)],
                [Branch(node.flag, at)],
                [Branch(node.flag, after), *nodes[k + 1 :]],
            )
    return nodes, [], []
