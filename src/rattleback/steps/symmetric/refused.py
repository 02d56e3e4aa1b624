"""What steps of high order cannot do, and say before the first step.

Their order rests on motion that is smooth: what begins and ends within a step, as contacts, limits and breaking joints
do, or remembers the last step, as servos do, would leave an error that no number of runs takes away.

Reference: Hairer, Nørsett, Wanner, Solving Ordinary Differential Equations I, II.6 (discontinuities).
"""

from __future__ import annotations

from itertools import combinations
from typing import Any

from rattleback.core.errors import InputError
from rattleback.joints.soft import is_soft
from rattleback.joints.stop import stops_of
from rattleback.model.breaks import LIMITS
from rattleback.model.filter import category_bits, excluded_pairs

INSTEAD = "step='impulse' works"


def check_scene(name: str, methods: Any, model: Any, forces: Any) -> None:
    """Refuse a scene or a setting that a step of high order cannot be combined with.

    Args:
        name: Name of the step.
        methods: The settings, with ``finds``, ``contact_time`` and ``sleep``.
        model: The model.
        forces: Its forces.
    """
    for label, joint in model.scene.joints.items():
        _check_joint(name, label, joint)
    for label, force in forces.named.items():
        _check_force(name, label, model.scene.forces.get(label), force)
    if methods.finds and (pair := _meeting(model.scene)):
        raise InputError(
            f"Bodies {pair[0]!r} and {pair[1]!r} may touch, and step={name!r} has no contacts, as they begin and end "
            f"within a step. contacts='none' lets them pass through each other, or {INSTEAD}."
        )
    if methods.contact_time != "off":
        raise InputError(
            f"contact_time={methods.contact_time!r} ends steps at contacts, which step={name!r} does not have. "
            f"contact_time='off' works, or {INSTEAD}."
        )
    if methods.sleep:
        raise InputError(f"step={name!r} does not let bodies sleep. sleep=False works, or {INSTEAD}.")


def _check_force(name: str, label: str, force: Any, compiled: Any) -> None:
    """Refuse a force that remembers the last step, or that is found with those of the joints."""
    if hasattr(force, "drive_rows"):
        raise InputError(
            f"Force {label!r} is inside the constraint solve, where step={name!r} has no rows that yield. {INSTEAD}, "
            "or take a force outside, such as a TorsionSpring."
        )
    if hasattr(compiled, "record_end"):
        raise InputError(
            f"Force {label!r} remembers the last step, so that step={name!r} cannot take a step in several runs. "
            f"{INSTEAD}, or leave it out."
        )


def _check_joint(name: str, label: str, joint: Any) -> None:
    """Refuse a joint whose motion is not smooth, or that needs a method of its own."""
    if stops_of(joint):
        raise InputError(
            f"Joint {label!r} has limits, which step={name!r} cannot hold: they are hit within a step. {INSTEAD}, or "
            "leave the limits out."
        )
    if is_soft(joint):
        raise InputError(
            f"Joint {label!r} is soft, and step={name!r} holds all rows of a joint. {INSTEAD}, or leave the "
            "stiffness out."
        )
    if any(row.damping > 0.0 for row in joint.rows()):
        raise InputError(
            f"Joint {label!r} yields by its damping, which step={name!r} cannot do. {INSTEAD}, or leave it out."
        )
    if any(getattr(joint, option, None) is not None for option in LIMITS):
        raise InputError(
            f"Joint {label!r} can break, and then its motion is not smooth, as step={name!r} needs it. {INSTEAD}, or "
            "leave the breaking force and torque out."
        )
    for what in ("armature", "friction"):
        if getattr(joint, what, 0.0) > 0.0:
            raise InputError(
                f"Joint {label!r} has {what}, which step={name!r} cannot hold. {INSTEAD} with joints='reduced', or "
                f"leave the {what} out."
            )


def _meeting(scene: Any) -> tuple[str, str] | None:
    """Two bodies of a scene that may touch; None where no two may."""
    solid = [i for i, body in enumerate(scene.bodies) if body.colliders]
    if len(solid) < 2:
        return None
    never, (category, mask) = excluded_pairs(scene), category_bits(scene)
    for i, j in combinations(solid, 2):
        a, b = scene.bodies[i], scene.bodies[j]
        if a.static and b.static:
            continue
        if category[i] & mask[j] and category[j] & mask[i] and (i, j) not in never:
            return a.name, b.name
    return None
