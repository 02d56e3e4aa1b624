"""Armature and friction of joints: which joints have some, and what cannot hold them.

They act on a coordinate and on no body. Methods with coordinates know them, but only where nothing changes velocities
at once: an impulse on a body would have to turn the drive, too. Methods by impulses hold them as a row that yields,
beside limits and contacts; see ``problem.yielding`` and ``problem.bounded``.
"""

from __future__ import annotations

from typing import Any

from rattleback.core.errors import InputError

# How a scene from a robot file is made without.
OF_FILE = " (Scene.from_file(path, drives=False) does)"


def driven_joints(scene: Any) -> list[tuple[int, str, str]]:
    """Place and name of the joints of a scene with armature or friction, and which of them."""
    made = [(place, *item) for place, item in enumerate(scene.joints.items())]
    fields = ("armature", "friction")
    return [(place, name, what) for place, name, joint in made for what in fields if getattr(joint, what, 0.0) > 0.0]


def check_drives(name: str, model: Any, trees: Any, by_rows: bool) -> None:
    """Refuse armature and friction where a method has no coordinates, or no tree holds their joint.

    Args:
        name: Name of the method of joints.
        model: The model.
        trees: Its trees, with ``found.joints``; None with methods without any.
        by_rows: Whether the method holds them as rows that yield.
    """
    for place, label, what in driven_joints(model.scene):
        if by_rows:
            continue
        if trees is None:
            raise InputError(
                f"Joint {label!r} has {what}; joints={name!r} cannot hold that, use joints='direct', 'iterative' or "
                f"'reduced', or leave it out{OF_FILE}."
            )
        if place not in trees.found.joints:
            raise InputError(
                f"Joint {label!r} has {what} and is no part of a tree, since it closes a loop, may break or is "
                f"broken; joints='reduced' cannot hold that, use joints='direct', or leave the {what} out{OF_FILE}."
            )
