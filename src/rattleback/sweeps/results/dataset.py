"""The results of a sweep as arrays over variants and time: a zarr store on disk, opened as an ``xarray.Dataset``.

Every number and array has the axis ``variant`` first. A result ``time`` with one axis names the next axis of all arrays
that go with it: where all variants share their times it is the coordinate ``time``, else the axis is called ``sample``
and every variant has times of its own. Shorter arrays, and those of variants that failed, are filled up with NaN.
"""

from __future__ import annotations

import os
import secrets
import shutil
from typing import TYPE_CHECKING, Any

import numpy as np

from rattleback.core.errors import FileError, InputError
from rattleback.sweeps.results.survey import TIME
from rattleback.sweeps.results.table import NEEDS

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from rattleback.sweeps.results.survey import Form, Survey
    from rattleback.sweeps.space import Space
    from rattleback.sweeps.store import Store

VARIANT, SAMPLE = "variant", "sample"
PIECE = 2**23  # bytes of an array that are read and written at once


def write_results(store: Store, found: Survey, path: Path) -> None:
    """Write all results as zarr, whole or not at all."""
    part = path.with_name(f".{secrets.token_hex(8)}.part")
    try:
        fill(str(part), store, found)
        shutil.rmtree(path, ignore_errors=True)
        os.replace(part, path)
    except OSError as error:
        said = (error.strerror or str(error)).lower()
        raise FileError(f"The results {str(path)!r} cannot be written: {said}.") from None
    finally:
        shutil.rmtree(part, ignore_errors=True)


def fill(place: Any, store: Store, found: Survey) -> None:
    """Fill a zarr store with parameters, numbers and arrays, some chunks at a time."""
    try:
        import zarr
    except ImportError:
        raise InputError(NEEDS.format(what="The results of a sweep over time", package="zarr")) from None
    group = zarr.open_group(place, mode="w", zarr_format=3)
    count, space = len(found.done), store.space()
    for name, column in _plain(space, found, count).items():
        group.create_array(name, data=column, dimension_names=_axes(name, column.shape))
    if found.times is not None:
        group.create_array(TIME, data=found.times, dimension_names=(TIME,))
    rows = _rows(store, found)
    arrays = {
        name: group.create_array(
            name,
            shape=(count, *form.shape),
            dtype=_dtype(form, count),
            chunks=(min(rows, count), *(max(1, size) for size in form.shape)),
            dimension_names=dimensions(name, form, found),
            fill_value=np.nan if _dtype(form, count).kind == "f" else 0,
        )
        for name, form in varying(found)
    }
    for first, block in _blocks(store, found, rows):
        for name, values in block.items():
            arrays[name][first : first + len(values)] = values


def open_results(place: Any, space: Space, found: Survey) -> Any:
    """The ``xarray.Dataset`` of a zarr store, with parameters as coordinates, and text."""
    try:
        import xarray as xr
    except ImportError:
        raise InputError(NEEDS.format(what="A Dataset", package="xarray")) from None
    data = xr.open_zarr(place, consolidated=False, chunks=None)
    count = len(found.done)
    order = [name for name in (*space.columns, TIME, "ok", *found.columns, *found.forms) if name in data.variables]
    data = data[list(dict.fromkeys(order))]
    text = {name: (VARIANT, column) for name, column in space.columns.items() if column.dtype.kind == "U"}
    more = {name: (VARIANT, column.spread(count)) for name, column in found.columns.items() if column.is_text}
    more["error"] = (VARIANT, np.array([found.errors.get(index, "") for index in range(count)]))
    data = data.assign_coords({VARIANT: np.arange(count), **text}).assign(more)
    return data.set_coords([name for name in (*space.columns, TIME) if name in data])


def on_grid(data: Any, space: Space) -> Any:
    """The Dataset with an axis for each parameter of a grid instead of ``variant``."""
    if not space.axes:
        raise InputError("The variants of this sweep are samples, not a grid; open it without grid=True.")
    import xarray as xr

    names, sizes = [name for name, _ in space.axes], [size for _, size in space.axes]

    def unfold(name: str, entry: Any) -> Any:
        values, rest = entry.values.reshape(*sizes, *entry.shape[1:]), entry.dims[1:]
        if name in names and not rest:
            axis = names.index(name)
            return (name, values[tuple(slice(None) if k == axis else 0 for k in range(len(sizes)))])
        return ((*names, *rest), values)

    folded = {
        str(name): unfold(str(name), entry) if VARIANT in entry.dims else entry
        for name, entry in data.variables.items()
        if name != VARIANT
    }
    coords = {name: folded[name] for name in map(str, data.coords) if name in folded}
    return xr.Dataset({name: folded[name] for name in folded if name not in coords}, coords)


def varying(found: Survey) -> Iterator[tuple[str, Form]]:
    """The arrays that every variant has its own of."""
    return ((name, form) for name, form in found.forms.items() if name != TIME or found.times is None)


def corner(row: int, value: Any) -> tuple[int | slice, ...]:
    """Where an array stands in one that holds the largest."""
    return (row, *(slice(size) for size in np.shape(value)))


def dimensions(name: str, form: Form, found: Survey) -> tuple[str, ...]:
    """Names of the axes of an array."""
    first = (TIME if found.times is not None else SAMPLE,) if form.timed else (f"{name}_0",)
    return (VARIANT, *first, *(f"{name}_{axis}" for axis in range(1, len(form.shape))))


def _axes(name: str, shape: tuple[int, ...]) -> tuple[str, ...]:
    return (VARIANT, *(f"{name}_{axis}" for axis in range(len(shape) - 1)))


def _plain(space: Space, found: Survey, count: int) -> dict[str, Any]:
    """Parameters and numbers, by their names; text is kept in the store alone."""
    columns = {name: column for name, column in space.columns.items() if column.dtype.kind != "U"}
    columns |= {name: column.spread(count) for name, column in found.columns.items() if not column.is_text}
    return {**columns, "ok": found.ok}


def _dtype(form: Form, count: int) -> np.dtype[Any]:
    """Arrays that leave gaps are floats, so that a gap is NaN."""
    return form.dtype if form.dtype.kind == "f" else np.dtype(np.float64 if form.count < count else form.dtype)


def _rows(store: Store, found: Survey) -> int:
    """Variants in a piece: whole chunks, of some megabytes."""
    largest = max((8 * int(np.prod(form.shape)) for _, form in varying(found)), default=8)
    return store.description.chunk * max(1, PIECE // max(1, largest * store.description.chunk))


def _blocks(store: Store, found: Survey, rows: int) -> Iterator[tuple[int, dict[str, Any]]]:
    """The arrays of some chunks at a time, filled up with NaN."""
    count, forms = len(found.done), dict(varying(found))
    for first in range(0, count if forms else 0, rows):
        size = min(rows, count - first)
        block = {
            name: np.full((size, *form.shape), np.nan if _dtype(form, count).kind == "f" else 0, _dtype(form, count))
            for name, form in forms.items()
        }
        chunks = range(first // store.description.chunk, (first + size - 1) // store.description.chunk + 1)
        for entry in (entry for chunk in chunks if store.path(chunk).is_file() for entry in store.read(chunk)):
            for name in forms.keys() & entry.values.keys():
                value = entry.values[name]
                block[name][corner(entry.index - first, value)] = value
        yield first, block
