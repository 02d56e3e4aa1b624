"""The dialog of a mesh file: as what body it comes into the scene."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import viser

from rattleback.core.errors import InputError
from rattleback.shapes import ConvexHull, Mesh
from rattleback.viewer.building.opening import opened_mesh
from rattleback.viewer.panels.entry import Numbers

if TYPE_CHECKING:
    from concurrent.futures import Future

    from rattleback.model.scene import Scene
    from rattleback.viewer.window import Window

# Convex parts of a mesh that moves, so that it collides as it is, its hull, or nothing.
PARTS, HULL, NOTHING = "its parts", "its hull", "nothing"


class MeshDialog:
    """Asks how a mesh is to be added.

    Attributes:
        fields: The controls of the dialog that is open; empty where none is.

    Args:
        window: The page.
    """

    def __init__(self, window: Window) -> None:
        self._window = window
        self.fields: dict[str, Any] = {}
        self._modal: Any = None

    def add(self, name: str, content: bytes) -> Future[Any]:
        """Add the body that the fields describe, and close the dialog."""
        session, fields = self._window.session, self.fields
        stem = Path(name).stem

        def edit(scene: Scene) -> Scene:
            made = scene.copy()
            shape: Any = opened_mesh(name, content, Numbers().parse(fields["scale"].value, None, "The unit"))
            position = Numbers((3,)).parse(fields["position"].value, None, "The position")
            options: dict[str, Any] = {"name": stem} if stem and not made._taken(stem) else {}
            if fields["static"].value:
                made.add_static(shape, position=position, **options)
                return made
            density = Numbers().parse(fields["density"].value, None, "The density")
            if fields["collides"].value == PARTS:
                shape = Mesh(shape.vertices, shape.triangles, decompose=True)
            else:
                hull = fields["collides"].value == HULL
                options["collision"] = ConvexHull(shape.vertices) if hull else None
            made.add_body(shape, origin=position, density=density, **options)
            return made

        asked = session.rebuild(edit)
        asked.add_done_callback(lambda done: None if done.exception() else self._added())
        return asked

    def close(self) -> None:
        """Close the dialog."""
        modal, self._modal = self._modal, None
        if modal is not None:
            modal.close()
        self.fields = {}

    def _added(self) -> None:
        self.close()
        self._window.select(self._window.session.frame.picture.scene.bodies[-1].name)

    def ask(self, name: str, content: bytes) -> None:
        """Open the dialog for a file.

        Args:
            name: What the file is called.
            content: Its contents.

        Raises:
            FileError: It cannot be read.
        """
        mesh = opened_mesh(name, content)
        low, high = mesh.bounds()
        size = " × ".join(f"{length:.3g}" for length in high - low)
        self.close()
        gui: Any = self._window.server.gui
        self._modal = gui.add_modal(f"Add {name}")
        with self._modal:
            gui.add_markdown(f"{len(mesh.triangles)} triangles, {size} in the unit of the file; {_solid(mesh)}")
            self.fields = {
                "scale": gui.add_text("Unit [m]", "1", hint="Length of the unit of the file: 0.001 for millimetres."),
                "position": gui.add_text("Position [m]", "0, 0, 0", hint="Where the origin of the file goes."),
                "static": gui.add_checkbox("Static", not _is_solid(mesh), hint="Nothing moves it."),
                "density": gui.add_text("Density [kg/m³]", "1000", hint="Of a body that moves."),
                "collides": gui.add_dropdown("Collides with", (HULL, PARTS, NOTHING), hint="Of a body that moves."),
            }
            add = gui.add_button("Add body", icon=viser.Icon.PLUS)
            shut = gui.add_button("Cancel", color="gray")
        add.on_click(lambda _: self.add(name, content))
        shut.on_click(lambda _: self.close())


def _is_solid(mesh: Any) -> bool:
    """Whether it bounds a solid, so that it has mass."""
    try:
        return bool(mesh.volume() > 0.0)
    except InputError:
        return False


def _solid(mesh: Any) -> str:
    return "it bounds a solid." if _is_solid(mesh) else "it bounds no solid, so it can only be static."
