"""What methods that hold joints by forces cannot do, and say before the first step.

Forces that follow from accelerations have no answer to conditions that begin and end: limits and contacts are
inequalities, and take impulses where they are hit. Each is refused by name, with what works instead.

Reference: Bender, dissertation, §2.1.3 and §3.5 (collisions, contacts and inequalities need a treatment of their own).
"""

from __future__ import annotations

from typing import Any

from rattleback.core.errors import InputError
from rattleback.joints.soft import is_soft
from rattleback.joints.stop import stops_of
from rattleback.model.breaks import LIMITS

INSTEAD = "joints='direct' or 'iterative'"


def works_by_forces(method: object) -> bool:
    """Whether a joint method holds joints by forces: it has a law that says how errors decay."""
    return hasattr(method, "law")


def check_joints(name: str, method: Any, scene: Any) -> None:
    """Refuse joints of a scene that a method by forces cannot hold.

    Args:
        name: Name of the method.
        method: The method.
        scene: The scene.
    """
    for label, joint in scene.joints.items():
        if stops_of(joint):
            raise InputError(
                f"Joint {label!r} has limits, which joints={name!r} cannot hold: a limit is hit and pushes to one side "
                f"only. {INSTEAD} can, or leave the limits out."
            )
        if is_soft(joint):
            raise InputError(
                f"Joint {label!r} is soft, which joints={name!r} cannot do: it holds rows whatever that takes. "
                f"{INSTEAD} can, or leave the stiffness out."
            )
        if any(row.damping > 0.0 for row in joint.rows()):
            raise InputError(
                f"Joint {label!r} yields by its damping, which joints={name!r} cannot do: it keeps rates whatever that "
                f"takes. {INSTEAD} can, or leave the damping out."
            )
        if method.stabilisation == "impulses" and any(getattr(joint, option, None) is not None for option in LIMITS):
            raise InputError(
                f"Joint {label!r} can break, and joints={name!r} with stabilisation='impulses' shares its load between "
                f"forces and impulses, so that neither is compared with what it takes. stabilisation='projection' or "
                f"{INSTEAD} can."
            )


def check_settings(name: str, methods: Any, can_meet: bool) -> None:
    """Refuse settings that a method by forces cannot be combined with.

    Args:
        name: Name of the method.
        methods: The settings, with ``resolves``, ``contact_time`` and ``sleep``.
        can_meet: Whether the scene has bodies that may touch.
    """
    if methods.resolves and can_meet:
        raise InputError(
            f"joints={name!r} holds joints by forces and cannot be combined with contacts, which are impulses between "
            f"bodies that may touch in this scene. contacts='detect' or 'none' works, or {INSTEAD}."
        )
    if methods.contact_time != "off":
        raise InputError(
            f"joints={name!r} takes whole steps, and contact_time={methods.contact_time!r} shortens them. "
            f"contact_time='off' works, or {INSTEAD}."
        )
    if methods.sleep:
        raise InputError(f"joints={name!r} does not let bodies sleep. sleep=False works, or {INSTEAD}.")
