"""Experiments with impacts: their closed forms against other ways to find the same, and what they measure."""

import math

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.optimize import brentq
from scipy.special import ellipk

import rattleback as rb
from rattleback.experiments import MENU, Options, bounces, cradle
from rattleback.experiments import double_pendulum_impact as tips
from rattleback.experiments import ragdoll_on_stairs as ragdoll
from rattleback.experiments.routh import LAWS, pieces, strike


@pytest.mark.slow
@pytest.mark.parametrize("name", ["bounces", "cradle", "double_pendulum_impact"])
def test_the_long_version_of_an_impact_meets_its_demands(name):
    result = MENU[name].run(Options())
    assert [row for row in result.rows if row.passed is False] == []


def impacts(number: int, jams: bool = False) -> list[tuple[np.ndarray, np.ndarray, float, float]]:
    """Random points that strike: inverse mass, velocity, friction, restitution."""
    rng, found = np.random.default_rng(7), []
    while len(found) < number:
        factor, mu = rng.normal(size=(2, 2)), float(rng.uniform(0.0, 1.5))
        matrix, velocity = factor @ factor.T + 0.2 * np.eye(2), np.array([rng.normal(), -rng.uniform(0.1, 2.0)])
        if jams or mu * abs(matrix[0, 1]) < 0.9 * matrix[1, 1]:
            found.append((matrix, velocity, mu, float(rng.uniform(0.0, 1.0))))
    return found


def followed(matrix: np.ndarray, velocity: np.ndarray, mu: float, e: float, law: str) -> np.ndarray:
    """The impact in small pushes, each with the friction of the slip it finds."""
    u, push, work, p = velocity.copy(), 2e-4 / matrix[1, 1], 0.0, 0.0
    turned = None
    while True:
        held = -(u[0] / push + matrix[0, 1]) / matrix[0, 0]
        change = matrix @ np.array([np.clip(held, -mu, mu), 1.0]) * push
        gain = (u[1] + 0.5 * change[1]) * push
        if turned is None and u[1] + change[1] >= 0.0:
            turned = (p, work)
        if turned is not None:
            returned = work - turned[1]
            over = p >= (1.0 + e) * turned[0] if law == "routh" else returned >= -(e**2) * turned[1]
            if over:
                return u
        u, work, p = u + change, work + gain, p + push


@pytest.mark.parametrize("law", ["routh", "stronge"])
def test_closed_forms_of_an_impact_are_what_many_small_pushes_lead_to(law):
    for matrix, velocity, mu, e in impacts(8):
        np.testing.assert_allclose(
            strike(law, matrix, velocity, mu, e), followed(matrix, velocity, mu, e, law), atol=5e-3
        )


@pytest.mark.parametrize("law", LAWS)
def test_all_laws_agree_where_there_is_no_friction(law):
    for matrix, velocity, _, e in impacts(20):
        along = -(1.0 + e) * velocity[1] / matrix[1, 1]
        np.testing.assert_allclose(strike(law, matrix, velocity, 0.0, e), velocity + along * matrix[:, 1], atol=1e-12)


@pytest.mark.parametrize("law", LAWS)
def test_friction_of_an_impact_stays_within_its_cone(law):
    for matrix, velocity, mu, e in impacts(200):
        across, along = np.linalg.solve(matrix, strike(law, matrix, velocity, mu, e) - velocity)
        assert along >= 0.0
        assert abs(across) <= mu * along + 1e-12


def energy_change(matrix: np.ndarray, before: np.ndarray, after: np.ndarray) -> float:
    """Change of the kinetic energy by an impulse at the point: impulse times mean velocity."""
    return float(np.linalg.solve(matrix, after - before) @ (before + after)) / 2.0


def test_stronges_law_never_creates_energy_and_newtons_does():
    changes = {law: [] for law in LAWS}
    for matrix, velocity, mu, e in impacts(2000, jams=True):
        for law in LAWS:
            changes[law].append(energy_change(matrix, velocity, strike(law, matrix, velocity, mu, e)))
    assert max(changes["stronge"]) < 1e-12
    assert max(changes["newton"]) > 0.1


def test_a_tip_that_is_drawn_into_the_ground_first_comes_faster():
    matrix, velocity = tips.INVERSE_MASS, np.array([1.0, -0.5])
    first = pieces(matrix, velocity, 1.5 * tips.DRAWN_IN)[0]
    assert first.at(first.end)[1] < velocity[1]
    assert pieces(matrix, velocity, 0.9 * tips.DRAWN_IN)[0].rate[1] > 0.0


def test_the_masses_of_the_double_pendulum_are_the_sums_over_its_rods():
    def arm(rod: int, part: float) -> np.ndarray:
        whole = [np.array([-math.cos(a), -math.sin(a)]) for a in tips.ROD_ANGLES]
        return np.stack([whole[0] * (part if rod == 0 else 1.0), whole[1] * (0.0 if rod == 0 else part)], axis=1)

    def entry(part: float, rod: int, i: int, k: int) -> float:
        return float(arm(rod, part)[:, i] @ arm(rod, part)[:, k])

    for i, k in ((0, 0), (0, 1), (1, 1)):
        total = sum(quad(entry, 0.0, 1.0, args=(rod, i, k))[0] for rod in range(2))
        assert tips.MASSES[i, k] == pytest.approx(total, abs=1e-12)
    np.testing.assert_array_equal(tips.MASSES, tips.MASSES.T)
    np.testing.assert_allclose(tips.JACOBIAN, arm(1, 1.0), atol=1e-15)


def test_the_first_direction_is_that_of_the_puzzle():
    _, spins = tips.directions()
    assert spins[0, 1] == pytest.approx(2.0 * spins[0, 0])


def test_balls_of_a_cradle_meet_when_the_elliptic_integral_says():
    quarter = math.sqrt(25.4 / (9.81 * 5.0)) * ellipk(math.sin(math.pi / 8.0) ** 2)
    assert [cradle.impact_time(k) for k in (1, 2, 3)] == pytest.approx([quarter, 3.0 * quarter, 5.0 * quarter])


def test_the_ripple_is_that_of_a_pendulum_held_at_the_ends_of_its_steps():
    h, pull = 0.02, 9.81 * 5.0
    # Between two places the ball goes along the chord, and weighs on both ends of the step.
    angles, momentum, rows = math.pi / 4.0, 0.0, []

    def leaving(old: float, new: float) -> float:
        return (25.0 * math.sin(new - old) + 0.4 * (new - old)) / h + 0.5 * h * pull * math.sin(old)

    for _ in range(110):
        new = brentq(lambda to, old=angles, p=momentum: leaving(old, to) - p, angles - 0.5, angles + 0.5, xtol=1e-15)
        momentum = leaving(angles, new) - 0.5 * h * pull * (math.sin(angles) + math.sin(new))
        angles = new
        speed = momentum / 25.4
        rows.append((angles, speed, 12.7 * speed**2 - pull * (math.cos(angles) - math.cos(math.pi / 4.0))))
    seen = np.array(rows)
    swing = cradle.Swing(h * np.arange(1, 111), seen[:, :1], seen[:, 1:2], seen[:, 2])
    assert np.abs(swing.energies).max() > 2e-3
    np.testing.assert_allclose(swing.ripple(h), swing.energies, atol=2e-5)


def test_a_swing_counts_who_leaves_and_who_should_rest():
    speeds = np.array([[1.0, 0, 0, 0, 0], [0, 0, 0, 2e-5, 1.01], [0, 0, 0, 2e-5, 1.01]])
    seen = cradle.Swing(np.arange(3.0), np.zeros((3, 5)), speeds, np.zeros(3))
    assert seen.impacts.tolist() == [0]
    assert seen.leaving == [1]
    assert seen.unrest(1) == pytest.approx(2e-5)
    assert seen.passed_on(1) == pytest.approx(0.01)


def test_heights_of_bounces_are_compared_with_powers_of_the_restitution():
    exact = np.array([[0.0, 0.25], [1.0, 0.0625]])
    assert bounces.relative_error(0.5, exact) == pytest.approx(0.0, abs=1e-15)
    assert bounces.relative_error(0.5, exact * (1.0, 1.01)) == pytest.approx(0.01)


@pytest.mark.parametrize("contact_time", ["interpolate", "bisect"])
def test_steps_that_end_at_contact_give_the_height_and_the_time_of_a_bounce(contact_time):
    seen = bounces.bounce(0.7, 2, 0.005, contact_time)
    fall = math.sqrt(2.0 / 9.81)
    np.testing.assert_allclose(seen[:, 1], [0.49, 0.2401], rtol=1e-7)
    np.testing.assert_allclose(seen[:, 0], [fall, 2.4 * fall], rtol=1e-7)


def test_a_joint_that_is_pulled_apart_or_twisted_is_seen_at_its_bodies():
    sim = rb.Simulation(rb.scenes.ragdoll_on_stairs(), contacts="none")
    seams = ragdoll.Seams(sim)
    assert max(seams.measure()) < 1e-14
    place = sim["head"].position.copy()
    sim["head"].position = place + np.array([0.0, 0.0, 1e-3])
    assert seams.measure() == pytest.approx((1e-3, 0.0), abs=1e-14)
    sim["head"].position = place
    turn = rb.rotation.quaternion_from_axis_angle((1.0, 0.0, 0.0), 2e-3)
    sim["left_foot"].orientation = rb.rotation.multiply(turn, sim["left_foot"].orientation)
    assert seams.measure()[1] == pytest.approx(math.sin(2e-3))


def test_the_energy_that_comes_back_is_counted_from_the_lowest_moment_before():
    rows = np.zeros((4, 6))
    rows[:, 5] = (10.0, 4.0, 5.0, 4.5)
    assert ragdoll.Fall(None, rows).rise == pytest.approx(0.1)
