"""The table of a sweep: a row for each variant, with its parameters, its seed, what failed, and its numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rattleback.core import whole_file
from rattleback.core.errors import InputError

if TYPE_CHECKING:
    from pathlib import Path

    from rattleback.sweeps.results.survey import Survey
    from rattleback.sweeps.space import Space

NEEDS = "{what} needs {package}; install it with: pip install 'rattleback[cluster]'."


def flat(space: Space) -> dict[str, Any]:
    """The parameters as columns of single values: ``gravity.0``, ``gravity.1`` ... of a vector."""
    found: dict[str, Any] = {}
    for name, column in space.columns.items():
        if column.ndim == 1:
            found[name] = column
            continue
        for place in np.ndindex(column.shape[1:]):
            found[".".join([name, *map(str, place)])] = column[(slice(None), *place)]
    return found


def make_table(space: Space, seeds: Any, found: Survey) -> Any:
    """The rows that are there, as a ``pyarrow.Table``."""
    try:
        import pyarrow as pa
    except ImportError:
        raise InputError(NEEDS.format(what="The table of a sweep", package="pyarrow")) from None
    rows = np.flatnonzero(found.done)
    columns: dict[str, Any] = {"variant": pa.array(rows)}
    columns |= {name: pa.array(column[rows]) for name, column in flat(space).items()}
    columns["seed"] = pa.array([seeds(int(row)) for row in rows], pa.int64())
    columns["ok"] = pa.array(found.ok[rows])
    columns["error"] = pa.array([found.errors.get(int(row)) for row in rows], pa.string())
    columns["report"] = pa.array([found.reports.get(int(row)) for row in rows], pa.string())
    for name, column in found.columns.items():
        kind = pa.string() if column.is_text else pa.from_numpy_dtype(column.dtype)
        values = [column.values.get(int(row)) for row in rows]
        plain = [value if value is None or column.is_text else value.item() for value in values]
        columns[name] = pa.array(plain, kind)
    return pa.table(columns)


def write_table(table: Any, path: Path) -> None:
    """Write a table as parquet, whole or not at all."""
    import pyarrow.parquet as pq

    whole_file.write(path, lambda stream: pq.write_table(table, stream), "table")
