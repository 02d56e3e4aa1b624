"""Convert a scene or robot file to another format or to Python, and say what is not the same in it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from rattleback.cli import output
from rattleback.cli.sources import existing, short
from rattleback.cli.targets import check_target, write_target
from rattleback.core import whole_file
from rattleback.core.errors import FileError

if TYPE_CHECKING:
    import argparse

    from rattleback.io.robots.report import Report

OWN, SCRIPT = ".json", ".py"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument(
        "source", metavar="NAME|FILE", help="a scene of the list, or a URDF, MJCF, SDF, USD or scene file"
    )
    parser.add_argument("target", metavar="FILE", type=Path, help="a .urdf, .xml, .usda, .usdc, .rb.json or .py file")
    parser.add_argument(
        "--format", choices=("urdf", "mjcf", "usd"), help="what to write, where the ending does not say"
    )
    parser.add_argument("--strict", action="store_true", help="write nothing where anything would be lost")
    parser.add_argument("--base", choices=("fixed", "floating"), help="hold the roots, or let them go")
    parser.add_argument("--search", metavar="FOLDER", action="append", default=[], help="a further folder for meshes")
    parser.add_argument("--json", action="store_true", help="one JSON object instead of lines")


def execute(arguments: argparse.Namespace) -> int:
    """Convert; what is lost on either side is told on standard error."""
    check_target(arguments.target)
    scene = _scene(arguments)
    ending = "" if arguments.format else arguments.target.suffix
    written: Any = None
    if ending == OWN:
        write_target(arguments.target, scene.save)
    elif ending == SCRIPT:
        text = scene.to_python(scene.robot.settings.get("time_step") if scene.robot else None)
        write_target(arguments.target, lambda path: whole_file.write(path, text.encode(), "script"))
    else:
        options = {"format": arguments.format} if arguments.format else {}
        write_target(arguments.target, lambda path: scene.export(path, strict=arguments.strict, **options))
        written = scene.export_report
    reports = {"read": scene.import_report, "written": written}
    if arguments.json:
        output.write_json({"file": str(arguments.target), **{name: _plain(report) for name, report in reports.items()}})
        return output.FINE
    for report in reports.values():
        if report is not None and (report.approximated or report.dropped):
            output.say(short(report))
    output.say(f"Wrote {arguments.target}.")
    return output.FINE


def _scene(arguments: argparse.Namespace) -> Any:
    """The scene of the list, or of the file."""
    from rattleback.model import Scene
    from rattleback.scenes import MENU

    if arguments.source in MENU:
        return MENU[arguments.source].build()
    path = existing(arguments.source, list(MENU))
    with path.open("rb") as file:
        if file.read(2) == b"PK" and path.suffix.lower() != ".usdz":
            raise FileError(f"{str(path)!r} is a saved state; what is converted is a scene or a robot file.")
    return Scene.from_file(path, base=arguments.base, strict=arguments.strict, search=arguments.search)


def _plain(report: Report | None) -> Any:
    """What is not the same, as data."""
    if report is None:
        return None
    lost = (*report.approximated, *report.dropped)
    return {"format": report.format, "kept": len(report.kept), "changed": [entry._asdict() for entry in lost]}
