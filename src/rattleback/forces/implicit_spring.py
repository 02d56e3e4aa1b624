"""A damped spring along a free coordinate of a joint, inside the constraint solve.

    λ = −K (q + h w⁺ − q*) − B w⁺,      V = ½ K (q − q*)²

q coordinate, w⁺ its rate at the end of the step, q* coordinate without load, K stiffness, B damping, h step.

    each step: a row that yields, solved with all joints and contacts; see ``inside`` and ``problem.yielding``
Cost: one more row of its joint. Stable for every K, B and h, where ``TorsionSpring`` needs h² K < 4 M and h B < 2 M, M
the inertia that the coordinate feels; of first order in h, so that a spring that is slow beside the step is damped more
than it says. There take ``TorsionSpring`` or ``Spring``, or short steps.

Reference: the implicit spring-dampers of the lecture notes on physics engines by Hasegawa.
"""

import math
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar

from rattleback.core import checks
from rattleback.core.errors import InputError
from rattleback.core.sealed import sealed
from rattleback.forces.inside import Inside, checked_limit, freedom_of, rows_along
from rattleback.forces.joint_axis import check_joint, named_joint
from rattleback.forces.schedule import Schedule, scheduled
from rattleback.joints.joint import RowSpec


@sealed
@dataclass(frozen=True)
class ImplicitSpring:
    """A damped spring along a free coordinate of a joint, stable at any stiffness and step.

    Args:
        joint: Name of the joint, or what ``add_joint`` returned.
        stiffness: Force [N/m] or torque [N m/rad] for every unit it is strained.
        damping: Force [N s/m] or torque [N m s/rad] for every unit of its rate.
        target: Coordinate without load [m or rad], zero at the start for turns: a number, or an ``rb.Schedule``.
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
    follows: ClassVar[bool] = False

    def __post_init__(self) -> None:
        """Check everything."""
        check_inside(self)

    def placed_in(self, scene: Any, label: str) -> "ImplicitSpring":
        """The spring as a scene keeps it, with the name of its joint."""
        found: ImplicitSpring = place_inside(self, scene, label)
        return found

    def drive_rows(self, scene: Any, label: str) -> dict[str, list[RowSpec]]:
        """The rows it adds to its joint."""
        return {self.joint: rows_of(self, scene, label)}

    def compile(self, model: Any) -> Inside:
        """Bind to a model."""
        freedom = freedom_of(model.scene.joints[self.joint], self.freedom, type(self).__name__, self.joint)
        return Inside(model, self, freedom)


def check_inside(force: Any) -> None:
    """Check the fields of a spring or a controller inside the constraint solve."""
    kind = type(force).__name__
    check_joint(force.joint, kind)
    for name in ("stiffness", "damping"):
        object.__setattr__(force, name, checks.not_negative(getattr(force, name), f"The {name} of {kind}"))
    if force.stiffness + force.damping == 0.0:
        raise InputError(f"{kind} has neither stiffness nor damping and would do nothing; give it one.")
    object.__setattr__(force, "limit", checked_limit(force.limit, f"The limit of {kind}"))
    object.__setattr__(force, "target", scheduled(force.target, f"The target of {kind}"))
    if force.freedom is not None:
        checks.text(force.freedom, f"The freedom of {kind}")


def place_inside(force: Any, scene: Any, label: str) -> Any:
    """A spring or a controller as a scene keeps it, after a look at whether its joint is there and has its freedom."""
    found = named_joint(force, scene, label)
    rows_of(found, scene, label)
    return found


def rows_of(force: Any, scene: Any, label: str) -> list[RowSpec]:
    """The rows of a spring or a controller, after a look at whether its target says where they pull to."""
    freedom = freedom_of(scene.joints[force.joint], force.freedom, f"Force {label!r}", force.joint)
    if freedom == "turn" and force.target != 0.0:
        raise InputError(
            f"Force {label!r} pulls the three turns of joint {force.joint!r} to where its frames are aligned; a target "
            "of one number does not tell another orientation. Leave it out, or turn the frames of the joint."
        )
    return rows_along(freedom, force.stiffness, force.damping, force.limit)
