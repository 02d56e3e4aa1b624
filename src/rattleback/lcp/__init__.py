"""Contact problems as pure mathematics, and every method of the field to solve them, by one yardstick.

    problem = rb.lcp.Problem(W=W, q=q, mu=0.5)        # or rb.lcp.load("problem.dat")
    result = rb.lcp.solve(problem, method="auto", law="coulomb", tolerance=1e-8)
    result.impulse, result.velocity, result.residual, result.converged, result.reason

``MENU`` has the methods by name, ``LAWS`` the laws.
"""

from rattleback.lcp.files import load
from rattleback.lcp.laws import LAWS
from rattleback.lcp.methods import (
    ADMM,
    APGD,
    BB,
    MENU,
    NSGS,
    PGS,
    QP,
    SOR,
    Auto,
    Dantzig,
    Jacobi,
    Lemke,
    Murty,
    Newton,
)
from rattleback.lcp.problem import Problem
from rattleback.lcp.residuals import relative_residual, residual
from rattleback.lcp.result import Result
from rattleback.lcp.solve import solve

__all__ = [
    "ADMM",
    "APGD",
    "BB",
    "LAWS",
    "MENU",
    "NSGS",
    "PGS",
    "QP",
    "SOR",
    "Auto",
    "Dantzig",
    "Jacobi",
    "Lemke",
    "Murty",
    "Newton",
    "Problem",
    "Result",
    "load",
    "relative_residual",
    "residual",
    "solve",
]
