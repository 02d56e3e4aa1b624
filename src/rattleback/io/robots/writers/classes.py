"""Classes of shapes that collide: those with the same categories, which meet the same others."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rattleback.io.robots.description import Geometry

    Kind = tuple[tuple[str, ...], tuple[str, ...] | None]

DEFAULT = "default"
# The class of shapes of which nothing was said.
EVERYONE: Kind = ((DEFAULT,), None)


def kind_of(geometry: Geometry) -> Kind:
    """The categories of a shape, and those it meets."""
    names = tuple(geometry.category.split("\n")) if geometry.category else (DEFAULT,)
    return names, geometry.collides_with


def meet(one: Kind, other: Kind) -> bool:
    """Whether two classes of bodies meet: each admits a category of the other."""
    return all(met is None or bool(set(met) & set(names)) for met, names in ((one[1], other[0]), (other[1], one[0])))
