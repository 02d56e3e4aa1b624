"""What a step says about itself: the errors it left, what they are measured against, and why it fell short."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from rattleback.core.sealed import sealed


@sealed
@dataclass(frozen=True)
class Report:
    """The certificate of the last call to ``step`` or ``run``; errors are the worst over its steps and worlds.

    Attributes:
        step: Number of the last step taken.
        time: Time reached [s].
        converged: Whether every tolerance was met.
        reason: Why not, as a sentence; empty when converged.
        position_error: Largest position error of a joint at the end of a step [m].
        orientation_error: Largest orientation error of a joint at the end of a step [rad].
        velocity_error: Largest velocity error of a joint at the end of a step [m/s, rad/s].
        position_tolerance: What the user asked for [m].
        orientation_tolerance: What the user asked for [rad].
        velocity_tolerance: What the user asked for [m/s, rad/s].
        worst_joint: Joint that is farthest from its tolerance; empty without joints.
        redundant_rows: Conditions of the joints that others imply, left out by the direct method.
        redundant_joints: Names of the joints that have such conditions, in the order of the scene.
        penetration: Deepest overlap of two bodies after a step [m].
        normal_velocity_error: Largest velocity along a contact normal that should be none [m/s].
        tangential_velocity_error: The same across the normals.
        penetration_tolerance: What the user asked for, or what the preset makes of the contact distance [m].
        contact_velocity_tolerance: The same [m/s].
        worst_contact: The two bodies that overlap most; empty where none do.
        contact_sweeps: Most sweeps over the contacts at the end of a step.
        integration_error: Largest error of the integrator's own step, in its own measure: the local error
            estimate of an adaptive method or of a step of high order, the residual of an implicit one, zero for an
            explicit one. With joints and
            forces that depend on velocity, also what these last changed in a velocity [m/s, rad/s].
        integration_tolerance: What that is compared with.
        iterations: Most corrections of the joints one step needed; without joints, iterations or sub-steps of the
            integrator; with a step of high order, rounds for the joints, or sub-steps where it has a tolerance.
        energy_limited: Most energy that joints, stops and contacts would have added to bodies in a step, beyond what
            is allowed them, and that was taken from their velocities [J].
        energy_gained: Energy that joints, contacts and their corrections have added in the step in which that was
            farthest beyond what accurate steps add [J]; zero where it never was.
        worst_body: Body with the largest integration error; empty when all are zero.
    """

    step: int = 0
    time: float = 0.0
    converged: bool = True
    reason: str = ""
    position_error: float = 0.0
    orientation_error: float = 0.0
    velocity_error: float = 0.0
    position_tolerance: float = 1e-6
    orientation_tolerance: float = 1e-6
    velocity_tolerance: float = 1e-6
    worst_joint: str = ""
    redundant_rows: int = 0
    redundant_joints: tuple[str, ...] = ()
    penetration: float = 0.0
    normal_velocity_error: float = 0.0
    tangential_velocity_error: float = 0.0
    penetration_tolerance: float = 0.0
    contact_velocity_tolerance: float = 0.0
    worst_contact: tuple[str, ...] = ()
    contact_sweeps: int = 0
    integration_error: float = 0.0
    integration_tolerance: float = 0.0
    iterations: int = 0
    energy_limited: float = 0.0
    energy_gained: float = 0.0
    worst_body: str = ""

    def _advice(self, name: str) -> str:
        return "A report says what happened." if name in vars(self) else ""

    def as_dict(self) -> dict[str, Any]:
        """The report as plain data."""
        return asdict(self)


@sealed
@dataclass(frozen=True)
class Profile:
    """Where the time of a step goes.

    Attributes:
        steps: Number of steps measured.
        seconds: Seconds per step in each stage [s].
    """

    steps: int
    seconds: dict[str, float]

    @property
    def total(self) -> float:
        """Seconds per step over all stages [s]."""
        return sum(self.seconds.values())

    def __str__(self) -> str:
        total = self.total or 1.0
        rows = [
            f"{name:<12}{1e6 * value:>12.2f} µs{100 * value / total:>7.1f} %" for name, value in self.seconds.items()
        ]
        return "\n".join([*rows, f"{'step':<12}{1e6 * self.total:>12.2f} µs"])
