"""Names in a file: legal and used once, with a line in the report for each that had to be changed."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from rattleback.io.robots.report import Report


class Names:
    """The names of one kind of thing in a file.

    Args:
        report: Where changes are told.
        kind: What they are names of, such as ``"link"``.
        legal: What makes a name legal in the format; names are as they are where it is left out.
        beside: Where the file has the name as it was, too; empty where it has not.
    """

    def __init__(self, report: Report, kind: str, legal: Callable[[str], str] | None = None, beside: str = "") -> None:
        self.report, self.kind, self.legal, self.beside = report, kind, legal, beside
        self._given: dict[str, str] = {}
        self._taken: set[str] = set()

    def add(self, name: str) -> str:
        """The name in the file of a thing that has none there yet."""
        base = found = _readable(name) if self.legal is None else self.legal(name)
        number = 1
        while found in self._taken:
            number += 1
            found = f"{base}_{number}"
        self._taken.add(found)
        self._given.setdefault(name, found)
        if found != name:
            why = "another has this name in the file" if number > 1 else "the format does not allow its name"
            told = f"it is called {found!r} in the file: {why}"
            if self.beside:
                self.report.keep(f"{self.kind} {name!r} name", f"{told}; {self.beside} has it")
            else:
                self.report.approximate(f"{self.kind} {name!r} name", told)
        return found

    def reserve(self, name: str) -> None:
        """Keep a name for something else."""
        self._taken.add(name)

    def __getitem__(self, name: str) -> str:
        """The name in the file of a thing."""
        return self._given[name]

    def __contains__(self, name: str) -> bool:
        return name in self._given


def _readable(name: str) -> str:
    """A name without characters that XML cannot hold."""
    kept = "".join(letter if letter.isprintable() else "_" for letter in name)
    return kept or "_"
