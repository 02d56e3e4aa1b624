"""Contacts: a dot where bodies touch, and an arrow for the force of the last step."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rattleback.viewer.drawing.bodies import layout_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rattleback.viewer.drawing.layout import Layout
    from rattleback.viewer.frame import Frame, Picture
    from rattleback.viewer.window import Window

    Floats = NDArray[np.float64]

DOT, ARROW = (214, 40, 57), (255, 110, 40)
# No more contacts than this are drawn, those with the largest forces.
MOST = 4000
# A force as large as the weight of a usual body is this many of its sizes long; none is longer than this of the scene.
WEIGHT_LENGTH, LONGEST = 0.6, 0.3


class Contacts:
    """Contact points, and the forces on what moves.

    Attributes:
        title: What it is called in the Show tab.
        visible: Whether it is drawn.
        largest: The largest force now [N].

    Args:
        window: The page.
    """

    title, colour, unit = "Contact forces", ARROW, "N"
    largest = 0.0

    def __init__(self, window: Window) -> None:
        self.visible = False
        self._window = window
        self._layout: Layout | None = None
        self._scale = 0.0
        self._dots: Any = None
        self._arrows: Any = None

    @property
    def wants(self) -> tuple[str, ...]:
        """What frames must hold for it."""
        return ("contacts",) if self.visible else ()

    def renew(self, frame: Frame) -> None:
        """Find sizes for another scene."""
        self._layout = layout_of(self._window, frame)
        scene = frame.picture.scene
        masses = [body.mass for body in scene.bodies if not body.static]
        weight = float(np.median(masses or [1.0])) * (float(np.linalg.norm(scene.gravity)) or 9.81)
        self._scale = WEIGHT_LENGTH * self._layout.body / weight
        self._hide()

    def show(self, frame: Frame) -> None:
        """Draw those there are now."""
        if not self.visible or self._layout is None:
            self._hide()
            return
        self._window.session.wanted.update(self.wants)
        if any(picture.contacts is None and picture.methods.finds for picture in frame.pictures):
            return
        points, forces = self._gathered(frame, self._layout)
        self._draw(points, forces, self._layout)

    def _gathered(self, frame: Frame, layout: Layout) -> tuple[Floats, Floats]:
        """Contact points (contacts, 3) [m] and forces on what moves (contacts, 3) [N]."""
        points, forces = [np.zeros((0, 3))], [np.zeros((0, 3))]
        for picture, offset in zip(frame.pictures, layout.offsets, strict=True):
            view = picture.contacts
            if view is not None and len(view):
                here = view.world == 0
                points.append(view.point[here] + offset)
                forces.append(self._on_the_upper(picture, view.body_a[here], view.force[here]))
        point, force = np.concatenate(points), np.concatenate(forces)
        largest = np.argsort(-np.linalg.norm(force, axis=1), kind="stable")[:MOST]
        return point[largest], force[largest]

    @staticmethod
    def _on_the_upper(picture: Picture, body_a: NDArray[Any], force: Floats) -> Floats:
        """Forces on A, or their opposites on B: on the body that moves, of two that do on the one held up."""
        static = np.array([body.static for body in picture.scene.bodies])[body_a]
        down = force @ picture.scene.gravity > 0.0
        return np.where((static | down)[:, None], -force, force)

    def _draw(self, points: Floats, forces: Floats, layout: Layout) -> None:
        scene, size = self._window.server.scene, 0.06 * layout.body
        length = np.linalg.norm(forces, axis=1)
        acting, self.largest = length > 0.0, float(length.max(initial=0.0))
        drawn = np.minimum(self._scale * length[acting], LONGEST * layout.size) / length[acting]
        ends = points[acting] + drawn[:, None] * forces[acting]
        arrows = np.stack([points[acting], ends], axis=1)
        if self._dots is None:
            self._dots = scene.add_point_cloud("/contacts/points", points, DOT, point_size=size, point_shape="circle")
            self._arrows = scene.add_arrows("/contacts/forces", arrows, ARROW, shaft_radius=0.2 * size,
                                            head_radius=0.5 * size, head_length=1.2 * size)  # fmt: skip
        elif len(points):
            self._dots.points, self._arrows.points = points, arrows
        self._dots.visible, self._arrows.visible = bool(len(points)), bool(len(arrows))

    def _hide(self) -> None:
        for handle in (self._dots, self._arrows):
            if handle is not None:
                handle.remove()
        self._dots = self._arrows = None
