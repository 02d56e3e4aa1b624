import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from rattleback.core.errors import InputError, UnknownName
from rattleback.shapes import (
    MENU,
    Box,
    Capsule,
    Compound,
    Cone,
    ConvexHull,
    Cylinder,
    Ellipsoid,
    HeightField,
    Mesh,
    Placed,
    Plane,
    Shape,
    Sphere,
    from_data,
    to_data,
)

size = st.floats(1e-3, 1e3)
point = st.tuples(*[st.floats(-1e3, 1e3)] * 3)
TETRAHEDRON = [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]]
CORNERS = [[x, y, z] for x in (0, 1) for y in (0, 2) for z in (0, 3)]
turn = st.tuples(*[st.floats(-3, 3)] * 3).map(lambda v: tuple(Rotation.from_rotvec(v).as_quat()))
simple = st.one_of(
    st.builds(Sphere, size),
    st.builds(Box, size, size, size),
    st.builds(lambda r, s: Capsule(r, s + 2 * r), size, size),
    st.builds(Cylinder, size, size),
    st.builds(Cone, size, size),
    st.builds(Ellipsoid, size, size, size),
    st.builds(lambda points: Mesh(points, [[0, 1, 2], [1, 2, 3]]), st.lists(point, min_size=4, max_size=6)),
    st.builds(
        lambda a, b, c: Mesh([[0, 0, 0], [a, 0, 0], [0, b, 0], [0, 0, c]], TETRAHEDRON, decompose=True),
        size,
        size,
        size,
    ),
    st.builds(lambda q, s: ConvexHull(s * Rotation.from_quat(q).apply(CORNERS)), turn, size),
)
plane = st.builds(Plane, point.filter(lambda n: np.linalg.norm(n) > 1e-3), st.floats(-1e3, 1e3))
ground = st.builds(
    HeightField, st.lists(st.tuples(size, size, size), min_size=2, max_size=4), st.one_of(size, st.tuples(size, size))
)
nested = st.recursive(
    simple,
    lambda inner: st.builds(Compound, st.lists(st.builds(Placed, inner, point, turn, size), min_size=1, max_size=3)),
    max_leaves=5,
)


@given(st.one_of(nested, plane, ground))
def test_every_shape_comes_back_exactly_through_json(shape):
    data = to_data(shape)
    again = from_data(json.loads(json.dumps(data)))
    assert again == shape
    assert hash(again) == hash(shape)
    assert to_data(again) == data


def test_the_menu_names_every_shape():
    assert [kind.__name__.lower() for kind in MENU.values()] == [name.replace("_", "") for name in MENU]
    assert len(MENU) == 11
    for kind in MENU.values():
        assert issubclass(kind, Shape)


def test_data_read_like_the_constructor():
    assert to_data(Box(1, 2, 3)) == {"kind": "box", "x": 1.0, "y": 2.0, "z": 3.0}
    assert from_data({"kind": "plane"}) == Plane()
    assert to_data(Compound([Placed(Sphere(1))])) == {
        "kind": "compound",
        "parts": [
            {
                "shape": {"kind": "sphere", "radius": 1.0},
                "position": [0.0, 0.0, 0.0],
                "orientation": [0.0, 0.0, 0.0, 1.0],
                "density_ratio": 1.0,
            }
        ],
    }
    assert to_data(HeightField([[1, 2], [3, 4]], 0.5)) == {
        "kind": "height_field",
        "heights": [[1.0, 2.0], [3.0, 4.0]],
        "spacing": [0.5, 0.5],
    }
    corners = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
    assert to_data(ConvexHull([*corners, [0.1, 0.1, 0.1]])) == {"kind": "convex_hull", "points": corners}
    part = {"shape": {"kind": "sphere", "radius": 1}}
    assert from_data({"kind": "compound", "parts": [part]}) == Compound([Placed(Sphere(1))])


def test_reading_leaves_the_data_as_they_were():
    data = to_data(Compound([Placed(Sphere(1))]))
    before = json.dumps(data)
    from_data(data)
    assert json.dumps(data) == before


KINDS = (
    "'sphere', 'box', 'capsule', 'cylinder', 'cone', 'ellipsoid', 'plane', 'mesh', 'compound', "
    "'convex_hull', 'height_field'"
)


@pytest.mark.parametrize(
    ("data", "kind", "message"),
    [
        (
            {"kind": "spere", "radius": 1},
            UnknownName,
            f"A shape has the kind 'spere', which does not exist. Did you mean 'sphere'? The menu: {KINDS}.",
        ),
        ({"radius": 1}, UnknownName, f"A shape has no kind. The menu: {KINDS}."),
        ({"kind": ["box"]}, UnknownName, f"A shape has the kind ['box'], which does not exist. The menu: {KINDS}."),
        (
            {"kind": "box", "x": 1, "y": 1, "zz": 1},
            InputError,
            "A shape of kind 'box' has no option 'zz'. Did you mean 'z'? It takes 'x', 'y', 'z'.",
        ),
        ({"kind": "box", "x": 1}, InputError, "A shape of kind 'box' lacks 'y', 'z'; it takes 'x', 'y', 'z'."),
        (
            {"kind": "mesh"},
            InputError,
            "A shape of kind 'mesh' lacks 'vertices'; it takes 'vertices', 'triangles', 'decompose'.",
        ),
        (
            {"kind": "mesh", "vertices": "part.obj"},
            InputError,
            "The array of vertices of a shape of kind 'mesh' is 'part.obj'; it must be nx3 numbers.",
        ),
        (
            {"kind": "mesh", "vertices": [[0, 0, 0]]},
            InputError,
            "Mesh has vertices but no triangles; give triangles= or the path of a file.",
        ),
        ({"kind": "compound"}, InputError, "A shape of kind 'compound' lacks 'parts'; it takes 'parts'."),
        (
            {"kind": "compound", "parts": 3},
            InputError,
            "The parts of a shape of kind 'compound' is 3; it must be a list.",
        ),
        (
            {"kind": "compound", "parts": [3]},
            InputError,
            "Part 0 of a shape of kind 'compound' is 3; it must be a table with named fields, such as {'kind': "
            "'sphere'}.",
        ),
        (
            {"kind": "compound", "parts": [{"place": 3}]},
            InputError,
            "Part 0 of a shape of kind 'compound' has no option 'place'. It takes 'shape', 'position', 'orientation', "
            "'density_ratio'.",
        ),
        (
            {"kind": "compound", "parts": [{}]},
            InputError,
            "Part 0 of a shape of kind 'compound' lacks 'shape'; it takes 'shape', 'position', 'orientation', "
            "'density_ratio'.",
        ),
        (3, InputError, "A shape is 3; it must be a table with named fields, such as {'kind': 'sphere'}."),
        (
            {"kind": "sphere", "radius": -1},
            InputError,
            "The radius of Sphere is -1; it must be greater than zero.",
        ),
    ],
)
def test_data_that_describe_no_shape_are_refused(data, kind, message):
    with pytest.raises(kind) as caught:
        from_data(data)
    assert str(caught.value) == message


def test_only_shapes_of_the_menu_are_stored():
    with pytest.raises(InputError) as caught:
        to_data("ball")
    assert str(caught.value) == f"'ball' cannot be stored; shapes that can: {KINDS}."
