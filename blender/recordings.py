# SPDX-License-Identifier: GPL-3.0-or-later
"""Recordings as rattleback writes them (.npz), read by the names of their columns.

time, columns, and one array for each quantity; a column is called NAME.QUANTITY.COMPONENT [unit]
"""

from __future__ import annotations

from typing import Any

import numpy as np

AXES = {"origin": "xyz", "position": "xyz", "velocity": "xyz", "reaction_force": "xyz", "orientation": "xyzw"}


class Recording:
    """A recording.

    Attributes:
        time: Times of the samples (samples,) [s].
        tracks: Arrays (samples, components) by owner and quantity; the owner is a body or a joint.

    Args:
        path: The file.

    Raises:
        ValueError: It is no recording of rattleback.
    """

    def __init__(self, path: str) -> None:
        try:
            with np.load(path, allow_pickle=False) as file:
                arrays = {name: file[name] for name in file.files}
        except (OSError, ValueError) as error:
            raise ValueError(f"The recording {path!r} cannot be read: {error}") from None
        if "time" not in arrays or "columns" not in arrays:
            raise ValueError(
                f"{path!r} is no recording of rattleback; `rattleback run SCENE --record FILE.npz` writes one."
            )
        self.time = arrays["time"]
        self.tracks: dict[tuple[str, str], Any] = {}
        self._read(arrays)

    def bodies(self) -> list[str]:
        """Names of the bodies whose motion is in it."""
        return [owner for owner, name in self.tracks if name == "orientation"]

    def get(self, owner: str, name: str) -> Any:
        """An array (samples, components), or None."""
        return self.tracks.get((owner, name))

    def _read(self, arrays: dict[str, Any]) -> None:
        values = {str(column).split(" [")[0]: index for index, column in enumerate(arrays["columns"])}
        table = _table(arrays)
        for label in values:
            stem, _, axis = label.rpartition(".")
            owner, _, name = stem.rpartition(".")
            if axis == "x" and name in AXES and owner:
                columns = [values.get(f"{stem}.{letter}", -1) for letter in AXES[name]]
                if min(columns) > 0:
                    self.tracks[owner.removeprefix("world_0."), name] = table[:, columns]


def _table(arrays: dict[str, Any]) -> Any:
    """All columns side by side, in the order of their names."""
    count = len(arrays["time"])
    parts = [array.reshape(count, -1) for name, array in arrays.items() if name not in ("time", "columns")]
    table = np.concatenate([arrays["time"][:, None], *parts], axis=1).astype(np.float64)
    if table.shape[1] != len(arrays["columns"]):
        raise ValueError("The recording names other columns than it has; record each quantity once.")
    return table


def turned(quaternions: Any, vectors: Any) -> Any:
    """Vectors turned by quaternions x, y, z, w; (samples, 4) and (3,) or (samples, 3)."""
    u, w = quaternions[:, :3], quaternions[:, 3:]
    arms = np.broadcast_to(vectors, u.shape)
    return arms + 2.0 * np.cross(u, np.cross(u, arms) + w * arms)


def product(first: Any, second: Any) -> Any:
    """Products of quaternions x, y, z, w; (samples, 4) and (4,)."""
    a, b = np.broadcast_arrays(first, second)
    u, v, p, q = a[:, :3], b[:, :3], a[:, 3:], b[:, 3:]
    vector = p * v + q * u + np.cross(u, v)
    return np.concatenate([vector, p * q - np.sum(u * v, axis=1, keepdims=True)], axis=1)


def smooth(quaternions: Any) -> Any:
    """The same turns with signs that never jump."""
    found = quaternions.copy()
    sign = np.where(np.sum(found[1:] * found[:-1], axis=1) < 0.0, -1.0, 1.0)
    found[1:] *= np.cumprod(sign)[:, None]
    return found
