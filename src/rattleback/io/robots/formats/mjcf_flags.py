"""Flags of MJCF that switch physics off: the compiled model as if what is switched off were not in it.

| flag | what goes |
|---|---|
| ``gravity``, ``spring``, ``damper``, ``frictionloss``, ``limit``, ``contact``, ``equality`` | the thing itself |
| ``constraint`` | contacts, limits, equalities and friction loss |

Flags of methods, such as ``warmstart``, are dropped: methods are chosen with the simulation.
"""

from __future__ import annotations

from typing import Any

# Bit of each flag in the options of the compiled model.
BITS = {
    "equality": 2,
    "frictionloss": 4,
    "limit": 8,
    "contact": 16,
    "spring": 32,
    "damper": 64,
    "gravity": 128,
}
CONSTRAINT = 1
OF_CONSTRAINTS = ("equality", "frictionloss", "limit", "contact")
# Flags that are kept, whatever they say.
KEPT = (*BITS, "constraint", "filterparent")
# What is zero where a flag is off.
ARRAYS = {
    "equality": ("eq_active0",),
    "frictionloss": ("dof_frictionloss",),
    "limit": ("jnt_limited",),
    "contact": ("geom_contype", "geom_conaffinity"),
    "spring": ("jnt_stiffness",),
    "damper": ("dof_damping",),
}


def switch_off(model: Any) -> None:
    """Take out of a compiled model what its flags disable."""
    flags = int(model.opt.disableflags)
    off = [name for name, bit in BITS.items() if flags & bit or (flags & CONSTRAINT and name in OF_CONSTRAINTS)]
    for name in off:
        for array in ARRAYS.get(name, ()):
            getattr(model, array)[...] = 0
    if "gravity" in off:
        model.opt.gravity[:] = 0.0


def contacts_are_off(model: Any) -> bool:
    """Whether no pair of shapes meets, not even those that are listed one by one."""
    return bool(int(model.opt.disableflags) & (BITS["contact"] | CONSTRAINT))
