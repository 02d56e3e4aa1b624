"""A Python file run inside a simulation, which a fault in it does not stop.

    script = Script("push.py")
    script.start(sim)
    sim.run(2.0)
    print(script.fault)

The file finds the simulation as ``sim`` and the package as ``rb``, and registers functions as :mod:`rattleback.hooks`
says. They, and observers it attaches, belong to it: when one of them raises, all are removed, the fault is kept as
text, and the simulation goes on. The file has every right the process has.
"""

from __future__ import annotations

import sys
import traceback
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rattleback.core.errors import FileError
from rattleback.observers import belonging_to

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from os import PathLike

    from rattleback.simulation import Simulation


class Script:
    """A Python file to run inside a simulation.

    Attributes:
        path: The file.
        fault: What went wrong, with the file's name, the line and the exception; empty as long as nothing did.

    Args:
        path: The file; it is read when the script starts.
        tell: Called with the fault as soon as there is one.

    Raises:
        FileError: There is no such file.
    """

    def __init__(self, path: str | PathLike[str], tell: Callable[[str], Any] | None = None) -> None:
        self.path, self.fault = Path(path), ""
        try:
            there = self.path.is_file()
        except OSError as error:
            raise FileError(f"The script {str(path)!r} cannot be read: {error.strerror}.") from None
        if not there:
            raise FileError(f"There is no script {str(path)!r}; give the path of a Python file.")
        self._tell = tell
        self._simulation: Simulation | None = None
        self._lines: list[str] = []

    @property
    def running(self) -> bool:
        """Whether it was started and neither failed nor was stopped."""
        return self._simulation is not None

    def start(self, simulation: Simulation) -> None:
        """Run the file, from its beginning; where it runs already, it is stopped first.

        What the file raises does not come through, except for an interrupt from the keyboard.

        Args:
            simulation: What it gets as ``sim``.
        """
        self.stop()
        self.fault, self._simulation = "", simulation
        names = {"__name__": "__main__", "__file__": str(self.path), "sim": simulation}
        names["rb"] = import_module("rattleback")
        try:
            source = self.path.read_bytes()
            self._lines = source.decode(errors="replace").splitlines()
            with belonging_to(self), _importable(self.path.parent):
                exec(compile(source, str(self.path), "exec", dont_inherit=True), names)
        except (Exception, SystemExit) as error:
            self.fail(error)
        except BaseException:
            self.stop()
            raise

    def stop(self) -> None:
        """Remove everything it registered; one that does not run is left alone."""
        if self._simulation is not None:
            self._simulation.observers.detach(lambda entry: entry.owner is self)
            self._simulation = None

    def fail(self, error: BaseException) -> None:
        """Stop it and keep what went wrong; leaving by ``sys.exit()`` is not wrong."""
        self.stop()
        if isinstance(error, SystemExit) and not error.code:
            return
        self.fault = self._described(error)
        if self._tell is not None:
            self._tell(self.fault)

    def _described(self, error: BaseException) -> str:
        """Where the file went wrong, the line itself, and the exception with its notes."""
        line = _line_of(error, str(self.path))
        text = self._lines[line - 1].strip() if 0 < line <= len(self._lines) else ""
        where = f"{self.path}, line {line}" if line else str(self.path)
        said = error.msg if isinstance(error, SyntaxError) else str(error)
        what = f"{type(error).__name__}: {said}" if said else type(error).__name__
        notes: list[str] = getattr(error, "__notes__", [])
        return "\n".join([f"{where}: {text}" if text else where, what, *notes])


def _line_of(error: BaseException, path: str) -> int:
    """Number of the innermost line of a file that an exception came through; 0 for none."""
    if isinstance(error, SyntaxError) and error.filename == path:
        return error.lineno or 0
    lines = [entry.lineno for entry in traceback.extract_tb(error.__traceback__) if entry.filename == path]
    return lines[-1] or 0 if lines else 0


@contextmanager
def _importable(folder: Path) -> Iterator[None]:
    """While this is open, modules in a folder can be imported, as they can from a file that Python runs."""
    entry = str(folder.resolve())
    sys.path.insert(0, entry)
    try:
        yield
    finally:
        if entry in sys.path:
            sys.path.remove(entry)
