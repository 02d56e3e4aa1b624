"""Objects that refuse fields they do not have, so that nothing misspelt is taken in silence.

    @sealed
    class View:
        name: str                                   set once, in __init__

        @property
        def velocity(self): ...                     with a setter it can be written, without one it cannot

Names that begin with an underscore are the object's own business. A frozen dataclass can be sealed, too: its refusal
then says how a changed one is made. What a class has to say to a name beside that it answers in ``_advice(name)``.
Classes derived from a sealed one are open unless they are sealed as well.
"""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from rattleback.core.errors import FieldError, did_you_mean, listing

if TYPE_CHECKING:
    from collections.abc import Callable

T = TypeVar("T")


def sealed(cls: type[T]) -> type[T]:
    """Have a class refuse what it does not have, with a sentence."""
    made: Any = cls
    if is_dataclass(cls):
        made.__setattr__ = _frozen(cls)
    else:
        made.__setattr__, made.__getattr__ = _open_where_it_can_be(cls), _read
    return cls


def writable(kind: type[Any]) -> list[str]:
    """The public fields of a sealed class that can be written."""
    return [
        name
        for name in dir(kind)
        if not name.startswith("_") and getattr(getattr(kind, name), "fset", getattr(kind, name)) is not None
        and hasattr(type(getattr(kind, name)), "__set__")
    ]  # fmt: skip


def _open_where_it_can_be(cls: type[Any]) -> Callable[[Any, str, Any], None]:
    """What writes to an object of an ordinary class."""
    names = frozenset(writable(cls))
    once = frozenset(name for kind in cls.__mro__ for name in vars(kind).get("__annotations__", ()))
    write = object.__setattr__

    def write_if_it_is_there(self: Any, name: str, value: Any) -> None:
        if name[0] == "_" or name in names or type(self) is not cls or (name in once and name not in vars(self)):
            write(self, name, value)
        elif name in vars(self) or hasattr(cls, name):
            raise FieldError(f"The {name} of {called(self)} cannot be written.{_advice(self, name)}")
        else:
            raise FieldError(_unknown(self, name, sorted(names), "; nothing was changed"))

    return write_if_it_is_there


def _frozen(cls: type[Any]) -> Callable[[Any, str, Any], None]:
    """What refuses to write to a frozen dataclass."""
    names = [field.name for field in fields(cls)]

    def refuse(self: Any, name: str, value: Any) -> None:
        if type(self) is not cls and name not in names:
            object.__setattr__(self, name, value)
        elif name in names:
            advice = _advice(self, name) or f" Make another: dataclasses.replace(it, {name}=...)."
            raise FieldError(f"The {name} of {called(self)} cannot be changed.{advice}")
        else:
            raise FieldError(_unknown(self, name, names, " and cannot be changed"))

    return refuse


def _read(self: Any, name: str) -> Any:
    """Answer for a name that an object does not have."""
    if name.startswith("_"):
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
    raise FieldError(_unknown(self, name, [known for known in dir(self) if not known.startswith("_")], ""))


def _unknown(thing: Any, name: str, known: list[str], so: str) -> str:
    what = called(thing)
    own = f" It has {listing(known, 30)}." if known else ""
    return f"{what[0].upper()}{what[1:]} has no {name!r}{so}.{_advice(thing, name) or did_you_mean(name, known)}{own}"


def _advice(thing: Any, name: str) -> str:
    """What the class of a thing says to a name, after a space; nothing where it says nothing."""
    said = getattr(type(thing), "_advice", None)
    advice = said(thing, name) if said is not None else ""
    return f" {advice}" if advice else ""


def called(thing: Any) -> str:
    """What a thing is called in messages: by its kind, and its name where it has one."""
    kind = getattr(type(thing), "_kind", None)
    if kind is not None:
        name = vars(thing).get("name")
        return f"{kind} {name!r}" if name is not None else str(kind)
    kind = type(thing).__name__
    return f"{'an' if kind[0] in 'AEIOU' else 'a'} {kind}"
