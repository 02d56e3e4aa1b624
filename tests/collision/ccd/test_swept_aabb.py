"""Swept AABBs hold their colliders on the whole motion, however these rotate."""

import numpy as np
import warp as wp
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

import rattleback as rb
from rattleback.collision.ccd.swept_aabb import SweptColliders, sweep_boxes
from rattleback.collision.geometry.colliders import Places
from rattleback.collision.geometry.compile import compile_colliders
from rattleback.core import arrays
from rattleback.core import device as devices
from rattleback.model.compile import compile_scene

CORNERS = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], float)


@given(st.integers(0, 2**32 - 1))
@settings(max_examples=40, deadline=None)
def test_corners_of_a_box_stay_in_its_swept_box_on_the_whole_way(seed):
    rng = np.random.default_rng(seed)
    sides, offset = rng.uniform(0.1, 2.0, 3), rng.uniform(-2.0, 2.0, 3)
    scene = rb.Scene()
    options = {"mass": 1.0, "inertia": (1, 1, 1), "collision": rb.Placed(rb.Box(*sides), position=offset)}
    scene.add_body(None, orientation=Rotation.random(random_state=seed).as_quat(), **options)
    model, state = compile_scene(scene, None, devices.find("cpu"))
    geometry, end = compile_colliders(model), arrays.clone(state.motion)
    turn, travel = rng.normal(size=3), rng.normal(size=3) * rng.uniform(0, 5)
    turn *= rng.uniform(0, np.pi) / np.linalg.norm(turn)
    start = Rotation.from_quat(state.motion.orientation.numpy()[0])
    end.position.assign(travel[None])
    end.orientation.assign((Rotation.from_rotvec(turn) * start).as_quat()[None])
    ways = SweptColliders()
    ways.colliders, ways.hulls, ways.start, ways.end = geometry.colliders, geometry.hulls, state.motion, end
    ways.places, ways.distance = arrays.allocate(Places, {"colliders": 1}, "cpu"), 0.0
    wp.launch(sweep_boxes, 1, inputs=[ways], device="cpu")
    lower, upper = ways.places.lower.numpy()[0], ways.places.upper.numpy()[0]
    for fraction in np.linspace(0, 1, 101):
        points = (Rotation.from_rotvec(fraction * turn) * start).apply(offset + 0.5 * sides * CORNERS)
        points += fraction * travel
        assert (points >= lower - 1e-12).all()
        assert (points <= upper + 1e-12).all()
    np.testing.assert_allclose(ways.places.position.numpy()[0], start.apply(offset), atol=1e-13)
