"""What every page has: a server behind its gate, addresses for admitted clients, and messages to clients."""

from __future__ import annotations

import secrets
from functools import partial
from typing import TYPE_CHECKING, Any

from rattleback.viewer.door import Door
from rattleback.viewer.drawing.lookout import Lookout
from rattleback.viewer.front import Front
from rattleback.viewer.gate import Gate
from rattleback.viewer.server import make_server, stop_server

if TYPE_CHECKING:
    from collections.abc import Callable

# How long words stay on the page: of a fault, and of what went well [s].
FAULT_SECONDS, NEWS_SECONDS = 12.0, 4.0


class Host:
    """Serves a page.

    Attributes:
        door: Where it is served and which clients are admitted.
        server: What serves it.
        front: What the page is called, and what it answers itself.
        lookout: The cameras of the clients.

    Args:
        title: What the page and its panel are called.
        door: Where it is served and which clients are admitted; on this machine only if left out.
    """

    def __init__(self, title: str, door: Door | None = None) -> None:
        self.door = Door() if door is None else door
        self._word = self.door.token or secrets.token_urlsafe(24)
        self._gate = Gate(self.door.hosts, self._word)
        tell = partial(self.notify, fault=True)
        self.front = Front(title)
        self.server = make_server(self._gate, self.front, self.door.listen, self.door.port, tell)
        self.lookout = Lookout(self.server)
        self._waiting: list[Any] = []

    @property
    def address(self) -> str:
        """The address of the page, good for every browser for as long as it is served."""
        return self._address(self._word)

    @property
    def address_for_one(self) -> str:
        """A new address of the page, good for one browser, once."""
        return self._address(self._gate.token())

    def _address(self, token: str) -> str:
        return f"http://{self.door.name}:{self.server.get_port()}/?token={token}"

    def rename(self, title: str) -> None:
        """Give the page and its panel another name."""
        self.front.title = title
        self.server.gui.set_panel_label(title)

    def when_seen(self, act: Callable[[], Any]) -> None:
        """Have a function called once: when the first client has drawn the page, or now if one has."""
        acts = [act]

        # Functions that do not wait are called one after the other.
        async def came(client: Any) -> None:
            if acts:
                acts.pop()()

        self.server.on_client_connect(came)

    def notify(self, text: str, fault: bool = False) -> None:
        """Show a text to all clients."""
        title, seconds = ("That did not work", FAULT_SECONDS) if fault else ("Done", NEWS_SECONDS)
        for client in self.server.get_clients().values():
            client.add_notification(title, text, auto_close_seconds=seconds)

    def show_waiting(self, text: str) -> None:
        """Show all clients that something is under way; an empty text ends that."""
        for notification in self._waiting:
            notification.remove()
        clients = self.server.get_clients().values() if text else ()
        # A client that is just going has none, whatever the types of viser say.
        shown: Any = (
            client.add_notification("One moment", text, loading=True, with_close_button=False) for client in clients
        )
        self._waiting = [notification for notification in shown if notification is not None]

    def stop(self) -> None:
        """Take the page down."""
        stop_server(self.server)
