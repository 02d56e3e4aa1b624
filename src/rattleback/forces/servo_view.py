"""One servo of a running simulation: its target to change between steps, and what it does."""

from typing import Any

import numpy as np

from rattleback.core import checks
from rattleback.core.errors import InputError, UnknownName, did_you_mean, listing
from rattleback.forces.schedule import Schedule
from rattleback.model.model import Model
from rattleback.model.row_counts import servo_places
from rattleback.model.state import State


class ServoView:
    """Servo of a running simulation; numbers, or one entry per world when worlds were asked for.

    Args:
        model: The model.
        state: The state it looks into.
        name: Name of the servo among the forces of the scene.
    """

    def __init__(self, model: Model, state: State, name: str) -> None:
        places = servo_places(model.scene)
        if name not in places:
            names = list(places)
            raise UnknownName(f"There is no servo {name!r}.{did_you_mean(name, names)} There are {listing(names)}.")
        self.name, self._model, self._state = name, model, state
        self._rows = np.arange(model.worlds) * len(places) + places[name][0]
        _, self._first, self._ring = places[name]
        self._stretches = sum(ring for _, _, ring in places.values())

    @property
    def target(self) -> Any:
        """What it aims at now; set a number, one for every world, or None to follow the servo's own target again."""
        given = self._model.scene.forces[self.name].target
        own = given(self._state.clock.time.numpy()) if isinstance(given, Schedule) else given
        return self._shown(np.where(self._read("manual") == 1, self._read("target"), own))

    @target.setter
    def target(self, value: Any) -> None:
        if value is None:
            self._write("manual", 0)
            self._write("target", 0.0)
            return
        wanted = checks.finite(value, f"The target of servo {self.name!r}")
        if wanted.shape not in ((), self._rows.shape if self._model.batched else ()):
            worlds = f" or {len(self._rows)} of them, one a world" if self._model.batched else ""
            raise InputError(
                f"The target of servo {self.name!r} has shape {wanted.shape}; it must be a number{worlds}, or None."
            )
        self._write("target", wanted)
        self._write("manual", 1)

    @property
    def error(self) -> Any:
        """Target minus coordinate, or minus rate, at the start of the last step [rad, m, rad/s or m/s]."""
        return self._shown(self._read("error"))

    @property
    def integral(self) -> Any:
        """Integral of the error over the window, as the next step will use it [rad s, m s, rad or m]."""
        return self._shown(self._read("integral"))

    @property
    def effort(self) -> Any:
        """Torque [N m] or force [N] on B in the last step."""
        return self._shown(self._read("effort"))

    def reset(self) -> None:
        """Forget all errors, as if it had just been switched on; the target stays."""
        for name in ("error", "integral", "effort", "step", "newest"):
            self._write(name, 0)
        worlds = np.arange(self._model.worlds)[:, None] * self._stretches
        own = (worlds + self._first + np.arange(self._ring)).ravel()
        for name in ("duration", "area"):
            self._write(name, 0, own)

    def __repr__(self) -> str:
        return f"<Servo {self.name!r} on {self._model.scene.forces[self.name].joint!r}>"

    def _read(self, name: str) -> np.ndarray:
        return np.array(getattr(self._state.servos, name).numpy()[self._rows], dtype=np.float64)

    def _write(self, name: str, value: Any, rows: Any = None) -> None:
        array = getattr(self._state.servos, name)
        if len(array):
            new = array.numpy().copy()
            new[self._rows if rows is None else rows] = value
            array.assign(new)

    def _shown(self, values: np.ndarray) -> Any:
        return values if self._model.batched else float(values[0])
