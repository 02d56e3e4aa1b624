"""Messages of a page, as the page of viser 1.1.1 sends them: which there are, and whether one has the right form.

A message is a dictionary with a ``type``; the fields of each type and what they hold are those of viser's dataclasses.
"""

from __future__ import annotations

import dataclasses
from functools import cache
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

# All that a page sends; viser knows more, which go the other way.
SENT = (
    "ViewerCameraMessage",
    "ScenePointerMessage",
    "SceneNodeClickMessage",
    "SceneNodeDragMessage",
    "TransformControlsDragStartMessage",
    "TransformControlsUpdateMessage",
    "TransformControlsDragEndMessage",
    "GuiUpdateMessage",
    "GuiButtonHoldMessage",
    "GuiFormSubmitMessage",
    "GuiFormDirtyMessage",
    "CommandTriggerMessage",
    "FileTransferStartUpload",
    "FileTransferPart",
    "GetRenderResponseMessage",
)
# Numbers beyond this cannot be drawn, since the page has single precision; texts longer than this are not typed.
LARGEST, LONGEST = 1e36, 100_000
MOST_SHOWN = 40


def misfit(message: Any) -> str:
    """What is wrong with the form of a message, in words that finish a sentence; empty if it is right.

    Args:
        message: What came, unpacked.
    """
    if not isinstance(message, dict) or not isinstance(message.get("type"), str):
        return "it is no message"
    name = message["type"]
    if name not in SENT:
        return f"a page sends no {shown(name)}"
    needed, known = fields_of(name)
    given = message.keys() - {"type"}
    if given - known.keys():
        return f"{name} has no field {shown(sorted(given - known.keys(), key=str)[0])}"
    if needed - given:
        return f"{name} lacks the field {sorted(needed - given)[0]!r}"
    for field in given:
        if not fits(message[field], known[field]):
            return f"the {field} of {name} cannot be {shown(message[field])}"
    return ""


def fits(value: Any, kind: Any) -> bool:
    """Whether a value is of the kind that an annotation says; numbers have to be finite and within reason."""
    origin, inside = get_origin(kind), get_args(kind)
    if origin is Union:
        return any(fits(value, one) for one in inside)
    if origin is Literal:
        return any(type(value) is type(one) and value == one for one in inside)
    if origin is tuple:
        if not isinstance(value, list):
            return False
        kinds = inside[:1] * len(value) if inside[1:] == (...,) else inside
        return len(kinds) == len(value) and all(map(fits, value, kinds))
    if origin is dict:
        return isinstance(value, dict) and all(isinstance(key, str) for key in value)
    if kind is float:
        return is_number(value)
    if kind is int:
        return is_number(value) and isinstance(value, int)
    return kind is Any or (type(value) is kind and (kind is bytes or not isinstance(value, str) or is_text(value)))


def is_number(value: Any) -> bool:
    """Whether a value is a number within reason, and not a truth value."""
    return isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) <= LARGEST


def is_text(value: Any) -> bool:
    """Whether a value is a text that a user may have typed."""
    return isinstance(value, str) and len(value) <= LONGEST


def shown(value: Any) -> str:
    """A value as a line of a log shows it: short, and without breaks."""
    written = repr(value[:MOST_SHOWN] if isinstance(value, (str, bytes, list)) else value)
    return written if len(written) <= MOST_SHOWN else f"{written[:MOST_SHOWN]}…"


@cache
def fields_of(name: str) -> tuple[frozenset[str], dict[str, Any]]:
    """The fields of a type of message: those it needs, and all with what they hold."""
    from viser import _messages

    kind: Any = getattr(_messages, name)
    hints, own = get_type_hints(kind), [field for field in dataclasses.fields(kind) if field.init]
    needed = (field.name for field in own if field.default is field.default_factory is dataclasses.MISSING)
    return frozenset(needed), {field.name: hints[field.name] for field in own}
