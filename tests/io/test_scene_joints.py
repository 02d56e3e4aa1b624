"""Joints in scene files: they come back bit for bit, and what is wrong with one is a sentence with its path."""

import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

import rattleback as rb
from rattleback import joints
from rattleback.core import arrays
from rattleback.core.device import find
from rattleback.io.scene_data import to_data
from rattleback.model.compile import compile_scene
from rattleback.problem.joint_rows import compile_joints

BALL = {"kind": "sphere", "radius": 0.1}
BODIES = [
    {"name": "arm", "group": "limbs", "shape": BALL},
    {"name": "hand", "shape": BALL, "position": [1, 0, 0]},
    {"name": "ground", "static": True, "shape": {"kind": "plane"}},
]
MENU = (
    "'ball', 'point_on_line', 'point_on_plane', 'fixed_orientation', 'common_direction', 'double_rotation', "
    "'revolute', 'cylindrical', 'prismatic', 'universal', 'fixed', 'planar', 'distance', 'distance_to_line', "
    "'distance_to_plane', 'screw', 'gear', 'rack', 'velocity_joint'"
)
number = st.floats(-1e3, 1e3)
point = st.tuples(number, number, number)
axis = point.filter(lambda v: max(map(abs, v)) > 1e-6)
turn = st.tuples(*[st.floats(-3, 3)] * 3).map(lambda v: tuple(Rotation.from_rotvec(v).as_quat()))
ZERO_OF_EITHER_SIGN = st.sampled_from([0.0, -0.0])


@st.composite
def made(draw, kind, a, b):
    """A joint of a kind, with every field its class has given or left out."""
    options = draw(st.fixed_dictionaries({"at": point}, optional={"axis": axis, "at_b": point, "axis_b": axis}))
    if issubclass(kind, joints.DoubleRotation):
        first, other = np.array(options.get("axis", (0, 0, 1))), np.array(draw(axis))
        first = first / np.linalg.norm(first)
        second = np.cross(first, other / np.linalg.norm(other))
        if np.linalg.norm(second) < 1e-3:
            second = np.cross(first, np.eye(3)[np.argmin(np.abs(first))])
        options["axis_b"] = tuple(second)
    if issubclass(kind, joints.Distance):
        if kind is joints.DistanceToLine or draw(st.booleans()):
            options["length"] = draw(st.floats(1e-3, 1e3))
        else:
            options["at_b"] = tuple(np.add(options["at"], (1, 2, 3)))
    options |= coupling(draw, kind, options)
    return kind(a, b, **options)


def coupling(draw, kind, options):
    """What screws, gears, racks and velocity joints need, for the axis drawn."""
    size = draw(st.floats(0.1, 10))
    across = np.cross(options.get("axis", (0, 0, 1)), (0.3, -0.5, 0.7))
    across = across / np.linalg.norm(across)
    if kind is joints.Screw:
        return {"pitch": draw(st.sampled_from([1, -1])) * size}
    if kind is joints.Gear:
        place = {"at_b": tuple(np.add(options["at"], across)), "axis_b": None}
        return {**place, "ratio": 1.5 * size + 1, "internal": draw(st.booleans())}
    if kind is joints.Rack:
        return {"at_b": None, "axis_b": tuple(across), "radius": size}
    if kind is joints.VelocityJoint:
        return {"linear": (size, None, 0.0), "angular": draw(st.tuples(st.none() | number, number, st.none()))}
    return {}


@st.composite
def framed(draw, kind, a, b):
    """A joint placed by frames."""
    frames = {f"frame_{side}": (draw(point), draw(turn)) for side in "ab"}
    needed = {
        joints.Screw: {"pitch": 0.1},
        joints.Gear: {"radii": (0.1, 0.3), "internal": draw(st.booleans())},
        joints.Rack: {"radius": 0.2},
        joints.VelocityJoint: {"angular": (1.0, None, None)},
    }.get(kind, {})
    return kind(a, b, **frames, **needed, **({"length": 2.5} if issubclass(kind, joints.Distance) else {}))


@st.composite
def scenes(draw):
    """Two turned bodies and a wall, with one joint of every kind between them or to the world."""
    scene = rb.Scene()
    for name in ("a", "b"):
        scene.add_body(rb.Box(1, 2, 3), name=name, position=draw(point), orientation=draw(turn))
    scene.add_static(rb.Box(1, 1, 1), name="wall", orientation=draw(turn))
    pairs = [("world", "a"), ("a", "b"), ("b", "wall"), ("b", "world")]
    for name, kind in joints.MENU.items():
        ends = draw(st.sampled_from(pairs))
        joint = draw(made(kind, *ends) | framed(kind, *ends))
        scene.add_joint(joint, draw(st.none() | st.just(f"{name} ü")))
    return scene


def compiled(scene):
    """Every array the joints of a scene compile into, as bytes."""
    model, _ = compile_scene(scene, None, find("cpu"))
    held = compile_joints(model)
    groups = {"joints": held.joints, "letters": held.definitions}
    return {f"{part}.{name}": a.tobytes() for part, group in groups.items() for name, a in arrays.read(group).items()}


@given(scenes())
def test_joints_come_back_from_their_file_bit_for_bit(tmp_path_factory, scene):
    folder = tmp_path_factory.mktemp("scene")
    scene.save(folder / "first.rb.json")
    again = rb.Scene.load(folder / "first.rb.json")
    again.save(folder / "second.rb.json")
    assert (folder / "first.rb.json").read_bytes() == (folder / "second.rb.json").read_bytes()
    assert list(again.joints.items()) == list(scene.joints.items())
    assert compiled(again) == compiled(scene)


@given(
    at=st.tuples(*[ZERO_OF_EITHER_SIGN] * 3),
    at_b=st.tuples(*[ZERO_OF_EITHER_SIGN] * 3),
    tilt=st.tuples(ZERO_OF_EITHER_SIGN, ZERO_OF_EITHER_SIGN, st.sampled_from([1.0, -1.0])),
)
def test_the_sign_of_a_zero_comes_back(tmp_path_factory, at, at_b, tilt):
    scene = rb.Scene()
    scene.add_body(rb.Sphere(1), name="a")
    scene.add_joint(rb.Ball("world", "a", at=at, at_b=at_b, axis=tilt, axis_b=(0.0, 0.0, 1.0)), "j")
    path = tmp_path_factory.mktemp("scene") / "x.rb.json"
    scene.save(path)
    assert repr(rb.Scene.load(path).joints["j"]) == repr(scene.joints["j"])


@given(axis=axis, scale=st.sampled_from([1e-300, 1e-20, 1.0, 1e20, 1e300]))
def test_an_axis_that_was_scaled_once_keeps_its_bits(axis, scale):
    first = rb.Revolute("world", "a", axis=tuple(scale * entry for entry in axis))
    assert math.hypot(*first.axis) == pytest.approx(1, abs=1e-15)
    assert rb.Revolute("world", "a", axis=first.axis).axis == first.axis
    assert np.cross(first.axis, np.array(axis) / np.abs(axis).max()) == pytest.approx(np.zeros(3), abs=1e-15)


def test_what_b_has_in_common_with_a_is_left_out_of_the_file():
    scene = rb.Scene()
    scene.add_body(rb.Sphere(1), name="a")
    scene.add_joint(rb.Revolute("world", "a", at=(1, 2, 3), axis=(0, 2, 0)), "hinge")
    scene.add_joint(rb.Distance("world", "a", at=(1, 2, 3), at_b=(1, 2, 5)), "rod")
    place = {"a": "world", "b": "a", "at": [1.0, 2.0, 3.0]}
    drive = {"damping": 0.0, "armature": 0.0, "friction": 0.0}
    assert to_data(scene)["joints"] == [
        {"kind": "revolute", "name": "hinge", **place, "axis": [0.0, 1.0, 0.0], "restitution": 0.0, **drive},
        {"kind": "distance", "name": "rod", **place, "axis": [0.0, 0.0, 1.0], "at_b": [1.0, 2.0, 5.0], "length": 2.0},
    ]


def write(path, entries, **fields):
    data = {"format": "rattleback-scene", "version": 1, "bodies": BODIES, "joints": entries, **fields}
    path.write_text(json.dumps(data), encoding="utf-8")
    return path


def test_a_joint_written_by_hand_needs_little(tmp_path):
    entries = [
        {"kind": "ball", "a": "world", "b": "arm"},
        {"kind": "revolute", "name": None, "a": "arm", "b": "hand", "at": [0.5, 0, 0], "axis": [0, 7, 0], "at_b": None},
        {"kind": "distance", "name": "rod", "a": "ground", "b": "hand", "at_b": [3, 4, 0], "length": None},
    ]
    scene = rb.Scene.load(write(tmp_path / "x.json", entries))
    assert scene.joints == {
        "ball_1": rb.Ball("world", "arm"),
        "revolute_2": rb.Revolute("arm", "hand", at=(0.5, 0, 0), axis=(0, 1, 0)),
        "rod": rb.Distance("ground", "hand", at_b=(3, 4, 0), length=5),
    }


def test_a_file_without_joints_is_a_scene_without_joints(tmp_path):
    path = tmp_path / "x.json"
    path.write_text(json.dumps({"format": "rattleback-scene", "version": 1, "bodies": BODIES}), encoding="utf-8")
    scene = rb.Scene.load(path)
    assert (len(scene), scene.joints) == (3, {})


def faults(path):
    """The faults of a file, line by line."""
    with pytest.raises(rb.FileError) as caught:
        rb.Scene.load(path)
    head, *lines = str(caught.value).replace(str(path), "x").split("\n  ")
    assert head == f"The scene file 'x' has {len(lines)} fault{'s' if len(lines) > 1 else ''}:"
    return lines


HINGE = {"kind": "revolute", "a": "arm", "b": "hand"}
FIELDS = (
    "It takes 'name', 'kind', 'a', 'b', 'at', 'axis', 'at_b', 'axis_b', 'frame_a', 'frame_b', 'breaking_force', "
    "'breaking_torque', 'stiffness', 'damping', 'limits', 'restitution', 'row_damping', 'armature', 'friction'."
)
FRAME = [[0, 0, 0], [0, 0, 0, 1]]


@pytest.mark.parametrize(
    ("joint", "fault"),
    [
        ("ball", ": must be a table with named fields; it is 'ball'"),
        ({"a": "arm", "b": "hand"}, ".kind: is missing"),
        (
            {**HINGE, "kind": "revolut"},
            f".kind: is 'revolut', which does not exist. Did you mean 'revolute'? The menu: {MENU}.",
        ),
        ({"kind": "ball", "a": "arm"}, ".b: is missing"),
        ({**HINGE, "a": ""}, ".a: must not be empty; it is ''"),
        ({**HINGE, "a": None}, ".a: must be text; it is null"),
        ({**HINGE, "b": "hnad"}, ".b: is 'hnad', which is not a body of the scene. Did you mean 'hand'?"),
        ({**HINGE, "a": "wrold"}, ".a: is 'wrold', which is not a body of the scene. Did you mean 'world'?"),
        ({**HINGE, "a": "limbs"}, ".a: is 'limbs', which is not a body of the scene."),
        ({**HINGE, "a": "first"}, ".a: is 'first', which is not a body of the scene."),
        ({**HINGE, "b": "arm"}, ": Revolute joins 'arm' to itself; it needs two bodies."),
        (
            {**HINGE, "a": "world", "b": "ground", "name": "stuck"},
            ": Joint 'stuck' holds 'world' and 'ground', neither of which can move.",
        ),
        ({**HINGE, "name": "first"}, ".name: is 'first', which the scene uses already; every name is used once"),
        ({**HINGE, "name": "hand"}, ".name: is 'hand', which the scene uses already; every name is used once"),
        ({**HINGE, "name": "limbs"}, ".name: is 'limbs', which the scene uses already; every name is used once"),
        ({**HINGE, "name": "world"}, ".name: is 'world', which the scene uses already; every name is used once"),
        ({**HINGE, "at": [0, 0]}, ".at: must have 3 entries; it has 2"),
        ({**HINGE, "at": [0, 0, "up"]}, ".at[2]: must be a number; it is 'up'"),
        ({**HINGE, "axis": [0, 0, 0]}, ".axis: it is the zero vector; a direction needs a length."),
        ({**HINGE, "axis_b": [0, 0, math.nan]}, ".axis_b[2]: must be finite; it is NaN"),
        ({**HINGE, "axes": [0, 0, 1]}, f".axes: is not a field of this table. Did you mean 'axis'? {FIELDS}"),
        ({**HINGE, "length": 1}, f".length: is not a field of this table. {FIELDS}"),
        (
            {**HINGE, "at": [0, 0, 0], "frame_a": FRAME, "frame_b": FRAME},
            ": Revolute is placed by at= and by frames; give one or the other.",
        ),
        ({**HINGE, "frame_a": FRAME}, ": Revolute has frame_a= without frame_b=; give a frame on each body."),
        ({**HINGE, "frame_a": FRAME[:1]}, ".frame_a: must have 2 entries; it has 1"),
        ({**HINGE, "frame_a": [[0, 0], FRAME[1]]}, ".frame_a: its point has shape (2,); it must be 3 numbers."),
        ({**HINGE, "frame_a": [FRAME[0], [0, 0, 0, 2]]}, ".frame_a: its orientation is [0.0, 0.0, 0.0, 2.0], a quat"),
        ({**HINGE, "kind": "screw"}, ": Screw needs pitch=, the way along its axis in one turn [m]."),
        ({**HINGE, "kind": "gear", "radii": [1, 0]}, ".radii[1]: must be greater than zero; it is 0"),
        ({**HINGE, "kind": "gear", "at_b": [1, 0, 0], "internal": 1}, ".internal: must be true or false; it is 1"),
        ({**HINGE, "kind": "rack", "radius": 1}, ": Rack needs axis_b=, the direction of the rack."),
        ({**HINGE, "kind": "velocity_joint"}, ": VelocityJoint has no velocity to keep; give a number in linear="),
        ({**HINGE, "kind": "velocity_joint", "linear": [1, "x", None]}, ".linear[1]: must be a number; it is 'x'"),
        (
            {**HINGE, "kind": "universal"},
            ": Universal needs two axes: axis=, fixed to A, and axis_b=, fixed to B.",
        ),
        (
            {**HINGE, "kind": "universal", "axis_b": [0, 1, 1]},
            ": The axes (0.0, 0.0, 1.0) and (0.0, 0.7071067811865475, 0.7071067811865475) of Universal are not",
        ),
        (
            {**HINGE, "kind": "distance"},
            ": The length of Distance is 0 m; it must be greater than zero. For none, use a joint without.",
        ),
        (
            {**HINGE, "kind": "distance", "at": [1e200, 0, 0], "at_b": [-1e200, 0, 0]},
            ": has numbers that are too large or too small to compute with",
        ),
    ],
)
def test_a_fault_of_a_joint_has_its_path(tmp_path, joint, fault):
    first = {"kind": "ball", "name": "first", "a": "world", "b": "arm"}
    (line,) = faults(write(tmp_path / "x.json", [first, joint]))
    assert line.startswith(f"joints[1]{fault}")


def test_joints_must_be_a_list(tmp_path):
    assert faults(write(tmp_path / "x.json", {})) == ["joints: must be a list; it is a table"]
    assert faults(write(tmp_path / "x.json", None)) == ["joints: must be a list; it is null"]


def test_all_faults_of_a_joint_are_told_at_once(tmp_path):
    joint = {"kind": "universal", "name": "arm", "a": "am", "b": "moon"}
    assert faults(write(tmp_path / "x.json", [joint], forces=[{"kind": "drog"}])) == [
        "joints[0].a: is 'am', which is not a body of the scene. Did you mean 'arm'?",
        "joints[0].b: is 'moon', which is not a body of the scene.",
        "joints[0].name: is 'arm', which the scene uses already; every name is used once",
        "joints[0]: Universal needs two axes: axis=, fixed to A, and axis_b=, fixed to B.",
        "forces[0].kind: is 'drog', which does not exist. Did you mean 'drag'? The menu: 'gravity', 'attraction', "
        "'wrench', 'drag', 'spring', 'torsion_spring', 'servo', 'implicit_spring', 'implicit_pd', 'implicit_hand'.",
    ]


def test_a_faulty_body_does_not_make_its_joints_faulty(tmp_path):
    bodies = [{"name": "arm", "shape": BALL, "mass": -1}, BODIES[1]]
    path = write(tmp_path / "x.json", [HINGE, {**HINGE, "a": "world", "b": "arm"}], bodies=bodies)
    assert faults(path) == ["bodies[0].mass: must be greater than zero; it is -1"]


class Rope(joints.Distance):
    """A joint of one's own."""


def test_a_joint_off_the_menu_is_refused_by_name(tmp_path):
    scene = rb.Scene()
    scene.add_body(rb.Sphere(1), name="a")
    scene.add_joint(Rope("world", "a", at_b=(0, 0, 1)), name="rope")
    with pytest.raises(rb.InputError, match=r"Joint 'rope' is a Rope, .* joints that can: 'Ball', .*'Dist") as caught:
        scene.save(tmp_path / "x.rb.json")
    assert "sim.save(path)" in str(caught.value)
    assert list(tmp_path.iterdir()) == []
