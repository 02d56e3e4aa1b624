"""How the materials of two bodies that touch become one set of coefficients.

    c = t_ab   where the table of pairs says so, else   c = R(c_a, c_b)

Symbols: c_a and c_b one coefficient of the two materials, c that of the contact, t_ab the entry of the table for the
two, R a rule: the product, the sum, the smaller, the larger or the mean of the two. Restitution is 1 at most and
dynamic friction at most the static one, whatever the rules make of them.
"""

from __future__ import annotations

from dataclasses import astuple, dataclass, fields
from typing import TYPE_CHECKING, Any, TypedDict

from rattleback.core import checks
from rattleback.core.errors import InputError
from rattleback.model.material import Material, check_coefficients

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rattleback.model.scene import Scene

# The rules; their places are the numbers they have on the device.
RULES = ("product", "sum", "min", "max", "mean")
# The table has a place for every two of its materials; so many take 40 MB.
MOST_MATERIALS = 1024
PAIR = "a pair of materials"


@dataclass(frozen=True)
class Rules:
    """The rule for each coefficient, one of ``product``, ``sum``, ``min``, ``max`` and ``mean``.

    Attributes:
        friction: For static and dynamic friction, each by itself.
        restitution: For the coefficient of restitution.
        rolling: For rolling friction.
        spinning: For spinning friction.
    """

    friction: str = "sum"
    restitution: str = "product"
    rolling: str = "sum"
    spinning: str = "sum"

    def __post_init__(self) -> None:
        """Refuse a rule that is not on the menu."""
        for field in fields(self):
            what = f"The rule that combines {field.name}"
            checks.one_of(checks.text(getattr(self, field.name), what), RULES, what)


class PairOptions(TypedDict, total=False):
    """Keyword options of :meth:`Scene.pair`."""

    friction: float | None
    static_friction: float | None
    dynamic_friction: float | None
    restitution: float | None
    rolling_friction: float | None
    spinning_friction: float | None


@dataclass(frozen=True)
class PairValues:
    """What holds between two materials, whatever the rules say; None for what follows the rules.

    Attributes:
        static_friction: Coefficient of a contact that sticks.
        dynamic_friction: Coefficient of a contact that slides.
        restitution: Coefficient of restitution.
        rolling_friction: Arm of the rolling resistance [m].
        spinning_friction: Arm of the resistance to spinning [m].
    """

    static_friction: float | None = None
    dynamic_friction: float | None = None
    restitution: float | None = None
    rolling_friction: float | None = None
    spinning_friction: float | None = None


def make_values(options: Mapping[str, Any]) -> PairValues:
    """What holds between two materials, from the options of ``pair``; ``friction`` stands for both coefficients."""
    checks.options(options, PairOptions.__annotations__, "pair")
    given = {name: value for name, value in options.items() if value is not None}
    if "friction" in given:
        friction = checks.not_negative(given.pop("friction"), f"The friction of {PAIR}")
        given = {"static_friction": friction, "dynamic_friction": friction, **given}
    return PairValues(**check_coefficients(given, PAIR))


def pair_key(first: Material, second: Material) -> tuple[Material, Material]:
    """The two materials in an order that does not depend on which is named first."""
    for place, material in (("first", first), ("second", second)):
        checks.instance(material, Material, f"The {place} of {PAIR}", "rb.Material(friction=0.4)")
    a, b = sorted((first, second), key=astuple)
    return a, b


def material_kinds(scene: Scene) -> dict[Material, int]:
    """The materials of the table of pairs, each with its row in it.

    Raises:
        InputError: The table has more than 1024 materials.
    """
    kinds: dict[Material, int] = {}
    for material in (material for key in scene.pairs for material in key):
        kinds.setdefault(material, len(kinds))
    if len(kinds) > MOST_MATERIALS:
        raise InputError(
            f"Scene {scene.name!r} has pairs of {len(kinds)} materials; it may have {MOST_MATERIALS} at most. Leave "
            "out the pairs that the rules give, too."
        )
    return kinds
