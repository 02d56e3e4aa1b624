"""The page in a real browser: what is drawn can be seen, and moves."""

import io
import time

import numpy as np
import pytest

import rattleback as rb
from rattleback.viewer.drawing.bodies import bodies_of
from rattleback.viewer.drawing.ground import Ground
from rattleback.viewer.parts import DRAWN


def pixels(page):
    """What is on the screen (height, width, 3)."""
    from PIL import Image

    return np.asarray(Image.open(io.BytesIO(page.screenshot())).convert("RGB"), dtype=np.int64)


def middle_of(red):
    """Where something is on the screen, pixels from the top and from the left."""
    return np.argwhere(red).mean(axis=0)


@pytest.fixture
def falling_brick(open_page):
    """A window on a brick-coloured box that falls when played."""
    scene = rb.Scene()
    scene.add_static(rb.Plane())
    scene.add_body(rb.Box(1.0, 1.0, 1.0), position=(0, 0, 2.5), name="brick")
    window = open_page(rb.Simulation(scene, time_step=0.01), *DRAWN)
    next(part for part in window.parts if isinstance(part, Ground)).shadows = False
    window.session.do(lambda sim: None).result()
    return window


def wait_for(page, holds, seconds=30.0):
    """The first picture of a page for which something holds."""
    end = time.monotonic() + seconds
    while not holds(seen := pixels(page)):
        assert time.monotonic() < end, "the page never showed it"
        time.sleep(0.1)
    return seen


def is_brick(seen):
    return (seen[..., 0] > seen[..., 2] + 50) & (seen[..., 0] > 120)


def test_the_page_shows_the_scene_and_what_moves_in_it(falling_brick, visit, keep):
    page = visit(falling_brick.address, 1000, 400)
    # The browser says that it draws in software; the notice would cover part of the scene.
    page.add_style_tag(content="[class*=Notifications] { display: none !important; }")
    before = wait_for(page, lambda seen: is_brick(seen).sum() > 500)
    # Sky above is blue, the ground below is light and grey.
    assert before[40, 200, 2] > before[40, 200, 0] + 10
    assert np.ptp(before[-40, 200]) < 25
    falling_brick.session.step(40).result()
    after = wait_for(page, lambda seen: middle_of(is_brick(seen))[0] > middle_of(is_brick(before))[0] + 20)
    keep(page, "drawing_brick")
    assert abs(middle_of(is_brick(after))[1] - middle_of(is_brick(before))[1]) < 25
    falling_brick.select("brick")
    wait_for(page, lambda seen: ((seen[..., 0] > 150) & (seen[..., 2] > seen[..., 1] + 50)).sum() > 300)
    bodies_of(falling_brick).visible = False
    falling_brick.session.do(lambda sim: None).result()
    wait_for(page, lambda seen: is_brick(seen).sum() < 100)
