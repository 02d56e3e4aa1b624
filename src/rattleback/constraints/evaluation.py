"""Rows at given frames, on the host: error and Jacobian of every row, for work that is done before a simulation starts.

    e_r,   ė_r = J_r · (v_A, ω_A, v_B, ω_B)

What the formulas are stands in ``row``; here they are evaluated for many rows at once and handed back as NumPy arrays.
"""

import functools
from collections.abc import Iterable
from typing import Any

import numpy as np
import warp as wp

from rattleback.constraints.frame import Frames, Row
from rattleback.constraints.row import KINDS, RowDefinition, row_of
from rattleback.core import device
from rattleback.core.kernel import kernel

SIDES = ("linear_a", "angular_a", "linear_b", "angular_b")


@kernel
def evaluate_rows(
    definitions: wp.array[RowDefinition], joints: wp.array[wp.int32], frames: wp.array[Frames], rows: wp.array[Row]
) -> None:
    """Error and Jacobian of one row."""
    r = wp.tid()
    rows[r] = row_of(definitions[r], frames[joints[r]])


def definitions_of(specs: Iterable[Any]) -> np.ndarray:
    """The definitions of rows, each given by an object with the fields of ``RowDefinition``, its kind by name."""
    specs = list(specs)
    definitions = np.zeros(len(specs), dtype=_numpy_dtype(RowDefinition))
    for name in definitions.dtype.names or ():
        values = [getattr(spec, name) for spec in specs]
        if specs:
            definitions[name] = [KINDS[value] for value in values] if name == "kind" else values
    return definitions


def frames_of(columns: dict[str, np.ndarray]) -> np.ndarray:
    """Frames of joints from columns such as ``turn_a`` and ``way``; a column left out is zero."""
    frames = np.zeros(len(columns["way"]), dtype=_numpy_dtype(Frames))
    for name, column in columns.items():
        frames[name] = column
    return frames


def evaluate(definitions: np.ndarray, joints: np.ndarray, frames: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Rows at given frames.

    Args:
        definitions: What each row is, from :func:`definitions_of` (rows,).
        joints: Which frames each row belongs to (rows,).
        frames: The frames, from :func:`frames_of` (joints,).

    Returns:
        Errors [m or rad], shape (rows,), and Jacobians by the velocity and angular velocity of A and of B, shape
        (rows, 4, 3).
    """
    cpu = _load_kernel()
    rows = wp.zeros(len(definitions), dtype=Row, device=cpu)
    given = [
        wp.array(definitions, dtype=RowDefinition, device=cpu),
        wp.array(joints.astype(np.int32), dtype=wp.int32, device=cpu),
        wp.array(frames, dtype=Frames, device=cpu),
    ]
    wp.launch(evaluate_rows, len(definitions), inputs=given, outputs=[rows], device=cpu)
    found = rows.numpy()
    jacobian = np.stack([found[side] for side in SIDES], axis=1)
    return found["error"].astype(np.float64), jacobian.astype(np.float64)


@functools.cache
def _load_kernel() -> Any:
    """Compile the kernel on first use; returns the device it runs on."""
    cpu = device.find("cpu")
    device.load_kernels([evaluate_rows.module], cpu)
    return cpu


def _numpy_dtype(struct: Any) -> Any:
    return np.dtype(struct.numpy_dtype())
