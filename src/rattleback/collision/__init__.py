"""Collision detection: contacts of a simulation, and queries about shapes that need no simulation.

    rb.collision.distance(rb.Box(1, 1, 1), rb.Placed(rb.Sphere(0.5), position=(0, 0, 2))).distance     # 1.0

Start with ``finder``, the pipeline of one detection. ``detection`` has its options, ``stages`` its place in a step,
``contact_view`` and ``events`` are what users read. The rooms, in the order of the pipeline:

==================  ==================================================================================================
``geometry``        colliders, hulls, surfaces, bounding volume trees, world poses
``broadphase``      pairs of colliders whose bounding volumes overlap
``narrowphase``     gap or penetration, normal and nearest points of two convex solids
``manifold``        contact points: clip, reduce, match, update between detections
``speculative``     contact points before surfaces touch
``ccd``             swept AABBs, conservative advancement, time of impact
``overlap_volume``  the intersection of two solids as a solid
``queries``         distances, rays, shape casts, without dynamics
==================  ==================================================================================================

Names below are imported on first use.
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
