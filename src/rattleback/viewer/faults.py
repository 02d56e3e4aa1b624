"""Faults in what a page has carried out: told on the page, and a line of the log each, in place of a traceback.

viser 1.1.1 runs callbacks on threads of a pool and on its event loop, and prints the traceback of each that fails.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rattleback.core.errors import RattlebackError

if TYPE_CHECKING:
    from collections.abc import Callable

    from rattleback.viewer.page_log import PageLog

_log = logging.getLogger("rattleback.viewer")


@dataclass(frozen=True)
class Notice:
    """Something the user is to be told.

    Attributes:
        number: Counts the notices of the session.
        text: A sentence.
        fault: Whether something went wrong.
    """

    number: int
    text: str
    fault: bool = False


def sentence_of(error: Exception) -> str:
    """What went wrong, as the user reads it."""
    return str(error) if isinstance(error, RattlebackError) else f"{type(error).__name__}: {error}"


def catch_faults(server: Any, log: PageLog, tell: Callable[[str], Any]) -> None:
    """Have the faults of callbacks of a server told and logged.

    Args:
        server: What serves the page.
        log: Where a line of each goes that is no word for the user.
        tell: Called with the words for the user.
    """

    def note(fault: BaseException | None, otherwise: str) -> None:
        if not isinstance(fault, RattlebackError):
            log.warn(f"The page met a fault: {type(fault).__name__ if fault else otherwise}: {fault}")
            _log.debug("The page met a fault.", exc_info=fault)
        if isinstance(fault, Exception):
            tell(sentence_of(fault))

    def carry_out(call: Callable[..., Any], *arguments: Any, **options: Any) -> Any:
        try:
            return call(*arguments, **options)
        except Exception as fault:  # a callback may raise anything
            note(fault, "")
            return None

    submit = server._thread_executor.submit
    server._thread_executor.submit = lambda call, *given, **options: submit(carry_out, call, *given, **options)
    server._event_loop.set_exception_handler(
        lambda loop, context: note(context.get("exception"), str(context.get("message")))
    )
