"""How quantities of a running simulation change with its parameters, its present state and its commands."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rattleback.core import checks
from rattleback.core.errors import InputError
from rattleback.recording.observer import Observer
from rattleback.sensitivities.deviations import apply, find_deviation, varied_scenes
from rattleback.sensitivities.result import Jacobian, assembled, followed, shifts
from rattleback.settings import DETECTION
from rattleback.simulation import Simulation

if TYPE_CHECKING:
    from collections.abc import Iterable

PLAIN = ("preset", "substeps", "step", "integrator", "joints", "contacts", "contact_time", "penetration_tolerance")
REST = ("contact_velocity_tolerance", "closing_speed", "max_iterations", "sleep")


def jacobian_of(
    simulation: Simulation, of: Any, with_respect_to: str | Iterable[str], when: tuple[Any, Any], world: int
) -> Jacobian:
    """The Jacobian of a simulation from its present state; see ``Simulation.jacobian``.

    Args:
        simulation: The simulation, which stays as it is.
        of: Quantities.
        with_respect_to: Names of what is changed.
        when: After which steps, or after which times [s]; one is None.
        world: Which world of a batch.
    """
    names = [with_respect_to] if isinstance(with_respect_to, str) else list(with_respect_to)
    if not names:
        raise InputError("A Jacobian is taken with respect to something, such as ['arm.mass', 'hinge.velocity'].")
    number = checks.count(world, "The world of a Jacobian", least=0, most=(simulation.worlds or 1) - 1)
    found = [find_deviation(simulation, name, number) for name in names]
    distances = [distance for deviation in found for distance in deviation.distances]
    ends = np.cumsum([len(deviation.value) for deviation in found])[:-1]
    moved = np.split(shifts(distances), ends, axis=1)
    scenes, one_sided = varied_scenes(simulation.model.scenes.of(number), found, moved)
    batch = Simulation(scenes, **settings_of(simulation))
    batch.reset(state=simulation.state.copy(), from_worlds=number)
    apply(batch, found, moved)
    observer = Observer(of, batch)
    values = followed(batch, observer.look, *when)
    told = [name for deviation in found for name in deviation.names]
    return assembled((observer.names, told), values, distances, [alone for part in one_sided for alone in part])


def settings_of(simulation: Simulation) -> dict[str, Any]:
    """The settings of a simulation, for another one that steps as it does, without warnings."""
    methods = simulation.methods
    found: dict[str, Any] = {name: getattr(methods, name) for name in (*PLAIN, *REST)}
    if methods.detection is not None:
        found |= {name: getattr(methods.detection, field) for name, field in DETECTION.items()}
    own = {"time_step": simulation.time_step, "device": str(simulation.device), "warn": False}
    return {**found, **methods.tolerances, **own}
