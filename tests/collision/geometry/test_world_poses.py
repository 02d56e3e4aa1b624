"""Colliders where their bodies are, and boxes along the axes that hold them, no wider than they must be."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import rattleback as rb

SHAPES = {
    "sphere": rb.Sphere(0.4),
    "box": rb.Box(0.6, 0.8, 1.0),
    "capsule": rb.Capsule(0.2, 1.0),
    "cylinder": rb.Cylinder(0.4, 0.8),
    "cone": rb.Cone(0.4, 0.9),
    "ellipsoid": rb.Ellipsoid(0.3, 0.4, 0.5),
    "hull": rb.ConvexHull(np.random.default_rng(3).normal(size=(14, 3)) * 0.35),
}
WORLDS, DISTANCE = 50, 0.02


def placed(shape, margin=0.0, **options):
    """The places of one body in many worlds, its colliders' boxes, and the frames it was put in."""
    scene = rb.Scene()
    scene.add_body(shape, name="body", margin=margin, **options)
    simulation = rb.Simulation(scene, contacts="detect", contact_distance=DISTANCE, worlds=WORLDS)
    rng = np.random.default_rng(1)
    turn = Rotation.random(WORLDS, random_state=rng)
    origin = rng.normal(size=(WORLDS, 3))
    simulation["body"].position = origin + turn.apply(np.array(scene.bodies[0].center_of_mass))
    simulation["body"].orientation = turn.as_quat()
    _ = simulation.contacts
    places = simulation._step.contacts.finder.places
    return places, origin, turn


@pytest.mark.parametrize("margin", [0.0, 0.1])
@pytest.mark.parametrize("name", SHAPES)
def test_the_box_around_a_collider_touches_it_on_every_side(name, margin):
    shape = SHAPES[name]
    places, origin, turn = placed(shape, margin)
    lower, upper = places.lower.numpy(), places.upper.numpy()
    for w in range(WORLDS):
        for axis in range(3):
            for sign, bound in ((1.0, upper), (-1.0, lower)):
                d = sign * np.eye(3)[axis]
                local = turn[w].inv().apply(d)
                reach = origin[w] @ d + shape.support(local) @ local + margin + 0.5 * DISTANCE
                assert sign * bound[w, axis] == pytest.approx(reach, abs=1e-12)


def test_a_collider_has_the_pose_of_its_frame():
    for shape in SHAPES.values():
        places, origin, turn = placed(shape)
        np.testing.assert_allclose(places.position.numpy(), origin, atol=1e-14)
        np.testing.assert_allclose(places.rotation.numpy(), turn.as_matrix(), atol=1e-14)


def test_the_parts_of_a_compound_are_where_they_were_put():
    own = Rotation.from_euler("xyz", [0.3, 0.4, 0.5])
    shape = rb.Compound([rb.Placed(rb.Box(1, 2, 3)), rb.Placed(rb.Cone(1, 2), (1, 2, 3), tuple(own.as_quat()))])
    places, origin, turn = placed(shape)
    position, rotation = places.position.numpy().reshape(WORLDS, 2, 3), places.rotation.numpy().reshape(WORLDS, 2, 3, 3)
    np.testing.assert_allclose(position[:, 0], origin, atol=1e-13)
    np.testing.assert_allclose(position[:, 1], origin + turn.apply([1, 2, 3]), atol=1e-13)
    np.testing.assert_allclose(rotation[:, 1], (turn * own).as_matrix(), atol=1e-13)


def test_a_plane_has_its_z_axis_along_its_normal_and_an_end_only_where_that_is_exactly_along_an_axis():
    ends = {(0, 0, 1): (np.inf, np.inf, 0.7001), (0, 0, -1): (np.inf, np.inf, 0.7001)}
    for normal in ((0, 0, 1), (0, 0, -1), (0.6, 0, 0.8), (0.6, 0, -0.8), (0, 1e-9, -1)):
        scene = rb.Scene()
        scene.add_static(rb.Plane(normal=normal, offset=0.7), name="plane")
        scene.add_body(rb.Sphere(0.1), name="ball")
        simulation = rb.Simulation(scene, contacts="detect")
        _ = simulation.contacts
        places, unit = simulation._step.contacts.finder.places, np.array(normal) / np.linalg.norm(normal)
        np.testing.assert_allclose(places.rotation.numpy()[0][:, 2], unit, atol=1e-15)
        np.testing.assert_allclose(np.linalg.det(places.rotation.numpy()[0]), 1.0, atol=1e-14)
        np.testing.assert_allclose(places.position.numpy()[0] @ unit, 0.7, atol=1e-14)
        lower, upper = places.lower.numpy()[0], places.upper.numpy()[0]
        assert np.isfinite(upper - lower).all()
        far, near = (-upper, -lower) if normal[2] < 0 else (lower, upper)
        assert (far < -1e100).all()
        np.testing.assert_allclose(np.where(near > 1e100, np.inf, near), ends.get(normal, (np.inf,) * 3), atol=1e-14)
