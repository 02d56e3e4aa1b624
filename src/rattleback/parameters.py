"""The parameters of a running simulation by name, world by world: read and written between steps.

What steps can take in place is written to the worlds as they go on: masses, inertias, materials, laws and limits of
joints, forces, gravity. What has to be compiled anew, such as sizes and places of joints, goes by ``sim.rebuild``. That
carries the state on, and views of bodies and joints are to be taken anew.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rattleback.model.worlds.live import SURFACE, adopt, changed, entries_of, world_values
from rattleback.model.worlds.parameters import is_live, objects_of, parameters_of, shape_of, split_name, value_of
from rattleback.model.worlds.structure import check_structure, difference

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from rattleback.model.scene import Scene
    from rattleback.simulation import Simulation


class Parameters:
    """The parameters of a simulation: ``sim.parameters["arm.mass"]``, as ``vary`` names them.

    What is read has one entry a world when worlds were asked for; writing to an entry changes that world. What is
    written holds for all worlds, or has one value for each. Iterating gives all names.

    Args:
        simulation: The simulation.
    """

    def __init__(self, simulation: Simulation) -> None:
        self._simulation = simulation

    def __getitem__(self, entry: str) -> Any:
        """The values of a parameter."""
        model = self._simulation.model
        owner, parameter = split_name(model.scene, entry)
        values = [value_of(scene, owner, parameter) for scene in model.scenes.scenes]
        if not model.batched:
            return values[0]
        every = values if model.scenes.varied else values * model.worlds
        if not all(isinstance(value, (float, int, tuple, np.ndarray)) for value in every):
            return every
        try:
            return world_values(np.array(every, dtype=np.float64), lambda given: self.update({entry: given}))
        except (TypeError, ValueError):
            return every

    def __setitem__(self, entry: str, value: Any) -> None:
        """Write a parameter, for all worlds or for each."""
        self.update({entry: value})

    def __iter__(self) -> Iterator[str]:
        """The names of all parameters."""
        scene = self._simulation.scene
        return (f"{owner}.{name}" for owner in objects_of(scene) for name in parameters_of(scene, owner))

    def __contains__(self, entry: object) -> bool:
        return entry in list(self)

    def __repr__(self) -> str:
        return f"<parameters of {self._simulation.scene.name!r}: {len(list(self))}>"

    def update(self, values: Mapping[str, Any]) -> None:
        """Write several parameters at once, as if one were; what is wrong with one leaves all as they were.

        Args:
            values: The values by the names of parameters.
        """
        sim, model = self._simulation, self._simulation.model
        given = {}
        for entry, value in values.items():
            owner, parameter = split_name(model.scene, entry)
            inner = shape_of(model.scene, owner, parameter)
            given[owner, parameter] = entries_of(model, value, inner, f"value written to {entry!r}")
        scenes = changed(model, given)
        check_structure(scenes)
        alike = difference(model.scene, scenes[0]) is None
        if alike and all(is_live(model.scene, *entry) for entry in given):
            self._write(scenes, anew=any(parameter not in SURFACE for _, parameter in given))
        else:
            sim.rebuild(scenes if len(scenes) > 1 else scenes * model.worlds if model.batched else scenes[0])

    def _write(self, scenes: list[Scene], anew: bool) -> None:
        """Take other scenes over in place; where steps cannot be recorded with them, all stays as it was."""
        sim, before = self._simulation, list(self._simulation.model.scenes.scenes)
        adopt(sim.model, scenes, anew)
        try:
            sim.capture()
        except Exception:
            adopt(sim.model, before, anew)
            sim.capture()
            raise
        sim.state.wake(np.arange(sim.model.count))
