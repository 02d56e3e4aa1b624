"""The dialogs of the Edit tab without a browser: what is typed holds afterwards, and what is refused goes back."""

import math

import numpy as np
import pytest

import rattleback as rb
from rattleback.viewer.panels.edit import Edit
from rattleback.viewer.session import Session
from rattleback.viewer.window import Window

STILL = (0.0, 0.0, 0.0)


def workbench():
    scene = rb.Scene(gravity=STILL, name="workbench")
    arm = scene.add_body(rb.Box(1.0, 0.1, 0.1), mass=1.0, position=(0.5, 0, 0), name="arm")
    ball = scene.add_body(rb.Sphere(0.1), mass=2.0, position=(0, 0, -2.0), velocity=(0.3, 0, 0), name="ball")
    scene.add_static(rb.Plane(), position=(0, 0, -10), name="floor", material=rb.Material(0.4, 0.2))
    scene.add_joint(rb.Revolute(scene.world, arm, axis=(0, 0, 1)), name="hinge")
    scene.add_force(rb.Servo("hinge", gain=20.0, rate_time=0.5), name="motor")
    scene.add_force(rb.Spring(scene.world, ball, at=(0, 0, -1.0), at_b=(0, 0, -2.0), stiffness=50.0), name="spring")
    return scene


@pytest.fixture
def window(open_page):
    return open_page(rb.Simulation(workbench(), time_step=0.001), Edit)


@pytest.fixture
def edit(window):
    return window.parts[0]


@pytest.fixture
def pick(edit, person, until):
    """Choose something in the drop-down and wait for its dialog."""

    def go(title):
        person.turn(edit.picker, title)
        kind, _, name = title.partition(" · ")
        until(lambda: edit._subject is not None and (edit._subject.kind, edit._subject.name) == (kind, name))
        until(lambda: edit.dialog is not None and not edit.dialog.stale)
        return edit.dialog

    return go


@pytest.fixture
def apply(edit, until):
    """Type values and apply them; waits until the fields show what came of it."""

    def go(**values):
        dialog, said = edit.dialog, len(edit.session.notices)
        for name, text in values.items():
            dialog.fields[name.replace("__", ".")].value = text
        wanted = dialog._wanted
        dialog._form.submit()
        until(lambda: edit.dialog is not dialog or dialog._wanted > wanted)  # it was answered
        until(lambda: edit.dialog is None or edit.dialog is not dialog or not dialog.stale)
        return list(edit.session.notices)[said:]

    return go


def scene_of(edit):
    return edit.session.frame.picture.scene


def test_everything_of_the_scene_can_be_chosen(edit):
    wanted = ("scene", "body · arm", "body · ball", "body · floor", "joint · hinge", "force · motor", "force · spring")
    assert edit.picker.options == wanted


def test_choosing_selects_and_selecting_chooses(window, edit, pick, until):
    pick("body · arm")
    assert window.selected == "arm"
    window.select("ball")
    until(lambda: edit.picker.value == "body · ball")
    until(lambda: edit.dialog.fields["mass"].value == "2")
    window.select("hinge")
    until(lambda: edit.picker.value == "joint · hinge")
    window.select("")
    until(lambda: edit.picker.value == "scene")


def test_with_twice_the_mass_the_same_velocity_is_twice_the_momentum(edit, pick, apply, until):
    dialog = pick("body · ball")
    before = edit.session.do(lambda sim: sim.momentum().linear).result()[0]
    assert before == pytest.approx([0.6, 0, 0])
    assert not apply(mass="4")
    after = edit.session.do(lambda sim: (sim.momentum().linear, sim["ball"].velocity)).result()[0]
    assert after[0] == pytest.approx(2.0 * before)
    assert after[1] == pytest.approx([0.3, 0, 0])
    assert scene_of(edit)["ball"].inertia[0, 0] == pytest.approx(0.4 * 4.0 * 0.1**2)
    assert edit.dialog is dialog
    until(lambda: dialog.fields["density"].value == "954.93")  # 4 kg / (4/3 π 0.1³)


def test_another_density_and_other_sizes_weigh_what_they_must(edit, pick, apply):
    pick("body · arm")
    assert not apply(density="500", shape__x="2")
    assert scene_of(edit)["arm"].shape == rb.Box(2.0, 0.1, 0.1)
    assert scene_of(edit)["arm"].mass == pytest.approx(500 * 2.0 * 0.1 * 0.1)


def test_one_apply_is_one_rebuild_and_one_save_point(edit, pick, apply):
    pick("body · ball")
    version = edit.session.frame.version
    assert not apply(mass="4", shape__radius="0.2", velocity="0, 1, 0", material__friction="0.9", margin="0.01")
    assert edit.session.frame.version == version + 1
    assert edit.session.frame.save_points == 1
    ball = scene_of(edit)["ball"]
    assert (ball.mass, ball.shape.radius, ball.margin) == (4.0, 0.2, 0.01)
    assert (ball.material.friction, ball.material.static_friction) == (0.9, 0.9)
    assert edit.session.frame.picture.velocity[1] == pytest.approx([0, 1, 0])


def test_how_a_body_lies_and_moves_is_written_without_building_anything_anew(edit, pick, apply, until):
    pick("body · ball")
    # At the start, another place would be where it starts.
    edit.session.step().result()
    until(lambda: edit.session.frame.steps == 1)
    version = edit.session.frame.version
    assert not apply(position="1, 2, 3", orientation="0, 0, 90", velocity="4 5 6", angular_velocity="(0, 0, 7)")
    picture = edit.session.frame.picture
    assert edit.session.frame.version == version
    assert picture.position[1] == pytest.approx([1, 2, 3])
    assert picture.orientation[1] == pytest.approx([0, 0, math.sqrt(0.5), math.sqrt(0.5)])
    assert picture.velocity[1] == pytest.approx([4, 5, 6])
    assert picture.angular_velocity[1] == pytest.approx([0, 0, 7])
    # The readings are written after the fields.
    until(lambda: "1.000, 2.000, 3.000 m" in edit.readings.content)
    assert "0.000, 0.000, 90.000 °" in edit.readings.content


def test_static_bodies_have_their_dialog_too(edit, pick, apply):
    dialog = pick("body · floor")
    assert "mass" not in dialog.fields
    assert edit.impulse is None
    assert not apply(material__restitution="0.7", velocity="1, 0, 0", shape__offset="0.5")
    assert scene_of(edit)["floor"].material == rb.Material(0.4, 0.7)
    assert scene_of(edit)["floor"].shape.offset == 0.5
    assert edit.session.frame.picture.velocity[2] == pytest.approx([1, 0, 0])


def test_what_is_refused_is_told_and_nothing_changes(edit, pick, apply):
    dialog = pick("body · ball")
    start = edit.session.frame.picture.velocity[1]
    told = apply(mass="-1", velocity="9, 9, 9")
    assert "The mass of body 'ball' is -1.0; it must be greater than zero." in told[-1].text
    assert told[-1].fault
    assert dialog.fields["mass"].value == "2"
    assert dialog.fields["velocity"].value == "0.3, 0, 0"
    assert np.array_equal(edit.session.frame.picture.velocity[1], start)
    assert edit.session.frame.save_points == 0
    told = apply(mass="heavy")
    assert "Mass [kg] is 'heavy'; it must be a number" in told[-1].text
    assert dialog.fields["mass"].value == "2"


def test_a_command_that_fails_half_way_leaves_everything_as_it_was(edit, pick, apply):
    pick("body · ball")
    told = apply(velocity="9, 9, 9", material__restitution="2")
    assert "The restitution of Material is 2.0; it must be between 0 and 1." in told[-1].text
    assert edit.session.frame.picture.velocity[1] == pytest.approx([0.3, 0, 0])


def test_what_is_typed_stays_while_frames_come_and_what_moves_is_blank(edit, pick, until):
    dialog = pick("body · ball")
    dialog.fields["mass"].value = "3.5"
    edit.session.play().result()
    until(lambda: dialog.fields["position"].value == "")
    there = edit.session.frame.number
    until(lambda: edit.session.frame.number > there + 8)
    assert dialog.fields["mass"].value == "3.5"
    edit.session.pause().result()
    until(lambda: dialog.fields["position"].value != "")
    assert dialog.fields["mass"].value == "3.5"


def test_a_stiffer_spring_swings_as_fast_as_it_must(edit, pick, apply):
    pick("force · spring")
    assert not apply(stiffness="200")
    heights = []

    def swing(sim):
        sim["ball"].velocity, sim["ball"].position = STILL, (0, 0, -2.1)
        for _ in range(1500):
            sim.step()
            heights.append(sim["ball"].position[2] + 2.0)

    edit.session.do(swing).result()
    below = np.array(heights) < 0.0
    crossings = np.flatnonzero(below[1:] != below[:-1])
    period = 2.0 * 0.001 * float(np.mean(np.diff(crossings)))
    assert period == pytest.approx(2.0 * math.pi * math.sqrt(2.0 / 200.0), rel=2e-3)


def test_the_readings_of_a_spring_are_those_of_hooke(edit, pick, until):
    pick("force · spring")
    edit.session.do(lambda sim: setattr(sim["ball"], "position", (0, 0, -2.2))).result()
    until(lambda: "1.2 m" in edit.readings.content)
    assert "10 N" in edit.readings.content


def test_a_schedule_that_is_typed_is_followed(edit, pick, apply, until):
    pick("force · motor")
    assert not apply(target="linear (0, 0) (1, 0.5) (3, 0.5)", gain="400")
    schedule = scene_of(edit).forces["motor"].target
    assert schedule == rb.Schedule((0.0, 1.0, 3.0), (0.0, 0.5, 0.5))
    edit.session.step(2500).result()
    until(lambda: edit.session.frame.steps == 2500)
    angle = edit.session.do(lambda sim: sim["hinge"].angle).result()[0]
    assert angle == pytest.approx(0.5, abs=2e-3)
    until(lambda: "0.5 rad" in edit.readings.content)
    assert "Effort" in edit.readings.content


def test_a_joint_gets_limits_and_stops_there(edit, pick, apply, until):
    dialog = pick("joint · hinge")
    assert dialog.fields["limits"].value == "none"
    assert not apply(limits="-0.2, free", restitution="0.5", breaking_force="1e6")
    hinge = scene_of(edit).joints["hinge"]
    assert (hinge.limits, hinge.restitution, hinge.breaking_force) == ((-0.2, None), 0.5, 1e6)
    pick("force · motor")
    assert not apply(target="-1")
    edit.session.step(3000).result()
    until(lambda: edit.session.frame.steps == 3000)
    assert edit.session.do(lambda sim: sim["hinge"].angle).result()[0] == pytest.approx(-0.2, abs=1e-3)


def test_a_joint_is_broken_and_mended_while_it_runs(edit, pick, apply, until):
    dialog = pick("joint · hinge")
    version = edit.session.frame.version
    assert not apply(broken=True)
    assert edit.session.do(lambda sim: sim["hinge"].broken).result() == [True]
    until(lambda: dialog.fields["broken"].value is True)
    assert "broken" in edit.readings.content
    assert not apply(broken=False)
    assert edit.session.do(lambda sim: sim["hinge"].broken).result() == [False]
    assert edit.session.frame.version == version


def test_gravity_is_changed_and_bodies_fall_by_it(edit, pick, apply, until):
    edit.session.rebuild(lambda scene: _without(scene, "spring")).result()
    pick("scene")
    assert not apply(gravity="0, 0, -2", friction="max")
    assert scene_of(edit).rules.friction == "max"
    assert scene_of(edit).rules.restitution == "product"
    edit.session.step(500).result()
    until(lambda: edit.session.frame.steps == 500)
    assert edit.session.frame.picture.velocity[1][2] == pytest.approx(-1.0)


def _without(scene, force):
    made = scene.copy()
    made.remove_force(force)
    return made


def test_push_and_stop(edit, pick, person, until):
    pick("body · ball")
    edit.impulse.value = "0, 4, 0"
    person.press(edit.buttons, "Push")
    until(lambda: edit.session.frame.picture.velocity[1][1] == 2.0)
    person.press(edit.buttons, "Stop")
    until(lambda: not edit.session.frame.picture.velocity[1].any())
    edit.impulse.value = "up"
    person.press(edit.buttons, "Push")
    until(lambda: any("Impulse [N s] is 'up'" in notice.text for notice in edit.session.notices))


def test_wake_wakes(edit, pick, person, until):
    edit.session.do(lambda sim: sim.use(sleep=True)).result()
    edit.session.do(lambda sim: setattr(sim["ball"], "velocity", STILL)).result()
    pick("body · ball")
    edit.session.step(3000).result()
    until(lambda: edit.session.frame.steps == 3000)
    until(lambda: "asleep" in edit.readings.content)
    person.press(edit.buttons, "Wake")
    until(lambda: "asleep" not in edit.readings.content)


def test_what_is_removed_is_gone_from_the_list(window, edit, pick, person, until):
    pick("joint · hinge")
    person.press(edit.buttons, "Remove")
    until(lambda: any("'motor' would be left without it" in notice.text for notice in edit.session.notices))
    assert edit.picker.value == "joint · hinge"
    pick("force · motor")
    person.press(edit.buttons, "Remove")
    until(lambda: "force · motor" not in edit.picker.options)
    until(lambda: edit.picker.value == "scene")
    assert window.selected == ""
    pick("joint · hinge")
    person.press(edit.buttons, "Remove")
    until(lambda: "joint · hinge" not in edit.picker.options)
    edit.session.undo().result()
    until(lambda: "joint · hinge" in edit.picker.options)


def test_another_scene_has_other_things_to_edit(edit, pick, until):
    pick("body · arm")
    edit.session.open(lambda: rb.Simulation(rb.scenes.pendulum(), time_step=0.01)).result()
    until(lambda: edit.picker.value == "scene")
    assert "body · arm" not in edit.picker.options
    other = edit.picker.options[1]
    pick(other)
    until(lambda: "Position" in edit.readings.content)


def test_names_from_scenes_become_no_code(open_page, until):
    scene = rb.Scene()
    name = "<img src=x onerror=alert(1)>"
    scene.add_body(rb.Sphere(0.1), name=name)
    scene.add_joint(rb.Ball(scene.world, name), name="pin")
    window = open_page(rb.Simulation(scene), Edit)
    window.select("pin")
    until(lambda: "&lt;img" in window.parts[0].readings.content)
    assert "<img" not in window.parts[0].readings.content


def test_edits_go_to_all_simulations_of_a_comparison(until, person):
    sims = [rb.Simulation(workbench(), time_step=0.001, joints=joints) for joints in ("direct", "iterative")]
    session = Session(sims, ["direct", "iterative"])
    window = Window(session, parts=[Edit])
    session.start()
    edit = window.parts[0]
    window.select("ball")
    until(lambda: edit.dialog is not None and "mass" in edit.dialog.fields)
    until(lambda: edit.dialog.fields["mass"].value == "2")
    for name, text in {"mass": "5", "velocity": "0, 0, 1", "material.friction": "0.1"}.items():
        edit.dialog.fields[name].value = text
    edit.dialog._form.submit()
    until(lambda: session.frame.save_points == 1)
    told = session.do(lambda sim: (sim["ball"].mass, float(sim["ball"].velocity[2]), sim["ball"].material.friction))
    assert told.result() == [(5.0, 1.0, 0.1)] * 2
    window.close()
    session.stop()


@pytest.mark.parametrize("name", ["ball", "hinge", "motor", "spring"])
def test_of_many_worlds_the_first_is_shown_and_all_are_changed(open_page, until, name):
    window = open_page(rb.Simulation(workbench(), time_step=0.001, worlds=3), Edit)
    edit = window.parts[0]
    window.select(name)
    until(lambda: edit.picker.value.endswith(name) and len(edit.readings.content.split("<tr>")) > 2)
    if name == "ball":
        until(lambda: edit.dialog.fields["velocity"].value == "0.3, 0, 0")
        edit.dialog.fields["velocity"].value = "0, 0, 2"
        edit.dialog._form.submit()
        until(lambda: edit.session.frame.save_points == 1)
        told = edit.session.do(lambda sim: sim["ball"].velocity.copy()).result()[0]
        assert told == pytest.approx(np.tile([0, 0, 2], (3, 1)))


def test_a_dialog_that_is_open_stays_open_while_others_edit(edit, pick, until):
    dialog = pick("body · ball")

    def heavier(scene):
        made = scene.copy()
        made.change_body("ball", mass=8.0)
        return made

    edit.session.rebuild(heavier).result()
    until(lambda: dialog.fields["mass"].value == "8")
    assert edit.dialog is dialog


def test_a_dialog_that_fits_is_not_made_again_with_every_frame(open_page, until):
    window = open_page(rb.Simulation(rb.scenes.pendulum(), time_step=0.01), Edit)
    (part,) = window.parts
    dialog = part.dialog
    window.session.step(5).result(10)
    until(lambda: window._shown == window.session.frame.number)
    assert part.dialog is dialog
