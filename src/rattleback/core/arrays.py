"""Array groups: related arrays that travel through kernels as one struct, each field declared once.

    @group(axis="bodies")
    class BodyState:
        '''What moves.'''
        position: vec3 = field("m", "centre of mass, world frame")

The declared name is a Warp struct, used as a type in kernels. The same declaration allocates, copies,
saves, hashes and checks: every function here walks the declared fields in order.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import warp as wp

from rattleback.core.errors import InputError
from rattleback.core.mirror import seen

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from numpy.typing import NDArray

T = TypeVar("T")
G = TypeVar("G")


@dataclass(frozen=True)
class Field:
    """One array of a group: its unit, its meaning in a line, and what its rows count."""

    unit: str
    meaning: str
    axis: str = ""
    dtype: Any = None


def field(unit: str, meaning: str, axis: str = "") -> Any:
    """Declare an array; its annotation is the type of one entry, ``axis`` what its rows count."""
    return Field(unit, meaning, axis)


def group(axis: str) -> Callable[[type[T]], type[T]]:
    """Turn a class of declared fields into a Warp struct of arrays along ``axis``."""

    def build(cls: type[T]) -> type[T]:
        types = {name: kind for name, kind in cls.__annotations__.items() if isinstance(vars(cls).get(name), Field)}
        declared = {
            name: Field(vars(cls)[name].unit, vars(cls)[name].meaning, vars(cls)[name].axis or axis, kind)
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


def write(thing: Any, values: Mapping[str, NDArray[Any]], what: str) -> None:
    """Set every array from NumPy arrays of the right shape and kind."""
    for name, array in each(thing):
        if name not in values:
            raise InputError(f"{what} has no array {name!r}.")
        given, have = np.asarray(values[name]), array.numpy()
        if given.shape != have.shape or given.dtype != have.dtype:
            raise InputError(
                f"{what}: {name} has shape {given.shape} of {given.dtype}; it must be {have.shape} of {have.dtype}."
            )
    for name, array in each(thing):
        array.assign(np.ascontiguousarray(values[name]))


def feed_hash(values: Mapping[str, NDArray[Any]], digest: Any) -> None:
    """Feed names and bytes of arrays to a hashlib digest, in their order."""
    for name, array in values.items():
        digest.update(name.encode())
        digest.update(np.ascontiguousarray(array).tobytes())


def describe(kind: Any) -> list[tuple[str, str, str]]:
    """(field, unit, meaning) of a group, for the documentation."""
    return [(name, declared.unit, declared.meaning) for name, declared in fields(kind).items()]
