"""How contacts are found and resolved in the steps of a simulation, from its settings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rattleback.presets import CONTACT_AIM, CONTACT_PARTS

if TYPE_CHECKING:
    from rattleback.collision.stages import ContactStages
    from rattleback.model.step_context import StepContext
    from rattleback.settings import Methods


def make_impulses(context: StepContext, methods: Methods, contacts: ContactStages | None) -> Any:
    """How contacts are resolved; None where they are not.

    Args:
        context: What the step works on.
        methods: The settings.
        contacts: How contacts are found; None where they are not.
    """
    if contacts is None or not methods.resolves:
        return None
    finder = contacts.finder
    gravity = np.where(context.model.gravity > 0.0, context.model.gravity, 1.0)
    sizes: tuple[Any, Any] = (finder.distance, np.sqrt(2.0 * gravity * finder.distance))
    given = (methods.penetration_tolerance, methods.contact_velocity_tolerance)
    each = zip(given, CONTACT_PARTS[methods.preset], CONTACT_AIM[methods.preset], sizes, strict=True)
    ends = [(part * size, aim * part * size) if own is None else (own, own) for own, part, aim, size in each]
    reported, aimed = zip(*ends, strict=True)
    return methods.contacts.bind(context, finder.contacts, (reported, aimed), finder.distance)


def make_contacts(
    context: StepContext, methods: Methods, before: ContactStages | None = None, meets: bool = True
) -> ContactStages | None:
    """How contacts are found; None where they are not.

    Args:
        context: What the step works on.
        methods: The settings.
        before: How they were found in the step before, which goes on where it is the same.
        meets: Whether bodies may touch, or contacts are only to be found.
    """
    if not methods.finds or not meets:
        return None
    from rattleback.collision.ccd.time_of_impact import ContactTime
    from rattleback.collision.detection import Detection
    from rattleback.collision.stages import ContactStages

    how = methods.detection or Detection()
    time = None if methods.contact_time == "off" else ContactTime(methods.contact_time)
    same = before is not None and before.how == how and before.time == time
    if same and before is not None and before.keeps == methods.resolves:
        return before
    return ContactStages(context, how, time, methods.resolves)
