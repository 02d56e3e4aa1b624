"""How far motions get: closed forms of pendulums and orbits, ways against SciPy's, and the motions themselves."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse.csgraph import shortest_path
from scipy.spatial.transform import Rotation

import rattleback as rb
from rattleback.forces import Attraction
from rattleback.recording.extent import body_boxes
from rattleback.recording.linkage import ends_that_stand, holds_of, ways_from
from rattleback.recording.orbits import orbits
from rattleback.recording.reach import reach
from rattleback.recording.snapshot import moment_of, snapshot_of
from rattleback.scenes import MENU


def reach_of(sim):
    return reach(moment_of(sim), *body_boxes(snapshot_of(sim)))


def box_of(sim):
    """Lower and upper corner of all that is reached, and how deep."""
    found = reach_of(sim)
    return found.low.min(axis=0), found.high.max(axis=0), found.depth


@pytest.mark.parametrize("angle", [0.2, 0.8, math.pi / 2, 2.5])
def test_a_pendulum_reaches_what_its_energy_says(angle):
    length, radius = 2.0, 0.2
    low, high, depth = box_of(rb.Simulation(MENU["pendulum"].build(length=length, angle=angle)))
    assert depth == pytest.approx(-length - radius)
    assert low[2] == pytest.approx(-length - radius)
    aside = length * (math.sin(angle) if angle < math.pi / 2 else 1.0)
    for side in (-low[0], high[0]):
        assert aside + radius - 1e-9 <= side <= 1.12 * (aside + radius)
    assert high[2] == pytest.approx(max(0.0, -length * math.cos(angle) + radius), abs=2.5 * radius)
    # It swings in a plane.
    assert (low[1], high[1]) == pytest.approx((-radius, radius))


@pytest.mark.parametrize(("eccentricity", "ratio"), [(0.0, 0.25), (0.6, 0.25), (0.9, 0.5)])
def test_two_bodies_reach_the_ends_of_their_ellipses(eccentricity, ratio):
    radius = 0.06
    sim = rb.Simulation(MENU["kepler"].build(eccentricity=eccentricity, mass_ratio=ratio))
    found = reach_of(sim)
    low, high = found.low.min(axis=0), found.high.max(axis=0)
    far, near, minor = 1.0 + eccentricity, 1.0 - eccentricity, math.sqrt(1.0 - eccentricity**2)
    share = max(ratio, 1.0 - ratio)
    ball = radius * max(1.0, (ratio / (1.0 - ratio)) ** (1.0 / 3.0))
    assert low[0] == pytest.approx(-(1.0 - ratio) * far - ball, abs=0.03)
    assert high[0] == pytest.approx(max((1.0 - ratio) * near, ratio * far) + ball, abs=0.03)
    assert -low[1] == pytest.approx(share * minor + ball, abs=0.03)
    assert -low[1] >= share * minor
    assert high[2] == pytest.approx(ball, abs=1e-9)


def test_bodies_that_are_not_bound_are_followed_for_a_while_and_those_that_meet_are_not_flung_away():
    force, mass = Attraction(constant=1.0), np.array([1.0, 1.0])
    place = np.array([(-1.0, 0.0, 0.0), (1.0, 0.0, 0.0)])
    low, high = orbits(force, mass, place, np.array([(0.0, 5.0, 0.0), (0.0, -5.0, 0.0)]))
    assert 1.0 < high[0, 1] < 4.0
    low, high = orbits(force, mass, place, np.zeros((2, 3)))
    assert np.all(np.isfinite(low) & np.isfinite(high))
    assert np.abs([low, high]).max() < 6.0
    assert orbits(force, mass[:1], place[:1], place[:1])[0] is not None


def chain(count, random):
    """Beads in a row, held together at random points, the first on the world."""
    scene = rb.Scene()
    points = np.cumsum(random.uniform(-1.0, 1.0, (count + 1, 3)), axis=0)
    for k in range(count):
        middle = 0.5 * (points[k] + points[k + 1]) + random.normal(size=3) * 0.2
        scene.add_body(rb.Sphere(0.1), name=f"bead_{k}", position=middle)
        scene.add_joint(rb.Ball(scene.world if k == 0 else f"bead_{k - 1}", f"bead_{k}", at=points[k]))
    return scene, points


@given(st.integers(0, 1000), st.integers(1, 8))
def test_ways_along_a_mechanism_are_the_shortest_of_its_graph(seed, count):
    """With a joint that closes a loop; SciPy finds the shortest paths between all points."""
    random = np.random.default_rng(seed)
    scene, points = chain(count, random)
    scene.add_joint(rb.Ball("bead_0", f"bead_{count - 1}", at=points[-1])) if count > 2 else None
    holds = holds_of(scene)
    ways = ways_from(0, 0, holds, scene)
    spots = [(body.name, body.position) for body in scene.bodies]
    spots += [(side, joint.points()[0]) for joint in scene.joints.values() for side in (joint.a, joint.b)]
    apart = np.full((len(spots), len(spots)), np.inf)
    for i, (one, p) in enumerate(spots):
        for j, (other, q) in enumerate(spots):
            same_joint = i >= count and j >= count and (i - count) // 2 == (j - count) // 2
            if one == other != scene.world.name or same_joint:
                apart[i, j] = np.linalg.norm(np.subtract(p, q)) + 1e-6
    shortest = shortest_path(apart, directed=False)[count]
    for row in range(count):
        assert ways.to_centre[row] == pytest.approx(shortest[row], abs=1e-4)
        assert ways.to_end[row] <= shortest[row] + 0.1
        assert ways.to_end[row] > ways.to_centre[row]


@given(st.integers(0, 1000))
def test_no_way_of_bending_a_chain_takes_it_beyond_its_bound(seed):
    random = np.random.default_rng(seed)
    scene, points = chain(5, random)
    ways = ways_from(0, 0, holds_of(scene), scene)
    here = points[0]
    for row, body in enumerate(scene.bodies):
        turn = Rotation.random(random_state=seed + row)
        center, end = here + turn.apply(body.position - points[row]), here + turn.apply(points[row + 1] - points[row])
        assert np.linalg.norm(center - points[0]) <= ways.to_centre[row] + 1e-9
        # The farthest point is that of a ball with flat pieces.
        assert np.linalg.norm(center - points[0]) + 0.098 <= ways.to_end[row]
        here = end


def test_a_rod_lengthens_a_way_and_what_slides_holds_nothing_up():
    scene = rb.Scene()
    ball = scene.add_body(rb.Sphere(0.1), name="ball", position=(2.0, 0.0, 0.0))
    scene.add_joint(rb.Distance(scene.world, ball, at=(0, 0, 0), at_b=(2.0, 0.0, 0.0)))
    sled = scene.add_body(rb.Sphere(0.1), name="sled", position=(9.0, 0.0, 0.0))
    scene.add_joint(rb.Prismatic(scene.world, sled, at=(9.0, 0.0, 0.0), axis=(0, 0, 1)))
    holds = holds_of(scene)
    assert list(ends_that_stand(holds, scene)) == [(0, 0)]
    assert ways_from(0, 0, holds, scene).to_end == {0: pytest.approx(2.1)}
    assert box_of(rb.Simulation(scene))[2] == -math.inf


def test_a_rotating_crank_holds_the_slider_that_its_rod_leads():
    """From the bearing, the slider is as far as crank and rod are long."""
    scene = MENU["slider_crank"].build()
    ways = [ways_from(number, side, holds_of(scene), scene) for number, side in ends_that_stand(holds_of(scene), scene)]
    (only,) = ways
    assert set(only.to_centre) == {0, 1, 2}


@pytest.mark.parametrize("gravity", [(0.0, 0.0, 0.0), (0.0, 0.0, -9.81)])
def test_what_may_fall_has_no_depth_and_what_drifts_has_one(gravity):
    scene = rb.Scene(gravity=gravity)
    scene.add_body(rb.Sphere(0.5), position=(0, 0, 3), velocity=(2.0, 0.0, 0.0))
    low, high, depth = box_of(rb.Simulation(scene))
    assert depth == (-math.inf if any(gravity) else pytest.approx(2.5))
    assert high[0] == pytest.approx(0.5 + 2.0 * 0.5)
    assert low[0] == pytest.approx(-0.5)


def test_something_that_stands_catches_what_falls():
    scene = rb.Scene()
    scene.add_body(rb.Sphere(0.5), position=(0, 0, 3))
    scene.add_static(rb.Box(9, 9, 1), position=(0, 0, -1))
    assert box_of(rb.Simulation(scene))[2] == pytest.approx(-1.5)


def test_what_lies_on_a_slope_is_followed_down_it():
    slope = (math.sin(0.5), 0.0, math.cos(0.5))
    scene = rb.Scene()
    scene.add_static(rb.Plane(normal=slope))
    scene.add_body(rb.Sphere(0.1), position=(0.1 * slope[0], 0.0, 0.1 * slope[2]))
    low, high, _ = box_of(rb.Simulation(scene))
    way = 0.5 * 9.81 * math.sin(0.5)
    assert high[0] == pytest.approx(0.1 * slope[0] + way * math.cos(0.5) + 0.1)
    assert low[2] == pytest.approx(0.1 * slope[2] - way * math.sin(0.5) - 0.1)


# Scenes whose motion stays in one place, how long to watch them [s], and how far they may get beyond beside their size.
WATCHED = {
    "pendulum": (4.0, 0.01), "kepler": (13.0, 0.01), "orbits": (13.0, 0.01), "heavy_top": (1.0, 0.0),
    "chain": (4.0, 0.01), "tree": (2.0, 0.0), "loops": (4.0, 0.01), "slider_crank": (2.0, 0.0), "stewart": (1.0, 0.0),
    "mass_ladder": (1.0, 0.06), "four_bar": (1.0, 0.01), "six_bar": (1.0, 0.01), "bricard": (1.0, 0.01),
}  # fmt: skip


@pytest.mark.parametrize("name", [*WATCHED])
def test_the_motion_of_a_scene_stays_in_what_it_was_said_to_reach(name):
    entry, (duration, beyond) = MENU[name], WATCHED[name]
    sim = rb.Simulation(entry.build(), time_step=entry.time_step, integrator=entry.integrator)
    low, high, depth = box_of(sim)
    lows, highs = [], []
    for _ in range(40):
        sim.step(max(1, round(duration / 40 / entry.time_step)))
        moving = [row for row, body in enumerate(sim.scene.bodies) if not body.static]
        places = moment_of(sim).position[moving]
        lows.append(places.min(axis=0))
        highs.append(places.max(axis=0))
    room = beyond * np.linalg.norm(high - low) + 1e-6
    assert np.all(np.min(lows, axis=0) >= low - room)
    assert np.all(np.max(highs, axis=0) <= high + room)
    assert np.min(lows, axis=0)[2] >= depth - room
    # Not from so far that hardly anything is seen.
    assert np.linalg.norm(high - low) < 5.0 * np.linalg.norm(np.max(highs, axis=0) - np.min(lows, axis=0))
