"""What the report says of the joints of a call: the worst errors, where they are, and what helps."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rattleback.core import mirror
from rattleback.core.figures import told_apart

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rattleback.problem.preview import Preview


def summary(preview: Preview, tolerances: Mapping[str, float]) -> dict[str, Any]:
    """The worst errors of the joints, where, and why they are too large if they are."""
    errors, names = preview.errors, preview.problem.names
    found = {name: mirror.seen(getattr(errors, f"worst_{name}")) for name in ("position", "orientation", "velocity")}
    ratios = np.max([found[name] / tolerances[f"{name}_tolerance"] for name in found], axis=0)
    worst = int(np.argmax(ratios))
    world, joint = divmod(worst, len(names))
    said: dict[str, Any] = {f"{name}_error": float(values.max()) for name, values in found.items()}
    said["worst_joint"] = names[joint]
    said["iterations"] = int(mirror.seen(preview.status.most_positions).max())
    redundant = preview.solver.redundant_rows()
    said["redundant_rows"] = int(redundant.sum(axis=1).max())
    said["redundant_joints"] = tuple(names[j] for j in np.flatnonzero(redundant.any(axis=0)))
    if not ratios[worst] <= 1.0:
        where = f" of world {world}" if preview.context.model.batched else ""
        said["reason"] = (
            f"Joint {said['worst_joint']!r}{where} is off by {found['position'][worst]:.3g} m, "
            f"{found['orientation'][worst]:.3g} rad and {found['velocity'][worst]:.3g} m/s after "
            f"{said['iterations']} corrections, {told_apart(ratios[worst], 1.0)[0]} times its tolerance; "
            f"{_advice(preview, worst)}"
        )
    return said


def _advice(preview: Preview, joint: int) -> str:
    first, count = (getattr(preview.problem.joints, name).numpy()[joint] for name in ("first", "count"))
    if preview.problem.rows.goal.numpy()[first : first + count].any():
        return f"it was apart and is pulled together at {preview.limits.speed:g} m/s, the closing_speed."
    return "more max_iterations, a larger budget or a shorter time_step help."
