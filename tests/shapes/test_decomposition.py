"""Meshes split into convex parts: together they fill the solid, and what was found once is not sought again."""

import builtins
import copy
import functools
import pickle
import shutil
import subprocess
import sys
from itertools import product
from pathlib import Path

import numpy as np
import pytest
import trimesh
from numpy.testing import assert_allclose

from rattleback.core.errors import InputError
from rattleback.shapes import ConvexHull, Mesh, convex_search, from_data, to_data
from rattleback.shapes import decomposition as room

pytest.importorskip("coacd")
SEARCH = convex_search.search

OUTLINE = np.array([(0, 0), (2, 0), (2, 1), (1, 1), (1, 2), (0, 2)], dtype=float)
LID = [(0, 1, 2), (0, 2, 3), (0, 3, 4), (0, 4, 5)]
WALL = [triangle for i in range(6) for j in [(i + 1) % 6] for triangle in [(i, j, j + 6), (i, j + 6, i + 6)]]
ANGLE = (
    np.vstack([np.column_stack([OUTLINE, np.full(6, z)]) for z in (0.0, 1.0)]),
    [*((c, b, a) for a, b, c in LID), *((a + 6, b + 6, c + 6) for a, b, c in LID), *WALL],
)
CUBE = trimesh.creation.box()


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    """A cache of its own for every test."""
    folder = tmp_path / "cache"
    monkeypatch.setenv("RATTLEBACK_CACHE", str(folder))
    return folder / "decompositions"


@functools.cache
def searched(vertices, triangles, options):
    """What CoACD finds, sought once for all tests that ask whether it is asked, not what it says."""
    return SEARCH(np.array(vertices), np.array(triangles), dict(options))


@pytest.fixture
def runs(monkeypatch):
    """A list that grows by one with every run of CoACD."""
    made = []

    def run(vertices, triangles, options):
        made.append(1)
        return searched(*(tuple(map(tuple, part)) for part in (vertices, triangles)), tuple(options.items()))

    monkeypatch.setattr(convex_search, "search", run)
    return made


def parts_of(*mesh):
    return Mesh(*mesh, decompose=True).parts


def inside(parts, points):
    """Whether each point lies in some part."""
    found = np.zeros(len(points), dtype=bool)
    for part in parts:
        hull = trimesh.convex.convex_hull(part.vertices)
        reach = (hull.face_normals * hull.triangles[:, 0]).sum(axis=1)
        found |= (points @ hull.face_normals.T <= reach + 1e-9).all(axis=1)
    return found


def test_an_angle_is_two_parts_that_fill_it():
    parts = parts_of(*ANGLE)
    assert len(parts) == 2
    assert all(isinstance(part, ConvexHull) for part in parts)
    points = np.random.default_rng(0).random((20000, 3)) * [2, 2, 1]
    solid = (points[:, 0] < 1) | (points[:, 1] < 1)
    assert np.mean(inside(parts, points) != solid) < 0.005
    assert_allclose(sum(part.volume() for part in parts), 3.0, rtol=0.005)


def test_the_hole_of_a_ring_stays_open():
    ring = trimesh.creation.annulus(0.5, 1.0, 0.4, sections=32)
    parts = parts_of(ring.vertices, ring.faces)
    points = (np.random.default_rng(0).random((20000, 3)) - 0.5) * [2, 2, 0.4]
    filled = inside(parts, points).mean() * 2 * 2 * 0.4
    assert_allclose(filled, ring.volume, rtol=0.04)
    assert not inside(parts, points[np.hypot(points[:, 0], points[:, 1]) < 0.4]).any()


def test_mass_and_size_stay_those_of_the_mesh():
    whole, split = Mesh(*ANGLE), Mesh(*ANGLE, decompose=True)
    assert split.volume() == whole.volume()
    ours, theirs = split.mass_properties(2.0), whole.mass_properties(2.0)
    assert ours.mass == theirs.mass
    assert (ours.inertia == theirs.inertia).all()
    assert np.array_equal(split.bounds(), whole.bounds())
    assert (split.support((1, 2, 3)) == whole.support((1, 2, 3))).all()


@pytest.mark.parametrize("solid", [CUBE, trimesh.creation.icosphere(2), trimesh.creation.cone(1, 2)])
def test_a_convex_mesh_is_one_part_and_needs_no_search(solid, runs, cache):
    (part,) = parts_of(solid.vertices, solid.faces)
    assert_allclose(part.volume(), solid.volume, rtol=1e-9)
    assert_allclose(part.bounds(), solid.bounds, rtol=1e-12)
    assert runs == []
    assert not cache.exists()


def test_what_was_found_once_is_read_from_the_disk(runs, cache):
    first = parts_of(*ANGLE)
    again = parts_of(*ANGLE)
    assert len(runs) == 1
    assert again == first
    assert [part.faces for part in again] == [part.faces for part in first]
    assert len(list(cache.iterdir())) == 1


def test_the_search_finds_the_same_parts_every_time(monkeypatch, tmp_path):
    first = parts_of(*ANGLE)
    monkeypatch.setenv("RATTLEBACK_CACHE", str(tmp_path / "other"))
    assert parts_of(*ANGLE) == first


def test_another_mesh_and_other_parameters_are_sought_anew(runs, monkeypatch):
    points, triangles = ANGLE
    parts_of(points, triangles)
    parts_of(points * [1, 1, 2], triangles)
    parts_of(points, triangles[::-1])
    monkeypatch.setitem(room.PARAMETERS, "threshold", 0.1)
    parts_of(points, triangles)
    monkeypatch.setattr("importlib.metadata.version", lambda name: "0")
    parts_of(points, triangles)
    assert len(runs) == 5


DAMAGE = {
    "empty": lambda content: b"",
    "short": lambda content: content[: len(content) // 2],
    "bit": lambda content: content[:200] + bytes([content[200] ^ 1]) + content[201:],
    "other": lambda content: b"not an archive",
    "pickle": lambda content: pickle.dumps("no"),
}


@pytest.mark.parametrize("damage", DAMAGE.values(), ids=DAMAGE)
def test_a_damaged_file_is_found_anew_and_mended(damage, runs, cache):
    first = parts_of(*ANGLE)
    (path,) = cache.iterdir()
    path.write_bytes(damage(path.read_bytes()))
    assert parts_of(*ANGLE) == first
    assert len(runs) == 2
    assert parts_of(*ANGLE) == first
    assert len(runs) == 2


def test_without_a_place_to_keep_them_the_parts_are_found_all_the_same(runs, tmp_path, monkeypatch):
    blocked = tmp_path / "file"
    blocked.write_text("in the way")
    monkeypatch.setenv("RATTLEBACK_CACHE", str(blocked))
    assert len(parts_of(*ANGLE)) == 2
    assert len(runs) == 1


def test_nothing_is_sought_before_the_parts_are_asked_for(runs):
    mesh = Mesh(*ANGLE, decompose=True)
    mesh.mass_properties(1.0)
    assert runs == []
    assert mesh.parts is mesh.parts
    assert len(runs) == 1


def test_vertices_without_triangles_do_not_matter(runs):
    points, triangles = ANGLE
    first = parts_of(points, triangles)
    assert parts_of([*points, [9, 9, 9]], triangles) == first
    assert len(runs) == 1


def test_the_search_prints_nothing():
    angle = f"{ANGLE[0].tolist()}, {ANGLE[1]}"
    code = f"from rattleback.shapes import Mesh; Mesh({angle}, decompose=True).parts"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
    assert (done.stdout, done.stderr) == (b"", b"")


def test_chips_without_volume_are_left_out(monkeypatch):
    cube = np.array(list(product([0.0, 1.0], repeat=3)))
    monkeypatch.setattr(convex_search, "search", lambda *_: [cube, cube * [1, 1, 0]])
    assert parts_of(*ANGLE) == (ConvexHull(cube),)


def test_finding_nothing_is_an_error_not_an_empty_body(monkeypatch):
    monkeypatch.setattr(convex_search, "search", lambda *_: [])
    with pytest.raises(InputError) as caught:
        parts_of(*ANGLE)
    assert str(caught.value) == "CoACD finds no parts in a mesh of 20 triangles; use a Compound instead."


def test_a_search_that_breaks_down_or_does_not_end_is_an_error_of_the_mesh(monkeypatch, tmp_path):
    """The process of the search is killed from outside: by a limit of time, and as one that breaks down."""
    advice = "a mesh of 20 triangles; use a mesh that does not cut itself and has fewer of them, or a Compound."
    monkeypatch.setattr(convex_search, "PATIENCE", 0.001)
    with pytest.raises(InputError) as caught:
        parts_of(*ANGLE)
    assert str(caught.value) == f"CoACD needs more than 0.001 s for {advice}"
    monkeypatch.undo()
    monkeypatch.setenv("RATTLEBACK_CACHE", str(tmp_path))
    monkeypatch.setattr(sys, "executable", shutil.which("false"))
    with pytest.raises(InputError) as caught:
        parts_of(*ANGLE)
    assert str(caught.value) == f"CoACD breaks down on {advice}"


def test_without_coacd_the_message_names_the_extra(monkeypatch):
    real_import = builtins.__import__

    def without_coacd(name, *args, **kwargs):
        if name == "coacd":
            raise ImportError(name)
        return real_import(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", without_coacd)
    with pytest.raises(InputError) as caught:
        parts_of(*ANGLE)
    assert str(caught.value) == (
        "Decomposing a mesh that is not convex needs coacd; install it with: pip install 'rattleback[formats]'."
    )
    assert len(parts_of(CUBE.vertices, CUBE.faces)) == 1


def test_only_a_mesh_to_be_split_has_parts():
    with pytest.raises(InputError) as caught:
        Mesh(*ANGLE).parts  # noqa: B018
    assert str(caught.value) == (
        "Mesh(12 vertices, 20 triangles) is not split into convex parts; make it with decompose=True."
    )


@pytest.mark.parametrize("triangles", [ANGLE[1][:-1], [row[::-1] for row in ANGLE[1]]], ids=["open", "inside out"])
def test_a_mesh_that_bounds_no_solid_cannot_be_split(triangles):
    with pytest.raises(InputError) as caught:
        Mesh(ANGLE[0], triangles, decompose=True)
    assert str(caught.value) == (
        f"Mesh(12 vertices, {len(triangles)} triangles, decompose=True) bounds no solid that could be split into "
        "parts; mend it, or leave out decompose=True. Without that, its volume() says what is wrong."
    )


def test_the_option_is_true_or_false():
    with pytest.raises(InputError, match=r"^The option decompose of Mesh is 'yes'; it must be True or False\.$"):
        Mesh(*ANGLE, decompose="yes")


def test_split_meshes_are_equal_to_split_meshes_only():
    split = Mesh(*ANGLE, decompose=True)
    assert split == Mesh(*ANGLE, decompose=True)
    assert hash(split) == hash(Mesh(*ANGLE, decompose=True))
    assert split != Mesh(*ANGLE)
    assert repr(split) == "Mesh(12 vertices, 20 triangles, decompose=True)"


@pytest.mark.parametrize(
    "again", [copy.copy, copy.deepcopy, lambda m: pickle.loads(pickle.dumps(m)), lambda m: from_data(to_data(m))]
)
def test_copies_of_a_split_mesh_are_split(again):
    mesh = again(Mesh(*ANGLE, decompose=True))
    assert mesh == Mesh(*ANGLE, decompose=True)
    assert mesh.decompose is True


@pytest.mark.parametrize("read", [Mesh, Mesh.load])
def test_a_file_is_split_on_request(read, tmp_path):
    path = tmp_path / "angle.obj"
    trimesh.Trimesh(*ANGLE, process=False).export(path)
    assert len(read(path, decompose=True).parts) == 2
    assert read(path).decompose is False


@pytest.mark.parametrize(
    ("platform", "variables", "expected"),
    [
        ("linux", {"RATTLEBACK_CACHE": "own", "XDG_CACHE_HOME": "xdg"}, "own"),
        ("linux", {"XDG_CACHE_HOME": "xdg"}, "xdg/rattleback"),
        ("linux", {}, "home/.cache/rattleback"),
        ("darwin", {}, "home/.cache/rattleback"),
        ("win32", {"LOCALAPPDATA": "local", "XDG_CACHE_HOME": "xdg"}, "local/rattleback"),
        ("win32", {}, "home/AppData/Local/rattleback"),
    ],
)
def test_the_cache_lies_where_the_system_keeps_such_files(platform, variables, expected, monkeypatch):
    for name in ("RATTLEBACK_CACHE", "XDG_CACHE_HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(sys, "platform", platform)
    monkeypatch.setattr(Path, "home", lambda: Path("home"))
    assert room.cache_folder() == Path(expected)
