"""Files that a file names: found beside it and in named folders, never outside.

    part.stl, meshes/part.stl      beside the file, then in each folder of search=
    package://arm/meshes/part.stl  in a folder called arm around the file, then in search=, with and without "arm"
    model://arm/part.dae           the same
    file:///robots/part.stl        that file, if it lies in one of the folders

A path is followed to the end, through links, before it is looked at where it leads.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from copy import copy
from pathlib import Path
from urllib.parse import unquote

from rattleback.core.errors import InputError

SCHEMES = ("package://", "model://", "file://")
# Folders around the file that a package is looked for in.
UPWARDS = 4
# Files that make a folder a package.
MARKS = ("package.xml", "model.config")
# Folders of a package that robot files lie in; what is beside them belongs to it as well.
INNER = ("urdf", "robots", "robot", "sdf", "mjcf", "xml", "usd")


class Outside(Exception):
    """A file that lies outside the named folders."""


class Folders:
    """The folder of a file, and those its user named.

    Args:
        path: The file.
        search: Further folders.

    Attributes:
        home: The folder of the file.
        roots: Folders that files may lie in.
    """

    def __init__(self, path: str, search: Iterable[str | os.PathLike[str]] = ()) -> None:
        if isinstance(search, (str, os.PathLike)):
            search = (search,)
        self.home = Path(path).resolve().parent
        self.search = [_folder(entry) for entry in search]
        self.roots = self._roots()

    def find(self, name: str) -> Path | None:
        """The file that a name means; None where there is none.

        Raises:
            Outside: There is one, but outside the folders.
        """
        outside = False
        for candidate in self._candidates(name):
            try:
                real = Path(candidate).resolve()
                there = real.is_file()
            except (OSError, ValueError, RuntimeError):
                continue
            if there and self._inside(real):
                return real
            outside = outside or there
        if outside:
            raise Outside(name)
        return None

    def _inside(self, real: Path) -> bool:
        return any(real.is_relative_to(root) for root in self.roots)

    def beside(self, path: Path) -> Folders:
        """The same folders, with names meant from another file in them."""
        found = copy(self)
        found.home = path.parent
        return found

    def _roots(self) -> list[Path]:
        """Folders that files may lie in: that of the file, the package it belongs to, and those of the search."""
        around = list(self.home.parents)[:UPWARDS]
        package = [folder for folder in around if any((folder / mark).is_file() for mark in MARKS)][:1]
        beside = [self.home.parent] if self.home.name in INNER else []
        return [self.home, *package, *beside, *self.search]

    def _candidates(self, name: str) -> Iterator[Path]:
        if name.startswith("file://"):
            yield Path(unquote(name[len("file://") :]))
            return
        scheme = next((one for one in SCHEMES if name.startswith(one)), None)
        if scheme is None:
            given = Path(name.replace("\\", "/"))
            yield given if given.is_absolute() else self.home / given
            yield from (folder / given for folder in self.search if not given.is_absolute())
            return
        parts = [part for part in unquote(name[len(scheme) :]).split("/") if part]
        for folder in [self.home, *list(self.home.parents)[:UPWARDS]]:
            for place, part in enumerate(parts[:-1]):
                if folder.name == part:
                    yield folder.joinpath(*parts[place + 1 :])
        for folder in self.roots:
            yield folder.joinpath(*parts)
            yield folder.joinpath(*parts[1:])


def _folder(entry: object) -> Path:
    if not isinstance(entry, (str, os.PathLike)):
        raise InputError(f"The option search has {entry!r}; it must be a list of folders.")
    try:
        found = Path(os.fsdecode(entry)).resolve()
        there = found.is_dir()
    except (OSError, ValueError):
        there = False
    if not there:
        raise InputError(f"The option search has {os.fsdecode(entry)!r}, which is no folder.")
    return found
