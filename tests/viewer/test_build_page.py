"""Mechanisms are built on the page from nothing, saved as Python, and run as Python: the same bits."""

import runpy
from pathlib import Path

import pytest

import rattleback as rb
from rattleback.viewer.building.panel import EMPTY, Build
from rattleback.viewer.panels.edit import Edit
from rattleback.viewer.panels.files import SCRIPT, Files

CRANK = Path(__file__).resolve().parents[2] / "examples" / "crank.py"
# The mechanism of the tutorial, as it is typed: size, position, mass; what it joins, where, along which axis.
TABLE = {"size": "0.66, 0.3, 0.05", "position": "0.13, 0, 0.475", "name": "table", "static": True}
BODIES = (
    {"size": "0.1, 0.02, 0.02", "position": "-0.05, 0, 0.63", "mass": "0.5", "name": "crank", "collides": False},
    {"size": "0.3, 0.02, 0.02", "position": "0.05, 0, 0.63", "mass": "0.3", "name": "rod", "collides": False},
    {"size": "0.08, 0.08, 0.24", "position": "0.2, 0, 0.63", "mass": "1", "name": "slider"},
    {"size": "0.08, 0.1, 0.08", "position": "0.38, 0, 0.54", "mass": "0.2", "name": "parcel"},
)
JOINTS = (
    {"a": "world", "b": "crank", "kind": "revolute", "at": "0, 0, 0.63", "axis": "0, 1, 0", "name": "hinge"},
    {"a": "crank", "b": "rod", "kind": "revolute", "at": "-0.1, 0, 0.63", "axis": "0, 1, 0"},
    {"a": "rod", "b": "slider", "kind": "revolute", "at": "0.2, 0, 0.63", "axis": "0, 1, 0"},
    {"a": "world", "b": "slider", "kind": "prismatic", "at": "0.2, 0, 0.63", "axis": "1, 0, 0"},
)
MOTOR = {
    "joint": "hinge", "force_kind": "servo", "name": "motor",
    "more": "target 6; control velocity; gain 0.5; reset_time 0.2",
}  # fmt: skip


@pytest.fixture
def window(open_page):
    # Nothing is drawn: software WebGL takes its time.
    scene = rb.Scene(name="anything")
    scene.add_body(rb.Sphere(0.1))
    return open_page(rb.Simulation(scene, time_step=0.005), Build, Edit, Files)


@pytest.fixture
def example(monkeypatch, tmp_path):
    """The scene of the tutorial."""
    monkeypatch.chdir(tmp_path)
    return runpy.run_path(str(CRANK))["scene"]


def hash_of(scene, steps=60):
    sim = rb.Simulation(scene, time_step=0.005)
    sim.step(steps)
    return sim.hash()


def filled(controls, person, values, until):
    """Type into fields, once those of the edit before were emptied."""
    for key, value in {"mass": "", "static": False, "collides": True, "name": "", **values}.items():
        if key in controls:
            person.turn(controls[key], value)


def test_the_mechanism_of_the_tutorial_is_built_from_nothing(window, person, until, tmp_path, example):
    build, files, session = window.parts[0], window.parts[2], window.session
    build.press(EMPTY).result()
    for values in (TABLE, *BODIES):
        filled(build.body, person, values, until)
        build.add_body().result()
        until(lambda name=values["name"]: window.selected == name)
    for values in JOINTS:
        filled(build.link, person, values, until)
        build.join().result()
        until(lambda: window.selected in session.frame.picture.scene.joints)
        window.select("")
    filled(build.link, person, MOTOR, until)
    build.add_force().result()
    assert not [notice.text for notice in session.notices if notice.fault]
    files.download_scene(person, SCRIPT)
    (tmp_path / "built.py").write_bytes(person.files["scene.py"])
    made = runpy.run_path(str(tmp_path / "built.py"))["scene"]
    session.set_speed(float("inf"))
    session.step(60).result()
    until(lambda: session.frame.steps == 60)
    assert session.do(lambda sim: sim.hash()).result() == [hash_of(made)]
    assert hash_of(made) == hash_of(example)


def test_crank_and_rod_of_the_tutorial_stay_above_the_table(example):
    sim = rb.Simulation(example, time_step=0.005)
    sim["parcel"].position = (5, 0, 0.04)
    top, lowest = 0.5, []
    for name, half in (("crank", 0.05), ("rod", 0.15)):
        corners = [(x, 0, -0.01) for x in (-half, half)] + [(x, 0, 0.01) for x in (-half, half)]
        lowest.append((name, corners))
    heights = []

    @sim.after_step
    def look(sim):
        for name, corners in lowest:
            turned = rb.rotation.rotate(sim[name].orientation, corners)
            heights.append(float((sim[name].position + turned)[:, 2].min()))

    sim.run(1.5)
    assert sim["hinge"].angle > 6.3
    assert min(heights) > top


def field(page, label):
    return page.get_by_text(label, exact=True).first.locator("xpath=ancestor::div[.//input][1]//input").first


def test_a_pendulum_is_built_with_clicks_and_comes_back_as_a_script(window, visit, until, keep, tmp_path):
    session, page = window.session, visit(window.address, 600, 900)
    page.evaluate("document.querySelectorAll('canvas').forEach(canvas => canvas.remove())")
    page.get_by_text("Edit", exact=True).first.click()
    page.get_by_text("Build", exact=True).click()
    page.get_by_role("button", name="Empty scene").click()
    until(lambda: session.frame.picture.scene.name == "scene")
    page.get_by_text("Add a body", exact=True).click()
    field(page, "Size [m]").fill("1, 0.1, 0.1")
    field(page, "Position [m]").fill("0.5, 0, 1")
    keep(page, "tab_edit_build")
    page.get_by_role("button", name="Add body").click()
    until(lambda: window.selected == "box_2")
    page.get_by_text("Join, push and drive", exact=True).click()
    until(lambda: field(page, "Body B").input_value() == "box_2")
    page.get_by_role("button", name="Join A and B").click()
    page.get_by_text("A joint holds two bodies; choose Body A and Body B").wait_for()
    field(page, "Body A").click()
    page.get_by_role("option", name="world", exact=True).click()
    field(page, "At [m]").fill("0, 0, 1")
    field(page, "Axis").fill("0, 1, 0")
    keep(page, "tab_edit_build")
    page.get_by_role("button", name="Join A and B").click()
    until(lambda: window.selected.startswith("revolute"))
    page.get_by_text("Files", exact=True).first.click()
    with page.expect_download() as waiting:
        page.get_by_role("button", name="Python script").click()
    waiting.value.save_as(tmp_path / "built.py")
    made = runpy.run_path(str(tmp_path / "built.py"))["scene"]
    assert hash_of(made) == hash_of(session.frame.picture.scene)
    assert made.joints["revolute_1"].axis == (0.0, 1.0, 0.0)
