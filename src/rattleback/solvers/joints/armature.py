"""Armature: which joints have some, and what cannot hold it.

The inertia of a drive adds to a coordinate and to no body, so that only methods with coordinates know it, and only
where nothing changes velocities at once: an impulse on a body would have to turn the drive, too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rattleback.core.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Collection


def joints_with_armature(scene: Any) -> list[tuple[int, str]]:
    """Place and name of the joints of a scene with armature."""
    made = enumerate(scene.joints.items())
    return [(place, name) for place, (name, joint) in made if getattr(joint, "armature", 0.0) > 0.0]


def refuse_armature(scene: Any, method: str) -> None:
    """Refuse armature of any joint.

    Args:
        scene: The scene.
        method: Name of the method that cannot hold it.
    """
    for _, name in joints_with_armature(scene):
        raise InputError(
            f"Joint {name!r} has armature; joints={method!r} cannot hold that, use joints='reduced', or leave it out."
        )


def check_armature(scene: Any, trees: Collection[int], rows: Collection[int], touching: bool) -> None:
    """Refuse armature where impulses change velocities.

    Args:
        scene: The scene.
        trees: Places of the joints that trees hold.
        rows: Places of the joints that have rows beside them: those with limits too.
        touching: Whether contacts push bodies.
    """
    for place, name in joints_with_armature(scene):
        if place not in trees:
            raise InputError(
                f"Joint {name!r} has armature and is no part of a tree, since it closes a loop, may break or is "
                "broken; joints='reduced' cannot hold that, leave the armature out."
            )
        if rows:
            other = list(scene.joints)[min(rows)]
            raise InputError(
                f"Joint {name!r} has armature, and joint {other!r} has limits or conditions that act by impulses; "
                "joints='reduced' cannot hold both, leave out one of them."
            )
        if touching:
            raise InputError(
                f"Joint {name!r} has armature, which joints='reduced' cannot hold with contacts, as they act by "
                "impulses on bodies that may touch in this scene. contacts='detect' or 'none' works."
            )
