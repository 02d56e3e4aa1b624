"""The Edit tab in a real browser: a mass is typed, a motor is moved by its slider."""

import pytest

import rattleback as rb
from rattleback.viewer.panels.edit import Edit
from rattleback.viewer.panels.motors import Motors


def crane():
    scene = rb.Scene(gravity=(0, 0, 0), name="crane")
    jib = scene.add_body(rb.Box(1.0, 0.1, 0.1), mass=1.0, position=(0.5, 0, 0), name="jib")
    scene.add_body(rb.Sphere(0.1), mass=2.0, position=(0, 2, 0), name="load")
    scene.add_joint(rb.Revolute(scene.world, jib, axis=(0, 0, 1), limits=(-1.0, 1.0)), name="hinge")
    scene.add_force(rb.Servo("hinge", gain=60.0, rate_time=0.4), name="motor")
    return scene


@pytest.fixture
def window(open_page):
    # Nothing is drawn, and the canvas is taken away: software WebGL takes its time.
    return open_page(rb.Simulation(crane(), time_step=0.005), Edit, Motors)


@pytest.fixture
def page(window, visit):
    there = visit(window.address, 600, 640)
    there.evaluate("document.querySelectorAll('canvas').forEach(canvas => canvas.remove())")
    there.get_by_text("Edit", exact=True).first.click()
    there.get_by_label("Selected").first.wait_for()
    return there


def field(page, label):
    return page.get_by_text(label, exact=True).locator("xpath=ancestor::div[.//input][1]//input").last


def test_a_mass_is_typed_and_a_motor_is_moved(window, page, until, keep):
    session = window.session
    page.get_by_label("Selected").first.fill("load")
    page.get_by_role("option", name="body · load", exact=True).wait_for()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    until(lambda: window.selected == "load")
    field(page, "Mass [kg]").fill("5")
    field(page, "Mass [kg]").press("Enter")
    until(lambda: session.frame.picture.scene["load"].mass == 5.0)
    until(lambda: field(page, "Density [kg/m³]").input_value() == "1193.66")
    keep(page, "tab_edit")
    field(page, "Mass [kg]").fill("-5")
    page.get_by_role("button", name="Apply").click()
    page.get_by_text("The mass of body 'load' is -5.0; it must be greater than zero.").wait_for()
    until(lambda: field(page, "Mass [kg]").input_value() == "5")
    page.get_by_role("button", name="Push").click()
    until(lambda: session.frame.picture.velocity[1][2] > 0.0)
    page.get_by_role("slider").first.focus()
    page.keyboard.press("End")
    until(lambda: session.do(lambda sim: sim.servo("motor").target).result() == [1.0])
    session.do(lambda sim: sim.step(600)).result()
    assert session.do(lambda sim: sim["hinge"].angle).result()[0] == pytest.approx(1.0, abs=5e-3)
    until(lambda: not page.get_by_label("Own target").first.is_checked())
