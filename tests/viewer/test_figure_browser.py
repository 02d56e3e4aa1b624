"""The page of a figure in a real browser: the mouse pushes it over, and files are dropped on it."""

import numpy as np
import pytest

import rattleback as rb
from rattleback.characters import Clip, Figure, Joint, Skeleton
from rattleback.viewer.figure.page import FigurePage

WIDE, HIGH = 1000, 600
DROP = """([name, text]) => {
  const data = new DataTransfer();
  data.items.add(new File([text], name));
  document.querySelector("canvas").dispatchEvent(new DragEvent("drop", {dataTransfer: data, bubbles: true}));
}"""


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


@pytest.fixture
def page():
    with FigurePage(playing=False) as opened:
        yield opened


@pytest.mark.slow
def test_the_mouse_pushes_the_figure_over_and_a_file_that_is_dropped_takes_its_place(
    page, visit, keep, until, tmp_path
):
    browser = visit(page.address, WIDE, HIGH)
    until(lambda: [aim for aim in page.host.lookout._aims.values() if aim.arrived], seconds=30.0)
    hips = page.stage.bones.places[page.stage.figure.skeleton.number("Hips")]
    place = projected(browser, page, hips)

    def pushed():
        browser.mouse.move(*place)
        browser.mouse.down()
        for k in range(1, 6):
            browser.mouse.move(*(place + k * np.array([16.0, 2.0])))
        browser.mouse.up()
        browser.wait_for_timeout(100)
        return page.stage.fall is not None and page.stage.fall.active

    until(pushed, seconds=60.0)
    until(lambda: page.stage.fall.doll.fallen(page.stage.fall.sim), seconds=60.0)
    keep(browser, "figure_fallen")
    browser.evaluate(DROP, ["torn.bvh", "HIERARCHY"])
    browser.get_by_text("The BVH file 'torn.bvh' ends where the line MOTION").wait_for()
    assert page.stage.figure.skeleton.name == "person"
    arm = Skeleton([Joint("Up"), Joint("Fore", "Up", (0, 1.0, 0)), Joint("Hand", "Fore", (0, 0.8, 0), end=True)], "arm")
    bend = rb.rotation.quaternion_from_axis_angle((0, 0, 1), 0.9)
    Figure(arm, {"bend": Clip.from_keys(arm, {0.0: {}, 0.5: {"Fore": bend}}, "bend")}).save(tmp_path / "arm.bvh")
    browser.evaluate(DROP, ["arm.bvh", (tmp_path / "arm.bvh").read_text()])
    until(lambda: page.stage.figure.skeleton.name == "arm", seconds=30.0)
    browser.get_by_text("rattleback character arm").wait_for()
    keep(browser, "figure_dropped")
