"""Every fault of a scene file is a sentence with its path inside the file, all of them in one FileError."""

import json
from pathlib import Path

import pytest

import rattleback as rb

BALL = {"kind": "sphere", "radius": 1}
SHAPES = (
    "'sphere', 'box', 'capsule', 'cylinder', 'cone', 'ellipsoid', 'plane', 'mesh', 'compound', 'convex_hull', "
    "'height_field'"
)
BODY = (
    "'name', 'static', 'shape', 'mass', 'density', 'center_of_mass', 'inertia', 'position', 'origin', 'orientation', "
    "'velocity', 'angular_velocity', 'material', 'group', 'collision', 'margin', 'category', 'collides_with', "
    "'continuous'"
)


def told(path, content):
    """What a FileError says about a file with this text, these bytes or these data."""
    if isinstance(content, dict):
        content = json.dumps({"format": "rattleback-scene", "version": 1, **content})
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(rb.FileError) as caught:
        rb.Scene.load(path)
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__ or caught.value.__context__ is None
    return str(caught.value).replace(str(path), "x")


def faults(path, content):
    """The faults of a file, line by line."""
    head, *lines = told(path, content).split("\n  ")
    assert head == f"The scene file 'x' has {len(lines)} fault{'s' if len(lines) > 1 else ''}:"
    return lines


@pytest.fixture
def path(tmp_path):
    return tmp_path / "x.rb.json"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "is not JSON: expecting value at line 1, column 1."),
        ('{"format":\n  3,,}', "is not JSON: expecting property name enclosed in double quotes at line 2, column 5."),
        ('{"name": "open', "is not JSON: unterminated string starting at line 1, column 10."),
        ("{} {}", "is not JSON: extra data at line 1, column 4."),
        (b'{"name": "\xe4"}', "is not UTF-8 text: byte 10 is 0xe4."),
        ("{}".encode("utf-16"), "is not UTF-8 text: byte 0 is 0xff."),
        ("[" * 100_000, "is nested too deeply."),
        ('{"a":' * 100_000, "is nested too deeply."),
        ("PK\3\4", "is not text; a state file is read with rb.load(path)."),
        ("[]", 'is not a rattleback-scene file: it has no "format": "rattleback-scene".'),
        ("3", 'is not a rattleback-scene file: it has no "format": "rattleback-scene".'),
        ('{"format": "gltf"}', 'is not a rattleback-scene file: it has no "format": "rattleback-scene".'),
        ({"version": 7}, "is version 7; this rattleback reads version 1."),
        ({"version": 1.5}, "is version 1.5; this rattleback reads version 1."),
        ({"version": "one"}, "has no version number; this rattleback reads version 1."),
        ({"version": True}, "has no version number; this rattleback reads version 1."),
        ('{"format": "rattleback-scene"}', "has no version number; this rattleback reads version 1."),
    ],
)
def test_a_file_that_is_no_scene_is_a_sentence(path, content, message):
    assert told(path, content) == f"The scene file 'x' {message}"


@pytest.mark.parametrize(
    ("content", "fault"),
    [
        ({"gravity": [0, 0]}, "gravity: must have 3 entries; it has 2"),
        ({"gravity": 9.81}, "gravity: must be a list; it is 9.81"),
        ({"gravity": [0, 0, "down"]}, "gravity[2]: must be a number; it is 'down'"),
        ({"name": ""}, "name: must not be empty; it is ''"),
        ({"name": 3}, "name: must be text; it is 3"),
        ({"name": "\ud800"}, "name: must be text in Unicode, without halves of characters; it is '\\ud800'"),
        ({"bodies": {}}, "bodies: must be a list; it is a table"),
        ({"forces": None}, "forces: must be a list; it is null"),
        (
            {"boddies": []},
            "boddies: is not a field of this table. Did you mean 'bodies'? It takes 'format', 'version', 'name', "
            "'gravity', 'bodies', 'joints', 'forces', 'exclusions', 'allowed', 'combine', 'pairs'.",
        ),
    ],
)
def test_a_fault_of_the_scene_has_its_path(path, content, fault):
    assert faults(path, content) == [fault]


@pytest.mark.parametrize(
    ("body", "fault"),
    [
        ([], ": must be a table with named fields; it is a list of 0"),
        ({"shape": BALL, "mass": 0}, ".mass: must be greater than zero; it is 0"),
        ({"shape": BALL, "mass": True}, ".mass: must be a number; it is true"),
        ({"shape": BALL, "mass": "1"}, ".mass: must be a number; it is '1'"),
        ({"shape": BALL, "mass": float("nan")}, ".mass: must be finite; it is NaN"),
        ({"shape": BALL, "mass": float("-inf")}, ".mass: must be finite; it is -Infinity"),
        ({"shape": BALL, "mass": 10**400}, ".mass: must be finite; it is Infinity"),
        ({"shape": BALL, "static": 1}, ".static: must be true or false; it is 1"),
        ({"shape": BALL, "maas": 1}, f".maas: is not a field of this table. Did you mean 'mass'? It takes {BODY}."),
        ({"shape": BALL, "No such\n": 1}, f"['No such\\n']: is not a field of this table. It takes {BODY}."),
        ({"shape": {"kind": "sphere"}}, ".shape.radius: is missing"),
        ({"shape": {"radius": 1}}, ".shape.kind: is missing"),
        (
            {"shape": {"kind": "spere"}},
            f".shape.kind: is 'spere', which does not exist. Did you mean 'sphere'? The menu: {SHAPES}.",
        ),
        ({"shape": {"kind": [1]}}, f".shape.kind: is a list of 1, which does not exist. The menu: {SHAPES}."),
        ({"shape": "sphere"}, ".shape: must be a table with named fields; it is 'sphere'"),
        (
            {"shape": {"kind": "box", "x": 1, "y": 1, "z": 1, "zz": 1}},
            ".shape.zz: is not a field of this table. Did you mean 'z'? It takes 'kind', 'x', 'y', 'z'.",
        ),
        (
            {"shape": {"kind": "compound", "parts": [{"shape": BALL}, {"shape": {"kind": "box", "x": 1, "y": 1}}]}},
            ".shape.parts[1].shape.z: is missing",
        ),
        ({"shape": {"kind": "compound", "parts": []}}, ".shape.parts: must not be empty"),
        (
            {"shape": {"kind": "mesh", "vertices": [[0, 0, 0]], "triangles": [[0, 1, 2.5]]}},
            ".shape.triangles[0][2]: must be a whole number; it is 2.5",
        ),
        (
            {"shape": {"kind": "mesh", "vertices": [[0, 0, 0]], "triangles": [[0, 1, 2]]}},
            ".shape: Triangle 0 of Mesh is [0, 1, 2]",
        ),
        (
            {"shape": {"kind": "convex_hull", "points": [[0, 0, 0]] * 5}},
            ".shape: The 5 points of ConvexHull lie in one plane",
        ),
        (
            {"static": True, "shape": {"kind": "height_field", "heights": [[0, 1], [2, 3, 4]], "spacing": [1, 1]}},
            ".shape: The array of heights of HeightField is",
        ),
        (
            {"shape": {"kind": "capsule", "radius": 1, "length": 1}},
            ".shape: The length of Capsule is 1.0 and its radius 1.0",
        ),
        (
            {"shape": BALL, "orientation": [0, 0, 0, 2]},
            ".orientation: it is [0.0, 0.0, 0.0, 2.0], a quaternion (x, y, z, w) of length 2; it must have length 1.",
        ),
        ({"shape": BALL, "material": {"restitution": 2}}, ".material.restitution: must be 1.0 or less; it is 2"),
        ({"shape": BALL, "material": {"friction": -1}}, ".material.friction: must be zero or more; it is -1"),
        (
            {"shape": BALL, "material": {"friction": 1, "dynamic_friction": 2}},
            ".material: The dynamic_friction of Material is 2",
        ),
        (
            {"name": "a", "mass": 1, "inertia": [1, 1, 5]},
            ": The inertia of body 'a' has the principal moments 1, 1, 5 kg m²",
        ),
        ({"mass": 1, "inertia": [[1, 0, 0], [0, 1], [0, 0, 1]]}, ".inertia[1]: must have 3 entries; it has 2"),
        ({"mass": 1, "inertia": [1, "2", 1]}, ".inertia[1]: must be a number; it is '2'"),
        (
            {"name": "a", "shape": BALL, "mass": 1, "density": 1},
            ": The body 'a' has both mass= and density=",
        ),
        (
            {"name": "g", "shape": {"kind": "plane"}, "static": True, "mass": 1},
            ": add_static for static body 'g' has no option 'mass'",
        ),
        (
            {"name": "world", "shape": BALL},
            ": The scene already uses the name 'world'",
        ),
    ],
)
def test_a_fault_of_a_body_has_its_path(path, body, fault):
    (line,) = faults(path, {"bodies": [{"name": "first", "shape": BALL}, body]})
    assert line.startswith(f"bodies[1]{fault}")


@pytest.mark.parametrize(
    ("force", "fault"),
    [
        ("drag", ": must be a table with named fields; it is 'drag'"),
        ({"linear": 1}, ".kind: is missing"),
        (
            {"kind": "drog"},
            ".kind: is 'drog', which does not exist. Did you mean 'drag'? The menu: 'gravity', 'attraction', 'wrench', "
            "'drag', 'spring', 'torsion_spring', 'servo', 'implicit_spring', 'implicit_pd', 'implicit_hand'.",
        ),
        ({"kind": "drag", "linear": -1}, ".linear: must be zero or more; it is -1"),
        ({"kind": "wrench", "frame": "body"}, ".frame: must be 'world' or 'local'; it is 'body'"),
        ({"kind": "wrench", "start": 2, "until": 1}, ": The Wrench ends at 1 s"),
        ({"kind": "drag", "bodies": "ball"}, ".bodies: must be a list; it is 'ball'"),
        ({"kind": "drag", "bodies": []}, ".bodies: must not be empty"),
        (
            {"kind": "drag", "name": "air", "bodies": ["bal"]},
            ": Force 'air' acts on 'bal', which is not in the scene",
        ),
        (
            {"kind": "gravity", "linear": 1},
            ".linear: is not a field of this table. It takes 'name', 'bodies', 'kind', 'acceleration'.",
        ),
        ({"kind": "drag", "name": "wind"}, ": The scene already has a force named 'wind'"),
    ],
)
def test_a_fault_of_a_force_has_its_path(path, force, fault):
    content = {"bodies": [{"name": "ball", "shape": BALL}], "forces": [{"kind": "drag", "name": "wind"}, force]}
    (line,) = faults(path, content)
    assert line.startswith(f"forces[1]{fault}")


def test_a_name_used_twice_is_found_beside_other_faults(path):
    content = {"bodies": [{"name": "a", "shape": BALL}, {"name": "a", "shape": BALL, "mass": -1}]}
    assert faults(path, content) == [
        "bodies[1].name: is 'a', which another body has; every name is used once",
        "bodies[1].mass: must be greater than zero; it is -1",
    ]


def test_a_field_given_twice_is_found_at_any_depth(path):
    text = """{"format": "rattleback-scene", "version": 1, "name": "a", "name": "b",
        "bodies": [{"shape": {"kind": "sphere", "radius": 1, "radius": 2}}]}"""
    assert faults(path, text) == ["name: is given twice; keep one", "bodies[0].shape.radius: is given twice; keep one"]


def test_a_faulty_body_does_not_make_the_forces_on_it_faulty(path):
    content = {
        "bodies": [{"name": "a", "group": "g", "shape": BALL, "mass": -1}, {"name": "b", "shape": BALL}],
        "forces": [{"kind": "drag", "bodies": ["a"]}, {"kind": "drag", "bodies": ["g", "b"]}],
    }
    assert faults(path, content) == ["bodies[0].mass: must be greater than zero; it is -1"]


def test_all_faults_are_told_at_once_and_the_ones_past_ten_counted(path):
    bodies = [{"shape": BALL, "mass": -number} for number in range(13)]
    content = {"gravity": [], "bodies": bodies, "forces": [{"kind": "drag", "bodies": ["nobody"]}]}
    lines = told(path, content).split("\n  ")
    assert lines[0] == "The scene file 'x' has 15 faults:"
    assert lines[1] == "gravity: must have 3 entries; it has 0"
    assert lines[2] == "bodies[0].mass: must be greater than zero; it is 0"
    assert lines[-2] == "bodies[8].mass: must be greater than zero; it is -8"
    assert lines[-1] == "and 5 more"


def test_shapes_nested_too_deeply_are_a_fault(path):
    shape = BALL
    for _ in range(290):
        shape = {"kind": "compound", "parts": [{"shape": shape}]}
    assert "nested too deeply" in told(path, {"bodies": [{"static": True, "shape": shape}]})


def test_a_missing_file_and_a_folder_are_told_apart(path):
    with pytest.raises(rb.FileError, match=r"cannot be read: there is no such file\.$"):
        rb.Scene.load(path)
    with pytest.raises(rb.FileError, match=r"cannot be read: it is a folder\.$"):
        rb.Scene.load(path.parent)


@pytest.mark.parametrize("name", ["robot.urdf", "robot.XML", "stage.usda", "1abc.pdb"])
def test_a_file_of_another_kind_says_what_is_read(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text('<robot name="r"><link name="a"/></robot>')
    with pytest.raises(
        rb.FileError, match=r"is a \.\w+ file; scenes are read from \.rb\.json files, as scene.save writes them\."
    ):
        rb.Scene.load(tmp_path / name)


def test_a_robot_file_says_how_it_is_read(tmp_path: Path) -> None:
    with pytest.raises(rb.FileError, match=r"is a \.sdf file.* A robot is read with rb.Scene.from_file\(path\)"):
        rb.Scene.load(tmp_path / "robot.sdf")


def test_a_mesh_file_says_how_it_is_read(tmp_path: Path) -> None:
    with pytest.raises(rb.FileError, match=r"is a \.stl file.* A mesh is read with rb.Mesh.load\(path\)"):
        rb.Scene.load(tmp_path / "part.stl")
