"""Masses that links without mass borrowed from their neighbours when the scene was made, given back for the file.

A scene needs a mass on everything that moves, and lends one where its file has none. Where the bodies still have what
they got then, the file that is written has what the first one had: links without mass, and the others whole.

In a format where every body has a mass, a link without one can only be the middle of a chain of joints on one body.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rattleback.core.errors import InputError
from rattleback.maths.inertia import check_inertia

if TYPE_CHECKING:
    from rattleback.io.robots.description import Description, Inertia
    from rattleback.io.robots.survey.surveyed import Surveyed

NONE, CHAINS, ANY = "none", "chains", "any"
SAME = 1e-9


def give_back(surveyed: Surveyed, massless: str) -> None:
    """Give masses back, or tell of them.

    Args:
        surveyed: The scene and its description, with its trees.
        massless: Which links without mass the format has: ``NONE``, those in the middle of ``CHAINS``, or ``ANY``.
    """
    masses = surveyed.robot.masses if surveyed.robot else {}
    links = surveyed.description.links
    lent = {name: told for name, told in masses.items() if name in links and _lends(*told)}
    empty = {name for name, (before, _) in lent.items() if before is None}
    if not empty:
        return
    able = massless == ANY or (massless == CHAINS and all(in_chain(surveyed.description, name) for name in empty))
    if able and all(_is(links[name].inertia, after) and _possible(before) for name, (before, after) in lent.items()):
        for name, (before, _) in lent.items():
            links[name].inertia = before
        return
    for name in sorted(empty):
        told = "it has none in the file that the scene was made from; it keeps what it borrowed from its neighbours"
        surveyed.report.approximate(f"body {name!r} mass", told)


def in_chain(description: Description, name: str) -> bool:
    """Whether a link is nothing but the middle between two joints of a tree."""
    touching = [joint for joint in description.joints.values() if name in (joint.parent, joint.child)]
    below = [joint for joint in touching if joint.parent == name and joint.kind != "fixed"]
    above = [joint for joint in touching if joint.child == name and joint.kind not in ("fixed", "free")]
    lying = {site.link for site in description.sites.values()} | {view.link for view in description.cameras.values()}
    lying |= {link for line in description.lines for link in line.links}
    plain = not description.links[name].geometries and name not in lying
    return plain and len(touching) == 2 and len(below) == len(above) == 1 and not any(one.closes for one in touching)


def _lends(before: Inertia | None, after: Inertia) -> bool:
    return before is None or before.mass != after.mass


def _is(own: Inertia | None, told: Inertia) -> bool:
    """Whether a body still has the mass properties that it got."""
    if own is None:
        return False
    size = float(np.abs(told.tensor).max())
    return bool(
        abs(own.mass - told.mass) <= SAME * told.mass
        and np.allclose(own.center, told.center, rtol=0.0, atol=SAME)
        and np.allclose(own.tensor, told.tensor, rtol=0.0, atol=SAME * size)
    )


def _possible(before: Inertia | None) -> bool:
    if before is None:
        return True
    try:
        check_inertia(before.tensor, "the inertia of the file")
    except InputError:
        return False
    return True
