"""Whatever is done to a scene file, it loads or is refused by a FileError; no other error gets out."""

import copy
import json

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import rattleback as rb
from rattleback.io.scene_data import to_data

# Files are mutated six times as often as anything else is tried.
MOST = min(6 * settings().max_examples, 2000)
COUPLED = {
    rb.Screw: {"pitch": 0.2},
    rb.Gear: {"axis_b": None, "ratio": 2.5},
    rb.Rack: {"radius": 0.5, "at_b": None},
    rb.VelocityJoint: {"linear": (None, 1.5, None), "angular": (0.5, None, None)},
}


def rich_scene():
    """A scene with every kind of shape, joint and force."""
    scene = rb.Scene(name="rich")
    points, triangles = [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]], [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]]
    parts = [rb.Placed(rb.Cylinder(0.2, 1.0)), rb.Placed(rb.Ellipsoid(1, 2, 3), position=(0, 1, 0), density_ratio=2.0)]
    solids = [rb.Sphere(1), rb.Capsule(0.1, 1), rb.Cone(1, 2), rb.Mesh(points, triangles), rb.Compound(parts)]
    for index, shape in enumerate(solids):
        scene.add_body(shape, name=f"body {index}", group="all", position=(index, 0, 0), velocity=(0, index, 1))
    scene.add_body(None, name="point", mass=1, inertia=(1, 2, 2.5), material=rb.Material(friction=0.3, restitution=0.5))
    scene.add_static(rb.Plane(), name="ground")
    scene.add_static(rb.HeightField([[0, 1], [2, 3]], (1, 2)), name="hills")
    scene.add_body(rb.ConvexHull([*points, [1, 1, 1], [0.1, 0.1, 0.1]]), name="hull")
    scene.add_body(rb.Mesh(points, triangles, decompose=True), name="split")
    scene.add_static(rb.Box(1, 2, 3), name="wall", angular_velocity=(0, 0, 1), collision=[rb.Plane(), rb.Sphere(1)])
    scene.add_body(
        rb.Sphere(1),
        name="fast",
        collision=rb.Placed(rb.Cone(1, 2), (1, 0, 0)),
        margin=0.1,
        category=("a", "b"),
        collides_with=("a",),
        continuous=True,
    )
    scene.exclude("all")
    scene.exclude("fast", "all")
    scene.allow("body 0", "body 1")
    for index, kind in enumerate(rb.joints.MENU.values()):
        bodies = [("world", "point"), ("body 0", "body 1"), ("body 2", "wall")][index % 3]
        given = {"at": (index, 0, 0), "at_b": (1, 2, 3), "axis": (0, 1, 0), "axis_b": (3, 0, 4)}
        scene.add_joint(kind(*bodies, **given | COUPLED.get(kind, {})))
    frame = ((1, 2, 3), (0, 0, 0.6, 0.8))
    scene.add_joint(rb.Fixed(*bodies, frame_a=frame, frame_b=frame))
    scene.add_force(rb.Gravity(bodies="all"))
    scene.add_force(rb.Attraction(bodies=["body 0", "point"]))
    scene.add_force(rb.Wrench("point", (1, 0, 0), at=(0, 0, 1), until=3), name="push")
    scene.add_force(rb.Drag(linear=0.1, wind=(1, 2, 3)))
    return scene


DATA = to_data(rich_scene())
TEXT = json.dumps(DATA).encode()
JUNK = st.one_of(
    st.sampled_from(
        [None, True, 0, -1, 3, 1e-320, 1e-160, 1e160, -1e308, 10**299, 10**400, float("nan"), float("inf")]
    ),
    st.sampled_from(["", "x", "world", "body 0", "all", "mesh", "\ud800", [], {}, [[]], [0, 0, 0, 1], {"kind": "box"}]),
    st.floats(),
    st.text(max_size=3),
    st.lists(st.floats(), max_size=4),
)


def places(data, here=()):
    """The paths of all nodes below the top."""
    inner = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
    for step, value in inner:
        yield (*here, step)
        yield from places(value, (*here, step))


PLACES = list(places(DATA))


@st.composite
def mutants(draw):
    """The data with one to three nodes deleted, replaced, doubled, renamed or moved."""
    data = copy.deepcopy(DATA)
    for _ in range(draw(st.integers(1, 3))):
        *above, last = draw(st.sampled_from(PLACES))
        action = draw(st.sampled_from(["delete", "replace", "replace", "double", "rename", "move", "retype"]))
        try:
            node = data
            for step in above:
                node = node[step]
            value = node[last]
            change(draw, node, last, value, action)
        except (KeyError, IndexError, TypeError, AttributeError):
            pass  # an earlier mutation took the place away
    return data


def change(draw, node, last, value, action):
    if action == "delete":
        del node[last]
    elif action == "replace":
        node[last] = draw(JUNK)
    elif action == "double" and isinstance(node, list):
        node.insert(last, copy.deepcopy(value))
    elif action == "rename" and isinstance(node, dict):
        node[draw(st.text(max_size=5))] = node.pop(last)
    elif action == "move":
        node[last] = copy.deepcopy(DATA[draw(st.sampled_from(["bodies", "joints", "forces"]))][0])
    elif action == "retype":
        node[last] = draw(st.sampled_from([str(value)[:20], [value], {"value": value}]))


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    return tmp_path_factory.mktemp("mutants") / "x.rb.json"


def loads_or_is_refused(path, content):
    """Load; a scene that loads can be saved and loads again."""
    path.write_bytes(content)
    try:
        scene = rb.Scene.load(path)
    except rb.FileError:
        return
    scene.save(path)
    rb.Scene.load(path)


@settings(max_examples=MOST)
@given(data=mutants())
def test_mutated_data_load_or_are_refused(path, data):
    loads_or_is_refused(path, json.dumps(data).encode())


@settings(max_examples=MOST)
@given(place=st.sampled_from(PLACES), junk=JUNK)
def test_junk_anywhere_loads_or_is_refused(path, place, junk):
    data = copy.deepcopy(DATA)
    node = data
    for step in place[:-1]:
        node = node[step]
    node[place[-1]] = junk
    loads_or_is_refused(path, json.dumps(data).encode())


@settings(max_examples=150)
@given(length=st.integers(0, len(TEXT) - 1))
@example(length=0)
@example(length=len(TEXT) - 1)
def test_a_file_cut_short_is_refused(path, length):
    path.write_bytes(TEXT[:length])
    with pytest.raises(rb.FileError, match="is not JSON"):
        rb.Scene.load(path)


@settings(max_examples=MOST)
@given(flips=st.lists(st.tuples(st.integers(0, len(TEXT) - 1), st.integers(1, 255)), min_size=1, max_size=3))
def test_flipped_bytes_load_or_are_refused(path, flips):
    content = bytearray(TEXT)
    for position, bits in flips:
        content[position] ^= bits
    loads_or_is_refused(path, bytes(content))


@settings(max_examples=100)
@given(content=st.binary(max_size=60) | st.text(max_size=60).map(lambda text: text.encode("utf-8", "replace")))
def test_any_bytes_at_all_are_refused(path, content):
    path.write_bytes(content)
    with pytest.raises(rb.FileError):
        rb.Scene.load(path)
