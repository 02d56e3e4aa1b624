"""The window: one page that shows a session, made of parts that each draw or steer something.

A thread of its own looks for new frames and hands each to every part. A part never touches the simulation: it reads
frames and queues commands.
"""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING, Any, Protocol

from rattleback.viewer.gallery.opener import Opener
from rattleback.viewer.host import Host
from rattleback.viewer.server import dress

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from rattleback.viewer.door import Door
    from rattleback.viewer.frame import Frame
    from rattleback.viewer.session import Session

# So often it looks for news where there is no new frame [s].
LOOK_SECONDS = 0.2
# So many of the messages that waited for a client are shown, the last ones.
MOST_AT_ONCE = 5
# What takes longer than this is said to be under way [s].
PATIENCE = 0.7
AT_WORK = "The simulation is at work. A method that is used for the first time is compiled, which takes some seconds."
# The panel of the page has these tabs.
TABS = ("Run", "Methods", "Show", "Edit", "Plots", "Files")


class Part(Protocol):
    """Something on the page."""

    def renew(self, frame: Frame) -> None:
        """There is another scene: make anew what hangs on its bodies, joints and forces."""

    def show(self, frame: Frame) -> None:
        """There is a new frame: show it."""


class Window:
    """A page that shows a session.

    Attributes:
        session: What it shows.
        server: What serves it.
        front: What the page answers itself.
        opener: Opens scenes of the list.
        tabs: Tabs of its panel by the names of TABS; parts put their controls into them.
        dark: Whether the page is dark.
        selected: Name of the body or joint the user has chosen; empty for none.
        under_way: What goes on beside the simulation, in words that clients are shown; empty for nothing.
        picked: Where a body was clicked to choose it (3,) [m]; None where that was done otherwise.
        parts: What is on it.
        frame_seconds: Time it took to show the last frame [s].

    Args:
        session: What to show.
        parts: Functions of the window, each of which makes a part; by default all of the simulator.
        door: Where it is served and which clients are admitted.
    """

    def __init__(
        self,
        session: Session,
        parts: Sequence[Callable[[Window], Part]] | None = None,
        door: Door | None = None,
    ) -> None:
        self.session, self.selected, self.dark = session, "", False
        self._host = Host(session.frame.picture.scene.name, door)
        self.server, self.lookout, self.front = self._host.server, self._host.lookout, self._host.front
        self.opener = Opener(session)
        group = self.server.gui.add_tab_group()
        self.tabs: dict[str, Any] = {name: group.add_tab(name) for name in TABS}
        self.picked: Any = None
        self._selecting: list[Callable[[str], Any]] = []
        self._version, self._shown, self._told, self.frame_seconds = -1, -1, 0, 0.0
        self.under_way, self._waiting = "", ""
        self._ends: list[Callable[[], Any]] = []
        self._closing, self._fresh = threading.Event(), threading.Event()
        session.watchers.append(self._fresh)
        if parts is None:
            from rattleback.viewer.parts import PARTS

            parts = PARTS
        self.parts: list[Part] = []
        self._failed: list[Part] = []
        for make in parts:
            self.parts.append(make(self))
        self.refresh()
        self._thread = threading.Thread(target=self._pump, name="rattleback page", daemon=True)
        self._thread.start()

    @property
    def address(self) -> str:
        """The address of the page, good for every browser for as long as it is served."""
        return self._host.address

    @property
    def address_for_one(self) -> str:
        """A new address of the page, good for one browser, once."""
        return self._host.address_for_one

    def rename(self, title: str) -> None:
        """Give the page another name."""
        self._host.rename(title)

    def when_seen(self, act: Callable[[], Any]) -> None:
        """Have a function called once, as soon as a client shows the page."""
        self._host.when_seen(act)

    def select(self, name: str) -> None:
        """Choose a body or a joint; an empty name for none."""
        self.selected = name
        for tell in self._selecting:
            tell(name)

    def darken(self, dark: bool) -> None:
        """Make the page dark, or light again."""
        self.dark = dark
        dress(self.server, dark)

    def on_select(self, tell: Callable[[str], Any]) -> None:
        """Have a function called with the name of what is chosen."""
        self._selecting.append(tell)

    def say_under_way(self, text: str) -> None:
        """Show words while something goes on beside the simulation; an empty text ends that."""
        self.under_way = text
        self._fresh.set()

    def on_close(self, end: Callable[[], Any]) -> None:
        """Have a function called when the page is taken down."""
        self._ends.append(end)

    def refresh(self) -> None:
        """Show the last frame, if it has not been shown."""
        frame = self.session.frame
        if frame.number == self._shown and frame.version == self._version:
            return
        begun = time.perf_counter()
        with self.server.atomic():
            if frame.version != self._version:
                self._failed.clear()
                for part in self.parts:
                    self._have(part, part.renew, frame)
            for part in self.parts:
                self._have(part, part.show, frame)
        self._version, self._shown = frame.version, frame.number
        self.frame_seconds = time.perf_counter() - begun

    def _have(self, part: Part, act: Callable[[Frame], None], frame: Frame) -> None:
        """Have a part do something; the first fault of it in a scene is told, and the other parts go on."""
        try:
            act(frame)
        except Exception as fault:  # what a scene or a probe of the user's makes of a part may be anything
            if part not in self._failed:
                self._failed.append(part)
                self.session.tell(f"{type(part).__name__} cannot show this scene: {fault}", fault=True)

    def close(self) -> None:
        """Take the page down; the session goes on."""
        self._closing.set()
        self._fresh.set()
        for end in self._ends:
            end()
        self.session.watchers.remove(self._fresh)
        if self._thread is not threading.current_thread():
            self._thread.join()
        self._host.stop()

    def _pump(self) -> None:
        """What the thread does until the page is taken down."""
        while not self._closing.is_set():
            self._fresh.wait(LOOK_SECONDS)
            self._fresh.clear()
            self.refresh()
            self._tell_news()
            self._tell_waiting()

    def _tell_news(self) -> None:
        """Show the messages of the session to all clients; they wait for the first."""
        if not self.server.get_clients():
            return
        for notice in [notice for notice in tuple(self.session.notices) if notice.number > self._told][-MOST_AT_ONCE:]:
            self._told = notice.number
            self._host.notify(notice.text, notice.fault)

    def _tell_waiting(self) -> None:
        """Say that a command or a step takes long, or what goes on beside, until it is over."""
        since = self.session.busy_since
        waits = since is not None and time.perf_counter() - since > PATIENCE
        words = AT_WORK if waits else self.under_way
        if words != self._waiting:
            self._waiting = words
            self._host.show_waiting(words)
