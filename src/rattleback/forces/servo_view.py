"""One servo of a running simulation: its target and its controller to change between steps, and what it does."""

from dataclasses import replace
from typing import Any

import numpy as np

from rattleback.core import checks
from rattleback.core.errors import InputError, UnknownName, did_you_mean, listing
from rattleback.core.sealed import sealed
from rattleback.forces.schedule import Schedule
from rattleback.model.model import Model
from rattleback.model.row_counts import servo_places
from rattleback.model.state import State

# What stands beside the numbers of a servo in what its view says of a name.
ELSEWHERE = {
    "window": "It is said in the scene: scene.change_force({name!r}, window=...) and sim.rebuild(scene).",
    "control": "It is said in the scene: scene.change_force({name!r}, control=...) and sim.rebuild(scene).",
    "torque": "Its effort is that of the controller; a joint is driven by hand by the torque of its own view.",
    "effort": "It is that of the controller; a joint is driven by hand by the torque of its own view.",
}


@sealed
class ServoView:
    """Servo of a running simulation; numbers, or one entry per world when worlds were asked for.

    ``gain``, ``reset_time``, ``rate_time`` and ``limit`` may be written, for all worlds at once; they then hold in the
    scene of the simulation, too.

    Args:
        model: The model.
        state: The state it looks into.
        name: Name of the servo among the forces of the scene.
        servo: The servo as it is compiled; without it, its controller cannot be written.
    """

    _kind = "servo"

    def __init__(self, model: Model, state: State, name: Any, servo: Any = None) -> None:
        places = servo_places(model.scene)
        if not isinstance(name, str) or name not in places:
            names = list(places)
            raise UnknownName(f"There is no servo {name!r}.{did_you_mean(name, names)} There are {listing(names)}.")
        self.name, self._model, self._state, self._servo = name, model, state, servo
        self._rows = np.arange(model.worlds) * len(places) + places[name][0]
        _, self._first, self._ring = places[name]
        self._stretches = sum(ring for _, _, ring in places.values())

    @property
    def target(self) -> Any:
        """What it aims at now; set a number, one for every world, or None to follow the servo's own target again."""
        given = self._force.target
        own = given(self._state.clock.time.numpy()) if isinstance(given, Schedule) else given
        return self._shown(np.where(self._read("manual") == 1, self._read("target"), own))

    @target.setter
    def target(self, value: Any) -> None:
        self._state.check_current(f"The target of servo {self.name!r}")
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
    def gain(self) -> float:
        """K_r, effort per error [N m or N per unit of the error]."""
        return float(self._force.gain)

    @gain.setter
    def gain(self, value: float) -> None:
        self._tune("gain", value)

    @property
    def reset_time(self) -> float:
        """T_N of the integral part [s]; infinity for none."""
        return float(self._force.reset_time)

    @reset_time.setter
    def reset_time(self, value: float) -> None:
        self._tune("reset_time", value)

    @property
    def rate_time(self) -> float:
        """T_V of the differential part [s]; zero for none."""
        return float(self._force.rate_time)

    @rate_time.setter
    def rate_time(self, value: float) -> None:
        self._tune("rate_time", value)

    @property
    def limit(self) -> float:
        """Largest effort, torque [N m] or force [N]; infinity for none."""
        return float(self._force.limit)

    @limit.setter
    def limit(self, value: float) -> None:
        self._tune("limit", value)

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
        return f"<Servo {self.name!r} on {self._force.joint!r}>"

    @property
    def _force(self) -> Any:
        return self._model.scene.forces[self.name]

    def _tune(self, name: str, value: float) -> None:
        """Another value for a number of the controller."""
        what = f"The {name} of servo {self.name!r}"
        self._state.check_current(what)
        if self._servo is None:
            raise InputError(f"{what} can be written through sim.servo({self.name!r}) only.")
        try:
            changed = replace(self._force, **{name: value})
        except InputError as error:
            raise InputError(f"Servo {self.name!r}: {error}") from None
        if changed.stretches != self._force.stretches:
            raise InputError(
                f"{what} switches its integral over a window on or off; that is said in the scene: "
                f"scene.change_force({self.name!r}, {name}={value!r}) and sim.rebuild(scene)."
            )
        self._model.scene.renew({}, {}, {self.name: changed})
        self._servo.tune(changed)

    def _read(self, name: str) -> np.ndarray:
        return self._state.mirror("servos", name).look()[self._rows].astype(np.float64)

    def _write(self, name: str, value: Any, rows: Any = None) -> None:
        mirror = self._state.mirror("servos", name)
        if len(mirror.look()):
            mirror.put(value, self._rows if rows is None else rows)

    def _shown(self, values: np.ndarray) -> Any:
        return values if self._model.batched else float(values[0])

    def _advice(self, name: str) -> str:
        return ELSEWHERE.get(name, "").format(name=self.name)
