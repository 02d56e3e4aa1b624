"""Bends of couplings: what makes a wheel no circle, so that what it leads follows a polynomial.

f(x) = x + b₂ x² + b₃ x³ + b₄ x⁴
"""

from __future__ import annotations

from typing import Any

import numpy as np

from rattleback.core import checks
from rattleback.core.errors import InputError

# Powers that a bend has parts of, at most.
MOST = 3


def keep_bend(joint: Any) -> None:
    """Check the bend of a joint, and keep it as numbers; None where it is zero."""
    if joint.bend is None:
        return
    what = f"The bend of {type(joint).__name__}"
    if not isinstance(joint.bend, (tuple, list, np.ndarray)) or not 0 < len(joint.bend) <= MOST:
        raise InputError(f"{what} is {joint.bend!r}; give the parts of the second, third and fourth power, or fewer.")
    given = checks.array(joint.bend, (len(joint.bend),), what).tolist()
    object.__setattr__(joint, "bend", (*given, 0.0, 0.0)[:MOST] if any(given) else None)


def bend_of(joint: Any) -> tuple[float, float, float]:
    """The bend of a joint as its row has it."""
    b2, b3, b4 = joint.bend or (0.0, 0.0, 0.0)
    return b2, b3, b4
