"""Push: a drag from a point of a body sets an impulse, which strikes the body there when the mouse lets go.

    p = m v d / s

p impulse, m mass of the body, d way of the drag, s size of the body, v speed that a drag as long as the body gives.

Reference: Bender, dissertation, §6.2.2.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from rattleback.viewer.amounts import amount
from rattleback.viewer.interaction.grab import Grab, point_of
from rattleback.viewer.interaction.marks import Mark

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from rattleback.simulation import Simulation
    from rattleback.viewer.frame import Frame
    from rattleback.viewer.window import Window

    Floats = NDArray[np.float64]

# Speed that a drag as long as the body gives [m/s].
SPEED = 1.5


def impulse_of(grab: Grab, start: Floats, end: Floats, speed: float = SPEED) -> Floats:
    """The impulse of a drag (3,) [N s].

    Args:
        grab: The point that is held.
        start: Where it is (3,) [m].
        end: Where the pointer is (3,) [m].
        speed: Speed that a drag as long as the body gives [m/s].
    """
    return np.asarray(grab.mass * speed / grab.size * (end - start))


def into_depth(start: Floats, end: Floats, eye: Floats, up: Floats) -> Floats:
    """Where a drag points that goes away from the eye, as far as it goes up on the screen, or towards it (3,) [m].

    Args:
        start: The point that is held (3,) [m].
        end: Where the pointer is, at the same depth (3,) [m].
        eye: Where the eye is (3,) [m].
        up: Upwards on the screen (3,).
    """
    sight = start - eye
    return np.asarray(start + (end - start) @ up / np.linalg.norm(sight) * sight)


def strike(sim: Simulation, grab: Grab, impulse: Floats) -> None:
    """Strike a body at the point that is held, wherever it is by now; with several worlds, where it is in the first."""
    view = sim[grab.body]
    at = point_of(view.position, view.orientation, grab.local)
    view.apply_impulse(impulse, at.reshape(-1, 3)[0])


@dataclass(frozen=True, eq=False)
class Aim:
    """A push that is being set: point held, its arrow and where that points on the page (3,) [m]."""

    grab: Grab
    mark: Mark
    end: Floats


class Push:
    """Pushes, one for every client that drags.

    Args:
        window: The page.
        speed: Function that gives the speed of a drag as long as the body [m/s].
    """

    def __init__(self, window: Window, speed: Callable[[], float]) -> None:
        self._window, self._speed = window, speed
        self._aims: dict[int, Aim] = {}

    def begin(self, client: int, grab: Grab, pointer: Floats) -> None:
        """A client holds a body."""
        self.cancel(client)
        mark = Mark(self._window.server, f"/push_{client}", grab.size, arrow=True)
        self._aims[client] = Aim(grab, mark, pointer)

    def move(self, client: int, pointer: Floats, lean: tuple[float, float] = (0.0, 1.0)) -> None:
        """Its pointer is elsewhere on the page (3,) [m], in this direction on the screen."""
        if (aim := self._aims.get(client)) is not None:
            self._aims[client] = aim = replace(aim, end=pointer)
            aim.mark.lean(*lean)
            self._draw(aim, self._window.session.frame)

    def finish(self, client: int, pointer: Floats) -> None:
        """It lets go: the body is pushed."""
        if (aim := self._aims.get(client)) is None:
            return
        self.cancel(client)
        if (start := aim.grab.on_page(self._window.session.frame)) is not None:
            impulse = impulse_of(aim.grab, start, pointer, self._speed())
            self._window.session.do(lambda sim: strike(sim, aim.grab, impulse))

    def cancel(self, client: int) -> None:
        """It lets go, and nothing happens."""
        if (aim := self._aims.pop(client, None)) is not None:
            aim.mark.remove()

    def cancel_all(self) -> None:
        """All let go, and nothing happens."""
        for client in list(self._aims):
            self.cancel(client)

    def show(self, frame: Frame) -> None:
        """The bodies have moved: so have the arrows."""
        for aim in list(self._aims.values()):
            self._draw(aim, frame)

    def _draw(self, aim: Aim, frame: Frame) -> None:
        if (start := aim.grab.on_page(frame)) is not None:
            strength = float(np.linalg.norm(impulse_of(aim.grab, start, aim.end, self._speed())))
            aim.mark.point(start, aim.end, words_of(strength, aim.grab.mass))


def words_of(strength: float, mass: float) -> str:
    """What is written at an arrow: an impulse [N s] and the speed it gives a mass [kg]."""
    return f"{amount(strength)} N s  ({amount(strength / mass, 2)} m/s)"


def speed_slider(gui: Any) -> Any:
    """The slider of the page that says how hard pushes are."""
    return gui.add_slider(
        "Push [m/s]", min=0.1, max=10.0, step=0.1, initial_value=SPEED, hint="Speed of a drag as long as the body."
    )
