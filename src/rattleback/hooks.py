"""Functions of a user's own that a simulation calls between steps: after steps, on contact, at a time, on a break.

    @sim.after_step
    def hold(sim): ...

    @sim.on_contact("ball", "ground")
    def bounce(event): ...

    @sim.at(2.5)
    def let_go(sim): ...

These are methods of :class:`~rattleback.simulation.Simulation`, and ``simulation`` is the one they are called on. Each
returns the function unchanged. Functions are called in the order in which they were registered, between steps, and may
do there whatever can be done between steps, except to step. An exception ends the call to ``step`` or ``run``, with a
note that names the function; the simulation stands after the step and can go on.

Between two calls steps are replayed together, so a function that is called seldom costs next to nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from rattleback.calls import KINDS, AfterStep, AtTime, Hook, OnBreak, OnContact, members, time_called
from rattleback.core import checks
from rattleback.core.errors import InputError, UnknownName, did_you_mean, listing

if TYPE_CHECKING:
    from collections.abc import Callable

    from rattleback.simulation import Simulation

F = TypeVar("F", bound="Callable[..., Any]")


def after_step(simulation: Simulation, function: Any = None, *, every: int = 1) -> Any:
    """Have a function of the simulation called after every step: ``@sim.after_step``, ``@sim.after_step(every=10)``.

    Args:
        simulation: The simulation.
        function: The function; left out where this makes a decorator.
        every: Call it after the steps whose number is a multiple of this.
    """
    checks.count(every, "The every of after_step")

    def register(function: F) -> F:
        simulation.observe(AfterStep(function, every))
        return function

    return register if function is None else register(function)


def at(simulation: Simulation, *times: float, every: float | None = None) -> Callable[[F], F]:
    """Have a function of the simulation called when a time is reached: ``@sim.at(2.5)``, ``@sim.at(every=0.5)``.

    It is called after the first step that ends at that time or beyond, up to rounding; once, however many of its times
    the step has passed; with a contact time, when the slowest world is there. A simulation that goes back to an earlier
    state and comes to the time again calls it again.

    Args:
        simulation: The simulation.
        times: When [s].
        every: Also at every multiple of this time [s].

    Raises:
        InputError: There is no time, or one that is past already.
    """
    found = [checks.not_negative(time, "A time of at") for time in times if not callable(time)]
    period = None if every is None else checks.positive(every, "The every of at")
    if len(found) < len(times) or (not times and every is None):
        raise InputError("at needs a time, such as @sim.at(2.5) or @sim.at(every=0.5).")
    begun = time_called(simulation)
    for time in found:
        if time <= begun:
            raise InputError(f"A time of at is {time:g} s, and the simulation is at {simulation.time:g} s already.")

    def register(function: F) -> F:
        simulation.observe(AtTime(function, found, period))
        return function

    return register


def on_contact(simulation: Simulation, a: Any = None, b: Any = None, *, when: str = "begin") -> Any:
    """Have a function called with a ``ContactEvent`` when bodies touch: ``@sim.on_contact("ball", "ground")``.

    In whichever order the two are named, the same contacts are told of. In the event, body A is one that the first name
    stands for, and the normal points to it. Bodies touch that have a contact after a step; those that touch
    already begin with the next step.

    Args:
        simulation: The simulation.
        a: A body, by name or as ``add_body`` returned it, or the name of a group; None for any body.
        b: The other.
        when: ``"begin"`` when they begin to touch, ``"persist"`` after every step in which they still do, or ``"end"``
            when they cease to.

    Raises:
        InputError: The simulation finds no contacts.
    """
    checks.one_of(when, KINDS, "The when of on_contact")
    bare = callable(a)
    names = tuple(_side(simulation, key) for key in ((None, None) if bare else (a, b)))
    if not simulation.methods.finds:
        raise InputError('This simulation finds no contacts to tell of; make it with contacts="detect" or "impulse".')

    def register(function: F) -> F:
        simulation.observe(OnContact(function, names, when))
        return function

    return register(a) if bare else register


def on_break(simulation: Simulation, *joints: Any) -> Any:
    """Have a function called with a ``BreakEvent`` when a joint breaks: ``@sim.on_break("hinge")``.

    Args:
        simulation: The simulation.
        joints: The joints, by name or as ``add_joint`` returned them; none for all.
    """
    bare = len(joints) == 1 and callable(joints[0])
    names = None if bare or not joints else [_joint(simulation, joint) for joint in joints]

    def register(function: F) -> F:
        simulation.observe(OnBreak(function, names))
        return function

    return register(joints[0]) if bare else register


def forget(simulation: Simulation, function: Callable[..., Any]) -> None:
    """Call a function no more, whatever it was registered for; one that is not registered is left alone."""
    simulation.observers.detach(
        lambda entry: isinstance(entry.observer, Hook) and bool(entry.observer.function == function)
    )


def _side(simulation: Simulation, key: Any) -> str | None:
    """The name of a body or group of the scene; None for any."""
    name = getattr(key, "name", key)
    if name is None or (isinstance(name, str) and members(simulation.model, name).any()):
        return name
    known = [*simulation.model.names, *simulation.scene.groups]
    raise UnknownName(
        f"on_contact got {name!r}, which is not a body or group of the scene.{did_you_mean(name, known)} "
        f"There are {listing(known)}."
    )


def _joint(simulation: Simulation, joint: Any) -> str:
    """The name of a joint of the scene."""
    name = simulation.scene.joint_name(joint)
    if name is None:
        names = list(simulation.scene.joints)
        shown = repr(joint) if isinstance(joint, str) else f"a {type(joint).__name__}"
        raise UnknownName(
            f"on_break got the joint {shown}, which is not in the scene.{did_you_mean(joint, names)} "
            f"There are {listing(names)}."
        )
    return str(name)
