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
    """The rules, as places in ``RULES``, and the table of pairs: ``count`` × ``count`` entries, negative if not set."""

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
        place = surfaces.kind[a] * rules.count + surfaces.kind[b]
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


def compile_surfaces(scene: "Scene", copies: int, device: Any) -> tuple[Surfaces, PairRules]:
    """The surfaces of the bodies of all worlds, and the rules and pairs of a scene.

    Args:
        scene: The scene.
        copies: Number of worlds.
        device: Warp device.
    """
    kinds = material_kinds(scene)
    columns = _columns([body.material for body in scene.bodies], kinds)
    bad = np.flatnonzero(~np.isfinite(columns["velocity"]).all(axis=1))
    if bad.size:
        raise _out_of_range(scene.bodies[bad[0]].name)
    surfaces = arrays.allocate(Surfaces, {"bodies": copies * len(scene.bodies)}, device)
    tiled = {name: np.tile(column, (copies,) + (1,) * (column.ndim - 1)) for name, column in columns.items()}
    arrays.write(surfaces, tiled, f"scene {scene.name!r}")
    return surfaces, _pair_rules(scene, kinds, device)


def write_material(model: "Model", bodies: list[int], material: Material) -> None:
    """Give bodies of every world another material, in the arrays that recorded launches hold.

    Args:
        model: The model.
        bodies: Places of the bodies in their world.
        material: Their new material.
    """
    columns = _columns([material], model.kinds)
    if not np.isfinite(columns["velocity"]).all():
        raise _out_of_range(model.names[bodies[0]])
    rows = model.rows(np.array(bodies, dtype=np.int64)).ravel()
    for name, array in arrays.each(model.surfaces):
        values = np.array(array.numpy())
        values[rows] = columns[name][0]
        array.assign(values)


def _columns(materials: list[Material], kinds: dict[Material, int]) -> dict[str, np.ndarray]:
    """The arrays of surfaces of these materials, one row each; velocities out of range come out infinite."""
    columns = {name: _coefficients(getattr(m, source) for m in materials) for name, source in COEFFICIENTS.items()}
    with np.errstate(over="ignore"):
        columns["velocity"] = np.array([m.surface_velocity for m in materials]).astype(numpy_real)
    columns["kind"] = np.array([kinds.get(m, -1) if kinds else -1 for m in materials], dtype=np.int32)
    return columns


def _coefficients(values: Any) -> np.ndarray:
    return np.minimum(np.fromiter(values, dtype=np.float64), LARGEST).astype(numpy_real)


def _pair_rules(scene: "Scene", kinds: dict[Material, int], device: Any) -> PairRules:
    rules = PairRules()
    for name in ("friction", "restitution", "rolling", "spinning"):
        setattr(rules, f"{name}_rule", RULES.index(getattr(scene.rules, name)))
    rules.count = len(kinds)
    for name, source in COEFFICIENTS.items():
        table = np.full((len(kinds), len(kinds)), UNSET)
        for (first, second), values in scene.pairs.items():
            if (value := getattr(values, source)) is not None:
                i, j = kinds[first], kinds[second]
                table[i, j] = table[j, i] = value
        setattr(rules, name, wp.array(_coefficients(table.ravel()), dtype=real, device=device))
    return rules


def _out_of_range(body: str) -> InputError:
    return InputError(f"The surface_velocity of body {body!r} is outside the range of numbers; make it slower.")
