"""What a sweep is told by: a digest of its function or scene, its settings and its space.

    key = SHA-256(target, space, seed, version of rattleback, precision)

Of a function the digest holds its source without comments and layout, its default values, what it encloses, and of the
names it uses from its module the functions (with theirs), classes and constants. It does not hold what the function
finds elsewhere, such as other packages, files and lists that change while it runs; the version of rattleback stands for
rattleback. So a store is refused after the function was changed, and goes on after a comment was.
"""

from __future__ import annotations

import ast
import functools
import hashlib
import inspect
import textwrap
import types
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np

from rattleback.core.errors import InputError
from rattleback.sweeps.outcome import short

# What its name tells: the contents are those of a package.
NAMED = (types.ModuleType, types.BuiltinFunctionType, np.ufunc, type)
PLAIN = (type(None), bool, int, float, complex, str, bytes)


def digest(value: Any) -> str:
    """A hexadecimal digest of plain data, arrays, functions, and dataclasses of these.

    Raises:
        InputError: Something in it has no contents that could be told apart.
    """
    found = hashlib.sha256()
    for part in _parts(value, set()):
        found.update(len(part).to_bytes(8, "little") + part)
    return found.hexdigest()


def _parts(value: Any, seen: set[int]) -> Iterator[bytes]:
    """The bytes that tell a value from others."""
    if isinstance(value, PLAIN):
        yield f"{type(value).__name__} {value!r}".encode()
    elif isinstance(value, (np.ndarray, np.generic)) and value.dtype.kind in "biufcUS":
        yield f"array {value.dtype.str} {value.shape}".encode()
        yield np.ascontiguousarray(value).tobytes()
    elif isinstance(value, (list, tuple)):
        yield f"{len(value)} entries".encode()
        for entry in value:
            yield from _parts(entry, seen)
    elif isinstance(value, Mapping):
        yield from _parts([entry for pair in value.items() for entry in pair], seen)
    elif isinstance(value, functools.partial):
        yield from _parts((value.func, value.args, value.keywords), seen)
    elif isinstance(value, types.FunctionType):
        yield from _of_function(value, seen)
    elif isinstance(value, NAMED):
        yield f"{getattr(value, '__module__', '')}.{value.__name__}".encode()
    elif is_dataclass(value) and not isinstance(value, type):
        yield f"{type(value).__module__}.{type(value).__qualname__}".encode()
        yield from _parts([getattr(value, field.name) for field in fields(value)], seen)
    else:
        raise InputError(
            f"The function of a sweep holds {short(value)}, which a store cannot tell from others of its kind; make it "
            "inside the function, or pass numbers, text or arrays instead."
        )


def _of_function(function: types.FunctionType, seen: set[int]) -> Iterator[bytes]:
    inner = inspect.unwrap(function)
    if id(inner) in seen:
        return
    seen.add(id(inner))
    yield source(inner).encode()
    yield from _parts((inner.__defaults__ or (), inner.__kwdefaults__ or {}), seen)
    for name, cell in zip(inner.__code__.co_freevars, inner.__closure__ or (), strict=True):
        yield name.encode()
        yield from _parts(cell.cell_contents, seen)
    for name in sorted(_names(inner.__code__)):
        if name in inner.__globals__:
            yield name.encode()
            yield from _of_global(inner.__globals__[name], inner, seen)


def _of_global(value: Any, user: types.FunctionType, seen: set[int]) -> Iterator[bytes]:
    """Functions, classes and constants of the module of a function; of all else only that it is there."""
    own = getattr(value, "__module__", None) == user.__module__
    constant = isinstance(value, (*PLAIN, np.ndarray)) or (
        isinstance(value, tuple) and all(isinstance(entry, PLAIN) for entry in value)
    )
    if constant or (own and isinstance(value, types.FunctionType)):
        yield from _parts(value, seen)
    elif own and isinstance(value, type):
        yield source(value).encode()


def _names(code: types.CodeType) -> set[str]:
    """Names a function looks up in its module, also inside functions it defines."""
    inner = [entry for entry in code.co_consts if isinstance(entry, types.CodeType)]
    return set(code.co_names).union(*map(_names, inner))


def source(thing: types.FunctionType | type) -> str:
    """The source of a function or class without comments and layout; of a function without source its bytecode."""
    try:
        text = textwrap.dedent(inspect.getsource(thing))
    except (OSError, TypeError):
        code = getattr(thing, "__code__", None)
        return repr((thing.__qualname__, code and code.co_code, code and [*map(repr, _constants(code))]))
    try:
        return ast.unparse(ast.parse(text))
    except SyntaxError:  # a function without a name, in the middle of an expression
        return text


def _constants(code: types.CodeType) -> Iterator[Any]:
    for entry in code.co_consts:
        yield (entry.co_code, [*_constants(entry)]) if isinstance(entry, types.CodeType) else entry
