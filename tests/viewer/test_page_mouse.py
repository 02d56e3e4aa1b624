"""The mouse on the page, in a real browser: what it pushes, pulls and moves, and where to."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import imageio.v3 as imageio
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import rattleback as rb
from rattleback.viewer.drawing.bodies import Bodies
from rattleback.viewer.interaction.mouse import Mouse
from rattleback.viewer.interaction.push import SPEED
from rattleback.viewer.session import Session
from rattleback.viewer.window import Window

# The bodies are below the notice about software rendering.
EYE, AT = (6.0, 0.5, 2.2), (0.0, 1.6, 1.2)
# The panel takes a third of the window.
WINDOW, HEIGHT = 964, 400


def eventually(holds, seconds=30.0):
    """Wait until something holds."""
    end = time.monotonic() + seconds
    while not (found := holds()):
        if time.monotonic() > end:
            return found
        time.sleep(0.02)
    return found


def width_of(page):
    """How broad the part of the window is that shows the scene [pixels]."""
    return page.locator("canvas").first.bounding_box()["width"]


@dataclass
class Desk:
    """A page with its session, and its camera to know where on the screen a point of the world is."""

    session: Session
    window: Window
    page: Any
    width: float

    @property
    def client(self):
        return next(iter(self.window.server.get_clients().values()))

    def lens(self):
        """Camera's place, its axes right, down and forward in rows, and the focal length in pixels."""
        camera = self.client.camera
        axes = Rotation.from_quat(np.roll(camera.wxyz, -1)).as_matrix().T
        return np.array(camera.position), axes, 0.5 * HEIGHT / np.tan(0.5 * camera.fov)

    def pixel(self, point):
        eye, axes, focal = self.lens()
        right, down, depth = axes @ (np.asarray(point) - eye)
        return np.array([0.5 * self.width + focal * right / depth, 0.5 * HEIGHT + focal * down / depth])

    def way(self, point, pixels):
        """The way in the world, parallel to the screen, that moves a point by so many pixels."""
        eye, axes, focal = self.lens()
        depth = axes[2] @ (np.asarray(point) - eye)
        return depth / focal * (pixels[0] * axes[0] + pixels[1] * axes[1])

    def press(self, point):
        self.page.mouse.move(*self.pixel(point))
        self.page.mouse.down()

    def drag(self, point, pixels):
        """Move the mouse by so many pixels from a point, by halves: a busy page makes one event of two at once."""
        start = self.pixel(point)
        self.page.mouse.move(*(start + 0.5 * pixels))
        self.page.mouse.move(*(start + pixels))
        return True

    def hold(self, point, pixels, held):
        """Press and drag until something shows that the point is held; a press the page has missed is repeated."""

        def tried():
            self.press(point)
            self.drag(point, pixels)
            if not (found := eventually(held, 5.0)):
                self.page.mouse.up()
            return found

        return eventually(tried)

    @property
    def picture(self):
        return self.session.frame.picture


@pytest.fixture
def desk(visit):
    opened = []

    def lay(scene, **settings):
        session = Session([rb.Simulation(scene, **settings)])
        session.start()
        window = Window(session, parts=(Bodies, Mouse))
        opened.append((session, window))
        window.server.initial_camera.position, window.server.initial_camera.look_at = EYE, AT
        window.server.scene.configure_default_lights(cast_shadow=False)
        window.server.scene.configure_environment_map(None)
        page = visit(window.address, WINDOW, HEIGHT)
        assert eventually(lambda: width_of(page) < WINDOW - 200)
        there = Desk(session, window, page, width_of(page))
        assert eventually(lambda: window.server.get_clients())
        assert eventually(lambda: np.allclose(there.client.camera.position, EYE, atol=1e-6))
        return there

    yield lay
    for session, window in opened:
        window.close()
        session.stop()


def two_boxes():
    scene = rb.Scene(gravity=(0.0, 0.0, 0.0))
    scene.add_body(rb.Box(1.0, 1.0, 1.0), mass=2.0, position=(0.0, -0.5, 0.0), name="near")
    scene.add_body(rb.Box(1.0, 1.0, 1.0), mass=3.0, position=(0.0, 1.5, 0.0), name="far")
    return scene


def test_a_drag_pushes_the_body_under_the_mouse_where_the_mouse_goes_and_beside_them_turns_the_camera(desk, keep):
    there = desk(two_boxes(), time_step=0.01)
    face, pixels = np.array([0.5, 1.5, 0.1]), np.array([40.0, 90.0])
    assert eventually(lambda: _selects(there, face, "far"))
    page_arrow = f"/push_{there.client.client_id}_line"
    assert there.hold(face, pixels, lambda: _there(there, page_arrow))
    keep(there.page, "mouse_push")
    there.page.mouse.up()
    assert eventually(lambda: np.any(there.picture.velocity))
    expected = SPEED * there.way(face, pixels)
    np.testing.assert_allclose(there.picture.velocity[1], expected, atol=0.03 * np.linalg.norm(expected))
    spin = np.cross(face - [0.0, 1.5, 0.0], 3.0 * expected) / (3.0 / 6.0)
    np.testing.assert_allclose(there.picture.angular_velocity[1], spin, atol=0.05 * np.linalg.norm(spin))
    np.testing.assert_array_equal(there.picture.velocity[0], [0.0, 0.0, 0.0])
    assert not _there(there, page_arrow)
    # With ctrl, up is away from the eye.
    face = np.array([0.5, -0.5, 0.0])
    there.page.keyboard.down("Control")
    assert there.hold(face, np.array([0.0, -60.0]), lambda: _there(there, page_arrow))
    there.page.mouse.up()
    there.page.keyboard.up("Control")
    assert eventually(lambda: np.any(there.picture.velocity[0]))
    eye = there.lens()[0]
    sight = face - eye
    speed = SPEED * np.linalg.norm(there.way(face, [0.0, -60.0]))
    away = speed * sight / np.linalg.norm(sight)
    np.testing.assert_allclose(there.picture.velocity[0], away, atol=0.03 * speed)
    velocity = there.picture.velocity
    there.page.mouse.move(60.0, 380.0)
    there.page.mouse.down()
    there.page.mouse.move(180.0, 390.0, steps=3)
    there.page.mouse.up()
    assert eventually(lambda: np.linalg.norm(there.lens()[0] - eye) > 0.5)
    np.testing.assert_array_equal(there.picture.velocity, velocity)


def test_a_drag_with_shift_pulls_the_body_to_the_mouse_and_leaves_nothing_behind(desk, keep):
    there = desk(two_boxes(), time_step=0.01)
    face, pixels = np.array([0.5, -0.5, 0.0]), np.array([-30.0, 60.0])
    assert eventually(lambda: _selects(there, face, "near"))
    there.session.play().result(10.0)
    there.page.keyboard.down("Shift")
    assert there.hold(face, pixels, lambda: there.session.hands)
    goal = face + there.way(face, pixels)
    local = np.array([0.5, 0.0, 0.0])

    def grabbed():
        picture = there.picture
        return picture.position[0] + Rotation.from_quat(picture.orientation[0]).apply(local)

    (hand,) = there.session.hands
    assert eventually(lambda: there.drag(face, pixels) and eventually(lambda: _near(hand.target, goal), 1.0))
    assert eventually(lambda: _near(grabbed(), goal))
    keep(there.page, "mouse_spring")
    there.page.mouse.up()
    assert eventually(lambda: not there.session.hands)
    assert not np.any(there.session.do(lambda sim: sim["near"].applied_force.copy()).result(10.0))
    np.testing.assert_array_equal(there.picture.velocity[1], [0.0, 0.0, 0.0])
    # A page that is closed in the middle of a drag lets go as well.
    there.session.pause().result(10.0)
    assert there.hold([0.5, 1.5, 0.1], np.array([20.0, 40.0]), lambda: there.session.hands)
    there.page.close()
    assert eventually(lambda: not there.session.hands)


@pytest.mark.contacts
def test_the_manipulator_moves_a_body_up_to_a_wall_and_not_through_it(desk, keep):
    scene = rb.Scene(gravity=(0.0, 0.0, 0.0))
    scene.add_body(rb.Box(0.6, 0.6, 0.6), mass=2.0, position=(0.0, -0.9, 0.0), name="box")
    scene.add_static(rb.Box(1.0, 0.2, 1.0), position=(0.0, 1.1, 0.0), name="wall")
    there = desk(scene, time_step=0.01)
    assert eventually(lambda: _selects(there, [0.3, -0.9, 0.0], "box"))
    there.session.play().result(10.0)
    there.page.get_by_label("Manipulator").click()
    assert eventually(lambda: _there(there, "/manipulator"))
    # On the arrow along y, which leaves the box at -0.6 m and ends at -0.9 m + 1.7 × 0.52 m.
    arrow, way = np.array([0.0, -0.13, 0.0]), np.array([0.0, 2.5, 0.0])
    farthest = []
    there.session.do(lambda sim: sim.after_step(lambda sim: farthest.append(float(sim["box"].position[1])))).result(
        10.0
    )
    assert eventually(lambda: _is_green(there, arrow))
    assert there.hold(arrow, there.pixel(arrow + way) - there.pixel(arrow), lambda: there.session.hands)
    # The face of the wall is at 1 m, the middle of the box 0.3 m before its own.
    assert eventually(lambda: there.picture.position[0, 1] > 0.695)
    keep(there.page, "mouse_manipulator")
    there.page.mouse.up()
    assert eventually(lambda: not there.session.hands)
    assert max(farthest) < 0.7 + 1e-3
    np.testing.assert_allclose(there.picture.position[0, [0, 2]], [0.0, 0.0], atol=0.01)
    assert eventually(lambda: not there.picture.scene.joints)


def test_a_click_beside_all_bodies_deselects_wherever_the_mouse_has_been(desk):
    """Nothing is left to be hit where a body was under the mouse before, nor at the origin."""
    scene = rb.Scene(gravity=(0.0, 0.0, 0.0))
    scene.add_body(rb.Sphere(0.15), position=(0.0, 1.4, 0.6), name="ball")
    scene.add_static(rb.Box(0.2, 0.2, 0.2), position=(0.0, 2.4, 0.6), name="post")
    there = desk(scene, time_step=0.01)
    ball, post, origin = [0.0, 1.4, 0.6], [0.0, 2.4, 0.6], [0.0, 0.4, 0.4]
    assert eventually(lambda: _selects(there, ball, "ball"))
    there.session.do(lambda sim: setattr(sim["ball"], "position", (0.0, -0.4, 0.9))).result(10.0)
    for nothing in (ball, origin, [0.0, 1.9, 0.2]):
        assert eventually(lambda: _selects(there, post, "post"))
        assert eventually(lambda nothing=nothing: _selects(there, nothing, ""))
    eye = there.lens()[0]
    there.page.mouse.move(*there.pixel(origin))
    there.page.mouse.down()
    there.page.mouse.move(*np.add(there.pixel(origin), [60.0, 20.0]), steps=3)
    there.page.mouse.up()
    assert eventually(lambda: np.linalg.norm(there.lens()[0] - eye) > 0.2)
    assert not np.any(there.picture.velocity)


def _near(one, other):
    return np.linalg.norm(one - other) < 0.03


def _selects(there, point, name):
    """Whether a click on a point selects a body, once the page has drawn it."""
    there.page.mouse.click(*there.pixel(point))
    return eventually(lambda: there.window.selected == name, 0.3)


def _there(there, node):
    return node in there.window.server.scene._handle_from_node_name


def _is_green(there, point):
    """Whether the page shows something green at a point, as the arrow along y is."""
    shot = imageio.imread(there.page.screenshot())
    x, y = np.round(there.pixel(point)).astype(int)
    red, green, blue = shot[y - 2 : y + 3, x - 2 : x + 3, :3].reshape(-1, 3).astype(float).T
    return bool(np.any(green > 1.2 * np.maximum(red, blue)))
