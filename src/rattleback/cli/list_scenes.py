"""List the scenes that run by name, with their parameters."""

from __future__ import annotations

import inspect
import textwrap
from typing import TYPE_CHECKING, Any

from rattleback.cli import output

if TYPE_CHECKING:
    import argparse

INDENT = "    "
WIDTH = 100


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("--json", action="store_true", help="print the list as JSON")


def execute(arguments: argparse.Namespace) -> int:
    """Print the list."""
    from rattleback.scenes import MENU

    described = [describe(name, entry) for name, entry in MENU.items()]
    if arguments.json:
        output.write_json({"scenes": described})
    else:
        output.write("\n\n".join(map(as_text, described)))
    return output.FINE


def describe(name: str, entry: Any) -> dict[str, Any]:
    """A scene as plain data.

    Args:
        name: Its name on the menu.
        entry: Its entry on the menu.
    """
    from rattleback.scenes.parameters import parameters_of

    parameters = parameters_of(entry.build).values()
    return {
        "name": name,
        "summary": first_sentence(inspect.getdoc(entry.build) or ""),
        "duration": entry.duration,
        "time_step": entry.time_step,
        "integrator": entry.integrator,
        "parameters": [
            {"name": entry.name, "type": entry.kind, "default": entry.default, "text": str(entry)}
            for entry in parameters
        ],
    }


def first_sentence(text: str) -> str:
    """The first paragraph up to the end of its first sentence, on one line."""
    paragraph = " ".join(text.strip().split("\n\n")[0].split())
    sentence, dot, _ = paragraph.partition(". ")
    return sentence + "." if dot else paragraph


def as_text(described: dict[str, Any]) -> str:
    """A scene as lines of text: its name and summary, then its parameters with their defaults."""
    head = f"{described['name']}  ({described['duration']:g} s, {described['integrator']})"
    parameters = "  ".join(parameter["text"] for parameter in described["parameters"])
    lines = [described["summary"], parameters]
    wrapped = [textwrap.fill(line, WIDTH, initial_indent=INDENT, subsequent_indent=INDENT) for line in lines if line]
    return "\n".join([head, *wrapped])
