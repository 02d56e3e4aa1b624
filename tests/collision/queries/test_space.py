"""Spaces: what is near, what is in the way, what touches, by name; categories; a running simulation."""

import numpy as np
import pytest
import trimesh

import rattleback as rb


def crowd(count=40, seed=1):
    rng = np.random.default_rng(seed)
    shapes = [rb.Sphere(0.4), rb.Box(0.8, 0.5, 0.6), rb.Capsule(0.2, 1.0), rb.Cylinder(0.3, 0.7), rb.Cone(0.4, 0.9)]
    turns = rb.rotation.random(count, seed=seed)
    return {f"thing {k}": rb.Placed(shapes[k % len(shapes)], rng.uniform(-2, 2, 3), turns[k]) for k in range(count)}


def test_the_nearest_thing_is_the_one_with_the_least_distance_to_a_point():
    things = crowd()
    space = rb.collision.Space(things)
    points = np.random.default_rng(2).uniform(-2.5, 2.5, (200, 3))
    near = space.nearest(points)
    # A tiny ball stands for the point, and GJK says how far it is from each thing alone.
    tiny = 1e-9
    each = np.array(
        [
            rb.collision.distance(rb.collision.Poses(rb.Sphere(tiny), points), thing, "gjk").distance + tiny
            for thing in things.values()
        ]
    )
    np.testing.assert_allclose(near.distance, each.min(axis=0), atol=1e-6)
    assert near.name == [list(things)[k] for k in each.argmin(axis=0)]
    np.testing.assert_allclose(np.linalg.norm(near.normal, axis=1), 1.0, atol=1e-12)
    np.testing.assert_allclose(points - near.point, near.distance[:, None] * near.normal, atol=1e-9)
    assert (near.distance < 0).any()


def test_a_closed_mesh_is_solid_for_points_as_a_box_of_its_size_is():
    cube = trimesh.creation.box((2.0, 1.0, 1.4)).subdivide()
    turn = rb.rotation.random(1, seed=4)[0]
    mesh = rb.Placed(rb.Mesh(np.asarray(cube.vertices), np.asarray(cube.faces)), (0.1, 0.2, 0.3), turn)
    space = rb.collision.Space({"mesh": mesh})
    local = np.random.default_rng(5).uniform(-1.5, 1.5, (300, 3))
    local[:3] = [(0, 0, 0), (0.5, 0.25, 0.1), (-0.5, 0.0, 0.2)]
    excess = np.abs(local) - (1.0, 0.5, 0.7)
    expected = np.linalg.norm(np.maximum(excess, 0), axis=1) + np.minimum(excess.max(axis=1), 0)
    near = space.nearest(local @ mesh.rotation.T + mesh.position)
    np.testing.assert_allclose(near.distance, expected, atol=1e-12)
    assert (near.distance < 0).sum() > 20


def test_the_deepest_counts_where_things_overlap():
    cube = trimesh.creation.box((4.0, 4.0, 4.0))
    mesh = rb.Mesh(np.asarray(cube.vertices), np.asarray(cube.faces))
    space = rb.collision.Space({"ball": rb.Placed(rb.Sphere(0.5), (0, 0, 1.0)), "mesh": mesh})
    near = space.nearest([(0, 0, 0.4), (0, 0, 0.8), (0, 0, 1.8)])
    np.testing.assert_allclose(near.distance, [-1.6, -1.2, -0.2])
    assert near.name == ["mesh", "mesh", "mesh"]


def test_a_margin_thickens_a_mesh_for_points_and_rays():
    scene = rb.Scene()
    body = scene.add_static(rb.Mesh([(-9, -9, 0), (9, -9, 0), (0, 9, 0)], [(0, 1, 2)]), margin=0.25)
    space = rb.collision.Space([body])
    assert space.nearest((0, 0, 1)).distance == pytest.approx(0.75)
    hits = space.ray_cast([(0, 0, 3), (0, 0, -3), (0, 0, 0.1)], [(0, 0, -1), (0, 0, 1), (0, 0, 1)])
    np.testing.assert_allclose(hits.distance, [2.75, 2.75, 0.0])
    np.testing.assert_allclose(hits.normal, [(0, 0, 1), (0, 0, -1), (0, 0, -1)], atol=1e-14)


def test_points_below_a_height_field_are_inside_and_those_beside_it_are_not():
    space = rb.collision.Space({"field": rb.HeightField(np.zeros((5, 5)), spacing=0.5)})
    near = space.nearest([(0, 0, 0.3), (0, 0, -0.3), (0.25, -0.5, -0.1), (2.0, 0, -0.3)])
    np.testing.assert_allclose(near.distance, [0.3, -0.3, -0.1, np.hypot(1.0, 0.3)], atol=1e-12)
    np.testing.assert_allclose(near.normal[:3], [(0, 0, 1)] * 3, atol=1e-12)


def test_an_open_mesh_has_no_inside():
    space = rb.collision.Space({"sheet": rb.Mesh([(-1, -1, 0), (1, -1, 0), (0, 1, 0)], [(0, 1, 2)])})
    np.testing.assert_allclose(space.nearest([(0, 0, 0.5), (0, 0, -0.5)]).distance, [0.5, 0.5])


def test_one_point_has_a_single_answer():
    near = rb.collision.Space({"ground": rb.Plane(), "ball": rb.Placed(rb.Sphere(1.0), (0, 0, 5))}).nearest((0, 0, 1))
    assert near.distance == 1.0
    assert near.name == "ground"
    np.testing.assert_allclose(near.point, (0, 0, 0))


def test_overlapping_things_are_those_whose_distance_is_not_positive():
    things = crowd(60)
    space = rb.collision.Space({**things, "ground": rb.Plane(offset=-1.5)})
    probes = [rb.Placed(rb.Box(1, 1, 1), p) for p in np.random.default_rng(6).uniform(-2, 2, (12, 3))]
    found = space.overlapping(probes)
    for probe, names in zip(probes, found, strict=True):
        each = {name: rb.collision.overlap(probe, thing) for name, thing in things.items()}
        low = probe.position[2] - 0.5 <= -1.5
        assert names == [name for name, met in each.items() if met] + ["ground"] * low
        assert space.overlapping(probe) == names
    assert any(found)


def test_rays_in_a_space_are_those_of_a_list():
    things = crowd()
    space = rb.collision.Space(things)
    origins, ways = np.random.default_rng(7).normal(size=(2, 50, 3)) * 3.0
    a, b = space.ray_cast(origins, ways), rb.collision.ray_cast(list(things.values()), origins, ways)
    np.testing.assert_array_equal(a.distance, b.distance)
    np.testing.assert_array_equal(a.index, b.index)
    assert len(space) == len(space.names) == 40


def pile():
    scene = rb.Scene()
    scene.add_static(rb.Plane(), name="ground", category="world")
    for k in range(3):
        scene.add_body(rb.Box(1, 1, 1), position=(0, 0, 0.5 + k), name=f"box {k}", category="crate")
    scene.add_body(rb.Sphere(0.5), position=(5, 0, 3), name="ball", category=["toy", "round"])
    scene.add_body(rb.Sphere(0.1), position=(0, 0, 9), name="mark", collision=None)
    return scene


def test_categories_say_what_counts():
    space = rb.collision.Space(pile())
    assert space.names == ("ground", "box 0", "box 1", "box 2", "ball")
    assert space.names[space.ray_cast((5, 0, 9), (0, 0, -1)).index] == "ball"
    assert space.names[space.ray_cast((5, 0, 9), (0, 0, -1), collides_with="world").index] == "ground"
    assert not space.ray_cast((5, 0, 9), (0, 0, -1), collides_with=["crate"]).hit
    assert space.nearest((5, 0, 2.4), collides_with=["crate", "world"]).name == "ground"
    wide = rb.Placed(rb.Box(20, 1, 1), position=(0, 0, 3))
    assert space.overlapping(wide) == ["box 2", "ball"]
    assert space.overlapping(wide, collides_with="round") == ["ball"]


def test_touching_pairs_of_a_scene_have_contacts():
    contacts = rb.collision.Space(pile()).pairs(within=1e-6)
    assert set(contacts.pairs) == {("ground", "box 0"), ("box 0", "box 1"), ("box 1", "box 2")}
    assert len(contacts) == 12
    np.testing.assert_allclose(contacts.separation, 0.0, atol=1e-12)
    assert set(np.round(contacts.point[:, 2], 9)) == {0.0, 1.0, 2.0}


def test_touching_pairs_of_named_placements_have_contacts():
    space = rb.collision.Space(
        {"a": rb.Sphere(1.0), "b": rb.Placed(rb.Sphere(1.0), (0, 0, 1.9)), "c": rb.Plane(offset=-5)}
    )
    contacts = space.pairs()
    assert contacts.pairs == [("a", "b")]
    np.testing.assert_allclose(contacts.separation, [-0.1])
    assert contacts.of("b").tolist() == [0]
    assert space.pairs(within=4.5).pairs == [("a", "b"), ("a", "c")]


def test_a_space_of_a_simulation_takes_the_bodies_where_they_are_now():
    scene = rb.Scene()
    scene.add_static(rb.Plane(offset=-10.0), name="ground")
    scene.add_body(rb.Cone(0.5, 2.0), origin=(0, 0, 0), name="cone", collides_with=[])
    sim = rb.Simulation(scene, time_step=0.01)
    before = rb.collision.Space.of(sim).ray_cast((0, 0, 5), (0, 0, -1)).distance
    sim.run(0.5)
    after = rb.collision.Space.of(sim)
    fallen = float(scene["cone"].position[2] - sim["cone"].position[2])
    assert fallen > 1.0
    assert before == pytest.approx(4.0)
    assert after.ray_cast((0, 0, 5), (0, 0, -1)).distance == pytest.approx(4.0 + fallen, abs=1e-12)
    sim.state.position[1] = (0, 0, -9.7)
    assert rb.collision.Space.of(sim).pairs().pairs == []  # it collides with nothing
    assert rb.collision.Space.of(sim).overlapping(rb.Placed(rb.Sphere(0.1), (0, 0, -10))) == ["ground", "cone"]


def test_a_space_of_one_of_many_worlds():
    scene = rb.Scene()
    scene.add_body(rb.Sphere(0.5), name="ball")
    sim = rb.Simulation(scene, worlds=3)
    sim.state.position[2, 0] = (0, 0, 7)
    assert rb.collision.Space.of(sim, world=2).nearest((0, 0, 10)).distance == pytest.approx(2.5)
    assert rb.collision.Space.of(sim, world=0).nearest((0, 0, 10)).distance == pytest.approx(9.5)


def test_a_space_of_bodies_takes_them_as_they_start():
    scene = pile()
    space = rb.collision.Space([scene["ball"], scene["box 0"]])
    assert space.names == ("ball", "box 0")
    assert space.nearest((5, 0, 3)).distance == pytest.approx(-0.5)


@pytest.mark.cuda
def test_a_space_on_cuda_answers_as_on_the_cpu():
    things = crowd()
    points = np.random.default_rng(2).uniform(-3, 3, (60, 3))
    cpu, cuda = (rb.collision.Space(things, device=device).nearest(points) for device in ("cpu", "cuda"))
    np.testing.assert_allclose(cuda.distance, cpu.distance, atol=1e-12)
    assert cuda.name == cpu.name
