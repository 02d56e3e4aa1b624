import numpy as np
import pytest

import rattleback as rb


def pendulum() -> rb.Scene:
    scene = rb.Scene()
    scene.add_body(rb.Sphere(0.05), mass=1.0, position=(1, 0, 0), name="bob")
    scene.add_joint(rb.Revolute(scene.world, "bob", at=(0, 0, 0), axis=(0, 1, 0)), name="hinge")
    return scene


def test_coordinates_of_worlds_that_differ_in_mass_are_those_of_their_joints() -> None:
    sim = rb.Simulation(pendulum(), worlds=3, vary={"bob.mass": [1.0, 2.0, 3.0], "hinge.angle": [0.1, 0.2, 0.3]})
    q, _ = rb.dynamics.Articulation(sim.scene).coordinates_of(sim)
    np.testing.assert_allclose(q[:, 0], [0.1, 0.2, 0.3], atol=1e-12)


def test_worlds_with_joints_in_places_of_their_own_have_no_common_coordinates() -> None:
    sim = rb.Simulation(pendulum(), worlds=2, vary={"bob.position": [(1, 0, 0), (2, 0, 0)]})
    with pytest.raises(rb.InputError, match="places of their own"):
        rb.dynamics.Articulation(sim.scene).coordinates_of(sim)
