"""Views: sides, focus and going along, by what the cameras are told and by what a browser shows."""

from types import SimpleNamespace

import numpy as np
import pytest

import rattleback as rb
from rattleback.viewer.drawing.bodies import Bodies, bodies_of
from rattleback.viewer.drawing.ground import Ground
from rattleback.viewer.drawing.surroundings import LAMP
from rattleback.viewer.interaction.mouse import Mouse
from rattleback.viewer.interaction.views import AXES, Views


def thrown():
    """A ball that flies, a box that stays, and nothing below them."""
    scene = rb.Scene((0, 0, 0))
    scene.add_body(rb.Sphere(0.1), mass=1.0, position=(0, 0, 1), velocity=(2, 1, 0.5), name="ball")
    scene.add_static(rb.Box(0.2, 0.4, 0.6), position=(1.0, -2.0, 0.5), name="box")
    return rb.Simulation(scene, time_step=0.01)


class Client:
    """A client that keeps where its camera was told to be."""

    client_id = 7

    def __init__(self):
        self.camera = SimpleNamespace(
            position=np.array((5.0, 5.0, 3.0)), look_at=np.zeros(3), image_width=600, image_height=400
        )
        self._websock_connection = SimpleNamespace(queue_message=self.hear)

    def atomic(self):
        from contextlib import nullcontext

        return nullcontext()

    def hear(self, message):
        found = {"SetCameraPositionMessage": "position", "SetCameraLookAtMessage": "look_at"}
        if name := found.get(type(message).__name__):
            setattr(self.camera, name, np.array(getattr(message, name)))

    @property
    def way(self):
        """Where it looks."""
        ahead = self.camera.look_at - self.camera.position
        return ahead / np.linalg.norm(ahead)


@pytest.fixture
def page(open_page):
    return open_page(thrown(), Bodies, Ground, Mouse, Views)


@pytest.fixture
def views(page):
    return page.parts[-1]


@pytest.mark.parametrize(("name", "way"), [("Front", (0, 1, 0)), ("Side", (-1, 0, 0)), ("Top", (0, 0, -1))])
def test_a_side_is_looked_at_straight_and_by_the_client_that_asked(page, views, name, way):
    client, other = Client(), Client()
    views.look(name, client)
    assert client.way == pytest.approx(way, abs=0.02)
    assert np.all(other.camera.position == (5.0, 5.0, 3.0))


def test_a_body_is_looked_at_from_where_the_camera_stands_and_the_middle_of_it_is_in_the_middle(page, views):
    client = Client()
    before = client.way
    views.focus(client, "box")
    assert client.way == pytest.approx(before, abs=1e-6)
    to_box = np.subtract((1.0, -2.0, 0.5), client.camera.position)
    assert np.cross(client.way, to_box) == pytest.approx(np.zeros(3), abs=1e-6)
    diagonal = np.linalg.norm((0.2, 0.4, 0.6))
    assert 2.0 * diagonal < np.linalg.norm(to_box) < 10.0 * diagonal


def test_two_clicks_at_one_place_look_at_what_is_there_and_two_elsewhere_do_not(page, views):
    def clicks(*places):
        client = Client()
        for place in places:
            event = SimpleNamespace(client=client, client_id=7, screen_pos=place, ray_origin=(1.0, -9.0, 0.5),
                                    ray_direction=(0.0, 1.0, 0.0))  # fmt: skip
            with pytest.raises(StopIteration):  # it does not wait
                views._clicked(event).send(None)
        views._clicks.clear()
        return np.linalg.norm(np.cross(client.way, np.subtract((1.0, -2.0, 0.5), client.camera.position)))

    assert bodies_of(page).pick(np.array((1.0, -9.0, 0.5)), np.array((0.0, 1.0, 0.0))) == (0, "box")
    assert clicks((0.5, 0.5), (0.5, 0.51)) < 1e-6
    assert clicks((0.5, 0.5), (0.7, 0.5)) > 0.1


def test_cameras_go_along_with_the_selected_body_and_the_light_stays(page, views, until):
    session = page.session
    views.go_along(True)
    assert "Select a body that moves" in session.notices[-1].text
    page.select("box")
    views.go_along(True)
    assert views.followed == ""
    page.select("ball")
    views.go_along(True)
    session.step(50).result()
    way = np.array((2.0, 1.0, 0.5)) * 0.5
    until(lambda: np.allclose(views._gone, way))
    there = [m for m in page.server._websock_server._broadcast_buffer.message_from_id.values()
             if type(m).__name__ == "SetPositionMessage" and m.name == ""]  # fmt: skip
    # The scene goes back by as much as the body has gone on: seen from the browser, it stays.
    assert AXES @ way + np.array(there[-1].position) == pytest.approx(np.zeros(3), abs=1e-9)
    ground = next(part for part in page.parts if isinstance(part, Ground))
    assert np.array(ground.lamp.position) - way == pytest.approx(LAMP)
    views.go_along(False)
    session.step(5).result()
    assert np.allclose(views._gone, way)


@pytest.mark.slow
def test_in_a_browser_what_is_followed_stays_where_it_is_in_the_picture(page, views, visit, until):
    there = visit(page.address, 500, 400)
    until(lambda: len(page.server.get_clients()) == 1, seconds=30.0)
    there.wait_for_timeout(1500)
    camera = next(iter(page.server.get_clients().values())).camera
    page.select("ball")
    views.go_along(True)
    before = np.array(camera.position) - page.session.frame.picture.position[0]
    page.session.step(100).result()
    there.wait_for_timeout(500)
    there.mouse.wheel(0, 1)  # the camera moves a little, and says where it is
    gone = page.session.frame.picture.position[0]
    until(
        lambda: np.linalg.norm(np.array(camera.position) - gone - before) < 0.2 * np.linalg.norm(before), seconds=20.0
    )
    assert np.linalg.norm(gone) > 2.0
