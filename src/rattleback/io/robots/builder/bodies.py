"""Bodies of a scene from parts: shapes that are seen, shapes that collide, materials, categories."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rattleback.io.robots.description import WORLD
from rattleback.io.robots.source.placing import parts as split
from rattleback.model import Material
from rattleback.model.body import DEFAULT_CATEGORY
from rattleback.shapes import Compound, HeightField, Placed, Plane, Sphere

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rattleback.io.robots.builder.parts import Bodies, Part
    from rattleback.io.robots.description import Description, Geometry, Link
    from rattleback.io.robots.report import Report
    from rattleback.model import Scene

    Floats = NDArray[np.float64]

# Shapes that stand still and have a body of their own.
GROUND = (Plane, HeightField)


class Drawn(NamedTuple):
    """A geometry, its frame in that of the body, and whether it is shown."""

    geometry: Geometry
    place: Floats
    seen: bool


def add_bodies(
    scene: Scene, description: Description, bodies: Bodies, places: dict[str, Floats], report: Report
) -> Any:
    """Add all bodies.

    Args:
        scene: Where to.
        description: What they are made from.
        bodies: The parts.
        places: Frames of all links at the start (4, 4).
        report: Where losses are told.

    Returns:
        Names of the bodies, by part, and of the static ones by link.
    """
    names, still = {WORLD: scene.world.name}, {}
    for link in bodies.parts[WORLD].members:
        if link in description.links and (name := _add_static(scene, description, link, places[link], report)):
            still[link] = name
    for part in bodies.parts.values():
        if part.name != WORLD:
            names[part.name] = free_name(scene, part.name, "body")
            _add_moving(scene, description, part, (names[part.name], places[part.name]), report)
    return names, still


def free_name(scene: Scene, name: str, kind: str) -> str:
    """A name that nothing in the scene has yet: the given one where it is free."""
    taken = {scene.world.name, *scene.joints, *scene.groups, *(body.name for body in scene.bodies)}
    if name not in taken:
        return name
    number = 1
    while (found := f"{name} {kind}" + (f" {number}" if number > 1 else "")) in taken:
        number += 1
    return found


def _add_static(scene: Scene, description: Description, link: str, place: Floats, report: Report) -> str:
    """Add what is seen of a link that is fixed to the world; the name of its body, empty where there is none."""
    drawn = []
    for geometry in description.links[link].geometries:
        if isinstance(geometry.shape, GROUND):
            _add_ground(scene, geometry.name or f"{link} ground".strip(), geometry, place)
        else:
            drawn.append(_drawn(description.links[link], geometry, np.eye(4)))
    if not drawn:
        return ""
    where = description.links[link].where or f"link {link!r}"
    name = free_name(scene, link or "static", "body")
    point, turn = split(place)
    shape, options = appearance(drawn, where, report)
    scene.add_static(shape, name=name, position=point, orientation=turn, **options)
    return name


def _add_ground(scene: Scene, name: str, geometry: Geometry, place: Floats) -> None:
    point, turn = split(place @ geometry.place)
    options = _surface([Drawn(geometry, geometry.place, True)])
    if not geometry.collides:
        options["collision"] = None
    scene.add_static(geometry.shape, name=free_name(scene, name, "body"), position=point, orientation=turn, **options)


def _add_moving(scene: Scene, description: Description, part: Part, named: Any, report: Report) -> None:
    name, place = named
    links = description.links
    drawn = [
        _drawn(links[link], geometry, frame)
        for link, frame in part.members.items()
        for geometry in links[link].geometries
    ]
    where = links[part.name].where or f"link {part.name!r}"
    for one in [one for one in drawn if isinstance(one.geometry.shape, GROUND)]:
        report.drop(f"{where} geometry {one.geometry.name!r}", "a plane or height field cannot move")
        drawn.remove(one)
    shape, options = appearance(drawn, where, report)
    point, turn = split(place)
    own, speed = part.inertia, links[part.name].velocity
    assert own is not None
    if shape is None and part.dot > 0.0:
        # A body without a shape is shown in the size of its moments, which here are those of no body.
        x, y, z = own.center.tolist()
        shape = Compound((Placed(Sphere(part.dot), (x, y, z)),))
    if speed is not None:
        arm = place[:3, :3] @ own.center
        options |= {"velocity": speed[:3] + np.cross(speed[3:], arm), "angular_velocity": speed[3:]}
    options |= {"mass": own.mass, "inertia": own.tensor, "center_of_mass": own.center}
    scene.add_body(shape, name=name, origin=point, orientation=turn, **options)


def _drawn(link: Link, geometry: Geometry, frame: Floats) -> Drawn:
    """A geometry of a link whose frame in that of the body is given."""
    return Drawn(geometry, frame @ geometry.place, geometry.seen or (link.unseen and geometry.collides))


def appearance(drawn: list[Drawn], where: str, report: Report) -> tuple[Any, dict[str, Any]]:
    """Shape and options of a body: what is seen, or else what collides; what collides; material and categories."""
    seen = [one for one in drawn if one.seen]
    solid = [one for one in drawn if one.geometry.collides]
    shape = _compound(seen or solid)
    options: dict[str, Any] = {"collision": [_placed(one) for one in solid] or None}
    surfaces = [one.geometry.surface for one in solid]
    if any(surface != surfaces[0] for surface in surfaces):
        told = "its shapes differ in friction or restitution; those of the first that has any count"
        report.approximate(f"{where} surface", told)
    kinds = {(one.geometry.category, one.geometry.collides_with) for one in solid}
    if len(kinds) > 1:
        report.approximate(f"{where} filter", "its shapes collide with different bodies; the body with all of them")
    return shape, options | _surface(solid)


def _surface(solid: list[Drawn]) -> dict[str, Any]:
    options: dict[str, Any] = {}
    surface = next((one.geometry.surface for one in solid if one.geometry.surface), None)
    if surface:
        options["material"] = Material(**surface)
    categories = {one.geometry.category: None for one in solid if one.geometry.category}
    if categories:
        options["category"] = tuple(categories)
    met = [one.geometry.collides_with for one in solid]
    if met and all(one is not None for one in met):
        options["collides_with"] = tuple(dict.fromkeys(name for one in met for name in one or ()))
        options.setdefault("category", DEFAULT_CATEGORY)
    return options


def _compound(drawn: list[Drawn]) -> Any:
    """One shape for several; None for none."""
    if not drawn:
        return None
    if len(drawn) == 1 and np.array_equal(drawn[0].place, np.eye(4)):
        return drawn[0].geometry.shape
    return Compound(tuple(_placed(one) for one in drawn))


def _placed(drawn: Drawn) -> Placed:
    point, turn = split(drawn.place)
    return Placed(drawn.geometry.shape, point, turn)
