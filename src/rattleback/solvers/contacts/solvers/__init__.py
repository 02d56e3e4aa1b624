"""Contact solvers by name: each takes one problem and finds its impulses, with the residual it reached.

| name | solver |
|---|---|
| ``block_gauss_seidel`` (default) | manifolds one after the other, as blocks where they can be, accelerated |
| ``pgs`` | projected Gauss–Seidel: contact points one after the other |
| ``sor`` | successive over-relaxation: the same, each correction with a factor |
| ``jacobi`` | all manifolds at once, each with its share of the change |
"""

from typing import Any

from rattleback.solvers.contacts.solvers.block_gauss_seidel import BlockGaussSeidel
from rattleback.solvers.contacts.solvers.jacobi import Jacobi
from rattleback.solvers.contacts.solvers.pgs import ProjectedGaussSeidel
from rattleback.solvers.contacts.solvers.sor import SuccessiveOverRelaxation

MENU: dict[str, type[Any]] = {
    "block_gauss_seidel": BlockGaussSeidel,
    "pgs": ProjectedGaussSeidel,
    "sor": SuccessiveOverRelaxation,
    "jacobi": Jacobi,
}
DEFAULT = "block_gauss_seidel"
NEEDS = ("bind",)

__all__ = ["BlockGaussSeidel", "Jacobi", "ProjectedGaussSeidel", "SuccessiveOverRelaxation"]
