"""What the commands print: text and tables for people, one JSON object for programs, errors as sentences.

Results go to standard output, everything else to standard error, so that a pipe carries results only. The exit codes
stand here too; ``main`` says what they mean.
"""

from __future__ import annotations

import json
import math
import os
import sys
from contextlib import suppress
from os import PathLike
from typing import Any

import numpy as np

from rattleback.core.errors import FileError

FINE, REFUSED, WRONG_USAGE, INTERRUPTED = 0, 1, 2, 130


def prepare() -> None:
    """Write characters the terminal cannot show as escapes, instead of failing on them."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")


def write(text: str, end: str = "\n") -> None:
    """Print a text on standard output at once; a reader that went away, as ``head`` does, is no fault."""
    try:
        print(text, end=end, flush=True)
    except BrokenPipeError:
        _let_go()
    except OSError as error:
        _let_go()
        raise FileError(f"Standard output cannot be written: {error.strerror}.") from None


def write_json(data: Any) -> None:
    """Print one JSON value on standard output."""
    write(as_json(data))


def as_json(data: Any) -> str:
    """Data as JSON text; arrays become lists, numbers that are not finite become null."""
    return json.dumps(_plain(data), indent=2, ensure_ascii=False, allow_nan=False)


def show(renderable: Any) -> None:
    """Print a table or other rich object on standard output."""
    from rich.console import Console

    console = Console()
    with console.capture() as capture:
        console.print(renderable)
    write(capture.get().rstrip("\n"))


def tell(text: str) -> None:
    """Print a text on standard error, if there is one."""
    if sys.stderr is not None:
        with suppress(OSError):
            print(text, file=sys.stderr, flush=True)


def say(sentence: str) -> None:
    """Print a sentence on standard error, under the program's name."""
    tell(f"rattleback: {sentence}")


def complain(error: BaseException, as_object: bool) -> None:
    """Report an error as a sentence, and as a JSON object on standard output where one was asked for."""
    notes: list[str] = getattr(error, "__notes__", [])
    message = " ".join([str(error), *notes])
    say(message)
    if as_object:
        write_json({"error": {"kind": type(error).__name__, "message": message}})


def _let_go() -> None:
    """Point standard output at nothing, so that Python does not try to write the rest once more when it ends."""
    nothing = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nothing, sys.stdout.fileno())
    os.close(nothing)


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(key): _plain(entry) for key, entry in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(entry) for entry in value]
    if isinstance(value, (np.ndarray, np.generic)):
        return _plain(value.tolist())
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return os.fspath(value) if isinstance(value, PathLike) else value
