"""Array groups: related arrays that travel through kernels as one struct, each field declared once.

    @group(axis="bodies")
    class BodyState:
        '''What moves.'''
        position: vec3 = field("m", "centre of mass, world frame")

The declared name is a Warp struct, used as a type in kernels. The same declaration allocates, copies,
saves, hashes and checks: every function here walks the declared fields in order. What comes from outside has to be in
the range a field declares, see ``ranges``.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import warp as wp

from rattleback.core.errors import InputError
from rattleback.core.mirror import seen
from rattleback.core.ranges import first_row

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from numpy.typing import NDArray

    from rattleback.core.ranges import Range

T = TypeVar("T")
G = TypeVar("G")


@dataclass(frozen=True)
class Field:
    """One array of a group: its unit, its meaning in a line, what its rows count, and what its numbers may be."""

    unit: str
    meaning: str
    axis: str = ""
    within: Range | None = None
    dtype: Any = None


def field(unit: str, meaning: str, axis: str = "", within: Range | None = None) -> Any:
    """Declare an array; its annotation is the type of one entry, ``axis`` what its rows count.

    ``within`` is what its numbers may be where they come from outside; None for anything finite.
    """
    return Field(unit, meaning, axis, within)


def group(axis: str) -> Callable[[type[T]], type[T]]:
    """Turn a class of declared fields into a Warp struct of arrays along ``axis``."""

    def build(cls: type[T]) -> type[T]:
        types = {name: kind for name, kind in cls.__annotations__.items() if isinstance(vars(cls).get(name), Field)}
        declared = {
            name: replace(vars(cls)[name], axis=vars(cls)[name].axis or axis, dtype=kind)
            for name, kind in types.items()
        }
        body = {
            "__annotations__": {name: wp.array(dtype=kind) for name, kind in types.items()},
            "__module__": cls.__module__,
            "__qualname__": cls.__qualname__,
            "__doc__": cls.__doc__,
        }
        struct: Any = wp.struct(type(cls.__name__, (), body))
        struct.fields = declared
        struct.__doc__ = cls.__doc__
        result: type[T] = struct
        return result

    return build


def fields(thing: Any) -> dict[str, Field]:
    """The declared fields of a group or of an allocated one, in order."""
    declared: dict[str, Field] = (thing if hasattr(thing, "fields") else thing._cls).fields
    return declared


def allocate(kind: type[G], counts: Mapping[str, int], device: Any) -> G:
    """A group of zeroed arrays with ``counts[axis]`` rows each."""
    result = kind()
    for name, declared in fields(kind).items():
        setattr(result, name, wp.zeros(counts[declared.axis], dtype=declared.dtype, device=device))
    return result


def each(thing: Any) -> Iterator[tuple[str, Any]]:
    """The arrays of an allocated group, by name, in order."""
    for name in fields(thing):
        yield name, getattr(thing, name)


def copy_into(target: Any, source: Any) -> None:
    """Copy every array; both groups have the same declaration and lengths."""
    for name, array in each(source):
        wp.copy(getattr(target, name), array)


def clone(thing: G) -> G:
    """A group of its own with the same contents, on the same device."""
    result: G = thing._cls()  # type: ignore[attr-defined]
    for name, array in each(thing):
        setattr(result, name, wp.clone(array))
    return result


def read(thing: Any) -> dict[str, NDArray[Any]]:
    """Every array as a NumPy array of its own."""
    return {name: np.array(seen(array)) for name, array in each(thing)}


def view(thing: Any) -> dict[str, NDArray[Any]]:
    """Every array as NumPy shows it: not copied where it lies on the CPU."""
    return {name: array.numpy() for name, array in each(thing)}


def write(thing: Any, values: Mapping[str, NDArray[Any]], what: str) -> None:
    """Set every array from NumPy arrays of the right shape and kind."""
    for name, array in each(thing):
        have = array.numpy()
        _refuse_other_form(name, values, have.shape, have.dtype, what)
    for name, array in each(thing):
        array.assign(np.ascontiguousarray(values[name]))


def check(kind: Any, values: Mapping[str, NDArray[Any]], sizes: Mapping[str, int], what: str) -> None:
    """Refuse arrays that are not as a group declares them: in number, shape and kind, finite, and within their ranges.

    Args:
        kind: The group.
        values: An array for each of its fields.
        sizes: Rows along every axis its fields and their ranges name.
        what: What has the arrays, for messages.
    """
    for name, declared in fields(kind).items():
        inner, dtype = _form(declared.dtype)
        _refuse_other_form(name, values, (sizes[declared.axis], *inner), dtype, what)
    for name, declared in fields(kind).items():
        array, within = values[name], declared.within
        if array.dtype.kind == "f" and (row := first_row(~np.isfinite(array))) is not None:
            raise InputError(f"{what}: {name} is not finite in row {row}.")
        if within is not None and (row := within.first_violated(array, sizes)) is not None:
            raise InputError(f"{what}: {name} is {array[row]} in row {row}; it must be {within.told(sizes)}.")


@cache
def _form(kind: Any) -> tuple[tuple[int, ...], np.dtype[Any]]:
    """Shape and kind of number of one entry."""
    scalar = getattr(kind, "_wp_scalar_type_", kind)
    return tuple(getattr(kind, "_shape_", ())), np.dtype(wp.dtype_to_numpy(scalar))


def _refuse_other_form(
    name: str, values: Mapping[str, NDArray[Any]], shape: tuple[int, ...], dtype: np.dtype[Any], what: str
) -> None:
    if name not in values:
        raise InputError(f"{what} has no array {name!r}.")
    given = np.asarray(values[name])
    if given.shape != shape or given.dtype != dtype:
        raise InputError(f"{what}: {name} has shape {given.shape} of {given.dtype}; it must be {shape} of {dtype}.")


def feed_hash(values: Mapping[str, NDArray[Any]], digest: Any) -> None:
    """Feed names and bytes of arrays to a hashlib digest, in their order."""
    for name, array in values.items():
        digest.update(name.encode())
        digest.update(np.ascontiguousarray(array).tobytes())


def describe(kind: Any) -> list[tuple[str, str, str]]:
    """(field, unit, meaning) of a group, for the documentation."""
    return [(name, declared.unit, declared.meaning) for name, declared in fields(kind).items()]
