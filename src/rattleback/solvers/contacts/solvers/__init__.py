"""Contact solvers by name: each takes one problem and finds its impulses, with the residual it reached.

| name | solver |
|---|---|
| ``block_gauss_seidel`` (default) | manifolds one after the other, as blocks where they can be, accelerated |
| ``pgs`` | projected Gauss–Seidel: contact points one after the other |
| ``sor`` | successive over-relaxation: the same, each correction with a factor |
| ``jacobi`` | all manifolds at once, each with its share of the change |
| ``apgd`` | accelerated projected gradient descent: all points at once, with momentum |
| ``assembled`` | any method of ``rattleback.lcp``, for small scenes; its name does, too, where it is not one of these |
| ``bb`` | Barzilai–Borwein: gradient steps as long as the curvature of the last one says |
"""

from typing import Any

from rattleback.solvers.contacts.solvers.apgd import AcceleratedGradient
from rattleback.solvers.contacts.solvers.assembled import Assembled
from rattleback.solvers.contacts.solvers.bb import BarzilaiBorwein
from rattleback.solvers.contacts.solvers.block_gauss_seidel import BlockGaussSeidel
from rattleback.solvers.contacts.solvers.jacobi import Jacobi
from rattleback.solvers.contacts.solvers.pgs import ProjectedGaussSeidel
from rattleback.solvers.contacts.solvers.sor import SuccessiveOverRelaxation

MENU: dict[str, type[Any]] = {
    "block_gauss_seidel": BlockGaussSeidel,
    "pgs": ProjectedGaussSeidel,
    "sor": SuccessiveOverRelaxation,
    "jacobi": Jacobi,
    "apgd": AcceleratedGradient,
    "bb": BarzilaiBorwein,
    "assembled": Assembled,
}
DEFAULT = "block_gauss_seidel"
NEEDS = ("bind",)

__all__ = [
    "AcceleratedGradient",
    "Assembled",
    "BarzilaiBorwein",
    "BlockGaussSeidel",
    "Jacobi",
    "ProjectedGaussSeidel",
    "SuccessiveOverRelaxation",
]
