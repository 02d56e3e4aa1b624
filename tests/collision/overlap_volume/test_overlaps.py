"""Overlaps as solids in a running simulation, against closed forms of boxes and caps."""

import math

import numpy as np
import pytest

import rattleback as rb


def sunk(**settings):
    """A box and a ball, each sunk a little into the floor, the ball away from the box."""
    scene = rb.Scene(gravity=(0, 0, 0))
    scene.add_static(rb.Plane(), name="floor")
    scene.add_body(rb.Box(1, 2, 1), position=(3, 1, 0.4), name="box")
    scene.add_body(rb.Sphere(0.5), position=(-3, 0, 0.4), name="ball")
    return rb.Simulation(scene, contacts="detect", **settings)


@pytest.mark.parametrize("worlds", [None, 2])
def test_the_overlap_with_the_floor_is_a_slab_or_a_cap(worlds):
    found = sunk(contact_volumes=True, worlds=worlds).contacts.overlaps
    assert [overlap.world for overlap in found] == sorted([0, 0, 1, 1][: 2 * (worlds or 1)])
    slab, cap = (overlap.solid for overlap in found[:2])
    assert [(overlap.a, overlap.b) for overlap in found[:2]] == [("floor", "box"), ("floor", "ball")]
    assert slab.volume == pytest.approx(0.2, abs=1e-12)
    np.testing.assert_allclose(slab.centroid, (3, 1, -0.05), atol=1e-12)
    assert slab.region_area == pytest.approx(2.0, abs=1e-12)
    assert cap.volume == pytest.approx(math.pi * 0.1**2 * (3 * 0.5 - 0.1) / 3, abs=1e-12)
    np.testing.assert_allclose(cap.normal, (0, 0, -1), atol=1e-12)


def test_overlaps_must_be_asked_for():
    with pytest.raises(rb.InputError, match="Overlaps are not measured; make the simulation with contact_volumes=True"):
        _ = sunk().contacts.overlaps
    with pytest.raises(rb.InputError, match="contact_volumes"):
        sunk(contact_volumes=3)
