"""Whole files: read at once and written at once.

A file is written under another name in the same folder, brought to the disk, and then put in its place in one move.
Whoever looks sees the old file or the new one, never half of it; after a fault the old one is still there.
"""

from __future__ import annotations

import os
import secrets
from contextlib import suppress
from typing import IO, TYPE_CHECKING

from rattleback.core.errors import FileError, InputError

if TYPE_CHECKING:
    from collections.abc import Callable


def location(path: object, kind: str) -> str:
    """A path as a string.

    Args:
        path: A string or a path object.
        kind: What the file is called in messages.
    """
    if not isinstance(path, (str, os.PathLike)) or not os.fspath(path):
        raise InputError(f"The path of a {kind} is {path!r}; it must be a string or a Path.")
    return os.fsdecode(path)


def read(path: object, kind: str) -> bytes:
    """The contents of a file, or a FileError that says why there are none."""
    name = location(path, kind)
    try:
        with open(name, "rb") as file:
            return file.read()
    except (OSError, ValueError) as error:
        raise FileError(f"The {kind} {name!r} cannot be read: {_reason(error, name)}.") from None


def write(path: object, content: bytes | Callable[[IO[bytes]], None], kind: str) -> None:
    """Replace a file by new contents, or leave everything as it was and raise a FileError that says why.

    Args:
        path: A string or a path object.
        content: The bytes, or a function that writes them to a stream.
        kind: What the file is called in messages.
    """
    name = location(path, kind)
    try:
        target = os.path.realpath(name)
        _refuse_what_must_stay(target)
        _put_in_place(target, content)
    except (OSError, ValueError) as error:
        raise FileError(f"The {kind} {name!r} cannot be written: {_reason(error, name)}.") from None


def _put_in_place(target: str, content: bytes | Callable[[IO[bytes]], None]) -> None:
    temporary = os.path.join(os.path.dirname(target), f".{secrets.token_hex(8)}.part")
    try:
        with open(temporary, "xb") as file:
            file.write(content) if isinstance(content, bytes) else content(file)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, target)
    finally:
        with suppress(OSError, ValueError):
            os.unlink(temporary)


def _refuse_what_must_stay(target: str) -> None:
    """A folder, a device or a write-protected file would be replaced without a word otherwise."""
    if os.path.isdir(target):
        raise IsADirectoryError
    if os.path.exists(target) and not os.path.isfile(target):
        raise ValueError("it is a device, not a file")
    if os.path.exists(target) and not os.access(target, os.W_OK):
        raise ValueError("it is write-protected")


def _reason(error: Exception, name: str) -> str:
    """Why the system refused, as the end of a sentence."""
    if isinstance(error, IsADirectoryError) or (isinstance(error, PermissionError) and os.path.isdir(name)):
        return "it is a folder"
    if isinstance(error, FileNotFoundError):
        folder = os.path.dirname(name)
        return f"there is no folder {folder!r}" if folder and not os.path.isdir(folder) else "there is no such file"
    if isinstance(error, OSError) and error.strerror:
        return error.strerror[0].lower() + error.strerror[1:]
    return str(error)
