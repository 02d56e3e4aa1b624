"""Open a figure: play and blend its clips, look at skin and skeleton, gather a crowd of it, let it fall."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from rattleback.cli.options import number, whole_number
from rattleback.cli.output import FINE
from rattleback.cli.view import add_door_options, door_wishes

if TYPE_CHECKING:
    import argparse


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument(
        "file", metavar="FILE", nargs="?", type=Path, help="a BVH or glTF file; a person with a few clips if left out"
    )
    parser.add_argument("--clip", metavar="NAME", help="the clip played at first (default: the first)")
    parser.add_argument("--crowd", metavar="N", type=whole_number, default=1, help="so many figures (default: 1)")
    parser.add_argument("--paused", action="store_true", help="wait until Play is pressed")
    size = parser.add_argument_group("size and axes of the file")
    size.add_argument("--unit", metavar="L", type=number, help="metres a unit of the file; guessed by default")
    size.add_argument("--height", metavar="H", type=number, help="height of the figure at rest instead [m]")
    size.add_argument("--up", metavar="AXIS", default="y", help="upward axis of the file: y (default) or z")
    add_door_options(parser.add_argument_group("the page"))


def execute(arguments: argparse.Namespace) -> int:
    """Show the page until Ctrl-C."""
    wishes = door_wishes(arguments)
    from rattleback.viewer.figure.page import view_figure

    browser = wishes.pop("browser", None)
    named = {name: getattr(arguments, name) for name in ("clip", "crowd", "unit", "height", "up")}
    shown = view_figure(arguments.file, browser, playing=not arguments.paused, **named, **wishes)
    with suppress(KeyboardInterrupt), shown:
        shown.wait()
    return FINE
