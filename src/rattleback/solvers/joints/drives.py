"""Armature and friction of joints: which joints have some, and what cannot hold them.

They act on a coordinate and on no body. Methods with coordinates know them, but only where nothing changes velocities
at once: an impulse on a body would have to turn the drive, too. Methods by impulses hold them as a row that yields,
beside limits and contacts; see ``problem.yielding`` and ``problem.bounded``.
"""

from __future__ import annotations

from typing import Any

from rattleback.core.errors import InputError
from rattleback.solvers.joints.by_forces import works_by_forces


def driven_joints(scene: Any) -> list[tuple[int, str, str]]:
    """Place and name of the joints of a scene with armature or friction, and which of them."""
    made = [(place, *item) for place, item in enumerate(scene.joints.items())]
    fields = ("armature", "friction")
    return [(place, name, what) for place, name, joint in made for what in fields if getattr(joint, what, 0.0) > 0.0]


def check_drives(name: str, methods: Any, model: Any, trees: Any) -> None:
    """Refuse armature and friction where a method has no coordinates, or where impulses change velocities.

    Args:
        name: Name of the method of joints.
        methods: The settings, with ``resolves``.
        model: The model.
        trees: Its trees, with ``found.joints`` and ``problem``; None with methods without any.
    """
    for place, label, what in driven_joints(model.scene):
        if trees is None and not works_by_forces(methods.joints) and name != "implicit":
            continue
        if trees is None:
            raise InputError(
                f"Joint {label!r} has {what}; joints={name!r} cannot hold that, use joints='reduced', or leave it out."
            )
        if place not in trees.found.joints:
            raise InputError(
                f"Joint {label!r} has {what} and is no part of a tree, since it closes a loop, may break or is "
                f"broken; joints='reduced' cannot hold that, leave the {what} out."
            )
        if trees.problem.row_count:
            other = trees.problem.names[int(trees.problem.counts.argmax())]
            raise InputError(
                f"Joint {label!r} has {what}, and joint {other!r} has limits or conditions that act by impulses; "
                "joints='reduced' cannot hold both, leave out one of them."
            )
        if methods.resolves and model.bodies_can_meet:
            raise InputError(
                f"Joint {label!r} has {what}, which joints='reduced' cannot hold with contacts, as they act by "
                "impulses on bodies that may touch in this scene. contacts='detect' or 'none' works."
            )
