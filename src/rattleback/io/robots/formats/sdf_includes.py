"""Includes of SDF: models of other files, found beside the file or in the named folders, never outside.

    <uri>hand.sdf</uri>, <uri>parts/hand</uri>     a file, or a folder with a model.config or a model.sdf
    <uri>model://hand</uri>                        the same in a folder called hand

A model.config names files for versions of SDF; the newest is taken. What an included file names is looked for beside
that file, still within the folders of the first one. A file that includes itself is refused, as are many and deep ones.
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from rattleback.core import whole_file
from rattleback.io.robots.source.folders import Outside
from rattleback.io.robots.source.meshes import Meshes
from rattleback.io.robots.source.xml_text import MOST_ELEMENTS, Document, read_document

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rattleback.io.robots.read import Source
    from rattleback.io.robots.source.folders import Folders
    from rattleback.io.robots.source.xml_text import Node

DEEPEST, MOST_FILES = 16, 1000
CONFIG, MODEL_FILE = "model.config", "model.sdf"


def included_model(include: Node, document: Document) -> Node | None:
    """The model of an included file, which becomes part of the element; None where there is none."""
    name, tag = Path(document.path).name, document.root.tag
    if tag != "sdf":
        include.drop(f"{name!r} is no SDF file; its outermost element is {tag[:60]!r}")
        return None
    document.root.get("version")
    models = document.root.all("model")
    if not models:
        include.drop(f"{name!r} holds no model")
        return None
    for more in models[1:]:
        more.drop("a file is included with its first model")
    include.children.append(document.root)
    return models[0]


class Includes:
    """The files that a file includes.

    Args:
        source: The file.
    """

    def __init__(self, source: Source) -> None:
        self._source = source
        self._sources = {source.path: source}
        self._open = [Path(source.path).resolve()]
        self._files = self._elements = 0

    def source_of(self, node: Node) -> Source:
        """The file that an element is in, with its folder and its meshes."""
        return self._sources[node.document.path]

    @contextmanager
    def opened(self, include: Node) -> Iterator[Document | None]:
        """The file of an include, open while what is in it is read; None where it is dropped."""
        uri = include.child("uri")
        if uri is None or not uri.text.strip():
            raise include.error("the element uri is missing.")
        path = self._find(include, uri.text.strip())
        if path is None:
            yield None
            return
        self._check(include, path)
        self._open.append(path)
        yield self._read(include, path)
        self._open.pop()

    def _find(self, include: Node, uri: str) -> Path | None:
        folders = self.source_of(include).folders
        try:
            found = folders.find(uri) or _in_folder(folders, uri.rstrip("/"))
        except Outside:
            include.drop(f"the model {uri!r} lies outside the folder of the file and those of search=")
            return None
        if found is None:
            include.drop(f"the model {uri!r} is missing; name the folder it is in with search=")
        return found

    def _check(self, include: Node, path: Path) -> None:
        """Refuse circles, and more files than a robot has."""
        if path in self._open:
            chain = [entry.name for entry in self._open[self._open.index(path) :]]
            raise include.error(f"{path.name!r} includes itself, by way of {', '.join(map(repr, chain))}.")
        if len(self._open) > DEEPEST:
            raise include.error(f"files include each other more than {DEEPEST} deep.")
        self._files += 1
        if self._files > MOST_FILES or self._elements > MOST_ELEMENTS:
            raise include.error(f"more than {MOST_FILES} files, or {MOST_ELEMENTS} elements in them, are included.")

    def _read(self, include: Node, path: Path) -> Document:
        name = str(path)
        document = Document(name, "SDF", whole_file.read(name, "SDF file"), f"file {path.name!r}")
        self._elements += document.count
        if name not in self._sources:
            folders = self.source_of(include).folders.beside(path)
            self._sources[name] = replace(
                self._source, path=name, folders=folders, meshes=Meshes(folders), document=document
            )
        return document


def _in_folder(folders: Folders, uri: str) -> Path | None:
    """The file of the model in a folder; another folder that happens to hold a model is not taken for it."""
    wanted = uri.replace("\\", "/").rpartition("/")[2]
    for mark in (CONFIG, MODEL_FILE):
        found = folders.find(f"{uri}/{mark}")
        if found is None or (found.parent.name != wanted and found.parent in (folders.home, *folders.roots)):
            continue
        name = _newest(found) if mark == CONFIG else ""
        inside = folders.find(str(found.parent / name)) if name else found
        if inside is not None and inside.name != CONFIG:
            return inside
    return None


def _newest(config: Path) -> str:
    """The file that a model.config names for the newest version of SDF."""
    entries = read_document(str(config), "SDF model").root.all("sdf")
    told = [(_version(entry.get("version")), entry.text.strip()) for entry in entries if entry.text.strip()]
    return max(told, key=lambda entry: entry[0])[1] if told else ""


def _version(text: str) -> tuple[int, ...]:
    return tuple(int(part[:9]) for part in text.split(".") if part.isascii() and part.isdigit())
