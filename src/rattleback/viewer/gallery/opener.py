"""The opener: opens links, and knows the link of what is shown."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from rattleback.core.errors import InputError
from rattleback.viewer.gallery.link import Link, read_link, settings_of
from rattleback.viewer.save_point import says_the_same

if TYPE_CHECKING:
    from concurrent.futures import Future

    from rattleback.model.scene import Scene
    from rattleback.simulation import Simulation
    from rattleback.viewer.session import Session


class Opener:
    """Opens scenes of the list.

    Args:
        session: Where they are opened.
    """

    def __init__(self, session: Session) -> None:
        self._session = session
        # Several may be opened one after the other; those that are refused leave no trace here.
        self._known: tuple[Scene, Link] | None = None

    def note(self, sim: Simulation, link: Link) -> None:
        """What is shown comes of a link."""
        self._known = sim.scene.copy(), link

    def open(self, link: Link) -> Future[Any]:
        """Open a link in place of what is shown, and run it unless it is to wait."""

        def make() -> Simulation:
            sim = link.make(self._session.sims[0].device.alias)
            self.note(sim, link)
            return sim

        opened = self._session.open(make)
        if link.speed != self._session.frame.speed:
            self._session.set_speed(link.speed)
        if not link.paused:
            opened.add_done_callback(lambda done: None if done.exception() else self._session.play())
        return opened

    def follow(self, query: str) -> bool:
        """Open what the query of an address asks for; says whether it asks for something.

        Raises:
            InputError: It cannot be read.
            UnknownName: There is no such scene or method.
        """
        link = read_link(query)
        if link is not None:
            self.open(link)
        return link is not None

    def link(self) -> Link:
        """The link of what is shown, with the settings it has now.

        Raises:
            InputError: It is no scene of the list as it comes.
        """
        frame, known = self._session.frame, self._known
        if known is None or not says_the_same(known[0], frame.picture.scene):
            raise InputError(
                "This scene is not one of the list as it comes: it was edited, or opened from a file or a program. "
                "Send it as a file: Save state in the tab Files."
            )
        return replace(known[1], settings=settings_of(frame, known[1].scene), speed=frame.speed, paused=False)
