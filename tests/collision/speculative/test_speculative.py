"""Speculative contacts: listed in the step before bodies touch, not earlier, the same for a copied state."""

import itertools

import numpy as np
import pytest

import rattleback as rb
from rattleback import scenes
from rattleback.collision import broadphase, narrowphase
from rattleback.collision.broadphase.bounds import MENU as BOUNDS

STEP, G = 0.005, 9.81
# What falls, and how far its lowest point is below its centre.
FALLING = {
    "ball": (rb.Sphere(0.1), 0.1),
    "box": (rb.Box(0.3, 0.2, 0.4), 0.2),
    "capsule": (rb.Capsule(0.1, 0.3), 0.15),
    "cylinder": (rb.Cylinder(0.1, 0.3), 0.15),
    "hull": (rb.ConvexHull(np.array(list(itertools.product((-0.1, 0.1), (-0.2, 0.2), (-0.15, 0.15))))), 0.15),
}


def sheet(cells, width, height=lambda x, y: 0.0 * x):
    """A surface of triangles over a square, seen from above."""
    line = np.linspace(-0.5 * width, 0.5 * width, cells + 1)
    x, y = (axis.ravel() for axis in np.meshgrid(line, line))
    corner = np.arange((cells + 1) ** 2).reshape(cells + 1, cells + 1)
    a, b, c, d = (part.ravel() for part in (corner[:-1, :-1], corner[:-1, 1:], corner[1:, 1:], corner[1:, :-1]))
    faces = np.concatenate([np.column_stack([a, b, c]), np.column_stack([a, c, d])])
    return rb.Mesh(np.column_stack([x, y, height(x, y)]), faces)


# What it falls on, each with its top at z = 0 in the middle.
GROUNDS = {
    "plane": (rb.Plane(), 0.0),
    "box": (rb.Box(2.0, 2.0, 0.5), -0.25),
    "surface": (sheet(7, 3.0), 0.0),
}


def dropped(shape, low, ground, speed, gap, **settings):
    """A simulation of a body that falls on a ground, ``gap`` above it [m]."""
    thing, depth = GROUNDS[ground]
    scene = rb.Scene()
    scene.add_static(thing, position=(0.0, 0.0, depth), name="ground")
    scene.add_body(shape, position=(0.03, 0.02, low + gap), velocity=(0.0, 0.0, -speed), name="thing")
    return rb.Simulation(scene, **{"time_step": STEP, "contacts": "impulse", "contact_distance": 3e-4, **settings})


def first_listing(simulation, steps):
    """The number of steps after which there are contacts, and these."""
    for k in range(steps):
        if len(simulation.contacts):
            return k, simulation.contacts
        simulation.step()
    raise AssertionError("nothing was ever listed")


@pytest.mark.parametrize("speed", [7.3])
@pytest.mark.parametrize("ground", GROUNDS)
@pytest.mark.parametrize("thing", FALLING)
def test_a_falling_body_is_listed_in_the_step_before_it_would_overlap_and_not_earlier(thing, ground, speed):
    shape, low = FALLING[thing]
    t = STEP * np.arange(60)
    apart, velocity = 0.1 - speed * t - 0.5 * G * t**2, -speed - G * t
    wanted = int(np.flatnonzero(apart + STEP * velocity < 3e-4)[0])
    assert apart[wanted] > 3e-4
    assert apart[wanted + 1] < 3e-4
    k, found = first_listing(dropped(shape, low, ground, speed, 0.1), 60)
    assert k == wanted
    assert np.allclose(found.separation, apart[k], rtol=0.0, atol=1e-9)
    assert np.allclose(np.abs(found.normal), (0.0, 0.0, 1.0), rtol=0.0, atol=1e-9)


@pytest.mark.parametrize("pair", [("ball", "ball"), ("box", "box"), ("capsule", "box"), ("ball", "capsule")])
def test_bodies_that_fly_at_each_other_are_listed_by_what_both_of_them_do(pair):
    (upper, low), (lower, high) = (FALLING[name] for name in pair)
    scene = rb.Scene(gravity=(0, 0, 0))
    scene.add_body(upper, position=(0, 0, low + 0.1), velocity=(0.4, 0.0, -4.0), name="upper")
    scene.add_body(lower, position=(0, 0, -high), velocity=(0.4, 0.0, 3.0), name="lower")
    k, found = first_listing(rb.Simulation(scene, time_step=STEP, contacts="impulse", contact_distance=3e-4), 60)
    apart = 0.1 - 7.0 * STEP * np.arange(60)
    assert k == int(np.flatnonzero(apart - 7.0 * STEP < 3e-4)[0])
    assert np.allclose(found.separation, apart[k], rtol=0.0, atol=1e-9)


@pytest.mark.parametrize("ground", GROUNDS)
def test_a_flat_landing_has_the_four_corners_of_the_face_with_the_distance_they_are_away(ground):
    shape, low = FALLING["box"]
    _, found = first_listing(dropped(shape, low, ground, 5.0, 0.1), 60)
    assert len(found) == 4
    corners = {(round(x, 6), round(y, 6)) for x, y, _ in found.point}
    assert corners == set(itertools.product((-0.12, 0.18), (-0.08, 0.12)))
    assert np.ptp(found.separation) < 1e-9
    assert np.allclose(found.point[:, 2], 0.5 * found.separation, rtol=0.0, atol=1e-9)


@pytest.mark.parametrize("ground", GROUNDS)
@pytest.mark.parametrize("thing", ["ball", "box", "capsule"])
@pytest.mark.parametrize("velocity", [(9.0, 0.0, 0.0), (0.0, 0.0, 5.0), (0.0, 0.0, -0.5)])
def test_what_passes_by_or_parts_or_does_not_get_there_is_no_contact(thing, ground, velocity):
    shape, low = FALLING[thing]
    simulation = dropped(shape, low, ground, 0.0, 0.005)
    simulation["thing"].velocity = velocity
    assert len(simulation.contacts) == 0
    # Turning about the normal, or of a ball about any axis, brings nothing nearer.
    simulation["thing"].angular_velocity = (30.0, 0.0, 0.0) if thing == "ball" else (0.0, 0.0, 30.0)
    assert len(simulation.contacts) == 0


def test_contacts_without_a_solver_are_not_speculative():
    shape, low = FALLING["box"]
    simulation = dropped(shape, low, "plane", 5.0, 0.02, contacts="detect")
    assert len(simulation.contacts) == 0
    simulation.use(contacts="impulse")
    assert len(simulation.contacts) == 4
    simulation.use(contact_time="interpolate")
    assert len(simulation.contacts) == 0


@pytest.mark.parametrize("ground", ["plane", "box", "surface"])
def test_a_static_body_that_is_driven_is_seen_coming(ground):
    thing, depth = GROUNDS[ground]
    scene = rb.Scene(gravity=(0, 0, 0))
    scene.add_static(thing, position=(0, 0, depth), velocity=(0, 0, 4.0), name="lift")
    scene.add_body(rb.Box(0.2, 0.2, 0.2), position=(0, 0, 0.11), name="crate")
    simulation = rb.Simulation(scene, time_step=STEP, contacts="impulse")
    assert len(simulation.contacts) == 4
    assert np.allclose(simulation.contacts.separation, 0.01, rtol=0.0, atol=1e-9)
    simulation["lift"].velocity = (0, 0, 1.0)
    assert len(simulation.contacts) == 0


def two_crates(ahead, aside):
    """Two crates of 1 m on the ground, 4 mm apart along x, that slide along y and, one of them, along x."""
    scene = rb.Scene()
    scene.add_static(rb.Plane(), name="ground")
    scene.add_body(rb.Box(1, 1, 1), position=(0, 0, 0.5), velocity=(aside, ahead, 0), name="left")
    scene.add_body(rb.Box(1, 1, 1), position=(1.004, 0, 0.5), velocity=(0, ahead, 0), name="right")
    return rb.Simulation(scene, time_step=STEP, contacts="impulse")


def test_what_slides_on_the_ground_is_not_thrown_aside_by_it():
    simulation = two_crates(5.0, 0.0)
    simulation.step()
    assert len(simulation.contacts) == 8
    assert all("ground" in names for names in simulation.contacts.bodies)


def test_what_slides_on_the_ground_against_another_meets_it():
    simulation = two_crates(5.0, 1.0)
    assert sum("ground" not in names for names in simulation.contacts.bodies) == 4
    simulation.step()
    assert simulation.report.penetration < 1e-3


@pytest.mark.parametrize("restitution", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("start", [0.0, 0.02, 0.06])
def test_what_a_heavy_ball_throws_does_not_overlap_what_is_behind_it(start, restitution):
    # The ball goes 50 mm in a step. It throws the first crate by up to 90 mm, upon the second one, 50 mm behind it.
    scene, surface = rb.Scene(gravity=(0, 0, 0)), rb.Material(friction=0.0, restitution=restitution)
    scene.add_body(rb.Sphere(0.2), mass=10.0, position=(-0.2 - start, 0, 0), velocity=(10, 0, 0), material=surface)
    for k in range(2):
        scene.add_body(rb.Box(0.4, 0.4, 0.4), mass=1.0, position=(0.2 + 0.45 * k, 0, 0), material=surface)
    simulation = rb.Simulation(scene, time_step=STEP, contacts="impulse")
    simulation.step(20)
    assert simulation.report.penetration < 1e-3


def test_a_turning_box_shows_the_corners_that_come_down():
    scene = rb.Scene()
    scene.add_static(rb.Plane(), name="ground")
    tilt = 0.02
    half = 0.5 * np.array([np.cos(tilt) + np.sin(tilt)])
    turn = (0.0, np.sin(0.5 * tilt), 0.0, np.cos(0.5 * tilt))
    scene.add_body(rb.Box(1, 1, 1), position=(0, 0, half[0]), orientation=turn, name="cube")
    simulation = rb.Simulation(scene, time_step=STEP, contacts="impulse")
    assert len(simulation.contacts) == 2
    simulation["cube"].angular_velocity = (0.0, -5.0, 0.0)
    found = simulation.contacts
    assert np.allclose(sorted(found.separation), [0.0, 0.0, np.sin(tilt), np.sin(tilt)], rtol=0.0, atol=1e-9)


def crowd(seed=1, side=3):
    """Solids of five kinds that fall on a wavy surface and on each other."""
    draw = np.random.default_rng(seed)
    scene = rb.Scene()
    scene.add_static(sheet(10, 6.0, lambda x, y: 0.1 * np.sin(3 * x) * np.cos(2 * y)), name="ground")
    shapes = [shape for shape, _ in FALLING.values()]
    for k, (z, x, y) in enumerate(itertools.product(range(3), range(side), range(side))):
        turn = draw.normal(size=4)
        place = np.array([x, y, z + 1.5]) * 0.6 - (0.6, 0.6, 0.0) + draw.uniform(-0.03, 0.03, 3)
        motion = {"velocity": (0, 0, -3.0), "angular_velocity": draw.normal(0.0, 3.0, 3)}
        scene.add_body(shapes[k % 5], position=place, orientation=turn / np.linalg.norm(turn), name=f"{k}", **motion)
    return scene


@pytest.mark.filterwarnings("ignore::rattleback.core.errors.NotConvergedWarning")
@pytest.mark.parametrize("method", narrowphase.MENU)
def test_a_copied_state_has_the_same_contacts_and_goes_on_bit_for_bit(method):
    one, other = (
        rb.Simulation(crowd(side=2), time_step=STEP, contacts="impulse", narrowphase=method) for _ in range(2)
    )
    distance, ahead = one._step.contacts.finder.distance, 0
    for simulation in (one, other):
        start = simulation.state.copy()
        simulation.step(125)
        simulation.state = start
    for _ in range(25):
        one.step(4)
        other.state = one.state.copy()
        for name in ("point", "normal", "separation", "feature"):
            assert np.array_equal(getattr(one.contacts, name), getattr(other.contacts, name))
        ahead += int((one.contacts.separation > distance).sum())
        one.step()
        other.step()
        assert one.hash() == other.hash()
    assert ahead > 50


@pytest.mark.filterwarnings("ignore::rattleback.core.errors.NotConvergedWarning")
def test_all_broad_phases_and_bounding_volumes_find_speculative_contacts():
    choices = [{"broadphase": name} for name in broadphase.MENU] + [{"bounding_volume": name} for name in BOUNDS]
    hashes = set()
    for choice in choices:
        simulation = rb.Simulation(crowd(side=2), time_step=STEP, contacts="impulse", **choice)
        simulation.step(90)
        hashes.add(simulation.hash())
    assert len(hashes) == 1


def test_worlds_have_margins_of_their_own_steps():
    shape, low = FALLING["box"]
    steps = [0.001, 0.003, 0.005]
    batch = dropped(shape, low, "surface", 5.0, 0.012, worlds=3)
    batch.state.clock.time_step.assign(np.array(steps))
    found = batch.contacts
    for world, step in enumerate(steps):
        alone = dropped(shape, low, "surface", 5.0, 0.012, time_step=step).contacts
        rows = found.world == world
        assert rows.sum() == len(alone) == (4 if 5.0 * step > 0.012 else 0)
        assert np.array_equal(found.point[rows], alone.point)
        assert np.array_equal(found.separation[rows], alone.separation)


def test_buffers_grow_for_speculative_contacts_without_loss():
    def simulation():
        scene = rb.Scene()
        scene.add_static(sheet(60, 2.0), name="ground")
        scene.add_body(rb.Box(1, 1, 0.2), position=(0.01, 0.02, 0.5), velocity=(0, 0, -6.0), name="slab")
        return rb.Simulation(scene, time_step=STEP, contacts="impulse")

    one, other = simulation(), simulation()
    start = one.state.copy()
    one.step(30)
    assert one._step.contacts.finder.room["items"] > 24
    assert len(one.contacts) == 4
    other.step(30)
    one.state = start
    one.step(30)
    assert one.hash() == other.hash()


def deepest(scene, speed, steps):
    """How deep bodies that begin to fall with a speed overlap at most after any of many steps [m]."""
    simulation = rb.Simulation(scene, time_step=STEP, contacts="impulse")
    simulation.state.velocity[1:, 2] = -speed
    simulation.state.position[1:, 2] += 0.3
    worst = 0.0
    for _ in range(steps):
        simulation.step()
        if len(simulation.contacts):
            worst = max(worst, -float(simulation.contacts.separation.min()))
    return worst


@pytest.mark.filterwarnings("ignore::rattleback.core.errors.NotConvergedWarning")
def test_tilted_cubes_that_fall_on_the_ground_hardly_overlap_it():
    scene = scenes.cubes_1000(across=5, high=1, spacing=2.0, tilt=1.0)
    assert deepest(scene, 5.0, 300) < 1e-3


@pytest.mark.filterwarnings("ignore::rattleback.core.errors.NotConvergedWarning")
def test_a_pile_of_cubes_that_fall_on_each_other_hardly_overlaps():
    assert deepest(scenes.cubes_1000(across=5, high=4, spacing=1.5), 0.0, 400) < 1e-3


def test_bricks_that_are_struck_hardly_overlap_those_behind_them():
    # At the hit, at 1.57 s, the ball goes 25 mm in a step.
    simulation = rb.Simulation(scenes.wall(4), time_step=0.005, contacts="impulse", warn=False)
    simulation.run(2.1)
    assert simulation["ball"].position[1] > 0.0
    assert simulation.report.penetration < 1e-3


@pytest.mark.parametrize("shape", [rb.Cylinder(0.3, 0.4), rb.Capsule(0.3, 0.9), rb.Cone(0.3, 0.5)], ids=repr)
@pytest.mark.parametrize(("spin", "seen"), [((0, 0, 60.0), False), ((60.0, 0, 0), True)], ids=["about", "across"])
def test_what_spins_about_its_axis_comes_no_nearer(shape, spin, seen):
    # Five millimetres of air; across the axis, points go a tenth of a metre in the step.
    for ground in (rb.Plane(), rb.Box(4, 4, 1), rb.HeightField(np.zeros((9, 9)), 0.5)):
        scene = rb.Scene(gravity=(0, 0, 0))
        top = 0.5 if isinstance(ground, rb.Box) else 0.0
        scene.add_static(ground, position=(0, 0, -top), name="ground")
        turn = rb.rotation.quaternion_from_axis_angle((1, 0, 0), 0.5 * np.pi)
        body = scene.add_body(shape, orientation=turn, name="wheel")
        down = rb.rotation.rotate(rb.rotation.conjugate(turn), np.array([0.0, 0.0, -1.0]))
        height = 0.005 + float(shape.support(down) @ down)
        simulation = rb.Simulation(scene, time_step=0.01, contact_distance=1e-4, contacts="impulse")
        center = rb.rotation.rotate(turn, np.array(body.center_of_mass))
        simulation["wheel"].position = center + np.array([0.0, 0.0, height])
        simulation["wheel"].angular_velocity = rb.rotation.rotate(turn, np.array(spin))
        assert (len(simulation.contacts) > 0) == seen
