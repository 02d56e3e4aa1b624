"""Scene parameters on the command line: ``name=value``, read by the type the scene's function declares."""

from __future__ import annotations

import inspect
import types
import typing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from rattleback.core.errors import InputError, did_you_mean, listing

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

FLAGS = {"true": True, "yes": True, "on": True, "1": True, "false": False, "no": False, "off": False, "0": False}


@dataclass(frozen=True)
class Parameter:
    """A parameter of a scene.

    Attributes:
        name: Its name.
        kind: The type its values have, or a union of types.
        default: Its value when it is not given.
    """

    name: str
    kind: Any
    default: Any

    @property
    def kind_name(self) -> str:
        """Its type in a word or two."""
        return self.kind.__name__ if isinstance(self.kind, type) and not typing.get_args(self.kind) else str(self.kind)

    def __str__(self) -> str:
        return f"{self.name}={written(self.default)}"


def parameters_of(build: Callable[..., Any]) -> dict[str, Parameter]:
    """The parameters of a scene's function, by name."""
    hints = typing.get_type_hints(build)
    found = inspect.signature(build).parameters.values()
    return {
        entry.name: Parameter(entry.name, hints.get(entry.name, type(entry.default)), entry.default) for entry in found
    }


def written(value: Any) -> str:
    """A value as it is written on the command line."""
    if isinstance(value, (tuple, list)):
        return ",".join(written(entry) for entry in value)
    return str(value).lower() if isinstance(value, bool) or value is None else str(value)


def read_pairs(words: Sequence[str], known: dict[str, Parameter], scene: str) -> dict[str, Any]:
    """Values from words of the form ``name=value``; every fault names the parameter and the scene."""
    values: dict[str, Any] = {}
    for word in words:
        name, sign, text = word.partition("=")
        if not sign:
            raise InputError(f"{word!r} is not a parameter of the scene {scene!r}; write it as name=value.")
        if name not in known:
            hint = did_you_mean(name, list(known))
            raise InputError(f"The scene {scene!r} has no parameter {name!r}.{hint} It takes {_menu(known)}.")
        if name in values:
            raise InputError(f"The parameter {name!r} of the scene {scene!r} is given twice; give it once.")
        values[name] = _read(text, known[name], scene)
    return values


def _menu(known: dict[str, Parameter]) -> str:
    return ", ".join(map(str, known.values())) or "no parameters"


def _read(text: str, parameter: Parameter, scene: str) -> Any:
    try:
        return convert(text, parameter.kind, parameter.default)
    except ValueError as fault:
        raise InputError(
            f"The parameter {parameter.name!r} of the scene {scene!r} is {text!r}; it must be {fault}, "
            f"such as {written(parameter.default)}."
        ) from None


def convert(text: str, kind: Any, default: Any) -> Any:
    """A text as a value of a type.

    Args:
        text: What was written.
        kind: ``bool``, ``int``, ``float``, ``str``, a sequence of numbers, a ``Literal``, or a union of these and None.
        default: A value of the type, for sequences whose length the type leaves open.

    Raises:
        ValueError: The text cannot be read so; the message says what would work.
    """
    origin = typing.get_origin(kind)
    if origin in (typing.Union, types.UnionType):
        return _one_of_kinds(text, typing.get_args(kind), default)
    if origin is Literal:
        return _literal(text, typing.get_args(kind))
    if kind in (bool, int, float, type(None)):
        return _scalar(text, kind)
    return text if kind is str else _sequence(text, kind, default)


def _scalar(text: str, kind: type) -> Any:
    what = {bool: "true or false", int: "a whole number", float: "a number", type(None): "none"}[kind]
    try:
        if kind is bool:
            return FLAGS[text.lower()]
        if kind is type(None):
            return {"none": None}[text.lower()]
        return kind(text)
    except (KeyError, ValueError):
        raise ValueError(what) from None


def _literal(text: str, choices: tuple[Any, ...]) -> Any:
    for choice in choices:
        if text == written(choice):
            return choice
    raise ValueError(f"one of {listing([written(choice) for choice in choices])}")


def _one_of_kinds(text: str, kinds: tuple[Any, ...], default: Any) -> Any:
    wanted = []
    for kind in sorted(kinds, key=lambda kind: kind is str):
        try:
            return convert(text, kind, default)
        except ValueError as fault:
            wanted.append(str(fault))
    raise ValueError(" or ".join(wanted))


def _sequence(text: str, kind: Any, default: Any) -> tuple[float, ...]:
    """Numbers with commas between them, as many as the type or the default value has."""
    inner = [entry for entry in typing.get_args(kind) if entry is not Ellipsis]
    length = len(inner) if len(inner) > 1 else len(default) if isinstance(default, (tuple, list)) else None
    what = f"{'numbers' if length is None else f'{length} numbers'} with commas between them"
    try:
        values = tuple(float(entry) for entry in text.strip("()[] ").split(","))
    except ValueError:
        raise ValueError(what) from None
    if length not in (None, len(values)):
        raise ValueError(what)
    return values
