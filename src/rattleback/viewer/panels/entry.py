"""Entries of dialogs: values as the user reads and types them.

What is typed is compared with what is written: a number whose digits were left alone keeps those that are not shown.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from rattleback.core.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from rattleback.viewer.frame import Frame

# Digits of a number that stands alone, and of one among several.
ALONE, AMONG = 6, 4
NONE = "none"
# Smaller numbers of a motion are rounding [m, °, m/s, rad/s].
GRAIN = 1e-9
SEPARATORS = re.compile(r"[,;\s()\[\]]+")


@dataclass(frozen=True)
class Entry:
    """A value of a dialog.

    Attributes:
        name: Name it is asked for by.
        label: What it is called on the page.
        hint: What it means.
        form: How it is written and typed.
        read: What holds, from a frame.
        live: Whether it changes by itself while the simulation runs.
        fixed: Whether it can only be looked at.
    """

    name: str
    label: str
    hint: str
    form: Any
    read: Callable[[Frame], Any]
    live: bool = False
    fixed: bool = False


@dataclass(frozen=True)
class Tick:
    """Yes or no, as a tick box."""

    def write(self, value: Any) -> bool:
        """A value as the box shows it."""
        return bool(value)

    def parse(self, shown: Any, held: Any, label: str) -> bool:
        """What the box says."""
        return bool(shown)


@dataclass(frozen=True)
class Choice:
    """One of some names, as a drop-down."""

    options: tuple[str, ...]

    def write(self, value: Any) -> str:
        """A value as text."""
        return str(value)

    def parse(self, text: str, held: Any, label: str) -> str:
        """The name itself; what takes it checks it."""
        return text


@dataclass(frozen=True)
class Names:
    """Names with commas between; a word stands for None."""

    none: str = ""

    def write(self, value: Any) -> str:
        """Names as text."""
        if value is None:
            return self.none
        return value if isinstance(value, str) else ", ".join(value)

    def parse(self, text: str, held: Any, label: str) -> Any:
        """The names of a text."""
        if self.none and text.strip() in ("", self.none):
            return None
        found = tuple(name.strip() for name in text.split(",") if name.strip())
        return found[0] if len(found) == 1 else found


@dataclass(frozen=True)
class Words:
    """A text as it is."""

    def write(self, value: Any) -> str:
        """The text."""
        return str(value)

    def parse(self, text: str, held: Any, label: str) -> str:
        """The same."""
        return text.strip()


@dataclass(frozen=True)
class Code:
    """A function, by its name."""

    def write(self, value: Any) -> str:
        """The name."""
        return str(getattr(value, "__name__", getattr(value, "key", type(value).__name__)))

    def parse(self, text: str, held: Any, label: str) -> Any:
        """The function there is."""
        return held


@dataclass(frozen=True)
class Numbers:
    """One number or several.

    Attributes:
        counts: How many there may be.
        none: Word that stands for None in place of all of them; empty where there must be numbers.
        free: Word that stands for None in place of one of several.
        grain: What is smaller is rounding and written as zero.
    """

    counts: tuple[int, ...] = (1,)
    none: str = ""
    free: str = ""
    grain: float = 0.0

    def write(self, value: Any) -> str:
        """Numbers as text."""
        return self.none if value is None else ", ".join(self._words(value))

    def parse(self, text: str, held: Any, label: str) -> Any:
        """The numbers of a text: one as a float, several as a tuple; a number that was left alone is as it was.

        Raises:
            InputError: It has none, or another number of them.
        """
        if self.none and text.strip() in ("", self.none):
            return None
        words = [word for word in SEPARATORS.split(text) if word]
        if len(words) not in self.counts:
            raise InputError(f"{label} is {text!r}; it must be {self._wanted()}.")
        kept = [] if held is None else list(np.ravel(np.asarray(held, dtype=object)))
        before = [] if held is None else self._words(held)
        same = [len(words) == len(before) and word == old for word, old in zip(words, before, strict=False)]
        same += [False] * (len(words) - len(same))
        values = tuple(kept[k] if same[k] else self._number(word, label, text) for k, word in enumerate(words))
        return values[0] if self.counts == (1,) else values

    def _words(self, value: Any) -> list[str]:
        entries = list(np.ravel(np.asarray(value, dtype=object)))
        digits = ALONE if len(entries) == 1 else AMONG
        shown = [0.0 if entry is not None and abs(entry) < self.grain else entry for entry in entries]
        return [self.free if entry is None else figure(float(entry), digits) for entry in shown]

    def _number(self, word: str, label: str, text: str) -> float | None:
        if self.free and word == self.free:
            return None
        try:
            value = float(word.replace("−", "-").replace("∞", "inf"))
        except ValueError:
            value = math.nan
        if math.isnan(value):
            raise InputError(f"{label} is {text!r}; it must be {self._wanted()}.")
        return value

    def _wanted(self) -> str:
        counted = " or ".join(map(str, self.counts))
        wanted = "a number, such as 1e-3" if self.counts == (1,) else f"{counted} numbers with commas between"
        wanted += f", {self.free!r} where there is none" if self.free else ""
        return wanted + (f", or {self.none!r}" if self.none else "")


def figure(value: float, digits: int) -> str:
    """A number with so many digits."""
    return f"{value + 0.0:.{digits}g}".replace("e-0", "e-").replace("e+0", "e+")


def listed(names: Sequence[str], *others: str) -> Choice:
    """A choice of names, and of some others."""
    return Choice((*names, *(other for other in others if other not in names)))
