"""The command ``rattleback``: reads the arguments, calls the command, turns errors into sentences and exit codes.

| exit code | meaning |
|---|---|
| 0 | fine |
| 1 | rattleback refused or gave up, the sentence is on standard error; or a script or an experiment failed |
| 2 | wrong usage |
| 130 | interrupted from the keyboard |

An exception that is none of these is a fault of rattleback and shows its traceback.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from importlib import import_module
from typing import TYPE_CHECKING, NoReturn

import numpy as np

from rattleback._version import __version__
from rattleback.cli import output
from rattleback.cli.output import FINE, INTERRUPTED, REFUSED, WRONG_USAGE
from rattleback.core.errors import NotConvergedWarning, RattlebackError, did_you_mean

if TYPE_CHECKING:
    from collections.abc import Sequence

# A command is a file of this room with add_arguments(parser) and execute(arguments); the first line of its docstring is
# its help.
MENU = {
    "list": "list_scenes",
    "view": "view",
    "run": "run",
    "render": "render",
    "compare": "compare",
    "convert": "convert",
    "experiment": "experiment",
    "sweep": "sweep",
    "ik": "ik",
    "protein": "protein",
    "character": "character",
    "demo": "demo",
    "schema": "schema",
    "info": "info",
}
COMMANDS = f"The commands are {', '.join(MENU)}"


class Parser(argparse.ArgumentParser):
    """An argument parser that complains in sentences."""

    def error(self, message: str) -> NoReturn:
        """Show the usage and what is wrong, and leave with exit code 2."""
        output.tell(self.format_usage().rstrip())
        output.say(f"{message[:1].upper()}{message[1:].rstrip('.')}. Try '{self.prog} --help'.")
        raise SystemExit(WRONG_USAGE)


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command.

    Args:
        argv: Arguments without the program's name; those of the process when left out.

    Returns:
        The exit code.
    """
    output.prepare()
    try:
        return _call(sys.argv[1:] if argv is None else list(argv))
    except SystemExit as leaving:
        return _flush(int(leaving.code or FINE))


def build_parser() -> Parser:
    """The parser of all commands."""
    parser = Parser(
        prog="rattleback",
        description="Dynamics and kinematics of rigid multibody systems that state their error.",
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"rattleback {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", parser_class=Parser)
    for name, file in MENU.items():
        module = import_module(f"rattleback.cli.{file}")
        sentence = (module.__doc__ or name).splitlines()[0]
        command = commands.add_parser(name, help=sentence, description=sentence, allow_abbrev=False)
        command.set_defaults(execute=module.execute, parser=command)
        module.add_arguments(command)
    return parser


def parse(argv: list[str]) -> argparse.Namespace:
    """The arguments, checked; scene parameters may stand anywhere after the scene's name."""
    parser = build_parser()
    if argv and not argv[0].startswith("-") and argv[0] not in MENU:
        parser.error(f"there is no command {argv[0]!r}.{did_you_mean(argv[0], list(MENU))} {COMMANDS}")
    arguments, rest = parser.parse_known_args(argv)
    if arguments.command is None:
        parser.error(f"unknown argument: {rest[0]}" if rest else f"name a command. {COMMANDS}")
    strangers = [word for word in rest if word.startswith("-") or not hasattr(arguments, "parameters")]
    if strangers:
        arguments.parser.error(f"unknown argument: {' '.join(strangers)}")
    if rest:
        arguments.parameters = [*arguments.parameters, *rest]
    return arguments


def _call(argv: list[str]) -> int:
    """Call the command the arguments name."""
    arguments = parse(argv)
    as_object = getattr(arguments, "json", False)
    try:
        # A number that is too large shows as such in the results, not as a warning between them.
        # The closing table says whether every tolerance was met, so the warning need not.
        with np.errstate(over="ignore", invalid="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore", NotConvergedWarning)
            code: int = arguments.execute(arguments)
    except RattlebackError as error:
        output.complain(error, as_object)
        return REFUSED
    except MemoryError as error:
        output.complain(MemoryError(f"There is not enough memory for this. {error}".strip()), as_object)
        return REFUSED
    except KeyboardInterrupt:
        output.complain(KeyboardInterrupt("Interrupted before it was done."), as_object)
        return INTERRUPTED
    return code


def _flush(code: int) -> int:
    """Send out what the parser printed; the exit code is another if that cannot be written."""
    try:
        output.write("", end="")
    except RattlebackError as error:
        output.complain(error, False)
        return REFUSED
    return code
