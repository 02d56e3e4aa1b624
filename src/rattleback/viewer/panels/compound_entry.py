"""Entries of several numbers that mean one thing: orientations, frames on bodies, schedules, softness of rows."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from rattleback.core.errors import InputError
from rattleback.forces.schedule import KINDS, Schedule
from rattleback.maths.rotation import euler_from_quaternion, quaternion_from_euler
from rattleback.viewer.panels.entry import ALONE, GRAIN, NONE, SEPARATORS, Numbers, figure

# About fixed axes: first about x, then about y, then about z.
TURNS = "xyz"


@dataclass(frozen=True)
class Turn:
    """An orientation: three angles about fixed axes [°], or four numbers for a quaternion x, y, z, w."""

    def write(self, value: Any) -> str:
        """The angles."""
        return Numbers((3,), grain=GRAIN).write(self._angles(value))

    def parse(self, text: str, held: Any, label: str) -> Any:
        """The quaternion."""
        if len([word for word in SEPARATORS.split(text) if word]) != 4:
            angles = Numbers((3, 4), grain=GRAIN).parse(text, self._angles(held), label)
            return quaternion_from_euler(np.radians(angles), TURNS)
        return _unit(np.array(Numbers((4,)).parse(text, None, label)), text, label)

    def _angles(self, value: Any) -> Any:
        return np.degrees(euler_from_quaternion(value, TURNS)) + 0.0


@dataclass(frozen=True)
class Seat:
    """A frame on a body as seven numbers: a point [m] and a quaternion x, y, z, w."""

    def write(self, value: Any) -> str:
        """The seven numbers."""
        return Numbers((7,)).write([*value[0], *value[1]])

    def parse(self, text: str, held: Any, label: str) -> Any:
        """The point and the quaternion."""
        found = Numbers((7,)).parse(text, [*held[0], *held[1]], label)
        return found[:3], tuple(_unit(np.array(found[3:], dtype=np.float64), text, label))


@dataclass(frozen=True)
class Course:
    """A number, or a schedule: pairs of time and value, after a word that says what lies between them."""

    def write(self, value: Any) -> str:
        """A number or a schedule as text, such as ``linear (0, 0) (1, 0.5)``."""
        if not isinstance(value, Schedule):
            return Numbers().write(value)
        pairs = " ".join(
            f"({figure(time, ALONE)}, {figure(aim, ALONE)})"
            for time, aim in zip(value.times, value.values, strict=True)
        )
        return f"{value.kind} {pairs}"

    def parse(self, text: str, held: Any, label: str) -> float | Schedule:
        """The number or schedule of a text; without a word it is linear."""
        words = [word for word in re.split(r"[,;:\s()\[\]]+", text) if word]
        kind = words.pop(0) if words and words[0] in KINDS else ""
        if len(words) == 1 and not kind:
            number: float = Numbers().parse(text, None, label)
            return number
        if len(words) % 2 or not words:
            raise InputError(
                f"{label} is {text!r}; it must be a number, or pairs of time and value, such as (0, 0) (1, 0.5), after "
                f"one of {', '.join(KINDS)}."
            )
        values = Numbers((len(words),)).parse(" ".join(words), None, label)
        return Schedule(values[::2], values[1::2], kind or "linear")


@dataclass(frozen=True)
class Courses:
    """Several numbers or schedules with semicolons between."""

    def write(self, value: Any) -> str:
        """The numbers and schedules."""
        return "; ".join(Course().write(part) for part in value)

    def parse(self, text: str, held: Any, label: str) -> tuple[float | Schedule, ...]:
        """Those of a text."""
        return tuple(Course().parse(part, None, label) for part in text.split(";"))


@dataclass(frozen=True)
class ByRow:
    """A number for all rows of a joint, numbers by the names of rows, or none: ``100``, ``slide_z 1e4, turn 20``."""

    def write(self, value: Any) -> str:
        """The number, or names with numbers."""
        if isinstance(value, Mapping):
            return ", ".join(f"{name} {figure(number, ALONE)}" for name, number in value.items())
        return Numbers((1,), NONE).write(value)

    def parse(self, text: str, held: Any, label: str) -> Any:
        """What a text says."""
        parts = [part.split() for part in text.split(",")]
        if not all(len(part) == 2 for part in parts):
            return Numbers((1,), NONE).parse(text, None, label)
        return {name: Numbers().parse(number, None, label) for name, number in parts}


def _unit(quaternion: Any, text: str, label: str) -> Any:
    length = float(np.linalg.norm(quaternion))
    if not 0.0 < length < math.inf:
        raise InputError(f"{label} is {text!r}; a quaternion must not be zero.")
    return quaternion / length
