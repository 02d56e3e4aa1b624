"""A sweep: many variants of a function or a scene, run in chunks that stay on disk.

    variants  =  space(target)      chunk c  =  variants c b ... (c + 1) b − 1      task  =  a chunk that is missing

b is the number of variants in a chunk. Missing chunks are run in this process, in processes beside it or on a cluster;
what comes back is written as one file a chunk. A sweep that was ended goes on where it stopped; so n machines can share
one, each with the chunks c with c mod n = i. The seed of a variant follows from that of the sweep and its number, so
that no order of running matters. Beside what the target takes, a chunk costs some milliseconds for its file.
"""

from __future__ import annotations

import shutil
import tempfile
import weakref
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rattleback._version import __version__
from rattleback.core import checks, precision, whole_file
from rattleback.core.errors import FileError, InputError
from rattleback.sweeps.bar import progress_bar
from rattleback.sweeps.explanation import Explanation, explain
from rattleback.sweeps.identity import digest
from rattleback.sweeps.outcome import Outcome, Task, Variant, seed_of
from rattleback.sweeps.results.result import Result
from rattleback.sweeps.space import Space, make_space
from rattleback.sweeps.store import DESCRIPTION, Description, Store, create, open_store
from rattleback.sweeps.targets import make_target, target_of
from rattleback.sweeps.workers import execute
from rattleback.sweeps.workers.processes import refuse_recursion

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from os import PathLike

MOST_CHUNK = 65536


class Temporary:
    """A folder that is removed when nothing holds it any more."""

    def __init__(self) -> None:
        self.folder = tempfile.mkdtemp(prefix="rattleback-sweep-")
        weakref.finalize(self, shutil.rmtree, self.folder, ignore_errors=True)


class Sweep:
    """A sweep that can be explained, described in its store, run and looked at.

    Args:
        target: A function ``f(**parameters)`` that returns a dict of results; the text ``"package.module:function"``;
            a scene or the path of its file.
        space: A dict of lists for all combinations, samples, or an ``xarray.Dataset``.
        store: The folder for what comes of it; None for a temporary one, which goes with the result.
        seed: What the seeds of the variants follow from; a function with a parameter ``seed`` gets its own.
        chunk: Number of variants in a file; where a store is there already, its own holds.
        **options: What a scene needs besides, see :mod:`rattleback.sweeps.scene_target`.
    """

    def __init__(
        self,
        target: Any,
        space: Any,
        store: str | PathLike[str] | None = None,
        *,
        seed: int = 0,
        chunk: int | None = None,
        **options: Any,
    ) -> None:
        refuse_recursion()
        self.space: Space = make_space(space)
        self.target = make_target(target, options)
        self.target.check(self.space.row(0))
        self._held = Temporary() if store is None else None
        self._folder = Path(self._held.folder if self._held else whole_file.location(store, "store"))
        size = (
            self.target.chunk_size(len(self.space))
            if chunk is None
            else checks.count(chunk, "The chunk of a sweep", most=MOST_CHUNK)
        )
        told = "" if self._held else self.target.digest()
        counts = checks.count(seed, "The seed of a sweep", least=0), size
        self._wanted = describe(self.target, self.space, counts, told)
        self._store: Store | None = None

    @classmethod
    def open(cls, store: str | PathLike[str]) -> Sweep:
        """The sweep that a store describes; the module of its function is imported.

        Raises:
            FileError: There is no sweep in the folder.
            InputError: Its function cannot be imported, or has changed since.
        """
        found = open_store(Path(whole_file.location(store, "store")))
        told = found.description
        target, options = target_of(told.target)
        sweep = cls(target, found.space(), found.folder, seed=told.seed, chunk=told.chunk, **options)
        sweep.store()
        return sweep

    def __len__(self) -> int:
        return len(self.space)

    def __repr__(self) -> str:
        return f"<Sweep of {self.target.name}: {len(self)} variants of {', '.join(self.space.columns)}>"

    def store(self) -> Store:
        """The store, described on disk, so that ``rattleback sweep run`` can work on it."""
        if self._store is None:
            self._store = create(self._folder, self._wanted, self.space)
        return self._store

    def explain(self, workers: int = 1) -> Explanation:
        """What a run would cost, from the time that a few variants take; nothing of them is kept.

        Args:
            workers: Number of processes that it would have.
        """
        begun = (self._folder / DESCRIPTION).is_file()
        left = sum(len(self.store().range(chunk)) for chunk in self._missing(None, False)) if begun else len(self)
        batch = min(self.target.timed, len(self))
        starts = sorted({0, len(self) // 2, len(self) - batch})[:2]
        timed = [[self.variant(min(start, len(self) - batch) + k) for k in range(batch)] for start in starts]
        return explain(self.target, timed, (len(self), left), workers)

    def run(
        self,
        *,
        workers: int = 1,
        client: Any = None,
        part: tuple[int, int] | None = None,
        retry: bool = False,
        progress: bool = True,
    ) -> Result:
        """Run what is missing.

        Args:
            workers: Number of processes; 1 runs all in this one.
            client: A ``dask.distributed.Client`` to run it with instead.
            part: Part i of n, counted from 1: only every n-th chunk.
            retry: Whether chunks with failed variants are run anew.
            progress: Whether to show a progress bar, if standard error is a terminal.

        Raises:
            FileError: The store cannot be written, such as on a full disk; what was done stays.
            InputError: The target cannot be run where it is to be run.
        """
        store, missing = self.store(), self._missing(_part(part), retry)
        if missing:
            store.forget_collected()
            runs = execute(self.target, self._tasks(missing), workers, client)
            self._keep(runs, missing, progress)
        result = Result(store, self._held)
        if self._held is None and part is None:
            result.collect_where_possible()
        return result

    def variant(self, index: int) -> Variant:
        """One variant, with its parameters and its seed."""
        return Variant(index, self.space.row(index), seed_of(self._wanted.seed, index))

    def _missing(self, part: tuple[int, int] | None, retry: bool) -> list[int]:
        """Chunks that are not there, of all or of one part."""
        store = self.store()
        number, of = part or (1, 1)
        wanted = range(number - 1, store.chunks, of)
        return [
            chunk
            for chunk in wanted
            if not store.is_done(chunk) or (retry and any(entry.error for entry in store.read(chunk)))
        ]

    def _tasks(self, chunks: Iterable[int]) -> Iterator[Task]:
        for chunk in chunks:
            yield Task(chunk, tuple(self.variant(index) for index in self.store().range(chunk)))

    def _keep(self, runs: Any, missing: Sequence[int], progress: bool) -> None:
        """Write every chunk as soon as all of it is there."""
        store = self.store()
        waiting: dict[int, dict[int, Outcome]] = {}
        total = sum(len(store.range(chunk)) for chunk in missing)
        with ExitStack() as stack:
            stack.callback(runs.close)
            advance = stack.enter_context(progress_bar(self.target.name, total, progress))
            for task, outcomes in runs:
                found = waiting.setdefault(task.chunk, {})
                found.update({entry.index: entry for entry in outcomes})
                if len(found) == len(store.range(task.chunk)):
                    self._write(task.chunk, waiting.pop(task.chunk))
                advance(len(outcomes), sum(bool(entry.error) for entry in outcomes))

    def _write(self, chunk: int, found: dict[int, Outcome]) -> None:
        store = self.store()
        try:
            store.write(chunk, [found[index] for index in store.range(chunk)])
        except FileError as error:
            raise FileError(
                f"The sweep stopped: {str(error)[0].lower()}{str(error)[1:]} What is done stays; mend that and run it "
                "again, which computes what is missing."
            ) from None


def sweep(
    target: Any,
    space: Any,
    store: str | PathLike[str] | None = None,
    *,
    workers: int = 1,
    client: Any = None,
    seed: int = 0,
    chunk: int | None = None,
    retry: bool = False,
    explain: bool = False,
    progress: bool = True,
    **options: Any,
) -> Any:
    """Run many variants of a function or a scene, or what a store lacks of them.

    Args:
        target: A function ``f(**parameters)`` that returns a dict of results: numbers, text, arrays; or a scene.
        space: A dict of lists for all combinations; samples, such as
            ``rb.sweeps.latin_hypercube({"mass": (1, 2)}, 64)``; or an ``xarray.Dataset``.
        store: The folder for what comes of it; None for a temporary one, which goes with the result.
        workers: Number of processes; 1 runs all in this one.
        client: A ``dask.distributed.Client`` to run it with instead.
        seed: What the seeds of the variants follow from; a function with a parameter ``seed`` gets its own.
        chunk: Number of variants in a file of the store.
        retry: Whether chunks with failed variants are run anew.
        explain: Whether to say the cost instead, from the time that a few variants take.
        progress: Whether to show a progress bar, if standard error is a terminal.
        **options: For a scene, see :mod:`rattleback.sweeps.scene_target`.

    Returns:
        The :class:`~rattleback.sweeps.results.result.Result`, or with ``explain=True`` the
        :class:`~rattleback.sweeps.explanation.Explanation`.
    """
    made = Sweep(target, space, store, seed=seed, chunk=chunk, **options)
    if explain:
        return made.explain(workers)
    return made.run(workers=workers, client=client, retry=retry, progress=progress)


def describe(target: Any, space: Space, counts: tuple[int, int], told: str) -> Description:
    """What a store says of a sweep; its key tells it from others.

    Args:
        target: What is run.
        space: Its variants.
        counts: The seed, and the number of variants in a chunk.
        told: What tells the target from others.
    """
    seed, chunk = counts
    identity: dict[str, str | int] = {
        "target": told,
        "space": digest([space.columns, space.axes]),
        "seed": seed,
        "rattleback": __version__,
        "precision": "double" if precision.epsilon < 1e-10 else "single",
    }
    return Description(
        key=digest(identity),
        identity=identity,
        target=target.describe(),
        seed=seed,
        variants=len(space),
        chunk=chunk,
    )


def _part(part: tuple[int, int] | None) -> tuple[int, int] | None:
    if part is None:
        return None
    number, of = part
    if not 1 <= checks.count(number, "The part of a sweep", least=0) <= checks.count(of, "The number of parts"):
        raise InputError(f"Part {number} of {of} does not exist; parts are counted from 1 to {of}.")
    return number, of
