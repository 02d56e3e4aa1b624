"""Where a function is found: ``package.module:function``, by which other processes and commands import it."""

from __future__ import annotations

import functools
import os
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

from rattleback.core.errors import InputError, did_you_mean, listing

MAIN = ("__main__", "__mp_main__")


def address(function: Any) -> str:
    """``package.module:function``; a name without a colon where no other process can import it by that."""
    if isinstance(function, functools.partial):
        return f"partial({address(function.func).replace(':', '.')})"
    name, module = function.__qualname__, function.__module__
    if module in MAIN:
        main = sys.modules["__main__"]
        spec, path = getattr(main, "__spec__", None), getattr(main, "__file__", None)
        module = spec.name if spec is not None else path and Path(path).stem
    return f"{module}:{name}" if module and "<" not in name else str(name)


def is_address(text: str) -> bool:
    """Whether a text names a function of a module."""
    module, colon, name = text.partition(":")
    return bool(colon) and all(part.isidentifier() for part in (*module.split("."), *name.split(".")))


def imported(text: str) -> Any:
    """The function that ``package.module:function`` names, from the current folder, too.

    Raises:
        InputError: There is none, or its module cannot be imported.
    """
    if not is_address(text):
        raise InputError(
            f"The function of the sweep is called {text!r}, which no other process can import; put it at the top of a "
            "module and give it as 'package.module:function'."
        )
    module, _, name = text.partition(":")
    found: Any = _module(module)
    for part in name.split("."):
        if not hasattr(found, part):
            names = [entry for entry in dir(found) if not entry.startswith("_")]
            raise InputError(
                f"The module {module!r} has no function {name!r}.{did_you_mean(name, names)} It has {listing(names)}."
            )
        found = getattr(found, part)
    return found


def _module(name: str) -> Any:
    if os.getcwd() not in sys.path:
        sys.path.insert(0, os.getcwd())
    try:
        return import_module(name)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{name}.".startswith(f"{error.name}."):
            raise InputError(f"The module {name!r} cannot be imported: {error}.") from error
        raise InputError(
            f"There is no module {error.name!r} with the function of the sweep; start in the folder where it lies, or "
            "install its package."
        ) from None
    except (Exception, SystemExit) as error:
        raise InputError(f"The module {name!r} cannot be imported: {type(error).__name__}: {error}.") from error
