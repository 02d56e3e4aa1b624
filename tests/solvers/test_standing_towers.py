"""Towers with bodies missing stand within the penetration tolerance, step after step, at default settings."""

from __future__ import annotations

import numpy as np
import pytest

import rattleback as rb

pytestmark = [pytest.mark.contacts, pytest.mark.filterwarnings("ignore::rattleback.NotConvergedWarning")]

# A block: length, width, height [m]; layers of three, and which have been drawn out.
BLOCK, LAYERS, DRAWN = (0.075, 0.025, 0.015), 18, {(5, 1), (8, 0), (11, 1)}
GAP = 0.0002


def tower():
    """Blocks in layers of three, each layer across the one below, and three of them drawn out."""
    scene = rb.Scene()
    scene.add_static(rb.Plane())
    length, width, height = BLOCK
    for layer in range(LAYERS):
        for place in range(3):
            if (layer, place) in DRAWN:
                continue
            aside, z = (place - 1) * (width + GAP), (layer + 0.5) * height
            along = bool(layer % 2)
            shape = rb.Box(length, width, height) if along else rb.Box(width, length, height)
            position = (0.0, aside, z) if along else (aside, 0.0, z)
            scene.add_body(shape, density=600.0, position=position, name=f"block_{layer}_{place}")
    return scene


def test_a_tower_with_blocks_drawn_out_stands_within_its_tolerances():
    sim = rb.Simulation(tower(), time_step=1.0 / 120.0)
    start = sim.state.position.copy()
    outside = 0
    for _ in range(600):
        sim.step()
        outside += not sim.report.converged
    assert outside == 0
    layers = start[:, 2] / BLOCK[2] + 0.5
    assert np.all(np.abs(sim.state.position - start).max(axis=1) < layers * sim.report.penetration_tolerance)


@pytest.mark.slow
def test_a_wall_that_was_struck_is_seldom_outside_its_tolerances_afterwards():
    sim = rb.Simulation(rb.scenes.wall(), time_step=0.005)
    sim.run(10.0)
    outside = 0
    for _ in range(1000):
        sim.step()
        outside += not sim.report.converged
    assert outside < 30
