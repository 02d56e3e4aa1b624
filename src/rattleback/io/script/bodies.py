"""The options of ``add_body`` and ``add_static`` that make a body, as few and as short as they can be."""

from __future__ import annotations

import math
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import numpy as np

from rattleback.core.errors import RattlebackError
from rattleback.io.script.layout import Group, literal
from rattleback.model.body import DEFAULT_CATEGORY, Body, make_body, make_static
from rattleback.model.material import Material
from rattleback.shapes import Placed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rattleback.io.script.calls import Calls

UNMOVED = (("position", (0.0, 0.0, 0.0)), ("orientation", (0.0, 0.0, 0.0, 1.0)))
AT_REST = (("position", 3), ("orientation", 4), ("velocity", 3), ("angular_velocity", 3))
MASS = ("mass", "center_of_mass", "inertia")
# A mass of so few digits was chosen; others may follow from a density of so few.
SHORT, DENSITY_DIGITS = 6, 6


class OptionsOfBodies:
    """Finds the options of bodies.

    Args:
        calls: Makes code of shapes and materials.
    """

    def __init__(self, calls: Calls) -> None:
        self._calls = calls
        self._masses: dict[Any, dict[str, Any]] = {}

    def of(self, body: Body) -> dict[str, Any]:
        """Options as code by name, but for the name of the body."""
        given: dict[str, Any] = {} if body.static else dict(self._mass(body))
        for name, _ in AT_REST:
            if not same(getattr(body, name), self._start(body, given, name)):
                given[name] = getattr(body, name)
        code = {name: literal(value) for name, value in given.items()}
        if body.material != Material() or repr(body.material) != repr(Material()):
            code["material"] = self._calls.material(body.material)
        if body.group:
            code["group"] = literal(body.group)
        return {**code, **self._collision(body)}

    def _mass(self, body: Body) -> dict[str, Any]:
        key = (body.shape, *(np.asarray(getattr(body, name)).tobytes() for name in MASS))
        if key not in self._masses:
            self._masses[key] = next(given for given in mass_options(body) if _weighs(body, given))
        return self._masses[key]

    @staticmethod
    def _start(body: Body, given: dict[str, Any], name: str) -> Any:
        """Where a body would start without an option."""
        if name == "position" and not body.static:
            turned = {**given, "orientation": body.orientation}
            return make_body(body.name, body.shape, turned).position
        return dict(UNMOVED).get(name, (0.0, 0.0, 0.0))

    def _collision(self, body: Body) -> dict[str, Any]:
        """What collides where that is not the shape, and with what."""
        found: dict[str, Any] = {}
        usual = () if body.shape is None else make_static(body.name, body.shape, {}).colliders
        if [_seen(part) for part in body.colliders] != [_seen(part) for part in usual]:
            found["collision"] = self._colliders(body)
        for name, default in (("margin", 0.0), ("category", DEFAULT_CATEGORY), ("collides_with", None)):
            value = getattr(body, name)
            if value != default:
                found[name] = literal(value[0] if isinstance(value, tuple) and len(value) == 1 else value)
        if body.continuous:
            found["continuous"] = "True"
        return found

    def _colliders(self, body: Body) -> Any:
        if not body.colliders:
            return "None"
        parts = [self._collider(part) for part in body.colliders]
        return parts[0] if len(parts) == 1 else Group("[", tuple(("", part) for part in parts), "]")

    def _collider(self, part: Any) -> Any:
        moved = isinstance(part, Placed) and any(repr(getattr(part, name)) != repr(start) for name, start in UNMOVED)
        shape = part.shape if isinstance(part, Placed) else part
        return self._calls.placed(part) if moved else self._calls.shape(shape)


def mass_options(body: Body) -> Iterator[dict[str, Any]]:
    """Ways to say what a body weighs, the shortest first."""
    mass, inertia = body.mass, body.inertia
    moments = np.diag(inertia)
    diagonal = np.array_equal(np.diag(moments), inertia)
    if body.shape is not None:
        yield {}
        if len(repr(mass)) <= SHORT:
            yield {"mass": mass}
        yield from ({"density": density} for density in _densities(body))
        yield {"mass": mass}
    for given in ([moments] if diagonal else []) + [inertia]:
        yield {"mass": mass, "inertia": tuple(given.tolist()) if given.ndim == 1 else given}
        yield {"mass": mass, "inertia": given, "center_of_mass": tuple(body.center_of_mass.tolist())}


def _densities(body: Body) -> Iterator[float]:
    """Densities of few digits that may give the mass [kg/m³]."""
    with suppress(RattlebackError):
        volume = float(body.shape.volume())
        if 0.0 < volume < math.inf:
            yield from dict.fromkeys(float(f"{body.mass / volume:.{digits}g}") for digits in range(1, DENSITY_DIGITS))


def _weighs(body: Body, given: dict[str, Any]) -> bool:
    """Whether these options give the mass, the centre of mass and the inertia of a body, digit for digit."""
    with suppress(RattlebackError):
        made = make_body(body.name, body.shape, given)
        return all(same(getattr(made, name), getattr(body, name)) for name in MASS)
    return False


def same(one: Any, other: Any) -> bool:
    """Whether numbers are the same digit for digit, −0.0 and 0.0 apart."""
    return np.asarray(one, np.float64).tobytes() == np.asarray(other, np.float64).tobytes()


def _seen(part: Any) -> Any:
    """What tells one collider from another."""
    return (part.shape, repr((part.position, part.orientation))) if isinstance(part, Placed) else part
