"""The parameters of scenes, read off the functions that build them: name, type, default and meaning."""

from __future__ import annotations

import inspect
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rattleback.core.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable

WORDS = {"bool": "true or false", "int": "a whole number", "float": "a number"}
FLAGS = {"true": True, "yes": True, "on": True, "1": True, "false": False, "no": False, "off": False, "0": False}
KINDS: dict[str, type[Any]] = {"bool": bool, "int": int, "float": float, "str": str}
# An entry of the "Args:" of a docstring, with the lines that go on with it.
ARGUMENT = re.compile(r"^ {4}(\w+): (.*(?:\n {8,}.*)*)", re.MULTILINE)


@dataclass(frozen=True)
class Parameter:
    """A parameter of a scene.

    Attributes:
        name: Its name.
        kind: Name of the type its values have: ``"bool"``, ``"int"``, ``"float"`` or ``"str"``.
        default: Its value when it is not given.
        meaning: What it means, a sentence; empty where the scene does not say.
    """

    name: str
    kind: str
    default: Any
    meaning: str = ""

    def __str__(self) -> str:
        return f"{self.name}={written(self.default)}"


def parameters_of(build: Callable[..., Any]) -> dict[str, Parameter]:
    """The parameters of a scene's function, by name."""
    found, meanings = inspect.signature(build).parameters.values(), _meanings(build)
    return {
        entry.name: Parameter(entry.name, _kind_of(entry), entry.default, meanings.get(entry.name, ""))
        for entry in found
    }


def summary_of(build: Callable[..., Any]) -> str:
    """What a scene shows, the first sentence of its function."""
    return (inspect.getdoc(build) or "").partition("\n")[0]


def written(value: Any) -> str:
    """A value as it is written on the command line."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def read_value(text: str, parameter: Parameter, scene: str) -> Any:
    """The value of a parameter from text, as it is written on the command line.

    Args:
        text: The text.
        parameter: The parameter.
        scene: Name of its scene, for messages.

    Raises:
        InputError: The text is no value of its type.
    """
    try:
        return FLAGS[text.lower()] if parameter.kind == "bool" else KINDS[parameter.kind](text)
    except (KeyError, ValueError):
        raise InputError(
            f"The parameter {parameter.name!r} of the scene {scene!r} is {text!r}; it must be "
            f"{WORDS[parameter.kind]}, such as {written(parameter.default)}."
        ) from None


def _kind_of(entry: inspect.Parameter) -> str:
    declared = entry.annotation if isinstance(entry.annotation, str) else entry.annotation.__name__
    return declared if declared in KINDS else type(entry.default).__name__


def _meanings(build: Callable[..., Any]) -> dict[str, str]:
    _, _, said = (inspect.getdoc(build) or "").partition("\nArgs:\n")
    return {name: " ".join(text.split()) for name, text in ARGUMENT.findall(said)}
