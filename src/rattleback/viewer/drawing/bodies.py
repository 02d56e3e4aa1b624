"""Bodies on the page: those that move in other batches than those that stand, so that only the former are sent."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rattleback.core.errors import InputError
from rattleback.viewer.drawing.batches import SIGNS_OF_TURN, Piece, pieces, solids
from rattleback.viewer.drawing.colours import Colours
from rattleback.viewer.drawing.crowd import Crowd, Member, joined
from rattleback.viewer.drawing.layout import lay_out

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from rattleback.model.body import Body
    from rattleback.viewer.drawing.layout import Layout
    from rattleback.viewer.frame import Frame
    from rattleback.viewer.window import Window

    Floats = NDArray[np.float64]

# A point is a ball of this part of the scene.
POINT = 0.012
OPACITY = 0.35
SHADE = 0.7
UPRIGHT = np.array([0.0, 0.0, 0.0, 1.0])


class Bodies:
    """The bodies of all pictures.

    Attributes:
        title: What it is called in the Show tab.
        visible: Whether it is drawn.
        clear: Whether one can look through them.
        hidden: Names of those that are not drawn.
        handles: What the page calls its batches; others after every renewal.
        on_renew: Functions called when there are other handles.
        layout: Where the pictures stand; None before there are any.
        colours: What colours the bodies have.

    Args:
        window: The page.
    """

    title = "Bodies"

    def __init__(self, window: Window) -> None:
        self.visible, self.clear = True, False
        self.hidden: frozenset[str] = frozenset()
        self.handles: list[Any] = []
        self.on_renew: list[Callable[[], Any]] = []
        self.colours = Colours(window)
        self.layout: Layout | None = None
        self._scene = window.server.scene
        self._crowd: Crowd | None = None
        self._names: list[tuple[int, str]] = []
        self._labels: list[Any] = []
        self._shade = np.ones((0, 1))
        self._gone: frozenset[str] = frozenset()
        # What is chosen stands out at once, even if nothing moves.
        window.on_select(lambda _: window.session.read())

    @property
    def wants(self) -> tuple[str, ...]:
        """What frames must hold for it."""
        return ("contacts",) if self.visible and self.colours.mode == "Contact force" else ()

    def body_of(self, handle: Any, instance_index: int) -> tuple[int, str]:
        """Number of the picture and name of the body that an instance of a batch belongs to."""
        crowd = self._crowd
        for batch in crowd.batches if crowd else ():
            if crowd and batch.handle.name == handle.name:
                return self._names[int(crowd.rows[batch.members[instance_index]])]
        raise InputError(f"{handle.name!r} is no batch of bodies; those are in Bodies.handles.")

    def pick(self, origin: Floats, direction: Floats) -> tuple[int, str] | None:
        """Number of the picture and name of the body that a ray meets first; None where it meets none.

        Args:
            origin: Where it starts (3,) [m].
            direction: Where it goes (3,).
        """
        row = None if self._crowd is None else self._crowd.pick(origin, direction)
        return None if row is None else self._names[row]

    def hit(self, origin: Floats, direction: Floats) -> tuple[int, str, Floats] | None:
        """As ``pick``, with the point on the body that is met (3,) [m]."""
        found = None if self._crowd is None else self._crowd.meet(origin, direction)
        return None if found is None else (*self._names[found[0]], origin + found[1] * direction)

    def met(self, origin: Floats, direction: Floats) -> Floats | None:
        """Where a ray meets the first body in its own picture (3,) [m]; None where it meets none."""
        found = self.hit(origin, direction)
        return None if found is None or self.layout is None else found[2] - self.layout.offsets[found[0]]

    def renew(self, frame: Frame) -> None:
        """Make the batches of another scene."""
        if self._crowd is not None:
            self._crowd.remove()
        for label in self._labels:
            label.remove()
        self.layout = lay_out(frame)
        self._names = [(k, body.name) for k, picture in enumerate(frame.pictures) for body in picture.scene.bodies]
        self.colours.renew(frame)
        bodies = [body for picture in frame.pictures for body in picture.scene.bodies]
        radius = POINT * self.layout.size
        members = [member for row, body in enumerate(bodies) for member in _members(row, body, radius)]
        self._shade = np.array([SHADE if member.piece.key in SIGNS_OF_TURN else 1.0 for member in members])[:, None]
        colours = self._shaded(self.colours.of(frame)[[member.row for member in members]])
        pose = joined(frame.pictures, self.layout.offsets)
        self._crowd = Crowd(self._scene, "bodies", members, pose, colours)
        self.handles = [batch.handle for batch in self._crowd.batches]
        # All of a new crowd are shown.
        self._gone = frozenset()
        self._labels = list(self._name_pictures(frame, self.layout))
        for tell in self.on_renew:
            tell()

    def show(self, frame: Frame) -> None:
        """Put everything where it is now, in its colours."""
        if self._crowd is None or self.layout is None:
            return
        self._crowd.visible = self.visible
        for label in self._labels:
            label.visible = self.visible
        if not self.visible:
            return
        for handle in self.handles:
            handle.opacity = OPACITY if self.clear else None
        if (colours := self.colours.changed(frame)) is not None:
            self._crowd.colour(self._shaded(colours[self._crowd.rows]))
        if self.hidden != self._gone:
            self._gone = self.hidden
            self._crowd.show_bodies(np.array([name not in self.hidden for _, name in self._names], dtype=np.bool_))
        self._crowd.place(*joined(frame.pictures, self.layout.offsets))

    def _shaded(self, colours: NDArray[np.uint8]) -> NDArray[np.uint8]:
        """Colours of members, darker for what only shows how a body is turned."""
        return (self._shade * colours).astype(np.uint8)

    def _name_pictures(self, frame: Frame, layout: Layout) -> Iterator[Any]:
        """Labels above the pictures, where there are several."""
        above = np.array([*(0.5 * (layout.low + layout.high))[:2], layout.high[2] + 0.06 * layout.size])
        for number, picture in enumerate(frame.pictures if len(frame.pictures) > 1 else ()):
            place = above + layout.offsets[number]
            yield self._scene.add_label(
                f"/labels/{number}", picture.label, position=place, anchor="bottom-center", font_screen_scale=1.3
            )


def bodies_of(window: Window) -> Bodies | None:
    """The part of a page that draws its bodies, if it has one."""
    return next((part for part in window.parts if isinstance(part, Bodies)), None)


def layout_of(window: Window, frame: Frame) -> Layout:
    """Where the pictures of a frame stand: as the bodies of the page do, if it draws them."""
    bodies = bodies_of(window)
    return lay_out(frame) if bodies is None or bodies.layout is None else bodies.layout


def _members(row: int, body: Body, radius: float) -> Iterator[Member]:
    """The pieces of a body; a point, or what has no mass, is a ball of this radius [m]."""
    moving = not body.static or bool(np.any(body.velocity) or np.any(body.angular_velocity))
    found = [piece for solid in solids(body) for piece in pieces(*solid)]
    if body.shape is None and not body.colliders and all(max(piece.scale) < radius for piece in found):
        found = [Piece("ball", None, (radius,) * 3, body.center_of_mass, UPRIGHT)]
    for piece in found:
        yield Member(piece._replace(position=piece.position - body.center_of_mass), row, moving)
