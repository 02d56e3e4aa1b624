"""Scene parameters on the command line: ``name=value``, read by the type the scene's function declares."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rattleback.core.errors import InputError, did_you_mean

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rattleback.scenes.parameters import Parameter

WORDS = {"bool": "true or false", "int": "a whole number", "float": "a number"}
FLAGS = {"true": True, "yes": True, "on": True, "1": True, "false": False, "no": False, "off": False, "0": False}


def read_pairs(words: Sequence[str], known: dict[str, Parameter], scene: str) -> dict[str, Any]:
    """Values from words of the form ``name=value``.

    Args:
        words: The words.
        known: The parameters of the scene, by name.
        scene: Its name, for messages.

    Raises:
        InputError: A word is no parameter, is given twice, or its value is of the wrong type.
    """
    values: dict[str, Any] = {}
    menu = ", ".join(map(str, known.values())) or "none"
    for word in words:
        name, sign, text = word.partition("=")
        if not sign:
            raise InputError(f"{word!r} is not a parameter; write name=value. The scene {scene!r} takes {menu}.")
        if name not in known:
            hint = did_you_mean(name, list(known))
            raise InputError(f"The scene {scene!r} has no parameter {name!r}.{hint} It takes {menu}.")
        if name in values:
            raise InputError(f"The parameter {name!r} of the scene {scene!r} is given twice; give it once.")
        values[name] = _read(text, known[name], scene)
    return values


def _read(text: str, parameter: Parameter, scene: str) -> Any:
    from rattleback.scenes.parameters import KINDS, written

    try:
        return FLAGS[text.lower()] if parameter.kind == "bool" else KINDS[parameter.kind](text)
    except (KeyError, ValueError):
        raise InputError(
            f"The parameter {parameter.name!r} of the scene {scene!r} is {text!r}; it must be "
            f"{WORDS[parameter.kind]}, such as {written(parameter.default)}."
        ) from None
