"""Inverse kinematics: configurations in which tools are where they should be, and an honest word where there are none.

| name | method |
|---|---|
| ``lm`` (default) | Levenberg–Marquardt with restarts, in a kernel, for batches |
| ``dls`` | damped least squares |
| ``sdls`` | selectively damped least squares |
| ``pinv`` | pseudo-inverse |
| ``newton`` | Newton–Raphson |
| ``transpose`` | Jacobian transpose |
| ``gradient`` | gradient descent with a line search |
| ``ccd`` | cyclic coordinate descent |
| ``fabrik`` | forward and backward reaching |
| ``qp`` | quadratic program with limits and velocity bounds |
| ``analytic`` | closed forms: planar 2R and 3R, six axes with a spherical wrist |
"""

from typing import Any

from rattleback.kinematics.ik.analytic import Analytic
from rattleback.kinematics.ik.ccd import CCD
from rattleback.kinematics.ik.dls import DampedLeastSquares
from rattleback.kinematics.ik.fabrik import FABRIK
from rattleback.kinematics.ik.gradient import Gradient
from rattleback.kinematics.ik.lm import LM
from rattleback.kinematics.ik.newton import Newton
from rattleback.kinematics.ik.pinv import PseudoInverse
from rattleback.kinematics.ik.qp import QuadraticProgram
from rattleback.kinematics.ik.result import Solution
from rattleback.kinematics.ik.sdls import SelectivelyDamped
from rattleback.kinematics.ik.solve import solve
from rattleback.kinematics.ik.target import Distance, Orientation, Pointing, Pose, Position
from rattleback.kinematics.ik.transpose import Transpose

MENU: dict[str, type[Any]] = {
    "lm": LM,
    "dls": DampedLeastSquares,
    "sdls": SelectivelyDamped,
    "pinv": PseudoInverse,
    "newton": Newton,
    "transpose": Transpose,
    "gradient": Gradient,
    "ccd": CCD,
    "fabrik": FABRIK,
    "qp": QuadraticProgram,
    "analytic": Analytic,
}

__all__ = [
    "CCD",
    "FABRIK",
    "LM",
    "MENU",
    "Analytic",
    "DampedLeastSquares",
    "Distance",
    "Gradient",
    "Newton",
    "Orientation",
    "Pointing",
    "Pose",
    "Position",
    "PseudoInverse",
    "QuadraticProgram",
    "SelectivelyDamped",
    "Solution",
    "Transpose",
    "solve",
]
