"""Penalty method: forces that grow with the errors of the joints, and hold them the better the larger α is.

    F_C = −α Jᵀ (C̈ + 2Ωμ Ċ + Ω² C)        joints
    F_C = −α Jᵀ (Ċ_v + γ C_v)              velocity joints, C_v = J V − r the error of their velocity

C errors, J Jacobian, α penalty, Ω frequency and μ damping of a spring, γ rate of decay. C̈ = J V̇ + J̇ V contains the
accelerations looked for, and so the equations of motion are (M + α JᵀJ) V̇ = F − α Jᵀ (J̇ V + 2Ωμ Ċ + Ω² C). With
λ = −α (C̈ + 2Ωμ Ċ + Ω² C), the force along the rows, the same in the unknowns λ is

    (J M⁻¹ Jᵀ + 1/α) λ = −J M⁻¹ F − J̇ V − 2Ωμ Ċ − Ω² C,   V̇ = M⁻¹ (F + Jᵀ λ)

which has a block for each joint, stays well conditioned as α grows, and has multipliers for its limit.

    wherever the integrator evaluates forces: fill and factor the block-sparse matrix; find λ; add Jᵀ λ to the forces
Cost: linear in the joints of a tree. Joints are never exact: a steady load λ opens one by λ/(α Ω²). Explicit
integrators need h Ω of about one at most, whatever α is, as C̈ has its part in the force. Redundant rows share loads.

Reference: Bender, dissertation, §2.1.1; de Jalón and Bayo, Kinematic and Dynamic Simulation of Multibody Systems, 1994.
"""

from dataclasses import dataclass
from typing import Any, ClassVar

from rattleback.core import checks
from rattleback.core.sealed import sealed
from rattleback.problem.by_forces.joint_forces import JointLaw
from rattleback.problem.joint_rows import JointRows
from rattleback.solvers.joints.direct import PreparedDirect


@sealed
@dataclass(frozen=True)
class Penalty:
    """Forces that grow with the errors of the joints.

    Args:
        alpha: Penalty α [kg, kg m²]: the force for an acceleration error of one.
        omega: Frequency Ω [1/s] with which an error swings.
        mu: Damping μ of that; 1 is critical.
        gamma: Rate of decay γ of the errors of velocity joints [1/s].
    """

    alpha: float = 1e7
    omega: float = 10.0
    mu: float = 1.0
    gamma: float = 20.0
    level: ClassVar[str] = "acceleration"
    stabilisation: ClassVar[str] = "penalty"

    def __post_init__(self) -> None:
        """Check the parameters."""
        checks.positive(self.alpha, "The alpha of Penalty")
        for name in ("omega", "mu", "gamma"):
            checks.not_negative(getattr(self, name), f"The {name} of Penalty")

    @property
    def law(self) -> JointLaw:
        """How errors decay, and how rows yield."""
        damping, stiffness = 2.0 * self.omega * self.mu, self.omega * self.omega
        return JointLaw(damping, stiffness, velocity=self.gamma, compliance=1.0 / self.alpha)

    def prepare(self, problem: JointRows, inertias: Any) -> PreparedDirect:
        """The block-sparse system of the joints, whose rows yield."""
        return PreparedDirect(problem)
