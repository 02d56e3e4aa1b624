"""Bodies that touch in one place and meet in another within the step."""

import math

import numpy as np
import pytest

import rattleback as rb

pytestmark = pytest.mark.contacts


@pytest.mark.parametrize("contact_time", ["bisect", "interpolate"])
@pytest.mark.filterwarnings("ignore::rattleback.NotConvergedWarning")
def test_a_tile_that_tips_over_on_its_edge_does_not_slap_into_the_floor(contact_time: str) -> None:
    """Its upper edge comes down with √(3 g l), centimetres in a step, while the lower one rests on the floor."""
    long, thick, distance = 1.0, 0.02, 1e-3
    scene = rb.Scene()
    scene.add_static(rb.Plane())
    lean = math.radians(5.0)
    turn = (0.0, math.sin(0.5 * lean), 0.0, math.cos(0.5 * lean))
    height = 0.5 * long * math.cos(lean) + 0.5 * thick * math.sin(lean)
    scene.add_body(rb.Box(thick, 0.5, long), mass=1.0, position=(0, 0, height), orientation=turn, name="tile")
    sim = rb.Simulation(scene, time_step=0.01, contact_time=contact_time, contact_distance=distance)
    energies, deepest, fastest = [sim.energy().total], 0.0, 0.0
    while sim.time < 2.5:
        sim.step()
        energies.append(sim.energy().total)
        deepest = max(deepest, sim.report.penetration)
        fastest = max(fastest, long * float(np.linalg.norm(sim["tile"].angular_velocity)))
    assert fastest > 0.9 * math.sqrt(3.0 * 9.81 * long)
    assert deepest <= 1.2 * distance
    assert max(np.diff(energies)) < 1e-3 * energies[0]
    assert sim["tile"].position[2] == pytest.approx(0.5 * thick, abs=distance)
