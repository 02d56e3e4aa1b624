"""A step that would end with penetration is shortened to the time of impact, world by world; others are left alone."""

import math

import numpy as np
import pytest
import warp as wp
from hypothesis import given, settings
from hypothesis import strategies as st

import rattleback as rb
from rattleback.collision.broadphase import AllPairs
from rattleback.collision.broadphase.pairs import Pairs
from rattleback.collision.ccd.time_of_impact import ContactTime
from rattleback.collision.geometry.colliders import Places
from rattleback.collision.geometry.compile import compile_colliders
from rattleback.collision.geometry.world_poses import place
from rattleback.collision.narrowphase.closest import Found
from rattleback.collision.narrowphase.gjk.gjk import GJK
from rattleback.collision.narrowphase.items import Items
from rattleback.collision.narrowphase.midphase import record_split
from rattleback.core import arrays
from rattleback.core import device as devices
from rattleback.core.errors import InputError
from rattleback.core.precision import real, vec3
from rattleback.core.stages import Program
from rattleback.model.compile import compile_scene
from rattleback.model.contacts import Contacts
from rattleback.model.state import Clock, Motion

G, RADIUS, DISTANCE = 9.81, 0.1, 1e-3


@wp.kernel(enable_backward=False)
def fall(start: Motion, clock: Clock, each: int, g: real, predicted: Motion) -> None:
    """Every body but the last of its world falls."""
    b = wp.tid()
    t = real(clock.time_step[b // each])
    predicted.orientation[b] = start.orientation[b]
    predicted.position[b] = start.position[b]
    if b % each < each - 1:
        drop = vec3(real(0.0), real(0.0), real(0.5) * g * t * t)
        predicted.position[b] = start.position[b] + t * start.velocity[b] - drop
        predicted.velocity[b] = start.velocity[b] - vec3(real(0.0), real(0.0), g * t)


@wp.kernel(enable_backward=False)
def look(items: Items, predicted: Motion, radius: real, distance: real, found: Found) -> None:
    """Separations of balls above the plane; those out of the contact distance are not known, as narrow phases do it."""
    i = wp.tid()
    separation = predicted.position[items.a[i]][2] - radius
    found.separation[i] = wp.where(separation > distance, real(1.5) * distance, separation)


@wp.kernel(enable_backward=False)
def count_once(count: wp.array[wp.int32], fault_at: int, stop: wp.array[wp.int32]) -> None:
    """A prediction was made; in one of them something goes wrong."""
    count[0] = count[0] + 1
    if count[0] == fault_at:
        stop[0] = -1


class Drop:
    """Balls above a plane, the same number in every world, which fall during one step.

    Args:
        heights: Clearance of the balls (worlds, balls) [m].
        step: Length of the step [s].
        method: How the contact time is found.
        velocity: Velocity of the balls (worlds, balls) along z [m/s].
        touching: (ball, world) of those that are in contact at the start.
    """

    def __init__(self, heights, step, method, velocity=0.0, touching=()):
        heights = np.atleast_2d(heights)
        self.worlds, balls = heights.shape
        scene = rb.Scene()
        for _ in range(balls):
            scene.add_body(rb.Sphere(RADIUS))
        scene.add_static(rb.Plane())
        where = devices.find("cpu")
        self.model, self.state = compile_scene(scene, self.worlds, where)
        self.each, self.balls, self.predicted = balls + 1, balls, arrays.clone(self.state.motion)
        self.place(heights, np.broadcast_to(velocity, heights.shape))
        self.state.clock.time_step.fill_(step)
        self.geometry = compile_colliders(self.model)
        motions = (self.state.motion, self.predicted)
        self.bound = method.bind(self.geometry, self.state.clock, *motions, DISTANCE)
        count = self.worlds * balls
        room = {"items": count, "pairs_and_one": count + 1, "one": 1, "contacts": 4, "rows": self.geometry.count + 1}
        self.items, self.found, self.contacts = (
            arrays.allocate(kind, room, where) for kind in (Items, Found, Contacts)
        )
        self.fill(touching)
        self.fault_at = 0
        self.stop, self.count = (wp.zeros(1, dtype=wp.int32, device="cpu") for _ in range(2))

    def place(self, heights, velocity):
        position = self.state.motion.position.numpy().reshape(self.worlds, self.each, 3)
        speed = self.state.motion.velocity.numpy().reshape(self.worlds, self.each, 3)
        position[:, :-1, 2] = heights + RADIUS
        position[:, :-1, 0] = np.arange(self.balls)
        speed[:, :-1, 2] = velocity
        self.state.motion.position.assign(position.reshape(-1, 3))
        self.state.motion.velocity.assign(speed.reshape(-1, 3))

    def fill(self, touching):
        ball, world = np.meshgrid(np.arange(self.balls), np.arange(self.worlds))
        self.items.a.assign((world * self.each + ball).ravel().astype(np.int32))
        self.items.b.assign((world * self.each + self.balls).ravel().astype(np.int32))
        self.items.part.fill_(-1)
        self.items.needed.fill_(self.worlds * self.balls)
        rows = sorted(world * self.each + ball for ball, world in touching)
        self.contacts.first.assign(np.searchsorted(rows, np.arange(self.geometry.count + 1)).astype(np.int32))
        others = np.zeros(4, dtype=np.int32)
        others[: len(rows)] = [row - row % self.each + self.balls for row in rows]
        self.contacts.collider_b.assign(others)

    def record(self, program):
        self.bound.begin(program)
        with program.loop(self.bound.search.going):
            program.launch(count_once, 1, self.count, self.fault_at, self.stop)
            program.launch(fall, self.model.count, self.state.motion, self.state.clock, self.each, G, self.predicted)
            program.launch(look, len(self.items.a), self.items, self.predicted, RADIUS, DISTANCE, self.found)
            self.bound.judge(program, self.contacts, self.items, self.found, self.stop)

    def run(self):
        """One step up to its contact time; returns its length in every world [s]."""
        program = Program(self.geometry.device, self.stop)
        with program.stage("contact time"):
            self.record(program)
        program.compile()
        program.run(1)
        return self.state.clock.time_step.numpy().copy()

    def clearance(self):
        return self.predicted.position.numpy().reshape(self.worlds, self.each, 3)[:, :-1, 2] - RADIUS

    def rounds(self):
        return self.bound.search.rounds.numpy().copy()


each_kind = pytest.mark.parametrize("kind", ["bisect", "interpolate"])


@each_kind
@given(st.floats(0.01, 10.0), st.floats(1.01, 20.0))
@settings(max_examples=30, deadline=None)
def test_ball_that_falls_from_rest_touches_after_the_time_of_free_fall(kind, height, longer):
    first = math.sqrt(2 * height / G)
    drop = Drop([[height]], longer * first, ContactTime(kind, tolerance=1e-6))
    [step] = drop.run()
    assert abs(drop.clearance()[0, 0]) <= 1e-6
    assert step == pytest.approx(first, abs=1.1e-6 / math.sqrt(2 * G * height))


def test_interpolation_needs_a_third_of_the_rounds_of_bisection():
    heights = 0.5 * G / np.geomspace(1.005, 18.0, 200)[:, None] ** 2
    rounds = {}
    for kind in ("bisect", "interpolate"):
        drop = Drop(heights, 1.0, ContactTime(kind, tolerance=1e-9))
        drop.run()
        assert np.abs(drop.clearance()).max() <= 1e-9
        rounds[kind] = drop.rounds()
    assert rounds["interpolate"].mean() < rounds["bisect"].mean() / 3
    assert rounds["interpolate"].max() <= 12


@each_kind
def test_worlds_have_contact_times_of_their_own(kind):
    heights = np.array([[0.3], [5.0], [0.05], [1.0]])
    drop = Drop(heights, 0.6, ContactTime(kind, tolerance=1e-8))
    steps = drop.run()
    expected = np.minimum(0.6, np.sqrt(2 * heights[:, 0] / G))
    np.testing.assert_allclose(steps, expected, rtol=1e-7)
    assert steps[1] == 0.6
    assert drop.rounds()[1] == 1


@each_kind
def test_first_of_several_contacts_ends_the_step(kind):
    drop = Drop([[1.0, 0.4, 0.7]], 2.0, ContactTime(kind, tolerance=1e-8), velocity=[[-5.0, 0.0, -1.0]])
    [step] = drop.run()
    times = [(math.sqrt(v * v + 2 * G * h) - v) / G for h, v in ((1.0, 5.0), (0.4, 0.0), (0.7, 1.0))]
    assert step == pytest.approx(min(times), abs=1e-8)


@each_kind
def test_step_without_a_new_overlap_keeps_every_bit_of_its_length(kind):
    drop = Drop([[1.0]], 0.1 + 0.2, ContactTime(kind))
    assert drop.run()[0] == 0.1 + 0.2
    assert drop.count.numpy()[0] == 1


@each_kind
def test_pair_in_contact_at_the_start_does_not_shorten_the_step(kind):
    drop = Drop([[0.0005, 1.0], [0.0005, 1.0]], 0.1, ContactTime(kind), touching=[(0, 1)])
    steps = drop.run()
    assert steps[1] == 0.1
    assert steps[0] < 0.02


def test_overlap_within_the_tolerance_is_let_be():
    height = 0.5 * G * 0.01
    drop = Drop([[height - 0.9e-4]], 0.1, ContactTime("bisect", tolerance=1e-4))
    assert drop.run()[0] == 0.1
    drop = Drop([[height - 1.1e-4]], 0.1, ContactTime("bisect", tolerance=1e-4))
    assert drop.run()[0] < 0.1


@each_kind
def test_nominal_step_is_restored_for_the_next(kind):
    drop = Drop([[0.3], [9.0]], 0.6, ContactTime(kind))
    program = Program(drop.geometry.device, drop.stop)
    with program.stage("contact time"):
        drop.record(program)
        drop.bound.restore(program)
    program.compile()
    program.run(1)
    assert drop.state.clock.time_step.numpy().tolist() == [0.6, 0.6]
    assert drop.bound.search.trial.numpy()[0] * 0.6 == pytest.approx(math.sqrt(0.6 / G), abs=1e-3)
    assert drop.bound.search.trial.numpy()[1] == 1.0


@each_kind
def test_search_that_runs_out_of_rounds_ends_free_where_it_can(kind):
    for most in (3, 4, 5):
        drop = Drop([[0.3]], 0.6, ContactTime(kind, tolerance=1e-12, max_rounds=most))
        [step] = drop.run()
        assert drop.rounds()[0] == most
        assert 0.0 < step < 0.6
        assert drop.clearance()[0, 0] == pytest.approx(0.3 - 0.5 * G * step**2, abs=1e-14)
        assert drop.clearance()[0, 0] > 0.0


def test_search_without_a_free_trial_takes_the_shortest_it_has_tried():
    drop = Drop([[0.002]], 1.0, ContactTime("bisect", tolerance=1e-6, max_rounds=3))
    assert drop.run()[0] == 0.25


@each_kind
def test_overlap_that_no_shorter_step_avoids_does_not_make_the_step_vanish(kind):
    drop = Drop([[-0.01], [0.3]], 0.6, ContactTime(kind))
    step = drop.run()
    assert step[0] == pytest.approx(0.6e-4, rel=1e-12)
    assert step[1] == pytest.approx(math.sqrt(0.6 / G), abs=1e-3)
    assert drop.rounds()[0] < 20


def test_fault_ends_the_search():
    drop = Drop([[0.3]], 0.6, ContactTime("bisect"))
    drop.fault_at = 2
    drop.run()
    assert drop.count.numpy()[0] == 2


def test_tolerance_is_a_tenth_of_the_contact_distance_unless_given():
    assert Drop([[1.0]], 0.1, ContactTime()).bound.tolerance == pytest.approx(0.1 * DISTANCE)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"kind": "guess"}, "The kind of ContactTime is 'guess'; it may be"),
        ({"tolerance": 0.0}, "The tolerance of ContactTime is 0.0; it must be greater than zero"),
        ({"max_rounds": 0}, "max_rounds of ContactTime is 0; it must be"),
    ],
)
def test_parameters_that_make_no_sense_are_refused(options, message):
    with pytest.raises(InputError, match=message):
        ContactTime(**options)


def test_tolerance_above_the_contact_distance_is_refused():
    with pytest.raises(InputError, match="choose 0 < tolerance ≤ contact_distance"):
        Drop([[1.0]], 0.1, ContactTime(tolerance=2 * DISTANCE))


@each_kind
def test_narrow_phase_and_search_together_stop_a_tilted_box_with_its_edge_on_the_floor(kind):
    scene = rb.Scene()
    turn = (math.sin(0.3), 0.0, 0.0, math.cos(0.3))
    scene.add_body(rb.Box(0.2, 0.4, 0.6), position=(0, 0, 1.0), orientation=turn)
    scene.add_static(rb.Box(4, 4, 2), position=(0, 0, -1))
    model, state = compile_scene(scene, None, devices.find("cpu"))
    predicted, geometry = arrays.clone(state.motion), compile_colliders(model)
    room = {"pairs": 4, "items": 4, "colliders": 2, "colliders_and_one": 3, "pairs_and_one": 5, "contacts": 4}
    made = (arrays.allocate(k, {**room, "one": 1, "rows": 3}, "cpu") for k in (Places, Pairs, Items, Found, Contacts))
    places, pairs, items, found, contacts = made
    state.clock.time_step.fill_(0.42)
    bound = ContactTime(kind, tolerance=1e-7).bind(geometry, state.clock, state.motion, predicted, DISTANCE)
    stop = wp.zeros(1, dtype=wp.int32, device="cpu")
    program = Program(geometry.device, stop)
    with program.stage("step"):
        bound.begin(program)
        with program.loop(bound.search.going):
            program.launch(fall, 2, state.motion, state.clock, 2, G, predicted)
            program.launch(place, 2, geometry.colliders, geometry.hulls, predicted, 0.5 * DISTANCE, places)
            AllPairs().bind(geometry, places, pairs, 2).record(program)
            record_split(program, geometry, places, pairs, items)
            GJK().record(program, geometry, items, places, DISTANCE, found)
            bound.judge(program, contacts, items, found, stop)
    program.compile()
    program.run(1)
    clearance = 1.0 - 0.5 * (0.4 * math.sin(0.6) + 0.6 * math.cos(0.6))
    assert state.clock.time_step.numpy()[0] == pytest.approx(math.sqrt(2 * clearance / G), abs=1e-7)
