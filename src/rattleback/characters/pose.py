"""Poses: where every joint of a skeleton is against its parent, one pose or a stack of them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from rattleback.core.errors import InputError
from rattleback.core.sealed import sealed
from rattleback.maths import rotation

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]


@sealed
@dataclass(frozen=True)
class Pose:
    """One pose of a skeleton, or a stack of them along leading axes.

    Args:
        rotation: Orientations of the joints against their parents, quaternions x, y, z, w (..., joints, 4).
        translation: Their places in the frames of their parents (..., joints, 3), in the unit of length of the file.
        scale: Scales along their own axes (..., joints, 3).
    """

    rotation: Any
    translation: Any
    scale: Any

    def __post_init__(self) -> None:
        """Keep arrays, with leading axes in common."""
        arrays = {
            name: np.asarray(getattr(self, name), dtype=np.float64) for name in ("rotation", "translation", "scale")
        }
        for (name, array), width in zip(arrays.items(), (4, 3, 3), strict=True):
            if array.ndim < 2 or array.shape[-1] != width:
                raise InputError(
                    f"The {name} of a pose has shape {array.shape}; it must be (..., joints, {width}), one row "
                    "for each joint of the skeleton."
                )
            if not np.isfinite(array).all():
                raise InputError(f"The {name} of a pose has an entry that is not finite.")
        try:
            shape = np.broadcast_shapes(*(array.shape[:-1] for array in arrays.values()))
        except ValueError:
            shapes = ", ".join(f"{name} {array.shape}" for name, array in arrays.items())
            raise InputError(f"The parts of a pose do not fit each other: {shapes}.") from None
        for name, array in arrays.items():
            object.__setattr__(self, name, np.broadcast_to(array, (*shape, array.shape[-1])))

    @property
    def shape(self) -> tuple[int, ...]:
        """The leading axes; empty for one pose."""
        return tuple(self.rotation.shape[:-2])

    @property
    def count(self) -> int:
        """Number of joints."""
        return int(self.rotation.shape[-2])

    def __getitem__(self, key: Any) -> Pose:
        """One pose of a stack, or some of them."""
        if not self.shape:
            raise InputError("This is a single pose; only a stack of poses can be indexed.")
        index = (*(key if isinstance(key, tuple) else (key,)), ...)
        parts = (self.rotation, self.translation, self.scale)
        return Pose(*(part[(*index, slice(None), slice(None))] for part in parts))

    def __len__(self) -> int:
        """Number of poses of a stack."""
        if not self.shape:
            raise InputError("This is a single pose; only a stack of poses has a length.")
        return self.shape[0]

    def turned(self, joint: int, turn: Any) -> Pose:
        """The pose with one joint turned further, about the axes of the joint itself.

        Args:
            joint: Its number in the skeleton.
            turn: Quaternion x, y, z, w (..., 4).
        """
        found = np.array(self.rotation)
        found[..., joint, :] = rotation.multiply(found[..., joint, :], turn)
        return replace(self, rotation=found)

    def matrices(self) -> Floats:
        """The frames of the joints in those of their parents (..., joints, 4, 4)."""
        found = np.zeros((*self.rotation.shape[:-1], 4, 4))
        found[..., :3, :3] = rotation.matrix_from_quaternion(self.rotation) * self.scale[..., None, :]
        found[..., :3, 3], found[..., 3, 3] = self.translation, 1.0
        return found


def slerp(first: Floats, second: Floats, part: Any) -> Floats:
    """Unit quaternions (..., 4) on the shorter arc from one to another.

        q = (sin((1 − t) θ) q₀ + sin(t θ) q₁) / sin θ,   cos θ = |q₀ · q₁|

    Args:
        first: Quaternions at part 0 (..., 4).
        second: Quaternions at part 1 (..., 4).
        part: How far to go (...).
    """
    t = np.asarray(part, dtype=np.float64)[..., None]
    cosine = (first * second).sum(axis=-1, keepdims=True)
    near = np.where(cosine < 0.0, -second, second)
    angle = np.arccos(np.clip(np.abs(cosine), 0.0, 1.0))
    # Beside 1e-4 rad the arc is its chord to 1e-9 of its length.
    wide = angle > 1e-4
    sine = np.where(wide, np.sin(angle), 1.0)
    before = np.where(wide, np.sin((1.0 - t) * angle) / sine, 1.0 - t)
    after = np.where(wide, np.sin(t * angle) / sine, t)
    found = before * first + after * near
    unit: Floats = found / np.linalg.norm(found, axis=-1, keepdims=True)
    # Both ends stay as they are, to the bit.
    return np.where(t == 0.0, first, np.where(t == 1.0, second, unit))
