"""Files a command is asked to write: checked before the work begins, written when it is done."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rattleback.core.errors import FileError, InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


def check_target(name: str, suffixes: Sequence[str], option: str) -> Path:
    """The path of a file that can be written; folders on the way to it need not be there yet.

    Args:
        name: Path as given.
        suffixes: What its name may end with; nothing for any.
        option: The option it was given with, for messages.

    Raises:
        InputError: The name does not end as it must.
        FileError: A folder stands there, or the folder it is to lie in cannot be written.
    """
    path = Path(name)
    if suffixes and not path.name.lower().endswith(tuple(suffixes)):
        raise InputError(f"{option} is {name!r}; its name must end with {' or '.join(suffixes)}.")
    try:
        fault = "it is a folder; name a file in it" if path.is_dir() else _fault(path)
    except OSError as error:
        fault = str(error.strerror)
    if fault:
        raise FileError(f"{option} is {name!r}, which cannot be written: {fault}.")
    return path


def check_folder(name: str, option: str) -> Path:
    """The path of a folder that files can be written to; it need not be there yet."""
    path = Path(name)
    try:
        fault = _fault(path / "file")
    except OSError as error:
        fault = str(error.strerror)
    if fault:
        raise FileError(f"{option} is {name!r}, which files cannot be written to: {fault}.")
    return path


def write_target(path: Path, write: Callable[[Path], Any]) -> None:
    """Write a file that was checked, making the folders on the way to it."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write(path)
    except OSError as error:
        raise FileError(f"{str(path)!r} cannot be written: {error.strerror or error}.") from None


def _fault(path: Path) -> str:
    """Why a file cannot be written, as far as that can be known without writing it; empty if it can."""
    if path.exists() and not os.access(path, os.W_OK):
        return "the file is write-protected"
    folder = path.parent
    while not folder.exists():
        folder = folder.parent
    if not folder.is_dir():
        return f"{str(folder)!r} is a file, not a folder"
    return "" if os.access(folder, os.W_OK | os.X_OK) else f"the folder {str(folder)!r} is write-protected"
