"""The levels at which forces may hold joints, and what keeps the errors small: parameters of several joint methods.

    C̈ = 0                      acceleration: errors grow as t², since C = k₁ t + k₂ satisfies it
    C̈ + 2α Ċ + β² C = 0        with Baumgarte's terms they decay, fastest where α = β
    Ċ(t + h) = 0               velocity: errors of the positions grow as t
    Ċ(t + h) = −β C            with Baumgarte's term

C errors of the joints. For velocity joints the error is that of the velocity, and γ = 2α its rate of decay.
``projection`` moves bodies to the nearest poses and velocities at which joints hold after every step; ``impulses`` has
the impulse method make up for what the forces leave. Both leave errors within the tolerances.

Reference: Bender, dissertation, §2.1.3.3 and §3.5; Baumgarte, 1972.
"""

from rattleback.core import checks
from rattleback.problem.by_forces.joint_forces import JointLaw

LEVELS = ("acceleration", "velocity")
STABILISATIONS = ("baumgarte", "none", "projection", "impulses")


def check_level(method: object, level: str, stabilisation: str) -> None:
    """Check the parameters that say how a method holds joints."""
    name = type(method).__name__
    checks.one_of(level, LEVELS, f"The level of {name}")
    checks.one_of(stabilisation, STABILISATIONS, f"The stabilisation of {name}")


def baumgarte_law(stabilisation: str, alpha: float, beta: float) -> JointLaw:
    """The law of a stabilisation; only Baumgarte's has terms."""
    if stabilisation != "baumgarte":
        return JointLaw()
    return JointLaw(damping=2.0 * alpha, stiffness=beta * beta, velocity=2.0 * alpha, closing=beta)
