"""What collides, and with whom, goes to a scene file and comes back; defaults leave no trace in it."""

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

import rattleback as rb
from rattleback.io.scene_data import to_data
from rattleback.model.filter import category_bits, excluded_pairs

BALL = {"kind": "sphere", "radius": 1}
NEW = {"collision", "margin", "category", "collides_with", "continuous"}
size = st.floats(0.05, 20.0)
shape = st.builds(rb.Sphere, size) | st.builds(rb.Box, size, size, size)
spot = st.tuples(*[st.floats(-1e3, 1e3)] * 3)
turn = st.tuples(*[st.floats(-3, 3)] * 3).map(lambda v: tuple(Rotation.from_rotvec(v).as_quat()))
collider = shape | st.builds(rb.Plane, offset=st.floats(-9, 9)) | st.builds(rb.Placed, shape, spot, turn, size)
words = st.lists(st.text(min_size=1, max_size=4), max_size=3)
static = {
    "collision": st.none() | collider | st.lists(collider, max_size=3),
    "margin": st.floats(0, 1),
    "category": words.filter(len),
    "collides_with": st.none() | words,
}
moving = {**static, "continuous": st.booleans()}


@st.composite
def scenes(draw):
    """Four bodies in two groups, with every option that says what collides."""
    scene = rb.Scene()
    for name in "abcd":
        if draw(st.booleans()):
            add, options = scene.add_body, moving
        else:
            add, options = scene.add_static, static
        chosen = draw(st.fixed_dictionaries({}, optional=options))
        add(draw(shape), name=name, group="ab" if name in "ab" else "cd", **chosen)
    names = ["a", "b", "c", "d", "ab", "cd"]
    apart = [(a, b) for a in names for b in names if a != b or len(a) > 1]
    for pair in draw(st.lists(st.sampled_from(apart), max_size=4)):
        scene.exclude(*pair)
    bodies = [(a, b) for a in "abcd" for b in "abcd" if a != b]
    for pair in draw(st.lists(st.sampled_from(bodies), max_size=3)):
        scene.allow(*pair)
    return scene


def written(folder, scene):
    scene.save(folder / "x.rb.json")
    return (folder / "x.rb.json").read_bytes()


@given(scenes())
def test_what_collides_with_whom_comes_back_digit_for_digit(tmp_path_factory, scene):
    folder = tmp_path_factory.mktemp("scene")
    first = written(folder, scene)
    again = rb.Scene.load(folder / "x.rb.json")
    for body, twin in zip(scene.bodies, again.bodies, strict=True):
        for name in ("colliders", "margin", "category", "collides_with", "continuous"):
            assert repr(getattr(twin, name)) == repr(getattr(body, name))
    assert excluded_pairs(again) == excluded_pairs(scene)
    assert again.meetings == scene.meetings
    for bits, others in zip(category_bits(again), category_bits(scene), strict=True):
        assert bits.tolist() == others.tolist()
    assert written(folder, again) == first


def test_defaults_leave_no_trace_in_the_file():
    scene, ball = rb.Scene(), rb.Sphere(1)
    scene.add_body(ball)
    scene.add_body(ball, collision=ball, margin=0, category="default", collides_with=None, continuous=False)
    scene.add_body(ball, collision=[rb.Placed(ball, density_ratio=2.0)], margin=-0.0)
    scene.add_body(mass=1, inertia=(1, 1, 1))
    scene.add_body(mass=1, inertia=(1, 1, 1), collision=None)
    scene.add_static(plane := rb.Plane(), collision=[plane])
    scene.add_static(rb.Box(1, 1, 1))
    data = to_data(scene)
    assert not {"exclusions", "allowed"} & set(data)
    for entry in data["bodies"]:
        assert not NEW & set(entry)


def test_what_is_not_the_default_is_written_even_where_it_is_nothing_or_minus_zero(tmp_path):
    scene, ball = rb.Scene(), rb.Sphere(1)
    scene.add_body(ball, collision=None, collides_with=())
    scene.add_body(ball, collision=rb.Placed(ball, (-0.0, 0, 0)))
    scene.add_static(rb.Plane(), collision=rb.Plane(offset=-0.0))
    data = to_data(scene)
    assert (data["bodies"][0]["collision"], data["bodies"][0]["collides_with"]) == ([], [])
    assert math.copysign(1.0, data["bodies"][1]["collision"][0]["position"][0]) == -1.0
    scene.save(tmp_path / "x.rb.json")
    again = rb.Scene.load(tmp_path / "x.rb.json")
    assert (again.bodies[0].colliders, again.bodies[0].collides_with) == ((), ())
    assert math.copysign(1.0, again.bodies[1].colliders[0].position[0]) == -1.0
    assert math.copysign(1.0, again.bodies[2].colliders[0].offset) == -1.0


def write(path, **fields):
    path.write_text(json.dumps({"format": "rattleback-scene", "version": 1, **fields}), encoding="utf-8")
    return path


def test_a_file_from_before_there_were_collisions_loads(tmp_path):
    material = {"friction": 0.5, "restitution": 0.0, "static_friction": 0.5, "dynamic_friction": 0.5}
    entry = {
        "name": "ball",
        "shape": {"kind": "sphere", "radius": 1.0},
        "mass": 1.0,
        "center_of_mass": [0.0, 0.0, 0.0],
        "inertia": [[0.4, 0.0, 0.0], [0.0, 0.4, 0.0], [0.0, 0.0, 0.4]],
        "position": [0.0, 0.0, 2.0],
        "orientation": [0.0, 0.0, 0.0, 1.0],
        "velocity": [0.0, 0.0, 0.0],
        "angular_velocity": [0.0, 0.0, 0.0],
        "material": material,
    }
    scene = rb.Scene.load(write(tmp_path / "x.json", name="old", gravity=[0, 0, -9.81], bodies=[entry]))
    body = scene["ball"]
    assert (body.colliders, body.category, body.collides_with) == ((rb.Placed(rb.Sphere(1)),), ("default",), None)
    assert (body.margin, body.continuous) == (0.0, False)
    assert excluded_pairs(scene) == set()
    assert to_data(scene)["bodies"] == [entry]


def test_a_file_written_by_hand_may_say_what_collides(tmp_path):
    bodies = [
        {"name": "a", "shape": BALL, "collision": None, "collides_with": None},
        {"name": "b", "shape": BALL, "collision": [], "margin": 1, "category": ["x"]},
        {"name": "c", "mass": 1, "inertia": [1, 1, 1], "collision": [{"shape": BALL, "position": None}], "group": "g"},
        {"name": "d", "static": True, "shape": BALL, "collision": [{"shape": {"kind": "plane"}}], "group": "g"},
    ]
    path = write(tmp_path / "x.json", bodies=bodies, exclusions=[["a", "g"], ["g"]], allowed=[["d", "a"]])
    scene = rb.Scene.load(path)
    ball = (rb.Placed(rb.Sphere(1)),)
    assert [body.colliders for body in scene.bodies] == [ball, (), ball, (rb.Plane(),)]
    assert (scene["b"].margin, scene["b"].category) == (1.0, ("x",))
    assert excluded_pairs(scene) == {(0, 2), (2, 3)}


@pytest.mark.parametrize(
    ("body", "fault"),
    [
        ({"margin": -1}, ".margin: must be zero or more; it is -1"),
        ({"category": []}, ".category: must not be empty"),
        ({"category": "x"}, ".category: must be a list; it is 'x'"),
        ({"collides_with": [""]}, ".collides_with[0]: must not be empty; it is ''"),
        ({"continuous": 1}, ".continuous: must be true or false; it is 1"),
        ({"collision": BALL}, ".collision: must be a list; it is a table"),
        ({"collision": [{}]}, ".collision[0].shape: is missing"),
        ({"collision": [{"shape": {"kind": "sphere", "radius": -1}}]}, ".collision[0].shape.radius: must be greater"),
        ({"collision": [{"shape": {"kind": "spere"}}]}, ".collision[0].shape.kind: is 'spere', which does not exist."),
        (
            {"collision": [{"shape": BALL, "positon": [0, 0, 0]}]},
            ".collision[0].positon: is not a field of this table. Did you mean 'position'? It takes 'shape', "
            "'position', 'orientation'.",
        ),
        (
            {"collision": [{"shape": BALL}, {"shape": {"kind": "capsule", "radius": 1, "length": 1}}]},
            ".collision[1]: The length of Capsule is 1.0 and its radius 1.0",
        ),
        (
            {"collision": [{"shape": {"kind": "plane"}, "position": [0, 0, 1]}]},
            ".collision[0]: The shape of Placed is a Plane, which has no size",
        ),
        ({"static": True, "continuous": True}, ": add_static for static body 'b' has no option 'continuous'"),
    ],
)
def test_a_fault_in_what_collides_has_its_path(tmp_path, body, fault):
    path = write(tmp_path / "x.json", bodies=[{"name": "b", "shape": BALL, **body}])
    with pytest.raises(rb.FileError) as caught:
        rb.Scene.load(path)
    assert f"has 1 fault:\n  bodies[0]{fault}" in str(caught.value)


@pytest.mark.parametrize(
    ("fields", "fault"),
    [
        ({"exclusions": {}}, "exclusions: must be a list; it is a table"),
        ({"allowed": None}, "allowed: must be a list; it is null"),
        ({"exclusions": [["g"], "g"]}, "exclusions[1]: must be a list; it is 'g'"),
        ({"exclusions": [[]]}, "exclusions[0]: must not be empty"),
        ({"exclusions": [["a", "b", "g"]]}, "exclusions[0]: must have 2 entries; it has 3"),
        ({"exclusions": [["a", 1]]}, "exclusions[0][1]: must be text; it is 1"),
        ({"exclusions": [["a"]]}, "exclusions[0]: exclude got only the body 'a'; name another"),
        ({"exclusions": [["a", "c"]]}, "exclusions[0]: exclude got 'c', which is not a body or group of the scene."),
        ({"allowed": [["a"]]}, "allowed[0]: must have 2 entries; it has 1"),
        ({"allowed": [["a", "b"], ["a", "g"]]}, "allowed[1]: allow got the group 'g'; it takes two bodies."),
    ],
)
def test_a_fault_in_who_never_meets_has_its_path(tmp_path, fields, fault):
    bodies = [{"name": name, "shape": BALL, "group": "g"} for name in "ab"]
    with pytest.raises(rb.FileError) as caught:
        rb.Scene.load(write(tmp_path / "x.json", bodies=bodies, **fields))
    assert f"has 1 fault:\n  {fault}" in str(caught.value)


def test_a_faulty_body_does_not_make_its_exclusions_faulty(tmp_path):
    bodies = [{"name": "a", "shape": BALL, "mass": -1}, {"name": "b", "shape": BALL}]
    with pytest.raises(rb.FileError, match=r"has 1 fault:\n  bodies\[0\].mass: must be greater than zero"):
        rb.Scene.load(write(tmp_path / "x.json", bodies=bodies, exclusions=[["a", "b"]]))


def test_a_predicate_cannot_be_saved_and_is_named(tmp_path):
    scene = rb.Scene(name="split")
    scene.add_body(rb.Sphere(1))

    @scene.exclude_if
    def left_and_right(a, b):
        return bool(a.position[0] < 0.0 < b.position[0])

    with pytest.raises(
        rb.InputError,
        match=r"The scene 'split' has 'left_and_right' in exclude_if, which carries code .* after loading\.",
    ):
        scene.save(tmp_path / "x.rb.json")
    assert list(tmp_path.iterdir()) == []
