"""The space of a sweep: which values the parameters take, variant by variant, as columns of numbers or text."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from rattleback.core.errors import InputError
from rattleback.sweeps.outcome import short
from rattleback.sweeps.samples import Samples, zipped

if TYPE_CHECKING:
    from numpy.typing import NDArray

MOST = 2**30  # variants, which would take more memory than a machine has to list
EXAMPLE = "a dict of lists, rb.sweeps.latin_hypercube(...), rb.sweeps.sobol(...), rb.sweeps.zipped(...) or a Dataset"


@dataclass(frozen=True)
class Space:
    """The variants of a sweep.

    Attributes:
        columns: Values of each parameter by its name, shape (variants, ...): numbers, truth values or text.
        axes: Where the variants are a grid, its axes with their sizes, the last of which varies fastest; else empty.
    """

    columns: dict[str, NDArray[Any]]
    axes: tuple[tuple[str, int], ...] = ()

    def __len__(self) -> int:
        return len(next(iter(self.columns.values())))

    def row(self, index: int) -> dict[str, Any]:
        """The parameters of one variant: Python's numbers and text, arrays for vectors."""
        found = {name: column[index] for name, column in self.columns.items()}
        return {name: value.copy() if np.ndim(value) else value.item() for name, value in found.items()}


def make_space(given: Any) -> Space:
    """The space that a dict of lists, samples or a Dataset describe.

    Raises:
        InputError: It is none of these, has no variants, or a value that is neither number, text nor vector.
    """
    if isinstance(given, Space):
        return given
    if isinstance(given, Samples):
        return Space({_name(name): column(name, values) for name, values in zipped(given.columns).columns.items()})
    if type(given).__module__.partition(".")[0] == "xarray" and hasattr(given, "data_vars"):
        return _of_dataset(given)
    if not isinstance(given, Mapping) or not given:
        raise InputError(f"The space of a sweep is {short(given)}; give {EXAMPLE}.")
    return _grid({_name(name): column(name, _levels(values)) for name, values in given.items()})


def column(name: str, values: Any) -> NDArray[Any]:
    """Values of one parameter as one array, whole numbers, truth values and text kept as such."""
    entries = list(values)
    if not entries:
        raise InputError(f"The parameter {name!r} has no values; give at least one.")
    if all(isinstance(entry, str) for entry in entries):
        return np.array(entries, dtype=np.str_)
    if all(isinstance(entry, (bool, np.bool_)) for entry in entries):
        return np.array(entries, dtype=np.bool_)
    if any(isinstance(entry, (bool, np.bool_, str)) for entry in entries):
        raise InputError(f"The values of {name!r} are of several kinds; give numbers alone, truth values or text.")
    try:
        found = np.array(entries)
    except ValueError:
        found = np.array(None)
    if found.dtype.kind not in "if" or found.shape[:1] != (len(entries),):
        raise InputError(
            f"The values of {name!r} are {short(entries)}; a parameter of a sweep is a number, a truth value, text, or "
            "a vector, all of the same length."
        )
    return found.astype(np.int64 if found.dtype.kind == "i" else np.float64)


def _grid(levels: dict[str, NDArray[Any]]) -> Space:
    """Every level of each parameter with every level of the others; the last parameter varies fastest."""
    sizes = [len(values) for values in levels.values()]
    count = math.prod(sizes)
    if count > MOST:
        raise InputError(f"The space of the sweep has {count} variants, {MOST} at most; draw samples of it instead.")
    places = np.unravel_index(np.arange(count), sizes)
    columns = {name: values[place] for (name, values), place in zip(levels.items(), places, strict=True)}
    return Space(columns, tuple(zip(levels, sizes, strict=True)))


def _levels(values: Any) -> Any:
    """A list of levels; a single number or text is one."""
    return [values] if isinstance(values, str) or not np.iterable(values) else values


def _of_dataset(data: Any) -> Space:
    """Data variables and coordinates of dimensions, spread over all dimensions."""
    names = [*data.data_vars, *(name for name in data.dims if name in data.coords)]
    sizes = tuple(data.sizes.values())
    if not names or 0 in sizes:
        raise InputError("The Dataset has no variants; give it a variable or a dimension with coordinates.")
    found = {}
    for name in names:
        values = data[name].variable.set_dims(dict(data.sizes)).transpose(*data.sizes).values
        found[_name(name)] = column(str(name), values.reshape(-1).tolist())
    return Space(found, tuple((str(name), size) for name, size in data.sizes.items()))


def _name(name: Any) -> str:
    """The name of a parameter, which is that of an array in files, too."""
    if not isinstance(name, str) or not name or name != name.strip() or set(name) & set("/\\\n") or name[0] in "._":
        raise InputError(
            f"A parameter of a sweep is called {name!r}; names are text without slashes, such as 'mass' or 'arm.mass'."
        )
    return name
