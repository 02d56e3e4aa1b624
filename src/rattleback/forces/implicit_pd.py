"""A PD controller of a free coordinate of a joint, inside the constraint solve.

    λ = −K (q + h w⁺ − q*(t + h)) − B (w⁺ − ẇ*)

q coordinate, w⁺ its rate at the end of the step, q* target and ẇ* its rate, K and B the gains, h step. It is an
``ImplicitSpring`` whose target moves and whose damping is that of the error: it follows a target that moves evenly
without lag.

    each step: the targets at its end; a row that yields, solved with all joints and contacts
Cost: one more row of its joint. The same controller outside, such as ``Servo``, sees the state of the start of a step
and is unstable from h² K + 2 h B = 4 M on; with a delay of one step from h B = M on, M the inertia it feels. Inside it
is stable for all gains and steps.

Reference: the controllers inside the engine of the lecture notes on physics engines by Hasegawa.
"""

import math
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar

from rattleback.core.sealed import sealed
from rattleback.forces.implicit_spring import check_inside, place_inside, rows_of
from rattleback.forces.inside import Inside, freedom_of
from rattleback.forces.schedule import Schedule
from rattleback.joints.joint import RowSpec


@sealed
@dataclass(frozen=True)
class ImplicitPD:
    """A PD controller on a joint, stable at any gain and step.

    Args:
        joint: Name of the joint, or what ``add_joint`` returned.
        stiffness: K, force [N/m] or torque [N m/rad] for every unit of the error.
        damping: B, force [N s/m] or torque [N m s/rad] for every unit of its rate.
        target: What to aim at [m or rad]: a number, or an ``rb.Schedule`` over time.
        freedom: What it acts along, such as ``"turn_z"`` or ``"slide_z"``; needed where a joint leaves more than one.
        limit: Largest effort [N or N m].
    """

    joint: Any
    _: KW_ONLY
    stiffness: float
    damping: float = 0.0
    target: float | Schedule = 0.0
    freedom: str | None = None
    limit: float = math.inf
    depends_on_velocity: ClassVar[bool] = False
    depends_on_pose: ClassVar[bool] = False
    by_world: ClassVar[bool] = True
    follows: ClassVar[bool] = True

    def __post_init__(self) -> None:
        """Check everything."""
        check_inside(self)

    def placed_in(self, scene: Any, label: str) -> "ImplicitPD":
        """The controller as a scene keeps it, with the name of its joint."""
        found: ImplicitPD = place_inside(self, scene, label)
        return found

    def drive_rows(self, scene: Any, label: str) -> dict[str, list[RowSpec]]:
        """The rows it adds to its joint."""
        return {self.joint: rows_of(self, scene, label)}

    def compile(self, model: Any) -> Inside:
        """Bind to a model."""
        freedom = freedom_of(model.scene.joints[self.joint], self.freedom, type(self).__name__, self.joint)
        return Inside(model, self, freedom)
