"""What the report says of the integrator of a step: the worst error, at which body, and why if it is too large."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rattleback.core import arrays
from rattleback.core.choice import name_of
from rattleback.core.mirror import seen
from rattleback.integrators import MENU
from rattleback.model.step_context import UNSETTLED

if TYPE_CHECKING:
    from rattleback.recorded_step import RecordedStep


def integrated(step: RecordedStep) -> dict[str, Any]:
    """What the report says of the motion of the bodies."""
    errors, iterations, trouble = (seen(array) for _, array in arrays.each(step.context.worst))
    worst, off = int(np.argmax(errors)), int(np.argmax(np.where(trouble == trouble.max(), errors, -1.0)))
    name, tolerance = step.model.locate(worst)[0], float(step.methods.integrator.tolerance)
    if step.velocities is not None:
        tolerance = max(tolerance, step.methods.tolerances["velocity_tolerance"])
    if step.implicit is not None:
        tolerance = float(step.methods.joints.tolerance)
    if step.trees is not None:
        tolerance = max(tolerance, float(step.trees.goal.tolerance))
    return {
        "integration_error": float(errors[worst]),
        "integration_tolerance": tolerance,
        "iterations": int(iterations.max()),
        "worst_body": name if errors[worst] > 0.0 else "",
        "reason": _reason(step, off, int(trouble[off]), float(errors[off])),
    }


def _reason(step: RecordedStep, body: int, trouble: int, error: float) -> str:
    """Why the error at a body is too large; empty where it is not."""
    name, world = step.model.locate(body)
    where = f"{name!r} of world {world}" if step.model.batched else f"{name!r}"
    integrator = step.methods.integrator
    if trouble and step.trees is not None and body % len(step.model.names) in step.trees.found.bodies:
        return step.trees.reason(where, error)
    if trouble and step.implicit is not None:
        return (
            f"The implicit step left a change of {error:.3g} at body {where}, above its tolerance of "
            f"{step.methods.joints.tolerance:.3g}, after {step.methods.joints.max_iterations} iterations; a shorter "
            "time_step, jacobian='exact' or more max_iterations help."
        )
    if trouble == int(UNSETTLED):
        return (
            f"Forces that depend on velocity and the joints do not settle: their last change on body {where} was "
            f"{error:.3g} m/s or rad/s, more than the velocity_tolerance of "
            f"{step.methods.tolerances['velocity_tolerance']:.3g}; a shorter time_step or less damping help."
        )
    return (
        ""
        if not trouble
        else (
            f"The integrator {name_of(integrator, MENU)!r} left an error of {error:.3g} at body {where}, above its "
            f"tolerance of {integrator.tolerance:.3g}; a shorter time_step helps."
        )
    )
