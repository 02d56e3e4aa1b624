"""The mouse on a figure: a drag sets an impulse, which strikes it where the drag began; a figure that walks falls."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rattleback.viewer.interaction.grab import point_of
from rattleback.viewer.interaction.marks import Mark
from rattleback.viewer.interaction.mouse import FARTHEST
from rattleback.viewer.interaction.push import impulse_of, words_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from rattleback.viewer.figure.stage import Stage
    from rattleback.viewer.interaction.grab import Grab

    Floats = NDArray[np.float64]


class Pushes:
    """Pushes, one for every client that drags; all is called between two frames.

    Args:
        server: What serves the page.
        stage: Function that gives what is on the page.
        fall: Lets the figure fall.
    """

    def __init__(self, server: Any, stage: Callable[[], Stage], fall: Callable[[], None]) -> None:
        self._server, self._stage, self._fall = server, stage, fall
        self._aims: dict[int, tuple[Grab, Mark, Floats]] = {}

    def drag(self, client: int, phase: str, start: Floats, end: Floats, speed: float) -> None:
        """What a client does with the mouse on the figure.

        Args:
            client: The client.
            phase: ``"start"``, ``"update"`` or ``"end"``.
            start: Where the drag began (3,) [m].
            end: Where the pointer is (3,) [m].
            speed: Speed of a drag as long as the body [m/s].
        """
        stage = self._stage()
        if phase == "start" and stage.throng is None and np.all(np.abs(start) < FARTHEST):
            self.cancel(client)
            stage.ready()
            fall: Any = stage.fall
            held = fall.hold(start)
            self._aims[client] = held, Mark(self._server, f"/push_{client}", held.size, arrow=True), start
        elif client in self._aims and not np.all(np.abs(end) < FARTHEST):
            self.cancel(client)
        elif client in self._aims:
            held, mark, _ = self._aims[client]
            here = self._point(held)
            impulse = impulse_of(held, here, end, speed)
            mark.point(here, end, words_of(float(np.linalg.norm(impulse)), held.mass))
            if phase == "end":
                self.cancel(client)
                self._strike(held, impulse)

    def cancel(self, client: int) -> None:
        """A client lets go, and nothing happens."""
        if client in self._aims:
            self._aims.pop(client)[1].remove()

    def cancel_all(self) -> None:
        """All let go, and nothing happens."""
        for client in list(self._aims):
            self.cancel(client)

    def _strike(self, held: Grab, impulse: Floats) -> None:
        if not (fall := self._stage().fall) or not fall.active:
            self._fall()
        fall = self._stage().fall
        if fall is not None and fall.active and held.body in fall.sim.scene:
            fall.strike(held, impulse)

    def _point(self, held: Grab) -> Floats:
        """Where the point is that is held (3,) [m]."""
        fall: Any = self._stage().fall
        body = fall.sim[held.body]
        return point_of(np.array(body.position), np.array(body.orientation), held.local)
