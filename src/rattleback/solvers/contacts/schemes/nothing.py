"""Doing nothing about contacts: bodies pass through each other, seen or unseen."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from rattleback.core.sealed import sealed


@sealed
@dataclass(frozen=True)
class DetectOnly:
    """Contacts are found, and nothing is done about them."""

    finds: ClassVar[bool] = True
    resolves: ClassVar[bool] = False

    def bind(self, *_given: Any) -> None:
        """Nothing to do in a step."""


@sealed
@dataclass(frozen=True)
class NoContacts:
    """Contacts are not even found."""

    finds: ClassVar[bool] = False
    resolves: ClassVar[bool] = False

    def bind(self, *_given: Any) -> None:
        """Nothing to do in a step."""
