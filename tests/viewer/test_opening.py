"""Files that are opened or dropped on the page: meshes become bodies, and no file reads another or runs anything."""

import base64
import json
import runpy

import numpy as np
import pytest

import rattleback as rb
from rattleback.viewer.building.opening import opened, opened_mesh
from rattleback.viewer.panels.files import SCENE_FILE, SCRIPT, Files

CORNERS = ((0, 0, 0), (200, 0, 0), (0, 200, 0), (0, 0, 200))
FACES = ((0, 2, 1), (0, 1, 3), (1, 2, 3), (2, 0, 3))
OBJ = "\n".join([
    "mtllib ../../../../../../../../etc/hostname",
    *("v {} {} {}".format(*corner) for corner in CORNERS),
    *("f {} {} {}".format(*(corner + 1 for corner in face)) for face in FACES),
])  # fmt: skip


def ball():
    scene = rb.Scene(name="a ball")
    scene.add_static(rb.Plane(), name="ground")
    scene.add_body(rb.Sphere(0.1), position=(0, 0, 1), name="ball")
    return scene


@pytest.fixture
def files(open_page):
    return open_page(rb.Simulation(ball(), time_step=0.002), Files).parts[0]


def gltf(uri, length):
    """A glTF file with a triangle in a buffer of its own, or in a file."""
    indices = {"bufferView": 0, "componentType": 5125, "count": 3, "type": "SCALAR"}
    places = {"bufferView": 1, "componentType": 5126, "count": 3, "type": "VEC3", "min": [0, 0, 0], "max": [1, 1, 1]}
    return json.dumps({
        "asset": {"version": "2.0"}, "scene": 0, "scenes": [{"nodes": [0]}], "nodes": [{"mesh": 0}],
        "meshes": [{"primitives": [{"attributes": {"POSITION": 1}, "indices": 0}]}],
        "buffers": [{"uri": uri, "byteLength": length}],
        "bufferViews": [{"buffer": 0, "byteOffset": 0, "byteLength": 12},
                        {"buffer": 0, "byteOffset": 12, "byteLength": 36}],
        "accessors": [indices, places],
    }).encode()  # fmt: skip


def test_a_mesh_becomes_a_body_of_the_size_and_density_that_are_asked_for(files, person, until):
    session = files.session
    files.open("wedge.obj", OBJ.encode())
    fields = files.meshes.fields
    assert not fields["static"].value
    for key, value in (("scale", "0.001"), ("position", "0, 0, 2"), ("density", "500")):
        person.turn(fields[key], value)
    files.meshes.add("wedge.obj", OBJ.encode()).result()
    wedge = session.frame.picture.scene["wedge"]
    assert wedge.mass == pytest.approx(500 * 0.2**3 / 6)
    assert wedge.position == pytest.approx([0.05, 0.05, 2.05])
    assert type(wedge.colliders[0].shape) is rb.ConvexHull
    until(lambda: not files.meshes.fields)
    assert len(session.frame.picture.scene) == 3
    session.undo().result()
    assert "wedge" not in session.frame.picture.scene


def test_a_mesh_that_is_open_is_static_and_one_that_is_refused_says_why(files, person, until):
    open_mesh = OBJ.rsplit("\n", 1)[0].encode()
    files.open("floor.obj", open_mesh)
    assert files.meshes.fields["static"].value
    files.meshes.add("floor.obj", open_mesh).result()
    assert files.session.frame.picture.scene["floor"].static
    until(lambda: not files.meshes.fields)
    files.open("floor.obj", open_mesh)
    person.turn(files.meshes.fields["static"], False)
    with pytest.raises(rb.InputError, match="cannot be closed"):
        files.meshes.add("floor.obj", open_mesh).result()
    with pytest.raises(rb.FileError, match=r"'junk.stl' (cannot be read|holds no triangles)"):
        files.open("junk.stl", b"no mesh at all")


def test_a_mesh_reads_no_other_file(tmp_path):
    inside = np.array((0, 1, 2), "<u4").tobytes() + np.eye(3, dtype="<f4").tobytes()
    whole = "data:application/octet-stream;base64," + base64.b64encode(inside).decode()
    assert len(opened_mesh("own.gltf", gltf(whole, len(inside))).triangles) == 1
    (tmp_path / "secret.bin").write_bytes(inside)
    for uri in (
        str(tmp_path / "secret.bin"),
        "../" * 12 + str(tmp_path / "secret.bin"),
        f"file://{tmp_path}/secret.bin",
    ):
        with pytest.raises(rb.FileError, match="'theft.gltf' cannot be read"):
            opened_mesh("theft.gltf", gltf(uri, len(inside)))


@pytest.mark.parametrize("way", ["{}", "file://{}", "../../../../../../../..{}", "package://{}"])
def test_a_robot_reads_no_other_file(tmp_path, way):
    (tmp_path / "part.obj").write_text(OBJ)
    (tmp_path / "package.xml").write_text("<package/>")
    inertia = '<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/>'
    robot = f"""<robot name="thief"><link name="base"/><joint name="free" type="floating"><parent link="base"/>
        <child link="arm"/></joint><link name="arm"><visual><geometry>
        <mesh filename="{way.format(tmp_path / "part.obj")}"/></geometry></visual>
        <inertial><mass value="1"/>{inertia}</inertial></link></robot>"""
    scene = opened("thief.urdf", robot.encode(), "cpu").scene
    assert "part.obj" in str(scene.import_report)
    assert not any(isinstance(body.shape, rb.Mesh) for body in scene.bodies)


def test_scenes_are_saved_as_files_and_as_scripts_that_make_them(files, person, until, tmp_path):
    for kind, name in ((SCENE_FILE, "a_ball.rb.json"), (SCRIPT, "a_ball.py")):
        files.download_scene(person, kind)
        (tmp_path / name).write_bytes(person.files[name])
    loaded = rb.Scene.load(tmp_path / "a_ball.rb.json")
    made = runpy.run_path(str(tmp_path / "a_ball.py"))["scene"]
    made.save(tmp_path / "again.rb.json")
    assert (tmp_path / "again.rb.json").read_bytes() == person.files["a_ball.rb.json"]
    assert loaded["ball"].mass == made["ball"].mass
    assert b"time_step=0.002" in person.files["a_ball.py"]


def test_a_file_that_is_dropped_is_opened_and_one_that_cannot_be_read_is_no_success(files, visit, until, open_page):
    page = visit(files.window.address, 600, 640)
    page.evaluate("document.querySelectorAll('canvas').forEach(canvas => canvas.remove())")
    page.get_by_text("Files", exact=True).first.click()
    page.get_by_role("button", name="Open file").wait_for()
    drop = """([name, text]) => {
        const data = new DataTransfer();
        data.items.add(new File([text], name));
        document.body.dispatchEvent(new DragEvent("drop", {dataTransfer: data, bubbles: true, cancelable: true}));
    }"""
    page.evaluate(drop, ["junk.stl", "no mesh at all"])
    page.get_by_text("The mesh file 'junk.stl'").wait_for()
    page.get_by_text("The file has arrived.").wait_for()
    assert page.get_by_text("uploaded successfully").count() == 0
    page.evaluate(drop, ["wedge.obj", OBJ])
    page.get_by_text("4 triangles, 200 × 200 × 200 in the unit of the file; it bounds a solid.").wait_for()
    page.get_by_role("button", name="Add body").click()
    until(lambda: "wedge" in files.session.frame.picture.scene)
