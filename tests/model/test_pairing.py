"""How a scene says what two materials have in common: rules for all, and a table for some."""

import re

import numpy as np
import pytest

import rattleback as rb
from rattleback.core.device import find
from rattleback.model.compile import compile_scene
from rattleback.model.pairing import MOST_MATERIALS, RULES, PairValues, Rules, material_kinds

STEEL, WOOD, RUBBER = rb.Material(0.2, 0.8), rb.Material(0.4, 0.3), rb.Material(1.0, 0.6)


def test_friction_adds_up_and_restitution_multiplies_unless_told_otherwise():
    assert rb.Scene().rules == Rules("sum", "product", "sum", "sum")


@pytest.mark.parametrize("rule", ["product", "sum", "min", "max", "mean"])
def test_every_rule_of_the_menu_is_taken_for_every_coefficient(rule):
    scene = rb.Scene()
    scene.combine(rule, rule, rule, rule)
    assert scene.rules == Rules(rule, rule, rule, rule)
    assert rule in RULES
    assert len(RULES) == 5


def test_a_second_call_chooses_all_rules_anew():
    scene = rb.Scene()
    scene.combine(friction="min")
    scene.combine(rolling="max")
    assert scene.rules == Rules(rolling="max")


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (
            {"friction": "average"},
            "The rule that combines friction is 'average'; it may be 'product', 'sum', 'min', 'max', 'mean'.",
        ),
        (
            {"restitution": "produkt"},
            "The rule that combines restitution is 'produkt'; it may be 'product', 'sum', 'min', 'max', 'mean'. Did "
            "you mean 'product'?",
        ),
        ({"rolling": None}, "The rule that combines rolling is None; it must be a string that is not empty."),
        ({"spinning": np.zeros(2)}, "The rule that combines spinning is array([0., 0.]); it must be a string that is"),
    ],
)
def test_a_rule_that_is_not_on_the_menu_is_refused_and_the_rules_stay(given, message):
    scene = rb.Scene()
    scene.combine(friction="max")
    with pytest.raises(rb.InputError, match=re.escape(message)):
        scene.combine(**given)
    assert scene.rules == Rules(friction="max")


def test_which_material_is_named_first_does_not_matter():
    first, second = rb.Scene(), rb.Scene()
    first.pair(STEEL, WOOD, friction=0.3)
    second.pair(WOOD, STEEL, friction=0.3)
    assert first.pairs == second.pairs
    assert list(first.pairs.values()) == [PairValues(static_friction=0.3, dynamic_friction=0.3)]


def test_a_later_pair_replaces_the_earlier_one_whole():
    scene = rb.Scene()
    scene.pair(STEEL, WOOD, friction=0.3, restitution=0.5)
    scene.pair(STEEL, STEEL, rolling_friction=0.001)
    scene.pair(WOOD, STEEL, spinning_friction=0.01)
    told = {frozenset(key): value for key, value in scene.pairs.items()}
    assert told == {
        frozenset((STEEL, WOOD)): PairValues(spinning_friction=0.01),
        frozenset((STEEL,)): PairValues(rolling_friction=0.001),
    }


def test_a_pair_without_values_follows_the_rules_again():
    scene = rb.Scene()
    scene.pair(STEEL, WOOD)
    assert scene.pairs == {}
    scene.pair(STEEL, WOOD, friction=0.3)
    scene.pair(WOOD, STEEL, friction=None)
    assert scene.pairs == {}


def test_friction_of_a_pair_stands_for_what_is_not_given_by_itself():
    scene = rb.Scene()
    scene.pair(STEEL, WOOD, friction=0.3, static_friction=0.5)
    scene.pair(STEEL, STEEL, dynamic_friction=2)
    assert list(scene.pairs.values()) == [
        PairValues(static_friction=0.5, dynamic_friction=0.3),
        PairValues(dynamic_friction=2.0),
    ]


@pytest.mark.parametrize(
    ("first", "second", "values", "message"),
    [
        ("steel", WOOD, {}, "The first of a pair of materials is 'steel'; it must be a Material, such as rb.Material("),
        (STEEL, None, {}, "The second of a pair of materials is None; it must be a Material, such as rb.Material("),
        (STEEL, WOOD, {"friction": -1}, "The friction of a pair of materials is -1; it must be zero or more."),
        (STEEL, WOOD, {"static_friction": "x"}, "The static_friction of a pair of materials is 'x'; it must be a"),
        (STEEL, WOOD, {"rolling_friction": -0.1}, "The rolling_friction of a pair of materials is -0.1; it must be"),
        (STEEL, WOOD, {"spinning_friction": np.inf}, "The spinning_friction of a pair of materials is inf; it must"),
        (STEEL, WOOD, {"restitution": 1.5}, "The restitution of a pair of materials is 1.5; it must be between 0 and"),
        (
            STEEL,
            WOOD,
            {"friction": 0.3, "static_friction": 0.2},
            "The dynamic_friction of a pair of materials is 0.3, above its static_friction 0.2; a sliding contact "
            "cannot grip more than a sticking one.",
        ),
        (
            STEEL,
            WOOD,
            {"frction": 1},
            "pair has no option 'frction'. Did you mean 'friction'? It takes 'friction', 'static_friction', "
            "'dynamic_friction', 'restitution', 'rolling_friction', 'spinning_friction'.",
        ),
    ],
)
def test_a_pair_that_cannot_be_is_refused_and_the_table_stays(first, second, values, message):
    scene = rb.Scene()
    scene.pair(STEEL, WOOD, friction=0.1)
    before = dict(scene.pairs)
    with pytest.raises(rb.InputError, match=re.escape(message)):
        scene.pair(first, second, **values)
    assert scene.pairs == before


def test_a_copy_has_the_same_rules_and_pairs_and_goes_its_own_way():
    scene = rb.Scene()
    scene.combine(friction="min")
    scene.pair(STEEL, WOOD, friction=0.3)
    twin = scene.copy()
    assert (twin.rules, twin.pairs) == (scene.rules, scene.pairs)
    twin.pair(STEEL, RUBBER, friction=0.7)
    twin.combine()
    assert len(scene.pairs) == 1
    assert scene.rules == Rules(friction="min")


def test_every_material_of_the_table_has_one_row():
    scene = rb.Scene()
    for first, second in ((STEEL, WOOD), (WOOD, RUBBER), (RUBBER, RUBBER)):
        scene.pair(first, second, friction=0.3)
    kinds = material_kinds(scene)
    assert set(kinds) == {STEEL, WOOD, RUBBER}
    assert sorted(kinds.values()) == [0, 1, 2]


def test_a_table_of_too_many_materials_is_refused_when_the_scene_is_compiled():
    scene = rb.Scene(name="museum")
    scene.add_body(rb.Sphere(1))
    for index in range(MOST_MATERIALS):
        scene.pair(rb.Material(0.0), rb.Material(float(index)), friction=0.3)
    compile_scene(scene, None, find("cpu"))
    scene.pair(rb.Material(0.0), rb.Material(1e6), friction=0.3)
    with pytest.raises(
        rb.InputError,
        match=r"Scene 'museum' has pairs of 1025 materials; it may have 1024 at most\. Leave out the pairs that the "
        r"rules give, too\.",
    ):
        compile_scene(scene, None, find("cpu"))
