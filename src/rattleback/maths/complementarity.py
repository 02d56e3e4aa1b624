"""Small complementarity problems inside kernels: impulses of one-sided rows that push or let go, never pull.

    0 ≤ y  ⟂  g + A (y − y₀) ≥ 0

y impulses, y₀ those so far, g gaps of the rows with y₀, A symmetric and positive semidefinite. A row has two bounds,
of which it pushes at one: it turns round where the other is broken. Rows may also be two-sided: then
g + A (y − y₀) = 0, whatever the sign of y.

    solve A for the rows that push;  shorten the step where one would pull, and let that row go;
    when none pulls: rows whose gap closes push, too, at first all of them, then one by one;  again, until none does
Cost: a dense factorisation of the rows that push for every change of them; one where the first guess is right.
Rows that others imply have a pivot of zero and keep their impulse.

Reference: Lawson and Hanson, Solving Least Squares Problems, 1974, chapter 23 (NNLS).
"""

import warp as wp

from rattleback.core.arrays import field, group
from rattleback.core.precision import epsilon, real

# A pivot this small beside the entry it started from belongs to a row that others imply.
REDUNDANT = wp.constant(real(epsilon**0.6))
# What is left of an impulse that a step has taken back is rounding up to this part of it.
ROUNDING = wp.constant(real(8.0 * epsilon))
# Rounds in which all rows whose gaps close are taken at once.
ALL_AT_ONCE = wp.constant(5)
# What a row does: it is barred from pushing for this solution, open, pushing, held two-sided.
BARRED, OPEN, PUSHING, HELD = (wp.constant(k) for k in (-1, 0, 1, 2))
# What is said of a row that is to push: none is, or it is one whose column is not known.
NONE, UNKNOWN = (wp.constant(k) for k in (-1, -2))


@group(axis="rows")
class OneSidedRows:
    """One-sided rows in groups, each a stretch of rows and of entries: the rows of A, one after the other."""

    sign: real = field("1", "sign of an impulse that pushes, along the row")
    gap: real = field("m/s or rad/s", "gap with the impulses so far")
    width: real = field("m/s or rad/s", "way from the bound at which it pushes to the other one")
    start: real = field("N s or N m s", "impulse so far")
    y: real = field("N s or N m s", "impulse found")
    trial: real = field("N s or N m s", "impulse tried")
    does: wp.int32 = field(
        "1", "1 where it pushes, 2 where it is two-sided, 0 where it is open, below zero where it may not push"
    )
    known: wp.int32 = field("1", "1 where its column of A is known, 0 where it is not, −1 where that is wanted")
    place: wp.int32 = field("1", "the rows that push, from the first place of the group on")
    entry: real = field("1/kg", "A by rows: response of a row to a unit impulse along another", axis="entries")
    factor: real = field("1", "L below and D on the diagonal, for the rows that push", axis="entries")


@wp.func
def entry(rows: OneSidedRows, at: int, first: int, n: int, i: int, k: int) -> real:
    """An entry of A, in the directions in which the rows push."""
    return rows.sign[first + i] * rows.sign[first + k] * rows.entry[at + i * n + k]


@wp.func
def factor_pushing(rows: OneSidedRows, at: int, first: int, n: int) -> int:
    """L D Lᵀ of the rows that push, and their number."""
    count = int(0)
    for k in range(n):
        if rows.does[first + k] > 0:
            rows.place[first + count] = k
            count += 1
    for a in range(count):
        i = rows.place[first + a]
        for b in range(a + 1):
            v = entry(rows, at, first, n, i, rows.place[first + b])
            for c in range(b):
                v -= rows.factor[at + a * n + c] * rows.factor[at + b * n + c] * rows.factor[at + c * n + c]
            if b < a:
                d = rows.factor[at + b * n + b]
                v = wp.where(d > real(0.0), v / d, real(0.0))
            elif v <= REDUNDANT * rows.entry[at + i * n + i]:
                v = real(0.0)
            rows.factor[at + a * n + b] = v
    return count


@wp.func
def find_trial(rows: OneSidedRows, at: int, first: int, n: int, count: int) -> None:
    """Impulses with which the gaps of the rows that push are zero."""
    for a in range(count):
        i = rows.place[first + a]
        v = -gap_of(rows, at, first, n, i)
        for c in range(a):
            v -= rows.factor[at + a * n + c] * rows.trial[first + rows.place[first + c]]
        rows.trial[first + i] = v
    for back in range(count):
        a = count - 1 - back
        i = rows.place[first + a]
        d = rows.factor[at + a * n + a]
        v = wp.where(d > real(0.0), rows.trial[first + i] / d, real(0.0))
        for c in range(a + 1, count):
            v -= rows.factor[at + c * n + a] * rows.trial[first + rows.place[first + c]]
        rows.trial[first + i] = wp.where(d > real(0.0), v, real(0.0))
    for a in range(count):
        s = first + rows.place[first + a]
        rows.trial[s] = rows.y[s] + rows.trial[s]


@wp.func
def gap_of(rows: OneSidedRows, at: int, first: int, n: int, i: int) -> real:
    """Gap of a row with the impulses found."""
    g = rows.gap[first + i]
    for k in range(n):
        change = rows.y[first + k] - rows.start[first + k]
        if change != real(0.0):
            g += entry(rows, at, first, n, i, k) * change
    return g


@wp.func
def step_to_trial(rows: OneSidedRows, first: int, count: int, last: int) -> bool:
    """Go towards the impulses tried until one would pull; whether that was all of the way.

    The row that was the last to push, alone, pulls by rounding only, and is barred.
    """
    part = real(1.0)
    for a in range(count):
        s = first + rows.place[first + a]
        if rows.does[s] == PUSHING and rows.trial[s] < real(0.0):
            part = wp.min(part, rows.y[s] / (rows.y[s] - rows.trial[s]))
    for a in range(count):
        s = first + rows.place[first + a]
        y = rows.y[s] + part * (rows.trial[s] - rows.y[s])
        if rows.does[s] == PUSHING and rows.trial[s] < real(0.0) and y <= ROUNDING * rows.y[s]:
            rows.does[s] = wp.where(s == last and rows.y[s] == real(0.0), BARRED, OPEN)
            y = real(0.0)
        rows.y[s] = y
    return part == real(1.0)


@wp.func
def turn_round(rows: OneSidedRows, s: int) -> None:
    """An open row is to push at its other bound."""
    rows.sign[s] = -rows.sign[s]
    rows.start[s] = -rows.start[s]
    rows.gap[s] = rows.width[s] - rows.gap[s]


@wp.func
def let_push(rows: OneSidedRows, at: int, first: int, n: int, tolerance: real, one_by_one: bool) -> int:
    """Rows whose gaps close push, too; the last of them, or that there is none, or that a column is not known."""
    worst = -tolerance
    found = int(NONE)
    unknown = int(0)
    for i in range(n):
        s = first + i
        if rows.does[s] == OPEN:
            g = gap_of(rows, at, first, n, i)
            if rows.width[s] - g < wp.min(g, -tolerance):
                g = rows.width[s] - g
                turn_round(rows, s)
            if g < -tolerance and not one_by_one:
                rows.does[s] = PUSHING
                found = s
                if rows.known[s] != 1:
                    rows.known[s] = -1
                    unknown = 1
            elif g < worst:
                worst = g
                found = s
    if found >= 0 and one_by_one:
        rows.does[found] = PUSHING
        if rows.known[found] != 1:
            rows.known[found] = -1
            unknown = 1
    return wp.where(unknown == 1, UNKNOWN, found)


@wp.func
def solve_one_sided(rows: OneSidedRows, at: int, first: int, n: int, tolerance: real) -> bool:
    """Impulses of a group of n rows whose entries begin at ``at``; gaps may close by the tolerance.

    Rows that may push are marked as open, pushing or two-sided before, with their impulses so far. False where a column
    is not known that is wanted: the problem is to be posed again with it, and goes the same way then.
    """
    for k in range(n):
        rows.y[first + k] = rows.start[first + k]
        if rows.does[first + k] != HELD:
            rows.y[first + k] = wp.max(rows.y[first + k], real(0.0))
    last = int(NONE)
    for r in range(10 + 4 * n):
        count = factor_pushing(rows, at, first, n)
        find_trial(rows, at, first, n, count)
        if step_to_trial(rows, first, count, last):
            found = let_push(rows, at, first, n, tolerance, r >= ALL_AT_ONCE)
            if found < 0:
                return found == NONE
            last = wp.where(r >= ALL_AT_ONCE, found, NONE)
    return True
