"""Spatial tendons of MJCF that are straight, between two sites: springs and rods.

| MJCF | becomes |
|---|---|
| stiffness and damping of a tendon of two sites | a spring between two points |
| an equality that holds its length | a joint that keeps the distance |

The length without load is one number; a tendon that is slack between two lengths is no spring here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rattleback.io.robots.description import Joint, Line
from rattleback.io.robots.source.placing import shift

if TYPE_CHECKING:
    from rattleback.io.robots.formats.mjcf import Described
    from rattleback.io.robots.report import Report

SITE, TENDON = 3, 3


def add_tendons(described: Described, report: Report) -> None:
    """Add springs, and joints that keep a distance."""
    model = described.model
    held = _add_rods(described, report)
    for t in range(model.ntendon):
        ends, name = _ends(described, t), described.name("tendon", t)
        if ends is None:
            continue
        where = f"tendon {name!r}"
        stiffness, damping = _number(model.tendon_stiffness[t]), _number(model.tendon_damping[t])
        low, high = (float(part) for part in model.tendon_lengthspring[t])
        if (stiffness or damping) and low == high:
            links, points = ends
            described.description.lines.append(Line(name, links, points, stiffness, damping, low))
        elif stiffness or damping:
            report.drop(f"{where} stiffness", f"it is slack between {low:g} m and {high:g} m")
        elif t not in held:
            report.drop(where, "it has neither stiffness nor a length that is held")
        if model.tendon_limited[t]:
            report.drop(f"{where} range", "a spring between two points has no limits")


def _number(value: Any) -> float:
    """A number, or the first of a polynomial."""
    return float(np.ravel(value)[0])


def _add_rods(described: Described, report: Report) -> set[int]:
    """Add joints that keep the length of a tendon; the tendons."""
    model, description = described.model, described.description
    held = set()
    for k in range(model.neq):
        t = int(model.eq_obj1id[k])
        if int(model.eq_type[k]) != TENDON or not model.eq_active0[k]:
            continue
        ends, name = _ends(described, t), described.name("eq", k, description.joints)
        length = float(model.tendon_length0[t] + model.eq_data[k][0])
        if ends is None or int(model.eq_obj2id[k]) >= 0 or length <= 0.0:
            report.drop(f"equality {name!r}", "only the length of a straight tendon can be held")
            continue
        (first, second), (point, other) = ends
        rod = Joint(name, "distance", first, second, shift(*point), shift(*other), f"equality {name!r}", closes=True)
        rod.length = length
        description.joints[name] = rod
        held.add(t)
    return held


def _ends(described: Described, t: int) -> Any:
    """Links and points of a tendon of two sites; None of another."""
    model, first = described.model, int(described.model.tendon_adr[t])
    wraps = range(first, first + int(model.tendon_num[t]))
    if len(wraps) != 2 or any(int(model.wrap_type[wrap]) != SITE for wrap in wraps):
        return None
    sites = [int(model.wrap_objid[wrap]) for wrap in wraps]
    links = tuple(described.links[int(model.site_bodyid[site])] for site in sites)
    return links, tuple(model.site_pos[site].copy() for site in sites)
