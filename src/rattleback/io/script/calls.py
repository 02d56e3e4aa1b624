"""Shapes, materials, joints and forces as calls that give no more arguments than they need."""

from __future__ import annotations

from dataclasses import MISSING, fields
from typing import TYPE_CHECKING, Any

import numpy as np

from rattleback.core.errors import RattlebackError
from rattleback.forces import Schedule
from rattleback.io.script.layout import Group, call, literal
from rattleback.model import Material
from rattleback.model.editing import placed_force
from rattleback.shapes import Compound, Placed

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from rattleback.model import Scene

# Fields of joints and forces that name a body or a joint.
NAMES = ("a", "b", "body", "joint")


class Calls:
    """Makes code of the parts of a scene.

    Attributes:
        names: Code for a body, joint or the world by its name, where it has a variable.

    Args:
        scene: The scene.
    """

    def __init__(self, scene: Scene) -> None:
        self.scene = scene
        self.names: dict[str, str] = {scene.world.name: "scene.world"}
        self.materials: dict[Material, str] = {}
        self.shapes: dict[Any, str] = {}

    def shape(self, shape: Any) -> Any:
        """A shape, by its variable where it has one."""
        return self.shapes[shape] if shape in self.shapes else self.new_shape(shape)

    def new_shape(self, shape: Any) -> Any:
        """A shape as it is made."""
        if isinstance(shape, Compound):
            return call("rb.Compound", [Group("[", tuple(("", self.placed(part)) for part in shape.parts), "]")], {})
        positional, named = _split(shape, lambda name, value: literal(value))
        return call(f"rb.{type(shape).__name__}", positional, named)

    def placed(self, part: Placed) -> Any:
        """A shape at its place."""
        named = _split(part, lambda name, value: None if name == "shape" else literal(value))[1]
        return call("rb.Placed", [self.shape(part.shape)], named)

    def material(self, material: Material) -> Any:
        """A material, by its variable where it has one."""
        return self.materials[material] if material in self.materials else self.new_material(material)

    def new_material(self, material: Material) -> Any:
        """A material as it is made."""
        kept = needed(Material, {}, {field.name: getattr(material, field.name) for field in fields(material)}, material)
        return call("rb.Material", [], {name: literal(value) for name, value in kept.items()})

    def joint(self, joint: Any) -> Any:
        """A joint."""
        return self._declared(joint, lambda made: made)

    def force(self, label: str, force: Any) -> Any:
        """A force."""
        return self._declared(force, lambda made: placed_force(self.scene, made, label))

    def name(self, name: str) -> str:
        """A body or joint in code: its variable, or its name."""
        return self.names.get(name) or str(literal(name))

    def _declared(self, thing: Any, kept: Callable[[Any], Any]) -> Any:
        """A call that makes a joint or a force."""
        kind = type(thing)
        declared = [field for field in fields(thing) if field.init and field.name != "_"]
        values = {field.name: getattr(thing, field.name) for field in declared}
        first = [field.name for field in declared if not field.kw_only and field.default is MISSING]
        bare = {name: values.pop(name) for name in first}
        rest = needed(lambda **given: kept(kind(**given)), bare, values, thing)
        code = {name: self._value(name, value) for name, value in {**bare, **rest}.items()}
        return call(f"rb.{kind.__name__}", [code[name] for name in bare], {name: code[name] for name in rest})

    def _value(self, name: str, value: Any) -> Any:
        if name in NAMES and isinstance(value, str):
            return self.name(value)
        if isinstance(value, Schedule):
            return call("rb.Schedule", *_split(value, lambda _, part: literal(part)))
        if isinstance(value, tuple) and any(isinstance(part, Schedule) for part in value):
            return Group("(", tuple(("", self._value("", part)) for part in value), ")")
        return literal(value)


def needed(make: Callable[..., Any], bare: Mapping[str, Any], values: Mapping[str, Any], wanted: Any) -> dict[str, Any]:
    """The arguments without which something would be another.

    Args:
        make: Makes it.
        bare: Arguments that are always given.
        values: The others.
        wanted: What is to be made.
    """
    kept = dict(values)
    for name in [*values]:
        fewer = {known: value for known, value in kept.items() if known != name}
        try:
            if told(make(**bare, **fewer)) == told(wanted):
                kept = fewer
        except (TypeError, RattlebackError):  # it cannot do without
            continue
    return kept


def told(thing: Any) -> str:
    """Everything a thing says, as text, which tells −0.0 from 0.0."""
    return repr([(field.name, getattr(thing, field.name)) for field in fields(thing) if field.name != "_"])


def _split(thing: Any, code: Callable[[str, Any], Any]) -> tuple[list[Any], dict[str, Any]]:
    """Code for the fields of a dataclass: those without a default in order, the others where they are not that."""
    first: list[Any] = []
    rest: dict[str, Any] = {}
    for field in fields(thing):
        value = getattr(thing, field.name)
        if field.default is MISSING:
            first.append(code(field.name, value))
        elif isinstance(value, np.ndarray) or repr(value) != repr(field.default):
            rest[field.name] = code(field.name, value)
    return first, rest
