"""Building on the page without a browser: what is added, copied, renamed, merged and taken away is in the scene."""

import numpy as np
import pytest

import rattleback as rb
from rattleback.forces import MENU as FORCES
from rattleback.joints import MENU as JOINTS
from rattleback.viewer.building.joining import across, join
from rattleback.viewer.building.making import remove_all, set_static
from rattleback.viewer.building.panel import EMPTY, REDO, UNDO, Build
from rattleback.viewer.building.present import present_of, start_now
from rattleback.viewer.building.rename import renamed
from rattleback.viewer.building.typed import SIZES, further, sizes_of
from rattleback.viewer.panels.edit import Edit
from rattleback.viewer.panels.edit_body import DUPLICATE, REMOVE_ALL
from rattleback.viewer.panels.files import Files
from rattleback.viewer.panels.subject import REMOVE


def swing():
    scene = rb.Scene(name="swing")
    bar = scene.add_body(rb.Box(1.0, 0.1, 0.1), mass=1.0, position=(0.5, 0, 1), name="bar", group="moving")
    tip = scene.add_body(rb.Sphere(0.1), mass=0.5, position=(1.1, 0, 1), name="tip")
    scene.add_joint(rb.Revolute(scene.world, bar, at=(0, 0, 1), axis=(0, 1, 0)), name="hinge")
    scene.add_force(rb.Servo("hinge", gain=5.0), name="motor")
    scene.add_force(rb.Spring(bar, tip, at=(1, 0, 1), stiffness=50.0, length=0.1), name="spring")
    scene.add_force(rb.Drag(linear=0.1, bodies=(bar, tip)), name="air")
    scene.exclude(bar, tip)
    return scene


@pytest.fixture
def window(open_page):
    return open_page(rb.Simulation(swing(), time_step=0.005), Build, Edit, Files)


@pytest.fixture
def build(window):
    return window.parts[0]


def scene_of(window):
    return window.session.frame.picture.scene


def fault(window):
    return next(notice.text for notice in reversed(window.session.notices) if notice.fault)


@pytest.mark.parametrize("kind", SIZES)
def test_every_shape_is_added_with_its_sizes(build, window, person, until, kind):
    person.turn(build.body["shape"], kind)
    assert build.body["size"].value == SIZES[kind]
    person.turn(build.body["position"], "3, 0, 0.5")
    build.add_body().result()
    body = scene_of(window).bodies[-1]
    assert type(body.shape).__name__.lower() == kind.replace("_", "")
    assert body.static == (kind in ("plane", "height_field"))
    until(lambda: window.selected == body.name)


def test_a_body_has_what_was_typed(build, window, person, until):
    typed = {"size": "0.1, 0.2, 0.3", "position": "1 2 3", "orientation": "0, 0, 90", "mass": "4", "name": "block"}
    for key, value in typed.items():
        person.turn(build.body[key], value)
    person.turn(build.body["collides"], False)
    build.add_body().result()
    block = scene_of(window)["block"]
    assert (block.shape, block.mass, block.colliders) == (rb.Box(0.1, 0.2, 0.3), 4.0, ())
    assert block.position.tolist() == [1, 2, 3]
    assert block.orientation == pytest.approx([0, 0, np.sqrt(0.5), np.sqrt(0.5)])
    until(lambda: build.body["name"].value == "")


def test_what_is_refused_leaves_everything_and_says_why(build, window, person):
    before, steps = window.session.frame.version, len(scene_of(window))
    for key, value, said in (
        ("size", "0.1, 0.2", "The size of a box is '0.1, 0.2'; it takes 3 numbers: X, y, z [m], the full sizes."),
        ("size", "0.1, 0.2, -1", "greater than zero"),
        ("name", "tip", "already uses the name 'tip'"),
        ("mass", "heavy", "The mass is 'heavy'; it must be a number"),
    ):
        kept = build.body[key].value
        person.turn(build.body[key], value)
        with pytest.raises(rb.InputError):
            build.add_body().result()
        assert said in fault(window)
        person.turn(build.body[key], kept)
    person.turn(build.link["a"], "bar")
    with pytest.raises(rb.InputError, match="A joint holds two bodies"):
        build.join().result()
    person.turn(build.link["b"], "tip")
    person.turn(build.link["more"], "limit -1 1")
    with pytest.raises(rb.InputError, match="no 'limit'. Did you mean 'limits'"):
        build.join().result()
    assert (window.session.frame.version, len(scene_of(window))) == (before, steps)


@pytest.mark.parametrize("moved", [False, True])
@pytest.mark.parametrize("kind", JOINTS)
def test_every_joint_holds_two_bodies_as_they_are_now(kind, moved):
    scene = rb.Scene(gravity=(0, 0, 0))
    a = scene.add_body(rb.Box(0.2, 0.2, 0.2), position=(0, 0, 1), name="a")
    b = scene.add_body(rb.Box(0.2, 0.2, 0.2), position=(0.5, 0, 1), name="b")
    sim = rb.Simulation(scene, time_step=0.01, contacts="none")
    if moved:
        sim["b"].position, sim["b"].orientation = (0.5, 0.3, 1.2), rb.rotation.quaternion_from_euler((0.4, 1, 2), "xyz")
    told = {"gear": {"ratio": 1.5, "at": (0, 0, 1)}, "screw": {"pitch": 0.1}, "rack": {"at": (0, 0, 1)}}.get(kind, {})
    told = {**told, **({"linear": (0.0, None, None)} if kind == "velocity_joint" else {})}
    made = sim.scene.copy()
    name = join(made, present_of(sim), kind, (a.name, b.name), {"axis": (0, 1, 0), **told})
    sim.rebuild(made)
    sim.step()
    assert type(sim.scene.joints[name]) is JOINTS[kind]
    if kind not in ("gear", "rack", "velocity_joint", "universal", "double_rotation"):
        assert sim["b"].position == pytest.approx([0.5, 0.3 * moved, 1 + 0.2 * moved], abs=1e-6)
    assert sim.report.converged, sim.report.reason


@pytest.mark.parametrize("kind", FORCES)
def test_every_force_is_added_to_what_is_chosen(build, window, person, until, kind):
    for key, value in (("a", "tip"), ("b", "bar"), ("joint", "hinge"), ("force_kind", kind)):
        person.turn(build.link[key], value)
    before = set(scene_of(window).forces)
    if kind in ("servo", "implicit_pd", "implicit_spring"):
        window.session.rebuild(lambda scene: without_motor(scene)).result()
        before.discard("motor")
    build.add_force().result()
    (name,) = set(scene_of(window).forces) - before
    assert type(scene_of(window).forces[name]) is FORCES[kind]
    until(lambda: window.selected == name)
    window.session.step(2).result()
    assert not [notice.text for notice in window.session.notices if notice.fault]


@pytest.mark.parametrize("kind", JOINTS)
def test_a_scene_that_starts_now_has_its_joints_and_springs_as_they_are(kind):
    scene = rb.Scene(gravity=(0, 0, -9.81))
    a = scene.add_body(rb.Box(0.2, 0.2, 0.2), position=(0, 0, 1), angular_velocity=(1, 2, 3), name="a")
    b = scene.add_body(rb.Box(0.2, 0.2, 0.2), position=(0.5, 0, 1), angular_velocity=(-2, 1, 0), name="b")
    told = {"gear": {"ratio": 1.5}, "screw": {"pitch": 0.1}, "velocity_joint": {"linear": (0.0, None, None)}}
    first = rb.Simulation(scene, time_step=0.01, contacts="none")
    made = scene.copy()
    join(made, present_of(first), kind, (a.name, b.name), {"name": "joint", "axis": (0, 1, 0), **told.get(kind, {})})
    made.add_force(rb.Spring(a, scene.world, at=(0.1, 0, 1), at_b=(0, 0, 2), stiffness=100.0), name="spring")
    sim = rb.Simulation(made, time_step=0.01, contacts="none", warn=False)
    sim.step(40)
    now = made.copy()
    if kind in ("gear", "rack"):
        with pytest.raises(rb.InputError, match="go back to the start by Reset, then join"):
            start_now(now, present_of(sim))
        return
    start_now(now, present_of(sim))
    again = rb.Simulation(now, time_step=0.01, contacts="none")
    assert again.energy().total == pytest.approx(sim.energy().total, rel=1e-9)
    for each in (sim, again):
        each.step(10)
        assert each.report.converged, each.report.reason
    assert again.state.position == pytest.approx(sim.state.position, abs=1e-6)


def without_motor(scene):
    made = scene.copy()
    made.remove_force("motor")
    return made


def test_bodies_selected_one_after_the_other_are_joined_where_they_were_clicked(build, window, person, until):
    window.select("bar")
    window.picked = np.array((1.0, 0.0, 1.0))
    window.select("tip")
    assert (build.link["a"].value, build.link["b"].value, build.link["at"].value) == ("bar", "tip", "1, 0, 1")
    person.turn(build.link["kind"], "ball")
    person.turn(build.link["name"], "wrist")
    person.turn(build.link["more"], "breaking_force 50")
    build.join().result()
    wrist = scene_of(window).joints["wrist"]
    assert (wrist.a, wrist.b, wrist.at, wrist.breaking_force) == ("bar", "tip", (1.0, 0.0, 1.0), 50.0)
    until(lambda: build.link["at"].value == "")


def test_every_edit_is_undone_and_done_again(build, window, person, until):
    session = window.session
    build.add_body().result()
    build.add_body().result()
    assert len(scene_of(window)) == 4
    for button, count in ((UNDO, 3), (UNDO, 2), (REDO, 3), (REDO, 4), (UNDO, 3)):
        person.press(build.buttons, button)
        until(lambda count=count: len(scene_of(window)) == count)
    build.add_body().result()
    with pytest.raises(rb.InputError, match="There is nothing to do again"):
        session.redo().result()


def test_an_empty_scene_has_the_ground_alone(build, window, person, until):
    person.press(build.buttons, EMPTY)
    until(lambda: [body.name for body in scene_of(window).bodies] == ["ground"])
    assert window.session.frame.time_step == 0.005
    build.add_body().result()
    window.session.step(3).result()
    until(lambda: window.session.frame.steps == 3)


def test_bodies_are_copied_held_and_removed_in_their_dialog(window, person, until):
    edit, session = window.parts[1], window.session
    session.step(5).result()
    until(lambda: session.frame.steps == 5)
    window.select("bar")
    until(lambda: edit.dialog is not None and "static" in edit.dialog.fields)
    edit.do(DUPLICATE).result()
    copy = scene_of(window)["bar_2"]
    assert (copy.mass, copy.shape) == (1.0, rb.Box(1.0, 0.1, 0.1))
    assert copy.position == pytest.approx(session.frame.picture.position[0] + (1.25, 0, 0), abs=1e-6)
    with pytest.raises(rb.InputError, match="'hinge'"):
        edit.do(REMOVE).result()
    edit.do(REMOVE_ALL).result()
    scene = scene_of(window)
    assert [body.name for body in scene.bodies] == ["tip", "bar_2"]
    assert (list(scene.joints), list(scene.forces)) == ([], ["air"])
    assert scene.forces["air"].bodies == ("tip",)


def test_a_body_is_renamed_wherever_it_is_named_and_moves_on(window, person, until):
    edit, session = window.parts[1], window.session
    session.step(5).result()
    until(lambda: session.frame.steps == 5)
    place = session.frame.picture.position[0].copy()
    window.select("bar")
    until(lambda: edit.dialog is not None and "static" in edit.dialog.fields)
    edit.dialog.fields["name of it"].value = "lever"
    edit.dialog.submit()
    until(lambda: "lever" in scene_of(window))
    scene = scene_of(window)
    assert (scene.joints["hinge"].b, scene.forces["spring"].a) == ("lever", "lever")
    assert scene.forces["air"].bodies == ("lever", "tip")
    assert scene.meetings == {("lever", "tip"): False}
    assert [body.name for body in scene.groups["moving"]] == ["lever"]
    assert np.array_equal(session.frame.picture.position[0], place)
    until(lambda: window.selected == "lever")
    with pytest.raises(rb.InputError, match="cannot be called 'tip': something else is"):
        renamed(scene, "body", "lever", "tip")
    assert renamed(scene, "joint", "hinge", "elbow").forces["motor"].joint == "elbow"
    assert "drive" in renamed(scene, "force", "motor", "drive").forces


def test_a_body_moved_at_the_start_starts_there_and_does_not_collide_where_unticked(window, until):
    edit = window.parts[1]
    window.select("tip")
    until(lambda: edit.dialog is not None and "collides" in edit.dialog.fields)
    edit.dialog.fields["position"].value = "2, 0, 1"
    edit.dialog.fields["collides"].value = False
    edit.dialog.submit()
    until(lambda: scene_of(window)["tip"].colliders == ())
    assert scene_of(window)["tip"].position.tolist() == [2, 0, 1]
    assert window.session.frame.picture.position[1].tolist() == [2, 0, 1]


def test_bodies_are_held_and_let_go_and_merged():
    scene = swing()
    with pytest.raises(rb.InputError, match="neither of which can move"):
        set_static(scene.copy(), "bar", True)
    set_static(scene, "tip", True)
    assert scene["tip"].static
    set_static(scene, "tip", False)
    assert scene["tip"].mass == pytest.approx(1000 * 4 / 3 * np.pi * 0.1**3)
    remove_all(scene, "tip")
    assert "spring" not in scene.forces


def test_two_bodies_become_one_with_the_mass_and_the_centre_of_both(build, window, person):
    person.turn(build.link["a"], "bar")
    person.turn(build.link["b"], "tip")
    build.merge().result()
    body = scene_of(window)["bar"]
    assert "tip" not in scene_of(window)
    assert body.mass == pytest.approx(1.5)
    sphere, box = 4 / 3 * np.pi * 1e-3, 1e-2
    assert body.position == pytest.approx([(box * 0.5 + sphere * 1.1) / (box + sphere), 0, 1])
    assert list(scene_of(window).joints) == ["hinge"]


def test_typed_fields_are_read():
    assert further("limits -1 1; friction 0.2; internal yes", ["limits", "friction", "internal"], "It") == {
        "limits": (-1.0, 1.0),
        "friction": 0.2,
        "internal": True,
    }
    with pytest.raises(rb.InputError, match="It got no value for 'limits'"):
        further("limits", ["limits"], "It")
    with pytest.raises(rb.InputError, match="as many heights"):
        sizes_of("height_field", "0 0; 0; spacing 1")
    assert np.dot(across((1, 2, 3)), (1, 2, 3)) == pytest.approx(0.0)
