"""Open the live simulator in the browser, without a name its gallery: look, push, pull, change, record."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rattleback.cli import output
from rattleback.cli.options import add_simulation_options, add_source_arguments, number, whole_number
from rattleback.cli.output import FINE, REFUSED
from rattleback.cli.parameters import read_pairs
from rattleback.cli.sources import open_source

if TYPE_CHECKING:
    import argparse

    from rattleback.viewer.view import View


# Stands behind the gallery until a scene is chosen.
FIRST = "tree"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    add_source_arguments(parser, least=0)
    how = add_simulation_options(parser)
    how.add_argument("--script", metavar="FILE", type=Path, help="run a Python file inside, which finds it as `sim`")
    add_page_options(parser)


def add_page_options(parser: argparse.ArgumentParser) -> None:
    """Declare how the page is shown and where it is served."""
    page = parser.add_argument_group("the page")
    page.add_argument("--paused", action="store_true", help="wait until Play is pressed")
    page.add_argument("--speed", metavar="S", type=number, help="simulated seconds in a second (default: 1); inf")
    add_door_options(page)


def add_door_options(page: Any) -> None:
    """Declare where a page is served and whether it is opened."""
    page.add_argument("--no-browser", action="store_true", help="only print the address")
    page.add_argument("--listen", metavar="ADDRESS", help="serve others, too: 0.0.0.0; needs --token")
    page.add_argument("--port", metavar="N", type=whole_number, help="port to serve at; any by default")
    page.add_argument("--token", metavar="WORD", help="a token of your own that every client has to know")


def execute(arguments: argparse.Namespace) -> int:
    """Show until Ctrl-C; the exit code is 1 when a script failed."""
    from rattleback.scenes import MENU
    from rattleback.scenes.parameters import parameters_of
    from rattleback.script import Script

    wishes = page_wishes(arguments)
    script = None if arguments.script is None else Script(arguments.script, lambda fault: _tell(shown, fault))
    greets = arguments.target is None
    if greets:
        arguments.target = FIRST
    sim, _ = open_source(arguments)
    from rattleback.viewer.gallery.link import Link
    from rattleback.viewer.view import view

    with suppress(KeyboardInterrupt), view(sim, wait=False, **wishes) as shown:
        shown.window.front.greets = greets
        if arguments.target in MENU:
            values = read_pairs(arguments.parameters, parameters_of(MENU[arguments.target].build), arguments.target)
            shown.window.opener.note(sim, Link(arguments.target, values))
        if script is not None:
            shown.session.do(script.start)
        shown.wait()
    return FINE if script is None or not script.fault else REFUSED


def page_wishes(arguments: argparse.Namespace) -> dict[str, Any]:
    """What was said about the page, for :func:`rattleback.view`."""
    return door_wishes(arguments) | {
        "playing": not arguments.paused,
        "speed": 1.0 if arguments.speed is None else arguments.speed,
    }


def door_wishes(arguments: argparse.Namespace) -> dict[str, Any]:
    """What was said about where the page is served and whether it is opened."""
    from rattleback.viewer.door import Door

    given = {name: getattr(arguments, name) for name in ("listen", "port", "token")}
    wishes: dict[str, Any] = {"door": Door(**{name: value for name, value in given.items() if value is not None})}
    if arguments.no_browser:
        wishes["browser"] = False
    return wishes


def _tell(shown: View, fault: str) -> None:
    """Say on the page and on the terminal that a script failed."""
    shown.session.tell(f"The script failed and is stopped.\n{fault}", fault=True)
    output.say(f"The script failed and is stopped; the simulator goes on.\n{fault}")
