"""Errors of the contacts after each step, and the worst of a call: penetration, and residuals.

The residuals are those of the last sweep, see ``problem.status``.
"""

from typing import Any

import numpy as np
import warp as wp

from rattleback.core import arrays
from rattleback.core.arrays import field, group
from rattleback.core.figures import told_apart
from rattleback.core.kernel import kernel
from rattleback.core.precision import real
from rattleback.model.contacts import Contacts
from rattleback.model.model import Bodies, Model
from rattleback.solvers.contacts.problem.status import SolverStatus
from rattleback.solvers.contacts.schemes.inputs import ContactLimits

NOWHERE = wp.constant(2**31 - 1)


@group(axis="worlds")
class ContactErrors:
    """Errors of the contacts of each world."""

    depth: real = field("m", "deepest overlap after this step")
    row: wp.int32 = field("1", "row of that contact, where it is the deepest of the call so far")
    penetration: real = field("m", "deepest overlap of the call")
    normal_residual: real = field("m/s", "largest velocity error along a normal")
    tangential_residual: real = field("m/s", "the same across")
    impact_residual: real = field("m/s", "largest velocity that impacts left to change")
    sweeps: wp.int32 = field("1", "most sweeps")
    spent: wp.int32 = field("1", "sweeps of the step with the largest velocity error")
    body_a: wp.int32 = field("1", "row of body A of the deepest overlap; -1 for none")
    body_b: wp.int32 = field("1", "row of body B")
    failed: wp.int32 = field("1", "number of steps that ended with a contact outside its tolerances")
    any_deeper: wp.int32 = field("1", "1 where a penetration is deeper than all of the call before", axis="flags")


@kernel
def begin_errors(errors: ContactErrors) -> None:
    """No contact has an error yet."""
    w = wp.tid()
    errors.depth[w] = real(0.0)
    errors.row[w] = NOWHERE
    errors.any_deeper[0] = 0


@kernel
def find_depth(bodies: Bodies, contacts: Contacts, errors: ContactErrors, stop: wp.array[wp.int32], lanes: int) -> None:
    """Deepest penetration of each world, and whether it is the deepest of the call."""
    for c in range(wp.tid(), contacts.needed[0], lanes):
        depth = -contacts.separation[c]
        if depth > real(0.0) and stop[0] == 0:
            w = bodies.world[contacts.body_a[c]]
            if depth > errors.depth[w]:
                wp.atomic_max(errors.depth, w, depth)
                if depth > errors.penetration[w]:
                    errors.any_deeper[0] = 1


@kernel
def find_deepest(
    bodies: Bodies, contacts: Contacts, errors: ContactErrors, stop: wp.array[wp.int32], lanes: int
) -> None:
    """The first contact with that penetration."""
    for c in range(wp.tid(), contacts.needed[0], lanes):
        if stop[0] == 0 and contacts.separation[c] < real(0.0):
            w = bodies.world[contacts.body_a[c]]
            depth = errors.depth[w]
            if -contacts.separation[c] == depth and depth > errors.penetration[w]:
                wp.atomic_min(errors.row, w, c)


@kernel
def record_worst(
    contacts: Contacts,
    errors: ContactErrors,
    status: SolverStatus,
    left: wp.array[real],
    limits: ContactLimits,
    stop: wp.array[wp.int32],
) -> None:
    """The worst of the call, with the velocity that impacts left."""
    w = wp.tid()
    if stop[0] != 0:
        return
    c = errors.row[w]
    if c != NOWHERE:
        errors.penetration[w] = errors.depth[w]
        errors.body_a[w] = contacts.body_a[c]
        errors.body_b[w] = contacts.body_b[c]
    if wp.max(status.normal_residual[w], status.tangential_residual[w]) > wp.max(
        errors.normal_residual[w], errors.tangential_residual[w]
    ):
        errors.spent[w] = status.sweeps[w]
    errors.normal_residual[w] = wp.max(errors.normal_residual[w], wp.max(status.normal_residual[w], left[w]))
    errors.tangential_residual[w] = wp.max(errors.tangential_residual[w], status.tangential_residual[w])
    errors.sweeps[w] = wp.max(errors.sweeps[w], status.sweeps[w])
    moving = wp.max(wp.max(status.normal_residual[w], status.tangential_residual[w]), left[w])
    errors.impact_residual[w] = wp.max(errors.impact_residual[w], left[w])
    left[w] = real(0.0)
    if errors.depth[w] > limits.deepest[w] or moving > limits.fastest[w]:
        errors.failed[w] = errors.failed[w] + 1


def record_errors(program: Any, worlds: int, given: tuple[Any, ...], ends: tuple[Any, Any], limits: Any) -> None:
    """Record what finds the errors after a step.

    Args:
        program: Where to record.
        worlds: Number of worlds.
        given: Bodies, contacts, errors and the stop flag.
        ends: How the last sweeps went, and what collisions left to be changed [m/s].
        limits: What contacts aim at.
    """
    bodies, contacts, errors, stop = given
    program.launch(begin_errors, worlds, errors)
    program.share(find_depth, len(contacts.part), bodies, contacts, errors, stop)
    with program.when(errors.any_deeper):
        program.share(find_deepest, len(contacts.part), bodies, contacts, errors, stop)
    program.launch(record_worst, worlds, contacts, errors, *ends, limits, stop)


def summary(errors: ContactErrors, model: Model, limits: Any, budget: tuple[int, int, int, str]) -> dict[str, Any]:
    """What the report says of the contacts: the worst errors, where, and why they are too large if they are.

    Args:
        errors: The worst since the call began.
        model: The model, with the names of bodies and worlds.
        limits: What contacts aim at.
        budget: Most sweeps until joints are corrected, how often that is done, most sweeps, and what those are called.
    """
    found, deepest, fastest = arrays.read(errors), limits.deepest.numpy(), limits.fastest.numpy()
    # The worst is that of the world which is farthest outside its tolerance.
    worst = int(np.argmax(found["penetration"] / deepest))
    moving = {name: int(np.argmax(found[name] / fastest)) for name in ("normal_residual", "tangential_residual")}
    quick = max(moving.values(), key=lambda w: max(found[name][w] for name in moving) / fastest[w])
    entries: dict[str, Any] = {
        "penetration": float(found["penetration"][worst]),
        "normal_velocity_error": float(found["normal_residual"][moving["normal_residual"]]),
        "tangential_velocity_error": float(found["tangential_residual"][moving["tangential_residual"]]),
        "penetration_tolerance": float(deepest[worst]),
        "contact_velocity_tolerance": float(fastest[quick]),
        "contact_sweeps": int(found["sweeps"].max()),
    }
    if entries["penetration"] > 0.0:
        pair = (model.locate(int(found[name][worst])) for name in ("body_a", "body_b"))
        entries["worst_contact"] = tuple(name for name, _ in pair)
    if found["failed"].any():
        entries["reason"] = _why(found, entries, (model.batched, worst, fastest), budget)
    return entries


def _why(
    found: dict[str, Any], entries: dict[str, Any], at: tuple[bool, int, Any], budget: tuple[int, int, int, str]
) -> str:
    """The sentence for the world that is worst, and in how many steps one was outside."""
    (batched, deep, fastest), left = at, found["impact_residual"]
    fast = np.maximum(found["normal_residual"], found["tangential_residual"])
    worst = int(np.argmax((left if (left > fastest).any() else fast) / fastest))
    if entries["penetration"] > entries["penetration_tolerance"]:
        worst = deep
    sweeps, many = int(found["spent"][worst]), int(found["failed"].max())
    where = f" of world {worst}" if batched else ""
    reason = _reason(entries, where, float(left[worst]), (sweeps, _advice(sweeps, *budget)))
    return f"{reason} This is the worst of {many} such steps." if many > 1 else reason


def _reason(entries: dict[str, Any], where: str, left: float, ended: tuple[int, str]) -> str:
    depth, limit = entries["penetration_tolerance"], entries["contact_velocity_tolerance"]
    if entries["penetration"] > depth:
        a, b = entries["worst_contact"]
        deep, most = told_apart(entries["penetration"], depth)
        return (
            f"Bodies {a!r} and {b!r}{where} overlap by {deep} m, more than the "
            f"penetration_tolerance of {most} m; a shorter time_step or "
            "contact_time='interpolate' help where they meet fast, more sweeps where they rest."
        )
    if left > limit:
        fast, most = told_apart(left, limit)
        return (
            f"Collisions{where} were ended with a velocity of {fast} m/s still to be changed, above the "
            f"contact_velocity_tolerance of {most} m/s: they had taken all the sweeps that there "
            "are for them; a shorter time_step, impact='simultaneous' or less restitution help."
        )
    sweeps, advice = ended
    fast, most = told_apart(max(entries["normal_velocity_error"], entries["tangential_velocity_error"]), limit)
    return (
        f"Contacts{where} were left with a velocity error of {fast} m/s after {sweeps} "
        f"sweeps, above the contact_velocity_tolerance of {most} m/s; {advice}"
    )


def _advice(sweeps: int, turn: int, exchanges: int, most: int, name: str) -> str:
    """What ended so many sweeps, and what helps; sweeps forward and backward end one short of an even number."""
    if turn < most and turn - 1 <= sweeps <= turn:
        stages = f"sweeps_between={turn}, at most exchanges={exchanges} times"
        return f"joints are corrected after {stages}; more of both or a shorter time_step help."
    if sweeps >= most - 1:
        return f"{name}={most} allows no more; a larger one or a shorter time_step help."
    return f"more {name} or a shorter time_step help."
