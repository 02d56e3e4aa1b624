"""A hinge whose axes are turned past a right angle closes the way it was made, not half a turn farther on."""

import numpy as np
import pytest

import rattleback as rb


def hinge(mounted: float) -> rb.Simulation:
    """Two cubes on one hinge, the frames of which point alike (1) or against each other (−1)."""
    scene = rb.Scene(gravity=(0, 0, 0))
    for name in ("a", "b"):
        scene.add_body(rb.Box(0.1, 0.1, 0.1), mass=1.0, name=name)
    scene.add_joint(rb.Revolute("a", "b", at=(0, 0, 0), axis=(0, 0, 1), axis_b=(0, 0, mounted)), name="hinge")
    return rb.Simulation(scene, time_step=0.01, warn=False)


@pytest.mark.parametrize("mounted", [1.0, -1.0])
@pytest.mark.parametrize("angle", [1.0, 2.0, 3.0, np.pi])
def test_a_hinge_closes_the_way_it_was_made(angle: float, mounted: float) -> None:
    sim = hinge(mounted)
    sim.state.orientation[1] = rb.rotation.quaternion_from_axis_angle((1, 0, 0), angle)
    sim.step(200)
    sim.step()
    axes = [rb.rotation.rotate(sim[name].orientation, np.array((0.0, 0.0, 1.0))) for name in "ab"]
    np.testing.assert_allclose(axes[0], axes[1], atol=1e-4)
    assert sim.report.converged
