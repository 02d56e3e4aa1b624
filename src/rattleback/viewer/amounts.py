"""Amounts: measured numbers as a reader wants them, 120 and not 1.2e+02, and 0 where there is only rounding."""

from __future__ import annotations

# What is smaller is rounding, in SI units.
ROUNDING = 1e-9
# Numbers below this are written without powers of ten.
PLAIN = 1e7


def amount(value: float, digits: int = 3) -> str:
    """A measured number with so many digits that count.

    Args:
        value: The number, in SI units.
        digits: How many digits to keep.
    """
    if abs(value) < ROUNDING:
        return "0"
    text = f"{value:.{digits}g}"
    if "e+" in text and abs(value) < PLAIN:
        return f"{float(text):.0f}"
    return text.replace("e-0", "e-").replace("e+0", "e+")
