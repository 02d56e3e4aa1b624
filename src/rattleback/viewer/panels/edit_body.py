"""The dialog of a body: how it moves, what it weighs, its shape, its surface and what it meets."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields, is_dataclass, replace
from operator import attrgetter
from typing import TYPE_CHECKING, Any

import numpy as np

from rattleback.core.errors import RattlebackError
from rattleback.maths.rotation import conjugate, euler_from_quaternion, rotate
from rattleback.model.body import Body, BodyOptions, StaticOptions
from rattleback.model.material import Material
from rattleback.viewer.amounts import amount
from rattleback.viewer.building.making import duplicate, remove_all, set_static
from rattleback.viewer.building.present import present_of
from rattleback.viewer.panels.compound_entry import TURNS, Turn
from rattleback.viewer.panels.declared import entries_of, hint_of, label_of, meanings_of
from rattleback.viewer.panels.entry import AMONG, GRAIN, Entry, Names, Numbers, Tick, Words
from rattleback.viewer.panels.subject import REMOVE, edited

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from concurrent.futures import Future

    from rattleback.model.scene import Scene
    from rattleback.simulation import Simulation
    from rattleback.viewer.frame import Frame, Picture
    from rattleback.viewer.session import Session

    Sections = Mapping[str, Sequence[Entry]]

MOTION = ("position", "orientation", "velocity", "angular_velocity")
# Options of bodies by how they are typed. A name, a material and a shape are not here: they have their own ways.
FORMS: dict[str, Any] = {
    "mass": Numbers(),
    "density": Numbers(none="unknown"),
    "inertia": Numbers((3, 9)),
    "center_of_mass": Numbers((3,)),
    "group": Words(),
    "margin": Numbers(),
    "category": Names(),
    "collides_with": Names("all"),
    "continuous": Tick(),
}
MASS = ("mass", "density", "inertia", "center_of_mass")
LABELS = {
    "orientation": "Turned by [°]",
    "angular_velocity": "Spin [rad/s]",
    "inertia": "Inertia [kg m²]",
}
HINTS = {
    "density": "Mass by volume of its shape [kg/m³]; another one changes mass and inertia.",
    "orientation": "Angles about the fixed axes x, y and z, one after the other; or a quaternion x, y, z, w.",
    "inertia": "Moments about the axes of the body's frame, or all nine numbers [kg m²].",
    "mass": "Mass [kg]; the inertia changes with it.",
}
SHAPE, SURFACE = "shape.", "material."
STOP, WAKE, DUPLICATE, REMOVE_ALL = "Stop", "Wake", "Duplicate", "Remove with joints"
HELD, COLLIDES = "static", "collides"
# Less energy than this is rounding [J].
LEAST = 1e-15


@dataclass(frozen=True)
class BodySubject:
    """A body by its name."""

    name: str
    kind: str = "body"

    def sections(self, scene: Scene) -> Sections:
        """Motion, mass, shape, surface and collisions."""
        body = scene[self.name]
        options = (StaticOptions if body.static else BodyOptions).__annotations__
        known = [name for name in FORMS if name in options]
        found = {
            "Motion": [self._motion(name) for name in MOTION],
            "Mass": [self._option(name) for name in known if name in MASS],
            f"Shape: {type(body.shape).__name__}": self._shape(body, scene),
            "Surface": self._within(SURFACE, entries_of(body.material, scene, lambda frame: self._in(frame).material)),
            "Collisions": [*self._ticks(body), *(self._option(name) for name in known if name not in MASS)],
        }
        return {title: entries for title, entries in found.items() if entries}

    def apply(self, session: Session, values: dict[str, Any]) -> Future[Any]:
        """Set what it does now; for another body build the scene anew."""
        state = {name: value for name, value in values.items() if name in MOTION}
        surface = _part(values, SURFACE)
        sizes = _part(values, SHAPE)
        # At the start, another place is where it starts.
        at_start = MOTION if session.frame.steps == 0 else ()
        options = {name: value for name, value in values.items() if name in (*FORMS, *at_start)}
        if COLLIDES in values:
            options["collision"] = session.frame.picture.scene[self.name].shape if values[COLLIDES] else None

        def write(sim: Simulation) -> None:
            for name, value in state.items():
                setattr(sim[self.name], name, value)
            if surface:
                sim[self.name].material = changed_material(sim.scene[self.name].material, surface)

        def edit(scene: Scene) -> None:
            shape = {"shape": replace(scene[self.name].shape, **sizes)} if sizes else {}
            scene.change_body(self.name, **_told(options), **shape)
            if HELD in values:
                set_static(scene, self.name, values[HELD])

        return session.rebuild(edited(edit), write) if sizes or options or HELD in values else session.change(write)

    def actions(self, scene: Scene) -> dict[str, Callable[[Session], Future[Any]]]:
        """What the buttons do; a push has a field of its own."""

        def stop(sim: Simulation) -> None:
            sim[self.name].velocity = sim[self.name].angular_velocity = (0.0, 0.0, 0.0)

        def wake(sim: Simulation) -> None:
            sim[self.name].asleep = False

        return {
            STOP: lambda session: session.do(stop),
            WAKE: lambda session: session.do(wake),
            DUPLICATE: self._duplicate,
            REMOVE: lambda session: session.rebuild(edited(lambda scene: scene.remove_body(self.name))),
            REMOVE_ALL: lambda session: session.rebuild(edited(lambda scene: remove_all(scene, self.name))),
        }

    def _duplicate(self, session: Session) -> Future[Any]:
        """Put another body like it beside it."""

        def edit(scene: Scene) -> Scene:
            made = scene.copy()
            sim = next(sim for sim in session.sims if sim.scene is scene)
            duplicate(made, self.name, present_of(sim))
            return made

        return session.rebuild(edit)

    def push(self, session: Session, impulse: Any) -> Future[Any]:
        """Strike it at its centre of mass with an impulse (3,) [N s]."""
        return session.do(lambda sim: sim[self.name].apply_impulse(impulse))

    def look(self, sim: Simulation) -> dict[str, Any]:
        """Whether it sleeps."""
        return {"asleep": bool(np.ravel(sim[self.name].asleep)[0])}

    def readings(self, picture: Picture, seen: dict[str, Any]) -> list[tuple[str, str]]:
        """Where it is, how fast, and with how much energy."""
        body, row = picture.scene[self.name], picture.scene.index(self.name)
        x, q, v, w = (getattr(picture, name)[row] for name in MOTION)
        turned = np.degrees(euler_from_quaternion(q, TURNS))
        found = [
            ("Position", f"{_vector(x)} m"),
            ("Turned by", f"{_vector(turned)} °"),
            ("Velocity", f"{_vector(v)} m/s"),
            ("Spin", f"{_vector(w)} rad/s"),
            ("Speed", f"{float(np.linalg.norm(v)):.3f} m/s"),
        ]
        if not body.static:
            own = rotate(conjugate(q), w)
            energy = 0.5 * body.mass * float(v @ v) + 0.5 * float(own @ body.inertia @ own)
            found.append(("Motion energy", f"{amount(energy if energy > LEAST else 0.0, AMONG)} J"))
        return [*found, ("State", "asleep")] if seen.get("asleep") else found

    def _in(self, frame: Frame) -> Body:
        return frame.picture.scene[self.name]

    def _motion(self, name: str) -> Entry:
        meaning = meanings_of(Body)[name]
        form = Turn() if name == "orientation" else Numbers((3,), grain=GRAIN)

        def read(frame: Frame) -> Any:
            return getattr(frame.picture, name)[frame.picture.scene.index(self.name)]

        return Entry(
            name, LABELS.get(name, label_of(name, meaning)), HINTS.get(name, hint_of(meaning)), form, read, live=True
        )

    def _option(self, name: str) -> Entry:
        meaning = HINTS.get(name, hint_of(meanings_of(Body).get(name, "")))
        found: dict[str, Callable[[Body], Any]] = {"density": density_of, "inertia": inertia_of}
        read = found.get(name, attrgetter(name))
        label = LABELS.get(name, label_of(name, meaning))
        return Entry(name, label, meaning, FORMS[name], lambda frame: read(self._in(frame)))

    def _ticks(self, body: Body) -> list[Entry]:
        """Whether it is held still, and whether it meets others."""
        held = "Nothing moves it. Let go, it has the mass of its shape at 1000 kg/m³."
        found = [Entry(HELD, "Static", held, Tick(), lambda frame: self._in(frame).static)]
        if body.shape is not None:
            meets = "Whether its shape meets other bodies."
            found.append(Entry(COLLIDES, "Collides", meets, Tick(), lambda frame: bool(self._in(frame).colliders)))
        return found

    def _shape(self, body: Body, scene: Scene) -> list[Entry]:
        """Sizes of a shape that are numbers; points and triangles are not typed by hand."""
        if not is_dataclass(body.shape):
            return []
        numbers = {field.name for field in fields(body.shape) if "float" in str(field.type)}
        found = entries_of(body.shape, scene, lambda frame: self._in(frame).shape)
        return self._within(SHAPE, [entry for entry in found if entry.name in numbers])

    @staticmethod
    def _within(part: str, entries: list[Entry]) -> list[Entry]:
        """Entries of a part of the body, whose names must not meet those of others."""
        return [replace(entry, name=part + entry.name) for entry in entries]


def changed_material(material: Material, changes: Mapping[str, Any]) -> Material:
    """A material with other numbers; coefficients that follow its friction go on doing so."""
    told = dict(changes)
    for name in ("static_friction", "dynamic_friction"):
        if "friction" in told and name not in told and getattr(material, name) == material.friction:
            told[name] = None
    return replace(material, **told)


def density_of(body: Body) -> float | None:
    """Mass by volume [kg/m³]; None where the shape has none."""
    try:
        volume = 0.0 if body.shape is None else float(body.shape.volume())
    except RattlebackError:
        return None
    return body.mass / volume if 0.0 < volume < math.inf else None


def inertia_of(body: Body) -> Any:
    """The three moments about the axes of the body's frame where there is nothing else, or all nine numbers."""
    moments = np.diag(body.inertia)
    return moments if np.array_equal(np.diag(moments), body.inertia) else body.inertia.ravel()


def _told(options: dict[str, Any]) -> dict[str, Any]:
    """Options as ``change_body`` takes them."""
    nine = np.size(options.get("inertia", ())) == 9
    return {**options, "inertia": np.reshape(options["inertia"], (3, 3))} if nine else options


def _part(values: dict[str, Any], part: str) -> dict[str, Any]:
    return {name.removeprefix(part): value for name, value in values.items() if name.startswith(part)}


def _vector(values: Any) -> str:
    return ", ".join(f"{value + 0.0:.3f}" for value in np.round(values, 3))
