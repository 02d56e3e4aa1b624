"""Pairs of one mechanism whose shapes overlap at the start: they do not collide, and that is told.

Shapes of real files are made for looks: hulls and cylinders of links two joints apart lie inside each other, at every
configuration. As exact contacts they would tear the mechanism apart. Bodies of different mechanisms, and the ground,
keep their contacts however deep they start. ``scene.allow(a, b)`` lets a pair collide all the same.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rattleback.collision.queries.space import Space
from rattleback.io.robots.description import WORLD

if TYPE_CHECKING:
    from rattleback.io.robots.builder.joints import Attached
    from rattleback.io.robots.description import Description
    from rattleback.io.robots.report import Report
    from rattleback.model import Scene

# Overlaps below this part of the way from a body's centre to where they are belong to contacts.
SHALLOW = 1e-3


def part_overlapping(scene: Scene, attached: Attached, report: Report) -> None:
    """Keep bodies of one mechanism from colliding if they overlap where they start.

    Args:
        scene: The scene, its bodies at their start.
        attached: The bodies of the links.
        report: Where it is told.
    """
    if not scene.joints or sum(bool(body.colliders) for body in scene.bodies) < 2:
        return
    home = _mechanisms(attached)
    found = Space(scene).pairs()
    deepest: dict[tuple[str, str], float] = {}
    for (a, b), point, separation in zip(found.bodies, found.point, found.separation.tolist(), strict=True):
        arm = max(float(np.linalg.norm(point - scene[name].position)) for name in (a, b))
        if a in home and home[a] == home.get(b) and -separation > SHALLOW * arm:
            deepest[a, b] = max(deepest.get((a, b), 0.0), -separation)
    for (a, b), depth in deepest.items():
        scene.exclude(a, b)
        told = f"they overlap by {depth:.2g} m at the start and do not collide; scene.allow lets them"
        report.approximate(f"collisions of {a!r} and {b!r}", told)


def _mechanisms(attached: Attached) -> dict[str, str]:
    """A link of the mechanism that each body belongs to; the world holds no mechanisms together."""
    links = _groups(attached.description)
    named = {attached.names[part]: links[part] for part in attached.names if part != WORLD}
    return named | {body: links[link] for link, body in attached.still.items() if link != WORLD}


def _groups(description: Description) -> dict[str, str]:
    """A link that stands for all that joints hold together, by link."""
    group = {name: name for name in (WORLD, *description.links)}

    def top(name: str) -> str:
        while group[name] != name:
            group[name] = group[group[name]]
            name = group[name]
        return name

    for joint in description.joints.values():
        if joint.kind != "free" and WORLD not in (joint.parent, joint.child):
            group[top(joint.child)] = top(joint.parent)
    return {name: top(name) for name in group}
