"""Recognising formats, options, the report, files that are named but not there, and files that must not be read."""

from pathlib import Path

import numpy as np
import pytest

import rattleback as rb

ARM = Path(__file__).resolve().parents[3] / "examples" / "robots" / "arm.urdf"
CUBE = """solid cube
{}
endsolid
"""
CORNERS = np.array([[x, y, z] for x in (0, 1) for y in (0, 1) for z in (0, 1)], dtype=float)
SIDES = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]


def obj_cube() -> str:
    points = "".join(f"v {x} {y} {z}\n" for x, y, z in CORNERS)
    return points + "".join(f"f {a + 1} {b + 1} {c + 1} {d + 1}\n" for a, b, c, d in SIDES)


def robot_with(mesh: str, tag: str = "visual", more: str = "") -> str:
    inertial = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'
    shown = f'<{tag}><geometry><mesh filename="{mesh}"{more}/></geometry></{tag}>'
    return f'<robot name="r"><link name="a">{inertial}{shown}</link></robot>'


def load(path: Path, content: str, **options):
    path.write_text(content)
    return rb.Scene.from_file(path, base="floating", **options)


def test_a_scene_file_of_our_own_is_read_by_its_content(tmp_path: Path) -> None:
    scene = rb.Scene(name="mine")
    scene.add_body(rb.Sphere(0.1), name="ball")
    scene.save(tmp_path / "scene.any")
    found = rb.Scene.from_file(tmp_path / "scene.any")
    assert (found.name, found.import_report.format, found.import_report.dropped) == ("mine", "scene", [])


def test_an_ending_that_lies_does_not_mislead(tmp_path: Path) -> None:
    (tmp_path / "arm.xml").write_bytes(ARM.read_bytes())
    assert rb.Scene.from_file(tmp_path / "arm.xml").import_report.format == "URDF"


def test_a_copy_keeps_the_robot_and_the_report() -> None:
    scene = rb.Scene.from_file(ARM)
    assert scene.copy().robot is scene.robot
    assert scene.copy().import_report is scene.import_report
    assert rb.Scene().robot is None


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("a.urdf", "<robot", "is not XML: unclosed token in line 1"),
        ("a.urdf", "", "is not XML: no element found in line 1"),
        ("a.xml", "<html/>", "has the outermost element 'html'; known are robot, mujoco, mujocoinclude, sdf"),
        ("a.urdf", '<!DOCTYPE r [<!ENTITY a "b">]><robot>&a;</robot>', "declares a document type"),
        ("a.urdf", '<robot xmlns:xacro="x"><xacro:macro/></robot>', "holds xacro macros; expand them first"),
        ("a.xacro", "", "is a xacro macro; expand it first"),
        ("a.urdf", "<a>" * 300, "has too many elements, or too deep ones, in line 1"),
        ("a.urdf", '<robot name="\x01"/>', "is not XML: not well-formed"),
    ],
)
def test_what_is_no_robot_says_why(tmp_path: Path, name: str, content: str, said: str) -> None:
    (tmp_path / name).write_text(content)
    with pytest.raises(rb.FileError, match=said):
        rb.Scene.from_file(tmp_path / name)


def test_entities_do_not_expand(tmp_path: Path) -> None:
    levels = "".join(f'<!ENTITY a{k + 1} "{f"&a{k};" * 10}">' for k in range(12))
    (tmp_path / "a.urdf").write_text(f'<!DOCTYPE r [<!ENTITY a0 "lol">{levels}]><robot name="&a12;"/>')
    with pytest.raises(rb.FileError, match="declares a document type"):
        rb.Scene.from_file(tmp_path / "a.urdf")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"base": "loose"}, "The option base of from_file is 'loose'"),
        ({"strict": 1}, "The option strict of from_file is 1"),
        ({"serch": ["x"]}, "from_file has no option 'serch'. Did you mean 'search'"),
        ({"search": [3]}, "The option search has 3; it must be a list of folders"),
        ({"search": 3}, "The option search of from_file is 3; it must be a list of folders"),
        ({"search": ["/nowhere/at/all"]}, "which is no folder"),
    ],
)
def test_wrong_options_are_refused(options, said: str) -> None:
    with pytest.raises(rb.InputError, match=said):
        rb.Scene.from_file(ARM, **options)


def test_a_missing_mesh_is_named_and_the_rest_is_loaded(tmp_path: Path) -> None:
    scene = load(tmp_path / "r.urdf", robot_with("gone.obj"))
    (entry,) = scene.import_report.dropped
    assert "the mesh 'gone.obj' is missing; name its folder in search=" in entry.note
    assert entry.place.startswith("line 1, robot 'r'/link 'a'/visual/geometry/mesh")
    assert scene["a"].mass == 1.0


@pytest.mark.parametrize("name", ["cube.obj", "package:///cube.obj", "package://r/cube.obj", "model://r/cube.obj"])
def test_a_mesh_is_found_beside_the_file_and_in_named_folders(tmp_path: Path, name: str) -> None:
    home, other = tmp_path / "r", tmp_path / "other"
    home.mkdir()
    other.mkdir()
    for folder, options in ((home, {}), (other, {"search": [other]})):
        (folder / "cube.obj").write_text(obj_cube())
        scene = load(home / "r.urdf", robot_with(name), **options)
        assert scene.import_report.dropped == []
        assert scene["a"].shape.volume() == pytest.approx(1.0)
        (folder / "cube.obj").unlink()


def test_a_package_around_the_file_is_found(tmp_path: Path) -> None:
    for folder in ("pack/urdf", "pack/meshes"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "pack/meshes/cube.obj").write_text(obj_cube())
    for name in ("package://pack/meshes/cube.obj", "package://all/pack/meshes/cube.obj", "../meshes/cube.obj"):
        assert load(tmp_path / "pack/urdf/r.urdf", robot_with(name)).import_report.dropped == []


@pytest.mark.parametrize(
    "name", ["../secret.obj", "file://{}/secret.obj", "{}/secret.obj", "package://r/../../secret.obj"]
)
def test_no_path_leads_out_of_the_named_folders(tmp_path: Path, name: str) -> None:
    home = tmp_path / "r"
    home.mkdir()
    (tmp_path / "secret.obj").write_text(obj_cube())
    (home / "link.obj").symlink_to(tmp_path / "secret.obj")
    for one in (name.format(tmp_path), "link.obj"):
        scene = load(home / "r.urdf", robot_with(one))
        assert "lies outside the folder" in scene.import_report.dropped[0].note
    allowed = load(home / "r.urdf", robot_with(name.format(tmp_path)), search=[tmp_path])
    assert allowed.import_report.dropped == []


def test_a_scale_below_zero_mirrors_a_mesh_and_turns_its_triangles(tmp_path: Path) -> None:
    (tmp_path / "cube.obj").write_text(obj_cube())
    scene = load(tmp_path / "r.urdf", robot_with("cube.obj", more=' scale="-2 1 0.5"'))
    shape = scene["a"].shape
    assert shape.volume() == pytest.approx(1.0)
    np.testing.assert_allclose(shape.bounds(), [(-2, 0, 0), (0, 1, 0.5)])


def test_a_mesh_collides_as_its_hull_and_that_is_told(tmp_path: Path) -> None:
    (tmp_path / "cube.obj").write_text(obj_cube())
    scene = load(tmp_path / "r.urdf", robot_with("cube.obj", "collision"))
    assert [entry.note for entry in scene.import_report.approximated] == ["its convex hull collides"]
    assert isinstance(scene["a"].colliders[0].shape, rb.ConvexHull)


@pytest.mark.parametrize(
    ("content", "name", "said"),
    [
        ("v 0 0 0\n", "cube.obj", "cannot be used"),
        ("junk", "cube.stl", "cannot be used"),
        ("junk", "cube.txt", "is no mesh that can be read"),
        (obj_cube(), "cube.obj", "the scale of the mesh 'cube.obj' is zero along an axis"),
    ],
)
def test_a_mesh_that_cannot_be_used_is_named(tmp_path: Path, content: str, name: str, said: str) -> None:
    (tmp_path / name).write_text(content)
    more = ' scale="1 0 1"' if content == obj_cube() else ""
    scene = load(tmp_path / "r.urdf", robot_with(name, more=more))
    assert said in scene.import_report.dropped[0].note


@pytest.mark.parametrize("ending", [".stl", ".ply", ".glb", ".gltf", ".dae", ".off"])
def test_meshes_of_every_kind_are_read(tmp_path: Path, ending: str) -> None:
    trimesh = pytest.importorskip("trimesh")
    box = trimesh.creation.box((1.0, 2.0, 3.0))
    if ending == ".gltf":
        for name, content in trimesh.exchange.gltf.export_gltf(trimesh.Scene(box)).items():
            (tmp_path / ("box.gltf" if name.endswith(".gltf") else name)).write_bytes(content)
    else:
        box.export(tmp_path / f"box{ending}")
    scene = load(tmp_path / "r.urdf", robot_with(f"box{ending}"))
    assert scene.import_report.dropped == []
    low, high = scene["a"].shape.bounds()
    np.testing.assert_allclose(high - low, (1.0, 2.0, 3.0), rtol=1e-6)


def test_the_unit_of_a_collada_file_counts_and_its_document_type_is_refused(tmp_path: Path) -> None:
    trimesh = pytest.importorskip("trimesh")
    path = tmp_path / "box.dae"
    trimesh.creation.box((1.0, 2.0, 3.0)).export(path)
    text = path.read_text()
    path.write_text(text.replace("<asset>", '<asset><unit name="centimeter" meter="0.01"/>', 1))
    low, high = load(tmp_path / "r.urdf", robot_with("box.dae"))["a"].shape.bounds()
    np.testing.assert_allclose(high - low, (0.01, 0.02, 0.03), rtol=1e-6)
    path.write_text(text.replace("<COLLADA", "<!DOCTYPE COLLADA><COLLADA", 1))
    report = load(tmp_path / "r.urdf", robot_with("box.dae")).import_report
    assert "declares a document type" in report.dropped[0].note


def test_a_buffer_of_gltf_outside_of_the_folders_is_not_read(tmp_path: Path) -> None:
    trimesh = pytest.importorskip("trimesh")
    home = tmp_path / "r"
    home.mkdir()
    files = trimesh.exchange.gltf.export_gltf(trimesh.Scene(trimesh.creation.box()))
    for name, content in files.items():
        if name.endswith(".gltf"):
            (home / "box.gltf").write_bytes(content.replace(b'"gltf_buffer', b'"../gltf_buffer'))
        else:
            (tmp_path / name).write_bytes(content)
    report = load(home / "r.urdf", robot_with("box.gltf")).import_report
    assert "cannot be used" in report.dropped[0].note
    assert load(home / "r.urdf", robot_with("box.gltf"), search=[tmp_path]).import_report.dropped == []


def test_named_states_and_joints_that_are_not_there_are_told() -> None:
    scene = rb.Scene.from_file(ARM)
    with pytest.raises(rb.UnknownName, match="There is no named state 'home'"):
        scene.robot.pose(scene, "home")
    with pytest.raises(rb.UnknownName, match="There is no joint 'elbo'. Did you mean 'elbow'"):
        scene.robot.pose(scene, {"elbo": 1.0})
    with pytest.raises(rb.InputError, match="The coordinate of joint 'elbow'"):
        scene.robot.pose(scene, {"elbow": (1.0, 2.0)})


def test_a_tree_from_a_file_reaches_where_the_scene_is() -> None:
    tree, scene = rb.kinematics.Tree.from_file(ARM), rb.Scene.from_file(ARM)
    assert tree.coordinates == ("shoulder", "elbow", "wrist", "left_finger_joint")
    q = np.array([0.3, 0.8, -2.0, 0.01])
    frames = scene.robot.link_frames(dict(zip(tree.coordinates, q, strict=True)))
    for name, frame in frames.items():
        np.testing.assert_allclose(tree.forward(q, name), frame, atol=1e-14)
    with pytest.raises(rb.InputError, match="Tree.from_file has no option 'tip'"):
        rb.kinematics.Tree.from_file(ARM, tip="tool")


def test_the_tree_of_a_file_solves_for_its_tool() -> None:
    tree = rb.kinematics.Tree.from_file(ARM, tools={"tip": "tool"})
    goal = tree.forward([0.3, 0.8, 0.5, 0.0])[:3, 3]
    found = rb.ik.solve(tree, rb.ik.Position(tuple(goal)))
    assert found.reached
    np.testing.assert_allclose(tree.forward(found.q)[:3, 3], goal, atol=1e-6)


@pytest.mark.parametrize(("name", "needs"), [("arm.xml", "mujoco"), ("arm.sdf", "numpy"), ("arm.usda", "pxr")])
def test_the_other_examples_load_and_move(name: str, needs: str) -> None:
    pytest.importorskip(needs, reason="needs pip install 'rattleback[formats]'")
    scene = rb.Scene.from_file(ARM.parent / name)
    assert scene.import_report.dropped == []
    assert scene.assemble().iterations == 0
    sim = rb.Simulation(scene, time_step=0.002)
    sim.run(0.3)
    assert sim.report.position_error < 1e-6
    assert len(rb.kinematics.Tree.from_file(ARM.parent / name).coordinates) >= 2


def test_loops_that_do_not_close_at_the_start_are_closed_from_elsewhere(tmp_path: Path) -> None:
    """Three bars in one line cannot turn their end to the side: the way there is singular."""
    inertial = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'
    parts = (
        "".join(f'<link name="{name}">{inertial}</link>' for name in "abc") + '<link name="base"/><link name="goal"/>'
    )
    ends = [("base", "a", "0 0 0"), ("a", "b", "1 0 0"), ("b", "c", "1 0 0")]
    for parent, child, place in ends:
        parts += f'<joint name="{child}" type="continuous"><parent link="{parent}"/><child link="{child}"/>'
        parts += f'<origin xyz="{place}"/><axis xyz="0 1 0"/></joint>'
    parts += '<joint name="g" type="fixed"><parent link="base"/><child link="goal"/><origin xyz="1 0 0"/></joint>'
    path = tmp_path / "r.urdf"
    path.write_text(f'<robot name="r">{parts}</robot>')
    scene = rb.Scene.from_file(path, loops=[("goal", "c", "ball")])
    assert scene.assemble().position_error <= 1e-9
    np.testing.assert_allclose(scene["c"].origin, (1, 0, 0), atol=1e-8)


def test_the_pinion_between_two_slides_is_drawn_no_larger_than_they_are_apart() -> None:
    scene = rb.Scene.from_file(ARM)
    pinions = [body for body in scene.bodies if "pinion" in body.name]
    assert pinions
    for body in pinions:
        assert body.shape.radius < 0.01
        assert not body.colliders
