"""Materials: the surface properties of a body, used where bodies touch."""

from __future__ import annotations

from dataclasses import dataclass

from rattleback.core import checks
from rattleback.core.errors import InputError
from rattleback.core.sealed import sealed


@sealed
@dataclass(frozen=True)
class Material:
    """Surface properties of a body. Materials with equal numbers are one material.

    Where two bodies touch, their properties are combined by the rules of the scene, see ``Scene.combine`` and
    ``Scene.pair``.

    Args:
        friction: Coefficient of friction, static and dynamic alike.
        restitution: Coefficient of restitution, 0 (plastic) to 1 (elastic).
        static_friction: Coefficient of a contact that sticks, where it differs from ``friction``.
        dynamic_friction: Coefficient of a contact that slides; at most the static one.
        rolling_friction: Arm of the rolling resistance [m]: the couple that slows rolling is at most this times the
            normal force.
        spinning_friction: Arm of the resistance to spinning about the contact normal [m].
        surface_velocity: Velocity of the surface against the body, in the body's frame (3,) [m/s]; that of the belt
            of a conveyor.
    """

    friction: float = 0.5
    restitution: float = 0.0
    static_friction: float | None = None
    dynamic_friction: float | None = None
    rolling_friction: float = 0.0
    spinning_friction: float = 0.0
    surface_velocity: tuple[float, float, float] = (0.0, 0.0, 0.0)

    def __post_init__(self) -> None:
        """Check every property and fill the two coefficients that follow ``friction``."""
        velocity = checks.vector(self.surface_velocity, "The surface_velocity of Material")
        object.__setattr__(self, "surface_velocity", tuple(velocity.tolist()))
        friction = checks.not_negative(self.friction, "The friction of Material")
        given = {
            "friction": friction,
            "static_friction": friction if self.static_friction is None else self.static_friction,
            "dynamic_friction": friction if self.dynamic_friction is None else self.dynamic_friction,
            "restitution": self.restitution,
            "rolling_friction": self.rolling_friction,
            "spinning_friction": self.spinning_friction,
        }
        for name, value in check_coefficients(given, "Material").items():
            object.__setattr__(self, name, value)


def check_coefficients(given: dict[str, float], what: str) -> dict[str, float]:
    """Coefficients as floats, each possible by itself and beside the others.

    Args:
        given: Any of the scalar fields of a Material.
        what: Name of their owner, for messages.
    """
    values = {name: checks.not_negative(value, f"The {name} of {what}") for name, value in given.items()}
    if values.get("restitution", 0.0) > 1.0:
        raise InputError(f"The restitution of {what} is {given['restitution']!r}; it must be between 0 and 1.")
    if {"static_friction", "dynamic_friction"} <= values.keys():
        static, dynamic = values["static_friction"], values["dynamic_friction"]
        if dynamic > static:
            raise InputError(
                f"The dynamic_friction of {what} is {dynamic:g}, above its static_friction {static:g}; a sliding "
                "contact cannot grip more than a sticking one."
            )
    return values
