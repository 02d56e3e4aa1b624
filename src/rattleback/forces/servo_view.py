"""One servo of a running simulation: its target and its controller to change between steps, and what it does."""

from collections.abc import Callable
from typing import Any

import numpy as np

from rattleback.core import checks
from rattleback.core.errors import InputError, UnknownName, did_you_mean, listing
from rattleback.core.sealed import sealed
from rattleback.forces.schedule import Schedule
from rattleback.model.model import Model
from rattleback.model.row_counts import servo_places
from rattleback.model.state import State
from rattleback.model.worlds.live import adopt, changed, entries_of, world_values

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

    ``gain``, ``reset_time``, ``rate_time`` and ``limit`` may be written, one for all worlds or one for each; they then
    hold in the scenes of the simulation, too. Where worlds differ, what is read has one for each.

    Args:
        model: The model.
        state: The state it looks into.
        name: Name of the servo among the forces of the scene.
        servo: Gives the servo as it is compiled now; without it, its controller cannot be written.
    """

    _kind = "servo"

    def __init__(self, model: Model, state: State, name: Any, servo: Callable[[], Any] = lambda: None) -> None:
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
        time, targets = self._state.clock.time.numpy(), [force.target for force in self._versions]
        own = [target(t) if isinstance(target, Schedule) else target for t, target in zip(time, targets, strict=True)]
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
    def gain(self) -> Any:
        """K_r, effort per error [N m or N per unit of the error]."""
        return self._number("gain")

    @gain.setter
    def gain(self, value: Any) -> None:
        self._tune("gain", value)

    @property
    def reset_time(self) -> Any:
        """T_N of the integral part [s]; infinity for none."""
        return self._number("reset_time")

    @reset_time.setter
    def reset_time(self, value: Any) -> None:
        self._tune("reset_time", value)

    @property
    def rate_time(self) -> Any:
        """T_V of the differential part [s]; zero for none."""
        return self._number("rate_time")

    @rate_time.setter
    def rate_time(self, value: Any) -> None:
        self._tune("rate_time", value)

    @property
    def limit(self) -> Any:
        """Largest effort, torque [N m] or force [N]; infinity for none."""
        return self._number("limit")

    @limit.setter
    def limit(self, value: Any) -> None:
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

    @property
    def _versions(self) -> list[Any]:
        """The servo of every world."""
        return [self._model.scenes.of(world).forces[self.name] for world in range(self._model.worlds)]

    def _number(self, name: str) -> Any:
        """A number of the controller, or one for each world where they differ."""
        if self._model.scenes.varied:
            return world_values([getattr(force, name) for force in self._versions], lambda v: self._tune(name, v))
        return float(getattr(self._force, name))

    def _tune(self, name: str, value: Any) -> None:
        """Another value for a number of the controller, or one for each world."""
        what = f"The {name} of servo {self.name!r}"
        self._state.check_current(what)
        if self._servo() is None:
            raise InputError(f"{what} can be written through sim.servo({self.name!r}) only.")
        values = entries_of(self._model, value, (), f"{name} of servo {self.name!r}")
        try:
            scenes = changed(self._model, {(self.name, name): values})
        except InputError as error:
            raise InputError(f"Servo {self.name!r}: {error}") from None
        if any(scene.forces[self.name].stretches != self._force.stretches for scene in scenes):
            raise InputError(
                f"{what} switches its integral over a window on or off; that is said in the scene: "
                f"scene.change_force({self.name!r}, {name}={value!r}) and sim.rebuild(scene)."
            )
        adopt(self._model, scenes, anew=False)
        self._servo().tune(self._force)

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
