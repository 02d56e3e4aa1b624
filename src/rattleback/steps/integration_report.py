"""What the report says of the motion of the bodies: its largest error, at which body, and why it is too large.

The errors are those of the integrator, of the trees of reduced coordinates, or of a step of high order.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from rattleback.core import arrays
from rattleback.core.choice import name_of
from rattleback.core.mirror import seen
from rattleback.integrators import MENU
from rattleback.model.step_context import UNSETTLED
from rattleback.steps.symmetric.symmetric_step import JOINTS_LOST

if TYPE_CHECKING:
    from rattleback.model.step_context import StepContext


@dataclass(frozen=True)
class IntegrationReport:
    """What there is to tell of.

    Attributes:
        context: What the step works on.
        integrator: How free bodies move.
        velocity_tolerance: Tolerance of the velocities of joints [m/s, rad/s].
        meets_joints: Whether forces look at velocities that joints have a say in.
        trees: How trees move, a ``reduced.midpoint.tree_motion.TreeMotion``; None without.
        symmetric: A step of high order, or the implicit joint method, with its name; None without.
    """

    context: StepContext
    integrator: Any
    velocity_tolerance: float
    meets_joints: bool
    trees: Any
    symmetric: tuple[str, Any] | None

    def summary(self) -> dict[str, Any]:
        """The worst error since the call began, where, and why it is too large if it is."""
        model = self.context.model
        errors, iterations, trouble = (seen(array) for _, array in arrays.each(self.context.worst))
        worst, off = int(np.argmax(errors)), int(np.argmax(np.where(trouble == trouble.max(), errors, -1.0)))
        return {
            "integration_error": float(errors[worst]),
            "integration_tolerance": self._tolerance(),
            "iterations": int(iterations.max()),
            "worst_body": model.locate(worst)[0] if errors[worst] > 0.0 else "",
            "reason": self._reason(off, int(trouble[off]), float(errors[off])),
        }

    def _tolerance(self) -> float:
        if self.symmetric is not None:
            return float(self.symmetric[1].tolerance or 0.0)
        tolerance = float(self.integrator.tolerance)
        if self.meets_joints:
            tolerance = max(tolerance, self.velocity_tolerance)
        return tolerance if self.trees is None else max(tolerance, float(self.trees.goal.tolerance))

    def _reason(self, body: int, trouble: int, error: float) -> str:
        model = self.context.model
        name, world = model.locate(body)
        where = f"{name!r} of world {world}" if model.batched else f"{name!r}"
        if not trouble:
            return ""
        if self.symmetric is not None:
            return self._reason_of_step(where, f" of world {world}" if model.batched else "", trouble, error)
        if self.trees is not None and body % len(model.names) in self.trees.found.bodies:
            return str(self.trees.reason(where, error))
        if trouble == int(UNSETTLED):
            return (
                f"Forces that depend on velocity and the joints do not settle: their last change on body {where} was "
                f"{error:.3g} m/s or rad/s, more than the velocity_tolerance of "
                f"{self.velocity_tolerance:.3g}; a shorter time_step or less damping help."
            )
        return (
            f"The integrator {name_of(self.integrator, MENU)!r} left an error of {error:.3g} at body {where}, above "
            f"its tolerance of {self.integrator.tolerance:.3g}; a shorter time_step helps."
        )

    def _reason_of_step(self, where: str, world: str, trouble: int, error: float) -> str:
        """The same where the step is one of high order or implicit."""
        name, step = self.symmetric or ("", self.integrator)
        if hasattr(step, "jacobian"):
            return (
                f"The implicit step left a change of {error:.3g} at body {where}, above its tolerance of "
                f"{step.tolerance:.3g}, after {step.max_iterations} iterations; a shorter time_step, jacobian='exact' "
                "or more max_iterations help."
            )
        if trouble == int(JOINTS_LOST):
            return (
                f"step={name!r} did not find impulses that hold the joints{world} at the end of a step, in which "
                "bodies stayed where they were; a shorter time_step or a tolerance helps, or step='impulse' where "
                "joints are apart."
            )
        if trouble == int(UNSETTLED):
            return (
                f"step={name!r} did not find velocities that agree with the forces that depend on them{world}, and "
                "bodies stayed where they were; a shorter time_step or less damping help."
            )
        return (
            f"step={name!r} left an error of {error:.3g} at body {where}, above its tolerance of {step.tolerance:.3g}; "
            "more max_substeps or a shorter time_step help."
        )
