"""Objects that refuse fields they do not have, so that nothing misspelt is taken in silence.

    @sealed
    class View:
        def __init__(self, name): self.name = name          set while the object is made, and not again

        @property
        def velocity(self): ...                             with a setter it can be written, without one it cannot

Names that begin with an underscore are the object's own business, and so are those a class lists in ``_open``. A frozen
dataclass can be sealed, too: its refusal then says how a changed one is made. What a class has to say to a name beside
that, it answers in ``_advice(name)``; what its objects are called in messages stands in ``_kind``. Classes derived from
a sealed one are open unless they are sealed as well.
"""

from __future__ import annotations

import functools
from dataclasses import fields, is_dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from rattleback.core.errors import FieldError, did_you_mean, listing

if TYPE_CHECKING:
    from collections.abc import Callable

T = TypeVar("T")


def sealed(cls: type[T]) -> type[T]:
    """Make a class refuse fields that it does not have, with a sentence."""
    made: Any = cls
    if is_dataclass(cls):
        made.__setattr__ = _frozen(cls)
    else:
        made.__init__, made.__setattr__, made.__getattr__ = _closing(made.__init__), _guarded(cls), _missing
    return cls


def writable(kind: type[Any]) -> list[str]:
    """The public fields of a sealed class that can be written, in the order of the alphabet."""
    return [name for name in dir(kind) if not name.startswith("_") and _can_be_written(getattr(kind, name))]


def _can_be_written(entry: Any) -> bool:
    return entry.fset is not None if isinstance(entry, property) else hasattr(type(entry), "__set__")


def _closing(make: Any) -> Callable[..., None]:
    """Wrap __init__: the object is sealed after it."""

    @functools.wraps(make)
    def make_and_close(self: Any, *given: Any, **named: Any) -> None:
        make(self, *given, **named)
        object.__setattr__(self, "_closed", True)

    return make_and_close


def _guarded(cls: type[Any]) -> Callable[[Any, str, Any], None]:
    """Write to an object of an ordinary class."""
    names = frozenset(writable(cls))
    free = names | frozenset(getattr(cls, "_open", ()))
    write = object.__setattr__

    def write_if_it_can_be(self: Any, name: str, value: Any) -> None:
        if name in free or name[0] == "_" or type(self) is not cls or "_closed" not in vars(self):
            write(self, name, value)
        elif name in vars(self) or hasattr(cls, name):
            raise FieldError(f"The {name} of {called(self)} cannot be written.{_advice(self, name)}")
        else:
            written = f" It can be given {listing(sorted(names), 30)}." if names else ""
            raise FieldError(_unknown(self, name, "; nothing was changed") + written)

    return write_if_it_can_be


def _frozen(cls: type[Any]) -> Callable[[Any, str, Any], None]:
    """Refuse to write to a frozen dataclass."""
    names = [field.name for field in fields(cls)]

    def refuse(self: Any, name: str, value: Any) -> None:
        if type(self) is not cls and name not in names:
            object.__setattr__(self, name, value)
        elif name in names or hasattr(cls, name):
            advice = _advice(self, name) or (f" Make another: dataclasses.replace(it, {name}=...)." * (name in names))
            raise FieldError(f"The {name} of {called(self)} cannot be changed.{advice}")
        else:
            raise FieldError(
                _unknown(self, name, "; nothing was changed") + f" It has {listing(names, 30)}." * any(names)
            )

    return refuse


def _missing(self: Any, name: str) -> Any:
    """Answer for a name that an object does not have."""
    if name.startswith("_"):
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
    raise Missing(self, name)


class Missing(FieldError):
    """A field that is read in vain. ``hasattr`` reads many, so the sentence is made where it is read."""

    def __str__(self) -> str:
        thing, name = self.args
        return f"{_unknown(thing, name, '')} It has {listing(_public(thing), 30)}."


def _public(thing: Any) -> list[str]:
    return [name for name in dir(thing) if not name.startswith("_")]


def _unknown(thing: Any, name: str, so: str) -> str:
    what = called(thing)
    hint = _advice(thing, name) or did_you_mean(name, _public(thing))
    return f"{what[0].upper()}{what[1:]} has no {name!r}{so}.{hint}"


def _advice(thing: Any, name: str) -> str:
    """Advice of a class on a name, after a space; empty without one."""
    said = getattr(type(thing), "_advice", None)
    advice = said(thing, name) if said is not None else ""
    return f" {advice}" if advice else ""


def called(thing: Any) -> str:
    """Name of an object in messages: its kind, and its own name where it has one."""
    kind = getattr(type(thing), "_kind", None)
    if kind is not None:
        name = vars(thing).get("name")
        return f"{kind} {name!r}" if name is not None else str(kind)
    kind = type(thing).__name__
    return f"{'an' if kind[0] in 'AEIOU' else 'a'} {kind}"
