"""A scene that goes to a file and comes back is the same scene, bit for bit."""

import json
import math
import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

import rattleback as rb
from rattleback.core import arrays

size = st.floats(0.05, 20.0)
number = st.floats(-1e3, 1e3)
point = st.tuples(number, number, number)
turn = st.tuples(*[st.floats(-3, 3)] * 3).map(lambda v: tuple(Rotation.from_rotvec(v).as_quat()))
CORNERS = [[x, y, z] for x in (0, 1) for y in (0, 2) for z in (0, 3)]
TETRAHEDRON = [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]]
simple = st.one_of(
    st.builds(rb.Sphere, size),
    st.builds(rb.Box, size, size, size),
    st.builds(lambda r, s: rb.Capsule(r, s + 2 * r), size, size),
    st.builds(rb.Cylinder, size, size),
    st.builds(rb.Cone, size, size),
    st.builds(rb.Ellipsoid, size, size, size),
    st.builds(
        lambda a, b, c, split: rb.Mesh([[0, 0, 0], [a, 0, 0], [0, b, 0], [0, 0, c]], TETRAHEDRON, split),
        size,
        size,
        size,
        st.booleans(),
    ),
    st.builds(lambda q, s: rb.ConvexHull(s * Rotation.from_quat(q).apply(CORNERS)), turn, size),
)
place = st.tuples(*[st.floats(-5, 5)] * 3)
solid = st.recursive(
    simple,
    lambda inner: st.builds(
        rb.Compound, st.lists(st.builds(rb.Placed, inner, place, turn, size), min_size=1, max_size=3)
    ),
    max_leaves=4,
)
fixed = st.one_of(
    solid,
    st.builds(rb.Plane, point.filter(lambda n: np.linalg.norm(n) > 1e-3), number),
    st.builds(rb.HeightField, st.lists(point, min_size=2, max_size=4), st.tuples(size, size)),
)
material = st.builds(
    lambda f, e, d, v: rb.Material(
        friction=f, restitution=e, static_friction=f + d, dynamic_friction=f, rolling_friction=d, surface_velocity=v
    ),
    st.floats(0, 2),
    st.floats(0, 1),
    st.floats(0, 1),
    point,
)
motion = {"position": point, "orientation": turn, "velocity": point, "angular_velocity": point, "material": material}
weight = st.one_of(
    st.fixed_dictionaries({}),
    st.fixed_dictionaries({"mass": size}),
    st.fixed_dictionaries({"density": st.floats(1, 2e4)}),
)
moments = st.tuples(size, size, st.floats(0.1, 1.0)).map(lambda t: (t[0], t[1], abs(t[0] - t[1]) + t[2] * min(t[:2])))
name = st.text(min_size=1, max_size=8).filter(lambda text: text not in ("world", "grüppe", "g2"))


@st.composite
def scenes(draw):
    """Scenes with every shape, force and option."""
    scene = rb.Scene(draw(point), draw(name))
    names = draw(st.lists(name, min_size=2, max_size=5, unique=True))
    for index, label in enumerate(names):
        options = {"name": label, **draw(st.fixed_dictionaries({}, optional=motion))}
        if draw(st.booleans()):
            options["group"] = draw(st.sampled_from(["grüppe", "g2"]))
        if index == 0:
            scene.add_body(None, mass=draw(size), inertia=draw(moments), center_of_mass=draw(place), **options)
        elif draw(st.booleans()):
            scene.add_body(draw(solid), **draw(weight), **options)
        else:
            options.pop("group", None)
            scene.add_static(draw(fixed), **options)
    for label in draw(st.lists(name, max_size=3, unique=True)):
        scene.add_force(draw(forces(scene)), label)
    return scene


@st.composite
def forces(draw, scene):
    moving = [body.name for body in scene.bodies if not body.static]
    bodies = draw(st.none() | st.lists(st.sampled_from(moving), min_size=1, unique=True))
    until = st.just(math.inf) | st.floats(2, 9)
    kinds = [
        st.builds(rb.Gravity, point, bodies=st.just(bodies)),
        st.builds(rb.Attraction, number, size, bodies=st.just(bodies)),
        st.builds(rb.Drag, size, size, size, point, bodies=st.just(bodies)),
        st.builds(
            rb.Wrench, st.just(bodies), point, point, st.none() | point, st.sampled_from(["world", "local"]),
            st.floats(0, 1), until,
        ),
    ]  # fmt: skip
    return draw(st.one_of(kinds))


def compiled(scene):
    """Every array the scene compiles into, as bytes, and the hash of the state it starts from."""
    sim = rb.Simulation(scene)
    return {name: array.tobytes() for name, array in arrays.read(sim.model.bodies).items()}, sim.hash()


@given(scenes())
def test_a_scene_comes_back_from_its_file_bit_for_bit(tmp_path_factory, scene):
    folder = tmp_path_factory.mktemp("scene")
    scene.save(folder / "first.rb.json")
    again = rb.Scene.load(folder / "first.rb.json")
    again.save(folder / "second.rb.json")
    assert (folder / "first.rb.json").read_bytes() == (folder / "second.rb.json").read_bytes()
    assert compiled(again) == compiled(scene)
    assert again.name == scene.name
    assert again.gravity.tobytes() == scene.gravity.tobytes()
    assert [body.name for body in again.bodies] == [body.name for body in scene.bodies]
    for body, twin in zip(scene.bodies, again.bodies, strict=True):
        assert (twin.shape, twin.material, twin.group) == (body.shape, body.material, body.group)
        assert twin.static == body.static
    assert list(again.forces.items()) == list(scene.forces.items())


@given(scenes())
def test_a_scene_can_be_written_to_a_file_that_another_program_can_read(tmp_path_factory, scene):
    path = tmp_path_factory.mktemp("scene") / "x.rb.json"
    scene.save(path)
    data = json.loads(path.read_text(encoding="utf-8"), parse_constant=pytest.fail)
    assert (data["format"], data["version"]) == ("rattleback-scene", 1)
    for body, entry in zip(scene.bodies, data["bodies"], strict=True):
        assert entry["position"] == body.position.tolist()
        assert entry.get("mass", 0.0) == body.mass


def write(path, **fields):
    path.write_text(json.dumps({"format": "rattleback-scene", "version": 1, **fields}), encoding="utf-8")
    return path


def test_a_file_written_by_hand_needs_little(tmp_path):
    ball = {"shape": {"kind": "sphere", "radius": 1}}
    scene = rb.Scene.load(write(tmp_path / "x.json", bodies=[ball, ball], forces=[{"kind": "drag", "linear": 1}]))
    assert [body.name for body in scene.bodies] == ["sphere_1", "sphere_2"]
    assert scene.bodies[0].mass == pytest.approx(1000 * 4 / 3 * math.pi, rel=1e-15)
    assert scene.gravity.tolist() == [0, 0, -9.81]
    assert scene.forces == {"drag_1": rb.Drag(linear=1)}


def test_an_empty_scene_is_a_scene(tmp_path):
    assert len(rb.Scene.load(write(tmp_path / "x.json"))) == 0
    rb.Scene(name="empty").save(tmp_path / "y.json")
    assert rb.Scene.load(tmp_path / "y.json").name == "empty"


def test_a_file_may_give_a_density_and_an_origin_and_principal_moments(tmp_path):
    bodies = [
        {"name": "a", "shape": {"kind": "cone", "radius": 1, "height": 4}, "density": 3, "origin": [1, 2, 3]},
        {"name": "b", "mass": 2, "inertia": [1, 2, 2.5], "position": [1, 1, 1]},
        {"name": "c", "mass": 2, "inertia": [[1, 0, 0], [0, 2, 0], [0, 0, 2.5]], "center_of_mass": [1, 0, 0]},
        {"name": "d", "static": True, "shape": {"kind": "plane"}, "velocity": [1, 0, 0]},
    ]
    scene = rb.Scene.load(write(tmp_path / "x.json", bodies=bodies))
    assert scene["a"].mass == pytest.approx(3 * math.pi * 4 / 3, rel=1e-15)
    assert scene["a"].position == pytest.approx([1, 2, 2])
    assert scene["b"].inertia.tolist() == scene["c"].inertia.tolist() == np.diag([1, 2, 2.5]).tolist()
    assert scene["c"].position.tolist() == [1, 0, 0]
    assert scene["d"].static


def test_null_counts_as_left_out(tmp_path):
    entry = {"name": None, "shape": {"kind": "sphere", "radius": 1}, "mass": None, "group": None, "material": None}
    force = {"kind": "wrench", "name": None, "bodies": None, "at": None, "until": None}
    scene = rb.Scene.load(write(tmp_path / "x.json", bodies=[entry], forces=[force]))
    assert scene.bodies[0].name == "sphere_1"
    assert scene.forces == {"wrench_1": rb.Wrench()}


def test_a_byte_order_mark_is_passed_over(tmp_path):
    path = write(tmp_path / "x.json", name="marked")
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())
    assert rb.Scene.load(path).name == "marked"


def test_short_lists_and_tables_stand_on_one_line(tmp_path):
    scene = rb.Scene(name="läsbar")
    scene.add_body(rb.Box(1, 2, 3), name="box")
    scene.save(tmp_path / "x.rb.json")
    lines = (tmp_path / "x.rb.json").read_text(encoding="utf-8").splitlines()
    assert '  "name": "läsbar",' in lines
    assert '      "shape": {"kind": "box", "x": 1.0, "y": 2.0, "z": 3.0},' in lines
    assert '      "position": [0.0, 0.0, 0.0],' in lines
    assert max(map(len, lines)) <= 120


def test_a_force_that_carries_code_is_refused_by_name(tmp_path):
    scene = rb.Scene()
    scene.add_body(rb.Sphere(1))
    scene.add_force(rb.PythonForce(lambda time, bodies: bodies.position), name="wind")
    with pytest.raises(rb.InputError, match=r"Force 'wind' is a PythonForce, .* forces that can: 'Gravity'") as caught:
        scene.save(tmp_path / "x.rb.json")
    assert "sim.save(path)" in str(caught.value)
    assert list(tmp_path.iterdir()) == []


def test_what_could_not_be_read_back_is_not_written(tmp_path):
    scene = rb.Scene()
    scene.add_body(rb.Sphere(1), name="half \ud800")
    with pytest.raises(rb.InputError, match=r"bodies\[0\].name: must be text in Unicode"):
        scene.save(tmp_path / "x.rb.json")
    scene = rb.Scene()
    scene.gravity[2] = math.nan
    with pytest.raises(rb.InputError, match=r"The gravity of the scene is .*; every entry must be finite"):
        scene.save(tmp_path / "x.rb.json")
    shape = rb.Sphere(1)
    for _ in range(400):
        shape = rb.Compound([rb.Placed(shape)])
    scene = rb.Scene(name="deep")
    scene.add_static(shape)
    with pytest.raises(rb.InputError, match=r"The scene 'deep' has a shape that is nested too deeply to be written\."):
        scene.save(tmp_path / "x.rb.json")
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_was_there_stays_when_saving_fails(tmp_path):
    path = write(tmp_path / "x.json", name="before")
    scene = rb.Scene()
    scene.add_force(rb.PythonForce(lambda time, bodies: bodies.position))
    with pytest.raises(rb.InputError):
        scene.save(path)
    assert rb.Scene.load(path).name == "before"


def test_only_scenes_are_saved_as_scenes(tmp_path):
    from rattleback.io import scene_file

    with pytest.raises(rb.InputError, match=r"What is saved is 3; it must be a Scene, such as rb.Scene\(\)\."):
        scene_file.save(3, tmp_path / "x.json")


def test_the_example_in_the_documentation_loads(tmp_path):
    page = Path(__file__).resolve().parents[2] / "docs" / "scene_file.md"
    (example,) = re.findall(r"```json\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)
    (tmp_path / "x.rb.json").write_text(example, encoding="utf-8")
    scene = rb.Scene.load(tmp_path / "x.rb.json")
    assert (len(scene), len(scene.joints), len(scene.forces), scene.groups["blown"][0].mass) == (4, 2, 2, 3)
    sim = rb.Simulation(scene)
    sim.step(3)
    assert sim.report.converged


def test_the_documentation_names_every_kind():
    page = (Path(__file__).resolve().parents[2] / "docs" / "scene_file.md").read_text(encoding="utf-8")
    for kind in (*rb.shapes.MENU, *rb.joints.MENU, *rb.forces.MENU):
        assert f"`{kind}`" in page
