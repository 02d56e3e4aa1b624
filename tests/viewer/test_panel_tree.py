"""The tree: what is in the scene, selected both ways, hidden and shown; and the dark page."""

import json

import numpy as np
import pytest

import rattleback as rb
from rattleback.viewer.drawing.bodies import Bodies
from rattleback.viewer.drawing.ground import Ground
from rattleback.viewer.drawing.joints import Joints
from rattleback.viewer.front import OWN
from rattleback.viewer.panels.show import Show
from rattleback.viewer.panels.tree import Tree, things

EVIL = "<img src=x onerror=alert(1)>"


def scene():
    made = rb.Scene()
    arm = made.add_body(rb.Box(1.0, 0.1, 0.1), position=(0.5, 0, 0), name="arm")
    made.add_body(rb.Sphere(0.1), position=(2, 0, 0), name=EVIL)
    made.add_static(rb.Box(0.2, 0.2, 0.2), position=(0, 0, -1), name="block")
    made.add_joint(rb.Revolute(made.world, arm, at=(0, 0, 0), axis=(0, 1, 0)), name="hinge")
    made.add_force(rb.Drag(quadratic=0.002, bodies=[arm]), name="air")
    return made


@pytest.fixture
def page(open_page):
    return open_page(rb.Simulation(scene()), Bodies, Ground, Joints, Show, Tree)


def ask(page, place, acts=False):
    return page.front.answer(f"/rattleback/{place}", {OWN: "page"} if acts else {})


def test_it_lists_bodies_joints_and_forces_with_what_they_are():
    assert things(scene()) == {
        "bodies": [("arm", "Box"), (EVIL, "Sphere"), ("block", "Box static")],
        "joints": [("hinge", "Revolute: world – arm")],
        "forces": [("air", "Drag")],
    }


def test_selection_goes_both_ways_and_strangers_are_refused(page):
    assert ask(page, "tree_act/select?name=hinge").status == 403
    assert ask(page, "tree_act/select?name=hinge", acts=True).status == 200
    assert page.selected == "hinge"
    page.select("arm")
    assert json.loads(ask(page, "tree/state").text)["selected"] == "arm"
    refused = ask(page, "tree_act/select?name=leg", acts=True)
    assert (refused.status, "nothing called 'leg'" in refused.text) == (400, True)
    assert ask(page, "tree_act/explode?name=arm", acts=True).status == 404


def test_a_hidden_body_is_neither_seen_nor_hit_and_its_marks_go_with_it(page, until):
    bodies, joints = page.parts[0], page.parts[2]

    def size(part, name):
        row = page.session.frame.picture.scene.index(name)
        scales = [batch.handle.batched_scales[k] for batch in part._crowd.batches
                  for k, member in enumerate(batch.members) if part._crowd.rows[member] == row]  # fmt: skip
        return float(np.max(np.abs(scales)))

    before = size(bodies, "arm"), size(joints, "arm")
    eye, down = np.array((0.9, 0.0, 5.0)), np.array((0.0, 0.0, -1.0))
    assert bodies.pick(eye, down) == (0, "arm")
    ask(page, "tree_act/hide?name=arm", acts=True)
    until(lambda: (size(bodies, "arm"), size(joints, "arm")) == (0.0, 0.0))
    assert bodies.pick(eye, down) is None
    ask(page, "tree_act/only?name=arm", acts=True)
    until(lambda: size(bodies, "arm") == before[0] and size(bodies, "block") == 0.0)
    assert json.loads(ask(page, "tree/state").text)["hidden"] == sorted([EVIL, "block"])
    ask(page, "tree_act/all", acts=True)
    until(lambda: (size(bodies, "arm"), size(joints, "arm")) == before)


def test_a_body_that_is_gone_is_not_hidden_any_more(page, until):
    ask(page, "tree_act/hide?name=block", acts=True)

    def without(scene):
        made = scene.copy()
        made.remove_body("block")
        return made

    page.session.rebuild(without).result()
    until(lambda: page.parts[0].hidden == frozenset())


def test_the_page_is_dark_on_request_with_its_ground(page, person, until):
    ground = page.parts[1]
    light = np.mean(ground._handles[0].plane_color)
    box = next(h for h in page.server.gui._gui_input_handle_from_uuid.values() if h.label == "Dark")
    person.turn(box, True)
    until(lambda: page.dark and np.mean(ground._handles[0].plane_color) < 0.5 * light)
    assert json.loads(ask(page, "tree/state").text)["dark"] is True


@pytest.mark.slow
def test_in_a_browser_the_tree_is_searched_and_a_name_is_never_code(open_page, visit, keep, until):
    made = scene()
    for k in range(1000):
        made.add_body(rb.Sphere(0.01), position=(k % 32, 1 + k // 32, 0), name=f"ball_{k}")
    window = open_page(rb.Simulation(made), Tree)
    page = visit(window.address, 700, 500)
    alerts = []
    page.on("dialog", lambda dialog: (alerts.append(dialog.message), dialog.dismiss()))
    page.get_by_text("Edit", exact=True).first.click()
    tree = page.frame_locator("iframe")
    tree.get_by_text("bodies (1003)").wait_for()
    assert tree.locator("[role=option]").count() < 60
    tree.locator("input").fill("onerror")
    tree.locator("[role=option]").click()
    until(lambda: window.selected == EVIL)
    tree.locator("input").fill("")
    window.select("ball_777")
    tree.locator("[aria-selected=true]", has_text="ball_777").wait_for()
    keep(page, "tree")
    assert alerts == []
