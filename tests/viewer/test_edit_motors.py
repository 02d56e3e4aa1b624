"""The motor panel without a browser: sliders set targets and rates, and show what holds."""

import math

import pytest

import rattleback as rb
from rattleback.viewer.panels.drives import Drive, Motor, drives_of, nice, span
from rattleback.viewer.panels.motors import Motors

SCHEDULE = rb.Schedule((0.0, 1.0), (0.0, 0.6))


def machine():
    scene = rb.Scene(gravity=(0, 0, 0))
    arm = scene.add_body(rb.Box(1.0, 0.1, 0.1), mass=1.0, position=(0.5, 0, 0), name="arm")
    sled = scene.add_body(rb.Box(0.2, 0.2, 0.2), mass=1.0, position=(0, 3, 0), name="sled")
    wheel = scene.add_body(rb.Sphere(0.1), mass=1.0, position=(0, -3, 0), name="wheel")
    scene.add_joint(rb.Revolute(scene.world, arm, axis=(0, 0, 1), limits=(-1.0, 2.0)), name="hinge")
    scene.add_joint(rb.Prismatic(scene.world, sled, at=(0, 3, 0), axis=(1, 0, 0)), name="rail")
    scene.add_joint(rb.VelocityJoint(scene.world, wheel, at=(0, -3, 0), linear=(0.5, None, None)), name="belt")
    scene.add_force(rb.Servo("hinge", gain=60.0, rate_time=0.4, target=SCHEDULE), name="shoulder")
    scene.add_force(rb.Servo("rail", gain=50.0, rate_time=0.4, control="position", target=0.2), name="pusher")
    return scene


@pytest.fixture
def panel(open_page):
    return open_page(rb.Simulation(machine(), time_step=0.002), Motors).parts[0]


def test_there_is_a_slider_for_everything_that_is_driven(panel):
    assert list(panel.sliders) == ["shoulder [rad]", "pusher [m]", "belt x [m/s]"]
    assert list(panel.ticks) == ["shoulder", "pusher"]


def test_sliders_go_as_far_as_the_joint_or_as_is_sensible(panel):
    ranges = {label: (held.handle.min, held.handle.max) for label, held in panel.sliders.items()}
    assert ranges == {"shoulder [rad]": (-1.0, 2.0), "pusher [m]": (-1.0, 1.0), "belt x [m/s]": (-2.0, 2.0)}


def test_sliders_show_what_holds(panel, until):
    until(lambda: panel.sliders["pusher [m]"].handle.value == 0.2)
    until(lambda: panel.sliders["belt x [m/s]"].handle.value == 0.5)
    panel.session.do(lambda sim: setattr(sim.servo("pusher"), "target", -0.75)).result()
    until(lambda: panel.sliders["pusher [m]"].handle.value == -0.75)
    until(lambda: panel.ticks["pusher"].handle.value is False)
    panel.session.do(lambda sim: setattr(sim["belt"], "linear", (1.5, None, None))).result()
    until(lambda: panel.sliders["belt x [m/s]"].handle.value == 1.5)


def test_a_slider_moves_the_joint(panel, person, until):
    person.turn(panel.sliders["pusher [m]"].handle, 0.8)
    until(lambda: panel.ticks["pusher"].handle.value is False)
    panel.session.step(3000).result()
    until(lambda: panel.session.frame.steps == 3000)
    assert panel.session.do(lambda sim: sim["rail"].position).result()[0] == pytest.approx(0.8, abs=1e-3)
    assert panel.sliders["pusher [m]"].handle.value == 0.8


def test_a_motor_leaves_its_schedule_by_hand_and_follows_it_again(panel, person, until):
    slider, tick = panel.sliders["shoulder [rad]"].handle, panel.ticks["shoulder"].handle
    panel.session.step(250).result()
    until(lambda: panel.session.frame.steps == 250)
    until(lambda: slider.value == pytest.approx(0.3))  # half of the schedule
    assert tick.value is True
    person.turn(slider, -0.5)
    until(lambda: tick.value is False)
    panel.session.step(250).result()
    until(lambda: panel.session.frame.steps == 500)
    assert slider.value == -0.5
    person.turn(tick, True)
    until(lambda: slider.value == pytest.approx(0.6))
    assert panel.session.do(lambda sim: sim.servo("shoulder").target).result()[0] == pytest.approx(0.6)


def test_unticked_a_motor_stays_where_its_schedule_was(panel, person, until):
    panel.session.step(250).result()
    until(lambda: panel.session.frame.steps == 250)
    person.turn(panel.ticks["shoulder"].handle, False)
    until(lambda: panel.sliders["shoulder [rad]"].handle.value == pytest.approx(0.3))
    panel.session.step(250).result()
    until(lambda: panel.session.frame.steps == 500)
    assert panel.session.do(lambda sim: sim.servo("shoulder").target).result()[0] == pytest.approx(0.3)


def test_a_slider_sets_the_rate_of_a_velocity_joint(panel, person, until):
    person.turn(panel.sliders["belt x [m/s]"].handle, -1.25)
    until(lambda: panel.session.frame.picture.scene.joints["belt"].linear == (-1.25, None, None))
    panel.session.step(100).result()
    until(lambda: panel.session.frame.steps == 100)
    assert panel.session.frame.picture.velocity[2][0] == pytest.approx(-1.25, abs=1e-6)


def test_a_slider_goes_farther_where_it_must(panel, until):
    panel.session.do(lambda sim: setattr(sim.servo("pusher"), "target", 3.21)).result()
    until(lambda: panel.sliders["pusher [m]"].handle.value == 3.21)
    assert panel.sliders["pusher [m]"].handle.max == 3.21


def test_a_slider_that_is_drawn_on_does_not_jump_back(panel, until):
    held = panel.sliders["pusher [m]"]
    until(lambda: held.handle.value == 0.2)

    class Event:
        client = object()

    held.handle._impl.value = 0.4
    held._changed(Event())
    held.handle._impl.value = 0.6  # the next message is there, but has not been heard of
    panel.session.do(lambda sim: None).result()
    panel._window.refresh()
    assert held.handle.value == 0.6
    held._changed(Event())
    until(lambda: panel.session.do(lambda sim: sim.servo("pusher").target).result() == [0.6])


def test_sliders_stay_where_the_scene_is_built_anew_with_the_same_motors(panel, until):
    slider = panel.sliders["pusher [m]"]

    def heavier(scene):
        made = scene.copy()
        made.change_body("sled", mass=3.0)
        return made

    panel.session.rebuild(heavier).result()
    until(lambda: panel._window._version == panel.session.frame.version)
    assert panel.sliders["pusher [m]"] is slider


def test_without_motors_there_is_no_panel(panel, until):
    panel.session.open(lambda: rb.Simulation(rb.scenes.tumbling())).result()
    until(lambda: not panel.sliders)
    assert panel._folder is None


def test_all_kinds_of_control_have_their_units():
    scene = machine()
    scene.add_force(rb.Servo("hinge", gain=1.0, control="velocity", target=30.0), name="spinner")
    found = {drive.name: drive for drive in drives_of(scene)}
    assert found["spinner"] == Motor("spinner", "rad/s", -100.0, 100.0)
    assert found["belt"] == Drive("belt", "linear", 0, -2.0, 2.0)


@pytest.mark.parametrize(("value", "found"), [(0.0157, 0.02), (0.005, 0.005), (3.0, 5.0), (60.0, 100.0), (0.2, 0.2)])
def test_nice_numbers_are_round_and_not_below(value, found):
    assert math.isclose(nice(value), found)


def test_a_span_holds_what_is_asked_for():
    assert span([0.0], 1.0) == (-1.0, 1.0)
    assert span([0.1, -4.0], 1.0) == (-10.0, 10.0)
