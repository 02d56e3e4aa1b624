"""What became of a random mechanism: one word, and the sentence that goes with it."""

import math
import time
import traceback
import warnings
from typing import Any

import numpy as np

import rattleback as rb
from fuzz.ledger import OVER_A_RUN, Ledger, Moment
from fuzz.random_mechanism import Draw

MOST_STEPS = 120
# Of so many scenes one goes back to a state at the end and takes some steps twice.
REPEATED, TWICE = 5, 5


def judge(case: Draw, steps: int = MOST_STEPS) -> dict[str, Any]:
    """Simulate a second, or so many steps, and say what became of it."""
    begun = time.process_time()
    found: dict[str, Any] = {"seed": case.seed, "traits": case.traits, "found": []}
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            warnings.simplefilter("ignore", rb.NotConvergedWarning)
            sim = simulation_of(case)
            count = min(steps, math.ceil(1.0 / sim.time_step))
            follow(sim, case, count, found)
            if case.seed % REPEATED == 0:
                repeat(sim, found)
    except rb.DivergenceError as error:
        named = error.body in case.scene and f"{error.body!r}" in str(error)
        found["found"].append(["divergence" if named else "nameless divergence", str(error)])
    except rb.InputError as error:
        found["found"].append(["refused", str(error)])
    except Exception as error:
        found["found"].append(["exception", "".join(traceback.format_exception(error)[-3:])])
    found["seconds"] = round(time.process_time() - begun, 2)
    return found


def simulation_of(case: Draw) -> rb.Simulation:
    """The simulation, before its first step."""
    sim = rb.Simulation(case.scene, **case.settings)
    for name, (position, orientation) in case.places.items():
        body = sim[name]
        body.position, body.orientation = position, orientation
    if sim.worlds is not None:
        sim.state.velocity *= (1.0 + 0.3 * np.arange(sim.worlds))[:, None, None]
    return sim


def follow(sim: rb.Simulation, case: Draw, steps: int, found: dict[str, Any]) -> None:
    """Take the steps and note what is wrong with them."""
    if any(isinstance(joint, rb.VelocityJoint) for joint in case.scene.joints.values()):
        # Bodies that do not yet move at its rates get a blow first, of which forces and their work tell nothing.
        sim.step()
    ledger = Ledger(sim, apart=bool({"apart", "displaced", "conflict"} & set(case.traits)))
    before = Moment.of(sim)
    account, lowest, largest = before.total.copy(), before.total.copy(), before.kinetic.copy()
    lifted = 0.0
    for k in range(steps):
        sim.step()
        after, report = Moment.of(sim), sim.report
        if not after.finite or not all(math.isfinite(v) for v in report.as_dict().values() if isinstance(v, float)):
            found["found"].append(["not finite", f"step {k + 1}"])
            return
        lift = ledger.lift()
        work = ledger.work(before, after)
        gain = after.total - before.total - work - lift - ledger.slack(before, after)
        if float(gain.max()) > 0.0:
            note(found, k, float(gain.max()), ledger, report, before, after)
        rise = after.total - before.total - work - ledger.spun(before, after)
        # What the report of a step has told is no secret of the run.
        lifted += max(lift, min(float(rise.max()), ledger.named(report)))
        account += rise
        largest = np.maximum(largest, after.kinetic)
        lowest = np.minimum(lowest, account)
        before = after
        ledger.turn_page(report, after.kinetic)
    risen = float((account - lowest - lifted - OVER_A_RUN * largest - 10.0 * ledger.noise(largest)).max())
    if risen > 0.0:
        found["found"].append(["gain over the run", f"{risen:.3g} J beside {float(largest.max()):.3g} J kinetic"])


def repeat(sim: rb.Simulation, found: dict[str, Any]) -> None:
    """Some more steps, and the same again from a copy of the state."""
    begin, ends = sim.state.copy(), []
    for _ in range(2):
        sim.state = begin
        sim.step(TWICE)
        ends.append(sim.hash())
    if ends[0] != ends[1]:
        found["found"].append(["another way", "the same steps from a copied state end elsewhere"])


def note(
    found: dict[str, Any], k: int, gain: float, ledger: Ledger, report: Any, before: Moment, after: Moment
) -> None:
    """Note a gain that is there: called converged, named, or named but larger than what the report says was gained."""
    turn = ledger.sim.time_step * float(np.linalg.norm(before.angular_velocity, axis=-1).max())
    sentence = (
        f"step {k + 1}: {gain:.3g} J gained beside {float(before.kinetic.max()):.3g} J kinetic"
        f" ({float(before.total.max()):.4g} -> {float(after.total.max()):.4g}), where bodies turn by {turn:.2g} rad a"
        f" step; {report.reason or 'converged'}"
    )
    if report.converged:
        kind = "gain called converged"
    elif gain <= ledger.named(report):
        kind = "gain named"
    else:
        kind = "gain beyond what is named"
    if kind != "gain named":
        found["worst"] = max(found.get("worst", 0.0), gain / float(before.kinetic.max() + 1e-9 * ledger.mass))
    if all(kind != known for known, _ in found["found"]):
        found["found"].append([kind, sentence])
