"""Dialogs from declarations: an entry for every field of a frozen dataclass, with the words of its docstring.

The annotation of a field says how it is typed, its meaning the rest: ``(3,)`` asks for three numbers, ``[N]`` is a
unit, names in quotes are all there is to choose. So a joint or force from elsewhere has its dialog, too.
"""

from __future__ import annotations

import inspect
import re
from dataclasses import fields, is_dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from rattleback.scenes.parameters import ARGUMENT
from rattleback.viewer.panels.compound_entry import ByRow, Course, Courses, Seat
from rattleback.viewer.panels.entry import NONE, Choice, Code, Entry, Names, Numbers, Tick, Words, listed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from rattleback.model.scene import Scene
    from rattleback.viewer.frame import Frame

UNIT = re.compile(r"\[([^\]]+)\]")
COUNT = re.compile(r"\((\d),\)")
QUOTED = re.compile(r'``"(\w+)"``')
FREE, ALL = "free", "all"
# Numbers of a frame: a point and a quaternion.
FRAMES = ("frame_a", "frame_b")
BODIES, JOINTS, GROUPS = ("a", "b", "body"), ("joint",), ("bodies", "joints")
# Fields that say how soft rows of a joint are, where they are no plain numbers.
SOFTNESS = ("stiffness", "damping", "row_damping")
# Fields of a joint that is placed in the world, and of one that is placed in its bodies.
IN_WORLD = ("at", "axis", "at_b", "axis_b")
# Longer units stand in the hint alone.
LONGEST_UNIT = 6
# What fields are called whose names are too short to be read alone.
SAID = {
    "a": "Body A",
    "b": "Body B",
    "at_b": "At, on B",
    "axis_b": "Axis of B",
    "limits_b": "Limits of B",
    "frame_a": "Frame on A",
    "frame_b": "Frame on B",
    "center_of_mass": "Centre of mass",
}


def meanings_of(kind: type[Any]) -> dict[str, str]:
    """What the docstrings of a class and of those it is made from say of its fields, by name."""
    found: dict[str, str] = {}
    for part in reversed(kind.__mro__):
        said = re.split(r"\n(?:Args|Attributes):\n", inspect.cleandoc(part.__dict__.get("__doc__") or ""), maxsplit=1)
        found |= {name: " ".join(text.split()) for name, text in ARGUMENT.findall("\n" + said[-1] if said[1:] else "")}
    return found


def label_of(name: str, meaning: str = "") -> str:
    """What a field is called on the page, with its unit where it has one and that is short."""
    words, units = SAID.get(name, name.replace("_", " ")), set(UNIT.findall(meaning))
    fits = len(units) == 1 and len(max(units)) <= LONGEST_UNIT
    return words[:1].upper() + words[1:] + (f" [{units.pop()}]" if fits else "")


def hint_of(meaning: str) -> str:
    """A meaning without what only programmers need."""
    return re.sub(r" \((\d, )*\d,?\)", "", meaning.replace("``", ""))


def entries_of(thing: Any, scene: Scene, read: Callable[[Frame], Any]) -> list[Entry]:
    """Entries for the fields of a joint, a force or a material.

    Args:
        thing: A dataclass.
        scene: The scene it is in.
        read: Finds the thing in a frame.
    """
    if not is_dataclass(thing):
        return []
    meanings = meanings_of(type(thing))
    return [
        Entry(
            field.name,
            label_of(field.name, meanings.get(field.name, "")),
            hint_of(meanings.get(field.name, "")),
            form,
            lambda frame, name=field.name: getattr(read(frame), name),  # type: ignore[misc]
            fixed=fixed,
        )
        for field, form, fixed in _forms(thing, scene, meanings)
    ]


def _forms(thing: Any, scene: Scene, meanings: dict[str, str]) -> Iterator[tuple[Any, Any, bool]]:
    """Fields that can be shown, how, and whether only that."""
    for field in fields(thing):
        value = getattr(thing, field.name)
        unplaced = IN_WORLD if getattr(thing, "in_bodies", False) else FRAMES
        if not field.init or (field.name in unplaced and value is None):
            continue
        if callable(value) and not is_dataclass(value):
            yield field, Code(), True
        elif (form := form_of(field, value, scene, meanings.get(field.name, ""))) is not None:
            yield field, form, False


def form_of(field: Any, value: Any, scene: Scene, meaning: str) -> Any:
    """How a field of a dataclass is typed; None where it cannot be.

    Args:
        field: The field.
        value: What it holds.
        scene: The scene its names are of.
        meaning: What it means.
    """
    kind = field.type if isinstance(field.type, str) else getattr(field.type, "__name__", str(field.type))
    name, whole = field.name, str(field.type)
    if name in (*BODIES, *JOINTS, *GROUPS):
        return _form_of_names(name, scene)
    if name in SOFTNESS and "float" not in whole:
        return ByRow()
    if name == "freedom":
        return Names(NONE)
    if name == "target" and isinstance(value, tuple):
        return Courses()
    if kind == "bool":
        return Tick()
    if "Schedule" in whole:
        return Course()
    if kind == "str":
        found = QUOTED.findall(meaning)
        return Choice(tuple(found)) if value in found else Words()
    return _form_of_numbers(name, value, whole, meaning)


def _form_of_names(name: str, scene: Scene) -> Any:
    if name in GROUPS:
        return Names(ALL if name == "bodies" else "")
    return listed([body.name for body in scene.bodies], scene.world.name) if name in BODIES else listed([*scene.joints])


def _form_of_numbers(name: str, value: Any, declared: str, meaning: str) -> Any:
    """How numbers are typed, by what is declared, by what is said of them, or by what there is."""
    if name in FRAMES:
        return Seat()
    several = COUNT.search(meaning)
    count = int(several[1]) if several else 3 if "tuple" in declared else None
    none = NONE if "None" in declared or value is None or re.search(r"\bNone\b", meaning) else ""
    if count is not None:
        return Numbers((count,), none, FREE if "None where" in meaning else "")
    if "float" in declared or isinstance(value, (int, float)):
        return Numbers((1,), none)
    if isinstance(value, (tuple, list, np.ndarray)) and np.size(value) <= 4:
        return Numbers((int(np.size(value)),), none)
    return None
