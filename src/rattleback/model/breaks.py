"""Breaks: which joints are broken, since when, what broke them, and what it takes.

    broken after a step in which   |F| > F_max   or   |τ| > τ_max

F, τ mean force and torque of the joint on B in the step, τ about the anchor of B; F_max, τ_max its limits. A broken
joint exerts nothing until it is mended.
"""

from typing import Any

import numpy as np
import warp as wp

from rattleback.core.arrays import field, group
from rattleback.core.precision import numpy_real, real
from rattleback.core.ranges import FLAG, NOT_NEGATIVE
from rattleback.model.worlds.scenes import WorldScenes


@group(axis="joints")
class Breaks:
    """Which joints are broken, and what it takes to break them."""

    broken: wp.int32 = field("1", "1 where it is broken", within=FLAG)
    time: wp.float64 = field("s", "time when it broke; zero where it is whole")
    force: real = field("N", "force it carried when it broke; zero if it was broken by hand", within=NOT_NEGATIVE)
    torque: real = field("N m", "torque it carried when it broke", within=NOT_NEGATIVE)
    force_limit: real = field("N", "force above which it breaks; zero for none", within=NOT_NEGATIVE)
    torque_limit: real = field("N m", "torque above which it breaks; zero for none", within=NOT_NEGATIVE)


# Limits of the state beside the options of a joint that give them.
LIMITS = {"breaking_force": "force_limit", "breaking_torque": "torque_limit"}


def can_break(scene: Any) -> bool:
    """Whether a joint of a scene breaks by itself."""
    return any(getattr(joint, option, None) is not None for joint in scene.joints.values() for option in LIMITS)


def limit_columns(scenes: WorldScenes) -> dict[str, np.ndarray]:
    """The limits of the joints of all worlds, zero where there is none."""
    found = {}
    for option, name in LIMITS.items():
        joints = scenes.listed(lambda scene: scene.joints.values())
        limits = [as_limit(getattr(joint, option, None)) for joint in joints]
        found[name] = scenes.tiled(limits).astype(numpy_real)
    return found


def as_limit(value: float | None) -> float:
    """A limit as the state keeps it; one larger than any number of this precision never takes effect."""
    return 0.0 if value is None else min(value, float(np.finfo(numpy_real).max))
