"""Materials, rules and pairs of materials go to a scene file and come back; defaults leave no trace in it."""

import json
import math
from dataclasses import asdict

import pytest
from hypothesis import given
from hypothesis import strategies as st

import rattleback as rb
from rattleback.io.scene_data import to_data
from rattleback.io.scene_schema import CombineEntry, MaterialPairEntry
from rattleback.model.pairing import RULES, PairOptions, Rules

BALL = {"kind": "sphere", "radius": 1}
LATER = {"rolling_friction", "spinning_friction", "surface_velocity"}
number = st.floats(0, 3)
speed = st.floats(-9, 9)
material = st.builds(
    lambda d, s, e, r, t, v: rb.Material(0.5, e, d + s, d, r, t, v),
    *(number, number, st.floats(0, 1), number, number, st.tuples(speed, speed, speed)),
)
values = st.fixed_dictionaries(
    {},
    optional={
        "friction": number,
        "restitution": st.floats(0, 1),
        "rolling_friction": number,
        "spinning_friction": number,
    },
) | st.fixed_dictionaries({"static_friction": number})


@st.composite
def scenes(draw):
    scene = rb.Scene()
    materials = draw(st.lists(material, min_size=1, max_size=4))
    for entry in materials:
        scene.add_body(rb.Sphere(1), material=entry)
    scene.combine(*draw(st.tuples(*[st.sampled_from(RULES)] * 4)))
    one = st.sampled_from(materials)
    for first, second, told in draw(st.lists(st.tuples(one, one, values), max_size=4)):
        scene.pair(first, second, **told)
    return scene


def written(folder, scene):
    scene.save(folder / "x.rb.json")
    return (folder / "x.rb.json").read_bytes()


@given(scenes())
def test_materials_rules_and_pairs_come_back_digit_for_digit(tmp_path_factory, scene):
    folder = tmp_path_factory.mktemp("scene")
    first = written(folder, scene)
    again = rb.Scene.load(folder / "x.rb.json")
    assert repr([body.material for body in again.bodies]) == repr([body.material for body in scene.bodies])
    assert again.rules == scene.rules
    assert repr(list(again.pairs.items())) == repr(list(scene.pairs.items()))
    assert written(folder, again) == first


def test_defaults_leave_no_trace_in_the_file():
    scene = rb.Scene()
    scene.add_body(rb.Sphere(1))
    scene.combine()
    scene.pair(rb.Material(), rb.Material(1.0))
    data = to_data(scene)
    assert not {"combine", "pairs"} & set(data)
    assert not LATER & set(data["bodies"][0]["material"])


def test_a_surface_velocity_of_minus_zero_is_kept(tmp_path):
    scene = rb.Scene()
    scene.add_body(rb.Sphere(1), material=rb.Material(surface_velocity=(-0.0, 0, 0)))
    written(tmp_path, scene)
    velocity = rb.Scene.load(tmp_path / "x.rb.json").bodies[0].material.surface_velocity
    assert math.copysign(1.0, velocity[0]) == -1.0


def test_the_tables_of_a_file_have_the_options_and_defaults_of_the_calls():
    assert set(MaterialPairEntry.model_fields) == {"first", "second", *PairOptions.__annotations__}
    assert {name: field.default for name, field in CombineEntry.model_fields.items()} == asdict(Rules())
    for field in CombineEntry.model_fields.values():
        assert field.annotation.__args__ == RULES


def write(path, **fields):
    path.write_text(json.dumps({"format": "rattleback-scene", "version": 1, **fields}), encoding="utf-8")
    return path


def test_a_file_written_by_hand_says_only_what_differs(tmp_path):
    pairs = [
        {"first": {"friction": 0.1}, "second": {}, "friction": 0.3, "restitution": None},
        {"first": {}, "second": {}, "rolling_friction": 0},
    ]
    scene = rb.Scene.load(write(tmp_path / "x.json", combine={"friction": "mean"}, pairs=pairs))
    told = rb.Scene()
    told.combine(friction="mean")
    told.pair(rb.Material(), rb.Material(0.1), friction=0.3)
    told.pair(rb.Material(), rb.Material(), rolling_friction=0)
    assert (scene.rules, scene.pairs) == (told.rules, told.pairs)
    assert rb.Scene.load(write(tmp_path / "x.json", combine=None)).rules == Rules()


@pytest.mark.parametrize(
    ("fields", "fault"),
    [
        ({"combine": []}, "combine: must be a table with named fields; it is a list of 0"),
        (
            {"combine": {"friction": "average"}},
            "combine.friction: must be 'product', 'sum', 'min', 'max' or 'mean'; it is 'average'",
        ),
        (
            {"combine": {"frction": "sum"}},
            "combine.frction: is not a field of this table. Did you mean 'friction'? It takes 'friction', "
            "'restitution', 'rolling', 'spinning'.",
        ),
        ({"pairs": {}}, "pairs: must be a list; it is a table"),
        ({"pairs": None}, "pairs: must be a list; it is null"),
        ({"pairs": [3]}, "pairs[0]: must be a table with named fields; it is 3"),
        ({"pairs": [{"first": {}}]}, "pairs[0].second: is missing"),
        ({"pairs": [{"first": {}, "second": {"friction": -1}}]}, "pairs[0].second.friction: must be zero or more"),
        (
            {"pairs": [{"first": {"fiction": 1}, "second": {}}]},
            "pairs[0].first.fiction: is not a field of this table. Did you mean 'friction'? It takes 'friction', "
            "'restitution', 'static_friction', 'dynamic_friction', 'rolling_friction', 'spinning_friction', "
            "'surface_velocity'.",
        ),
        (
            {"pairs": [{"first": {}, "second": {}, "restitution": 2}]},
            "pairs[0].restitution: must be 1.0 or less; it is 2",
        ),
        (
            {"pairs": [{"first": {}, "second": {}, "mu": 2}]},
            "pairs[0].mu: is not a field of this table. It takes 'first', 'second', 'friction', 'static_friction', "
            "'dynamic_friction', 'restitution', 'rolling_friction', 'spinning_friction'.",
        ),
        (
            {"pairs": [{"first": {}, "second": {}, "friction": 1, "static_friction": 0.5}]},
            "pairs[0]: The dynamic_friction of a pair of materials is 1, above its static_friction 0.5; a sliding",
        ),
        (
            {"pairs": [{"first": {"dynamic_friction": 2}, "second": {}}]},
            "pairs[0]: The dynamic_friction of Material is 2, above its static_friction 0.5;",
        ),
        (
            {"bodies": [{"shape": BALL, "material": {"surface_velocity": [1, 2]}}]},
            "bodies[0].material.surface_velocity: must have 3 entries; it has 2",
        ),
        (
            {"bodies": [{"shape": BALL, "material": {"rolling_friction": -1}}]},
            "bodies[0].material.rolling_friction: must be zero or more; it is -1",
        ),
    ],
)
def test_a_fault_in_how_materials_combine_has_its_path(tmp_path, fields, fault):
    with pytest.raises(rb.FileError) as caught:
        rb.Scene.load(write(tmp_path / "x.json", **fields))
    assert f"has 1 fault:\n  {fault}" in str(caught.value)
