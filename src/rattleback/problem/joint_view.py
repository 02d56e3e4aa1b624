"""One joint of a running simulation: its coordinates, their rates, what it carries, and what it takes to break it."""

from dataclasses import replace
from typing import Any

import numpy as np

from rattleback.core import checks
from rattleback.core.errors import InputError
from rattleback.joints import VelocityJoint
from rattleback.maths import rotation
from rattleback.model.breaks import LIMITS, as_limit
from rattleback.model.measure import worlds_first
from rattleback.problem.preview import Preview


class JointView:
    """Joint of a running simulation; numbers, or one entry per world when worlds were asked for.

    Args:
        preview: The joints of the simulation.
        name: Name of the joint.
    """

    def __init__(self, preview: Preview, name: str) -> None:
        self.name, self._preview = name, preview
        self._index = preview.problem.names.index(name)

    @property
    def _joint(self) -> Any:
        return self._preview.bench.model.scene.joints[self.name]

    @property
    def angle(self) -> Any:
        """Turn of B against A about the axis, counted on over full turns [rad]; zero at the start."""
        self._needs("turn_z", "angle")
        return self._shown(self._row(self._preview.bench.state.joints.angle))

    @property
    def position(self) -> Any:
        """Way of B's anchor from A's along the axis [m]."""
        self._needs("slide_z", "position")
        _, axis, way = self._geometry()
        return self._shown((way * axis).sum(axis=-1))

    @property
    def velocity(self) -> Any:
        """Rate of the free coordinate: of the angle [rad/s], or of the position [m/s] where there is no angle."""
        _, axis, way = self._geometry()
        a, b = (self._body(side) for side in "ab")
        turning = ((b["angular_velocity"] - a["angular_velocity"]) * axis).sum(axis=-1)
        if self._has("turn_z"):
            return self._shown(turning)
        self._needs("slide_z", "velocity")
        rate = self._anchor_velocity("b") - self._anchor_velocity("a") - np.cross(a["angular_velocity"], way)
        return self._shown((rate * axis).sum(axis=-1))

    @property
    def reaction_force(self) -> Any:
        """Force of the joint on B in the last step, world frame (3,) [N]."""
        return self._shown(self._per_second(self._preview.reactions.impulse))

    @property
    def reaction_torque(self) -> Any:
        """Torque of the joint on B about its anchor in the last step, world frame (3,) [N m]."""
        return self._shown(self._per_second(self._preview.reactions.couple))

    @property
    def broken(self) -> Any:
        """Whether it is broken, and exerts nothing. Writing True breaks it, False mends it; both wake its bodies."""
        flags = self._row(self._preview.bench.state.breaks.broken) != 0.0
        return flags if self._preview.bench.model.batched else bool(flags[0])

    @broken.setter
    def broken(self, value: Any) -> None:
        what, state = f"The broken written to joint {self.name!r}", self._preview.bench.state
        wanted = np.array([checks.flag(entry, what) for entry in self._entries(value, what, "True or False")])
        state.check_current(what)
        state.send()
        changed = wanted != np.atleast_1d(self.broken)
        for name, new in (("broken", wanted), ("time", wanted * state.clock.time.numpy()), ("force", 0), ("torque", 0)):
            self._write(name, new, changed)
        self._wake(changed)
        if changed.any():
            state.note_written(np.flatnonzero(changed))

    @property
    def breaking_force(self) -> Any:
        """Force above which it breaks [N], infinite for none; may be written, for every world or for all at once."""
        return self._limit("breaking_force")

    @breaking_force.setter
    def breaking_force(self, value: Any) -> None:
        self._set_limit("breaking_force", value)

    @property
    def breaking_torque(self) -> Any:
        """Torque above which it breaks [N m], infinite for none; may be written as well."""
        return self._limit("breaking_torque")

    @breaking_torque.setter
    def breaking_torque(self, value: Any) -> None:
        self._set_limit("breaking_torque", value)

    @property
    def linear(self) -> tuple[float | None, ...]:
        """Velocities a VelocityJoint keeps along the axes of A's frame (3,) [m/s], None where free; may be written."""
        return self._rates("linear")

    @linear.setter
    def linear(self, value: Any) -> None:
        self._set_rates("linear", value)

    @property
    def angular(self) -> tuple[float | None, ...]:
        """Angular velocities it keeps about those axes (3,) [rad/s], None where free; may be written."""
        return self._rates("angular")

    @angular.setter
    def angular(self, value: Any) -> None:
        self._set_rates("angular", value)

    def __repr__(self) -> str:
        return f"<{type(self._joint).__name__} {self.name!r} between {self._joint.a!r} and {self._joint.b!r}>"

    def _needs(self, freedom: str, what: str) -> None:
        if not self._has(freedom):
            raise InputError(f"Joint {self.name!r} is a {type(self._joint).__name__}, which has no {what} of its own.")

    def _has(self, freedom: str) -> bool:
        """Whether this is the only freedom of its kind, so that one number tells it."""
        kind = freedom.split("_")[0]
        return [name for name in self._joint.freedoms if name.startswith(kind)] == [freedom]

    def _row(self, array: Any) -> np.ndarray:
        """Entries of this joint in every world."""
        return np.array(array.numpy()[self._index :: len(self._preview.problem.names)], dtype=np.float64)

    def _per_second(self, impulses: Any) -> np.ndarray:
        """What impulses of the last step are as forces; before the first step there are none."""
        step = np.array(self._preview.effort.time_step.numpy(), dtype=np.float64)[:, None]
        return np.divide(self._row(impulses), step, out=np.zeros((len(step), 3)), where=step > 0.0)

    def _write(self, name: str, values: Any, where: Any = True) -> None:
        """Write entries of this joint, of all worlds or of some."""
        array = getattr(self._preview.bench.state.breaks, name)
        flat = np.array(array.numpy())
        own = flat[self._index :: len(self._preview.problem.names)]
        np.copyto(own, values, where=where, casting="unsafe")
        array.assign(flat)

    def _entries(self, value: Any, what: str, kind: str) -> list[Any]:
        """A value for every world: one for all, or a list of them."""
        model = self._preview.bench.model
        if np.ndim(value) == 0:
            return [value] * model.worlds
        if model.batched and np.shape(value) == (model.worlds,):
            return list(value)
        wanted = f"{kind}, or {model.worlds} of them" if model.batched else kind
        raise InputError(f"{what} has shape {np.shape(value)}; it must be {wanted}.")

    def _limit(self, option: str) -> Any:
        found = self._row(getattr(self._preview.bench.state.breaks, LIMITS[option]))
        return self._shown(np.where(found > 0.0, found, np.inf))

    def _set_limit(self, option: str, value: Any) -> None:
        what = f"The {option} written to joint {self.name!r}"
        if not self._preview.breaks.can:
            raise InputError(f"{what} has no effect: no joint of this scene breaks; give one a {option}= in the scene.")
        entries = self._entries(value, what, "a number or None")
        limits = [None if entry is None or entry == np.inf else checks.positive(entry, what) for entry in entries]
        self._write(LIMITS[option], [as_limit(limit) for limit in limits])

    def _rates(self, name: str) -> tuple[float | None, ...]:
        if not isinstance(self._joint, VelocityJoint):
            kind = type(self._joint).__name__
            raise InputError(f"Joint {self.name!r} is a {kind}, which has no rates; only a VelocityJoint has {name}.")
        rates: tuple[float | None, ...] = getattr(self._joint, name)
        return rates

    def _set_rates(self, name: str, value: Any) -> None:
        """Rates of all worlds from the next step on, also in the scene of the simulation."""
        before, preview = self._rates(name), self._preview
        try:
            changed = replace(self._joint, **{name: value})
        except InputError as error:
            raise InputError(f"Joint {self.name!r}: {error}") from None
        for axis, was, new in zip("xyz", before, getattr(changed, name), strict=True):
            if (was is None) != (new is None):
                free, said = ("free", "a number") if was is None else ("kept at a rate", "None")
                raise InputError(
                    f"The {name} written to joint {self.name!r} has {said} for {axis}, which is {free}; what is free "
                    "is said in the scene, see sim.rebuild."
                )
        preview.bench.state.check_current(f"The {name} written to joint {self.name!r}")
        preview.bench.state.send()
        preview.bench.model.scene.renew({}, {self.name: changed}, {})
        rows, first = changed.rows(), self._row(preview.problem.joints.first).astype(np.int64)
        _put(preview.problem.letters.rate, first[:, None] + np.arange(len(rows)), [row.rate for row in rows])
        drives = any(row.rate != 0.0 for row in rows)
        _put(preview.problem.joints.drives, slice(self._index, None, len(preview.problem.names)), drives)
        if preview.bench.state.waker is not None:
            self._wake()

    def _wake(self, worlds: Any = slice(None)) -> None:
        """The bodies of the joint wake, in all worlds or in some."""
        sides = (getattr(self._preview.problem.joints, f"body_{side}") for side in "ab")
        rows = np.concatenate([self._row(bodies)[worlds] for bodies in sides]).astype(np.int64)
        self._preview.bench.state.wake(rows[rows >= 0])

    def _body(self, side: str) -> dict[str, np.ndarray]:
        model, state = self._preview.bench.model, self._preview.bench.state
        name = getattr(self._joint, side)
        if name == model.scene.world.name:
            still = {key: np.zeros((1, 3)) for key in ("position", "velocity", "angular_velocity")}
            return {**still, "orientation": np.array([[0.0, 0.0, 0.0, 1.0]])}
        row = model.index(name)
        keys = ("position", "orientation", "velocity", "angular_velocity")
        return {key: worlds_first(model, state.picture(key))[:, row] for key in keys}

    def _lever(self, side: str) -> np.ndarray:
        anchor = self._row(getattr(self._preview.problem.joints, f"anchor_{side}"))
        return rotation.rotate(self._body(side)["orientation"], anchor)

    def _anchor_velocity(self, side: str) -> np.ndarray:
        body = self._body(side)
        turned: np.ndarray = body["velocity"] + np.cross(body["angular_velocity"], self._lever(side))
        return turned

    def _geometry(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Anchor of A, the axis and the way from A's anchor to B's, in the world."""
        at = {side: self._body(side)["position"] + self._lever(side) for side in "ab"}
        frame = rotation.multiply(self._body("a")["orientation"], self._row(self._preview.problem.joints.turn_a))
        return at["a"], rotation.rotate(frame, np.array([0.0, 0.0, 1.0])), at["b"] - at["a"]

    def _shown(self, values: np.ndarray) -> Any:
        if self._preview.bench.model.batched:
            return values
        return values[0] if values.ndim > 1 else float(values[0])


def _put(array: Any, rows: Any, values: Any) -> None:
    """Write entries of a device array."""
    flat = np.array(array.numpy())
    flat[rows] = values
    array.assign(flat)
