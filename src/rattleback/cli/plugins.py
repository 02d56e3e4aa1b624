"""Methods named on the command line: ``impulse``, ``impulse(solver=pgs(sweeps=9))``, ``package.module:Name(passes=5)``.

A name without a colon comes from the menu of its slot. With one, a module is imported, from the current folder too, and
what it calls so is taken: of a class an object is made, anything else is taken as it is. Arguments are literal values:
numbers, strings, True, False, None, and lists, tuples and dicts of these; where a method is part of another, its name
with arguments in brackets, or in quotes, ``impulse(solver="mypackage:MySolver(sweeps=9)")``. Only the command line
imports what it is told to; scene files and saved states know the menus alone.
"""

from __future__ import annotations

import ast
import os
import re
import sys
from dataclasses import fields, is_dataclass
from dataclasses import replace as replaced
from importlib import import_module
from typing import TYPE_CHECKING, Any

from rattleback.core import checks
from rattleback.core.choice import choose
from rattleback.core.errors import InputError, RattlebackError, did_you_mean, listing

if TYPE_CHECKING:
    from collections.abc import Mapping
    from types import ModuleType

FORM = re.compile(r"(?:(?P<module>[\w.]+):)?(?P<name>[\w.]+)(?P<brackets>\(.*\))?", re.DOTALL)
# Properties of a slot's protocol that are no methods.
PROPERTIES = {"integrator": ("tolerance",)}
# Parts of a contact method that have options of their own, and what messages call them.
OPTION_OF = {"solver": "contact_solver", "law": "law", "restitution": "restitution"}
WORDS = {"solver": "solver", "law": "law of friction", "restitution": "law of restitution"}


def resolve(slot: str, text: str) -> Any:
    """The method that a word of the command line means.

    Args:
        slot: The setting it is for: ``"integrator"``, ``"joints"``, ``"contacts"``, ``"broadphase"``,
            ``"narrowphase"`` or ``"bounding_volume"``.
        text: The word.

    Raises:
        InputError: It cannot be read, imported or made, or does not fit the slot.
        UnknownName: It is not on the menu.
    """
    from rattleback.io.state_schema import SLOTS

    what, room = SLOTS[slot]
    form = FORM.fullmatch(text.strip())
    if form is None and not set(text) & set(":()"):
        return choose(what, text, room.MENU, room.NEEDS)
    if form is None:
        raise InputError(
            f"{text!r} is no {what}; write a name of the menu, such as {next(iter(room.MENU))}, or "
            "package.module:Name, with arguments in brackets where it needs them."
        )
    if form["module"] is not None:
        return _checked(_plugged_in(form, what, getattr(room, "COMPOSED", {})), text, slot)
    kind = type(choose(what, form["name"], room.MENU, room.NEEDS))
    return _made(kind, form, f"The {what} {form['name']!r}", getattr(room, "COMPOSED", {}))


def with_parts(contacts: Any, **parts: Any) -> Any:
    """A contact method with other parts: ``solver``, ``law`` of friction, ``restitution``.

    Args:
        contacts: The method; of one that wraps another, the inner one is changed.
        **parts: The parts; a solver by its name, with arguments in brackets or from a module.
    """
    known = {field.name for field in fields(contacts)} if is_dataclass(contacts) else set()
    if parts.keys() <= known:
        return replaced(contacts, **{name: _part(value) for name, value in parts.items()})
    if "inner" in known:
        return replaced(contacts, inner=with_parts(contacts.inner, **parts))
    name = next(name for name in parts if name not in known)
    option = OPTION_OF[name].replace("_", "-")
    raise InputError(f"The contact method {contacts!r} has no {WORDS[name]} to choose; leave --{option} out.")


def _part(value: str) -> Any:
    """A part of a contact method, where it is more than a name."""
    form = FORM.fullmatch(value.strip())
    if form is None or (form["module"] is None and form["brackets"] is None):
        return value
    what = "contact solver"
    from rattleback.solvers.contacts import SOLVERS

    if form["module"] is not None:
        return _plugged_in(form, what, SOLVERS)
    return _made(type(choose(what, form["name"], SOLVERS, ())), form, f"The {what} {form['name']!r}", {})


def _plugged_in(form: re.Match[str], what: str, parts: Mapping[str, type[Any]]) -> Any:
    """What a module calls by a name, made if it is a class."""
    module = _imported(form["module"], what)
    found: Any = module
    for part in form["name"].split("."):
        if not hasattr(found, part):
            names = [name for name in dir(found) if not name.startswith("_")]
            raise InputError(
                f"The module {form['module']!r} has no {form['name']!r} to be the {what}."
                f"{did_you_mean(part, names)} It has {listing(names)}."
            )
        found = getattr(found, part)
    if isinstance(found, type) or (form["brackets"] is not None and callable(found)):
        return _made(found, form, repr(f"{form['module']}:{form['name']}"), parts)
    if form["brackets"] is not None:
        raise InputError(f"'{form['module']}:{form['name']}' is an object already; leave the brackets out.")
    return found


def _imported(name: str, what: str) -> ModuleType:
    if os.getcwd() not in sys.path:
        sys.path.insert(0, os.getcwd())
    try:
        return import_module(name)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{name}.".startswith(f"{error.name}."):
            raise InputError(f"The module {name!r} cannot be imported: {error}.") from error
        raise InputError(
            f"There is no module {error.name!r} to take the {what} from; install its package, or start where it lies."
        ) from None
    except (Exception, SystemExit) as error:
        raise InputError(f"The module {name!r} cannot be imported: {type(error).__name__}: {error}.") from error


def _made(kind: Any, form: re.Match[str], what: str, parts: Mapping[str, type[Any]]) -> Any:
    """An object of a class, with the arguments in the brackets; ``parts`` may be parts of it."""
    given, named = _arguments(form["brackets"] or "()", what, parts)
    if is_dataclass(kind):
        checks.options(named, [field.name for field in fields(kind) if field.init], what)
    try:
        return kind(*given, **named)
    except RattlebackError:
        raise
    except Exception as error:
        raise InputError(f"{what} cannot be made: {type(error).__name__}: {error}.") from error


def _arguments(brackets: str, what: str, parts: Mapping[str, type[Any]]) -> tuple[list[Any], dict[str, Any]]:
    """Arguments from text such as ``(5, name="a")``; a part may be named, with arguments of its own."""
    try:
        call = ast.parse(f"made{brackets}", mode="eval").body
        if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name):
            raise ValueError
        given = [_argument(argument, what, parts) for argument in call.args]
        named = {str(entry.arg): _argument(entry.value, what, parts) for entry in call.keywords}
        if any(entry.arg is None for entry in call.keywords):
            raise ValueError
    except RattlebackError:
        raise
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        raise InputError(
            f"{what} got the arguments {brackets}, which cannot be read; write numbers, strings, True or False, "
            "such as (iterations=5)."
        ) from None
    return given, named


def _argument(node: ast.expr, what: str, parts: Mapping[str, type[Any]]) -> Any:
    """The value of an argument: a literal, or a part of the method, by its name or as ``"package.module:Name"``."""
    named = bool(parts) and isinstance(node, ast.Name | ast.Call)
    value = ast.unparse(node) if named else ast.literal_eval(node)
    form = FORM.fullmatch(value) if parts and isinstance(value, str) else None
    if form is None or (not named and form["module"] is None):
        return value
    if form["module"] is not None:
        return _plugged_in(form, f"part of {what[0].lower()}{what[1:]}", parts)
    kind = type(choose(f"part of {what[0].lower()}{what[1:]}", form["name"], parts, ()))
    return _made(kind, form, f"The {form['name']!r} of {what[0].lower()}{what[1:]}", {})


def _checked(method: Any, text: str, slot: str) -> Any:
    """A method that offers what its slot asks for."""
    from rattleback.io.state_schema import SLOTS

    what, room = SLOTS[slot]
    lacking = [name for name in room.NEEDS if not callable(getattr(method, name, None))]
    missing = [name for name in PROPERTIES.get(slot, ()) if not hasattr(method, name)]
    if lacking or missing:
        parts = [f"the method {name!r}" for name in lacking] + [f"the property {name!r}" for name in missing]
        raise InputError(f"{text!r} cannot be the {what}: it lacks {' and '.join(parts)}; see core/protocols.py.")
    return method
