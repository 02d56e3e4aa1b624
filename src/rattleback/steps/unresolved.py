"""What steps share in which contacts are found at most, and nothing is done about them.

prologue    velocities that were written agree with the joints; the contacts of the state are found
advance     stop fast bodies at what they hit, check that all is finite, take the prediction over, move the clock
contacts    where the bodies touch now
"""

from typing import Any

from rattleback.core import arrays
from rattleback.model.contact_memory import Due, record_due
from rattleback.model.step_context import StepContext
from rattleback.problem.preview import Preview
from rattleback.steps.impulse import find_fault, move_clock, remember, take_over


def record_prologue(context: StepContext, joints: Preview, contacts: Any) -> None:
    """Record what happens where something was written.

    Args:
        context: What the step works on.
        joints: The joints, with what fits velocities to them.
        contacts: How contacts are found; None where they are not, as below.
    """
    program, model = context.program, context.model
    due = arrays.allocate(Due, {"worlds": model.worlds, "flags": 1}, model.device)
    with program.prologue():
        record_due(program, context.state.contacts, context.stop, due)
        joints.record_prologue()
        if contacts is not None:
            with program.when(contacts.stale):
                _find(context, contacts)
                contacts.record_fresh(program, context.stop)


def record_advance(context: StepContext, contacts: Any) -> None:
    """Record that the prediction becomes the state, and the contacts of that."""
    with context.program.stage("advance"):
        if contacts is not None:
            contacts.record_stops(context.program, context.stop)
        context.share_bodies(remember, context.diagnostics, context.worst)
        context.share_bodies(find_fault, context.predicted, context.stop)
        context.share_bodies(take_over, context.predicted, context.state.motion, context.stop)
        context.for_worlds(move_clock, context.state.clock, context.proposed, context.stop)
        if contacts is not None:
            contacts.record_end(context.program)
    if contacts is not None:
        with context.program.stage("contacts"):
            _find(context, contacts)


def _find(context: StepContext, contacts: Any) -> None:
    contacts.record_contacts(context.program, context.stop)
    contacts.record_memory(context.program, context.stop)
