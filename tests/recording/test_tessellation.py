"""Surfaces of shapes: closed, facing outward, on the true surface, with the volume geometry says they have."""

import math

import numpy as np
import pytest
import trimesh
from hypothesis import given
from hypothesis import strategies as st

import rattleback as rb
from rattleback.recording.tessellation import Surface, placed, refine, revolve, tessellate

QUARTER = (0.0, math.sqrt(0.5), 0.0, math.sqrt(0.5))
SOLIDS = [
    rb.Sphere(0.3),
    rb.Box(1.0, 2.0, 3.0),
    rb.Capsule(0.2, 0.9),
    rb.Capsule(0.2, 0.4),
    rb.Cylinder(0.3, 1.0),
    rb.Cone(0.3, 0.8),
    rb.Ellipsoid(0.1, 0.2, 0.3),
    rb.ConvexHull([(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0), (0.2, 0.3, 2.0)]),
    rb.Compound([rb.Placed(rb.Box(1, 1, 1)), rb.Placed(rb.Cone(0.2, 0.5), (2, 0, 0), QUARTER)]),
]


def as_trimesh(surface: Surface) -> trimesh.Trimesh:
    return trimesh.Trimesh(surface.vertices, surface.triangles, process=False)


@pytest.mark.parametrize("segments", [3, 4, 7, 32])
@pytest.mark.parametrize("shape", SOLIDS, ids=repr)
def test_a_solid_is_closed_and_faces_outward(shape, segments):
    mesh = as_trimesh(tessellate(shape, segments))
    assert mesh.is_watertight
    assert mesh.is_winding_consistent
    assert mesh.volume > 0.0
    assert (mesh.area_faces > 0.0).all()


@pytest.mark.parametrize("segments", [3, 8, 33])
@pytest.mark.parametrize("shape", [rb.Cylinder(0.3, 1.0), rb.Cone(0.4, 0.7)], ids=repr)
def test_a_cylinder_or_cone_has_the_share_of_a_polygon_in_its_circle(shape, segments):
    share = segments / (2.0 * math.pi) * math.sin(2.0 * math.pi / segments)
    assert as_trimesh(tessellate(shape, segments)).volume == pytest.approx(share * shape.volume(), rel=1e-13)


@pytest.mark.parametrize("shape", SOLIDS, ids=repr)
def test_volume_and_bounds_tend_to_those_of_the_shape(shape):
    errors = [1.0 - as_trimesh(tessellate(shape, n)).volume / shape.volume() for n in (64, 128)]
    assert abs(errors[1]) < 2e-3
    assert errors[0] == pytest.approx(4.0 * errors[1], rel=0.02, abs=1e-12)
    bounds = as_trimesh(tessellate(shape, 128)).bounds
    np.testing.assert_allclose(bounds, shape.bounds(), rtol=0, atol=1e-3)


@pytest.mark.parametrize("shape", SOLIDS, ids=repr)
def test_no_corner_lies_outside_the_shape(shape):
    vertices = tessellate(shape, 20).vertices
    for direction in np.random.default_rng(1).normal(size=(100, 3)):
        assert (vertices @ direction).max() <= shape.support(direction) @ direction + 1e-12


def test_the_corners_of_a_ball_lie_on_it():
    lengths = np.linalg.norm(tessellate(rb.Sphere(0.3), 24).vertices, axis=1)
    np.testing.assert_allclose(lengths, 0.3, rtol=1e-14)


def test_a_mesh_is_its_own_surface():
    mesh = rb.Mesh([(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)], [(0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3)])
    surface = tessellate(mesh)
    np.testing.assert_array_equal(surface.vertices, mesh.vertices)
    np.testing.assert_array_equal(surface.triangles, mesh.triangles)


def test_a_height_field_shows_its_surface():
    ground = rb.HeightField([[0, 1, 0], [0, 0, 2]], (1.0, 0.5))
    mesh = as_trimesh(tessellate(ground))
    np.testing.assert_array_equal(mesh.bounds, ground.bounds())
    assert (mesh.face_normals[:, 2] > 0.0).all()


@pytest.mark.parametrize("normal", [(0, 0, 1), (0, 0, -1), (1, 2, -2), (1, 0, 0)])
def test_the_patch_of_a_plane_lies_in_it_and_faces_out_of_the_solid(normal):
    plane = rb.Plane(normal, 0.7)
    mesh = as_trimesh(tessellate(plane))
    np.testing.assert_allclose(mesh.vertices @ np.array(plane.normal), 0.7, rtol=0, atol=1e-14)
    np.testing.assert_allclose(mesh.face_normals, [plane.normal] * 2, rtol=0, atol=1e-14)


@given(st.sampled_from(SOLIDS), st.floats(0.05, 3.0))
def test_cutting_edges_keeps_the_surface(shape, longest):
    whole = tessellate(shape, 12)
    fine = refine(whole, longest)
    corners = fine.vertices[fine.triangles]
    assert np.linalg.norm(np.roll(corners, -1, axis=1) - corners, axis=2).max() <= longest
    assert as_trimesh(fine).area == pytest.approx(as_trimesh(whole).area, rel=1e-12)
    assert as_trimesh(fine).volume == pytest.approx(as_trimesh(whole).volume, rel=1e-11)


def test_a_placed_surface_is_turned_then_moved():
    surface = revolve(np.array([(0.0, -1.0), (1.0, 0.0), (0.0, 2.0)]), 4)
    moved = placed(surface, np.array(QUARTER), np.array([10.0, 0.0, 0.0]))
    np.testing.assert_allclose(moved[-1], [12.0, 0.0, 0.0], rtol=0, atol=1e-14)


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: tessellate("ball"), "Cannot tessellate 'ball'; it must be a shape, such as rb.Box(1, 1, 1)."),
        (lambda: tessellate(rb.Sphere(1), 2), "The segments of a tessellation is 2; it must be at least 3."),
        (
            lambda: refine(tessellate(rb.Sphere(1)), 0.0),
            "The longest edge of a refined surface is 0.0; it must be greater than zero.",
        ),
    ],
)
def test_what_cannot_be_tessellated_is_refused(call, said):
    with pytest.raises(rb.InputError) as caught:
        call()
    assert str(caught.value) == said
