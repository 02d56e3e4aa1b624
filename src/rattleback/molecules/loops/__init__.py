"""Loop closure: conformations in which a loop meets the residue behind it again.

| name | method |
|---|---|
| ``ccd_analytic`` (default) | cyclic coordinate descent, finished analytically: exact, and all solutions near it |
| ``ccd`` | cyclic coordinate descent, to 0.08 Å |
| ``analytic`` | three pivots, all solutions, straight from the starts |
| ``lm`` | general inverse kinematics |
"""

from functools import partial
from typing import Any

from rattleback.molecules.loops.analytic import Analytic
from rattleback.molecules.loops.ccd import LoopCCD
from rattleback.molecules.loops.lm import LoopLM

METHODS: dict[str, Any] = {
    "ccd_analytic": partial(Analytic, LoopCCD()),
    "ccd": LoopCCD,
    "analytic": Analytic,
    "lm": LoopLM,
}

__all__ = ["METHODS", "Analytic", "LoopCCD", "LoopLM"]
