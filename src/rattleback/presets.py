"""Presets: settings that go together, by name; what is said beside a preset goes before it.

| name | what it buys |
|---|---|
| ``accurate`` | meets its tolerances: eight sub-steps, as many sweeps and corrections as that takes |
| ``balanced`` | what a simulation does unless it is told otherwise |
| ``fast`` | a bounded cost: few sweeps and corrections; bodies at rest sleep, and no warnings |

Every preset says all that any of them says, so that one takes the place of another on a running scene. The length of a
step, the integrator, the joint method and how contacts are found are no part of them. ``fast`` leaves what its few
sweeps leave; the report says how much.

The values were chosen by trials at 1/60 s on few scenes, most of them those of the experiment ``presets``, which shows
what they buy, and of peers' scenes that docs/contact_constants.md has. Eight sweeps are the fewest with which heaps of
cubes that lean on each other came to rest at 1/60 s.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from rattleback.core.errors import UnknownName, did_you_mean, listing
from rattleback.settings import DEFAULT_TOLERANCE, TOLERANCES, Settings
from rattleback.solvers.contacts import BlockGaussSeidel, Impulse

if TYPE_CHECKING:
    from collections.abc import Mapping

# Tolerances of the joints; in single precision nothing below the default can be told apart.
TIGHT = 1e-8 if DEFAULT_TOLERANCE < 1e-4 else DEFAULT_TOLERANCE
LOOSE = max(1e-4, DEFAULT_TOLERANCE)

MENU: dict[str, Settings] = {
    "accurate": {
        "substeps": 8,
        "contacts": Impulse(solver=BlockGaussSeidel(sweeps=1000), exchanges=20),
        "max_iterations": 200,
        "sleep": False,
        "warn": True,
    },
    "balanced": {"substeps": 1, "contacts": Impulse(), "max_iterations": 50, "sleep": False, "warn": True},
    "fast": {
        "substeps": 1,
        "contacts": Impulse(solver=BlockGaussSeidel(sweeps=8), sweeps_between=8, exchanges=1),
        "max_iterations": 4,
        "sleep": True,
        "warn": False,
    },
}
JOINT_TOLERANCE = {"accurate": TIGHT, "balanced": DEFAULT_TOLERANCE, "fast": LOOSE}
# How deep contacts may penetrate and how fast those may be that are to be stopped, where the user does not say: parts
# of the contact distance, and of the speed from which they rebound. A tenth of it is half of what sleep calls slow.
CONTACT_PARTS = {"accurate": (0.1, 0.01), "balanced": (0.25, 0.1), "fast": (0.25, 0.1)}
# The parts of these that steps aim at. What rests is stopped well within its tolerance. Bodies that few sweeps let sink
# are lifted only from beyond it: lifting them at each step would rock a heap for ever.
CONTACT_AIM = {"accurate": (0.4, 0.1), "balanced": (0.4, 0.1), "fast": (1.0, 0.1)}


def with_preset(settings: Mapping[str, object]) -> Settings:
    """Settings, and those of the preset they name for what they leave out.

    Raises:
        UnknownName: There is no such preset.
    """
    if "preset" not in settings:
        return cast("Settings", settings)
    name = settings["preset"]
    if not isinstance(name, str) or name not in MENU:
        names = list(MENU)
        raise UnknownName(f"There is no preset {name!r}.{did_you_mean(name, names)} The menu: {listing(names)}.")
    by_scene = {"penetration_tolerance": None, "contact_velocity_tolerance": None}
    tolerances = dict.fromkeys(TOLERANCES, JOINT_TOLERANCE[name])
    return cast("Settings", {**MENU[name], **tolerances, **by_scene, **settings})
