"""The first correction of a step in which free bodies would turn far: by the rates of the rows, not by where they end.

    J M⁻¹ Jᵀ λ = w,   w = (g − e)/h − J ū,   ū = u + h/2 M⁻¹ f

e error of a row at the start of the step, g what it may leave of it, u velocities before any joint acts, f loads. A
light link that a strong motor drives, and whose joints or rotors carry nearly all of that, would turn by radians in a
step by itself. There errors say nothing of how far joints are off, and Newton's method ends anywhere or nowhere.
Rates are linear in the impulses: what they ask for leaves the errors of second order that the loop expects.

A world is kicked where forces and contacts change the angular velocity of a body with joints by more than ½ rad in a
step. Others do not have this correction, and their steps keep their bits; nor have those whose forces depend on the
velocities, as ``load_iteration`` lets joints answer to them before.
Cost: one substitution and one prediction, in the worlds that need it.
"""

from collections.abc import Callable
from typing import Any

import warp as wp

from rattleback.core import arrays
from rattleback.core.arrays import field, group
from rattleback.core.kernel import kernel
from rattleback.core.precision import real
from rattleback.maths.spin import angular_velocity
from rattleback.model.model import Bodies
from rattleback.model.state import Loads, Motion
from rattleback.problem import through
from rattleback.problem.corrections import MOST_TURN, Flight, JointStatus, Links
from rattleback.problem.joint_rows import Joints, RowDefinitions, Rows, row_velocity
from rattleback.problem.yielding_errors import law_of_step


@group(axis="worlds")
class Kicks:
    """Which worlds are kicked."""

    kicked: wp.int32 = field("1", "1 where a body with joints would turn far by itself")
    any_kicked: wp.int32 = field("1", "1 when any world is", axis="flags")


@kernel
def forget(kicks: Kicks) -> None:
    """A loop begins: no world is known to be kicked."""
    kicks.kicked[wp.tid()] = 0
    kicks.any_kicked[0] = 0


@kernel
def find_kicked(
    bodies: Bodies, links: Links, flight: Flight, loads: Loads, status: JointStatus, kicks: Kicks, mean: Motion
) -> None:
    """Mean velocities of a free body over the step, and whether it would turn far by what the step does to it."""
    i = wp.tid()
    w = bodies.world[i]
    if status.going[w] == 0 or links.count[i] == 0:
        return
    half = real(0.5) * status.time_step[w]
    turned = angular_velocity(flight.before.orientation[i], half * loads.torque[i], bodies.inverse_inertia[i])
    mean.velocity[i] = flight.start.velocity[i] + half * bodies.inverse_mass[i] * loads.force[i]
    mean.angular_velocity[i] = flight.start.angular_velocity[i] + turned
    change = mean.angular_velocity[i] - flight.before.angular_velocity[i]
    if status.time_step[w] * wp.length(change) > MOST_TURN:
        kicks.kicked[w] = 1
        kicks.any_kicked[0] = 1


@kernel
def want_rates(
    joints: Joints,
    fixed: Joints,
    definitions: RowDefinitions,
    mean: Motion,
    rows: Rows,
    status: JointStatus,
    kicks: Kicks,
) -> None:
    """The wanted change of the rates of a joint; its limits are left to the loop."""
    j = wp.tid()
    w = joints.world[j]
    status.busy[w] = kicks.kicked[w]
    if kicks.kicked[w] == 0:
        return
    h = status.time_step[w]
    for r in range(joints.first[j], joints.first[j] + joints.count[j]):
        rows.wanted[r] = real(0.0)
        # What limits did before is done; the solver does not write theirs.
        rows.impulse[r] = real(0.0)
    if joints.broken[j] != 0:
        return
    for r in range(fixed.first[j], fixed.first[j] + fixed.count[j]):
        rate = row_velocity(joints, rows, mean, j, r)
        if rows.compliance[r] > real(0.0):
            end = wp.where(definitions.is_velocity[r] == 1, real(0.0), rows.error[r] + h * rate)
            rows.wanted[r] = -law_of_step(rows, r, rate, end, definitions.rate[r])
        elif definitions.is_velocity[r] == 1:
            rows.wanted[r] = definitions.rate[r] - rate
        else:
            rows.wanted[r] = (rows.goal[r] - rows.error[r]) / h - rate


def record_kicked(preview: Any, predict: Callable[[], None]) -> None:
    """Record the first correction of worlds that are kicked, before anything is measured at their end."""
    if through.is_through_trees(preview.solver) or not preview.problem.row_count:
        return
    context, status, problem = preview.context, preview.status, preview.problem
    counts = {"worlds": context.model.worlds, "flags": 1}
    kicks = arrays.allocate(Kicks, counts, context.model.device)
    context.for_worlds(forget, kicks)
    mean = context.scratch(Motion)
    context.for_bodies(find_kicked, preview.links, preview.flight, context.loads, status, kicks, mean)
    with context.program.when(kicks.any_kicked):
        given = (problem.joints, problem.fixed, problem.definitions, mean, problem.rows, status, kicks)
        preview.yielding.note()
        context.program.launch(want_rates, problem.joint_count, *given)
        preview.correct_by_rates(context.start)
        predict()
        context.for_worlds(lower_kicked, status)


@kernel
def lower_kicked(status: JointStatus) -> None:
    """That correction is done and counts; no world is known to be outside its tolerance."""
    w = wp.tid()
    status.iterations[w] = status.iterations[w] + status.busy[w]
    status.busy[w] = 0
    status.turn[w] = real(0.0)
