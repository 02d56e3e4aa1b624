"""One body, or a group of bodies, of a running simulation: its arrays to read and write between steps."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from rattleback.core import checks
from rattleback.core.errors import InputError
from rattleback.core.sealed import sealed
from rattleback.maths.rotation import rotate
from rattleback.model.body import BodyOptions
from rattleback.model.body_impulses import contact_forces
from rattleback.model.material import Material
from rattleback.model.model import Model
from rattleback.model.state import State, Windows
from rattleback.model.worlds.live import SURFACE, adopt, changed, entries_of, world_values


@sealed
class BodyView(Windows):
    """Body of a running simulation.

    ``position``, ``orientation``, ``velocity``, ``angular_velocity``, ``applied_force`` and ``applied_torque`` read and
    write; shape (3,) or (4,), with a leading world axis when worlds were asked for. For a group, a body axis comes
    before the last and writing goes by assignment. ``material`` reads and writes, too; ``asleep`` says whether it
    sleeps, ``contact_force`` what its contacts did in the last step.

    Args:
        model: The model.
        state: The state it looks into.
        key: Name of the body or group, or what ``add_body`` returned.
    """

    _kind = "body"

    def __init__(self, model: Model, state: State, key: Any) -> None:
        self.name: str = getattr(key, "name", key)
        self._model, self._state = model, state
        members = model.scene.groups.get(self.name) if isinstance(self.name, str) else None
        rows: Any = model.index(key) if members is None else [model.index(body.name) for body in members]
        self._rows = (Ellipsis, rows, slice(None))

    @property
    def names(self) -> list[str]:
        """Names of the bodies looked at."""
        return [self._model.names[i] for i in np.atleast_1d(self._rows[1])]

    @property
    def mass(self) -> Any:
        """Mass [kg], or masses of a group; with a leading world axis when worlds were asked for.

        A mass that is written, one for all worlds or one for each, changes the inertia in proportion; a step that was
        recorded is recorded anew.
        """
        mass = self._model.mass[:, self._rows[1]]
        if self._model.batched:
            return world_values(mass, lambda values: self._set("mass", values))
        return float(mass[0]) if np.ndim(mass[0]) == 0 else mass[0]

    @mass.setter
    def mass(self, value: Any) -> None:
        self._set("mass", value)

    @property
    def material(self) -> Any:
        """Material, or list of the materials of a group, those of the first world where worlds differ.

        One that is written holds for all of them in all worlds, a list has one for each world.
        """
        materials = [body.material for body in self._bodies()]
        return materials if np.ndim(self._rows[1]) else materials[0]

    @material.setter
    def material(self, value: Material) -> None:
        given: Any = value
        each = self._model.batched and isinstance(given, list) and len(given) == self._model.worlds
        for material in given if each else [given]:
            checks.instance(material, Material, f"The material written to {self.name!r}", "rb.Material(friction=0.4)")
        self._set("material", value)

    @property
    def asleep(self) -> Any:
        """Whether it sleeps; an array for worlds or a group. Writing False wakes it and all it is connected with."""
        self._state.send()
        flags = self._state.sleep.asleep.numpy().reshape(self._state.shape) > 0
        found = flags[self._rows[:-1]]
        return bool(found) if np.ndim(found) == 0 else found

    @asleep.setter
    def asleep(self, value: bool) -> None:
        if checks.flag(value, f"The asleep written to {self.name!r}"):
            raise InputError(f"{self.name!r} falls asleep by itself, where it rests; only False can be written.")
        self._state.send()
        self._state.wake(self._model.rows(np.atleast_1d(self._rows[1])).ravel())

    @property
    def contact_force(self) -> np.ndarray:
        """Mean force of all its contacts over the last step, blows with it [N]; see ``ContactView.force``."""
        if self._static():
            raise InputError(
                f"{self.name!r} is static, and forces on static bodies are not added up; what a body does to it is "
                'the opposite of what it does to the body: -sim["crate"].contact_force.'
            )
        force: np.ndarray = contact_forces(self._state).reshape((*self._state.shape, 3))[self._rows]
        return force

    @property
    def origin(self) -> np.ndarray:
        """Origin of the body's frame in the world [m]."""
        return self.position - rotate(self.orientation, self._center_of_mass())

    @origin.setter
    def origin(self, value: Any) -> None:
        new, shape = checks.finite(value, "The origin written"), self.position.shape
        try:
            self.position = np.broadcast_to(new, shape) + rotate(self.orientation, self._center_of_mass())
        except ValueError:
            raise InputError(f"The origin written has shape {new.shape}; it must be {shape}.") from None

    def look(self, name: str) -> np.ndarray:
        """What a window shows: the rows of this body."""
        return self._state.view(name, self._rows)

    def change(self, name: str, value: Any) -> None:
        """What writing to a window does."""
        self._state.write(name, self._rows, value)

    def apply_impulse(self, impulse: Any, at: Any = None) -> None:
        """Change the velocities at once, as a blow does.

        Args:
            impulse: Impulse (3,) [N s], world frame.
            at: Point it acts at (3,) [m], world frame; None for the centre of mass.
        """
        if self._static():
            raise InputError(f"{self.name!r} is static; an impulse cannot move it.")
        p = checks.vector(impulse, f"The impulse on {self.name!r}")
        self.velocity = self.velocity + p / np.asarray(self._model.mass[:, self._rows[1]])[..., None].reshape(
            *self.velocity.shape[:-1], 1
        )
        if at is not None:
            lever = checks.vector(at, f"The point of the impulse on {self.name!r}") - self.position
            self.angular_velocity = self.angular_velocity + self._spin_change(np.cross(lever, p))

    def __repr__(self) -> str:
        return f"<{self.name!r} at {np.array2string(self.position, precision=4)}>"

    def _advice(self, name: str) -> str:
        written = {"torque": "applied_torque", "force": "applied_force"}
        if name in written:
            return f"Write its {written[name]}."
        if name in BodyOptions.__annotations__ or name == "shape":
            return f"It is said in the scene: scene.change_body({self.name!r}, {name}=...) and sim.rebuild(scene)."
        return ""

    def _set(self, parameter: str, value: Any) -> None:
        """Another value of a parameter in the scenes of all worlds, or one for each."""
        what, model = f"{parameter} written to {self.name!r}", self._model
        self._state.check_current(f"The {what}")
        values = entries_of(model, value, (), what)
        adopt(model, changed(model, {(self.name, parameter): values}), anew=parameter not in SURFACE)
        self._state.wake(model.rows(np.atleast_1d(self._rows[1])).ravel())

    def _bodies(self) -> list[Any]:
        return [self._model.scene.bodies[i] for i in np.atleast_1d(self._rows[1])]

    def _by_world(self, of: Callable[[Any], Any]) -> np.ndarray:
        """What the scenes say of its bodies, with the axes that its arrays have."""
        found = self._model.of_bodies(of)[:, self._rows[1]]
        return found if self._model.batched else found[0]

    def _static(self) -> bool:
        return any(body.static for body in self._bodies())

    def _center_of_mass(self) -> np.ndarray:
        return self._by_world(lambda body: body.center_of_mass)

    def _spin_change(self, blow: np.ndarray) -> np.ndarray:
        inverse = self._by_world(lambda body: np.zeros((3, 3)) if body.static else np.linalg.inv(body.inertia))
        back = self.orientation * np.array([-1.0, -1.0, -1.0, 1.0])
        return rotate(self.orientation, np.einsum("...ij,...j->...i", inverse, rotate(back, blow)))
