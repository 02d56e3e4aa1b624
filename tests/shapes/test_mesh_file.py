import builtins
from pathlib import Path

import numpy as np
import pytest
import trimesh
from numpy.testing import assert_allclose

from rattleback.core.errors import FileError
from rattleback.shapes import Box, Mesh

BOX_OBJ = """
v 0 0 0
v 2 0 0
v 2 3 0
v 0 3 0
v 0 0 4
v 2 0 4
v 2 3 4
v 0 3 4
f 1 4 3 2
f 5 6 7 8
f 1 2 6 5
f 2 3 7 6
f 3 4 8 7
f 4 1 5 8
"""


@pytest.fixture
def box_obj(tmp_path):
    path = tmp_path / "part.obj"
    path.write_text(BOX_OBJ)
    return path


@pytest.mark.parametrize("read", [Mesh, Mesh.load, lambda path: Mesh(str(path))])
def test_an_obj_box_is_a_box(box_obj, read):
    got = read(box_obj).mass_properties(1.0)
    assert_allclose(got.mass, 24.0, rtol=1e-14)
    assert_allclose(got.center_of_mass, [1.0, 1.5, 2.0], rtol=1e-14)
    assert_allclose(got.inertia, Box(2, 3, 4).mass_properties(1.0).inertia, rtol=1e-13, atol=1e-12)


@pytest.mark.parametrize("kind", ["stl", "stl_ascii", "obj"])
def test_formats_that_repeat_points_come_back_closed(tmp_path, kind):
    ball = trimesh.creation.icosphere(2, radius=0.01)
    path = tmp_path / f"ball.{kind[:3]}"
    ball.export(path, file_type=kind)
    mesh = Mesh(path)
    assert mesh.vertices.shape == ball.vertices.shape
    assert mesh.triangles.shape == ball.faces.shape
    assert_allclose(mesh.volume(), ball.volume, rtol=1e-5)


def test_corners_with_normals_of_their_own_are_joined(tmp_path):
    path = tmp_path / "faceted.obj"
    normals = "\nvn 0 0 -1\nvn 0 0 1\nvn 0 -1 0\nvn 1 0 0\nvn 0 1 0\nvn -1 0 0\n"
    points, faces = BOX_OBJ.split("f ", 1)
    rows = ["f " + " ".join(f"{i}//{k + 1}" for i in row.lstrip("f ").split()) for k, row in
            enumerate(("f " + faces).strip().splitlines())]  # fmt: skip
    path.write_text(points + normals + "\n".join(rows) + "\n")
    assert_allclose(Mesh(path).volume(), 24.0, rtol=1e-14)


def test_triangles_without_area_are_left_out(tmp_path):
    path = tmp_path / "sliver.obj"
    path.write_text(BOX_OBJ + "v 0 0 0\nf 1 9 2\n")
    mesh = Mesh(path)
    assert mesh.triangles.shape == (12, 3)
    assert_allclose(mesh.volume(), 24.0, rtol=1e-14)


def test_points_keep_the_order_of_the_file(box_obj):
    expected = [[float(x) for x in row.split()[1:]] for row in BOX_OBJ.splitlines() if row.startswith("v ")]
    assert np.array_equal(Mesh(box_obj).vertices, expected)


def test_a_missing_file_is_named():
    with pytest.raises(FileError, match=r"^There is no mesh file 'nowhere\.obj'\.$"):
        Mesh(Path("nowhere.obj"))


def test_a_file_of_unknown_kind_is_named(tmp_path):
    path = tmp_path / "part.xyzzy"
    path.write_text("nothing")
    with pytest.raises(FileError, match=r"^The mesh file '.*part\.xyzzy' cannot be read: "):
        Mesh(path)


def test_a_file_without_triangles_is_named(tmp_path):
    path = tmp_path / "points.obj"
    path.write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\n")
    with pytest.raises(FileError, match=r"^The mesh file '.*points\.obj' holds no triangles\.$"):
        Mesh(path)


def test_a_file_with_infinite_points_is_named(tmp_path):
    path = tmp_path / "burst.obj"
    path.write_text("v 0 0 0\nv inf 0 0\nv 0 1 0\nf 1 2 3\n")
    with pytest.raises(FileError, match=r"^The mesh file '.*burst\.obj' holds points that are not finite\.$"):
        Mesh(path)


def test_without_trimesh_the_message_names_the_extra(box_obj, monkeypatch):
    real_import = builtins.__import__

    def without_trimesh(name, *args, **kwargs):
        if name == "trimesh":
            raise ImportError(name)
        return real_import(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", without_trimesh)
    with pytest.raises(FileError) as caught:
        Mesh(box_obj)
    assert str(caught.value) == (
        f"Reading the mesh file {str(box_obj)!r} needs trimesh; install it with: pip install 'rattleback[formats]'."
    )
