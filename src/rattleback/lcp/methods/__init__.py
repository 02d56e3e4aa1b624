"""The methods by name: each is one file, a small frozen object with ``solve``.

| name | method | laws | W |
|---|---|---|---|
| ``jacobi`` | projected Jacobi | all | any |
| ``pgs`` | projected Gauss–Seidel | all | dense, sparse |
| ``sor`` | the same with over-relaxation | all | dense, sparse |
| ``nsgs`` | Gauss–Seidel with exact contacts | frictionless, cone, coulomb | dense, sparse |
| ``lemke`` | complementary pivoting, lexicographic | frictionless, pyramid | dense, sparse |
| ``dantzig`` | one row after the other, with friction bounds | frictionless, pyramid | dense, sparse |
| ``murty`` | principal pivoting | frictionless, pyramid | dense, sparse |
| ``newton`` | semi-smooth Newton | all | dense, sparse |
| ``qp`` | interior point | frictionless, cone | dense, sparse |
| ``apgd`` | accelerated projected gradient | frictionless, cone, coulomb | any |
| ``bb`` | Barzilai–Borwein | frictionless, cone, coulomb | any |
| ``admm`` | proximal ADMM | frictionless, cone, coulomb | dense, sparse |
| ``auto`` | a choice of these | all | any |

Problems without contacts have no law; every method takes them. In the plane ``pyramid`` is Coulomb's law, and methods
of the one take the other.
"""

from typing import Any

from rattleback.lcp.methods.admm import ADMM
from rattleback.lcp.methods.apgd import APGD
from rattleback.lcp.methods.auto import Auto
from rattleback.lcp.methods.bb import BB
from rattleback.lcp.methods.dantzig import Dantzig
from rattleback.lcp.methods.jacobi import Jacobi
from rattleback.lcp.methods.lemke import Lemke
from rattleback.lcp.methods.murty import Murty
from rattleback.lcp.methods.newton import Newton
from rattleback.lcp.methods.nsgs import NSGS
from rattleback.lcp.methods.pgs import PGS
from rattleback.lcp.methods.qp import QP
from rattleback.lcp.methods.sor import SOR

MENU: dict[str, type[Any]] = {
    "jacobi": Jacobi,
    "pgs": PGS,
    "sor": SOR,
    "nsgs": NSGS,
    "lemke": Lemke,
    "dantzig": Dantzig,
    "murty": Murty,
    "newton": Newton,
    "qp": QP,
    "apgd": APGD,
    "bb": BB,
    "admm": ADMM,
    "auto": Auto,
}

__all__ = [
    "ADMM",
    "APGD",
    "BB",
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
]
