"""Contacts of MJCF: which shapes meet, and how they rub.

Two shapes meet in MuJoCo where (c₁ & a₂) | (c₂ & a₁), c contype and a conaffinity. Each class of bodies, told apart by
their categories, gets a bit of its own as c, and as a the bits of those it meets: the same pairs, whatever the names.

Bodies that a joint holds never collide in MuJoCo, unless one of them is fixed to the world. Where the scene lets such a
pair collide, the filter is switched off and every other pair of the kind is excluded by name.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rattleback.io.robots.description import WORLD
from rattleback.io.robots.writers.classes import EVERYONE, kind_of, meet
from rattleback.io.robots.writers.xml_tree import element

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

    from rattleback.io.robots.description import Geometry, Link
    from rattleback.io.robots.writers.mjcf.model import Model

MOST_CLASSES = 31


class Contacts:
    """The contacts of a model."""

    def __init__(self, model: Model) -> None:
        self.model = model
        description = model.description
        solid = [one for link in description.links.values() for one in link.geometries if one.collides]
        self.classes = list(dict.fromkeys(kind_of(one) for one in solid))
        self.solid = {link.name for link in description.links.values() if any(one.collides for one in link.geometries)}
        held = {frozenset(pair) for pair in self._parents()}
        self.filtered = not any(frozenset(pair) in held for pair in description.allowed)
        if len(self.classes) > MOST_CLASSES:
            model.report.drop("categories", f"MJCF has bits for {MOST_CLASSES} classes of bodies; all meet all")
        elif self.classes != [EVERYONE] and self.classes:
            model.report.keep("categories", "as bits of contype and conaffinity, without their names")

    def _parents(self) -> list[tuple[str, str]]:
        """Pairs that MuJoCo keeps apart because one is inside the other, their nearest moving bodies taken."""
        above = {joint.child: joint for joint in self.model.description.joints.values() if not joint.closes}
        found = []
        for joint in above.values():
            if joint.kind != "fixed" and self._still(joint.parent, above) is False:
                found.append((joint.parent, joint.child))
        return found

    def _still(self, link: str, above: dict[str, Any]) -> bool:
        """Whether a link is fixed to the world."""
        while link != WORLD:
            if link not in above or above[link].kind != "fixed":
                return False
            link = above[link].parent
        return True

    def add_option(self, option: Element) -> None:
        """Switch off the filter of parents where the scene lets some of them collide."""
        if not self.filtered:
            element(option, "flag", filterparent="disable")

    def dress(self, made: Element, geometry: Geometry) -> None:
        """Give a shape its bits and coefficients."""
        kind = kind_of(geometry)
        if len(self.classes) <= MOST_CLASSES and self.classes != [EVERYONE]:
            met = sum(1 << k for k, other in enumerate(self.classes) if meet(kind, other))
            made.set("contype", str(1 << self.classes.index(kind)))
            made.set("conaffinity", str(met))
        surface = geometry.surface
        slide, spin, roll = (
            _of(surface, name) for name in ("dynamic_friction", "spinning_friction", "rolling_friction")
        )
        made.set("friction", f"{slide!r} {spin!r} {roll!r}")
        made.set("condim", str(6 if roll else 4 if spin else 3 if slide else 1))

    def tell_surface(self, link: Link) -> None:
        """Tell what becomes of the material of a link."""
        surface = next((one.surface for one in link.geometries if one.collides), None)
        if surface is None:
            return
        report, where = self.model.report, f"body {link.name!r} material"
        report.keep(f"{where} friction")
        if _of(surface, "restitution"):
            report.drop(f"{where} restitution", "contacts of MuJoCo are springs and dampers, without a coefficient")
        if _of(surface, "static_friction") != _of(surface, "dynamic_friction"):
            report.approximate(f"{where} static friction", "MuJoCo has one coefficient; it is the dynamic one")

    def add_pairs(self) -> None:
        """Add pairs that never collide, and say how coefficients of two bodies combine."""
        description, report = self.model.description, self.model.report
        names, told = self.model.names["body"], set()
        held = {frozenset(pair) for pair in self._parents()}
        allowed = {frozenset(pair) for pair in description.allowed}
        apart = [(a, b) for a, b in description.exclusions if self.filtered or frozenset((a, b)) not in held]
        for joint in description.joints.values():
            pair = joint.parent, joint.child
            inside = frozenset(pair) in held and self.filtered
            if WORLD not in pair and set(pair) <= self.solid and frozenset(pair) not in allowed and not inside:
                apart.append(pair)
        for a, b in apart:
            if frozenset((a, b)) not in told:
                element(self.model.section("contact"), "exclude", body1=names[a], body2=names[b])
            told.add(frozenset((a, b)))
        for a, b in description.exclusions:
            report.keep(f"exclusion {a!r} {b!r}")
        for a, b in description.allowed:
            report.keep(f"allowed {a!r} {b!r}", "no exclude names them, and the filter of parents is off")
        self._tell_rules()

    def _tell_rules(self) -> None:
        for name, rule in self.model.description.combine.items():
            if self.solid and rule != "max" and name != "restitution":
                told = f"MuJoCo takes the larger of two coefficients, the scene their {rule}"
                self.model.report.approximate(f"rule for {name}", told)


def _of(surface: dict[str, Any], name: str) -> float:
    return float(surface.get(name) or 0.0)
