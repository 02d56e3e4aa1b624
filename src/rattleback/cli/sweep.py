"""Describe, explain, run and look at a sweep of many variants in its folder."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rattleback.cli import output
from rattleback.core.errors import InputError

if TYPE_CHECKING:
    import argparse

    from rattleback.sweeps import Result

ACTIONS = {
    "describe": "write what is to be run into the folder",
    "explain": "say what a run would cost",
    "run": "run what is missing, or one part of it",
    "status": "say how far it is",
    "collect": "write table.parquet and results.zarr",
}
# Options that only some actions have a use for.
USES = {
    "describe": ("samples", "count", "seed", "chunk", "duration", "time_step", "record", "result", "every"),
    "run": ("part", "workers", "retry"),
    "explain": ("workers",),
}
SHOWN = 5
FLAGS = {"true": True, "false": False}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    told = "; ".join(f"{name}: {text}" for name, text in ACTIONS.items())
    parser.add_argument("action", metavar="ACTION", choices=list(ACTIONS), help=told)
    parser.add_argument("folder", metavar="DIR", type=Path, help="the folder of the sweep")
    parser.add_argument(
        "parameters",
        metavar="TARGET KEY=VALUES",
        nargs="*",
        help="describe: package.module:function or a scene file, then the values of each parameter, "
        "key=1,2,3, or its range, key=1:3, where samples are drawn",
    )
    parser.add_argument("--samples", choices=("sobol", "latin_hypercube"), help="draw samples of the ranges")
    parser.add_argument("--count", metavar="N", type=int, help="how many")
    parser.add_argument("--seed", metavar="N", type=int, help="what samples and seeds of variants follow from")
    parser.add_argument("--chunk", metavar="N", type=int, help="variants in a file")
    parser.add_argument("--duration", metavar="S", type=float, help="how long a scene is simulated [s]")
    parser.add_argument("--time-step", metavar="H", type=float, help="its steps [s]")
    parser.add_argument("--record", metavar="NAMES", help="quantities of it to keep over time, with commas between")
    parser.add_argument("--every", metavar="N", type=int, help="steps from one sample of these to the next")
    parser.add_argument(
        "--result", metavar="NAME=QUANTITY", action="append", help="a number of it to keep, as top=max(ball.position.z)"
    )
    parser.add_argument("--part", metavar="I/N", help="run part I of N alone, as the jobs of an array do")
    parser.add_argument("--workers", metavar="N", type=int, help="processes that run it (default: 1)")
    parser.add_argument("--retry", action="store_true", help="run chunks with failed variants anew")
    _add_manners(parser)


def _add_manners(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--quiet", action="store_true", help="no progress bar and no summary")
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of sentences")


def execute(arguments: argparse.Namespace) -> int:
    """Do what the action says."""
    _refuse_strangers(arguments)
    action: Any = {"describe": _describe, "explain": _explain, "run": _run}.get(arguments.action, _look)
    action(arguments)
    return output.FINE


def _refuse_strangers(arguments: argparse.Namespace) -> None:
    """Options and words that the action has no use for."""
    for option in {name for names in USES.values() for name in names}:
        if getattr(arguments, option) and option not in USES.get(arguments.action, ()):
            arguments.parser.error(f"--{option.replace('_', '-')} has no effect on {arguments.action}")
    if arguments.parameters and arguments.action != "describe":
        arguments.parser.error(f"unknown argument: {' '.join(arguments.parameters)}")
    if arguments.action == "describe" and not arguments.parameters:
        arguments.parser.error("describe needs package.module:function or a scene file")


def _describe(arguments: argparse.Namespace) -> None:
    from rattleback.sweeps import Sweep

    target, *words = arguments.parameters
    space = read_space(words, arguments.samples, arguments.count, arguments.seed or 0)
    given = {name: getattr(arguments, name) for name in ("duration", "time_step", "every")}
    options: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
    if arguments.record:
        options["record"] = arguments.record.split(",")
    if arguments.result:
        options["results"] = dict(_pair(word) for word in arguments.result)
    made = Sweep(target, space, arguments.folder, seed=arguments.seed or 0, chunk=arguments.chunk, **options)
    store = made.store()
    told = {
        "folder": store.folder,
        "variants": len(made),
        "chunks": store.chunks,
        "parameters": list(made.space.columns),
    }
    _tell(arguments, told, f"Described {len(made)} variants in {store.chunks} chunks; run them with:\n"
          f"  rattleback sweep run {store.folder}")  # fmt: skip


def _explain(arguments: argparse.Namespace) -> None:
    from dataclasses import asdict

    from rattleback.sweeps import Sweep

    told = Sweep.open(arguments.folder).explain(arguments.workers or 1)
    _tell(arguments, {**asdict(told), "total_seconds": told.total_seconds, "total_size": told.total_size}, str(told))


def _run(arguments: argparse.Namespace) -> None:
    from rattleback.sweeps import Sweep

    result = Sweep.open(arguments.folder).run(
        workers=1 if arguments.workers is None else arguments.workers,
        part=None if arguments.part is None else read_part(arguments.part),
        retry=arguments.retry,
        progress=not (arguments.quiet or arguments.json),
    )
    _sum_up(arguments, result)


def _look(arguments: argparse.Namespace) -> None:
    from rattleback.sweeps import load

    result = load(arguments.folder)
    if arguments.action == "collect":
        for path in result.collect():
            if not (arguments.quiet or arguments.json):
                output.write(f"Wrote {path}")
    _sum_up(arguments, result)


def _sum_up(arguments: argparse.Namespace, result: Result) -> None:
    """How far a sweep is, and the first of what failed."""
    done, failed = len(result) - result.missing, result.failed
    told = {
        "folder": result.store.folder,
        "variants": len(result),
        "done": done,
        "missing": result.missing,
        "failed": [{"variant": index, "error": error} for index, error in failed.items()],
        "results": result.names,
    }
    lines = [f"{done} of {len(result)} variants are done, {len(failed)} of them failed."]
    lines += [f"  variant {index}: {error}" for index, error in list(failed.items())[:SHOWN]]
    lines += [f"  and {len(failed) - SHOWN} more"] if len(failed) > SHOWN else []
    _tell(arguments, told, "\n".join(lines))


def _tell(arguments: argparse.Namespace, told: dict[str, Any], sentence: str) -> None:
    if arguments.json:
        output.write_json(told)
    elif not arguments.quiet:
        output.write(sentence)


def read_space(words: list[str], method: str | None, count: int | None, seed: int) -> Any:
    """The space that words such as ``mass=1,2,3``, or ``mass=1:3`` with a method of drawing samples, describe.

    Raises:
        InputError: A word cannot be read, or ranges and values are mixed.
    """
    from rattleback import sweeps

    pairs = dict(_pair(word) for word in words)
    if len(pairs) < len(words):
        raise InputError("A parameter of the sweep is given twice; give it once.")
    if method is None:
        return {name: [_value(part) for part in text.split(",")] for name, text in pairs.items()}
    if count is None:
        raise InputError(f"The samples of {method} need their number; give --count.")
    ranges = {}
    for name, text in pairs.items():
        ends = [_value(part) for part in text.split(":")]
        if len(ends) != 2:
            raise InputError(f"The range of {name!r} is {text!r}; write its bounds as {name}=1:3.")
        ranges[name] = (ends[0], ends[1])
    return getattr(sweeps, method)(ranges, count, seed)


def read_part(text: str) -> tuple[int, int]:
    """``3/16`` as two numbers."""
    number, _, of = text.partition("/")
    if not (number.isdecimal() and of.isdecimal()):
        raise InputError(f"The part of the sweep is {text!r}; write it as 3/16, the third of sixteen.")
    return int(number), int(of)


def _pair(word: str) -> tuple[str, str]:
    name, sign, text = word.partition("=")
    if not (sign and name and text):
        raise InputError(f"{word!r} is not a parameter of the sweep; write name=1,2,3 or, for samples, name=1:3.")
    return name, text


def _value(text: str) -> Any:
    """A number or truth value; anything else is text."""
    if text.lower() in FLAGS:
        return FLAGS[text.lower()]
    try:
        value = ast.literal_eval(text.strip())
    except (ValueError, SyntaxError):
        return text
    return value if isinstance(value, (int, float)) else text
