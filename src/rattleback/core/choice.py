"""Choice by name or object: every slot of a simulation takes a name from its menu or an object of its kind."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rattleback.core.errors import InputError, UnknownName, did_you_mean, listing

if TYPE_CHECKING:
    from collections.abc import Mapping


def choose(slot: str, value: object, menu: Mapping[str, type[Any]], needs: tuple[str, ...]) -> Any:
    """The object for a slot.

    Args:
        slot: Name of the slot, for messages.
        value: A name from the menu (its object is made with default parameters), or an object.
        menu: Names and the classes behind them.
        needs: Methods an object must have to fill the slot; a third-party object needs nothing more.
    """
    if isinstance(value, str):
        if value not in menu:
            names = list(menu)
            raise UnknownName(f"There is no {slot} {value!r}.{did_you_mean(value, names)} The menu: {listing(names)}.")
        return menu[value]()
    missing = [name for name in needs if not callable(getattr(value, name, None))]
    if missing or isinstance(value, type):
        hint = "make an object of the class first" if isinstance(value, type) else f"it lacks {listing(missing)}"
        raise InputError(f"{value!r} cannot be the {slot}: {hint}. Names on the menu: {listing(list(menu))}.")
    return value


def name_of(value: object, menu: Mapping[str, type[Any]]) -> str:
    """The menu name of a method object, or its class name if it is not on the menu."""
    return next((name for name, kind in menu.items() if type(value) is kind), type(value).__name__)
