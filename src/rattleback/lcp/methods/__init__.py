"""The methods by name: each is one file, a small frozen object with ``solve``.

| name | method | laws | W |
|---|---|---|---|
| ``jacobi`` | projected Jacobi | all | any |
| ``pgs`` | projected Gauss–Seidel | all | dense, sparse |
| ``sor`` | the same with over-relaxation | all | dense, sparse |
| ``nsgs`` | Gauss–Seidel with exact contacts | frictionless, cone, coulomb | dense, sparse |
"""

from typing import Any

from rattleback.lcp.methods.admm import ADMM
from rattleback.lcp.methods.apgd import APGD
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

MENU: dict[str, type[Any]] = {"jacobi": Jacobi, "pgs": PGS, "sor": SOR, "nsgs": NSGS, "lemke": Lemke, "dantzig": Dantzig, "murty": Murty, "newton": Newton, "apgd": APGD, "bb": BB, "admm": ADMM, "qp": QP}

__all__ = ["MENU", "NSGS", "PGS", "SOR", "Dantzig", "Jacobi", "Lemke", "Murty"]
