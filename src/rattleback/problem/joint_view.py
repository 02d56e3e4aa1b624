"""One joint of a running simulation: its coordinates, their rates, what it carries, and what it takes to break it."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from rattleback.core import checks
from rattleback.core.errors import InputError
from rattleback.core.mirror import Mirror
from rattleback.core.sealed import sealed
from rattleback.joints import VelocityJoint
from rattleback.model.breaks import LIMITS, as_limit
from rattleback.model.coordinates import SLIDE, TURN
from rattleback.problem.joint_coordinates import JointCoordinates
from rattleback.problem.preview import Preview


@sealed
class JointView:
    """Joint of a running simulation; numbers, or one entry per world when worlds were asked for.

    Args:
        source: Gives the joints of the step as it is recorded now.
        coordinates: The free coordinates of the simulation.
        name: Name of the joint.
    """

    _kind = "joint"

    def __init__(self, source: Callable[[], Preview], coordinates: JointCoordinates, name: str) -> None:
        self.name, self._source, self._coordinates = name, source, coordinates
        self._index, self._places = source().problem.names.index(name), coordinates.places(name)
        self._batched = source().context.model.batched
        self._seen: Any = None

    @property
    def _preview(self) -> Preview:
        return self._source()

    @property
    def _joint(self) -> Any:
        return self._preview.context.model.scene.joints[self.name]

    @property
    def angle(self) -> Any:
        """Turn of B against A about the axis, counted on over full turns [rad]; zero at the start."""
        return self._measured(self._place(TURN, "angle"), 0)

    @property
    def position(self) -> Any:
        """Way of B's anchor from A's along the axis [m]."""
        return self._measured(self._place(SLIDE, "position"), 0)

    @property
    def velocity(self) -> Any:
        """Rate of the free coordinate: of the angle [rad/s], or of the position [m/s] where there is no angle."""
        turn = self._places.get(TURN)
        return self._measured(self._place(SLIDE, "velocity") if turn is None else turn, 1)

    @property
    def torque(self) -> Any:
        """Torque about the axis on B, and its opposite on A, in every step until it is written again [N m]."""
        return self._effort(self._place(TURN, "torque"))

    @torque.setter
    def torque(self, value: Any) -> None:
        self._set_effort(TURN, "torque", value)

    @property
    def force(self) -> Any:
        """Force along the axis on B, and its opposite on A, in every step until it is written again [N]."""
        return self._effort(self._place(SLIDE, "force"))

    @force.setter
    def force(self, value: Any) -> None:
        self._set_effort(SLIDE, "force", value)

    @property
    def reaction_force(self) -> Any:
        """Force of the joint on B in the last step, world frame (3,) [N]."""
        return self._per_second("impulse")

    @property
    def reaction_torque(self) -> Any:
        """Torque of the joint on B about its anchor in the last step, world frame (3,) [N m]."""
        return self._per_second("couple")

    @property
    def broken(self) -> Any:
        """Whether it is broken, and exerts nothing. Writing True breaks it, False mends it; both wake its bodies."""
        flags = self._row(self._preview.context.state.breaks.broken) != 0.0
        return flags if self._preview.context.model.batched else bool(flags[0])

    @broken.setter
    def broken(self, value: Any) -> None:
        what, state = f"The broken written to joint {self.name!r}", self._preview.context.state
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

    def _place(self, freedom: str, what: str) -> int:
        """Place of a coordinate among those of a world."""
        place = self._places.get(freedom)
        if place is not None:
            return place
        kind, other = type(self._joint).__name__, "force" if what == "torque" else "torque"
        if what not in ("torque", "force"):
            raise InputError(f"Joint {self.name!r} is a {kind}, which has no {what} of its own.")
        has = (
            f"it has a {other}" if self._places else f"write applied_{what} of its bodies, such as sim[{self._body!r}]"
        )
        raise InputError(f"Joint {self.name!r} is a {kind}, which has no one axis for a {what}; {has}.")

    @property
    def _body(self) -> str:
        """A body it holds."""
        joint, world = self._joint, self._preview.context.model.scene.world.name
        return str(joint.a if joint.b == world else joint.b)

    def _measured(self, place: int, which: int) -> Any:
        found = self._coordinates.now()[which]
        return found[:, place].copy() if self._batched else float(found[0, place])

    def _effort(self, place: int) -> Any:
        found = self._coordinates.state.now("torque")[..., place]
        return np.array(found, dtype=np.float64) if self._batched else float(found)

    def _set_effort(self, freedom: str, what: str, value: Any) -> None:
        self._coordinates.state.write(
            "torque", (..., self._place(freedom, what)), value, f"The {what} written to joint {self.name!r}"
        )

    def _advice(self, name: str) -> str:
        driven = [what for freedom, what in ((TURN, "torque"), (SLIDE, "force")) if freedom in self._places]
        if name in ("applied_torque", "applied_force", "effort", "torque", "force") and driven:
            return f"Write its {' or its '.join(driven)}; applied_force and applied_torque are of bodies."
        return ""

    def _row(self, array: Any) -> np.ndarray:
        """Entries of this joint in every world."""
        return np.array(array.numpy()[self._index :: len(self._preview.problem.names)], dtype=np.float64)

    def _per_second(self, name: str) -> Any:
        """What impulses of the last step are as forces; before the first step there are none."""
        preview = self._preview
        if preview is not self._seen:
            self._seen, arrays = preview, (preview.reactions.impulse, preview.reactions.couple)
            self._carried = dict(zip(("impulse", "couple"), map(Mirror, arrays), strict=True))
            self._lengths = Mirror(preview.status.time_step)
        own = self._carried[name].look()[self._index :: len(preview.problem.names)].astype(np.float64)
        step = self._lengths.look().astype(np.float64)[:, None]
        return self._shown(np.divide(own, step, out=np.zeros_like(own), where=step > 0.0))

    def _write(self, name: str, values: Any, where: Any = True) -> None:
        """Write entries of this joint, of all worlds or of some."""
        array = getattr(self._preview.context.state.breaks, name)
        flat = np.array(array.numpy())
        own = flat[self._index :: len(self._preview.problem.names)]
        np.copyto(own, values, where=where, casting="unsafe")
        array.assign(flat)

    def _entries(self, value: Any, what: str, kind: str) -> list[Any]:
        """A value for every world: one for all, or a list of them."""
        model = self._preview.context.model
        if np.ndim(value) == 0:
            return [value] * model.worlds
        if model.batched and np.shape(value) == (model.worlds,):
            return list(value)
        wanted = f"{kind}, or {model.worlds} of them" if model.batched else kind
        raise InputError(f"{what} has shape {np.shape(value)}; it must be {wanted}.")

    def _limit(self, option: str) -> Any:
        found = self._row(getattr(self._preview.context.state.breaks, LIMITS[option]))
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
        preview.context.state.check_current(f"The {name} written to joint {self.name!r}")
        preview.context.state.send()
        for scene in preview.context.model.scenes.scenes:
            scene.renew({}, {self.name: replace(scene.joints[self.name], **{name: value})}, {})
        rows, first = changed.rows(), self._row(preview.problem.joints.first).astype(np.int64)
        _put(preview.problem.definitions.rate, first[:, None] + np.arange(len(rows)), [row.rate for row in rows])
        drives = any(row.rate != 0.0 for row in rows)
        _put(preview.problem.joints.drives, slice(self._index, None, len(preview.problem.names)), drives)
        if preview.context.state.waker is not None:
            self._wake()

    def _wake(self, worlds: Any = slice(None)) -> None:
        """The bodies of the joint wake, in all worlds or in some."""
        sides = (getattr(self._preview.problem.joints, f"body_{side}") for side in "ab")
        rows = np.concatenate([self._row(bodies)[worlds] for bodies in sides]).astype(np.int64)
        self._preview.context.state.wake(rows[rows >= 0])

    def _shown(self, values: np.ndarray) -> Any:
        if self._batched:
            return values
        return values[0] if values.ndim > 1 else float(values[0])


def _put(array: Any, rows: Any, values: Any) -> None:
    """Write entries of a device array."""
    flat = np.array(array.numpy())
    flat[rows] = values
    array.assign(flat)
