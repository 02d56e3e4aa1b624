"""What came of a sweep: its store, read as a table, as arrays, and as pictures. Reading runs no code of the store."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from rattleback.core import whole_file
from rattleback.core.errors import UnknownName, did_you_mean, listing
from rattleback.sweeps.outcome import seed_of
from rattleback.sweeps.results import dataset, table
from rattleback.sweeps.results.survey import Survey, survey
from rattleback.sweeps.store import RESULTS, TABLE, Store, open_store

if TYPE_CHECKING:
    from os import PathLike

    from matplotlib.figure import Figure
    from numpy.typing import NDArray

    from rattleback.sweeps.space import Space

    Path_ = str | PathLike[str]


class Result:
    """The results of a sweep, as far as it is done.

    ``result["height"]`` is a parameter or a result of every variant as an array, NaN where there is none.

    Args:
        store: The store.
        held: What keeps a temporary store from being removed.
    """

    def __init__(self, store: Store, held: Any = None) -> None:
        self.store, self._held = store, held
        self.space: Space = store.space()
        self._survey: Survey | None = None

    @property
    def survey(self) -> Survey:
        """A look through the store, taken once."""
        if self._survey is None:
            self._survey = survey(self.store.outcomes(), len(self))
        return self._survey

    @property
    def parameters(self) -> list[str]:
        """Names of the parameters."""
        return list(self.space.columns)

    @property
    def names(self) -> list[str]:
        """Names of the results, numbers first."""
        return [*self.survey.columns, *self.survey.forms]

    @property
    def failed(self) -> dict[int, str]:
        """Why variants failed, by their number."""
        return dict(self.survey.errors)

    @property
    def missing(self) -> int:
        """Number of variants that have not been run."""
        return int(len(self) - self.survey.done.sum())

    def __len__(self) -> int:
        return self.store.description.variants

    def __repr__(self) -> str:
        told = [f"{len(self.failed)} failed"] if self.failed else []
        told += [f"{self.missing} missing"] if self.missing else []
        return f"<Result of {', '.join([f'{len(self)} variants', *told])}: {listing(self.names, 8)}>"

    def __getitem__(self, name: str) -> NDArray[Any]:
        found = self.survey
        if name in self.space.columns:
            return self.space.columns[name].copy()
        if name in found.columns:
            return found.columns[name].spread(len(self))
        if name not in found.forms:
            known = [*self.parameters, *self.names]
            raise UnknownName(f"The sweep has no {name!r}.{did_you_mean(name, known)} It has {listing(known, 30)}.")
        form = found.forms[name]
        values = np.full((len(self), *form.shape), np.nan)
        for _, outcomes in self.store.outcomes():
            for entry in outcomes:
                if name in entry.values:
                    value = entry.values[name]
                    values[dataset.corner(entry.index, value)] = value
        return values

    def table(self) -> Any:
        """A row for each variant that was run, as a ``pandas.DataFrame``: parameters, seed, failures, numbers."""
        return self.arrow().to_pandas().set_index("variant")

    def arrow(self) -> Any:
        """The same as a ``pyarrow.Table``."""
        seed = self.store.description.seed
        return table.make_table(self.space, lambda index: seed_of(seed, index), self.survey)

    def open(self, grid: bool = False) -> Any:
        """All results as an ``xarray.Dataset`` over ``variant`` and, for arrays, ``time`` and further axes.

        Args:
            grid: Whether the variants of a grid are laid out over its parameters.
        """
        path: Any = self.store.folder / RESULTS
        if not path.is_dir():
            path = self._written(path)
        data = dataset.open_results(path, self.space, self.survey)
        return dataset.on_grid(data, self.space) if grid else data

    def collect(self) -> list[Path]:
        """Write ``table.parquet`` and ``results.zarr`` into the store; where they are."""
        places = [self.store.folder / TABLE, self.store.folder / RESULTS]
        table.write_table(self.arrow(), places[0])
        dataset.write_results(self.store, self.survey, places[1])
        return places

    def collect_where_possible(self) -> None:
        """The same, if the packages it takes are there, no variant is missing, and it has not been done."""
        there = (self.store.folder / TABLE).is_file() and (self.store.folder / RESULTS).is_dir()
        if not there and all(map(find_spec, ("pyarrow", "zarr"))) and not self.missing:
            self.collect()

    def plot_main_effects(self, results: Any = None, path: Path_ | None = None) -> Figure:
        """Draw each result over each parameter; see :mod:`rattleback.sweeps.results.plots`."""
        from rattleback.sweeps.results.plots import main_effects

        return main_effects(self, results, path)

    def plot_scatter_matrix(self, names: Any = None, path: Path_ | None = None) -> Figure:
        """Draw every parameter and result over every other; see :mod:`rattleback.sweeps.results.plots`."""
        from rattleback.sweeps.results.plots import scatter_matrix

        return scatter_matrix(self, names, path)

    def plot_quantiles(self, name: str, path: Path_ | None = None) -> Figure:
        """Draw how an array spreads over time; see :mod:`rattleback.sweeps.results.plots`."""
        from rattleback.sweeps.results.plots import quantiles

        return quantiles(self, name, path)

    def _written(self, path: Path) -> Any:
        """The zarr store on disk of a sweep that is complete; of another one in memory."""
        if self.missing:
            from zarr.storage import MemoryStore

            place = MemoryStore()
            dataset.fill(place, self.store, self.survey)
            return place
        dataset.write_results(self.store, self.survey, path)
        return path


def load(store: Path_) -> Result:
    """The results in a folder, as far as the sweep is done.

    Raises:
        FileError: There is no sweep in it, or its description is damaged.
    """
    return Result(open_store(Path(whole_file.location(store, "store"))))
