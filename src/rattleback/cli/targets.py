"""Files a command is asked to write: checked before the work begins, written when it is done."""

from __future__ import annotations

import os
import tempfile
from typing import TYPE_CHECKING, Any

from rattleback.core.errors import FileError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


def check_target(path: Path) -> None:
    """Refuse a file that could not be written; folders on the way to it need not be there yet."""
    try:
        fault = "it is a folder" if path.is_dir() else _fault(path)
    except OSError as error:
        fault = error.strerror or str(error)
    if fault:
        raise FileError(f"{str(path)!r} cannot be written: {fault}.")


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
        return "it is write-protected"
    folder = path.parent
    while not folder.exists():
        folder = folder.parent
    if not folder.is_dir():
        return f"{str(folder)!r} is a file, not a folder"
    try:
        with tempfile.TemporaryFile(dir=folder):
            return ""
    except OSError as error:
        return f"the folder {str(folder)!r} takes no files ({error.strerror})"
