"""Ten books that hang over the edge of a table, each a little less or a little more than it can.

    overhang of all  ½ l Σ 1/k,  k = 1 … n

l length of a book, n number of books. At the limit every part of the stack is balanced on the edge below it; at 99 % of
it the stack stands, at 101 % it falls, and it begins to fall by turning about all edges at once.

Reference: closed form.
"""

from __future__ import annotations

from rattleback.experiments.result import (
    Curve,
    Experiment,
    Finding,
    Findings,
    Options,
    Panel,
    Result,
    at_least,
    at_most,
)
from rattleback.experiments.standing import Standing, build
from rattleback.scenes import book_stack
from rattleback.scenes.stacks import BOOK, overhang_limit
from rattleback.solvers.contacts import BlockGaussSeidel, Impulse

STEP, BOOKS, SECONDS = 0.005, 10, 10.0
# A stack stands if no book leaves its place by more than this [m], and has fallen if one has gone as far as its length.
STANDS, FALLS = 1e-4, BOOK[0]
# Overhangs, as parts of the limit, that stand and that fall.
STANDING, FALLING = (0.9, 0.99, 0.999), (1.001, 1.01, 1.1)


def run(options: Options) -> Result:
    """Stack books with several overhangs."""
    found, curves = Findings(), []
    standing, falling = (STANDING[1:2], FALLING[1:2]) if options.quick else (STANDING, FALLING)
    found.rows.append(Finding("overhang of all books at the limit", overhang_limit(BOOKS), unit="m"))
    for number, part in enumerate((*standing, *falling)):
        who = f"{100 * part:g} % of the limit"
        options.tell(f"book stack at {who}")
        seen = stack(part, 1.0 if options.quick else SECONDS)
        row = f"{who}: farthest from its place"
        if part < 1.0:
            found.rows.append(at_most(row, seen.farthest, STANDS, "m"))
            found.note(seen.reason and f"{who}: {seen.reason}")
        else:
            found.rows.append(at_least(row, seen.farthest, FALLS, "m"))
        curves.append(seen.curve(who, number))
    curves.append(Curve("stands below", [0.0, max(curves[0].x)], [STANDS, STANDS], "bound"))
    up = "farthest book from its place [m]"
    return found.result(Panel("Books over the edge of a table", "time [s]", up, tuple(curves), ("linear", "log")))


def stack(part: float, seconds: float) -> Standing:
    """Watch a stack with a part of the overhang that is possible."""
    return build(
        book_stack(BOOKS, part),
        seconds,
        time_step=STEP,
        contacts=Impulse(solver=BlockGaussSeidel(sweeps=200)),
        penetration_tolerance=1e-6,
        contact_velocity_tolerance=1e-6,
    )


EXPERIMENT = Experiment(
    "book_stack",
    "How far can books hang over the edge of a table?",
    "closed form",
    run,
)
