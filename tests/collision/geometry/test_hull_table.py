"""The tables of corners, edges and faces: loops, sides, planes and spokes of boxes and hulls."""

import numpy as np
import pytest
from scipy.spatial import ConvexHull as QuickHull

from rattleback.collision.geometry.hull_table import BOX_CORNERS, HullTable
from rattleback.core import arrays
from rattleback.shapes import ConvexHull

RNG = np.random.default_rng(7)


def ball(count, stretch=(1.0, 1.0, 1.0), shift=(0.0, 0.0, 0.0)):
    points = RNG.normal(size=(count, 3))
    return points / np.linalg.norm(points, axis=1)[:, None] * stretch + shift


PRISM = [(np.cos(t), np.sin(t), z) for t in np.arange(6) * np.pi / 3 for z in (-0.5, 0.5)]
SOLIDS = {
    "box": (0.5, 1.0, 2.0),
    "tetrahedron": ConvexHull([(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)]),
    "prism": ConvexHull(PRISM),
    "ball": ConvexHull(ball(40)),
    "needle": ConvexHull(ball(20, (1.0, 1e-3, 1e-3), (3.0, -1.0, 2.0))),
    "cube": ConvexHull(BOX_CORNERS * 1e-3),
}
FACES = {"box": 6, "tetrahedron": 4, "prism": 8, "cube": 6}


@pytest.fixture(scope="module")
def table():
    """All solids in one table, so that every row but the first has an offset, and loose vertices in between."""
    made = HullTable()
    rows = {}
    for name, solid in SOLIDS.items():
        rows[name] = made.box(solid) if isinstance(solid, tuple) else made.hull(solid)
        made.loose(np.ones((3, 3)))
    return made, rows, arrays.read(made.tables("cpu"))


@pytest.fixture(params=SOLIDS)
def one(request, table):
    """Name, row and tables of one solid."""
    _, rows, tables = table
    return request.param, rows[request.param], tables


def own(tables, row, name):
    """The global numbers of the vertices, edges or faces of a row."""
    counts = "vertices" if name == "vertex" else f"{name}s"
    return range(tables[f"first_{name}"][row], tables[f"first_{name}"][row] + tables[counts][row])


def loop(tables, face, what="corner"):
    first = tables["face_corner"][face]
    return list(tables[what][first : first + tables["face_corners"][face]])


def test_the_vertices_are_those_of_the_solid(one):
    name, row, tables = one
    solid = SOLIDS[name]
    expected = BOX_CORNERS * solid if isinstance(solid, tuple) else solid.vertices
    np.testing.assert_array_equal(tables["vertex"][own(tables, row, "vertex")], expected)


def test_corner_c_of_a_box_has_the_signs_of_its_bits(table):
    _, rows, tables = table
    for c, v in enumerate(own(tables, rows["box"], "vertex")):
        signs = [1 if c >> axis & 1 else -1 for axis in range(3)]
        np.testing.assert_array_equal(np.sign(tables["vertex"][v]), signs)


def test_vertices_edges_and_faces_obey_euler(one):
    name, row, tables = one
    assert tables["vertices"][row] - tables["edges"][row] + tables["faces"][row] == 2
    assert FACES.get(name, tables["faces"][row]) == tables["faces"][row]


def test_planes_hold_their_corners_and_have_all_vertices_below(one):
    _, row, tables = one
    vertices = tables["vertex"][own(tables, row, "vertex")]
    size = np.abs(vertices).max()
    for f in own(tables, row, "face"):
        normal, offset = tables["plane"][f][:3], tables["plane"][f][3]
        assert np.linalg.norm(normal) == pytest.approx(1.0, abs=1e-15)
        assert (vertices @ normal - offset).max() <= 1e-12 * size
        np.testing.assert_allclose(tables["vertex"][loop(tables, f)] @ normal, offset, atol=1e-12 * size)


def test_planes_are_those_of_quickhull(one):
    _, row, tables = one
    vertices = tables["vertex"][own(tables, row, "vertex")]
    reference = QuickHull(vertices).equations
    for f in own(tables, row, "face"):
        normal, offset = tables["plane"][f][:3], tables["plane"][f][3]
        nearest = np.argmax(reference[:, :3] @ normal)
        np.testing.assert_allclose(reference[nearest, :3], normal, atol=1e-9)
        assert -reference[nearest, 3] == pytest.approx(offset, abs=1e-9 * np.abs(vertices).max())


def test_loops_run_anticlockwise_seen_from_outside(one):
    _, row, tables = one
    for f in own(tables, row, "face"):
        corners = tables["vertex"][loop(tables, f)]
        sides = np.roll(corners, -1, axis=0) - corners
        turns = np.cross(sides, np.roll(sides, -1, axis=0)) @ tables["plane"][f][:3]
        assert (turns > 0.0).all()


def test_corners_name_the_edge_to_the_next_corner_and_the_face_across_it(one):
    _, row, tables = one
    for f in own(tables, row, "face"):
        corners, edges, faces = (loop(tables, f, what) for what in ("corner", "corner_edge", "corner_face"))
        for a, b, e, across in zip(corners, corners[1:] + corners[:1], edges, faces, strict=True):
            assert {tables["edge_tail"][e], tables["edge_head"][e]} == {a, b}
            assert {tables["edge_left"][e], tables["edge_right"][e]} == {f, across}
            assert across != f
            assert set(loop(tables, across)) >= {a, b}


def test_the_loop_of_the_left_face_runs_along_an_edge_and_that_of_the_right_against_it(one):
    _, row, tables = one
    for e in own(tables, row, "edge"):
        tail, head = tables["edge_tail"][e], tables["edge_head"][e]
        left, right = loop(tables, tables["edge_left"][e]), loop(tables, tables["edge_right"][e])
        assert left[(left.index(tail) + 1) % len(left)] == head
        assert right[(right.index(head) + 1) % len(right)] == tail
        # The inside of the left face is to the left, seen from outside.
        normal = tables["plane"][tables["edge_left"][e]][:3]
        way = tables["vertex"][head] - tables["vertex"][tail]
        middle = tables["vertex"][left].mean(axis=0) - tables["vertex"][tail]
        assert np.cross(normal, way) @ middle > 0.0


def test_spokes_are_the_edges_of_a_vertex(one):
    _, row, tables = one
    for v in own(tables, row, "vertex"):
        first = tables["vertex_edge"][v]
        spokes = tables["spoke"][first : first + tables["vertex_edges"][v]]
        ends = [e for e in own(tables, row, "edge") if v in (tables["edge_tail"][e], tables["edge_head"][e])]
        assert sorted(spokes) == ends
        assert len(spokes) >= 3


def test_the_centre_lies_inside(one):
    _, row, tables = one
    planes = tables["plane"][own(tables, row, "face")]
    assert (planes[:, :3] @ tables["center"][row] < planes[:, 3]).all()


def test_a_solid_is_kept_once(table):
    made, rows, tables = table
    assert made.box((0.5, 1.0, 2.0)) == rows["box"]
    assert made.hull(ConvexHull(SOLIDS["prism"].vertices)) == rows["prism"]
    assert made.span(rows["prism"]) == (tables["first_vertex"][rows["prism"]], 12)


def test_loose_vertices_have_no_edges():
    made = HullTable()
    made.box((1.0, 1.0, 1.0))
    corners = np.arange(18.0).reshape(6, 3)
    assert made.loose(corners) == 8
    tables = arrays.read(made.tables("cpu"))
    np.testing.assert_array_equal(tables["vertex"][8:], corners)
    assert not tables["vertex_edges"][8:].any()


def test_an_empty_table_has_no_rows():
    assert len(HullTable().tables("cpu").center) == 0
