"""The surfaces of bodies on the device: their coefficients, and what holds where two of them touch.

    μ_s = t or R(μ_s,a, μ_s,b)      μ_d = min(μ_s, t or R(μ_d,a, μ_d,b))      e = min(1, t or R(e_a, e_b))

Symbols: μ_s, μ_d static and dynamic friction, e restitution, R a rule, t the entry of the table of pairs, taken where
it is not negative. The arms of rolling and spinning friction go like μ_s, each by its own rule.
"""

from typing import TYPE_CHECKING, Any

import numpy as np
import warp as wp

from rattleback.core import arrays
from rattleback.core.arrays import field, group
from rattleback.core.errors import InputError
from rattleback.core.precision import numpy_real, real, vec3
from rattleback.model.material import Material
from rattleback.model.pairing import RULES, material_kinds
from rattleback.model.worlds.scenes import WorldScenes

if TYPE_CHECKING:
    from rattleback.model.model import Model
    from rattleback.model.scene import Scene

PRODUCT = wp.constant(RULES.index("product"))
SUM = wp.constant(RULES.index("sum"))
MIN = wp.constant(RULES.index("min"))
MAX = wp.constant(RULES.index("max"))

# Above this nothing slides or rolls; the product of two is a finite number in single precision, too.
LARGEST = 1e18
UNSET = -1.0
# The coefficients of a surface, and the fields of a Material and of the table of pairs they come from.
COEFFICIENTS = {
    "static_friction": "static_friction",
    "dynamic_friction": "dynamic_friction",
    "restitution": "restitution",
    "rolling": "rolling_friction",
    "spinning": "spinning_friction",
}


@group(axis="bodies")
class Surfaces:
    """The surface of every body; it changes only where the user gives a body another material."""

    static_friction: real = field("1", "coefficient of a contact that sticks")
    dynamic_friction: real = field("1", "coefficient of a contact that slides")
    restitution: real = field("1", "coefficient of restitution")
    rolling: real = field("m", "arm of the rolling resistance")
    spinning: real = field("m", "arm of the resistance to spinning about the normal")
    velocity: vec3 = field("m/s", "velocity of the surface against the body, in the body's frame")
    kind: wp.int32 = field("1", "row of its material in the table of pairs; -1 where it is in no pair")


@wp.struct
class PairRules:
    """The rules, as places in ``RULES``, and tables of pairs: ``count`` × ``count`` entries each, negative if not set.

    Worlds with other pairs have a table of their own, whose rows follow those of the tables before it.
    """

    friction_rule: wp.int32
    restitution_rule: wp.int32
    rolling_rule: wp.int32
    spinning_rule: wp.int32
    count: wp.int32
    static_friction: wp.array[real]
    dynamic_friction: wp.array[real]
    restitution: wp.array[real]
    rolling: wp.array[real]
    spinning: wp.array[real]


@wp.struct
class Coefficients:
    """What holds where two surfaces touch."""

    static_friction: real
    dynamic_friction: real
    restitution: real
    rolling: real
    spinning: real


@wp.func
def by_rule(rule: int, x: real, y: real) -> real:
    """Two coefficients as one, by the rule of this number."""
    result = real(0.5) * (x + y)
    if rule == PRODUCT:
        result = x * y
    elif rule == SUM:
        result = x + y
    elif rule == MIN:
        result = wp.min(x, y)
    elif rule == MAX:
        result = wp.max(x, y)
    return result


@wp.func
def unless_set(entries: wp.array[real], place: int, ruled: real) -> real:
    """The entry of the table if there is one, else what the rule gave."""
    result = ruled
    if place >= 0:
        entry = entries[place]
        if entry >= real(0.0):
            result = entry
    return result


@wp.func
def combine(surfaces: Surfaces, rules: PairRules, a: int, b: int) -> Coefficients:
    """The coefficients of a contact between the bodies in rows ``a`` and ``b``."""
    place = int(-1)
    if surfaces.kind[a] >= 0 and surfaces.kind[b] >= 0:
        place = surfaces.kind[a] * rules.count + surfaces.kind[b] % rules.count
    static = by_rule(rules.friction_rule, surfaces.static_friction[a], surfaces.static_friction[b])
    dynamic = by_rule(rules.friction_rule, surfaces.dynamic_friction[a], surfaces.dynamic_friction[b])
    restitution = by_rule(rules.restitution_rule, surfaces.restitution[a], surfaces.restitution[b])
    rolling = by_rule(rules.rolling_rule, surfaces.rolling[a], surfaces.rolling[b])
    spinning = by_rule(rules.spinning_rule, surfaces.spinning[a], surfaces.spinning[b])
    result = Coefficients()
    result.static_friction = unless_set(rules.static_friction, place, static)
    result.dynamic_friction = wp.min(unless_set(rules.dynamic_friction, place, dynamic), result.static_friction)
    result.restitution = wp.min(unless_set(rules.restitution, place, restitution), real(1.0))
    result.rolling = unless_set(rules.rolling, place, rolling)
    result.spinning = unless_set(rules.spinning, place, spinning)
    return result


def compile_surfaces(scenes: WorldScenes, device: Any) -> tuple[Surfaces, PairRules, "Kinds"]:
    """The surfaces of the bodies of all worlds, the rules and pairs of their scenes, and the kinds of materials.

    Args:
        scenes: The scenes of all worlds.
        device: Warp device.
    """
    kinds, scene = Kinds(scenes), scenes.first
    surfaces = arrays.allocate(Surfaces, {"bodies": scenes.count * len(scene.bodies)}, device)
    arrays.write(surfaces, surface_arrays(scenes, kinds), f"scene {scene.name!r}")
    return surfaces, _pair_rules(kinds, scene, device), kinds


class Kinds:
    """The rows of materials in the tables of pairs: one table for all worlds with the same pairs.

    Attributes:
        tables: The pairs of every table, with the places of their materials.
        count: Most materials of a table.

    Args:
        scenes: The scenes of all worlds.
    """

    def __init__(self, scenes: WorldScenes) -> None:
        self.tables: list[tuple[dict[Any, Any], dict[Material, int]]] = []
        self._table_of: list[int] = []
        for scene in scenes.scenes:
            number = next((k for k, (pairs, _) in enumerate(self.tables) if pairs == scene.pairs), len(self.tables))
            if number == len(self.tables):
                self.tables.append((scene.pairs, material_kinds(scene)))
            self._table_of.append(number)
        self.count = max(len(places) for _, places in self.tables)

    def of(self, material: Material, world: int) -> int:
        """Row of a material in the table of a world; −1 where it is in no pair."""
        if not self.count:
            return -1
        number = self._table_of[min(world, len(self._table_of) - 1)]
        place = self.tables[number][1].get(material, -1)
        return -1 if place < 0 else number * self.count + place


def surface_arrays(scenes: WorldScenes, kinds: Kinds) -> dict[str, np.ndarray]:
    """What the arrays of the surfaces of all bodies hold."""
    found = scenes.bodies()
    columns = _columns([body.material for body in found.items])
    bad = np.flatnonzero(~np.isfinite(columns["velocity"]).all(axis=1))
    if bad.size:
        raise _out_of_range(found.items[bad[0]].name)
    flat = {name: found.spread(column) for name, column in columns.items()}
    if kinds.count:
        rows = [kinds.of(body.material, w) for w, scene in enumerate(scenes.scenes) for body in scene.bodies]
        flat["kind"] = np.array(rows if scenes.varied else rows * scenes.count, dtype=np.int32)
    return flat


def write_surfaces(model: "Model") -> None:
    """Write what the scenes of a model say of surfaces into the arrays that recorded launches hold."""
    arrays.write(model.surfaces, surface_arrays(model.scenes, model.kinds), f"scene {model.scene.name!r}")


def _columns(materials: list[Material]) -> dict[str, np.ndarray]:
    """The arrays of surfaces of these materials, one row each; velocities out of range come out infinite."""
    columns = {name: _coefficients(getattr(m, source) for m in materials) for name, source in COEFFICIENTS.items()}
    with np.errstate(over="ignore"):
        columns["velocity"] = np.array([m.surface_velocity for m in materials]).astype(numpy_real)
    columns["kind"] = np.full(len(materials), -1, dtype=np.int32)
    return columns


def _coefficients(values: Any) -> np.ndarray:
    return np.minimum(np.fromiter(values, dtype=np.float64), LARGEST).astype(numpy_real)


def _pair_rules(kinds: Kinds, scene: "Scene", device: Any) -> PairRules:
    rules = PairRules()
    for name in ("friction", "restitution", "rolling", "spinning"):
        setattr(rules, f"{name}_rule", RULES.index(getattr(scene.rules, name)))
    rules.count = kinds.count
    for name, source in COEFFICIENTS.items():
        tables = np.full((len(kinds.tables), kinds.count, kinds.count), UNSET)
        for table, (pairs, places) in zip(tables, kinds.tables, strict=True):
            for (first, second), values in pairs.items():
                if (value := getattr(values, source)) is not None:
                    i, j = places[first], places[second]
                    table[i, j] = table[j, i] = value
        setattr(rules, name, wp.array(_coefficients(tables.ravel()), dtype=real, device=device))
    return rules


def _out_of_range(body: str) -> InputError:
    return InputError(f"The surface_velocity of body {body!r} is outside the range of numbers; make it slower.")
