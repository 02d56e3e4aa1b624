"""The Build folder: bodies, joints and forces are added to what runs, each edit can be undone and done again."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING, Any

import viser

from rattleback.core.errors import InputError
from rattleback.forces import MENU as FORCES
from rattleback.joints import MENU as JOINTS
from rattleback.model.body import DEFAULT_DENSITY
from rattleback.model.scene import Scene
from rattleback.shapes import Plane
from rattleback.simulation import Simulation
from rattleback.viewer.building.joining import add_force, join
from rattleback.viewer.building.making import add_body
from rattleback.viewer.building.merging import merge
from rattleback.viewer.building.present import present_of
from rattleback.viewer.building.typed import SIZES, further, hint_of, sizes_of
from rattleback.viewer.interaction.grip import GRIP
from rattleback.viewer.panels.compound_entry import Turn
from rattleback.viewer.panels.entry import Numbers

if TYPE_CHECKING:
    from collections.abc import Callable
    from concurrent.futures import Future

    from rattleback.viewer.building.present import Present
    from rattleback.viewer.frame import Frame
    from rattleback.viewer.window import Window

UNDO, REDO, EMPTY = "Undo", "Redo", "Empty scene"
NONE = "–"
FIRST = -2.0
# A longer list would keep the browser busy.
MOST_LISTED = 2000
ALWAYS_STATIC = ("plane", "height_field")
IDENTITY = (0.0, 0.0, 0.0, 1.0)


class Build:
    """The folder.

    Attributes:
        body: Controls of the body that is to be added, by name.
        link: Controls of the joint or force that is to be added.

    Args:
        window: The page.
    """

    def __init__(self, window: Window) -> None:
        self.session, self._window = window.session, window
        gui: Any = window.server.gui
        with window.tabs["Edit"], gui.add_folder("Build", order=FIRST, expand_by_default=False):
            hint = "Every edit can be undone and done again. Keys: U and Y."
            self.buttons = gui.add_button_group("", (UNDO, REDO, EMPTY), hint=hint)
            with gui.add_folder("Add a body", expand_by_default=False):
                self.body = self._body_controls(gui)
            with gui.add_folder("Join, push and drive", expand_by_default=False):
                self.link = self._link_controls(gui)
        self.buttons.on_click(lambda event: self.press(event.target.value))
        gui.add_command("Do again what was undone", hotkey="Y").on_trigger(lambda _: self.press(REDO))
        self.body["shape"].on_update(lambda _: self._offer_size())
        self.body["add"].on_click(lambda _: self.add_body())
        for key, act in (("join", self.join), ("force", self.add_force), ("merge", self.merge)):
            self.link[key].on_click(lambda _, act=act: act())
        window.on_select(self.choose)

    def _body_controls(self, gui: Any) -> dict[str, Any]:
        turned = "Angles about the fixed axes x, y and z, one after the other."
        shape = gui.add_dropdown("Shape", tuple(SIZES), hint="Meshes come from files, compounds from merging.")
        return {
            "shape": shape,
            "size": gui.add_text("Size [m]", SIZES[shape.value], hint=hint_of(shape.value)),
            "position": gui.add_text("Position [m]", "0, 0, 0.5", hint="Its centre of mass, or origin if static."),
            "orientation": gui.add_text("Turned by [°]", "0, 0, 0", hint=turned),
            "mass": gui.add_text("Mass [kg]", "", hint="Left empty, it follows from its density."),
            "density": gui.add_text("Density [kg/m³]", "1000", hint="Used where no mass is given."),
            "static": gui.add_checkbox("Static", False, hint="Nothing moves it."),
            "collides": gui.add_checkbox("Collides", True, hint="Whether it meets other bodies."),
            "name": gui.add_text("Name", "", hint="Left empty, it is called by its shape and a number."),
            "add": gui.add_button("Add body", icon=viser.Icon.PLUS),
        }

    def _link_controls(self, gui: Any) -> dict[str, Any]:
        bodies = "The bodies that were selected last; click one, then the other, or choose here."
        place = "Where they are joined; left empty, it is midway between them. A click on a body puts its point here."
        more = "Further fields with semicolons between: limits -1 1; friction 0.2. Its dialog has all of them."
        return {
            "a": gui.add_dropdown("Body A", (NONE,), hint=bodies),
            "b": gui.add_dropdown("Body B", (NONE,), hint=bodies),
            "joint": gui.add_dropdown("Joint", (NONE,), hint="What a motor or a spring about an axis acts on."),
            "at": gui.add_text("At [m]", "", hint=place),
            "axis": gui.add_text("Axis", "0, 0, 1", hint="Direction of the axis in the world, of any length."),
            "more": gui.add_text("More", "", hint=more),
            "name": gui.add_text("Name", "", hint="Left empty, it is called by its kind and a number."),
            "kind": gui.add_dropdown("Joint type", tuple(JOINTS), initial_value="revolute"),
            "join": gui.add_button("Join A and B", icon=viser.Icon.LINK),
            "force_kind": gui.add_dropdown("Force type", tuple(FORCES), initial_value="spring"),
            "force": gui.add_button("Add force", icon=viser.Icon.PLUS, hint="On A and B, on A, or on the joint."),
            "merge": gui.add_button("Merge A and B", hint="One body with the shapes of both, under the name of A."),
        }

    def renew(self, frame: Frame) -> None:
        """Offer what is in the scene."""
        scene = frame.picture.scene
        bodies = (NONE, scene.world.name, *(body.name for body in scene.bodies[:MOST_LISTED]))
        joints = (NONE, *[name for name in scene.joints if name != GRIP][:MOST_LISTED])
        for key, options in (("a", bodies), ("b", bodies), ("joint", joints)):
            handle = self.link[key]
            if handle.options != options:
                kept = handle.value if handle.value in options else NONE
                handle.options = options
                handle.value = kept

    def show(self, frame: Frame) -> None:
        """Nothing here hangs on the step."""

    def choose(self, name: str) -> None:
        """The body that is selected becomes B, the one before A; a joint becomes the joint."""
        link = self.link
        # What was just added may be chosen before the page has heard of it.
        self.renew(self.session.frame)
        if name in link["joint"].options:
            link["joint"].value = name
        elif name in link["b"].options and name != link["b"].value:
            link["a"].value, link["b"].value = link["b"].value, name
        if self._window.picked is not None and name:
            link["at"].value = ", ".join(f"{number:.4g}" for number in self._window.picked)

    def press(self, button: str) -> Future[Any]:
        """Undo, redo, or begin with nothing but the ground."""
        if button == EMPTY:
            return self._begin()
        return self.session.undo() if button == UNDO else self.session.redo()

    def add_body(self) -> Future[Any]:
        """Add the body that the fields describe."""
        kind, static = self.body["shape"].value, self.body["static"].value

        def make(scene: Scene, present: Present) -> str:
            return add_body(scene, kind, sizes_of(kind, self.body["size"].value), self._body_options(), static)

        return self._edit(make, self.body["name"])

    def join(self) -> Future[Any]:
        """Join A and B."""
        kind, ends = self.link["kind"].value, self._ends()

        def make(scene: Scene, present: Present) -> str:
            _check_ends(ends, "A joint holds")
            told = self._told(f"A joint of type {kind}", JOINTS[kind])
            axis = Numbers((3,)).parse(self.link["axis"].value, None, "The axis")
            return join(scene, present, kind, ends, {"axis": axis, **told})

        return self._edit(make, self.link["name"])

    def add_force(self) -> Future[Any]:
        """Add a force to A and B, or to the joint."""
        kind, (a, b) = self.link["force_kind"].value, self._ends()
        on = {"a": a, "b": b, "joint": _chosen(self.link["joint"])}

        def make(scene: Scene, present: Present) -> str:
            if kind == "spring":
                _check_ends((a, b), "A spring holds")
            return add_force(scene, present, kind, on, self._told(f"A force of type {kind}", FORCES[kind]))

        return self._edit(make, self.link["name"])

    def merge(self) -> Future[Any]:
        """Make one body of A and B."""
        a, b = self._ends()

        def make(scene: Scene, present: Present) -> str:
            if a not in scene or b not in scene:
                raise InputError(
                    "Merging takes two bodies; choose Body A and Body B, or click the one, then the other."
                )
            return merge(scene, present, a, b)

        return self._edit(make)

    def _begin(self) -> Future[Any]:
        """Put a scene in the place of this one that has nothing but the ground."""
        sim = self.session.sims[0]

        def make() -> Simulation:
            scene = Scene(name="scene")
            scene.add_static(Plane(), name="ground")
            return Simulation(scene, time_step=sim.time_step, device=sim.device.alias)

        return self.session.open(make)

    def _ends(self) -> tuple[str, str]:
        return _chosen(self.link["a"]), _chosen(self.link["b"])

    def _offer_size(self) -> None:
        """Sizes of another shape."""
        kind = self.body["shape"].value
        self.body["size"].value, self.body["size"].hint = SIZES[kind], hint_of(kind)
        if kind in ALWAYS_STATIC:
            self.body["static"].value, self.body["position"].value = True, "0, 0, 0"

    def _body_options(self) -> dict[str, Any]:
        """Options of the body, as the fields say."""
        controls = self.body
        options: dict[str, Any] = {"position": Numbers((3,)).parse(controls["position"].value, None, "The position")}
        turn = Turn().parse(controls["orientation"].value, IDENTITY, "Turned by")
        if list(turn) != list(IDENTITY):
            options["orientation"] = turn
        if not controls["static"].value:
            mass = Numbers(none="none").parse(controls["mass"].value, None, "The mass")
            density = Numbers().parse(controls["density"].value, None, "The density")
            options |= (
                {"mass": mass} if mass is not None else {} if density == DEFAULT_DENSITY else {"density": density}
            )
        if not controls["collides"].value:
            options["collision"] = None
        return options | ({"name": name} if (name := controls["name"].value.strip()) else {})

    def _told(self, what: str, kind: type[Any]) -> dict[str, Any]:
        """What the fields say of a joint or a force, as far as something stands in them."""
        controls, at = self.link, Numbers((3,), none="none").parse(self.link["at"].value, None, "The point")
        told = {"at": at, "name": controls["name"].value.strip() or None}
        known = [field.name for field in fields(kind) if field.init]
        return {key: value for key, value in told.items() if value is not None} | further(
            controls["more"].value, known, what
        )

    def _edit(self, make: Callable[[Scene, Present], str], name: Any = None) -> Future[Any]:
        """Change the scene, and select what was added; the fields that were for this one alone are emptied."""
        added: list[str] = []

        def edit(scene: Scene) -> Scene:
            made = scene.copy()
            sim = next(sim for sim in self.session.sims if sim.scene is scene)
            added[:] = [make(made, present_of(sim))]
            return made

        def done(asked: Future[Any]) -> None:
            if asked.exception() is None:
                for handle in (name, self.link["at"], self.link["more"]):
                    if handle is not None:
                        handle.value = ""
                self._window.picked = None
                self._window.select(added[0])

        asked = self.session.rebuild(edit)
        asked.add_done_callback(done)
        return asked


def _chosen(handle: Any) -> str:
    """What a list shows; empty where nothing is chosen."""
    return "" if handle.value == NONE else str(handle.value)


def _check_ends(ends: tuple[str, str], what: str) -> None:
    if not all(ends):
        raise InputError(f"{what} two bodies; choose Body A and Body B, or click the one, then the other.")
