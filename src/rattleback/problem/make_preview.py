"""The preview loop of a model, with all that it works on."""

from typing import Any

import warp as wp

from rattleback.core import arrays
from rattleback.model.state import Motion
from rattleback.model.step_context import StepContext
from rattleback.problem.corrections import Flight, JointStatus, Limits, Reactions, make_links
from rattleback.problem.joint_breaks import JointBreaks
from rattleback.problem.joint_errors import JointErrors
from rattleback.problem.joint_rows import Inertias, JointRows, Levers
from rattleback.problem.joint_stops import JointStops
from rattleback.problem.mechanisms import make_mechanisms
from rattleback.problem.preview import Preview


def make_preview(context: StepContext, problem: JointRows, solver: Any, limits: Limits, sleeps: bool) -> Preview:
    """The preview loop of a model's joints with a method.

    Args:
        context: Where the step is recorded.
        problem: The joints as rows.
        solver: A joint method with ``prepare(problem)``.
        limits: Tolerances and the most corrections a step may take.
        sleeps: Whether bodies may fall asleep.
    """
    model = context.model
    counts = {"joints": problem.joint_count, "worlds": model.worlds, "bodies": model.count, "flags": 1}
    kinds: tuple[type[Any], ...] = (JointErrors, Reactions, JointStatus, Levers, Inertias)
    errors, reactions, status, levers, inertias = (arrays.allocate(kind, counts, model.device) for kind in kinds)
    prepared = solver.prepare(problem.without_stops())
    limits.share = prepared.share
    flight = Flight()
    flight.before, flight.start, flight.end = context.state.motion, context.start, context.predicted
    flight.pushed = arrays.allocate(Motion, counts, model.device)
    everywhere = wp.full(model.worlds, 1, dtype=wp.int32, device=model.device)
    shared = (limits, errors, reactions, status, make_links(problem), levers, inertias, flight)
    stops = JointStops(context, problem, prepared, shared)
    breaks = JointBreaks(context, problem, reactions, status, sleeps)
    return Preview(context, problem, prepared, *shared, everywhere, stops, breaks, make_mechanisms(problem))
