"""What a surface costs: triangles near bodies are looked at, however many there are elsewhere, and each body alone."""

import statistics
import time

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import rattleback as rb
from rattleback.collision.geometry.bvh import leaf_order
from rattleback.collision.geometry.surface_table import grid_order, grid_twins, twins

pytestmark = pytest.mark.contacts
STEP = 1 / 120


def finder(simulation):
    return simulation._step.contacts.finder


def items(simulation):
    """Number of solids and triangles looked at in the last step."""
    return int(finder(simulation).items.needed.numpy()[0])


def rough_ground(cells, edge=0.05):
    """Ground of triangles, 1 cm up and down from one vertex to the next."""
    field = rb.HeightField(0.01 * (np.indices((cells + 1, cells + 1)).sum(axis=0) % 2), edge)
    return rb.Mesh(field.vertices, field.triangles)


def places_on_ground(across):
    """Where boxes are put, so far apart that none comes near another, some way off the vertices of the ground."""
    x, y = np.meshgrid(*[0.48 * (np.arange(across) - 0.5 * (across - 1)) + 0.013] * 2, indexing="ij")
    return np.column_stack([x.ravel(), y.ravel(), np.full(x.size, 0.112)])


def boxes_on_ground(across, cells=80):
    scene = rb.Scene()
    scene.add_static(rough_ground(cells), name="ground")
    for k, place in enumerate(places_on_ground(across)):
        spin = (5.0, 9.0, 3.0)
        scene.add_body(
            rb.Box(0.2, 0.2, 0.2), position=place, velocity=(1, 0, 0), angular_velocity=spin, name=f"box {k}"
        )
    return scene


def test_many_boxes_on_a_mesh_have_the_triangles_and_contacts_that_each_of_them_has_alone():
    settings = {"time_step": STEP, "warn": False}
    together = rb.Simulation(boxes_on_ground(4, cells=40), **settings)
    alone = rb.Simulation(boxes_on_ground(1, cells=40), worlds=16, **settings)
    rng = np.random.default_rng(0)
    for _ in range(2):
        position = places_on_ground(4) + rng.uniform(-0.02, 0.02, (16, 3))
        values = {"position": position, "orientation": Rotation.random(16, random_state=rng).as_quat()}
        values |= {"velocity": rng.normal(size=(16, 3)), "angular_velocity": 5.0 * rng.normal(size=(16, 3))}
        for name, value in values.items():
            setattr(alone["box 0"], name, value)
            for k in range(16):
                setattr(together[f"box {k}"], name, value[k])
        mine, theirs = together.contacts, alone.contacts
        # Neighbours may be listed together here and there.
        assert 16 * 8 < items(alone) <= items(together) <= 1.01 * items(alone)
        assert len(mine) == len(theirs) > 16
        for name in ("point", "normal", "separation"):
            np.testing.assert_array_equal(getattr(mine, name), getattr(theirs, name))


def test_the_time_of_a_step_on_a_mesh_grows_with_the_bodies_and_not_with_their_square():
    seconds = []
    for across in (4, 8):
        simulation = rb.Simulation(boxes_on_ground(across), time_step=STEP, warn=False)
        simulation.step(2)
        taken = []
        for _ in range(9):
            begun = time.process_time()
            simulation.step()
            taken.append(time.process_time() - begun)
        seconds.append(statistics.median(taken))
    # Four times as many bodies; their square is sixteen times as large.
    assert seconds[1] < 8.0 * seconds[0]


WHEEL = {
    "cylinder": (rb.Cylinder(0.35, 0.2), Rotation.from_euler("x", 90, degrees=True).as_quat(), 0.35),
    "capsule": (rb.Capsule(0.3, 0.9), Rotation.from_euler("x", 90, degrees=True).as_quat(), 0.3),
    "cone": (rb.Cone(0.3, 0.5), Rotation.from_euler("x", 90 - np.degrees(np.arctan2(0.3, 0.5)), degrees=True).as_quat(),
             0.5 * 0.5 * np.sin(np.arctan2(0.3, 0.5))),
    "ellipsoid": (rb.Ellipsoid(0.3, 0.4, 0.3), (0.0, 0.0, 0.0, 1.0), 0.3),
    "ball": (rb.Sphere(0.35), (0.0, 0.0, 0.0, 1.0), 0.35),
}  # fmt: skip


def rolling(shape, ground, height=0.0):
    """A body that rolls at 5 m/s on a ground whose top is at zero, after a few steps."""
    solid, turn, radius = WHEEL[shape]
    scene, rub = rb.Scene(), rb.Material(friction=0.5)
    scene.add_static(ground, position=(0, 0, height), material=rub, name="ground")
    spin = (0.0, 5.0 / radius, 0.0)
    scene.add_body(
        solid, position=(0.1, 0.13, radius), orientation=turn, velocity=(5, 0, 0), angular_velocity=spin, material=rub,
        name="wheel",
    )  # fmt: skip
    simulation = rb.Simulation(scene, time_step=1 / 240, warn=False)
    simulation.step(4)
    assert len(simulation.contacts)
    return simulation


@pytest.mark.parametrize("shape", WHEEL)
def test_what_rolls_on_a_height_field_looks_at_the_cells_under_it_however_large_the_field_is(shape):
    looked_at = [items(rolling(shape, rb.HeightField(np.zeros((n, n)), 0.4))) for n in (11, 31, 101)]
    assert looked_at[0] == looked_at[1] == looked_at[2]
    # Its box lies over four cells by five at most, as it goes 2 cm in a step; one more on every side for what is ahead.
    assert looked_at[0] <= 2 * 6 * 7


@pytest.mark.parametrize("shape", WHEEL)
def test_what_rolls_is_struck_no_farther_on_ground_with_an_end_than_on_ground_without(shape):
    grounds = {"plane": rb.Plane(), "box": rb.Box(90, 90, 1), "field": rb.HeightField(np.zeros((51, 51)), 0.4)}
    for name, ground in grounds.items():
        simulation = rolling(shape, ground, height=-0.5 if name == "box" else 0.0)
        velocity, spin = np.array([5.0, 0.3, -0.1]), np.array([1.0, 14.0, 2.0])
        simulation["wheel"].velocity, simulation["wheel"].angular_velocity = velocity, spin
        points = np.array(simulation.contacts.point)
        assert len(points)
        blow = 240 * float(finder(simulation).speculative.margins.impact_travel.numpy()[1])
        # No point goes faster than the origin of the solid and, around that, its farthest one.
        turn = Rotation.from_quat(np.array(simulation["wheel"].orientation))
        center = turn.apply(np.array(simulation.scene["wheel"].center_of_mass))
        bound = np.linalg.norm(velocity - np.cross(spin, center))
        bound += np.linalg.norm(spin) * WHEEL[shape][0].bounding_radius()
        assert blow <= bound + 1e-3
        # Nor do points of the contacts go faster than that.
        speeds = np.linalg.norm(velocity + np.cross(spin, points - simulation["wheel"].position), axis=1)
        assert blow >= speeds.max() - 1e-3


def test_what_rides_on_a_turntable_far_from_its_axis_is_not_struck_by_it():
    scene = rb.Scene()
    rub = rb.Material(friction=1.0)
    scene.add_static(
        rb.Cylinder(4.0, 0.2), position=(0, 0, -0.1), angular_velocity=(0, 0, 1), material=rub, name="table"
    )
    place = {"position": (3.0, 0, 0.1), "velocity": (0, 3, 0), "angular_velocity": (0, 0, 1)}
    scene.add_body(rb.Box(0.2, 0.2, 0.2), material=rub, name="box", **place)
    simulation = rb.Simulation(scene, time_step=1 / 240, warn=False)
    simulation.step(4)
    assert len(simulation.contacts) >= 3
    # It goes with the table: 12.5 mm in a step, of which nothing against each other.
    assert float(finder(simulation).speculative.margins.impact_travel.numpy()[1]) < 2e-4


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("shape", ["field", "mesh"])
def test_the_box_around_a_surface_is_found_without_a_look_at_its_vertices(shape, turned):
    heights = np.random.default_rng(0).normal(size=(6, 9))
    ground = rb.HeightField(heights, (0.5, 0.3))
    if shape == "mesh":
        ground = rb.Mesh(ground.vertices + np.array([3.0, -2.0, 1.0]), ground.triangles)
    turn = Rotation.random(random_state=1) if turned else Rotation.identity()
    scene, place = rb.Scene(), np.array([1.0, 2.0, 3.0])
    scene.add_static(ground, position=place, orientation=turn.as_quat(), name="ground")
    scene.add_body(rb.Sphere(0.1), position=(50, 0, 0))
    own = finder(rb.Simulation(scene, contacts="detect", contact_distance=0.02))
    own.geometry.hulls.vertex.fill_(np.nan)
    own._place()
    lower, upper = own.places.lower.numpy()[0] + 0.01, own.places.upper.numpy()[0] - 0.01
    corners = np.array(np.meshgrid(*zip(*ground.bounds(), strict=True))).reshape(3, -1).T
    around = place + turn.apply(corners)
    np.testing.assert_allclose(lower, around.min(axis=0), rtol=0, atol=1e-13)
    np.testing.assert_allclose(upper, around.max(axis=0), rtol=0, atol=1e-13)
    points = place + turn.apply(np.array(ground.vertices))
    assert (points >= lower - 1e-15).all()
    assert (points <= upper + 1e-15).all()


def walked(order, lower, upper, window):
    """What is found in a tree of boxes that is walked here anew, from the root, as far as boxes overlap a window."""
    leaves, found, boxes = len(order), [], 0
    low, high = np.full((2 * leaves, 3), np.inf), np.full((2 * leaves, 3), -np.inf)
    low[leaves:][order >= 0], high[leaves:][order >= 0] = lower[order[order >= 0]], upper[order[order >= 0]]
    for k in range(leaves - 1, 0, -1):
        low[k], high[k] = np.minimum(low[2 * k], low[2 * k + 1]), np.maximum(high[2 * k], high[2 * k + 1])
    waiting = [1]
    while waiting:
        k = waiting.pop()
        boxes += 1
        if (low[k] <= window[1]).all() and (high[k] >= window[0]).all():
            waiting += [2 * k, 2 * k + 1] if k < leaves else []
            found += [int(order[k - leaves])] if k >= leaves else []
    return sorted(found), boxes


@pytest.mark.parametrize("cells", [(1, 1), (2, 1), (3, 5), (20, 7), (32, 32), (17, 65)])
def test_the_tree_over_a_height_field_holds_every_triangle_and_finds_those_in_a_window_in_few_boxes(cells):
    heights = np.random.default_rng(0).normal(size=(cells[0] + 1, cells[1] + 1))
    field = rb.HeightField(heights, (0.5, 0.2))
    (order,) = grid_order(field)
    assert sorted(order[order >= 0]) == list(range(len(field.triangles)))
    assert len(order) & (len(order) - 1) == 0
    assert len(order) < 4 * len(field.triangles)
    corners = field.vertices[field.triangles]
    lower, upper = corners.min(axis=1), corners.max(axis=1)
    for middle in field.vertices[:: max(1, len(field.vertices) // 20)]:
        window = (middle - 0.3, middle + 0.3)
        naive = np.flatnonzero((lower <= window[1]).all(axis=1) & (upper >= window[0]).all(axis=1))
        found, boxes = walked(order, lower, upper, window)
        assert found == naive.tolist()
        # Two boxes a level for each cell that is cut, of which there are three by five.
        assert boxes <= 2 * (2 * 3 * 5 + 1) * len(order).bit_length()


@pytest.mark.parametrize("cells", [(1, 1), (1, 4), (5, 1), (3, 5)])
def test_neighbours_in_a_height_field_are_those_that_edges_tell(cells):
    field = rb.HeightField(np.random.default_rng(0).normal(size=(cells[0] + 1, cells[1] + 1)), 0.5)
    np.testing.assert_array_equal(grid_twins(field), twins(field.triangles.astype(np.int64)))


@pytest.mark.parametrize("trees", [1, 3])
def test_a_tree_parts_items_along_the_axis_on_which_they_lie_farthest_apart_ties_by_their_numbers(trees):
    # Half of the coordinates are the same, so that many items tie.
    rng = np.random.default_rng(trees)
    lower = np.where(rng.random((trees, 37, 3)) < 0.5, 0.25, rng.random((trees, 37, 3)))

    def halves(items, points, leaves):
        if leaves == 1:
            return [*items, -1][:1]
        if items:
            axis = int(np.argmax(np.ptp(points[items], axis=0)))
            items = sorted(items, key=lambda item: (points[item, axis], item))
        middle = (len(items) + 1) // 2
        return halves(items[:middle], points, leaves // 2) + halves(items[middle:], points, leaves // 2)

    expected = [halves(list(range(37)), points, 64) for points in lower]
    np.testing.assert_array_equal(leaf_order(lower, lower), expected)


def test_a_surface_of_many_bodies_is_kept_once():
    scene = rb.Scene()
    shapes = [rough_ground(4), rb.HeightField(np.zeros((3, 3)), 1.0), rough_ground(4), rough_ground(5)]
    for k, shape in enumerate([*shapes, rb.ConvexHull(np.random.default_rng(0).normal(size=(9, 3)))]):
        scene.add_static(shape, position=(0, 0, k), name=f"body {k}")
    scene.add_body(rb.Sphere(1.0), position=(0, 0, 9))
    geometry = finder(rb.Simulation(scene, contacts="detect")).geometry
    hull, first = (getattr(geometry.colliders, name).numpy()[:4].tolist() for name in ("hull", "first"))
    assert hull == [0, 1, 0, 2]
    assert first[2] == first[0]
    assert len(geometry.surfaces.normal) == 32 + 8 + 50
    vertex, own = geometry.hulls.vertex.numpy(), len(geometry.hulls.vertex_edge)
    # Behind the vertices of the hull.
    assert own == geometry.hulls.vertices.numpy().sum() == first[0] == len(vertex) - 3 * 90
    np.testing.assert_array_equal(vertex[first[3] :], shapes[3].vertices[shapes[3].triangles].reshape(-1, 3))
