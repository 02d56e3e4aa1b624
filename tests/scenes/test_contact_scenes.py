"""Scenes with contacts: built as described, touching but not overlapping, and true to the numbers they promise."""

import itertools
import math

import numpy as np
import pytest
import trimesh
from scipy.integrate import quad
from scipy.optimize import brentq, linprog
from scipy.spatial.transform import Rotation

import rattleback as rb
from rattleback.scenes import (
    MENU,
    arch,
    book_stack,
    bounces,
    cradle,
    funnel,
    incline,
    rolling,
    sliding_ball,
    tower,
    wall,
)
from rattleback.scenes.impacts import bounces_last
from rattleback.scenes.slopes import (
    BRAKING_STARTS,
    INCLINE_FRICTIONS,
    braking_distance,
    rolling_acceleration,
    rolls_after,
)
from rattleback.scenes.stacks import overhang_limit

# Pairs of bodies that touch at the start.
TOUCHING = {
    "funnel": 0,
    "frictionless_box": 0,
    # Bricks beside each other, bricks on each other, bricks on the ground.
    "wall": 12 * (10 + 9) + 23 * 20 + 11,
    "tower": 50,
    "book_stack": 10,
    "arch": 21,
    "incline": 10,
    "rolling": 1,
    "sliding_ball": 1,
    "cradle": 3,
    "bounces": 0,
    "painleve": 1,
    "double_pendulum_impact": 1,
    "tippe_top": 1,
    "rattleback": 1,
    "ragdoll_on_stairs": 0,
    "twenty_ragdolls": 0,
    "hanging_bridge": 0,
}
GRAVITY = 9.81


def moving(scene: rb.Scene) -> list:
    return [body for body in scene.bodies if not body.static]


def friction_and_restitution(scene: rb.Scene, a: str, b: str) -> tuple[float, float]:
    """Of a pair: frictions add up, restitutions are multiplied."""
    one, two = scene[a].material, scene[b].material
    assert one.static_friction + two.static_friction >= one.dynamic_friction + two.dynamic_friction
    return one.dynamic_friction + two.dynamic_friction, one.restitution * two.restitution


@pytest.mark.parametrize("name", TOUCHING)
def test_bodies_touch_at_the_start_without_overlap(name):
    entry = MENU[name]
    sim = rb.Simulation(entry.build(), time_step=entry.time_step, integrator=entry.integrator, contacts="detect")
    assert len(sim.contacts.pairs) == TOUCHING[name]
    assert np.abs(sim.contacts.separation).max(initial=0.0) < 1e-9
    assert entry.integrator == "lie_midpoint"


@pytest.mark.parametrize("name", ["wall", "funnel", "incline", "cradle"])
def test_scenes_of_the_dissertation_are_stepped_as_there(name):
    expected = {"wall": (5.0, 0.005), "funnel": (8.0, 0.001), "incline": (11.0, 0.001), "cradle": (10.0, 0.001)}
    assert (MENU[name].duration, MENU[name].time_step) == expected[name]


def test_the_funnel_has_a_thousand_cubes_near_a_grid_of_ten_by_ten_by_ten():
    scene = funnel()
    cubes = moving(scene)
    assert len(cubes) == 1000
    assert {(cube.shape, cube.mass) for cube in cubes} == {(rb.Box(1.0, 1.0, 1.0), 1.0)}
    draw = np.random.default_rng(0)
    for i, cube in enumerate(cubes):
        axis = draw.normal(size=3)
        turn = Rotation.from_rotvec(draw.uniform(0, 0.1) * axis / np.linalg.norm(axis))
        place = 1.2 * np.array([i % 10 - 4.5, i // 10 % 10 - 4.5, i // 100]) + [0, 0, 15.0]
        np.testing.assert_allclose(cube.position, place + draw.uniform(-0.05, 0.05, 3), atol=1e-12)
        assert (turn.inv() * Rotation.from_quat(cube.orientation)).magnitude() < 1e-12
    assert {(body.material.friction, body.material.restitution) for body in scene.bodies} == {(0.05, 0.8)}
    assert len(moving(funnel(across=3, layers=2))) == 18


def test_the_slabs_of_the_funnel_leave_four_metres_and_end_eight_from_the_middle():
    slabs = [body for body in funnel(1, 1).bodies if body.static and body.name != "ground"]
    assert len(slabs) == 4
    for side, slab in enumerate(slabs):
        long = slab.shape.x
        corners = np.array([(-0.5 * long, 0, 0.5), (0.5 * long, 0, 0.5)])
        low, high = Rotation.from_quat(slab.orientation).apply(corners) + slab.position
        outward = np.array([(1, 0, 0), (0, 1, 0), (-1, 0, 0), (0, -1, 0)][side])
        np.testing.assert_allclose(low, 2.0 * outward + [0, 0, 8.0], atol=1e-12)
        np.testing.assert_allclose(high, 8.0 * outward + [0, 0, 14.0], atol=1e-12)


def test_the_wall_has_252_bricks_in_24_layers():
    scene = wall()
    bricks = [body for body in moving(scene) if body.name != "ball"]
    heights, counts = np.unique(np.round([brick.position[2] for brick in bricks], 9), return_counts=True)
    assert len(bricks) == 252
    np.testing.assert_allclose(heights, 0.15 + 0.3 * np.arange(24), atol=1e-9)
    assert counts.tolist() == [11, 10] * 12
    assert {(brick.shape, brick.mass) for brick in bricks} == {(rb.Box(1.0, 0.4, 0.3), 1.0)}
    found = {(m.static_friction, m.dynamic_friction, m.restitution) for m in (b.material for b in scene.bodies)}
    assert found == {(0.2, 0.1, 0.1)}


def test_the_ball_starts_level_with_its_hinge_and_touches_the_middle_of_the_wall_when_it_hangs():
    scene = wall()
    ball, hinge = scene["ball"], np.array(scene.joints["hinge_of_ball"].at)
    np.testing.assert_allclose(ball.position, hinge + np.array([0, -7.0, 0]), atol=1e-12)
    np.testing.assert_allclose(hinge - [0, 0, 7.0], [0, -0.2 - 1.0, 0.5 * 7.2], atol=1e-12)
    assert (ball.mass, ball.colliders) == (10.0, (rb.Placed(rb.Sphere(1.0)),))
    np.testing.assert_allclose(ball.inertia, 0.4 * 10.0 * np.eye(3), atol=1e-12)
    assert scene.joints["hinge_of_ball"].axis == (1.0, 0.0, 0.0)


def test_a_wall_may_be_low_and_without_a_ball():
    scene = wall(layers=3, ball=False)
    assert len(moving(scene)) == 32
    assert not scene.joints
    assert wall(layers=2)["ball"].position[2] - 7.0 > 1.0


def test_masses_of_the_tower_grow_upwards():
    cubes = moving(tower(10, growth=10.0))
    assert [cube.mass for cube in cubes] == pytest.approx([10.0**k for k in range(10)], rel=1e-14)
    assert [cube.position[2] for cube in cubes] == [k + 0.5 for k in range(10)]
    assert {cube.mass for cube in moving(tower())} == {1.0}


@pytest.mark.parametrize("part", [0.99, 1.01])
def test_every_upper_part_of_the_books_is_the_same_way_inside_or_outside_the_edge_below(part):
    scene = book_stack(12, part)
    x = np.array([book.position[0] for book in moving(scene)])
    edges = np.concatenate([[0.0], x[:-1] + 0.15])
    middles = np.array([x[k:].mean() for k in range(12)])
    np.testing.assert_allclose(edges - middles, (1 - part) * 0.15, atol=1e-14)
    assert x[-1] + 0.15 == pytest.approx(part * overhang_limit(12), rel=1e-14)
    assert overhang_limit(4) == pytest.approx(0.3 * 25 / 24, rel=1e-14)


def stones_of(scene: rb.Scene) -> list[trimesh.Trimesh]:
    """The stones in the world."""
    found = []
    for body in moving(scene):
        points = Rotation.from_quat(body.orientation).apply(np.array(body.shape.vertices)) + body.origin
        found.append(trimesh.Trimesh(points, body.shape.triangles, process=False))
    return found


def thrust_fits(stones: list[trimesh.Trimesh], friction: float) -> bool:
    """Whether forces that only push, within the cone of friction, can hold every stone: a linear programme.

    Unknown are, at each joint, the pressure on its inner and on its outer edge and the shear between them, from below.
    """
    count = len(stones)
    forces = [[] for _ in range(count)]
    for k in range(count + 1):
        stone = stones[min(k, count - 1)]
        angle = np.arctan2(stone.vertices[:, 2], stone.vertices[:, 0])
        edge = stone.vertices[np.abs(angle - math.pi * k / count) < 1e-9]
        radius = np.linalg.norm(edge[:, [0, 2]], axis=1)
        out = np.array([math.cos(math.pi * k / count), math.sin(math.pi * k / count)])
        along = np.array([-out[1], out[0]])
        for column, (r, push) in enumerate(((radius.min(), along), (radius.max(), along), (radius.mean(), out))):
            wrench = np.array([*push, r * (out[0] * push[1] - out[1] * push[0])])
            if k < count:
                forces[k].append((3 * k + column, wrench))
            if k > 0:
                forces[k - 1].append((3 * k + column, -wrench))
    balance, weight = np.zeros((3 * count, 3 * count + 3)), []
    for k, stone in enumerate(stones):
        for column, wrench in forces[k]:
            balance[3 * k : 3 * k + 3, column] += wrench
        weight += [0.0, stone.volume, stone.volume * stone.center_mass[0]]
    cone = np.kron(np.eye(count + 1), [[-friction, -friction, 1.0], [-friction, -friction, -1.0]])
    found = linprog(
        np.zeros(3 * count + 3), cone, np.zeros(2 * count + 2), balance, weight,
        [(0, None), (0, None), (None, None)] * (count + 1),
    )  # fmt: skip
    return found.status == 0


@pytest.mark.parametrize("stones", [10, 20])
def test_the_arch_stands_at_a_ratio_of_011_and_falls_at_010(stones):
    scene = arch(0.11, stones)
    friction, _ = friction_and_restitution(scene, "stone_1", "stone_2")
    assert friction == friction_and_restitution(scene, "ground", "stone_1")[0] == 1.0
    assert thrust_fits(stones_of(scene), friction)
    assert not thrust_fits(stones_of(arch(0.10, stones)), friction)


def test_twenty_stones_stand_from_the_ratio_that_is_stated():
    assert thrust_fits(stones_of(arch(0.1074)), 1.0)
    assert not thrust_fits(stones_of(arch(0.1073)), 1.0)


def test_stones_have_the_mass_of_their_solid_and_share_their_corners_with_the_next():
    scene = arch(0.3, 7)
    stones, bodies = stones_of(scene), moving(scene)
    for body, stone in zip(bodies, stones, strict=True):
        assert stone.is_watertight
        assert body.mass == pytest.approx(2400.0 * stone.volume, rel=1e-12)
        np.testing.assert_allclose(body.position, stone.center_mass, atol=1e-12)
    area = 0.5 * (5.75**2 - 4.25**2) * math.sin(math.pi / 7)
    assert [stone.volume for stone in stones] == pytest.approx([area] * 7, rel=1e-12)
    for one, two in itertools.pairwise(stones):
        apart = np.linalg.norm(one.vertices[:, None] - two.vertices[None], axis=2)
        assert (apart < 1e-14 * 5.75).sum() == 4
    for foot in (stones[0], stones[-1]):
        assert (np.abs(foot.vertices[:, 2]) < 1e-14).sum() == 4


def test_cubes_of_the_incline_lie_flat_on_a_plane_of_15_degrees_without_friction():
    scene = incline()
    down, up = np.array([math.cos(math.pi / 12), 0, -math.sin(math.pi / 12)]), np.array(scene["ground"].shape.normal)
    assert math.degrees(math.acos(up[2])) == pytest.approx(15.0)
    for k, cube in enumerate(moving(scene)):
        np.testing.assert_allclose(cube.position, 0.5 * up + [0, 3.0 * k, 0], atol=1e-15)
        np.testing.assert_allclose(Rotation.from_quat(cube.orientation).as_matrix()[:, 0], down, atol=1e-15)
    assert {body.material.static_friction for body in scene.bodies} == {0.0}


def test_braking_distances_are_those_of_a_body_that_slows_down():
    assert tuple(np.round(0.535 + 0.035 * np.arange(10), 12)) == INCLINE_FRICTIONS
    speed, angle = GRAVITY * math.sin(math.pi / 12) * BRAKING_STARTS, math.pi / 12
    found = braking_distance(speed)
    for friction, way in zip(INCLINE_FRICTIONS, found, strict=True):
        slowing = GRAVITY * (friction * math.cos(angle) - math.sin(angle))
        travelled = quad(lambda t, slowing=slowing: speed - slowing * t, 0, speed / slowing)[0]
        assert way == pytest.approx(travelled, rel=1e-12)
    assert braking_distance(1.0, 0.1, angle) == math.inf


def ball_accelerations(angle: float, friction: float) -> float:
    """Acceleration down the plane of a ball at rest: the force that makes it roll, or all that friction can give."""
    inertia, radius = 0.4 * 0.5**2, 0.5
    pull = GRAVITY * math.sin(angle)
    rolling_force = pull / (1 + radius**2 / inertia)
    return pull - min(rolling_force, friction * GRAVITY * math.cos(angle))


@pytest.mark.parametrize(("angle", "friction"), [(0.3, 0.5), (0.3, 0.08), (1.2, 0.5), (0.0, 0.0)])
def test_a_ball_on_a_slope_rolls_or_slides_by_its_friction(angle, friction):
    assert rolling_acceleration(angle, friction) == pytest.approx(ball_accelerations(angle, friction), abs=1e-12)
    scene = rolling(angle, friction)
    assert friction_and_restitution(scene, "ground", "ball") == (friction, 0.0)
    np.testing.assert_allclose(scene["ball"].position, [0.5 * math.sin(angle), 0, 0.5 * math.cos(angle)], atol=1e-15)


def test_a_ball_that_slides_rolls_at_five_sevenths_of_its_speed():
    scene = sliding_ball(3.0, 0.25)
    slower, faster = 0.25 * GRAVITY, 0.25 * GRAVITY * 0.5 / scene["ball"].inertia[0, 0]
    when = brentq(lambda t: 3.0 - slower * t - 0.5 * faster * t, 0.0, 9.0, xtol=1e-14)
    assert rolls_after(3.0, 0.25) == pytest.approx((when, 3.0 - slower * when), rel=1e-12)
    assert scene["ball"].velocity.tolist() == [3.0, 0.0, 0.0]
    assert friction_and_restitution(scene, "ground", "ball") == (0.25, 0.0)


@pytest.mark.parametrize(("lifted", "balls"), [(1, 5), (4, 5), (2, 3)])
def test_balls_of_the_cradle_hang_five_metres_below_hinges_in_a_row(lifted, balls):
    scene = cradle(lifted, balls)
    for k, ball in enumerate(moving(scene)):
        hinge = scene.joints[f"hinge_of_{ball.name}"]
        assert (hinge.at, hinge.axis) == ((2.0 * k - (balls - 1), 0.0, 5.0), (0.0, 1.0, 0.0))
        angle = math.pi / 4 if k < lifted else 0.0
        hung = [-5.0 * math.sin(angle), 0.0, -5.0 * math.cos(angle)]
        np.testing.assert_allclose(ball.position - hinge.at, hung, atol=1e-14)
        assert (ball.mass, ball.colliders) == (1.0, (rb.Placed(rb.Sphere(1.0)),))
        np.testing.assert_array_equal(ball.inertia, 0.4 * np.eye(3))
    assert friction_and_restitution(scene, "ball_1", "ball_2") == (0.0, 1.0)


def test_arms_of_the_cradle_touch_nothing():
    sim = rb.Simulation(cradle(3), contacts="detect")
    assert set(sim.contacts.pairs) == {("ball_1", "ball_2"), ("ball_2", "ball_3"), ("ball_4", "ball_5")}


def test_a_bouncing_ball_falls_from_its_height_and_bounces_as_long_as_is_said():
    scene = bounces(0.6, 2.0)
    assert scene["ball"].shape.support((0, 0, -1))[2] + scene["ball"].position[2] == pytest.approx(2.0, rel=1e-15)
    assert friction_and_restitution(scene, "ground", "ball") == (0.0, 0.6)
    fall = quad(lambda z: 1 / math.sqrt(2 * GRAVITY * z), 0, 2.0)[0]
    assert bounces_last(0.6, 2.0) == pytest.approx(fall * (1 + 2 * sum(0.6**k for k in range(1, 80))), rel=1e-9)
    assert bounces_last(1.0) == math.inf
