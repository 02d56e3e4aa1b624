"""Print the JSON Schema of scene files, for editors that check and complete them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from rattleback.cli import output
from rattleback.cli.targets import check_target, write_target

if TYPE_CHECKING:
    import argparse


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("--output", metavar="FILE", type=Path, help="write it to a file, not to standard output")


def execute(arguments: argparse.Namespace) -> int:
    """Print or write the schema."""
    if arguments.output is None:
        output.write(text())
        return output.FINE
    check_target(arguments.output)
    write_target(arguments.output, lambda path: path.write_text(text() + "\n", encoding="utf-8"))
    output.say(f"Wrote the schema to {arguments.output}.")
    return output.FINE


def text() -> str:
    """The schema as JSON text."""
    from rattleback.io import scene_file

    return output.as_json(scene_file.schema())
