"""What the mouse does to a page without a browser: drags as the page reports them, and everything that may cut in."""

from __future__ import annotations

import time
from types import SimpleNamespace

import numpy as np
import pytest

import rattleback as rb
from rattleback.viewer.drawing.bodies import Bodies
from rattleback.viewer.interaction.gizmo import STANDS
from rattleback.viewer.interaction.grip import GRIP
from rattleback.viewer.interaction.mouse import Mouse
from rattleback.viewer.session import Session
from rattleback.viewer.window import Window

CLIENT = 7


def at_once(coroutine):
    """Carry out a callback that waits for nothing, as all of the mouse must."""
    with pytest.raises(StopIteration):
        coroutine.send(None)


def make_scene():
    scene = rb.Scene(gravity=(0.0, 0.0, 0.0))
    scene.add_body(rb.Box(1.0, 1.0, 1.0), mass=2.0, name="box")
    scene.add_body(rb.Sphere(0.5), mass=1.0, position=(3.0, 0.0, 0.0), name="ball")
    scene.add_static(rb.Box(1.0, 1.0, 1.0), position=(0.0, 5.0, 0.0), name="post")
    return scene


@pytest.fixture
def page(monkeypatch):
    session = Session([rb.Simulation(make_scene(), time_step=0.01) for _ in range(2)])
    session.start()
    window = Window(session, parts=(Bodies, Mouse))
    client = SimpleNamespace(add_notification=lambda *words, **options: None)
    monkeypatch.setattr(window.server, "get_clients", lambda: {CLIENT: client})
    yield window
    window.close()
    session.stop()


def eventually(holds, seconds=10.0):
    end = time.monotonic() + seconds
    while not holds() and time.monotonic() < end:
        time.sleep(0.01)
    return holds()


def batch_of(window, name, picture=0):
    """Handle and instance under which a body is drawn."""
    bodies = window.parts[0]
    return next(
        (handle, i)
        for handle in bodies.handles
        for i in range(len(handle.batched_positions))
        if bodies.body_of(handle, i) == (picture, name)
    )


def drag(window, act, name, *points, client=CLIENT, picture=0, end=True):
    """A drag over points of the page; the first is where the body is grabbed."""
    handle, instance = batch_of(window, name, picture)
    phases = ["start", *["update"] * (len(points) - 1), *["end"] * end]
    for phase, point in zip(phases, [*points, points[-1]], strict=False):
        event = SimpleNamespace(
            target=handle, instance_index=instance, phase=phase, client_id=client, start_position=points[0],
            end_position=point, start_screen_pos=(0.5, 0.5), end_screen_pos=(0.6, 0.5),
        )  # fmt: skip
        at_once(act(event))


def click(window, origin, direction):
    """A click as the page reports it, by the ray that goes through it."""
    at_once(window.parts[1]._clicked(SimpleNamespace(ray_origin=origin, ray_direction=direction)))


def buttons_of(handle):
    """The buttons of the mouse that a batch listens to."""
    return {entry.button for entry in handle._impl.drag_cb}


def settled(window):
    window.session.do(lambda sim: None).result(10.0)
    return window.session.frame


def test_a_click_selects_the_first_body_along_its_ray_and_none_beside_them(page):
    click(page, (9.0, 0.0, 0.0), (-1.0, 0.0, 0.0))
    assert page.selected == "ball"
    click(page, (-9.0, 0.2, 0.2), (2.0, 0.0, 0.0))
    assert page.selected == "box"
    # Within half a metre of the box, where the page would have an outline of size one.
    click(page, (-9.0, 0.51, 0.2), (1.0, 0.0, 0.0))
    assert page.selected == ""
    click(page, (9.0, 0.0, 0.0), (-1.0, 0.0, 0.0))
    click(page, (9.0, 0.0, 0.0), (1.0, 0.0, 0.0))
    assert page.selected == ""


def test_a_click_finds_bodies_where_they_are_now_and_in_every_picture(page):
    page.session.do(lambda sim: setattr(sim["ball"], "position", (0.0, 0.0, 4.0))).result(10.0)
    assert eventually(lambda: np.allclose(page.session.frame.picture.position[1], (0.0, 0.0, 4.0)))
    page.refresh()
    for offset in page.parts[0].layout.offsets:
        click(page, np.add(offset, (0.0, -9.0, 4.45)), (0.0, 1.0, 0.0))
        assert page.selected == "ball"
        click(page, np.add(offset, (3.0, -9.0, 0.0)), (0.0, 1.0, 0.0))
        assert page.selected == ""


def test_a_drag_that_hits_no_instance_takes_hold_of_nothing(page):
    """The page reports so what hits its outlines."""
    handle, _ = batch_of(page, "box")
    event = SimpleNamespace(
        target=handle, instance_index=None, phase="start", client_id=CLIENT, start_position=np.zeros(3),
        end_position=np.zeros(3), start_screen_pos=(0.5, 0.5), end_screen_pos=(0.6, 0.5),
    )  # fmt: skip
    at_once(page.parts[1]._pushed(event))
    assert not nodes(page, "/push_")


def test_no_batch_hears_clicks_so_that_the_page_adds_no_outlines(page):
    bodies = page.parts[0]
    assert all(not handle._impl.click_cb for handle in bodies.handles)
    assert all(handle._impl.drag_cb for handle in bodies.handles)


def nodes(window, start):
    return [name for name in window.server.scene._handle_from_node_name if name.startswith(start)]


def test_a_drag_pushes_the_body_in_every_picture_and_its_arrow_goes(page):
    mouse = page.parts[1]
    offset = page.parts[0].layout.offsets[1]
    start = np.add(offset, [0.0, 0.0, 0.5])
    end = np.add(start, [0.0, 0.0, 1.0])
    drag(page, mouse._pushed, "box", start, end, picture=1, end=False)
    assert nodes(page, f"/push_{CLIENT}_line")
    drag(page, mouse._pushed, "box", start, end, picture=1)
    assert not nodes(page, "/push_")
    for picture in settled(page).pictures:
        np.testing.assert_allclose(picture.velocity[0], [0.0, 0.0, 1.5], atol=1e-12)
        np.testing.assert_allclose(picture.velocity[1], [0.0, 0.0, 0.0], atol=1e-12)


def test_a_client_that_vanishes_in_the_middle_pushes_nothing(page):
    drag(page, page.parts[1]._pushed, "box", np.zeros(3), np.ones(3), client=CLIENT + 1)
    assert not np.any(settled(page).picture.velocity)
    assert not nodes(page, "/push_")


def test_what_is_static_is_selected_but_neither_pushed_nor_pulled(page):
    mouse = page.parts[1]
    drag(page, mouse._pulled, "post", np.array([0.0, 4.5, 0.0]), np.ones(3), end=False)
    settled(page)
    assert not page.session.hands
    click(page, (9.0, 5.0, 0.0), (-1.0, 0.0, 0.0))
    assert page.selected == "post"
    assert buttons_of(batch_of(page, "post")[0]) == {"middle"}
    assert buttons_of(batch_of(page, "box")[0]) == {"left"}


def test_a_spring_is_let_go_when_the_scene_changes(page):
    drag(page, page.parts[1]._pulled, "box", np.zeros(3), np.ones(3), end=False)
    settled(page)
    assert len(page.session.hands) == 1
    assert nodes(page, "/spring_")

    def heavier(scene):
        edited = scene.copy()
        edited.change_body("box", mass=5.0)
        return edited

    page.session.rebuild(heavier).result(10.0)
    assert eventually(lambda: not page.session.hands)
    assert not nodes(page, "/spring_")
    assert not np.any(page.session.do(lambda sim: sim["box"].applied_force.copy()).result(10.0))
    # Those that were drawn anew listen, too.
    assert batch_of(page, "box")[0]._has_any_drag_callbacks()


def test_a_spring_pulls_the_body_of_every_picture_to_the_same_place(page):
    drag(page, page.parts[1]._pulled, "box", np.zeros(3), np.array([0.2, 0.1, 0.0]), end=False)
    page.session.step(150).result(10.0)
    assert eventually(lambda: not page.session.frame.playing)
    for picture in page.session.frame.pictures:
        np.testing.assert_allclose(picture.position[0], [0.2, 0.1, 0.0], atol=1e-3)


def grip(window, phase, position=(0.0, 0.0, 0.0), client=CLIENT):
    """A manipulator that is grabbed, moved or let go as the page reports it."""
    gizmo = window.parts[1].gizmo
    target = gizmo.handle
    target._impl.position, target._impl.wxyz = np.array(position), np.array([1.0, 0.0, 0.0, 0.0])
    at_once(gizmo._moved(SimpleNamespace(target=target, phase=phase, client_id=client)))


def with_manipulator(window, name="box"):
    window.parts[1].gizmo._box.value = True
    window.select(name)
    assert eventually(lambda: window.parts[1].gizmo.handle is not None)


def test_the_manipulator_stands_on_the_selected_body_and_follows_it(page):
    gizmo = page.parts[1].gizmo
    page.select("ball")
    assert gizmo.handle is None
    with_manipulator(page, "ball")
    np.testing.assert_array_equal(gizmo.handle.position, [3.0, 0.0, 0.0])
    page.session.do(lambda sim: setattr(sim["ball"], "position", (3.0, 1.0, 0.0))).result(10.0)
    assert eventually(lambda: np.array_equal(gizmo.handle.position, [3.0, 1.0, 0.0]))
    page.select("post")
    assert gizmo.handle is None


def test_the_manipulator_leads_the_body_while_it_is_held(page):
    with_manipulator(page)
    grip(page, "start")
    grip(page, "update", (0.0, 0.0, 0.4))
    settled(page)
    assert page.session.notices[-1].text == STANDS
    grip(page, "update", (9.0, 9.0, 9.0), client=CLIENT + 1)
    grip(page, "update", (0.0, 0.0, 0.4))
    page.session.step(100).result(10.0)
    assert eventually(lambda: not page.session.frame.playing)
    for picture in page.session.frame.pictures:
        np.testing.assert_allclose(picture.position[0], [0.0, 0.0, 0.4], atol=1e-3)
        assert GRIP in picture.scene.joints
    grip(page, "end")
    frame = settled(page)
    assert not page.session.hands
    assert all(GRIP not in picture.scene.joints for picture in frame.pictures)


def test_the_manipulator_lets_go_when_its_box_is_unticked_or_something_else_is_selected(page):
    with_manipulator(page)
    grip(page, "start")
    page.select("ball")
    settled(page)
    assert not page.session.hands
    grip(page, "start")
    settled(page)
    assert page.session.hands[0].body == "ball"
    page.parts[1].gizmo._box.value = False
    assert eventually(lambda: not page.session.hands)
    assert eventually(lambda: page.parts[1].gizmo.handle is None)


def test_going_back_to_a_moment_when_a_body_was_held_does_not_hold_it_again(page):
    with_manipulator(page)
    grip(page, "start")
    page.session.save_point().result(10.0)
    grip(page, "end")
    settled(page)
    page.session.undo().result(10.0)
    assert eventually(lambda: all(GRIP not in sim.scene.joints for sim in page.session.sims))


def test_the_manipulator_lets_go_when_another_scene_is_opened(page):
    with_manipulator(page)
    grip(page, "start")
    page.session.open(lambda: rb.Simulation(make_scene())).result(10.0)
    assert eventually(lambda: page.parts[1].gizmo._hand is None)
    assert not page.session.hands
    assert settled(page).picture.scene.joints == {}
