"""Joints, contacts, arrows, trails and colours on the page, compared with what the scene says."""

import colorsys
import time
from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import rattleback as rb
from rattleback.joints import MENU as JOINTS
from rattleback.viewer.drawing.arrows import Centres, Velocities
from rattleback.viewer.drawing.bodies import Bodies, bodies_of
from rattleback.viewer.drawing.colours import CHOSEN, MODES, PALETTE_RGB, STILL, chosen_colours, graded
from rattleback.viewer.drawing.contacts import Contacts
from rattleback.viewer.drawing.ground import Ground
from rattleback.viewer.drawing.joints import BROKEN, PROBE, Joints
from rattleback.viewer.drawing.marks import MAKERS, MOTOR, coil
from rattleback.viewer.drawing.paint import painted
from rattleback.viewer.drawing.surroundings import nice
from rattleback.viewer.drawing.trails import POINTS, Trails
from rattleback.viewer.drawing.turns import along, product, turned
from rattleback.viewer.panels.show import Show, legend


def part_of(page, kind):
    return next(part for part in page.parts if isinstance(part, kind))


def take_steps(page, steps, until):
    """Take steps and wait until the page shows them."""
    page.session.step(steps)
    until(lambda: page.session.frame.steps == steps and page._shown == page.session.frame.number)


def a_pendulum(**options):
    scene = rb.Scene()
    arm = scene.add_body(rb.Box(1.0, 0.1, 0.1), mass=1.0, position=(0.5, 0, 0), name="arm")
    scene.add_joint(rb.Revolute(scene.world, arm, at=(0, 0, 0), axis=(0, 1, 0), **options), name="hinge")
    return scene


def test_turns_agree_with_scipy():
    random = np.random.default_rng(3)
    p, q = (Rotation.random(50, random_state=seed) for seed in (1, 2))
    vectors = random.normal(size=(50, 3))
    assert np.allclose(turned(p.as_quat(), vectors), p.apply(vectors))
    assert np.allclose(Rotation.from_quat(product(p.as_quat(), q.as_quat())).as_matrix(), (p * q).as_matrix())
    directions = np.concatenate([vectors / np.linalg.norm(vectors, axis=1, keepdims=True), [(0, 0, -1), (0, 0, 1)]])
    assert np.allclose(Rotation.from_quat(along(directions)).apply((0, 0, 1)), directions)


def test_every_joint_of_the_menu_has_a_look():
    assert set(JOINTS.values()) <= set(MAKERS)


def test_a_pin_lies_along_the_axis_of_its_hinge_and_moves_with_the_body(open_page, until):
    sim = rb.Simulation(a_pendulum())
    page = open_page(sim, Joints)
    (batch,) = part_of(page, Joints)._crowd.batches
    assert np.allclose(batch.handle.batched_positions, 0.0, atol=1e-6)
    take_steps(page, 20, until)
    axis = Rotation.from_quat(np.roll(batch.handle.batched_wxyzs[0], -1)).apply((0, 0, 1))
    assert np.allclose(np.abs(axis), (0, 1, 0), atol=1e-6)
    assert np.allclose(batch.handle.batched_positions, 0.0, atol=1e-5)


def test_a_broken_joint_turns_red(open_page, until):
    page = open_page(rb.Simulation(a_pendulum(breaking_force=1.0)), Joints)
    (batch,) = part_of(page, Joints)._crowd.batches
    assert not np.array_equal(batch.handle.batched_colors[0], painted(BROKEN))
    until(lambda: PROBE in page.session.probes)
    page.session.step(5).result()
    until(lambda: np.array_equal(batch.handle.batched_colors[0], painted(BROKEN)))


def test_a_motor_is_marked(open_page):
    scene = a_pendulum()
    scene.add_force(rb.Servo("hinge", target=1.0, gain=1.0))
    joints = part_of(open_page(rb.Simulation(scene), Joints), Joints)
    assert MOTOR in [tuple(colour) for colour in joints._colours]


def test_a_spring_runs_from_end_to_end(open_page, until):
    scene = rb.Scene()
    ball = scene.add_body(rb.Sphere(0.1), position=(0, 0, -1), name="ball")
    scene.add_force(rb.Spring(scene.world, ball, at=(0, 0, 0), at_b=(0, 0.1, -1), stiffness=10.0))
    sim = rb.Simulation(scene)
    page = open_page(sim, Joints)
    take_steps(page, 30, until)
    points = part_of(page, Joints)._links._handles["coil"].points
    assert np.allclose(points[0, 0], (0, 0, 0), atol=1e-6)
    picture = page.session.frame.picture
    end = picture.position[0] + Rotation.from_quat(picture.orientation[0]).apply((0, 0.1, 0))
    assert np.allclose(points[-1, 1], end, atol=1e-5)
    assert np.allclose(coil(8, 97)[[0, -1]], [(0, 0, 0), (0, 0, 1)])


def test_a_rod_is_as_long_as_the_distance_it_keeps(open_page):
    scene = rb.Scene()
    ball = scene.add_body(rb.Sphere(0.1), position=(0.6, 0, -0.8), name="ball")
    scene.add_joint(rb.Distance(scene.world, ball, at=(0, 0, 0), at_b=(0.6, 0, -0.8)))
    page = open_page(rb.Simulation(scene), Joints)
    rods = part_of(page, Joints)._links._handles["rod"]
    assert rods.batched_scales[0, 2] == pytest.approx(1.0)
    assert np.allclose(rods.batched_positions[0], (0.3, 0, -0.4))


@pytest.mark.contacts
def test_contact_forces_of_a_box_at_rest_carry_its_weight(open_page, until):
    scene = rb.Scene()
    scene.add_static(rb.Plane())
    scene.add_body(rb.Box(1, 1, 1), mass=3.0, position=(0, 0, 0.5), name="box")
    sim = rb.Simulation(scene, time_step=0.005)
    sim.run(0.5)
    view = sim.contacts
    on_a = np.where([a == "box" for a, _ in view.bodies], 1.0, -1.0)
    assert np.allclose((on_a[:, None] * view.force).sum(axis=0), (0, 0, 3.0 * 9.81), atol=1e-4)
    page = open_page(sim, Contacts)
    contacts = part_of(page, Contacts)
    contacts.visible = True
    page.session.wanted.update(contacts.wants)
    page.session.step(1).result()
    until(lambda: contacts._dots is not None)
    assert len(contacts._dots.points) == 4
    assert np.all(contacts._arrows.points[:, 1, 2] > contacts._arrows.points[:, 0, 2])


@pytest.mark.contacts
def test_contacts_nobody_resolves_and_new_ones_carry_no_force():
    scene = rb.Scene()
    scene.add_static(rb.Plane())
    scene.add_body(rb.Box(1, 1, 1), position=(0, 0, 0.5))
    assert not np.any(rb.Simulation(scene).contacts.force)
    detecting = rb.Simulation(scene, contacts="detect")
    detecting.step()
    assert len(detecting.contacts) == 4
    assert not np.any(detecting.contacts.force)


def test_velocity_arrows_point_along_the_velocity_and_centres_are_where_they_should(open_page):
    scene = rb.Scene(gravity=(0, 0, 0))
    scene.add_body(rb.Box(1, 1, 1), velocity=(1.0, 2.0, -1.0), name="fast")
    scene.add_body(rb.Box(1, 1, 1), position=(4, 0, 0), name="still")
    page = open_page(rb.Simulation(scene), Centres, Velocities)
    for part in page.parts:
        part.visible = True
        part.show(page.session.frame)
    arrows = part_of(page, Velocities)._handle.points
    assert len(arrows) == 1
    way = arrows[0, 1] - arrows[0, 0]
    assert np.allclose(way / np.linalg.norm(way), np.array([1, 2, -1]) / np.sqrt(6.0), atol=1e-6)
    assert np.allclose(part_of(page, Centres)._handle.batched_positions, [(0, 0, 0), (4, 0, 0)])


def test_trails_follow_the_path_stay_bounded_and_end_at_a_reset(open_page):
    scene = rb.Scene(gravity=(0, 0, 0))
    scene.add_body(rb.Sphere(0.1), velocity=(1, 0, 0))
    page = open_page(rb.Simulation(scene), Trails)
    trails, frame = part_of(page, Trails), page.session.frame
    trails.visible = True
    for k in range(200):
        place = replace(frame.picture, position=np.array([[0.1 * k, 0.0, 0.0]]))
        trails.show(replace(frame, time=0.1 * k, pictures=(place,)))
    points = trails._handle.points
    assert points.shape == (POINTS - 1, 2, 3)
    assert np.allclose(points[:, 1, 0], 0.1 * np.arange(200 - POINTS + 1, 200))
    trails.show(frame)
    assert np.allclose(trails._handle.points, 0.0)


def test_colours_by_speed_and_of_what_is_chosen(open_page):
    scene = rb.Scene(gravity=(0, 0, 0))
    for k in range(3):
        scene.add_body(rb.Box(1, 1, 1), position=(2.0 * k, 0, 0), velocity=(1.0 * k, 0, 0), name=f"body_{k}")
    scene.add_static(rb.Box(1, 1, 1), position=(0, 3, 0), name="wall")
    page = open_page(rb.Simulation(scene), Bodies)
    colours, frame = bodies_of(page).colours, page.session.frame
    assert len({tuple(colour) for colour in colours.of(frame)[:3]}) == 3
    assert tuple(colours.of(frame)[3]) == STILL
    colours.mode = "Speed"
    found = colours.of(frame)
    assert np.array_equal(found[:3], graded(np.array([0.0, 0.5, 1.0])))
    page.selected = "body_1"
    assert tuple(colours.of(frame)[1]) == CHOSEN


def test_materials_have_colours_of_their_own(open_page):
    scene = rb.Scene()
    ice, wood = rb.Material(friction=0.0), rb.Material(friction=0.5)
    for k, material in enumerate((ice, wood, ice)):
        scene.add_body(rb.Box(1, 1, 1), position=(2.0 * k, 0, 0), material=material)
    page = open_page(rb.Simulation(scene), Bodies)
    colours = bodies_of(page).colours
    colours.mode = "Material"
    found = colours.of(page.session.frame)
    assert np.array_equal(found[0], found[2])
    assert not np.array_equal(found[0], found[1])


@pytest.mark.contacts
def test_the_show_tab_has_a_tick_box_for_every_drawing_and_turns_it_on_while_paused(open_page, person, until):
    scene = rb.Scene()
    scene.add_static(rb.Plane())
    scene.add_body(rb.Box(1, 1, 1), position=(0, 0, 0.5), name="box")
    page = open_page(rb.Simulation(scene), Bodies, Ground, Joints, Contacts, Centres, Velocities, Trails, Show)
    boxes = {box.label: box for box in page.server.gui._gui_input_handle_from_uuid.values()}
    titles = {part.title for part in page.parts if hasattr(part, "title")}
    assert titles | {"Shadows", "See-through", "Colour by"} <= set(boxes)
    person.turn(boxes["Contact forces"], True)
    until(lambda: part_of(page, Contacts)._dots is not None)
    assert "contacts" in page.session.wanted
    person.turn(boxes["Contact forces"], False)
    until(lambda: part_of(page, Contacts)._dots is None)
    assert "contacts" not in page.session.wanted
    assert not any(part_of(page, kind)._handle for kind in (Centres, Velocities, Trails))
    person.turn(boxes["Shadows"], False)
    until(lambda: part_of(page, Ground).lamp.cast_shadow is False)
    for mode in MODES:
        person.turn(boxes["Colour by"], mode)
        until(lambda mode=mode: bodies_of(page).colours._last == (mode, ""))


def test_grids_are_spaced_by_round_lengths():
    assert [nice(length) for length in (0.99, 1.0, 3.0, 7.0, 0.021)] == [0.5, 1.0, 2.0, 5.0, 0.02]


def test_the_ground_lies_on_the_planes_of_the_scene(open_page):
    scene = rb.Scene()
    slope = (0.0, np.sin(0.3), np.cos(0.3))
    scene.add_static(rb.Plane(normal=slope, offset=0.2))
    scene.add_body(rb.Box(1, 1, 1), position=(0, 0, 2.0))
    page = open_page(rb.Simulation(scene), Ground)
    (grid,) = part_of(page, Ground)._handles
    assert np.dot(grid.position, slope) == pytest.approx(0.2)
    assert np.allclose(Rotation.from_quat(np.roll(grid.wxyz, -1)).apply((0, 0, 1)), slope)


def test_a_thousand_moving_bodies_cost_little(open_page):
    from rattleback.scenes import cubes_1000

    page = open_page(rb.Simulation(cubes_1000()), Bodies)
    bodies, frame, shift = bodies_of(page), page.session.frame, np.zeros(3)
    spent = []
    for _ in range(30):
        shift = shift + 0.01
        picture = replace(frame.picture, position=frame.picture.position + shift)
        begun = time.thread_time()
        with page.server.atomic():
            bodies.show(replace(frame, pictures=(picture,)))
        spent.append(time.thread_time() - begun)
    assert np.median(spent) < 2e-3


def row_of_boxes(count):
    scene = rb.Scene(gravity=(0, 0, 0), name="boxes")
    for k in range(count):
        scene.add_body(rb.Box(1, 1, 1), position=(2.0 * k, 0, 0), name=f"body_{k}")
    return scene


@pytest.mark.parametrize("count", [4, 11])
def test_a_body_that_goes_leaves_the_others_their_colours(count):
    scene, known = row_of_boxes(count), {}
    before = dict(zip([body.name for body in scene.bodies], chosen_colours(scene.bodies, known).tolist(), strict=True))
    rest = [body for body in scene.bodies if body.name != "body_1"]
    assert chosen_colours(rest, known).tolist() == [before[body.name] for body in rest]
    new = row_of_boxes(count + 1).bodies[-1]
    assert chosen_colours([*rest, new], known).tolist()[:-1] == [before[body.name] for body in rest]


def test_what_is_chosen_looks_like_no_body():
    """Told apart by hue: what of the palette is within 40 degrees of it is pale."""
    hue = [colorsys.rgb_to_hsv(*(np.array(colour) / 255.0))[0] * 360.0 for colour in (CHOSEN, *PALETTE_RGB)]
    strength = [colorsys.rgb_to_hsv(*(np.array(colour) / 255.0))[1] for colour in (CHOSEN, *PALETTE_RGB)]
    apart = np.abs((np.array(hue[1:]) - hue[0] + 180.0) % 360.0 - 180.0)
    assert np.all((apart > 40.0) | (np.array(strength[1:]) < 0.6 * strength[0]))


@pytest.mark.contacts
def test_one_force_far_beyond_the_others_leaves_them_their_colours(open_page):
    page = open_page(rb.Simulation(row_of_boxes(12)), Bodies)
    colours, frame = bodies_of(page).colours, page.session.frame
    colours.mode = "Contact force"
    colours._values = lambda picture: np.array([1e6, *np.linspace(1.0, 11.0, 11)])
    found = colours.of(frame)
    assert colours.passed
    assert colours.largest <= 33.0
    assert np.array_equal(found[:1], graded(np.ones(1)))
    assert len({tuple(colour) for colour in found[1:]}) == 11
    assert "33 N or more" in legend("Contact force", 33.0, "N", passed=True)
