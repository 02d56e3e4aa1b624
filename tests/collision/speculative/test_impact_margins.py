"""Margins for impacts: as wide as an impact of the pair can move a body, and no wider."""

import numpy as np
import pytest
import warp as wp

import rattleback as rb
from rattleback.collision.speculative.boxes import SpeculativeInput, mass_share, point_share
from rattleback.core.precision import real

pytestmark = pytest.mark.contacts
STEP = 1 / 60


@wp.kernel
def shares(inputs: SpeculativeInput, of_point: wp.array[real], of_middle: wp.array[real]):
    of_point[0] = point_share(inputs, 0, 1)
    of_middle[0] = mass_share(inputs, 0, 1)


def speculative(simulation):
    return simulation._step.contacts.finder.speculative


@pytest.mark.parametrize("restitution", [0.0, 0.3, 1.0])
@pytest.mark.parametrize("ratio", [1e-3, 0.3, 1.0, 3.9, 4.1, 50.0])
def test_an_impact_moves_points_of_a_body_by_no_more_than_those_of_a_rod(ratio, restitution):
    scene, material = rb.Scene(), rb.Material(restitution=restitution)
    for k, mass in enumerate((ratio, 1.0)):
        scene.add_body(rb.Sphere(0.1), mass=mass, position=(k, 0, 0), material=material, name=f"ball {k}")
    scene.combine(restitution="mean")
    simulation = rb.Simulation(scene, time_step=STEP)
    simulation.step()
    found = [wp.zeros(1, dtype=real) for _ in range(2)]
    wp.launch(shares, 1, inputs=[speculative(simulation).inputs, *found])
    x = np.linspace(0.0, 1.0, 100001)
    rod = (1.0 + restitution) * np.max((1.0 + 3.0 * x) / (1.0 + ratio + 3.0 * x**2))
    assert found[0].numpy()[0] == pytest.approx(min(rod, 2.0 / (1.0 + ratio)), rel=1e-6)
    assert found[1].numpy()[0] == pytest.approx((1.0 + restitution) / (1.0 + ratio), rel=1e-6)


def test_the_spin_of_a_body_counts_at_its_own_surface_only():
    scene = rb.Scene(gravity=(0, 0, 0))
    scene.add_body(rb.Box(0.2, 0.2, 0.2), position=(0, 0, 0), angular_velocity=(0, 0, 100.0), name="top")
    scene.add_body(rb.Sphere(0.05), position=(0.8, 0, 0), velocity=(-30.0, 0, 0), name="ball")
    simulation = rb.Simulation(scene, time_step=STEP)
    assert len(simulation.contacts) > 0
    simulation.step()
    margins = speculative(simulation).margins
    most = STEP * (30.0 + 100.0 * 0.1 * 3.0**0.5)
    assert 0.0 < margins.impact_travel.numpy().max() <= most * (1.0 + 1e-6)


def test_a_static_body_passes_no_impact_on_from_one_body_to_another():
    scene = rb.Scene()
    scene.add_static(rb.Plane(), name="ground")
    scene.add_body(rb.Box(0.2, 0.2, 0.2), position=(0, 0, 0.1), name="still")
    scene.add_body(rb.Box(0.2, 0.2, 0.2), position=(5, 0, 0.1), velocity=(4.0, 0, 0), name="fast")
    simulation = rb.Simulation(scene, time_step=STEP)
    simulation.step(3)
    _, still, fast = speculative(simulation).margins.impact_travel.numpy()
    assert fast > 0.03
    # A body at rest has the speed that gravity gives it in a step.
    assert still <= 9.81 * STEP**2
