"""Narrow phases, by name: distance or depth, normal and nearest points of two convex solids.

| name | what it does |
|---|---|
| ``closed_forms`` (default) | formulas for balls, capsules, boxes and half-spaces; GJK for the rest |
| ``gjk`` | GJK, and EPA where solids overlap, for everything but half-spaces |
| ``vclip`` | walks over the features of polyhedra, balls and capsules among them; GJK for the rest |

All give the same answers. A method is a small frozen object with ``record(program, geometry, items, places, gap,
found)``, which records the launches that write the answers of all items but those that ``found.settled`` marks; its
``cheap`` names the pairs of kinds that are not worth marking, see ``collision.narrowphase.axis_cache``.
"""

from typing import Any

from rattleback.collision.narrowphase.closed_forms.closed_forms import ClosedForms
from rattleback.collision.narrowphase.gjk.gjk import GJK
from rattleback.collision.narrowphase.vclip.vclip import VClip

MENU: dict[str, type[Any]] = {"closed_forms": ClosedForms, "gjk": GJK, "vclip": VClip}
DEFAULT = "closed_forms"
NEEDS = ("record",)

__all__ = ["GJK", "ClosedForms", "VClip"]
