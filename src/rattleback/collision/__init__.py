"""Collision: shapes that meet, as questions of their own and as the contacts of a simulation.

    rb.collision.distance(rb.Box(1, 1, 1), rb.Placed(rb.Sphere(0.5), position=(0, 0, 2))).distance     # 1.0

The names below need no dynamics; each is imported when it is first asked for.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rattleback.collision.overlap_volume.volume import OverlapSolid, overlap_solid
    from rattleback.collision.queries.distance import Separation, closest_points, distance, overlap, penetration
    from rattleback.collision.queries.placement import Poses
    from rattleback.collision.queries.ray import Hits, ray_cast
    from rattleback.collision.queries.space import Space
    from rattleback.collision.queries.sweep import Touch, shape_cast
    from rattleback.collision.queries.vicinity import Vicinity

# Where each public name lives.
_HOME = {
    "rattleback.collision.queries.distance": ("Separation", "closest_points", "distance", "overlap", "penetration"),
    "rattleback.collision.queries.placement": ("Poses",),
    "rattleback.collision.queries.ray": ("Hits", "ray_cast"),
    "rattleback.collision.queries.space": ("Space",),
    "rattleback.collision.queries.sweep": ("Touch", "shape_cast"),
    "rattleback.collision.queries.vicinity": ("Vicinity",),
    "rattleback.collision.overlap_volume.volume": ("OverlapSolid", "overlap_solid"),
}


def __getattr__(name: str) -> Any:
    """Import a public name on first use."""
    home = next((module for module, names in _HOME.items() if name in names), None)
    if home is None:
        raise AttributeError(f"module 'rattleback.collision' has no attribute {name!r}")
    value = getattr(import_module(home), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """The public names, loaded or not."""
    return sorted(__all__)


__all__ = [
    "Hits",
    "OverlapSolid",
    "Poses",
    "Separation",
    "Space",
    "Touch",
    "Vicinity",
    "closest_points",
    "distance",
    "overlap",
    "overlap_solid",
    "penetration",
    "ray_cast",
    "shape_cast",
]
