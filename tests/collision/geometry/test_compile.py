"""From the shapes of bodies to colliders: kinds, sizes, shells, parts, tables, worlds, filters."""

import numpy as np
import pytest

import rattleback as rb
from rattleback.collision.geometry import solid
from rattleback.collision.geometry.compile import compile_colliders
from rattleback.core import arrays, device
from rattleback.core.errors import InputError
from rattleback.model.compile import compile_scene


def compiled(scene, worlds=None):
    """The geometry of a scene, and its colliders as arrays."""
    model, _ = compile_scene(scene, worlds, device.find("cpu"))
    geometry = compile_colliders(model)
    return geometry, arrays.read(geometry.colliders)


def of(shape, **options):
    """The colliders of one body."""
    scene = rb.Scene()
    scene.add_body(shape, name="body", **options)
    return compiled(scene)[1]


@pytest.mark.parametrize(
    ("shape", "kind", "size", "shell"),
    [
        (rb.Sphere(0.5), solid.SPHERE, (0, 0, 0), 0.5),
        (rb.Box(1, 2, 3), solid.BOX, (0.5, 1, 1.5), 0.0),
        (rb.Capsule(0.5, 3), solid.CAPSULE, (0, 0, 1.0), 0.5),
        (rb.Capsule(0.5, 1), solid.CAPSULE, (0, 0, 0.0), 0.5),
        (rb.Cylinder(0.5, 3), solid.CYLINDER, (0.5, 0.5, 1.5), 0.0),
        (rb.Cone(0.5, 3), solid.CONE, (0.5, 0.5, 1.5), 0.0),
        (rb.Ellipsoid(1, 2, 3), solid.ELLIPSOID, (1, 2, 3), 0.0),
        (rb.ConvexHull([(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)]), solid.HULL, (0, 0, 0), 0.0),
    ],
    ids=lambda x: type(x).__name__,
)
def test_a_shape_is_a_core_with_a_shell(shape, kind, size, shell):
    for margin in (0.0, 0.25):
        row = of(shape, margin=margin)
        assert row["kind"].tolist() == [int(kind)]
        np.testing.assert_array_equal(row["size"], [size])
        assert row["round"][0] == shell + margin
        assert row["reach"][0] == pytest.approx(shape.bounding_radius() + margin, rel=1e-15)


def test_the_frame_is_seen_from_the_centre_of_mass():
    row = of(rb.Cone(1, 4))
    np.testing.assert_allclose(row["position"], [[0, 0, 1.0]], atol=1e-15)
    row = of(rb.Box(1, 1, 1), mass=1.0, inertia=np.eye(3), center_of_mass=(0.1, 0.2, 0.3))
    np.testing.assert_allclose(row["position"], [[-0.1, -0.2, -0.3]], atol=1e-15)


def test_compounds_are_taken_apart_however_deep():
    inner = rb.Compound([rb.Placed(rb.Sphere(0.1), position=(1, 0, 0)), rb.Placed(rb.Box(1, 1, 1))])
    half_turn = (0.0, 0.0, 1.0, 0.0)
    outer = rb.Compound([rb.Placed(inner, (0, 5, 0), half_turn), rb.Placed(rb.Capsule(0.1, 1.0))])
    row = of(outer, mass=1.0, inertia=np.eye(3), center_of_mass=(0, 0, 0))
    assert row["kind"].tolist() == [int(solid.SPHERE), int(solid.BOX), int(solid.CAPSULE)]
    np.testing.assert_allclose(row["position"], [(-1, 5, 0), (0, 5, 0), (0, 0, 0)], atol=1e-15)


def test_a_hull_is_kept_once_however_many_bodies_have_it():
    scene = rb.Scene()
    shape = rb.ConvexHull(np.random.default_rng(0).normal(size=(12, 3)))
    for k in range(5):
        scene.add_body(shape, name=f"body {k}", position=(5 * k, 0, 0))
    geometry, row = compiled(scene)
    assert len(set(row["hull"].tolist())) == 1
    assert len(geometry.hulls.center) == 1
    vertices = geometry.hulls.vertex.numpy()[row["first"][0] :][: row["count"][0]]
    np.testing.assert_array_equal(vertices, shape.vertices)


def test_worlds_have_the_same_colliders_one_after_the_other():
    scene = rb.Scene()
    scene.add_static(rb.Plane(), name="floor")
    scene.add_body(rb.Compound([rb.Placed(rb.Sphere(1)), rb.Placed(rb.Box(1, 1, 1))]), name="body")
    geometry, row = compiled(scene, worlds=3)
    assert (geometry.each, geometry.count, geometry.names) == (3, 9, ("floor", "body", "body"))
    assert geometry.kinds == (int(solid.SPHERE), int(solid.BOX), int(solid.PLANE))
    assert row["world"].tolist() == [0, 0, 0, 1, 1, 1, 2, 2, 2]
    assert row["body"].tolist() == [0, 1, 1, 2, 3, 3, 4, 5, 5]
    assert row["movable"].tolist() == [0, 1, 1] * 3
    assert (row["reach"][row["kind"] == int(solid.PLANE)] < 0).all()


def test_exclusions_are_listed_with_either_body():
    scene = rb.Scene()
    for name in "abc":
        scene.add_body(rb.Sphere(1), name=name)
    scene.exclude("a", "c")
    geometry, row = compiled(scene)
    listed = geometry.exclusions.body.numpy()
    spans = [
        listed[first : first + count].tolist() for first, count in zip(row["excluded"], row["exclusions"], strict=True)
    ]
    assert spans == [[2], [], [0]]


def test_a_scene_for_show_only_has_no_colliders():
    scene = rb.Scene()
    scene.add_body(rb.Sphere(1), name="ghost", collision=None)
    geometry, _ = compiled(scene, worlds=2)
    assert (geometry.each, geometry.count, geometry.kinds) == (0, 0, ())


def test_a_surface_that_moves_is_refused_by_name():
    mesh = rb.Mesh([(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)], [(0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3)])
    scene = rb.Scene()
    scene.add_body(mesh, name="rock")
    with pytest.raises(InputError, match=r"rock.*only a static body may have.*decompose=True"):
        compiled(scene)


def test_a_shape_that_reaches_beyond_all_numbers_is_refused_by_name():
    scene = rb.Scene()
    scene.add_static(rb.Mesh([(0, 0, 0), (1e200, 0, 0), (0, 1e200, 0)], [(0, 1, 2)]), name="plain")
    with pytest.raises(InputError, match=r"^A collision shape of body 'plain' reaches too far for numbers"):
        compiled(scene)
