"""A semicircular arch of twenty stones without mortar: how thin may it be?

    stands where  t/R ≥ 0.1075,   of twenty stones 0.1074

t thickness, R mean radius. An arch that is too thin opens at the springings, at the crown and halfway between, and
falls. The least thickness is searched for by halving between one that stands and one that falls.

Reference: Milankovitch (1907); Heyman (1969) had 0.106.
"""

from __future__ import annotations

from rattleback.experiments.result import Curve, Experiment, Findings, Options, Panel, Result, at_least, at_most, near
from rattleback.experiments.standing import Standing, build
from rattleback.scenes import arch
from rattleback.solvers.contacts import BlockGaussSeidel, Impulse

STEP, SECONDS = 0.005, 10.0
# The least thickness of an arch of twenty stones beside its radius, and how near the search has to come.
LEAST, NEAR = 0.10735, 2e-4
# An arch stands if no stone leaves its place by more than this [m], and has fallen if one has gone half a radius.
STANDS, FALLS = 1e-3, 2.5


def run(options: Options) -> Result:
    """Build arches of several thicknesses."""
    found, curves = Findings(), []
    options.tell("arches at 0.11 and 0.10")
    seconds = 2.0 if options.quick else SECONDS
    for number, (ratio, stands) in enumerate({0.11: True, 0.10: False}.items()):
        seen = stand(ratio, seconds)
        row = f"t/R = {ratio:g}: farthest from its place"
        found.rows.append(at_most(row, seen.farthest, STANDS, "m") if stands else at_least(row, seen.farthest, FALLS))
        found.note(seen.reason if stands else "")
        curves.append(seen.curve(f"t/R = {ratio:g}", number))
    if not options.quick:
        options.tell("the thinnest arch that stands")
        found.rows.append(near("least t/R that stands", thinnest(0.10, 0.11), LEAST, NEAR))
    curves.append(Curve("stands below", [0.0, max(curves[0].x)], [STANDS, STANDS], "bound"))
    up = "farthest stone from its place [m]"
    return found.result(Panel("Arches", "time [s]", up, tuple(curves), ("linear", "log")))


def stand(ratio: float, seconds: float) -> Standing:
    """Watch an arch."""
    return build(
        arch(ratio),
        seconds,
        time_step=STEP,
        contacts=Impulse(solver=BlockGaussSeidel(sweeps=1000)),
        penetration_tolerance=1e-6,
        contact_velocity_tolerance=1e-6,
    )


def thinnest(falls: float, stands: float) -> float:
    """The ratio between arches that fall and that stand."""
    while stands - falls > 0.25 * NEAR:
        middle = 0.5 * (falls + stands)
        if stand(middle, SECONDS).farthest > STANDS:
            falls = middle
        else:
            stands = middle
    return 0.5 * (falls + stands)


EXPERIMENT = Experiment(
    "arch",
    "How thin may a semicircular arch of stones be without falling?",
    "Milankovitch 1907; line of thrust",
    run,
)
