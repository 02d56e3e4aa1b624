"""What a sweep keeps of the simulation of a scene: numbers at its end or over its steps, and quantities over time."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from rattleback.core import checks
from rattleback.core.errors import InputError, UnknownName, listing
from rattleback.sweeps.address import address
from rattleback.sweeps.outcome import short

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from rattleback.recording import Recorder
    from rattleback.simulation import Simulation

REDUCTIONS = {"first": lambda values: values[0], "last": lambda values: values[-1],
              "min": lambda values: values.min(0), "max": lambda values: values.max(0),
              "mean": lambda values: values.mean(0)}  # fmt: skip
FORM = re.compile(rf"(?:(?P<over>{'|'.join(REDUCTIONS)})\((?P<inner>.+)\))|(?P<plain>[^()]+)")


@dataclass(frozen=True)
class Kept:
    """What is kept.

    Attributes:
        record: Quantities over time.
        results: Names of numbers, with texts or functions that say what they are.
        every: Steps from one sample to the next.
    """

    record: tuple[str, ...]
    results: tuple[tuple[str, Any], ...]
    every: int

    @property
    def texts(self) -> dict[str, tuple[str, str]]:
        """How each number that is told by text is made, and of which quantity."""
        return {name: parsed(value) for name, value in self.results if isinstance(value, str)}

    def describe(self) -> dict[str, Any]:
        """What a store says of it."""
        told = {name: value if isinstance(value, str) else address(value) for name, value in self.results}
        return {"every": self.every, "record": list(self.record), "results": told}

    def check(self, sim: Simulation) -> None:
        """Refuse quantities that the scene does not have, or that are no numbers of a world."""
        sources([*self.record, *(inner for _, inner in self.texts.values())], sim)

    def watch(self, sim: Simulation) -> Recorder | None:
        """What records the simulation while it runs; None where only its end matters."""
        from rattleback.recording import Recorder

        course = [*self.record, *(inner for over, inner in self.texts.values() if over != "last")]
        return Recorder(sim, self.every, sources(course, sim)) if course else None

    def gather(self, sim: Simulation, during: Recorder | None) -> Callable[[int], dict[str, Any]]:
        """What gives the results of a world, of a simulation at its end.

        Args:
            sim: The simulation.
            during: What has recorded it.
        """
        from rattleback.recording import Recorder

        ends = [inner for over, inner in self.texts.values() if over == "last"]
        after = Recorder(sim, 1, sources(ends, sim)) if ends else None
        numbers: dict[str, Any] = {}
        for name, value in self.results:
            if isinstance(value, str):
                over, inner = self.texts[name]
                numbers[name] = REDUCTIONS[over](_samples(after if over == "last" else during, inner))
            else:
                numbers[name] = _called(name, value, sim)
        courses = {name: _samples(during, name) for name in self.record}
        times = {"time": during.time} if during is not None and courses else {}

        def of_world(world: int) -> dict[str, Any]:
            own = {name: values[world] for name, values in numbers.items()}
            return {**own, **times, **{name: values[:, world] for name, values in courses.items()}}

        return of_world


def make_kept(record: Any, results: Any, every: Any) -> Kept:
    """What is kept, checked.

    Raises:
        InputError: It cannot be read, or is nothing.
    """
    if not record and not results:
        raise InputError(
            "A sweep of a scene keeps nothing; give record=['ball.position'] or "
            "results={'top': 'max(ball.position.z)'}."
        )
    return Kept(_record(record), _results(results), checks.count(every, "The every of a sweep"))


def _record(record: Any) -> tuple[str, ...]:
    names = [record] if isinstance(record, str) else record
    if not isinstance(names, (list, tuple)) or not all(isinstance(name, str) for name in names):
        raise InputError(f"The record of a sweep is {short(record)}; give names, such as ['ball.position', 'energy'].")
    return tuple(names)


def _results(results: Any) -> tuple[tuple[str, Any], ...]:
    if not isinstance(results, dict):
        raise InputError(
            f"The results of a sweep are {short(results)}; give a dict, such as {{'x': 'ball.position.x'}}."
        )
    for name, value in results.items():
        if isinstance(value, str):
            parsed(value)
        elif not callable(value):
            raise InputError(f"The result {name!r} is {short(value)}; give text or a function of the simulation.")
    return tuple(results.items())


def parsed(text: str) -> tuple[str, str]:
    """How a quantity is made a number, and its name."""
    form = FORM.fullmatch(text.strip())
    if form is None:
        raise InputError(
            f"The result {text!r} cannot be read; write a quantity, or {listing(list(REDUCTIONS))} of it, such as "
            "'max(ball.position.z)'."
        )
    return (form["over"], form["inner"].strip()) if form["over"] else ("last", form["plain"])


def sources(names: Sequence[str], sim: Simulation) -> list[str]:
    """The quantities that have the numbers of these names, each once."""
    return list(dict.fromkeys(_source(name, sim) for name in names))


def _source(name: str, sim: Simulation) -> str:
    """The quantity that has a number of this name: ``ball.position`` of ``ball.position.z``."""
    from rattleback.recording.quantities import find_quantity

    try:
        found = find_quantity(name, sim)
    except UnknownName as error:
        outer = name.rpartition(".")[0]
        try:
            found = find_quantity(outer, sim)
        except UnknownName:
            raise error from None
        if name not in found.labels:
            raise UnknownName(f"There is no quantity {name!r}. {outer!r} has {listing(list(found.labels))}.") from None
    if found.worlds is None:
        raise InputError(
            f"The quantity {name!r} is one for all worlds side by side, so a sweep cannot keep it for each; with "
            "strict=True a variant that misses its tolerance is told as failed."
        )
    return found.name


def _samples(recorder: Recorder | None, name: str) -> Any:
    """What was recorded under a name, shape (samples, worlds, ...)."""
    assert recorder is not None
    return recorder[name]


def _called(name: str, function: Callable[[Simulation], Any], sim: Simulation) -> Any:
    """What a function gives for each world."""
    found = np.asarray(function(sim))
    if found.shape[:1] != (sim.worlds,):
        raise InputError(
            f"The function of the result {name!r} returned an array of shape {found.shape} for {sim.worlds} worlds; "
            "its first axis must be that of the worlds."
        )
    return found
