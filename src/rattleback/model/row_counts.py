"""How many rows the arrays of a state have for a scene, and which of them belong to a servo."""

from __future__ import annotations

from typing import Any

from rattleback.model.coordinates import driven_bodies


def servo_places(scene: Any) -> dict[str, tuple[int, int, int]]:
    """Place, first stretch and number of stretches of every force of a scene that has a memory, in one world."""
    places: dict[str, tuple[int, int, int]] = {}
    first = 0
    for name, force in scene.forces.items():
        if (count := getattr(force, "stretches", None)) is not None:
            places[name] = (len(places), first, count)
            first += count
    return places


def row_counts(scene: Any, worlds: int) -> dict[str, int]:
    """Rows along every axis of a state of a scene, without any contacts."""
    places = servo_places(scene).values()
    each = {"bodies": len(scene.bodies), "joints": len(scene.joints), "servos": len(places)}
    each["stretches"] = sum(count for _, _, count in places)
    counts = {axis: count * worlds for axis, count in each.items()}
    counts["coordinates"] = len(driven_bodies(scene, 1)) * worlds
    return {**counts, "worlds": worlds, "contacts": 0, "rows": 0, "one": 1}
