"""Do a published table or figure again, print published beside measured, and say whether it holds."""

from __future__ import annotations

import csv
import io
import math
import sys
import textwrap
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from rattleback.cli import output
from rattleback.cli.targets import check_target, write_target
from rattleback.core import whole_file
from rattleback.core.errors import InputError, UnknownName, did_you_mean, listing

if TYPE_CHECKING:
    import argparse

    from rattleback.experiments import Experiment, Finding, Result

WIDTH = 100
HEADER = ("quantity", "published", "measured", "unit", "demand", "passed")
VERDICTS = {True: ("pass", "green"), False: ("FAIL", "bold red"), None: ("", "dim")}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("name", metavar="NAME", nargs="?", help="which one; left out, they are listed")
    parser.add_argument("--quick", action="store_true", help="a short version: smaller scenes, fewer steps")
    parser.add_argument("--plot", metavar="FILE", type=Path, help="write its figure, as .png, .svg or .pdf")
    parser.add_argument("--table", metavar="FILE", type=Path, help="write its rows, as .csv")
    parser.add_argument(
        "--data", metavar="DIR", type=Path, help="folder with reference files (default: $RATTLEBACK_DATA)"
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of the table")


def execute(arguments: argparse.Namespace) -> int:
    """List the experiments, or run one; the exit code is 1 when a row fails."""
    from rattleback.experiments import MENU

    if arguments.name is None:
        _refuse_options(arguments)
        return list_all(MENU, arguments.json)
    if arguments.name not in MENU:
        hint = did_you_mean(arguments.name, list(MENU))
        menu = listing(list(MENU), len(MENU))
        raise UnknownName(f"There is no experiment {arguments.name!r}.{hint} The menu: {menu}.")
    _check_targets(arguments)
    experiment = MENU[arguments.name]
    result = _run(experiment, arguments)
    files = write_files(experiment, result, arguments)
    if arguments.json:
        from rattleback.experiments.result import as_dict

        output.write_json({**as_dict(experiment, result), "files": files})
    else:
        show(experiment, result, files)
    return output.FINE if result.passed else output.REFUSED


def list_all(menu: dict[str, Experiment], as_json: bool) -> int:
    """Print the menu."""
    described = [{"name": name, "question": entry.question, "source": entry.source} for name, entry in menu.items()]
    if as_json:
        output.write_json({"experiments": described})
    else:
        texts = [f"{entry['name']}\n    {entry['question']}\n    {entry['source']}" for entry in described]
        output.write("\n\n".join(texts))
    return output.FINE


def write_files(experiment: Experiment, result: Result, arguments: argparse.Namespace) -> dict[str, str]:
    """Write the figure and the table that were asked for; what was written where."""
    files = {}
    if arguments.plot is not None and result.panels:
        from rattleback.experiments import draw

        write_target(arguments.plot, lambda path: draw(experiment, result, path))
        files["plot"] = str(arguments.plot)
    if arguments.table is not None and result.rows:
        content = table_text(result).encode()
        write_target(arguments.table, lambda path: whole_file.write(path, _writer(content), "table"))
        files["table"] = str(arguments.table)
    return files


def table_text(result: Result) -> str:
    """The rows as CSV; every number keeps all its digits, what is not known is left empty."""
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(HEADER)
    for row in result.rows:
        writer.writerow("" if value is None else value for value in (getattr(row, name) for name in HEADER))
    return stream.getvalue()


def show(experiment: Experiment, result: Result, files: dict[str, str]) -> None:
    """Print the question, the table, the notes and the verdict."""
    output.write(f"{experiment.question}\n{experiment.source}")
    if result.skipped:
        output.write(f"\nSkipped: {result.skipped}")
        return
    output.show(render(result))
    for note in result.notes:
        output.write(textwrap.fill(note, WIDTH, initial_indent="  ", subsequent_indent="  "))
    for what, path in files.items():
        output.write(f"  {what}: {path}")
    judged = [row.passed for row in result.rows if row.passed is not None]
    output.write(f"{experiment.name}: {judged.count(True)} of {len(judged)} demands met.")


def render(result: Result) -> Any:
    """The rows as a table for the terminal."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    names = ["published", "measured"] if any(row.published is not None for row in result.rows) else ["measured"]
    table.add_column("quantity")
    for name in names:
        table.add_column(name, justify="right", no_wrap=True)
    for name in ("", "demand", ""):
        table.add_column(name, no_wrap=True)
    for row in result.rows:
        word, style = VERDICTS[row.passed]
        shown = [*(_digits(getattr(row, name), row) for name in names), row.unit, row.demand]
        table.add_row(Text(row.quantity), *map(Text, shown), Text(word, style=style))
    return table


def _digits(value: float | None, row: Finding) -> str:
    """A number with four digits, or with ten where it is compared with published ones."""
    if value is None or math.isnan(value):
        return "–"
    return f"{value:.10g}" if row.demand.startswith("±") else f"{value:.4g}"


def _writer(content: bytes) -> Any:
    def write(stream: IO[bytes]) -> None:
        stream.write(content)

    return write


def _run(experiment: Experiment, arguments: argparse.Namespace) -> Result:
    """Run an experiment with a line of progress, if standard error is a terminal."""
    from rattleback.experiments import Options

    live = sys.stderr is not None and sys.stderr.isatty()

    def tell(sentence: str) -> None:
        print(f"\r\033[K{sentence}", end="", file=sys.stderr, flush=True)

    options = Options(quick=arguments.quick, data=arguments.data)
    if not live:
        return experiment.run(options)
    try:
        return experiment.run(Options(options.quick, options.data, tell))
    finally:
        tell("")


def _refuse_options(arguments: argparse.Namespace) -> None:
    for option in ("plot", "table", "data", "quick"):
        if getattr(arguments, option):
            arguments.parser.error(f"--{option} has no effect without the name of an experiment")


def _check_targets(arguments: argparse.Namespace) -> None:
    """Refuse files that could not be written, before anything is simulated."""
    from rattleback.recording.files import check_suffix
    from rattleback.recording.plots import check_picture_path

    if arguments.plot is not None:
        check_target(check_picture_path(arguments.plot))
    if arguments.table is not None:
        check_target(check_suffix(arguments.table, [".csv"], "a table"))
    if arguments.plot is not None and arguments.plot == arguments.table:
        raise InputError(f"{str(arguments.plot)!r} is to hold two different things; give each file a name of its own.")
