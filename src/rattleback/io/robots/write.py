"""Writing: a scene as a URDF, MJCF or USD file, with the files beside it and a report of what became of everything."""

from __future__ import annotations

import os
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rattleback.core import checks, whole_file
from rattleback.core.errors import FileError, InputError, did_you_mean, listing
from rattleback.io.robots.report import Report
from rattleback.io.robots.survey.scene import describe
from rattleback.io.robots.writers import MENU
from rattleback.io.robots.writers.writing import Writing

if TYPE_CHECKING:
    from rattleback.model import Scene

ENDINGS = {".urdf": "URDF", ".xml": "MJCF", ".mjcf": "MJCF", ".usd": "USD", ".usda": "USD", ".usdc": "USD"}
OPTIONS = ("format", "strict")


def export_scene(scene: Scene, path: str | os.PathLike[str], **options: Any) -> Report:
    """Write a scene; see ``Scene.export``."""
    checks.options(options, OPTIONS, "export")
    strict = checks.flag(options.get("strict", False), "The option strict of export")
    name = whole_file.location(path, "robot file")
    kind = format_of(name, options.get("format"))
    writer = import_module(f"rattleback.io.robots.writers.{MENU[kind]}")
    report = Report(name, kind)
    writing = Writing(name, report, describe(scene, report, writer.ABLE, writer.MASSLESS))
    content = writer.write(writing)
    if strict:
        report.check_strict("written exactly", "written")
    _put(writing, content)
    vars(scene)["export_report"] = report
    return report


def format_of(name: str, given: Any = None) -> str:
    """The format to write: the one that is named, else that of the ending."""
    if given is not None:
        found = str(given).upper() if isinstance(given, str) else ""
        if found not in MENU:
            known = [kind.lower() for kind in MENU]
            raise InputError(
                f"The option format of export is {given!r}; it must be one of {listing(known)}."
                f"{did_you_mean(str(given).lower(), known)}"
            )
        return found
    ending = os.path.splitext(name)[1].lower()
    if ending not in ENDINGS:
        raise InputError(
            f"The ending of {name!r} names no format that is written; those are {', '.join(ENDINGS)}. Name one with "
            "format=, or save a scene file with scene.save(path)."
        )
    return ENDINGS[ending]


def _put(writing: Writing, content: bytes) -> None:
    """Write the files beside the file, then itself."""
    home = Path(writing.path).parent
    for relative, beside in writing.files.items():
        target = home / relative
        try:
            target.parent.mkdir(exist_ok=True)
        except OSError as error:
            raise FileError(f"The folder {str(target.parent)!r} cannot be made: {error.strerror or error}.") from None
        whole_file.write(target, beside, "mesh file" if target.suffix == ".obj" else "file")
    whole_file.write(writing.path, content, f"{writing.report.format} file")
