"""Reading: which format a file has, by its content first and then by its ending; from there to a scene or a tree."""

from __future__ import annotations

import os
from collections.abc import Iterable
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from rattleback.core import checks, whole_file
from rattleback.core.errors import FileError, InputError, RattlebackError
from rattleback.io.robots.formats import MENU
from rattleback.io.robots.report import Report
from rattleback.io.robots.source.folders import Folders
from rattleback.io.robots.source.meshes import Meshes
from rattleback.io.robots.source.xml_text import Document

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rattleback.io.robots.description import Description
    from rattleback.kinematics import Tree
    from rattleback.model import Scene

ELEMENTS = {"robot": "URDF", "mujoco": "MJCF", "mujocoinclude": "MJCF", "sdf": "SDF"}
ENDINGS = {
    **dict.fromkeys((".urdf",), "URDF"),
    **dict.fromkeys((".mjcf",), "MJCF"),
    **dict.fromkeys((".sdf", ".world"), "SDF"),
    **dict.fromkeys((".usd", ".usda", ".usdc", ".usdz"), "USD"),
}
OWN = "rattleback"
BASES = ("fixed", "floating")
OPTIONS = ("base", "strict", "search", "loops")
SCENE_OPTIONS = (*OPTIONS, "drives")


@dataclass
class Source:
    """A file that is being read.

    Attributes:
        path: The file.
        report: Where is told what became of it.
        folders: Where files that it names are looked for.
        meshes: Meshes that it names.
        document: Its XML; None where it is none.
        base: Whether roots are ``"fixed"`` or ``"floating"``; None for what the format says.
        loops: Which frames close loops; None for what lies beside the file.
    """

    path: str
    report: Report
    folders: Folders
    meshes: Meshes
    document: Document | None = None
    base: str | None = None
    loops: Any = None


def scene_from_file(path: str | os.PathLike[str], **options: Any) -> Scene:
    """A scene from a file of any known format; see ``Scene.from_file``."""
    given = _checked(options, SCENE_OPTIONS)
    name = whole_file.location(path, "scene or robot file")
    kind, document = recognise(name)
    if kind == OWN:
        return _own_scene(name)
    from rattleback.io.robots.builder.chains import join_chains
    from rattleback.io.robots.builder.scene import build_scene

    source = _source(name, kind, document, given)
    with _told(name, kind):
        description = _described(source, kind)
        join_chains(description, source.report)
        scene = build_scene(description, source.report, source.base, given.get("drives", True))
        if given.get("strict", False):
            source.report.check_strict()
        return scene


def tree_from_file(path: str | os.PathLike[str], **options: Any) -> Tree:
    """A kinematic tree from a file of any known format; see ``Tree.from_file``."""
    given = _checked({key: value for key, value in options.items() if key in OPTIONS}, OPTIONS)
    rest = {key: value for key, value in options.items() if key not in OPTIONS}
    checks.options(rest, ("tools", "name", "on"), "Tree.from_file")
    name = whole_file.location(path, "scene or robot file")
    kind, document = recognise(name)
    if kind == OWN:
        from rattleback.kinematics import Tree

        return Tree.from_scene(_own_scene(name), **rest)
    from rattleback.io.robots.builder.tree import build_tree

    source = _source(name, kind, document, given)
    with _told(name, kind):
        return build_tree(_described(source, kind), source.base, rest)


def _described(source: Source, kind: str) -> Description:
    """What a reader finds, with everything of the file in the report."""
    reader = import_module(f"rattleback.io.robots.formats.{MENU[kind]}")
    description: Description = reader.read(source)
    if source.document is not None:
        source.document.tell(source.report)
    return description


def _checked(options: dict[str, Any], known: tuple[str, ...]) -> dict[str, Any]:
    checks.options(options, known, "from_file")
    if options.get("base") is not None:
        checks.one_of(options["base"], BASES, "The option base of from_file")
    for name in ("strict", "drives"):
        checks.flag(options.get(name, False), f"The option {name} of from_file")
    return options


def _own_scene(name: str) -> Scene:
    from rattleback.io import scene_file

    scene = scene_file.load(name)
    report = Report(name, "scene")
    report.keep("everything")
    vars(scene).update(import_report=report)
    return scene


def _source(name: str, kind: str, document: Document | None, options: dict[str, Any]) -> Source:
    search = options.get("search", ())
    if not isinstance(search, Iterable):
        raise InputError(f"The option search of from_file is {search!r}; it must be a list of folders.")
    folders = Folders(name, search)
    found = Source(name, Report(name, kind), folders, Meshes(folders), document)
    found.base, found.loops = options.get("base"), options.get("loops")
    return found


@contextmanager
def _told(name: str, kind: str) -> Iterator[None]:
    """What goes wrong inside is told as a fault of the file."""
    try:
        with np.errstate(over="raise", invalid="raise", divide="raise"):
            yield
    except FileError:
        raise
    except RattlebackError as error:
        raise FileError(f"The {kind} file {name!r} cannot be made into a scene. {error}") from None
    except (ArithmeticError, np.linalg.LinAlgError):
        raise FileError(
            f"The {kind} file {name!r} cannot be made into a scene: it has numbers too large or too small to compute "
            "with."
        ) from None
    except RecursionError:
        raise FileError(f"The {kind} file {name!r} is nested too deeply.") from None


def recognise(name: str) -> tuple[str, Document | None]:
    """The format of a file, and its XML where it is some."""
    content = whole_file.read(name, "scene or robot file")
    ending = os.path.splitext(name)[1].lower()
    if content.startswith(b"#usda") or content.startswith(b"PXR-USDC") or ENDINGS.get(ending) == "USD":
        return "USD", None
    head = content[:1000].lstrip(b"\xef\xbb\xbf \t\r\n")
    if head.startswith(b"<") or content[:2] in (b"\xff\xfe", b"\xfe\xff") or ending in (*ENDINGS, ".xml"):
        document = Document(name, ENDINGS.get(ending, "XML"), content)
        return _xml_format(document), document
    if ending in (".xacro",):
        raise FileError(f"The file {name!r} is a xacro macro; expand it first: xacro robot.xacro > robot.urdf.")
    return OWN, None


def _xml_format(document: Document) -> str:
    """The format of an XML file, by its outermost element."""
    tag = document.root.tag
    if tag not in ELEMENTS:
        raise document.error(f"has the outermost element {tag[:60]!r}; known are {', '.join(ELEMENTS)}.")
    if any(key.startswith("xmlns:xacro") for key in document.root.attributes) and _macros(document.root):
        raise document.error("holds xacro macros; expand them first: xacro robot.xacro > robot.urdf.")
    document.kind = ELEMENTS[tag]
    return document.kind


def _macros(node: Any) -> bool:
    stack = [node]
    while stack:
        found = stack.pop()
        if found.tag.startswith("xacro:"):
            return True
        stack.extend(found.children)
    return False
