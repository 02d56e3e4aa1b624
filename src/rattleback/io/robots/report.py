"""What became of a file: every element and attribute kept, approximated (how) or dropped (why).

``scene.import_report`` is one; printed, it has a line for each thing that is not exactly what the file says.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from rattleback.core.errors import FileError

if TYPE_CHECKING:
    from collections.abc import Iterator

KEPT, APPROXIMATED, DROPPED = "kept", "approximated", "dropped"
# Lines an error or a summary shows.
SHOWN = 10


class Entry(NamedTuple):
    """What became of one thing.

    Attributes:
        place: Where it is: path inside the file, with the line where there is one.
        verdict: ``"kept"``, ``"approximated"`` or ``"dropped"``.
        note: How it was approximated, or why it was dropped; empty where it was kept as it is.
    """

    place: str
    verdict: str
    note: str = ""

    def __str__(self) -> str:
        return f"{self.place}: {self.verdict}" + (f", {self.note}" if self.note else "")


class Report:
    """What became of everything in a file.

    Attributes:
        path: The file.
        format: What it was read as, such as ``"URDF"``.
        entries: Everything, in the order in which it was met.
    """

    def __init__(self, path: str, kind: str) -> None:
        self.path, self.format = path, kind
        self.entries: list[Entry] = []

    def keep(self, place: str, note: str = "") -> None:
        """Something is kept."""
        self.add(Entry(place, KEPT, note))

    def approximate(self, place: str, how: str) -> None:
        """Something is approximated."""
        self.add(Entry(place, APPROXIMATED, how))

    def drop(self, place: str, why: str) -> None:
        """Something is dropped."""
        self.add(Entry(place, DROPPED, why))

    def add(self, entry: Entry) -> None:
        """One thing more."""
        self.entries.append(entry)

    @property
    def kept(self) -> list[Entry]:
        """What is exactly as in the file."""
        return self._of(KEPT)

    @property
    def approximated(self) -> list[Entry]:
        """What is nearly as in the file, and how."""
        return self._of(APPROXIMATED)

    @property
    def dropped(self) -> list[Entry]:
        """What is not there any more, and why."""
        return self._of(DROPPED)

    def _of(self, verdict: str) -> list[Entry]:
        return [entry for entry in self.entries if entry.verdict == verdict]

    def summary(self) -> str:
        """One sentence with the numbers."""
        counts = f"{len(self.kept)} kept, {len(self.approximated)} approximated, {len(self.dropped)} dropped"
        return f"{self.format} file {self.path!r}: {counts}."

    def losses(self) -> Iterator[str]:
        """A line for each thing that is not exactly as in the file, the approximated first."""
        yield from map(str, (*self.approximated, *self.dropped))

    def check_strict(self, refused: str = "kept as it is", otherwise: str = "loaded") -> None:
        """Refuse a file of which anything was approximated or dropped.

        Args:
            refused: What cannot be done exactly.
            otherwise: What is done with losses where they are admitted.
        """
        lines = list(self.losses())
        if lines:
            more = [f"and {len(lines) - SHOWN} more"] if len(lines) > SHOWN else []
            text = "\n  ".join([*lines[:SHOWN], *more])
            raise FileError(
                f"The {self.format} file {self.path!r} cannot be {refused}; without strict=True it is {otherwise} "
                f"with these changes:\n  {text}"
            )

    def __str__(self) -> str:
        return "\n  ".join([self.summary(), *self.losses()])

    def __repr__(self) -> str:
        return f"<Report on {self.summary()[:-1]}>"
