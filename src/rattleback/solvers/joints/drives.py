"""Armature and friction of joints: which joints have some, and what cannot hold them.

They act on a coordinate and on no body, so that only methods with coordinates know them, and only where nothing changes
velocities at once: an impulse on a body would have to turn the drive, too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rattleback.core.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Collection


def driven_joints(scene: Any) -> list[tuple[int, str, str]]:
    """Place and name of the joints of a scene with armature or friction, and which of them."""
    made = [(place, *item) for place, item in enumerate(scene.joints.items())]
    fields = ("armature", "friction")
    return [(place, name, what) for place, name, joint in made for what in fields if getattr(joint, what, 0.0) > 0.0]


def refuse_drives(scene: Any, method: str) -> None:
    """Refuse armature and friction of any joint.

    Args:
        scene: The scene.
        method: Name of the method that cannot hold it.
    """
    for _, name, what in driven_joints(scene):
        raise InputError(
            f"Joint {name!r} has {what}; joints={method!r} cannot hold that, use joints='reduced', or leave it out."
        )


def check_drives(scene: Any, trees: Collection[int], rows: Collection[int], touching: bool) -> None:
    """Refuse armature and friction where impulses change velocities.

    Args:
        scene: The scene.
        trees: Places of the joints that trees hold.
        rows: Places of the joints that have rows beside them: those with limits too.
        touching: Whether contacts push bodies.
    """
    for place, name, what in driven_joints(scene):
        if place not in trees:
            raise InputError(
                f"Joint {name!r} has {what} and is no part of a tree, since it closes a loop, may break or is "
                f"broken; joints='reduced' cannot hold that, leave the {what} out."
            )
        if rows:
            other = list(scene.joints)[min(rows)]
            raise InputError(
                f"Joint {name!r} has {what}, and joint {other!r} has limits or conditions that act by impulses; "
                "joints='reduced' cannot hold both, leave out one of them."
            )
        if touching:
            raise InputError(
                f"Joint {name!r} has {what}, which joints='reduced' cannot hold with contacts, as they act by "
                "impulses on bodies that may touch in this scene. contacts='detect' or 'none' works."
            )
