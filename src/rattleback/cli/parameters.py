"""Scene parameters on the command line: ``name=value``, read by the type the scene's function declares."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rattleback.core.errors import InputError, did_you_mean

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rattleback.scenes.parameters import Parameter


def read_pairs(words: Sequence[str], known: dict[str, Parameter], scene: str) -> dict[str, Any]:
    """Values from words of the form ``name=value``.

    Args:
        words: The words.
        known: The parameters of the scene, by name.
        scene: Its name, for messages.

    Raises:
        InputError: A word is no parameter, is given twice, or its value is of the wrong type.
    """
    from rattleback.scenes.parameters import read_value

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
        values[name] = read_value(text, known[name], scene)
    return values
