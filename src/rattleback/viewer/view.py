"""Looking at a simulation: ``rb.view(sim)`` opens the simulator in the browser, or in a notebook."""

from __future__ import annotations

import os
import sys
import webbrowser
from importlib import import_module
from typing import TYPE_CHECKING, Any, TypedDict, Unpack

from rattleback.core import checks
from rattleback.core.errors import InputError
from rattleback.simulation import Simulation
from rattleback.viewer.door import Door
from rattleback.viewer.opened import Opened
from rattleback.viewer.session import Session
from rattleback.viewer.window import Window

if TYPE_CHECKING:
    from collections.abc import Sequence

INLINE_HEIGHT = 480


class Wishes(TypedDict, total=False):
    """Options of :func:`view`."""

    inline: bool
    wait: bool | None
    browser: bool | None
    playing: bool
    speed: float
    labels: Sequence[str] | None
    door: Door | None


class View(Opened):
    """A simulator that is open; once it is closed, its simulations can be used on.

    Attributes:
        session: The simulations and the thread that steps them.
        window: The page.
    """

    def __init__(self, session: Session, window: Window) -> None:
        super().__init__()
        self.session, self.window = session, window

    @property
    def address(self) -> str:
        """The address of the page, good for every browser for as long as it is served."""
        return self.window.address

    def _take_down(self) -> None:
        self.window.close()
        self.session.stop()

    def __repr__(self) -> str:
        state = "closed" if self._closed.is_set() else f"at {self.address}"
        return f"<simulator of {self.session.frame.picture.scene.name!r} {state}>"


def view(sims: Simulation | Sequence[Simulation], **wishes: Unpack[Wishes]) -> View:
    """Open the simulator.

    Args:
        sims: A simulation, or several of one scene to see side by side. The simulator steps them from now on; touch
            them by ``view.session.do`` until it is closed.
        **wishes: ``inline``, to show the page in the output of a notebook; ``wait``, to come back only after Ctrl-C
            (by default in a program, not at a prompt or in a notebook); ``browser``, whether to open one (by default
            where there is a screen); ``playing``, whether it runs as soon as a browser shows it (default True);
            ``speed``, simulated seconds in a second (default 1); ``labels`` of several simulations; ``door``, the
            address it is served at.

    Returns:
        The open simulator, with its address.
    """
    checks.options(wishes, Wishes.__annotations__, "view")
    several = [sims] if isinstance(sims, Simulation) else list(sims)
    for sim in several:
        checks.instance(sim, Simulation, "What view is to show", "rb.Simulation(scene)")
    notebook = _notebook() if wishes.get("inline", False) else None
    session = Session(several, wishes.get("labels"), wishes.get("speed", 1.0))
    shown = View(session, Window(session, door=wishes.get("door")))
    session.start()
    if wishes.get("playing", True):
        shown.window.when_seen(session.play)
    if notebook is not None:
        # A notebook is served under the name localhost; a cookie for a number would be one of another site. Its output
        # is kept in a file, so the address in it is good once.
        address = shown.window.address_for_one.replace("127.0.0.1", "localhost")
        notebook.display(notebook.IFrame(address, width="100%", height=INLINE_HEIGHT))
        return shown
    announce(shown.address, wishes.get("browser"))
    wait = wishes.get("wait")
    if not _at_a_prompt() if wait is None else wait:
        shown.wait()
    return shown


def announce(address: str, browser: bool | None, what: str = "simulator") -> None:
    """Say where the page is and open it, if wished, or where a window can open."""
    print(f"The {what} is at {address} (Ctrl-C ends it).", flush=True)
    if has_screen() if browser is None else browser:
        webbrowser.open(address)


def has_screen() -> bool:
    """Whether a browser could be opened where the user sees it."""
    if sys.platform.startswith("linux"):
        return bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))
    return "SSH_CONNECTION" not in os.environ


def _at_a_prompt() -> bool:
    """Whether Python is used by hand, line by line or in a notebook."""
    return hasattr(sys, "ps1") or "ipykernel" in sys.modules


def _notebook() -> Any:
    """What shows things in the output of a notebook."""
    try:
        return import_module("IPython.display")
    except ImportError:
        raise InputError("inline=True shows the simulator in a notebook; leave it out elsewhere.") from None
