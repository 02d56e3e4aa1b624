"""The recorder: any quantity of a running simulation over time, as arrays, files and plots."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from rattleback.core import checks, whole_file
from rattleback.core.errors import InputError, UnknownName, did_you_mean, listing
from rattleback.core.sealed import sealed
from rattleback.recording.files import check_suffix, write_csv, write_npz
from rattleback.recording.quantities import Quantity, find_quantity, own_quantity, split_unit
from rattleback.recording.series import Series
from rattleback.simulation import Simulation

if TYPE_CHECKING:
    from collections.abc import Callable
    from os import PathLike

    from matplotlib.figure import Figure
    from numpy.typing import NDArray

    from rattleback.recording.motion.export import Exported

    Own = Callable[[Simulation], Any]
    Wanted = str | Iterable[str | tuple[str, Own]] | Mapping[str, Own]

SUFFIXES = (".csv", ".npz")


@sealed
class Recorder:
    """Records quantities of a simulation while it runs; it never changes the run.

    The first sample is taken at once, the next ones after every step whose number is a multiple of ``every``.
    ``recorder["arm.position"]`` is then an array of shape (samples, 3), with a world axis after the first where worlds
    were asked for. What was recorded for all bodies can be read for one of them, and every column by its own name:
    ``recorder["arm.position.x"]``, ``recorder["energy.total"]``.

    Args:
        simulation: The simulation to watch.
        every: Number of steps from one sample to the next.
        quantities: Names, such as ``"energy"``, ``"position"``, ``"arm.velocity"``, ``"iterations"``; and pairs
            (name, function of the simulation), or a dict of them, for quantities of one's own. A unit may follow the
            name of those in brackets: ``("height [m]", lambda sim: sim["ball"].position[2])``.
    """

    def __init__(self, simulation: Simulation, every: int = 1, quantities: Wanted = ("energy",)) -> None:
        checks.instance(simulation, Simulation, "What a Recorder watches", "rb.Simulation(scene)")
        self.simulation, self.every = simulation, every
        first = _resolve(quantities, simulation)
        self._quantities = {quantity.name: quantity for quantity, _ in first}
        self._time = Series((), np.float64)
        self._series = {quantity.name: Series(value.shape, value.dtype) for quantity, value in first}
        self._store({quantity.name: value for quantity, value in first})
        simulation.observe(self)
        self._attached = True

    @property
    def every(self) -> int:
        """Number of steps from one sample to the next; may be written."""
        return self._every

    @every.setter
    def every(self, value: int) -> None:
        self._every = checks.count(value, "The every of a Recorder")

    @property
    def time(self) -> NDArray[np.float64]:
        """Times of the samples [s], shape (samples,)."""
        return self._time.values.astype(np.float64, copy=False)

    @property
    def quantities(self) -> list[str]:
        """Names of what is recorded."""
        return list(self._quantities)

    @property
    def columns(self) -> list[str]:
        """Names of all columns with their units, time first, as in the header of a CSV file; none comes twice."""
        return list(self._tables())

    def unit(self, name: str) -> str:
        """Unit of what ``recorder[name]`` gives; empty for none."""
        return self.quantity(name)[0].unit

    def __len__(self) -> int:
        return len(self._time.values)

    def __contains__(self, name: object) -> bool:
        return name in self._quantities

    def __getitem__(self, name: str) -> NDArray[Any]:
        """Samples of a quantity, of a part of a recorded one or of a column; read-only, shape (samples, ...)."""
        quantity, source = self.quantity(name)
        values = self._series[source].values
        if quantity.name == source:
            return values
        place = {label: index for index, label in enumerate(self._quantities[source].labels)}
        flat = values.reshape(len(values), quantity.worlds or 1, len(place))
        part = flat[:, :, [place[label] for label in quantity.labels]]
        return part.reshape(len(values), *quantity.full_shape)

    def quantity(self, name: str) -> tuple[Quantity, str]:
        """What a name means here, and the recorded quantity it is, or is a part of."""
        bare = split_unit(str(name))[0]
        if bare in self._quantities:
            return self._quantities[bare], bare
        with suppress(UnknownName):
            wanted = find_quantity(bare, self.simulation)
            for source, recorded in self._quantities.items():
                if set(wanted.labels) <= set(recorded.labels):
                    return wanted, source
        for source, recorded in self._quantities.items():
            if bare in recorded.labels:
                return replace(recorded, name=bare, labels=(bare,), shape=()), source
        known = [*self._quantities, *(label for entry in self._quantities.values() for label in entry.labels)]
        raise UnknownName(
            f"{name!r} was not recorded.{did_you_mean(name, known)} What was: {listing(self.quantities, 30)}."
        )

    def observe(self, simulation: Simulation) -> None:
        """Take a sample; the simulation calls this after every ``every``-th step."""
        self.sample()

    def sample(self) -> None:
        """Take a sample now, whatever the number of the step."""
        self._store({name: self._read(quantity) for name, quantity in self._quantities.items()})

    def clear(self) -> None:
        """Forget all samples and go on recording."""
        for series in (self._time, *self._series.values()):
            series.clear()

    def detach(self) -> None:
        """Stop recording; what was recorded stays."""
        if self._attached:
            self.simulation.unobserve(self)
        self._attached = False

    def save(self, path: str | PathLike[str]) -> None:
        """Write all samples to a file, whole or not at all.

        Args:
            path: ``.csv``, one column for each number under a header with units, all digits kept; or ``.npz``, the
                arrays as NumPy reads them: ``time``, ``columns`` (the header of the CSV file) and every quantity.
        """
        target, tables = check_suffix(path, SUFFIXES, "a recording"), self._tables()
        if target.suffix.lower() == ".csv":
            columns = [column[:, None] for column in tables.values()]
            whole_file.write(target, lambda stream: write_csv(stream, list(tables), columns), "recording")
            return
        arrays = {"time": self.time, "columns": np.array(list(tables))}
        arrays |= {name: series.values for name, series in self._series.items()}
        whole_file.write(target, lambda stream: write_npz(stream, arrays), "recording")

    def export(
        self,
        path: str | PathLike[str],
        *,
        fps: float = 60.0,
        speed: float = 1.0,
        joints: bool = True,
        arrows: bool = True,
    ) -> Exported:
        """Write the motion for other programs: every body with its geometry and its place at the times of the frames.

        The recorder must have ``position`` and ``orientation`` of all bodies. Where a frame lies between two samples,
        places follow straight lines and orientations the shortest turn; what is returned says how far that may be off.
        All else that was recorded is written beside it. Of several worlds, the first is shown.

        Args:
            path: ``.glb`` or ``.gltf``, animated glTF; ``.usd``, ``.usda`` or ``.usdc``, USD with time samples.
            fps: Frames in a second of film.
            speed: Simulated seconds in a second of film; 0.25 is slow motion.
            joints: Whether joints are marked and their points written.
            arrows: Whether recorded velocities and forces are drawn as arrows.

        Raises:
            InputError: The recording has no places, no samples, or goes back in time.
            FileError: The file cannot be written.
        """
        from rattleback.recording.motion.export import export

        return export(self, path, (fps, speed), joints=joints, arrows=arrows)

    def plot(
        self, quantities: str | list[str] | None = None, path: str | PathLike[str] | None = None, drift: bool = False
    ) -> Figure:
        """Draw quantities over time, one below the other; returns a Matplotlib figure.

        Args:
            quantities: A name or a list of them; None for all that are recorded.
            path: Where to save the figure, if anywhere: ``.png``, ``.pdf``, ``.svg`` and others.
            drift: Whether to add the relative drift of the total energy, which must be recorded.
        """
        from rattleback.recording.plots import plot

        names = self.quantities if quantities is None else quantities
        return plot(self, [names] if isinstance(names, str) else list(names), path, drift)

    def __repr__(self) -> str:
        return f"<Recorder of {listing(self.quantities, 6)}, {len(self)} samples>"

    def _store(self, values: dict[str, NDArray[Any]]) -> None:
        self._time.append(np.asarray(self.simulation.time))
        for name, value in values.items():
            self._series[name].append(value)

    def _read(self, quantity: Quantity) -> NDArray[Any]:
        value, wanted = np.asarray(quantity.read(self.simulation)), self._series[quantity.name].shape
        if value.shape != wanted:
            raise InputError(
                f"The quantity {quantity.name!r} has shape {value.shape} at t = {self.simulation.time:.6g} s; "
                f"its first sample had {wanted}, and all must have the same."
            )
        return value

    def _tables(self) -> dict[str, NDArray[Any]]:
        """Every column by its name; the same body asked for twice gives the same column once."""
        found: dict[str, NDArray[Any]] = {"time [s]": self.time}
        for name, quantity in self._quantities.items():
            values, columns = self._series[name].values, quantity.columns
            flat = values.reshape(len(values), len(columns))
            found.update({column: flat[:, index] for index, column in enumerate(columns)})
        return found


def _resolve(quantities: Any, simulation: Simulation) -> list[tuple[Quantity, NDArray[Any]]]:
    """The quantities asked for, in order, each with its first sample."""
    if isinstance(quantities, str):
        quantities = [quantities]
    entries = list(quantities.items()) if isinstance(quantities, Mapping) else quantities
    if not isinstance(entries, Iterable):
        raise InputError(f"The quantities of a Recorder are {quantities!r}; give a list of names, such as ['energy'].")
    found = [_one(entry, simulation) for entry in entries]
    if not found:
        raise InputError("A Recorder got no quantities; give at least one name, such as 'energy'.")
    _check_unique([quantity for quantity, _ in found])
    return found


def _one(entry: Any, simulation: Simulation) -> tuple[Quantity, NDArray[Any]]:
    if isinstance(entry, str):
        quantity = find_quantity(entry, simulation)
        return quantity, np.asarray(quantity.read(simulation))
    if isinstance(entry, tuple) and len(entry) == 2:
        return own_quantity(entry[0], entry[1], simulation)
    raise InputError(
        f"A quantity of a Recorder is {entry!r}; it must be a name, such as 'energy', or a pair (name, function)."
    )


def _check_unique(quantities: list[Quantity]) -> None:
    """Refuse a name given twice, and a column that would mean two things."""
    names: set[str] = set()
    owners: dict[str, Quantity] = {}
    for quantity in quantities:
        if quantity.name in names:
            raise InputError(f"The quantity {quantity.name!r} is given twice to a Recorder.")
        names.add(quantity.name)
        for label in quantity.labels:
            other = owners.setdefault(label, quantity)
            if other is not quantity and (quantity.own or other.own):
                raise InputError(
                    f"The quantities {other.name!r} and {quantity.name!r} both have a column {label!r}; rename yours."
                )
