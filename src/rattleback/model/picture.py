"""Pictures: arrays of the state as users have them in hand, writable until the next step."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rattleback.core.errors import InputError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rattleback.core.mirror import Mirror


class Picture:
    """One array of a state at a moment, and what of it has reached the device.

    Attributes:
        shown: The array.

    Args:
        mirror: The array of the state.
        shape: The shape it is shown in.
    """

    __slots__ = ("_mirror", "_parts", "_sent", "shown")

    def __init__(self, mirror: Mirror, shape: tuple[int, ...]) -> None:
        self._mirror = mirror
        self.shown: NDArray[Any] = mirror.take().reshape(shape)
        self._sent = self.shown.tobytes()
        self._parts: list[NDArray[Any]] = []

    def part(self, index: Any) -> NDArray[Any]:
        """A part of it, which is frozen together with it."""
        found: NDArray[Any] = self.shown[index]
        self._parts.append(found)
        return found

    def written(self) -> NDArray[np.bool_] | None:
        """Which entries were written since they were sent; None for none."""
        if self.shown.tobytes() == self._sent:
            return None
        before = np.frombuffer(self._sent, self.shown.dtype).reshape(self.shown.shape)
        # What is no number differs from everything, so that it is found and refused.
        found: NDArray[np.bool_] = self.shown != before
        return found if found.any() else None

    def send(self) -> None:
        """Bring it to the device."""
        self._mirror.put(self.shown.reshape(self._mirror.look().shape))
        self._sent = self.shown.tobytes()

    def freeze(self) -> None:
        """It is a record of a moment that is past: read-only."""
        for array in (*self._parts, self.shown):
            array.flags.writeable = False


def check_shown(name: str, shown: NDArray[Any]) -> None:
    """Refuse a picture with what cannot be; orientations are brought to length one."""
    flat = shown.reshape(-1, shown.shape[-1])
    if not np.isfinite(flat).all():
        row = int(np.flatnonzero(~np.isfinite(flat).all(axis=-1))[0])
        raise InputError(f"The {name} written is not finite in row {row}; nothing was changed.")
    if name == "orientation":
        length = np.linalg.norm(flat, axis=-1, keepdims=True)
        if (np.abs(length - 1.0) > 1e-6).any():
            raise InputError("An orientation written is not a quaternion of length 1; nothing was changed.")
        flat[...] = np.where(np.abs(length - 1.0) <= 1e-15, flat, flat / length)
