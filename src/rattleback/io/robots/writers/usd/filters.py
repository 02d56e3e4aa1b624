"""Filters of collisions in USD: pairs that never collide, and groups for classes of bodies that do not meet."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rattleback.io.robots.writers.classes import EVERYONE, kind_of, meet
from rattleback.io.robots.writers.usd.joints import tell_actuators

if TYPE_CHECKING:
    from rattleback.io.robots.writers.classes import Kind
    from rattleback.io.robots.writers.usd.stage import Stage


def add_filters(stage: Stage) -> None:
    """Add pairs and groups."""
    for a, b in stage.description.exclusions:
        prim = stage.stage.GetPrimAtPath(stage.path(a))
        stage.physics.FilteredPairsAPI.Apply(prim).CreateFilteredPairsRel().AddTarget(stage.path(b))
        stage.report.keep(f"exclusion {a!r} {b!r}")
    for a, b in stage.description.allowed:
        stage.report.keep(f"allowed {a!r} {b!r}", "the joint between them lets them collide")
    _add_groups(stage)
    tell_actuators(stage)


def _add_groups(stage: Stage) -> None:
    members: dict[Kind, list[str]] = {}
    for link in stage.description.links.values():
        for kind in dict.fromkeys(kind_of(one) for one in link.geometries if one.collides):
            members.setdefault(kind, []).append(stage.path(link.name))
    if set(members) <= {EVERYONE}:
        return
    made = {
        kind: stage.define(stage.physics.CollisionGroup, stage.root, f"group_{k}") for k, kind in enumerate(members)
    }
    for kind, prim in made.items():
        group = stage.physics.CollisionGroup(prim)
        for path in members[kind]:
            group.GetCollidersCollectionAPI().CreateIncludesRel().AddTarget(path)
        for other, target in made.items():
            if not meet(kind, other):
                group.CreateFilteredGroupsRel().AddTarget(target.GetPath())
    stage.report.keep("categories", "as collision groups, without their names")
