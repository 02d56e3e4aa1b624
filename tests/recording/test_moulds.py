"""Moulds against the shapes they stand for: closed, as large, facing outward; and joints that are marked in place."""

import numpy as np
import pytest
import trimesh

import rattleback as rb
from rattleback.recording.instances import Spans, batches
from rattleback.recording.joint_marks import marks, rods
from rattleback.recording.moulds import casts, mould
from rattleback.recording.snapshot import snapshot_of

HULL = rb.ConvexHull(np.random.default_rng(1).normal(size=(30, 3)))
SOLIDS = [
    rb.Box(1.0, 2.0, 3.0),
    rb.Sphere(0.5),
    rb.Ellipsoid(1.0, 2.0, 3.0),
    rb.Capsule(0.3, 2.0),
    rb.Cylinder(0.5, 2.0),
    rb.Cone(1.0, 2.0),
    HULL,
]
by_name = pytest.mark.parametrize("shape", SOLIDS, ids=lambda shape: type(shape).__name__)


def vertices_and_normals(shape, segments=64):
    (cast,) = casts(shape)
    made = mould(cast.shape, segments)
    size = np.array(cast.size)
    normals = made.normal / size if made.stretched else made.normal
    vertices = size * made.core + cast.rounding * made.edge
    return vertices, normals / np.linalg.norm(normals, axis=1, keepdims=True), made.triangles


@by_name
def test_a_cast_is_closed_and_has_the_volume_of_its_shape_but_for_rounded_edges(shape):
    vertices, _, triangles = vertices_and_normals(shape)
    mesh = trimesh.Trimesh(vertices, triangles, process=False)
    mesh.merge_vertices(merge_norm=True, digits_vertex=9)
    assert mesh.is_watertight
    assert mesh.volume == pytest.approx(shape.volume(), rel=0.008)


@by_name
def test_a_cast_reaches_as_far_as_its_shape(shape):
    vertices, _, _ = vertices_and_normals(shape)
    low, high = shape.bounds()
    assert vertices.min(axis=0) == pytest.approx(low, abs=2e-3)
    assert vertices.max(axis=0) == pytest.approx(high, abs=2e-3)


@by_name
def test_normals_point_where_the_faces_face(shape):
    vertices, normals, triangles = vertices_and_normals(shape)
    a, b, c = vertices[triangles].transpose(1, 0, 2)
    face = np.cross(b - a, c - a)
    face /= np.linalg.norm(face, axis=1, keepdims=True)
    # At the corner of a box the normal of each of its three faces meets the flat corner at acos(1/√3).
    assert (np.einsum("ij,ikj->ik", face, normals[triangles]) > 0.57).all()


def test_normals_of_an_ellipsoid_are_the_gradient_of_its_equation():
    vertices, normals, _ = vertices_and_normals(rb.Ellipsoid(1.0, 2.0, 3.0))
    gradient = vertices / np.array([1.0, 4.0, 9.0])
    gradient /= np.linalg.norm(gradient, axis=1, keepdims=True)
    assert normals == pytest.approx(gradient, abs=1e-12)


def test_a_thousand_boxes_of_a_thousand_sizes_share_one_mould():
    scene = rb.Scene()
    for k in range(1000):
        scene.add_body(rb.Box(1.0 + 0.001 * k, 1.0, 1.0))
    scene.add_body(rb.Sphere(1.0))
    scene.add_body(rb.Ellipsoid(1.0, 2.0, 3.0))
    assert [len(batch.body) for batch in batches(scene, joints=True)] == [1000, 2]


def test_a_compound_is_cast_part_by_part_where_its_parts_are():
    turn = rb.rotation.quaternion_from_axis_angle((0, 0, 1), np.pi / 2)
    inner = rb.Compound([rb.Placed(rb.Sphere(0.1), position=(1, 0, 0))])
    outer = rb.Compound([rb.Placed(rb.Box(1, 1, 1)), rb.Placed(inner, position=(0, 0, 2), orientation=turn)])
    box, ball = casts(outer)
    assert isinstance(box.shape, rb.Box)
    assert ball.position == pytest.approx([0, 1, 2])


def test_equal_meshes_share_a_mould_and_others_do_not():
    points = np.random.default_rng(2).normal(size=(12, 3))
    scene = rb.Scene()
    for factor in (1.0, 1.0, 2.0):
        scene.add_body(rb.ConvexHull(factor * points))
    assert [len(batch.body) for batch in batches(scene, joints=False)] == [2, 1]


def test_a_large_solid_is_rounded_no_more_than_its_neighbours_and_stays_as_large():
    scene = rb.Scene()
    for _ in range(3):
        scene.add_body(rb.Box(1, 1, 1))
    scene.add_body(rb.Box(50, 50, 50))
    (batch,) = batches(scene, joints=False)
    assert batch.fixed[3, 3] < 2.0 * batch.fixed[0, 3]
    assert batch.fixed[:, 0] + batch.fixed[:, 3] == pytest.approx([0.5, 0.5, 0.5, 25])


def test_a_rounding_that_is_too_fine_to_be_drawn_is_left_out_and_the_solid_stays_as_large():
    scene = rb.Scene()
    scene.add_body(rb.Box(1, 2, 3))
    scene.add_body(rb.Capsule(0.01, 1.0))
    box, capsule = batches(scene, joints=False)
    assert box.sharpened(1.0).fixed[0] == pytest.approx([0.5, 1.0, 1.5, 0.0])
    assert box.sharpened(1e-6).fixed == pytest.approx(box.fixed)
    assert capsule.sharpened(1.0).fixed == pytest.approx(capsule.fixed)


def test_smooth_surfaces_are_shaded_smoothly_and_sharp_edges_stay_sharp():
    fine = trimesh.creation.icosphere(subdivisions=3)
    smooth = mould(rb.ConvexHull(fine.vertices), 8)
    inward = np.einsum("ij,ij->i", smooth.normal, smooth.core) / np.linalg.norm(smooth.normal, axis=1)
    assert inward.min() > 0.999
    corners = mould(rb.ConvexHull([(x, y, z) for x in (0, 1) for y in (0, 1) for z in (0, 1)]), 8).normal
    assert np.sort(np.abs(corners / np.linalg.norm(corners, axis=1, keepdims=True)), axis=1)[:, 2] == pytest.approx(1.0)


def jointed(joint_of):
    scene = rb.Scene()
    turn = rb.rotation.quaternion_from_axis_angle((1, 2, 3), 0.7)
    arm = scene.add_body(rb.Box(1.0, 0.1, 0.1), position=(0.5, 0.2, 0.1), orientation=turn)
    scene.add_joint(joint_of(scene, arm))
    return scene, arm


@pytest.mark.parametrize(
    ("joint_of", "kinds"),
    [
        (lambda scene, arm: rb.Ball(scene.world, arm, at=(1, 2, 3)), [rb.Sphere]),
        (lambda scene, arm: rb.Ball(arm, scene.world, at=(1, 2, 3)), [rb.Sphere]),
        (lambda scene, arm: rb.Revolute(scene.world, arm, at=(1, 2, 3), axis=(0, 1, 0)), [rb.Cylinder]),
        (
            lambda scene, arm: rb.Universal(scene.world, arm, at=(1, 2, 3), axis=(0, 1, 0), axis_b=(1, 0, 0)),
            [rb.Cylinder, rb.Cylinder],
        ),
        (lambda scene, arm: rb.Fixed(scene.world, arm, at=(1, 2, 3)), []),
    ],
)
def test_joints_are_marked_where_they_are_as_what_they_are(joint_of, kinds):
    scene, arm = jointed(joint_of)
    found = list(marks(scene))
    assert [type(cast.shape) for _, cast in found] == kinds
    for row, cast in found:
        assert row == 0
        assert arm.origin + rb.rotation.rotate(arm.orientation, cast.position) == pytest.approx([1, 2, 3])


def test_the_pin_of_a_hinge_lies_along_its_axis():
    scene, arm = jointed(lambda scene, arm: rb.Revolute(scene.world, arm, at=(1, 2, 3), axis=(0, 1, 0)))
    ((_, cast),) = marks(scene)
    along = rb.rotation.rotate(arm.orientation, rb.rotation.rotate(cast.orientation, (0, 0, 1)))
    assert np.abs(along) == pytest.approx([0, 1, 0], abs=1e-12)


@pytest.mark.parametrize("place", [(0.3, 0.4, 1.2), (0.0, 0.0, -2.0), (0.0, 0.0, 2.0)])
def test_a_body_that_does_not_reach_its_joint_has_a_rod_to_it(place):
    scene = rb.Scene()
    bob = scene.add_body(rb.Sphere(0.1), position=place, orientation=rb.rotation.random(1, seed=3)[0], name="bob")
    scene.add_joint(rb.Ball(scene.world, bob, at=(0.0, 0.0, 0.0)))
    ((row, rod),) = rods(scene)
    assert row == 0
    along = rb.rotation.rotate(bob.orientation, rb.rotation.rotate(rod.orientation, (0, 0, 1)))
    middle = bob.position + rb.rotation.rotate(bob.orientation, rod.position)
    half = 0.5 * rod.shape.bounds()[1][2] - 0.5 * rod.shape.bounds()[0][2]
    ends = sorted([middle - half * along, middle + half * along], key=np.linalg.norm)
    assert ends[0] == pytest.approx(np.zeros(3), abs=1e-12)
    assert ends[1] == pytest.approx(place)
    near, _ = jointed(lambda scene, arm: rb.Ball(scene.world, arm, at=(0.1, 0.2, 0.1)))
    assert list(rods(near)) == []


def test_a_joint_placed_by_frames_is_marked_on_its_body():
    turn = (0.0, 0.0, 0.0, 1.0)
    scene, _ = jointed(
        lambda scene, arm: rb.Ball(scene.world, arm, frame_a=((1, 2, 3), turn), frame_b=((-0.5, 0, 0), turn))
    )
    ((_, cast),) = marks(scene)
    assert cast.position == pytest.approx([-0.5, 0, 0])


def test_a_rod_runs_between_the_points_that_a_distance_joint_holds():
    sim = rb.Simulation(rb.scenes.pendulum(), time_step=0.01)
    sim.run(0.3)
    (rod,) = (batch for batch in batches(sim.scene, joints=True) if isinstance(batch, Spans))
    place, turn, size = np.split(rod.table(snapshot_of(sim), np.zeros((2, 3)), np.zeros(3))[0], [3, 7])
    ball = sim["ball"].position
    np.testing.assert_allclose(place, 0.5 * ball, atol=1e-6)
    np.testing.assert_allclose(rb.rotation.rotate(turn, np.array([0.0, 0.0, 1.0])), ball, atol=1e-5)
    assert size[2] == pytest.approx(0.5, abs=1e-6)
