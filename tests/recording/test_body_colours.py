import numpy as np
import pytest

import rattleback as rb
from rattleback.recording.body_colours import SHADES, paints
from rattleback.recording.look import Appearance, light
from rattleback.recording.snapshot import snapshot_of
from rattleback.recording.style import PALETTE
from rattleback.viewer.drawing.colours import PALETTE_RGB, chosen_colours


def scene_of(count):
    scene = rb.Scene(name="some")
    scene.add_static(rb.Plane())
    for k in range(count):
        scene.add_body(rb.Box(1, 1, 1) if k % 2 else rb.Sphere(0.5), position=(2.0 * k, 0, 0), name=f"body_{k}")
    return scene


@pytest.mark.parametrize("count", [7, 40])
def test_a_still_and_the_page_give_each_body_the_same_colour_of_the_palette(count):
    scene = scene_of(count)
    still = Appearance().colours(snapshot_of(rb.Simulation(scene)), 1.0)[1 : count + 1]
    page = chosen_colours(scene.bodies, {})[1:].astype(np.float64)
    palette = np.array([light(colour) for colour in PALETTE])

    def nearest(colours, among):
        """The colour of the palette of the same hue: the smallest angle."""
        unit = colours / np.linalg.norm(colours, axis=1, keepdims=True)
        return np.argmax(unit @ (among / np.linalg.norm(among, axis=1, keepdims=True)).T, axis=1)

    assert nearest(still, palette).tolist() == nearest(page, PALETTE_RGB.astype(np.float64)).tolist()


def test_few_bodies_differ_and_many_have_the_colour_of_their_shape():
    few, many = paints(scene_of(10).bodies), paints(scene_of(40).bodies)
    assert len(set(few.number[1:].tolist())) == 10
    assert np.all(few.shade == 1.0)
    assert many.number[1:].tolist() == [0, 1] * 20
    assert sorted(set(many.shade[1:].tolist())) == list(SHADES)
