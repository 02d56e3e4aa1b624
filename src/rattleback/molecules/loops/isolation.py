"""Isolation of all real roots of a trigonometric polynomial of degree 8, by Bernstein coefficients.

    R(τ) (1 + u²)⁸ = Σ_j b_j B_j(t),    u = tan((τ − τ_c)/2) = h (2t − 1),   B_j Bernstein polynomials of degree 16

on each of four arcs about τ_c. The b_j follow from 17 samples of R by one constant matrix an arc: no coefficient in
powers of u is ever formed, and no direction of τ is singular. The number of sign changes of the b_j is the number of
roots in the arc, or more by an even number (Descartes, variation diminishing): none means no root, one means one.
Otherwise the arc is halved by de Casteljau's rule, until each piece has none or one.

1. An arc on the stack; count the sign changes, where coefficients within rounding of zero count as both signs.
2. None: drop it. One, with clear signs at its ends: one root; close in on it.
3. Otherwise halve it, until a piece is too small: what it holds is in doubt.

Symbols: t in [0, 1] place in an arc. Cost: 17 × 17 products an arc, 136 additions a halving, some ten to thirty
halvings.
References: Lane and Riesenfeld, "Bounds on a polynomial", BIT 21 (1981), 112-117; Mourrain, Rouillier and Roy, "The
Bernstein basis and real root isolation", Combinatorial and Computational Geometry 52 (2005), 459-478.
"""

from functools import cache
from typing import Any

import numpy as np
import warp as wp

from rattleback.core.precision import epsilon, real
from rattleback.molecules.loops.resultant import SAMPLES

ARCS = 4
DEGREE = 16
SIXTEEN = wp.constant(real(16.0))
# A row of the stack: coefficients, and the piece of the arc [0, 1] they belong to.
ROW = DEGREE + 3
# Halvings; the narrowest piece is 2^-DEPTH of an arc.
DEPTH = 26
# h, where u = h (2t − 1).
HALF_WIDTH = float(np.tan(np.pi / (2 * ARCS)))
# Rounding of the coefficients beside the largest sample.
NOISE = wp.constant(real(64.0 * epsilon))


@cache
def arc_matrices() -> np.ndarray:
    """From samples to coefficients of all arcs (ARCS · 17, SAMPLES).

    (1 + u²)⁸ e^{ikφ} = (1 + iu)^{8+k} (1 − iu)^{8−k} is a product of factors linear in t, which is expanded one by one.
    """
    turns = 2.0 * np.pi * np.arange(SAMPLES) / SAMPLES
    width = HALF_WIDTH
    rows = []
    for arc in range(ARCS):
        center = 2.0 * np.pi * (arc + 0.5) / ARCS
        found = np.zeros((DEGREE + 1, SAMPLES))
        for k in range(9):
            factors = [1j] * (8 + k) + [-1j] * (8 - k)
            wave = np.exp(1j * k * (center - turns)) * (1.0 if k == 0 else 2.0) / SAMPLES
            found += np.real(_product(factors, width)[:, None] * wave[None])
        rows.append(found)
    return np.concatenate(rows)


def _product(factors: list[complex], width: float) -> Any:
    """Bernstein coefficients of ∏ (1 + f u), u = width (2t − 1)."""
    found = np.ones(1, dtype=np.complex128)
    for factor in factors:
        n, low, high = len(found), 1.0 - factor * width, 1.0 + factor * width
        share = np.arange(1, n) / n
        inner = (1.0 - share) * low * found[1:] + share * high * found[:-1]
        found = np.concatenate([[low * found[0]], inner, [high * found[-1]]])
    return found


@wp.func
def sign_changes(stack: wp.array2d[real], lane: int, at: int, noise: real) -> int:
    """Most sign changes of the coefficients of a piece, where those within ``noise`` of zero may have either sign."""
    plain = int(0)
    last = real(0.0)
    doubtful = int(0)
    for j in range(DEGREE + 1):
        b = stack[lane, at + j]
        if wp.abs(b) <= noise:
            doubtful += 1
        else:
            if last * b < real(0.0):
                plain += 1
            last = b
    if doubtful > 0:
        return plain + 2
    return plain


@wp.func
def halve(stack: wp.array2d[real], lane: int, at: int) -> None:
    """Split a piece: the right half stays where it is, the left half goes on top of it."""
    top = at + ROW
    for j in range(DEGREE + 1):
        stack[lane, top + j] = stack[lane, at]
        for i in range(DEGREE - j):
            stack[lane, at + i] = real(0.5) * (stack[lane, at + i] + stack[lane, at + i + 1])
    low = stack[lane, at + DEGREE + 1]
    high = stack[lane, at + DEGREE + 2]
    middle = real(0.5) * (low + high)
    stack[lane, top + DEGREE + 1] = low
    stack[lane, top + DEGREE + 2] = middle
    stack[lane, at + DEGREE + 1] = middle


@wp.func
def value_at(stack: wp.array2d[real], lane: int, at: int, t: real) -> real:
    """Value of a piece at t in [0, 1], by the scheme of Horner for Bernstein coefficients."""
    s = real(1.0) - t
    # term is C(16, j) tʲ.
    term = real(1.0)
    left = real(1.0) * SIXTEEN
    total = stack[lane, at] * s
    j = int(1)
    while j < DEGREE:
        term *= t * left / (SIXTEEN + real(1.0) - left)
        left -= real(1.0)
        total = (total + term * stack[lane, at + j]) * s
        j += 1
    return total + term * t / SIXTEEN * stack[lane, at + DEGREE]


@wp.func
def root_in(stack: wp.array2d[real], lane: int, at: int) -> real:
    """Place in the arc of the only root of a piece, by regula falsi (Illinois) between its ends."""
    low = real(0.0)
    high = real(1.0)
    below = stack[lane, at]
    above = stack[lane, at + DEGREE]
    side = int(0)
    t = real(0.5)
    for _ in range(60):
        t = (low * above - high * below) / (above - below)
        if high - low < real(1e-9):
            break
        value = value_at(stack, lane, at, t)
        if value == real(0.0):
            break
        before = t
        if value * above > real(0.0):
            moved = high - t
            high = before
            above = value
            if side == 1:
                below *= real(0.5)
            side = int(1)
            if moved < real(1e-10):
                break
        else:
            moved = t - low
            low = before
            below = value
            if side == -1:
                above *= real(0.5)
            side = int(-1)
            if moved < real(1e-10):
                break
    start = stack[lane, at + DEGREE + 1]
    return start + t * (stack[lane, at + DEGREE + 2] - start)
