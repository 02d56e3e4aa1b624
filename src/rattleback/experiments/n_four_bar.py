"""N four-bars side by side: through a singular position twice a turn, to the published place after 10 s.

All bars lie in a line twice a turn; there the mechanism has N + 1 freedoms instead of one, and a method that trusts its
matrix leaves the motion or stops. B₀ is the tip of the first crank, y of the source is z here.

Reference: multibody benchmark library, problem A02; B₀ at t = 10 s.
"""

from __future__ import annotations

import math

import numpy as np

from rattleback.experiments.convergence import error_panel, order, run_to
from rattleback.experiments.result import Experiment, Finding, Findings, Options, Result, near
from rattleback.scenes import four_bar

TIP = {2: (0.3284581115, 0.9445185382), 5: (0.2357891358, 0.9718042413)}
MOMENT = 10.0
# Ten micrometres at half a millisecond, of second order.
ALLOWED = 40.0


def run(options: Options) -> Result:
    """Find the tip for each number of loops at several step lengths; the shortest decides."""
    found = Findings()
    families: dict[str, dict[float, float]] = {}
    for count in (2,) if options.quick else tuple(TIP):
        errors = families[f"N = {count}"] = {}
        for step in (0.01, 0.005) if options.quick else (4e-3, 2e-3, 1e-3, 5e-4):
            options.tell(f"{count} four-bars at {step:g} s")
            sim = run_to(four_bar(count), MOMENT, found, time_step=step)
            # The crank turns about the origin, so its tip is twice as far as its centre.
            tip = np.full(2, math.nan) if sim is None else 2.0 * np.array(sim["crank_0"].position)[[0, 2]]
            errors[step] = float(np.abs(tip - TIP[count]).max())
        for axis, measured, published in zip("xy", tip, TIP[count], strict=True):
            what = f"N = {count}: {axis} of B₀ at 10 s, h = {step:g} s"
            found.rows.append(near(what, float(measured), published, ALLOWED * step**2, "m"))
        found.rows.append(Finding(f"N = {count}: order of the error in h", order(errors)))
        if sim is not None:
            found.rows.append(near(f"N = {count}: redundant rows", sim.report.redundant_rows, 3.0 * count, 0.0))
    return found.result(error_panel("Error of B₀ at 10 s", "m", families))


EXPERIMENT = Experiment(
    "n_four_bar",
    "Do four-bars pass their singular position and end where it is published?",
    "multibody benchmark library, A02",
    run,
)
