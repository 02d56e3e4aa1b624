"""Bodies on the page: every instance where an independent computation puts it, and every instance known by name."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import rattleback as rb
from rattleback import scenes
from rattleback.core.errors import InputError
from rattleback.recording.tessellation import tessellate
from rattleback.viewer.drawing.batches import creased, gear, mesh_of, pieces, tube
from rattleback.viewer.drawing.bodies import Bodies, bodies_of
from rattleback.viewer.drawing.ground import Ground
from rattleback.viewer.drawing.layout import lay_out
from rattleback.viewer.parts import DRAWN
from rattleback.viewer.session import Session
from rattleback.viewer.window import Window

ORIGIN, UPRIGHT = np.zeros(3), np.array([0.0, 0.0, 0.0, 1.0])
TETRAHEDRON = np.array([(0, 0, 0), (0.5, 0, 0), (0, 0.5, 0), (0, 0, 0.5)], dtype=float)
TURN = Rotation.from_rotvec((0.3, -0.8, 1.1))


@pytest.fixture
def draw():
    """Open pages on simulations without a browser; all are closed in the end."""
    pages = []

    def start(*sims, parts=(Bodies,)):
        session = Session(sims)
        pages.append(Window(session, parts=parts))
        return pages[-1]

    yield start
    for page in pages:
        page.close()


def a_scene_of_all_shapes():
    scene = rb.Scene()
    scene.add_static(rb.Plane(), name="ground")
    scene.add_static(rb.Box(4.0, 4.0, 0.1), position=(0, 0, -0.05), name="table")
    parts = [
        rb.Placed(rb.Sphere(0.1), position=(0.3, 0, 0)),
        rb.Placed(rb.Box(0.2, 0.1, 0.1), (0, 0.2, 0), TURN.as_quat()),
    ]
    shapes = [
        rb.Box(0.3, 0.2, 0.1), rb.Sphere(0.1), rb.Ellipsoid(0.1, 0.2, 0.3), rb.Cylinder(0.1, 0.4), rb.Cone(0.1, 0.3),
        rb.Capsule(0.05, 0.4), rb.ConvexHull(TETRAHEDRON), rb.ConvexHull(TETRAHEDRON), rb.Compound(parts),
    ]  # fmt: skip
    for number, shape in enumerate(shapes):
        turn = Rotation.from_rotvec((0.1 * number, 0.4, -0.2 * number)).as_quat()
        scene.add_body(shape, position=(0.7 * number, 0.2, 1.0 + 0.1 * number), orientation=turn, name=f"body_{number}")
    scene.add_body(mass=1.0, inertia=(1, 1, 1), position=(0, 1, 1), name="shapeless")
    return scene


def vertices_by_body(bodies):
    """Corners of everything on the page in the world, by picture and body, from what the page was told."""
    found = {}
    for handle in bodies.handles:
        for k in range(len(handle.batched_positions)):
            turn = Rotation.from_quat(np.roll(handle.batched_wxyzs[k], -1))
            points = turn.apply(handle.vertices * handle.batched_scales[k]) + handle.batched_positions[k]
            found.setdefault(bodies.body_of(handle, k), []).append(points)
    return {name: np.concatenate(points) for name, points in found.items()}


def test_every_corner_on_the_page_lies_on_its_body(draw):
    sim = rb.Simulation(a_scene_of_all_shapes())
    sim.run(0.2)
    page = draw(sim)
    seen = vertices_by_body(bodies_of(page))
    for row, body in enumerate(sim.scene.bodies):
        if isinstance(body.shape, rb.Plane) or body.shape is None:
            continue
        back = Rotation.from_quat(sim.state.orientation[row]).inv()
        local = back.apply(seen[0, body.name] - sim.state.position[row]) + body.center_of_mass
        low, high = body.shape.bounds()
        assert np.allclose(local.min(axis=0), low, atol=2e-3 * np.ptp([low, high]))
        assert np.allclose(local.max(axis=0), high, atol=2e-3 * np.ptp([low, high]))
        # No corner is outside: the support point bounds the shape in every direction.
        for direction in np.random.default_rng(row).normal(size=(20, 3)):
            # The band of a ball and the bar of a cylinder stand out by at most four thousandths of their size.
            proud = 1e-5 + 0.004 * body.shape.bounding_radius() * np.linalg.norm(direction)
            assert np.max(local @ direction) <= body.shape.support(direction) @ direction + proud


def test_a_body_without_a_shape_is_a_ball_at_its_centre_of_mass(draw):
    sim = rb.Simulation(a_scene_of_all_shapes())
    seen = vertices_by_body(bodies_of(draw(sim)))[0, "shapeless"]
    assert np.allclose(seen.mean(axis=0), (0, 1, 1), atol=1e-3)


def test_one_batch_for_each_kind_of_mesh_however_many_bodies(draw):
    sim = rb.Simulation(a_scene_of_all_shapes())
    # Moving: box, ball, its band, cylinder, its bar, cone, tube of the capsule, one hull for both; standing: box.
    assert len(bodies_of(draw(sim)).handles) == 9
    assert len(bodies_of(draw(rb.Simulation(scenes.cubes_1000()))).handles) == 1


def test_bodies_go_where_a_new_frame_says_and_standing_ones_are_not_sent(draw):
    page = draw(rb.Simulation(a_scene_of_all_shapes()))
    bodies, frame = bodies_of(page), page.session.frame
    before = vertices_by_body(bodies)
    picture = frame.picture
    moving = np.array([[0.0] if body.static else [1.0] for body in picture.scene.bodies])
    shift = np.array([0.1, -0.2, 0.3])
    other = replace(picture, position=picture.position + moving * shift)
    sent = sent_by(page, lambda: bodies.show(replace(frame, pictures=(other,))))
    after = vertices_by_body(bodies)
    for body in picture.scene.bodies:
        if not isinstance(body.shape, rb.Plane):
            assert np.allclose(after[0, body.name] - before[0, body.name], 0.0 if body.static else shift, atol=1e-5)
    # Only places of the eight batches that move.
    assert len(sent) == 8


def sent_by(page, act):
    """Messages that something puts into the queue of the page."""
    sent, door = [], page.server.scene._websock_interface
    queue = door.queue_message
    door.queue_message = lambda message: (sent.append(message), queue(message))
    try:
        act()
    finally:
        del door.queue_message
    return sent


def test_a_scene_at_rest_sends_nothing(draw):
    page = draw(rb.Simulation(a_scene_of_all_shapes()), parts=DRAWN)
    frame = page.session.frame
    assert sent_by(page, lambda: [part.show(replace(frame, number=7)) for part in page.parts]) == []


def test_what_is_hidden_is_not_sent(draw):
    page = draw(rb.Simulation(a_scene_of_all_shapes()))
    bodies, frame = bodies_of(page), page.session.frame
    bodies.visible = False
    bodies.show(frame)
    assert not any(handle.visible for handle in bodies.handles)
    moved = replace(frame, pictures=(replace(frame.picture, position=frame.picture.position + 1.0),))
    assert sent_by(page, lambda: bodies.show(moved)) == []
    bodies.visible = True
    bodies.show(moved)
    assert np.allclose(vertices_by_body(bodies)[0, "shapeless"].mean(axis=0), (1, 2, 2), atol=1e-3)


def test_several_pictures_stand_beside_each_other_without_touching(draw):
    sims = [rb.Simulation(a_scene_of_all_shapes()) for _ in range(3)]
    bodies = bodies_of(draw(*sims))
    seen = vertices_by_body(bodies)
    across = [np.concatenate([corners[:, 0] for (k, _), corners in seen.items() if k == n]) for n in range(3)]
    spans = [(each.min(), each.max()) for each in across]
    assert spans[0][1] < spans[1][0]
    assert spans[1][1] < spans[2][0]
    for n in range(3):
        shifted = seen[0, "body_3"] + bodies.layout.offsets[n]
        assert np.allclose(seen[n, "body_3"], shifted, atol=1e-5)


def test_a_handle_of_somebody_else_is_refused_with_a_sentence(draw):
    page = draw(rb.Simulation(a_scene_of_all_shapes()))
    other = page.server.scene.add_frame("/other")
    with pytest.raises(InputError, match=r"'/other' is no batch of bodies; those are in Bodies\.handles"):
        bodies_of(page).body_of(other, 0)


def test_those_who_listen_hear_of_new_handles(draw):
    page = draw(rb.Simulation(a_scene_of_all_shapes()))
    bodies, heard = bodies_of(page), []
    bodies.on_renew.append(lambda: heard.append([handle.name for handle in bodies.handles]))
    bodies.renew(page.session.frame)
    assert heard == [[handle.name for handle in bodies.handles]]


@pytest.mark.parametrize("name", scenes.MENU)
def test_every_scene_of_the_menu_can_be_drawn(draw, name):
    entry = scenes.MENU[name]
    sim = rb.Simulation(entry.build(), time_step=entry.time_step)
    page = draw(sim, parts=DRAWN)
    for part in page.parts:
        part.visible = True
        part.show(page.session.frame)
    drawn = {body for handle in bodies_of(page).handles for body in batch_names(page, handle)}
    assert drawn == {body.name for body in sim.scene.bodies if not isinstance(body.shape, rb.Plane)}


def batch_names(page, handle):
    bodies = bodies_of(page)
    return {bodies.body_of(handle, k)[1] for k in range(len(handle.batched_positions))}


@pytest.mark.parametrize(
    "shape", [rb.Box(1, 1, 1), rb.Cylinder(1, 1), rb.Cone(1, 1), rb.Sphere(1.0), rb.ConvexHull(TETRAHEDRON)]
)
def test_meshes_of_pieces_are_closed_and_have_the_volume_of_their_shape(shape):
    piece = next(pieces(shape, ORIGIN, UPRIGHT))
    mesh = mesh_of(piece, 1)
    a, b, c = (mesh.vertices * piece.scale)[mesh.triangles].transpose(1, 0, 2)
    volume = np.einsum("ij,ij->", a, np.cross(b, c)) / 6.0
    # 32 flat pieces around a circle lose less than 2 %.
    assert 0.98 * shape.volume() < volume < 1.0001 * shape.volume()


def test_creases_keep_edges_sharp_and_curves_smooth():
    assert len(creased(tessellate(rb.Box(1, 1, 1))).vertices) == 24
    ball = tessellate(rb.Sphere(1.0))
    assert len(creased(ball).vertices) == len(ball.vertices)
    rim = creased(tessellate(rb.Cylinder(1.0, 1.0), 32))
    assert len(rim.vertices) == 4 * 32 + 2


def test_a_tube_has_no_ends_and_a_gear_points_outwards():
    side = tube(np.array([(1.0, -0.5), (1.0, 0.5)]), 16)
    assert np.allclose(np.linalg.norm(side.vertices[:, :2], axis=1), 1.0)
    assert len(side.triangles) == 32
    wheel = gear(24)
    a, b, c = wheel.vertices[wheel.triangles].transpose(1, 0, 2)
    volume = np.einsum("ij,ij->", a, np.cross(b, c)) / 6.0
    assert volume == pytest.approx(np.pi, rel=0.02)


def test_the_layout_ignores_the_plane_and_clips_wide_surroundings(draw):
    scene = rb.Scene()
    scene.add_static(rb.Plane())
    scene.add_static(rb.Box(200.0, 200.0, 0.2), position=(0, 0, -0.1))
    scene.add_body(rb.Box(1.0, 1.0, 1.0), position=(0, 0, 0.5))
    layout = lay_out(draw(rb.Simulation(scene)).session.frame)
    assert np.all(layout.high - layout.low < 8.0)
    assert np.all(layout.low <= (-0.5, -0.5, 0.0))
    assert np.all(layout.high >= (0.5, 0.5, 1.0))


def test_the_first_look_shows_the_whole_scene(draw):
    page = draw(rb.Simulation(a_scene_of_all_shapes()), parts=(Bodies, Ground))
    view, seen = page.server.initial_camera, vertices_by_body(bodies_of(page))
    points = np.concatenate([corners for (_, name), corners in seen.items() if name != "table"])
    toward = view.look_at - view.position
    toward = toward / np.linalg.norm(toward)
    right = np.cross(toward, (0, 0, 1))
    right /= np.linalg.norm(right)
    ways = points - view.position
    depth = ways @ toward
    assert np.all(depth > view.near)
    limit = np.tan(0.5 * view.fov)
    assert np.all(np.abs(ways @ right) < limit * depth)
    assert np.all(np.abs(ways @ np.cross(right, toward)) < limit * depth)
