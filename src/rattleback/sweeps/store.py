"""The store of a sweep: a folder with its description, its space, and one file for each chunk that is done.

    runs/sweep.json   what is run: target, settings, seed, version, key
    runs/space.npz    the values of the parameters
    runs/chunks/      00000.npz, 00001.npz, ...: what came of the variants
    runs/table.parquet, runs/results.zarr     all of it collected, once it is complete

Every file is written under another name, brought to the disk and moved to its place, so that whatever ends a sweep
leaves whole files. A chunk is done where its file is there; runs on several machines may share the folder.
"""

from __future__ import annotations

import math
import os
import shutil
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field

from rattleback.core import whole_file
from rattleback.core.errors import FileError, InputError
from rattleback.io import json_text, state_archive
from rattleback.io.faults import Faults
from rattleback.io.shape_schema import Entry
from rattleback.sweeps import chunk_file
from rattleback.sweeps.space import Space

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rattleback.sweeps.outcome import Outcome

DESCRIPTION, SPACE, CHUNKS = "sweep.json", "space.npz", "chunks"
TABLE, RESULTS = "table.parquet", "results.zarr"
OLD = 3600.0  # seconds after which a file that was not finished is left over from a process that is gone
WHAT = {
    "target": "its function, scene or settings are others",
    "space": "its space is another",
    "seed": "its seed is another",
    "rattleback": "it was made by another version of rattleback",
    "precision": "its numbers have another precision",
}


class Description(Entry):
    """What ``sweep.json`` holds."""

    format: Literal["rattleback-sweep"] = "rattleback-sweep"
    version: Literal[1] = 1
    key: str
    identity: dict[str, str | int]
    target: dict[str, Any]
    seed: int = Field(ge=0)
    variants: int = Field(ge=1)
    chunk: int = Field(ge=1)


class Store:
    """The store of one sweep.

    Args:
        folder: The folder.
        description: What is run.
    """

    def __init__(self, folder: Path, description: Description) -> None:
        self.folder, self.description = folder, description

    @property
    def chunks(self) -> int:
        """Number of chunks of the whole sweep."""
        return math.ceil(self.description.variants / self.description.chunk)

    def range(self, chunk: int) -> range:
        """The variants of a chunk."""
        first = chunk * self.description.chunk
        return range(first, min(first + self.description.chunk, self.description.variants))

    def path(self, chunk: int) -> Path:
        """The file of a chunk."""
        return self.folder / CHUNKS / f"{chunk:05d}.npz"

    def is_done(self, chunk: int) -> bool:
        """Whether a chunk is there; a file that was cut short or is of another sweep counts as missing."""
        path = self.path(chunk)
        return path.is_file() and chunk_file.belongs(path, self.description.key, chunk)

    def read(self, chunk: int) -> list[Outcome]:
        """What came of the variants of a chunk that is there."""
        found = chunk_file.read(self.path(chunk), self.description.key)
        if [entry.index for entry in found] != list(self.range(chunk)):
            raise FileError(f"The chunk {str(self.path(chunk))!r} holds other variants than its name says; remove it.")
        return found

    def write(self, chunk: int, outcomes: Sequence[Outcome]) -> None:
        """Keep what came of the variants of a chunk, whole or not at all."""
        content = chunk_file.pack(self.description.key, chunk, outcomes)
        whole_file.write(self.path(chunk), content, chunk_file.KIND)

    def outcomes(self) -> Iterator[tuple[int, list[Outcome]]]:
        """All chunks that are there, in order."""
        for chunk in range(self.chunks):
            if self.path(chunk).is_file():
                yield chunk, self.read(chunk)

    def space(self) -> Space:
        """The space of the sweep."""
        path = self.folder / SPACE
        content = whole_file.read(path, "space of a sweep")
        try:
            header, arrays = chunk_file.unpacked(content)
            found = _columns(header, arrays)
            if {len(column) for column in found.values()} != {self.description.variants}:
                raise ValueError
            return Space(found, tuple((str(name), int(size)) for name, size in header["axes"]))
        except Exception:  # a file can be wrong in as many ways as it has bytes
            raise FileError(f"The space of a sweep {str(path)!r} is damaged; describe the sweep again.") from None

    def forget_collected(self) -> None:
        """Remove table and trajectories, which what is run now makes old, and what killed processes left unfinished."""
        with suppress(FileNotFoundError):
            (self.folder / TABLE).unlink()
        shutil.rmtree(self.folder / RESULTS, ignore_errors=True)
        for place in (self.folder, self.folder / CHUNKS):
            for path in place.glob(".*.part"):
                with suppress(OSError):
                    if time.time() - path.stat().st_mtime > OLD:
                        shutil.rmtree(path) if path.is_dir() else path.unlink()


def create(folder: Path, description: Description, space: Space) -> Store:
    """The store of a sweep, which is described in it, or is already.

    Raises:
        InputError: The folder holds another sweep, or something else.
        FileError: It cannot be written.
    """
    path = folder / DESCRIPTION
    if path.is_file():
        return _same(open_store(folder), description)
    try:
        (folder / CHUNKS).parent.mkdir(parents=True, exist_ok=True)
        if any(not name.name.startswith(".") and name.name not in (CHUNKS, SPACE) for name in folder.iterdir()):
            raise InputError(f"The folder {str(folder)!r} holds other files; give the sweep a folder of its own.")
        (folder / CHUNKS).mkdir(exist_ok=True)
    except OSError as error:
        raise FileError(
            f"The store {str(folder)!r} cannot be made: {(error.strerror or str(error)).lower()}."
        ) from None
    header, arrays = _packed(space)
    whole_file.write(folder / SPACE, state_archive.pack(header, arrays), "space of a sweep")
    text = json_text.layout(description.model_dump()) + "\n"
    whole_file.write(path, text.encode(), "description of a sweep")
    return Store(folder, description)


def open_store(folder: Path) -> Store:
    """The store in a folder.

    Raises:
        FileError: There is none, or its description has faults.
    """
    path = folder / DESCRIPTION
    if not path.is_file():
        raise FileError(f"There is no sweep in {os.fspath(folder)!r}: it has no file {DESCRIPTION!r}.")
    entries = dict.fromkeys(("", "identity", "target"), Description)
    faults = Faults("description of a sweep", str(path), entries)
    data = json_text.parse(whole_file.read(path, faults.kind), faults)
    with faults.at():
        store = Store(folder, Description.model_validate(data))
    faults.check()
    return store


def _same(store: Store, wanted: Description) -> Store:
    """A store that is there, if it is that of this sweep."""
    if store.description.key == wanted.key:
        return store
    there, here = store.description.identity, wanted.identity
    reasons = [told for name, told in WHAT.items() if there.get(name) != here.get(name)] or ["its key is another"]
    raise InputError(
        f"The store {str(store.folder)!r} holds another sweep: {', and '.join(reasons)}. Give this one a folder of its "
        "own, or remove the old one."
    )


def _packed(space: Space) -> tuple[dict[str, Any], dict[str, Any]]:
    """Header and arrays of the file of a space; text stands in the header, truth values as 0 and 1."""
    entries: list[dict[str, Any]] = []
    arrays = {}
    for number, (name, column) in enumerate(space.columns.items()):
        kind = {"U": "text", "b": "truth"}.get(column.dtype.kind, "numbers")
        entries.append({"name": name, "kind": kind, **({"text": column.tolist()} if kind == "text" else {})})
        if kind != "text":
            arrays[str(number)] = column.astype(column.dtype if kind == "numbers" else "u1")
    return {
        "format": "rattleback-sweep-space",
        "parameters": entries,
        "axes": [list(axis) for axis in space.axes],
    }, arrays


def _columns(header: dict[str, Any], arrays: dict[str, Any]) -> dict[str, Any]:
    import numpy as np

    found = {}
    for number, entry in enumerate(header["parameters"]):
        if entry["kind"] == "text":
            found[str(entry["name"])] = np.array([str(text) for text in entry["text"]])
        else:
            column = arrays[str(number)]
            found[str(entry["name"])] = column.astype(bool) if entry["kind"] == "truth" else column
    return found
