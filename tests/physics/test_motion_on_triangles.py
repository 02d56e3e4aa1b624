"""Bodies on floors of triangles move as on a plane, and in a bowl they have few points and do not sink into it."""

import collections

import numpy as np
import pytest

import rattleback as rb

pytestmark = pytest.mark.contacts
STEP = 1 / 120
CELLS = 24
METHOD = rb.contacts.Impulse(solver=rb.contacts.BlockGaussSeidel(sweeps=1000))
FLOORS = {
    "plane": rb.Plane(),
    "height field": rb.HeightField(np.zeros((CELLS + 1, CELLS + 1)), 6.0 / CELLS),
}
FIELD = FLOORS["height field"]
FLOORS["mesh"] = rb.Mesh(FIELD.vertices, FIELD.triangles)


def moved(ground, shape, velocity, spin, height, steps=150):
    """Position, orientation and velocity of a body that moves over a floor, after some steps."""
    scene = rb.Scene()
    scene.add_static(FLOORS[ground], name="floor", material=rb.Material(friction=0.15))
    more = {"velocity": velocity, "angular_velocity": spin, "material": rb.Material(friction=0.15)}
    scene.add_body(shape, mass=1.0, position=(-1.53, -0.37, height), name="thing", **more)
    exact = {"contact_velocity_tolerance": 1e-12, "penetration_tolerance": 1e-9}
    sim = rb.Simulation(scene, time_step=STEP, contacts=METHOD, warn=False, **exact)
    sim.step(steps)
    thing = sim["thing"]
    return np.concatenate([thing.position, thing.velocity, thing.angular_velocity])


@pytest.mark.parametrize("ground", ["height field", "mesh"])
def test_a_ball_rolls_over_internal_edges_without_losing_speed(ground):
    given = (rb.Sphere(0.2), (1.4, 0.3, 0.0), (-1.5, 7.0, 0.0), 0.2)
    found = moved(ground, *given)
    np.testing.assert_allclose(found[3:], [1.4, 0.3, 0.0, -1.5, 7.0, 0.0], atol=1e-12)
    np.testing.assert_allclose(found[:3], moved("plane", *given)[:3], atol=1e-8)


@pytest.mark.parametrize("ground", ["height field", "mesh"])
def test_a_box_slides_on_triangles_as_on_a_plane(ground):
    given = (rb.Box(0.5, 0.4, 0.3), (2.2, 0.5, 0.0), (0.0, 0.0, 0.0), 0.15)
    # The way is one of half a metre; friction of more manifolds is solved to the same tolerance, not to the same bits.
    np.testing.assert_allclose(moved(ground, *given), moved("plane", *given), atol=1e-5)


def test_bodies_that_fall_into_a_bowl_have_few_points_and_stay_inside():
    count = 64
    sim = rb.Simulation(rb.scenes.bowl(count), time_step=1 / 60, warn=False)
    most, per_pair = 0, collections.Counter()
    for _ in range(90):
        sim.step()
        most = max(most, len(sim.contacts))
        per_pair = collections.Counter(tuple(pair) for pair in sim.contacts.bodies)
    assert most <= 12 * count
    assert max(points for pair, points in per_pair.items() if "bowl" in pair) <= 20
    place = sim.state.position[1:]
    assert (place[:, 2] > 2.0 * (np.hypot(place[:, 0], place[:, 1]) / 3.0) ** 2).all()
    gaps = zip(sim.contacts.bodies, sim.contacts.separation, strict=True)
    assert min(gap for pair, gap in gaps if "bowl" in pair) > -5e-3
