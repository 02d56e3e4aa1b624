"""The JSON Schema says what a scene file may hold, and says it in the words of the constructors."""

import json
from dataclasses import MISSING, fields

import pytest

import rattleback as rb
from rattleback.io import scene_file
from rattleback.io.joint_schema import JOINTS
from rattleback.io.scene_data import to_data
from rattleback.io.scene_schema import ENTRIES, FORCES, BodyEntry, MaterialEntry
from rattleback.io.shape_schema import SHAPES, PlacedEntry
from rattleback.model.body import BodyOptions

SCHEMA = scene_file.schema()
TYPES = {"object": dict, "array": list, "string": str, "boolean": bool, "number": (int, float), "integer": int}


def resolved(schema):
    return SCHEMA["$defs"][schema["$ref"].rsplit("/", 1)[1]] if "$ref" in schema else schema


def fits(value, schema):
    """Whether a value fits a schema, after the rules of draft 2020-12 for the words used here."""
    schema = resolved(schema)
    if "oneOf" in schema or "anyOf" in schema:
        return sum(fits(value, choice) for choice in schema.get("oneOf", schema.get("anyOf"))) == 1
    if value not in schema.get("enum", [schema.get("const", value)]):
        return False
    kind = schema.get("type")
    if kind == "null" or value is None:
        return value is None and kind == "null"
    if not isinstance(value, TYPES[kind]) or (isinstance(value, bool) and kind != "boolean"):
        return False
    if kind == "object":
        known = schema["properties"]
        whole = set(schema.get("required", ())) <= set(value) <= set(known)
        return whole and all(fits(inner, known[name]) for name, inner in value.items())
    if kind == "array":
        return schema.get("minItems", 0) <= len(value) <= schema.get("maxItems", len(value)) and all(
            fits(entry, schema["items"]) for entry in value
        )
    if kind == "string":
        return len(value) >= schema.get("minLength", 0)
    if kind in ("number", "integer"):
        low, high = schema.get("minimum", value), schema.get("maximum", value)
        return low <= value <= high and value > schema.get("exclusiveMinimum", value - 1)
    return True


def full_scene():
    scene = rb.Scene()
    mesh = rb.Mesh([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]], [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]])
    parts = rb.Compound([rb.Placed(mesh), rb.Placed(rb.Cone(1, 2), (0, 0, 1))])
    for shape in (rb.Sphere(1), rb.Box(1, 2, 3), rb.Capsule(1, 2), rb.Cylinder(1, 2), rb.Ellipsoid(1, 2, 3), parts):
        scene.add_body(shape, group="solid")
    scene.add_body(None, mass=1, inertia=(1, 1, 1))
    scene.add_body(rb.ConvexHull([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]]))
    scene.add_static(rb.HeightField([[0, 1, 2], [3, 4, 5]], 0.5))
    scene.add_static(rb.Plane(), collision=[rb.Plane(), rb.Placed(rb.Sphere(1), (0, 0, 1))], category=["a", "b"])
    scene.add_body(rb.Sphere(1), name="fast", margin=0.1, collides_with=(), continuous=True, collision=None)
    scene.exclude("solid")
    scene.exclude("fast", "solid")
    scene.allow("fast", "box_2")
    belt = rb.Material(rolling_friction=0.01, spinning_friction=0.02, surface_velocity=(1, 0, 0))
    scene.add_static(rb.Box(1, 1, 1), material=belt)
    scene.combine(friction="mean")
    scene.pair(belt, rb.Material(), friction=1, restitution=0.5, rolling_friction=0.1)
    coupled = {
        "screw": {"pitch": -0.1},
        "gear": {"axis_b": None, "ratio": 1.5, "internal": True},
        "rack": {"radius": 2.0},
        "velocity_joint": {"linear": (None, 1, None)},
    }
    for name, kind in rb.joints.MENU.items():
        scene.add_joint(kind("box_2", "capsule_3", **{"at_b": (1, 2, 3), "axis_b": (1, 0, 0), **coupled.get(name, {})}))
    frame = ((1, 2, 3), (0, 0, 0, 1))
    scene.add_joint(rb.Fixed("world", "box_2", frame_a=frame, frame_b=frame))
    scene.add_joint(rb.Ball("world", "sphere_1"))
    for force in (rb.Gravity(), rb.Attraction(), rb.Wrench(until=3, at=(0, 0, 1)), rb.Drag(bodies="solid")):
        scene.add_force(force)
    scene.add_joint(rb.Cylindrical("world", "sphere_1"), "sleeve")
    scene.add_force(rb.Spring("box_2", "world", at=(0, 0, 1), stiffness=2))
    scene.add_force(rb.TorsionSpring("sleeve", stiffness=2))
    scene.add_force(rb.Servo("sleeve", target=rb.Schedule([0, 1], [1, 2]), gain=3, window=2, reset_time=1))
    scene.add_force(rb.Servo("sleeve", target=1, gain=3))
    return scene


def test_the_schema_is_plain_data_of_draft_2020_12():
    assert json.loads(json.dumps(SCHEMA)) == SCHEMA
    assert SCHEMA["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert SCHEMA["title"] == "Scene"
    assert SCHEMA["description"].startswith("A rattleback scene")


def test_a_saved_scene_fits_the_schema():
    assert fits(to_data(full_scene()), SCHEMA)


@pytest.mark.parametrize(
    ("place", "value"),
    [
        (("version",), 2),
        (("gravity",), [0, 0]),
        (("surprise",), 1),
        (("bodies", 0, "mass"), -1),
        (("bodies", 0, "inertia"), [[1, 0, 0]]),
        (("bodies", 0, "shape"), {"kind": "spere", "radius": 1}),
        (("bodies", 0, "shape"), {"kind": "sphere"}),
        (("bodies", 0, "shape"), {"kind": "box", "radius": 1}),
        (("bodies", 0, "shape"), {"kind": "convex_hull", "points": [[0, 0, 0]]}),
        (("bodies", 0, "shape"), {"kind": "height_field", "heights": [[0, 1], [2]], "spacing": [1, 1]}),
        (("bodies", 0, "shape"), {"kind": "height_field", "heights": [[0, 1], [2, 3]], "spacing": [1, 0]}),
        (("joints", 0, "kind"), "bal"),
        (("joints", 0, "a"), None),
        (("joints", 0, "at"), [0, 0]),
        (("joints", 0, "length"), 1),
        (("forces", 0, "kind"), "drog"),
        (("forces", 2, "frame"), "body"),
        (("bodies", 0, "margin"), -1),
        (("bodies", 0, "category"), []),
        (("bodies", 0, "collides_with"), "a"),
        (("bodies", 0, "continuous"), 1),
        (("bodies", 0, "collision"), {"kind": "sphere", "radius": 1}),
        (("bodies", 0, "collision"), [{"kind": "sphere", "radius": 1}]),
        (("bodies", 0, "collision"), [{"shape": {"kind": "sphere", "radius": 1}, "density_ratio": 1}]),
        (("exclusions", 0), []),
        (("exclusions", 0), ["fast", "solid", "box_2"]),
        (("allowed", 0), ["fast"]),
    ],
)
def test_a_faulty_scene_does_not_fit_the_schema(place, value):
    data = node = to_data(full_scene())
    for step in place[:-1]:
        node = node[step]
    node[place[-1]] = value
    assert not fits(data, SCHEMA)


def test_what_a_hand_may_write_fits_the_schema():
    bodies = [
        {"shape": {"kind": "sphere", "radius": 1}, "density": 3, "origin": [0, 0, 1]},
        {"mass": 1, "inertia": [1, 1, 1], "name": None},
    ]
    assert fits({"format": "rattleback-scene", "version": 1, "bodies": bodies}, SCHEMA)


def test_every_table_has_a_title_and_a_description_and_every_field_a_description():
    for table in [SCHEMA, *SCHEMA["$defs"].values()]:
        assert table["title"]
        assert not table["title"].endswith("Entry")
        assert table["description"].endswith((".", ")."))
        for name, field in table["properties"].items():
            assert name == "kind" or field["description"].endswith(".")


def test_every_quantity_has_its_unit():
    bare = {"friction", "restitution", "static_friction", "dynamic_friction", "orientation", "density_ratio", "normal"}
    bare |= {"version", "triangles", "axis", "axis_b", "ratio"}
    for table in [SCHEMA, *SCHEMA["$defs"].values()]:
        for name, field in table["properties"].items():
            if '"number"' in json.dumps(field) and name not in bare:
                assert "[" in field["description"], (table["title"], name)


def defaults(kind):
    return {field.name: field.default for field in fields(kind)}


def plain(value):
    return list(value) if isinstance(value, tuple) else value


@pytest.mark.parametrize(
    ("entry", "kind"),
    [
        *((SHAPES[name], kind) for name, kind in rb.shapes.MENU.items()),
        *((JOINTS[name], kind) for name, kind in rb.joints.MENU.items()),
        *((FORCES[name], kind) for name, kind in rb.forces.MENU.items()),
        (MaterialEntry, rb.Material),
        (PlacedEntry, rb.Placed),
    ],
)
def test_an_entry_has_the_fields_and_defaults_of_its_constructor(entry, kind):
    own = {name: field for name, field in entry.model_fields.items() if name not in ("kind", "name")}
    assert set(own) == {field.name for field in fields(kind)}
    for name, default in defaults(kind).items():
        if own[name].is_required():
            assert default is MISSING or (kind is rb.Mesh and name == "triangles")
        elif own[name].default is not None:
            assert own[name].default == plain(default)


def test_the_menus_of_shapes_joints_and_forces_are_covered():
    assert list(SHAPES) == list(rb.shapes.MENU)
    assert list(JOINTS) == list(rb.joints.MENU)
    assert list(FORCES) == list(rb.forces.MENU)
    for name, entry in {**SHAPES, **JOINTS, **FORCES}.items():
        assert entry.model_fields["kind"].annotation.__args__ == (name,)


def test_no_kind_is_called_what_a_table_or_another_kind_is_called():
    assert len(ENTRIES) == 10 + len(SHAPES) + len(JOINTS) + len(FORCES)


def test_the_schema_lists_every_joint_of_the_menu():
    kinds = [resolved(choice) for choice in SCHEMA["properties"]["joints"]["items"]["oneOf"]]
    assert [kind["properties"]["kind"]["const"] for kind in kinds] == list(rb.joints.MENU)
    assert [kind["title"] for kind in kinds] == [kind.__name__ for kind in rb.joints.MENU.values()]
    for kind in kinds:
        assert kind["required"] == ["kind", "a", "b"]


def test_a_body_takes_the_options_of_add_body():
    assert set(BodyEntry.model_fields) == {*BodyOptions.__annotations__, "shape", "static"}
