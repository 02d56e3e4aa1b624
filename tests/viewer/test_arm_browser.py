"""The page of an arm in a real browser: the mouse drags the target, and the arm follows."""

import time

import numpy as np
import pytest

from rattleback.viewer.arm.page import ArmPage

WIDE, HIGH = 1000, 600


def projected(browser, page, point):
    """Where a point of the world is on the screen [pixels], by the camera of the only client."""
    wide = browser.locator("canvas").first.bounding_box()["width"]
    (client,) = page.host.server.get_clients().values()
    camera = client.camera
    eye, ahead = np.array(camera.position), np.array(camera.look_at) - np.array(camera.position)
    ahead /= np.linalg.norm(ahead)
    right = np.cross(ahead, (0.0, 0.0, 1.0))
    right /= np.linalg.norm(right)
    seen = np.stack([right, np.cross(right, ahead), ahead]) @ (np.asarray(point) - eye)
    scale = 0.5 * HIGH / np.tan(0.5 * camera.fov)
    return np.array([0.5 * wide + scale * seen[0] / seen[2], 0.5 * HIGH - scale * seen[1] / seen[2]])


def pulled(browser, page):
    """Pull the red arrow back, after a little while for the page to draw it; whether the target went with it."""
    before = page.stage.goal
    middle = projected(browser, page, before[:3, 3])
    arrow = projected(browser, page, before[:3, 3] + before[:3, 0] * 0.7 * page.stage.target.scale)
    way = -10.0 * (arrow - middle) / np.linalg.norm(arrow - middle)
    browser.mouse.move(*arrow)
    time.sleep(0.2)
    browser.mouse.down()
    for k in range(1, 6):
        browser.mouse.move(*(arrow + k * way))
    browser.mouse.up()
    time.sleep(0.2)
    return np.linalg.norm(page.stage.goal[:3, 3] - before[:3, 3]) > 0.05


@pytest.fixture
def page():
    with ArmPage("planar_3r") as opened:
        assert opened.settle()
        yield opened


def tip(page):
    return page.stage.tree.forward(page.q)


@pytest.mark.slow
def test_the_mouse_drags_the_target_and_the_arm_follows(page, visit, keep, until):
    browser = visit(page.address, WIDE, HIGH)
    until(lambda: [aim for aim in page.host.lookout._aims.values() if aim.arrived], seconds=30.0)
    goal = page.stage.goal
    until(lambda: pulled(browser, page), seconds=30.0)
    until(lambda: not page._dragging)
    assert page.settle()
    moved = page.stage.goal
    np.testing.assert_allclose(moved[:3, :3], goal[:3, :3], atol=1e-6)
    np.testing.assert_allclose(tip(page)[:3, 3], moved[:3, 3], atol=2e-6)
    page.choose("dls")
    assert page.settle()
    np.testing.assert_allclose(tip(page)[:3, 3], moved[:3, 3], atol=2e-6)
    browser.get_by_text("Reached", exact=True).wait_for()
    browser.get_by_text("Joints").click()
    browser.get_by_text("joint2 [°]").wait_for()
    keep(browser, "arm_after")
