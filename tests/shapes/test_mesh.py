"""Triangle meshes against trimesh, against exact rational integrals over the surface, and against closed forms."""

import copy
import pickle
from fractions import Fraction
from itertools import combinations_with_replacement, product

import numpy as np
import pytest
import trimesh
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from rattleback.core.errors import InputError
from rattleback.shapes import Box, Mesh

CORNERS = np.array(list(product([-0.5, 0.5], repeat=3)))
QUADS = [[0, 1, 3, 2], [4, 6, 7, 5], [0, 4, 5, 1], [2, 3, 7, 6], [0, 2, 6, 4], [1, 5, 7, 3]]
FACES = np.array([triangle for a, b, c, d in QUADS for triangle in ([a, b, c], [a, c, d])])
TETRAHEDRON = ([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]], [[0, 2, 1], [0, 1, 3], [1, 2, 3], [0, 3, 2]])

size = st.floats(1e-3, 1e3)


@st.composite
def closed_mesh(draw):
    """Points and triangles of a random closed mesh of unit size, from trimesh."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    kind = draw(st.sampled_from(["hull", "ball", "torus", "two", "shell"]))
    if kind == "hull":
        mesh = trimesh.convex.convex_hull(rng.standard_normal((draw(st.integers(5, 60)), 3)))
    elif kind == "torus":
        mesh = trimesh.creation.torus(1.0, rng.uniform(0.1, 0.9), int(rng.integers(4, 30)), int(rng.integers(3, 12)))
    else:
        mesh = trimesh.creation.icosphere(int(rng.integers(0, 3)))
        other = trimesh.creation.icosphere(1, radius=0.3)
        if kind == "two":
            other.apply_translation([5.0, 1.0, -2.0])
            mesh = trimesh.util.concatenate([mesh, other])
        elif kind == "shell":
            other.invert()
            mesh = trimesh.util.concatenate([mesh, other])
    return np.array(mesh.vertices @ random_stretch(rng)), np.array(mesh.faces)


def random_stretch(rng):
    """A stretch between a half and two along random axes, without mirroring."""
    q, _ = np.linalg.qr(rng.standard_normal((3, 3)))
    return q @ np.diag(rng.uniform(0.5, 2.0, 3)) @ q.T


def rational_properties(vertices, triangles):
    """Volume, centroid and inertia about it in exact arithmetic.

    ∫ (u·r)ᵏ dV = ∮ (u·r)ᵏ⁺¹ u·n dA / ((k + 1) |u|²), and over a triangle with edge product N the power of a linear
    function with corner values t integrates to N j!/(j + 2)! hⱼ(t), hⱼ the complete homogeneous polynomial.
    """
    points = [[Fraction(float(x)) for x in row] for row in vertices]
    corners = [[points[index] for index in row] for row in triangles]

    def integral(u, k):
        total = Fraction(0)
        for a, b, c in corners:
            e, f = ([q - p for p, q in zip(a, other, strict=True)] for other in (b, c))
            n = (e[1] * f[2] - e[2] * f[1], e[2] * f[0] - e[0] * f[2], e[0] * f[1] - e[1] * f[0])
            t = [sum(x * y for x, y in zip(u, p, strict=True)) for p in (a, b, c)]
            j = k + 1
            h = sum(np.prod(term, initial=Fraction(1)) for term in combinations_with_replacement(t, j))
            total += sum(x * y for x, y in zip(u, n, strict=True)) * h / ((j + 1) * (j + 2))
        return total / ((k + 1) * sum(x * x for x in u))

    unit = [[1, 0, 0], [0, 1, 0], [0, 0, 1]]
    volume = integral(unit[0], 0)
    center = [integral(u, 1) / volume for u in unit]

    def central(u):
        return integral(u, 2) - volume * sum(x * c for x, c in zip(u, center, strict=True)) ** 2

    squares = [central(u) for u in unit]
    inertia = np.zeros((3, 3))
    for i in range(3):
        inertia[i, i] = float(sum(squares) - squares[i])
        for j in range(i):
            both = central([x + y for x, y in zip(unit[i], unit[j], strict=True)])
            inertia[i, j] = inertia[j, i] = float(-(both - squares[i] - squares[j]) / 2)
    return float(volume), np.array([float(c) for c in center]), inertia


@settings(deadline=None)
@given(closed_mesh(), size, st.tuples(*[st.floats(-1e3, 1e3)] * 3), st.floats(1e-3, 1e4))
def test_mesh_has_the_mass_properties_trimesh_finds(mesh, scale, sizes_away, density):
    vertices, triangles = mesh
    offset = scale * np.array(sizes_away)
    moved = scale * vertices + offset
    near = trimesh.Trimesh(moved - offset, triangles, process=False)
    got = Mesh(moved, triangles).mass_properties(density)
    inertia = density * near.moment_inertia
    assert_allclose(got.mass, density * near.volume, rtol=1e-9)
    assert_allclose(got.center_of_mass, offset + near.center_mass, rtol=0, atol=1e-9 * scale)
    assert_allclose(got.inertia, inertia, rtol=0, atol=1e-9 * np.linalg.norm(inertia, 2))
    assert_allclose(Mesh(moved, triangles).volume(), near.volume, rtol=1e-9)


@settings(deadline=None, max_examples=20)
@given(st.integers(0, 2**32 - 1), size, st.tuples(*[st.floats(-1e3, 1e3)] * 3))
def test_mesh_far_from_the_origin_keeps_its_digits(seed, scale, sizes_away):
    hull = trimesh.convex.convex_hull(np.random.default_rng(seed).standard_normal((12, 3)))
    vertices = scale * (np.array(hull.vertices) + np.array(sizes_away))
    volume, center, inertia = rational_properties(vertices, hull.faces)
    got = Mesh(vertices, hull.faces).mass_properties(1.0)
    assert_allclose(got.mass, volume, rtol=1e-12)
    assert_allclose(got.center_of_mass, center, rtol=1e-15, atol=1e-13 * scale)
    assert_allclose(got.inertia, inertia, rtol=0, atol=1e-12 * np.linalg.norm(inertia, 2))


@given(size, size, size, st.floats(1e-3, 1e4))
def test_mesh_of_a_box_is_that_box(x, y, z, density):
    mesh = Mesh(CORNERS * [x, y, z], FACES).mass_properties(density)
    box = Box(x, y, z).mass_properties(density)
    assert_allclose(mesh.mass, box.mass, rtol=1e-12)
    assert_allclose(mesh.center_of_mass / [x, y, z], 0.0, atol=1e-12)
    assert_allclose(mesh.inertia, box.inertia, rtol=1e-12, atol=1e-12 * np.trace(box.inertia))
    assert_allclose(np.diag(mesh.inertia), np.diag(box.inertia), rtol=1e-12)


def test_the_corner_tetrahedron_has_its_textbook_properties():
    got = Mesh(*TETRAHEDRON).mass_properties(6.0)
    assert_allclose(got.mass, 1.0, rtol=1e-15)
    assert_allclose(got.center_of_mass, [0.25] * 3, rtol=1e-14)
    assert_allclose(got.inertia, np.full((3, 3), 1 / 80) + np.eye(3) * (3 / 40 - 1 / 80), rtol=1e-13)


def test_the_order_of_triangles_and_corners_does_not_matter():
    rng = np.random.default_rng(1)
    shuffled = np.array([np.roll(row, rng.integers(3)) for row in rng.permutation(FACES)])
    first, second = (Mesh(CORNERS + 3.0, faces).mass_properties(1.0) for faces in (FACES, shuffled))
    assert_allclose(first.inertia, second.inertia, rtol=1e-14, atol=1e-15)


@settings(deadline=None)
@given(closed_mesh(), st.tuples(*[st.floats(-1, 1)] * 3).filter(lambda d: max(map(abs, d)) > 1e-3))
def test_support_bounds_and_radius_belong_to_the_vertices(mesh, d):
    shape = Mesh(*mesh)
    point, d = shape.support(d), np.array(d)
    assert (point == shape.vertices).all(axis=1).any()
    assert (shape.vertices @ d <= point @ d + 1e-14).all()
    low, high = shape.bounds()
    assert (low == shape.vertices.min(axis=0)).all()
    assert (high == shape.vertices.max(axis=0)).all()
    assert_allclose(shape.bounding_radius(), max(np.sqrt((shape.vertices**2).sum(axis=1))), rtol=1e-15)


def test_vertices_without_triangles_do_not_count():
    mesh = Mesh([*TETRAHEDRON[0], [9.0, 9.0, 9.0]], TETRAHEDRON[1])
    assert mesh.bounding_radius() == 1.0
    assert (mesh.bounds()[1] == 1.0).all()
    assert (mesh.support((1, 2, 3)) == [0, 0, 1]).all()
    assert_allclose(mesh.volume(), 1 / 6)


def test_meshes_are_equal_by_content():
    mesh, twin = Mesh(*TETRAHEDRON), Mesh(np.array(TETRAHEDRON[0]) * -0.0 + TETRAHEDRON[0], np.array(TETRAHEDRON[1]))
    assert mesh == twin
    assert hash(mesh) == hash(twin)
    assert mesh != Mesh(2.0 * np.array(TETRAHEDRON[0]), TETRAHEDRON[1])
    assert mesh != Mesh(TETRAHEDRON[0], TETRAHEDRON[1][:3])
    assert mesh != "mesh"
    assert repr(mesh) == "Mesh(4 vertices, 4 triangles)"


@pytest.mark.parametrize("again", [lambda m: m, copy.copy, copy.deepcopy, lambda m: pickle.loads(pickle.dumps(m))])
def test_arrays_of_a_mesh_and_of_its_copies_are_read_only(again):
    vertices = np.array(TETRAHEDRON[0], dtype=float)
    mesh = again(Mesh(vertices, TETRAHEDRON[1]))
    with pytest.raises(ValueError, match="read-only"):
        mesh.vertices[0] = 1.0
    with pytest.raises(ValueError, match="read-only"):
        mesh.triangles[0] = 1
    vertices[0] = 5.0
    assert mesh == Mesh(*TETRAHEDRON)


def test_an_open_mesh_is_a_shape():
    quad = Mesh([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]], [[0, 1, 2], [0, 2, 3]])
    assert (quad.support((1, 1, 0)) == [1, 1, 0]).all()
    assert (quad.bounds()[1] == [1, 1, 0]).all()


FIN = ([*CORNERS, [2, 2, 2], [3, 2, 2]], [*FACES, [0, 1, 8], [0, 8, 1]])
FLAT = np.array([[0, 0], [1, 0], [1, 1], [0.3, 0.7]]) @ np.array([[0.3, 0.4, 0.7], [-0.1, 0.9, 0.2]]) + [1.1, 2.3, 0.1]


@pytest.mark.parametrize(
    ("vertices", "triangles", "message"),
    [
        (
            CORNERS,
            FACES[:-1],
            "Mesh(8 vertices, 11 triangles) is open (3 edges belong to one triangle only); give mass= and inertia= or "
            "close it. Triangles that meet must share their vertices.",
        ),
        (
            TETRAHEDRON[0],
            TETRAHEDRON[1][:3],
            "Mesh(4 vertices, 3 triangles) cannot be closed; a solid needs at least 4 triangles. Give mass= and "
            "inertia= or close it.",
        ),
        (
            CORNERS,
            FACES[:, ::-1],
            "Mesh(8 vertices, 12 triangles) is inside out; flip the triangles, for example triangles[:, ::-1].",
        ),
        (
            CORNERS,
            [*FACES[:-1], FACES[-1][::-1]],
            "Mesh(8 vertices, 12 triangles) has 3 edges whose two triangles face opposite ways; flip triangles until "
            "all are anticlockwise seen from outside, or give mass= and inertia=.",
        ),
        (
            *FIN,
            "Mesh(10 vertices, 14 triangles) has 1 edges shared by more than two triangles; give mass= and inertia= or "
            "separate the surfaces that meet there, each with vertices of its own.",
        ),
        (
            FLAT,
            TETRAHEDRON[1],
            "Mesh(4 vertices, 4 triangles) is flat and encloses no volume; give mass= and inertia=.",
        ),
    ],
    ids=["open", "few", "inside-out", "twisted", "crowded", "flat"],
)
def test_a_mesh_that_bounds_no_solid_has_no_mass(vertices, triangles, message):
    mesh = Mesh(vertices, triangles)
    for use in (mesh.volume, lambda: mesh.mass_properties(1.0)):
        with pytest.raises(InputError) as caught:
            use()
        assert str(caught.value) == message


@pytest.mark.parametrize("scale", [1e-55, 1e55])
def test_size_costs_no_digits_within_the_number_range(scale):
    got = Mesh(scale * CORNERS, FACES).mass_properties(1.0)
    assert_allclose(got.mass, scale**3, rtol=1e-14)
    assert_allclose(got.inertia / scale**5, np.eye(3) / 6, rtol=1e-14, atol=1e-15)


@pytest.mark.parametrize(
    ("scale", "said"), [(1e-120, "0.0; it must be greater than zero."), (1e120, "inf; it must be finite.")]
)
def test_a_mesh_whose_mass_leaves_the_number_range_is_refused(scale, said):
    with pytest.raises(InputError) as caught:
        Mesh(scale * CORNERS, FACES).mass_properties(1.0)
    assert str(caught.value) == f"The mass of Mesh(8 vertices, 12 triangles) is {said}"


@pytest.mark.parametrize("scale", [1e-6, 1e6])
@pytest.mark.parametrize("offset", [0.0, 1e3])
def test_a_thin_plate_is_not_flat(scale, offset):
    plate = Mesh(scale * (CORNERS * [1, 1, 1e-6] + offset), FACES)
    assert_allclose(plate.volume(), scale**3 * 1e-6, rtol=1e-6)


@pytest.mark.parametrize(
    ("vertices", "triangles", "message"),
    [
        (CORNERS, None, "Mesh has vertices but no triangles; give triangles= or the path of a file."),
        ([[0, 0], [1, 1]], FACES, "The array of vertices of Mesh has shape (2, 2); it must be nx3 numbers."),
        ([[0, 0, np.nan]], [[0, 0, 0]], "The array of vertices of Mesh is [[0, 0, nan]]; every entry must be finite."),
        (CORNERS, [[0, 1]], "The array of triangles of Mesh has shape (1, 2); it must be nx3 numbers."),
        (
            CORNERS,
            np.zeros((0, 3), int),
            "The array of triangles of Mesh is empty; a mesh needs at least one triangle.",
        ),
        (
            CORNERS,
            [[0.0, 1.0, 2.0]],
            "The array of triangles of Mesh holds float64 numbers; vertex indices must be whole numbers.",
        ),
        (CORNERS, [[0, 1, 2], [0, 1, 8]], "Triangle 1 of Mesh is [0, 1, 8]; with 8 vertices, indices run from 0 to 7."),
        (CORNERS, [[0, -1, 2]], "Triangle 0 of Mesh is [0, -1, 2]; with 8 vertices, indices run from 0 to 7."),
        (CORNERS, [[0, 1, 0]], "Triangle 0 of Mesh is [0, 1, 0]; its vertices must be different."),
        ("part.obj", FACES, "Mesh of file 'part.obj' also has triangles; give one or the other."),
    ],
)
def test_impossible_arrays_are_refused(vertices, triangles, message):
    with pytest.raises(InputError) as caught:
        Mesh(vertices, triangles)
    assert str(caught.value) == message


def test_density_of_a_mesh_must_be_positive():
    with pytest.raises(InputError, match=r"^The density of Mesh is 0; it must be greater than zero\.$"):
        Mesh(CORNERS, FACES).mass_properties(0)
