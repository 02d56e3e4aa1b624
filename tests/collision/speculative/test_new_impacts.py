"""New impacts: a body behind one that hits the ground has its contact before it penetrates."""

import numpy as np
import pytest

import rattleback as rb

pytestmark = pytest.mark.contacts
STEP, SPEED = 1e-3, 17.0


def falling(behind, height, ground):
    """Two cubes that fall on the ground one behind the other, so far apart and so high above it [m]."""
    scene = rb.Scene()
    material = rb.Material(restitution=0.9, friction=0.0)
    if ground == "plane":
        scene.add_static(rb.Plane(), material=material)
    else:
        scene.add_static(rb.Box(4.0, 4.0, 1.0), position=(0.0, 0.0, -0.5), material=material)
    for k, z in enumerate((0.5 + height, 1.5 + height + behind)):
        place = {"position": (0, 0, z), "velocity": (0, 0, -SPEED), "name": f"cube_{k}"}
        scene.add_body(rb.Box(1, 1, 1), mass=1.0, material=material, **place)
    return rb.Simulation(scene, time_step=STEP, contact_distance=1e-3, penetration_tolerance=1e-4)


@pytest.mark.parametrize("ground", ["plane", "box"])
@pytest.mark.parametrize("behind", [0.005, 0.012, 0.02, 0.028])
@pytest.mark.parametrize("height", [0.018, 0.021, 0.033])
def test_a_cube_behind_one_that_rebounds_does_not_run_into_it(behind, height, ground):
    sim = falling(behind, height, ground)
    apart = []
    for _ in range(12):
        sim.step()
        low, high = (sim.state.position[k, 2] for k in (1, 2))
        apart.append(min(high - low - 1.0, low - 0.5))
    assert min(apart) >= -1e-4
    assert np.max(sim.state.velocity[1:, 2]) > 0.0
