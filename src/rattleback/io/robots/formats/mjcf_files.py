"""Compiling MJCF by MuJoCo itself, after a look at every file that it would open.

The XML is read once by our own reader, which refuses document types, and so is every file it includes. Meshes, height
fields and included files are looked for as MuJoCo does, then in the folders of ``search=``; what is missing, or lies
outside, is taken out of the model before it is compiled. Textures and skins are never opened.
"""

from __future__ import annotations

import os
import warnings
from contextlib import contextmanager
from importlib import import_module
from typing import TYPE_CHECKING, Any

from rattleback.core.errors import FileError
from rattleback.io.robots.source.folders import Outside
from rattleback.io.robots.source.xml_text import Document, read_document

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rattleback.io.robots.read import Source

INCLUDES = ("include", "model")
MOST_INCLUDES = 100
MOST_BYTES = 256 * 2**20
# Attributes that hold names, which may be anything.
NAMES = frozenset(
    (
        *("name", "class", "childclass", "file", "model", "prefix", "target", "objname", "refname"),
        *("mesh", "material", "texture", "hfield", "tendon", "tendon1", "tendon2", "actuator"),
        *("body", "body1", "body2", "joint", "joint1", "joint2", "geom", "geom1", "geom2", "site", "site1", "site2"),
    )
)


def mujoco_module(path: str) -> Any:
    """MuJoCo, imported when it is first needed."""
    try:
        return import_module("mujoco")
    except ImportError:
        raise FileError(
            f"Reading the MJCF file {path!r} needs mujoco-core; install it with: pip install 'rattleback[formats]'."
        ) from None


def compiled(source: Source) -> tuple[Any, list[Document]]:
    """The model that MuJoCo makes of a file, and the documents it includes."""
    mujoco = mujoco_module(source.path)
    documents = _included(source)
    assert source.document is not None
    for document in (source.document, *documents):
        _check_numbers(document)
    try:
        with _warnings_told(mujoco, source):
            spec = mujoco.MjSpec.from_file(source.path)
            _leave_out_textures(spec)
            _find_files(spec, source)
            return spec.compile(), documents
    except (ValueError, TypeError, KeyError, RuntimeError, mujoco.FatalError, mujoco.UnexpectedError) as error:
        said = " ".join(str(error).split())[:400]
        raise FileError(f"The MJCF file {source.path!r} cannot be compiled: {said}") from None


@contextmanager
def _warnings_told(mujoco: Any, source: Source) -> Iterator[None]:
    """Warnings of the compiler go into the report, not to the user or into a log file in the user's folder."""
    before = mujoco.get_mju_user_warning()
    told: list[str] = []
    mujoco.set_mju_user_warning(told.append)
    try:
        with warnings.catch_warnings(record=True) as python:
            warnings.simplefilter("always")
            yield
    finally:
        mujoco.set_mju_user_warning(before)
    for text in dict.fromkeys([*told, *(str(one.message) for one in python)]):
        source.report.approximate("compiler", f"MuJoCo warns: {text}")


def _included(source: Source) -> list[Document]:
    """The documents a file includes, one in the other; each is looked for beside the first."""
    assert source.document is not None
    waiting, found = [source.document], []
    while waiting:
        for node in _all_nodes(waiting.pop().root):
            name = node.attributes.get("file", "")
            if node.tag not in INCLUDES or not name:
                continue
            try:
                path = source.folders.find(name)
            except Outside:
                raise node.error(f"the file {name!r} lies outside the folder of the file.") from None
            if path is None:
                raise node.error(f"there is no file {name!r}.")
            document = read_document(str(path), "MJCF")
            found.append(document)
            waiting.append(document)
            if len(found) > MOST_INCLUDES:
                raise node.error(f"more than {MOST_INCLUDES} files are included.")
    return found


def _check_numbers(document: Document) -> None:
    """Refuse what is not a number: the compiler may never end with it."""
    for node in _all_nodes(document.root):
        for name, value in node.attributes.items():
            if name not in NAMES and "nan" in (token.lstrip("+-") for token in value.lower().split()):
                raise node.error(f"{name} is {value[:40]!r}, which is not a number.")


def _all_nodes(root: Any) -> list[Any]:
    found, stack = [], [root]
    while stack:
        node = stack.pop()
        found.append(node)
        stack.extend(node.children)
    return found


def _leave_out_textures(spec: Any) -> None:
    for material in spec.materials:
        material.textures = [""] * len(material.textures)
    for kind in (spec.textures, spec.skins):
        for entry in list(kind):
            spec.delete(entry)


def _find_files(spec: Any, source: Source) -> None:
    """Give meshes and height fields the paths of their files; those without one are taken out with their geometry."""
    for kind, users in ((spec.meshes, "mesh"), (spec.hfields, "hfield")):
        for entry in list(kind):
            if not entry.file:
                continue
            reason = _locate(spec, entry, source)
            if reason:
                source.report.drop(f"{users} {entry.name!r}", reason)
                _take_out(spec, entry, users, source)


def _locate(spec: Any, entry: Any, source: Source) -> str:
    """Set the path of an asset; why not, where there is none."""
    name = os.path.basename(entry.file) if spec.strippath else entry.file
    try:
        path = source.folders.find(os.path.join(spec.meshdir, name)) or source.folders.find(name)
    except Outside:
        return f"the file {entry.file!r} lies outside the folder of the file and those of search="
    if path is None:
        return f"the file {entry.file!r} is missing; name its folder in search="
    if path.stat().st_size > MOST_BYTES:
        return f"the file {entry.file!r} has more than {MOST_BYTES} bytes"
    entry.file = str(path)
    return ""


def _take_out(spec: Any, entry: Any, users: str, source: Source) -> None:
    for geom in list(spec.geoms):
        if getattr(geom, f"{users}name") == entry.name:
            body = geom.parent.name or "a body"
            source.report.drop(f"geom {geom.name!r} of {body!r}", f"its {users} is not there")
            spec.delete(geom)
    spec.delete(entry)
