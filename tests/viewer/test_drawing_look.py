"""The look at a scene: cameras show all that moves in the part of the window that is free, ground lies below it."""

from __future__ import annotations

import io
import math
import time

import msgspec
import numpy as np
import pytest
import zstandard

import rattleback as rb
from rattleback.scenes import MENU
from rattleback.viewer.drawing.bodies import Bodies
from rattleback.viewer.drawing.ground import Ground
from rattleback.viewer.interaction.views import ALL, Views


def ground_of(page):
    return next(part for part in page.parts if isinstance(part, Ground))


def scene_page(open_page, name, *parts, **parameters):
    entry = MENU[name]
    sim = rb.Simulation(entry.build(**parameters), time_step=entry.time_step, integrator=entry.integrator)
    return open_page(sim, *(parts or (Bodies, Ground)))


def seen(eye, target, points, aspect, field_of_view):
    """Places of points in the picture, from −1 to 1 to the right and up, by the pinhole formula; z is up."""
    ahead = np.subtract(target, eye) / np.linalg.norm(np.subtract(target, eye))
    right = np.cross(ahead, (0.0, 0.0, 1.0))
    right /= np.linalg.norm(right)
    across, up, depth = np.stack([right, np.cross(right, ahead), ahead]) @ np.subtract(points, eye).T
    assert np.all(depth > 0.0)
    half = math.tan(0.5 * field_of_view)
    return np.stack([across / (half * aspect * depth), up / (half * depth)], axis=1)


def kepler_points(eccentricity=0.6, ratio=0.25, radius=0.06):
    """Points all around the balls of two bodies on their ellipses, by Kepler's geometry."""
    angle = np.linspace(0.0, 2.0 * np.pi, 60)
    orbit = np.stack(
        [np.cos(angle) - eccentricity, math.sqrt(1.0 - eccentricity**2) * np.sin(angle), 0.0 * angle], axis=1
    )
    size = radius * (ratio / (1.0 - ratio)) ** (1.0 / 3.0)
    balls = [(-ratio * orbit, radius), ((1.0 - ratio) * orbit, size)]
    ways = np.concatenate([np.eye(3), -np.eye(3)])
    return np.concatenate([(places[:, None] + r * ways).reshape(-1, 3) for places, r in balls])


class Eye:
    """A client with a window of some size, which says where its camera is and hears where it shall be."""

    def __init__(self, socket, width, height):
        self.socket, self.size = socket, (width, height)

    def say(self, eye, target):
        ahead = np.subtract(target, eye) / np.linalg.norm(np.subtract(target, eye))
        message = {
            "type": "ViewerCameraMessage", "wxyz": [1.0, 0.0, 0.0, 0.0], "position": list(map(float, eye)),
            "look_at": list(map(float, np.add(eye, ahead * np.linalg.norm(np.subtract(target, eye))))),
            "up_direction": [0.0, 0.0, 1.0], "fov": 0.7, "near": 0.01, "far": 100.0,
            "image_width": self.size[0], "image_height": self.size[1],
        }  # fmt: skip
        self.socket.send(msgspec.msgpack.encode(message))

    def hear(self, seconds=10.0):
        """The next place and target that its camera shall have, of this client alone; None if nothing is said."""
        end, found = time.monotonic() + seconds, {}
        while time.monotonic() < end and len(found) < 2:
            try:
                raw = self.socket.recv(timeout=max(end - time.monotonic(), 0.01))
            except TimeoutError:
                break
            packed = int.from_bytes(raw[8:16], "little")
            unpacked = msgspec.msgpack.decode(zstandard.ZstdDecompressor().decompress(raw[16 : 16 + packed]))
            for message in unpacked["messages"]:
                if message["type"] in ("SetCameraPositionMessage", "SetCameraLookAtMessage") and not message["initial"]:
                    found[message["type"]] = message.get("position", message.get("look_at"))
        return tuple(np.array(found[key]) for key in sorted(found, reverse=True)) if len(found) == 2 else None


@pytest.mark.parametrize("size", [(576, 700), (956, 800), (300, 700), (1600, 400)])
def test_the_camera_of_a_client_shows_both_orbits_in_its_window_as_large_as_it_can(open_page, visitor, size):
    page = scene_page(open_page, "kepler")
    with visitor.enter(page) as socket:
        client = Eye(socket, *size)
        client.say((3.0, 3.0, 3.0), (0.0, 0.0, 0.0))
        eye, target = client.hear()
    points = seen(eye, target, kepler_points(), size[0] / size[1], page.server.initial_camera.fov)
    assert np.all(np.abs(points) < 1.0)
    assert np.abs(points).max() > 0.6


def test_a_camera_follows_the_shape_of_its_window_until_its_user_turns_it(open_page, visitor, until):
    page = scene_page(open_page, "kepler")
    with visitor.enter(page) as socket:
        client = Eye(socket, 600, 700)
        client.say((3.0, 3.0, 3.0), (0.0, 0.0, 0.0))
        first = client.hear()
        client.say(*first)
        client.size = (300, 700)
        client.say(*first)
        second = client.hear()
        assert np.linalg.norm(second[0] - second[1]) > 1.5 * np.linalg.norm(first[0] - first[1])
        client.say(*second)
        client.say(second[0] + (0.5, 0.0, 0.3), second[1])
        client.size = (900, 700)
        client.say(second[0] + (0.5, 0.0, 0.3), second[1])
        assert client.hear(1.0) is None
        # Where the page goes back to where all cameras begin, it is turned again.
        start = page.server.initial_camera
        client.say(start.position, start.look_at)
        assert client.hear() is not None


@pytest.mark.parametrize("name", ["kepler", "orbits", "thrown", "swarm", "torque_free"])
def test_where_nothing_stands_there_is_no_ground(open_page, name):
    assert ground_of(scene_page(open_page, name, **({"count": 20} if name == "swarm" else {})))._handles == []


def test_the_ground_of_a_pendulum_lies_below_the_lowest_point_of_its_ball(open_page):
    page = scene_page(open_page, "pendulum", length=2.0)
    (grid,) = ground_of(page)._handles
    assert -2.2 - 0.1 < grid.position[2] < -2.2
    assert ground_of(scene_page(open_page, "pendulum", length=2.0, angle=0.1))._handles[0].position[2] < -2.2


def test_a_floor_goes_where_something_is_below_it_after_all_and_planes_stay(open_page, until):
    scene = rb.Scene()
    scene.add_static(rb.Box(1, 1, 1), name="table")
    scene.add_body(rb.Sphere(0.1), position=(0, 0, 0.7), name="ball")
    page = open_page(rb.Simulation(scene, contacts="none"), Bodies, Ground)
    (grid,) = ground_of(page)._handles
    assert grid.visible
    page.session.do(lambda sim: setattr(sim["ball"], "position", (0, 0, -3.0))).result(10.0)
    until(lambda: not grid.visible)
    page.session.do(lambda sim: setattr(sim["ball"], "position", (0, 0, 0.7))).result(10.0)
    until(lambda: grid.visible)


def test_the_ground_of_another_scene_is_another_for_the_browser_too(open_page, until):
    """The page of viser 1.1.1 draws a grid with the fading of one that had its name before."""
    page = scene_page(open_page, "pendulum")
    before = ground_of(page)._handles[0].name
    entry = MENU["rattleback"]
    page.session.open(lambda: rb.Simulation(entry.build(), time_step=entry.time_step)).result(30)
    until(lambda: page._version == page.session.frame.version)
    assert ground_of(page)._handles[0].name != before


def test_a_plane_stays_even_where_something_is_below_it(open_page, until):
    scene = rb.Scene()
    scene.add_static(rb.Plane())
    scene.add_body(rb.Sphere(0.1), position=(0, 0, -0.7), name="ball")
    page = open_page(rb.Simulation(scene, contacts="none"), Bodies, Ground)
    assert [grid.visible for grid in ground_of(page)._handles] == [True]


def test_look_at_all_shows_bodies_where_they_are_now_with_the_ground_below_them(open_page, until, person):
    scene = rb.Scene()
    scene.add_static(rb.Plane())
    for k in range(3):
        scene.add_body(rb.Box(0.4, 0.4, 0.4), position=(k, 0, 0.2), name=f"box_{k}")
    page = open_page(rb.Simulation(scene), Bodies, Ground, Views)
    place = np.array([80.0, -30.0, 0.2])

    def away(sim):
        for k in range(3):
            sim[f"box_{k}"].position = np.add(place, (0.0, 0.7 * k, 0.0))

    page.session.do(away).result(10.0)
    until(lambda: page._shown == page.session.frame.number and page.session.frame.picture.position[1, 0] > 79.0)
    person.press(page.parts[-1].sides, ALL)
    camera = page.server.initial_camera
    until(lambda: camera.look_at[0] > 70.0)
    corners = [
        np.add(place, (x, 0.7 * k + y, z))
        for k in range(3)
        for x in (-0.2, 0.2)
        for y in (-0.2, 0.2)
        for z in (-0.2, 0.2)
    ]
    points = seen(camera.position, camera.look_at, corners, 1.0, camera.fov)
    assert np.all(np.abs(points) < 1.0)
    assert np.abs(points).max() > 0.5
    (grid,) = ground_of(page)._handles
    assert np.linalg.norm(grid.position[:2] - place[:2]) < 3.0
    assert grid.position[2] == pytest.approx(0.0)


def test_what_has_flown_away_does_not_shrink_what_is_looked_at(open_page):
    scene = rb.Scene(gravity=(0, 0, 0))
    for k in range(20):
        scene.add_body(rb.Sphere(0.1), position=(0.3 * k, 0, 0))
    scene.add_body(rb.Sphere(0.1), position=(0, 0, 500))
    page = open_page(rb.Simulation(scene), Bodies, Ground)
    camera = page.server.initial_camera
    assert np.linalg.norm(camera.position - camera.look_at) < 20.0


def test_pictures_beside_each_other_keep_apart_what_their_motions_reach(open_page):
    from rattleback.viewer.drawing.layout import lay_out

    page = scene_page(open_page, "pendulum", angle=0.5)
    layout = lay_out(page.session.frame)
    assert layout.high[0] - layout.low[0] >= 2.0 * math.sin(0.5)
    assert layout.corners[:, 2].min() <= -1.1


def pixels(page):
    from PIL import Image

    return np.asarray(Image.open(io.BytesIO(page.screenshot())).convert("RGB"), dtype=np.int64)


def orange(shot):
    return (shot[..., 0] > shot[..., 2] + 50) & (shot[..., 0] > 120)


def blue(shot):
    return (shot[..., 2] > shot[..., 0] + 45) & (shot[..., 0] < 110)


@pytest.mark.slow
@pytest.mark.parametrize("size", [(1280, 800), (900, 700)])
def test_both_bodies_of_an_orbit_are_seen_beside_the_panel_all_the_way_round(open_page, visit, keep, until, size):
    page = scene_page(open_page, "kepler")
    shown = visit(page.address, *size)
    shown.add_style_tag(content="[class*=Notifications] { display: none !important; }")
    box = shown.locator("canvas").first.bounding_box
    until(
        lambda: box()["width"] < size[0] - 200 and all(aim.arrived for aim in page.lookout._aims.values()), seconds=30
    )
    width = int(box()["width"])
    for quarter in range(4):
        steps = page.session.frame.steps
        page.session.step(157).result(10.0)
        until(lambda steps=steps: page.session.frame.steps >= steps + 157)
        until(lambda: all(mask(pixels(shown)[:, :width]).sum() > 40 for mask in (orange, blue)), seconds=30)
        shot = pixels(shown)[:, :width]
        for mask in (orange, blue):
            rows, columns = np.nonzero(mask(shot))
            assert np.all((columns > 5) & (columns < width - 5))
            assert np.all((rows > 5) & (rows < size[1] - 5))
        keep(shown, f"kepler_{size[0]}_{quarter}")
