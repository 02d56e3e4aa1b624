"""The contact problem of the next step of a simulation, as pure mathematics.

A twin of the simulation takes the step, with its state and methods, and its first problem is seen on the way; the
simulation stays as it is. So the problem is the one that the step solves: velocities with loads, predicted
displacements, remainders of second order and gaps in its biases, joints inside.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from rattleback.core import checks
from rattleback.core.errors import InputError
from rattleback.forces.field import ForceField
from rattleback.model.compile import compile_scene
from rattleback.replay import Replay
from rattleback.solvers.contacts.stages.posed_problem import Sight, watched

if TYPE_CHECKING:
    from rattleback.lcp import Problem
    from rattleback.model.model import Model
    from rattleback.simulation import Simulation
    from rattleback.solvers.contacts.problem.assembled import AssembledContacts


def next_contact_problem(simulation: Simulation, world: int) -> Problem:
    """The contact problem that the next step poses first; see ``Simulation.contact_problem``."""
    model, methods = simulation.model, simulation.methods
    checks.count(world, "world", 0, model.worlds - 1)
    if not methods.resolves:
        raise InputError(
            "This simulation solves no contacts; choose a scheme that does first: sim.use(contacts='impulse')."
        )
    sight = Sight(world)
    twin, state = compile_scene(model.scenes.scenes, simulation.worlds, simulation.device)
    state.assign(simulation.state.copy())
    # In sub-steps the clock of a twin without them has their length.
    state.clock.time_step.assign(simulation.state.clock.time_step.numpy() / methods.substeps)
    chosen = replace(methods, contacts=watched(methods.contacts, sight), substeps=1)
    replay = Replay(ForceField(twin, state), state, chosen)
    replay.begin()
    replay.advance(1)
    if sight.found is None:
        raise InputError(
            f"Nothing touches in the next step{_of_world(model, world)}, so there is no contact problem; step on until "
            "bodies meet, as sim.contacts tells."
        )
    name = f"{model.scene.name}{_of_world(model, world)} at t = {simulation.time:.6g} s"
    return sight.found.problem(name, _bodies_of(model, sight.found))


def _of_world(model: Model, world: int) -> str:
    return f" of world {world}" if model.batched else ""


def _bodies_of(model: Model, found: AssembledContacts) -> str:
    """Which bodies touch in which contact, a line for each."""
    names = [[model.locate(int(row))[0] for row in pair] for pair in found.pairs]
    return "\n".join(f"contact {c}: {a!r} on {b!r}" for c, (a, b) in enumerate(names))
