"""The derivatives of quantities by parameters, with an estimate of their errors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from rattleback.core.errors import InputError, UnknownName, did_you_mean, listing
from rattleback.core.sealed import sealed
from rattleback.sensitivities.differences import LEVELS, PART, derivative, offsets

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import ArrayLike, NDArray

    from rattleback.simulation import Simulation

    Floats = NDArray[np.float64]


@sealed
@dataclass(frozen=True)
class Jacobian:
    """The derivatives of quantities by parameters.

    Attributes:
        of: Names of the quantities.
        with_respect_to: Names of the parameters.
        matrix: The derivatives (quantities, parameters); with times, these come first.
        error: The estimate of their errors, of the same shape.
        value: The quantities themselves (quantities,); with times, these come first.
    """

    of: tuple[str, ...]
    with_respect_to: tuple[str, ...]
    matrix: Floats
    error: Floats
    value: Floats

    def __getitem__(self, pair: tuple[str, str]) -> Any:
        """The derivative of a quantity by a parameter, by their names; with times, one for each."""
        places = []
        for name, known in zip(pair, (self.of, self.with_respect_to), strict=True):
            if name not in known:
                raise UnknownName(
                    f"The Jacobian knows no {name!r}.{did_you_mean(name, known)} It has {listing(known)}."
                )
            places.append(known.index(name))
        found = self.matrix[..., places[0], places[1]]
        return float(found) if found.ndim == 0 else found

    def __repr__(self) -> str:
        return f"<Jacobian of {listing(self.of)} with respect to {listing(self.with_respect_to)}>"


def distance_of(size: float) -> float:
    """The largest distance for what has a size; one of no size counts as one."""
    return PART * (size or 1.0)


def worlds_of(parameters: int) -> int:
    """How many worlds are run for so many parameters: the first is not changed."""
    return 1 + 2 * LEVELS * parameters


def shifts(distances: Sequence[float]) -> Floats:
    """How far every parameter is changed in every world (worlds, parameters)."""
    found = np.zeros((worlds_of(len(distances)), len(distances)))
    for place, distance in enumerate(distances):
        first = 1 + 2 * LEVELS * place
        found[first : first + 2 * LEVELS, place] = offsets(distance)
    return found


def assembled(
    names: tuple[Sequence[str], Sequence[str]], values: Floats, distances: Sequence[float], one_sided: Sequence[bool]
) -> Jacobian:
    """The Jacobian from what was found in all worlds.

    Args:
        names: Of the quantities and of the parameters.
        values: The quantities (worlds, times, quantities) or (worlds, quantities).
        distances: The largest distance of every parameter.
        one_sided: Which of them are changed to one side alone.
    """
    found = []
    for place, (distance, alone) in enumerate(zip(distances, one_sided, strict=True)):
        first = 1 + 2 * LEVELS * place
        found.append(derivative(values[0], values[first : first + 2 * LEVELS], distance, alone))
    matrix, error = (np.stack([pair[k] for pair in found], axis=-1) for k in (0, 1))
    return Jacobian(tuple(names[0]), tuple(names[1]), matrix, error, values[0])


def followed(simulation: Simulation, look: Callable[[], Floats], steps: Any, duration: Any) -> Floats:
    """Quantities of all worlds after steps or times (worlds, quantities); for several, (worlds, times, quantities).

    Args:
        simulation: What is stepped.
        look: Gives the quantities (worlds, quantities).
        steps: After how many steps; None where times are given.
        duration: After which times [s].
    """
    if (steps is None) == (duration is None):
        raise InputError("A Jacobian needs either steps or a duration: steps=100, or duration=0.5.")
    what = "The steps of a Jacobian" if duration is None else "The duration of a Jacobian"
    ends = _increasing(steps if duration is None else duration, what)
    found, reached = [], 0.0
    for end in np.atleast_1d(ends):
        if end > reached:
            if duration is None:
                simulation.step(int(end - reached))
            else:
                simulation.run(end - reached)
        found.append(look())
        reached = end
    return found[0] if np.ndim(ends) == 0 else np.stack(found, axis=1)


def _increasing(value: ArrayLike, what: str) -> Any:
    """A number or a list of numbers that do not fall."""
    try:
        found = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError):
        found = np.asarray(np.nan)
    whole = "steps" not in what or bool((found == np.round(found)).all())
    if found.ndim > 1 or not found.size or not np.isfinite(found).all() or not whole or (found < 0).any():
        raise InputError(f"{what} is {value!r}; it must be a number from zero, or a list of them.")
    if found.ndim == 1 and (np.diff(found) < 0).any():
        raise InputError(f"{what} is a list that falls; it must rise.")
    return found
