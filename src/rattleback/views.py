"""What users take of a running simulation by name, each made once: bodies, groups, joints, servos, contacts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rattleback.core.errors import InputError, UnknownName, did_you_mean, listing
from rattleback.forces.servo_view import ServoView
from rattleback.model.measure import Energy, Measures
from rattleback.model.row_counts import servo_places
from rattleback.model.sleep import sleeping_columns
from rattleback.model.view import BodyView
from rattleback.problem.joint_coordinates import JointCoordinates
from rattleback.problem.joint_view import JointView
from rattleback.problem.joints_view import JointsView
from rattleback.problem.soft.elastic import Elastic

if TYPE_CHECKING:
    from rattleback.collision.contact_view import ContactView
    from rattleback.forces.field import ForceField
    from rattleback.replay import Replay


class Views:
    """The views of one model and state.

    Attributes:
        joints: All joints at once.
        measures: Energy and momentum.

    Args:
        forces: The forces of the scene, with its model.
        replay: What takes the steps.
    """

    def __init__(self, forces: ForceField, replay: Replay) -> None:
        self._forces, self._replay = forces, replay
        self._model, self._state = forces.model, replay.state
        self._coordinates = JointCoordinates(self._model, self._state)
        self.joints, self.measures = JointsView(self._coordinates), Measures(self._model, self._state)
        self._found: dict[str, Any] = {}
        self._servos: dict[str, ServoView] = {}
        self._contacts: tuple[Any, ContactView] | None = None
        self._elastic: tuple[Any, Elastic] | None = None

    def energy(self) -> Energy:
        """Energies of the bodies, the drives of joints, the forces and what is soft."""
        elastic = self.elastic().energy()
        return self.measures.energy(
            lambda place, turn: self._forces.potential(place, turn) + elastic, self._coordinates.drive_energies()
        )

    def elastic(self) -> Elastic:
        """Energy and Jacobian of what is soft."""
        step = self._replay.step
        if self._elastic is None or self._elastic[0] is not step:
            self._elastic = step, Elastic(step.soft_rows, self._state, self._model)
        return self._elastic[1]

    def find(self, key: Any) -> Any:
        """A body, a group or a joint, by name or by what the scene returned for it."""
        if isinstance(key, str) and key in self._found:
            return self._found[key]
        scene = self._model.scene
        name = key if isinstance(key, str) else scene.joint_name(key)
        if name in scene.joints:
            found: Any = JointView(self._preview, self._coordinates, name)
        else:
            name = getattr(key, "name", key)
            if not isinstance(name, str) or not (name in scene or name in scene.groups):
                raise UnknownName(self._unknown(name))
            found = BodyView(self._model, self._state, name)
        return self._found.setdefault(name, found)

    def servo(self, name: Any) -> ServoView:
        """A servo by the name of its force."""
        if isinstance(name, str) and name in self._servos:
            return self._servos[name]
        found = ServoView(self._model, self._state, name, lambda: self._forces.now.get(str(name)))
        return self._servos.setdefault(name, found)

    def contacts(self) -> ContactView:
        """The contacts at this moment."""
        if (stages := self._replay.contacts()) is None:
            raise InputError('This simulation finds no contacts; make it with Simulation(scene, contacts="detect").')
        moment = (self._state.moment, stages, stages.version)
        if self._contacts is None or self._contacts[0] != moment:
            from rattleback.collision.contact_view import ContactView

            static = np.tile(self._model.static, self._model.worlds)
            self._contacts = moment, ContactView(stages.finder, self._model, sleeping_columns(self._state, static))
        return self._contacts[1]

    def _preview(self) -> Any:
        return self._replay.step.with_reactions()

    def _unknown(self, name: Any) -> str:
        """Why there is nothing of this name, and where what has it is found."""
        scene = self._model.scene
        if isinstance(name, str) and name in servo_places(scene):
            return f"{name!r} is a servo; it is found as sim.servo({name!r})."
        if isinstance(name, str) and name in scene.forces:
            return f"{name!r} is a force of the scene; it is found as sim.scene.forces[{name!r}]."
        names = [*self._model.names, *scene.groups, *scene.joints]
        return f"There is no body, group or joint {name!r}.{did_you_mean(name, names)} There are {listing(names)}."
