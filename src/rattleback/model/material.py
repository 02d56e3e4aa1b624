"""Materials: the surface properties of a body, used where bodies touch."""

from __future__ import annotations

from dataclasses import dataclass

from rattleback.core import checks
from rattleback.core.errors import InputError


@dataclass(frozen=True)
class Material:
    """Surface properties of a body.

    Args:
        friction: Coefficient of friction, static and dynamic alike.
        restitution: Coefficient of restitution, 0 (plastic) to 1 (elastic).
        static_friction: Coefficient of a contact that sticks, where it differs from ``friction``.
        dynamic_friction: Coefficient of a contact that slides; at most the static one.
    """

    friction: float = 0.5
    restitution: float = 0.0
    static_friction: float | None = None
    dynamic_friction: float | None = None

    def __post_init__(self) -> None:
        """Check every coefficient and fill the two that follow ``friction``."""
        friction = checks.not_negative(self.friction, "The friction of Material")
        static = friction if self.static_friction is None else self.static_friction
        dynamic = friction if self.dynamic_friction is None else self.dynamic_friction
        values = {
            "friction": friction,
            "static_friction": checks.not_negative(static, "The static_friction of Material"),
            "dynamic_friction": checks.not_negative(dynamic, "The dynamic_friction of Material"),
            "restitution": checks.not_negative(self.restitution, "The restitution of Material"),
        }
        if values["restitution"] > 1.0:
            raise InputError(f"The restitution of Material is {self.restitution!r}; it must be between 0 and 1.")
        if values["dynamic_friction"] > values["static_friction"]:
            raise InputError(
                f"The dynamic_friction of Material is {values['dynamic_friction']:g}, above its static_friction "
                f"{values['static_friction']:g}; a sliding contact cannot grip more than a sticking one."
            )
        for name, value in values.items():
            object.__setattr__(self, name, value)
