"""Mechanisms with published digits, closed forms and conserved quantities, with the direct joint method."""

import numpy as np
import pytest

import rattleback as rb
from rattleback.scenes import bricard, chain, four_bar, heavy_top, loops, mass_ladder, pendulum, rope, six_bar, tree

PERIOD = 2.36784194757624
TOP_AT_A_FIFTH = (0.605550561, 0.598957682, -0.523983027)
FOUR_BAR_AT_TEN = {2: (0.3284581115, 0.0, 0.9445185382), 5: (0.2357891358, 0.0, 0.9718042413)}
TREE_STEP = 1.0 / 30.0


def swing(sim: rb.Simulation, steps: int, pieces: int = 50) -> dict[str, float]:
    """Run and keep the worst of every piece: change of energy, errors of the joints, speed."""
    begun = sim.energy().total
    worst = {"energy": 0.0, "position": 0.0, "orientation": 0.0, "velocity": 0.0, "speed": 0.0}
    for _ in range(pieces):
        sim.step(steps // pieces)
        report = sim.report
        assert report.converged, f"at t = {sim.time:g} s: {report.reason}"
        seen = (
            abs(sim.energy().total - begun),
            report.position_error,
            report.orientation_error,
            report.velocity_error,
            float(np.linalg.norm(sim.state.velocity, axis=1).max()),
        )
        worst = {name: max(was, now) for (name, was), now in zip(worst.items(), seen, strict=True)}
    return worst


def passages(sim: rb.Simulation, steps: int) -> np.ndarray:
    """Times at which the ball passes below the pivot from the right, by a cubic through four samples."""
    samples = []
    for _ in range(steps):
        samples.append((sim.time, sim["ball"].position[0]))
        sim.step()
    time, x = np.array(samples).T
    found = []
    for i in np.flatnonzero((x[:-1] > 0.0) & (x[1:] <= 0.0)):
        near = slice(i - 1, i + 3)
        roots = np.roots(np.polyfit(time[near] - time[i], x[near], 3))
        real = roots[np.abs(roots.imag) < 1e-9].real
        found.append(time[i] + real[np.argmin(np.abs(real - 0.5 * (time[i + 1] - time[i])))])
    return np.array(found)


@pytest.mark.parametrize("joints", ["direct", "reduced"])
def test_a_point_mass_on_a_rod_has_the_period_of_the_elliptic_integral(joints):
    errors = []
    for step in (0.002, 0.001):
        sim = rb.Simulation(pendulum(), time_step=step, position_tolerance=1e-12, joints=joints)
        times = passages(sim, round(10.0 / step))
        np.testing.assert_allclose(np.diff(times), PERIOD, rtol=0, atol=1e-5 * (step / 0.001) ** 2)
        errors.append(np.abs(np.diff(times) - PERIOD).max())
    assert errors[0] / errors[1] == pytest.approx(4.0, rel=0.2)


# A method with an exact free rotation follows the fast spin at longer steps than the midpoint rule.
@pytest.mark.parametrize(("joints", "step"), [("direct", 1e-4), ("reduced", 1e-5)])
def test_the_heavy_top_is_at_the_published_place_after_a_fifth_of_a_second(joints, step):
    sim = rb.Simulation(heavy_top(), time_step=step, joints=joints, velocity_tolerance=1e-9)
    sim.run(0.2)
    assert sim.report.converged
    np.testing.assert_allclose(sim["top"].position, TOP_AT_A_FIFTH, rtol=0, atol=1e-6)


@pytest.mark.parametrize("count", [2, 5])
def test_the_four_bars_pass_their_singular_position_to_the_published_place(count):
    sim = rb.Simulation(four_bar(count), time_step=5e-4)
    sim.run(10.0)
    assert sim.report.converged
    # The crank turns about the origin, so its tip is twice as far as its centre.
    np.testing.assert_allclose(2.0 * sim["crank_0"].position, FOUR_BAR_AT_TEN[count], rtol=0, atol=1e-5)


@pytest.mark.parametrize("step", [0.01, 0.007, 0.005, 0.004, 0.003, 0.0025, 0.002])
@pytest.mark.parametrize("count", [2, 5])
def test_the_four_bars_pass_their_singular_position_at_coarse_steps_too(count, step):
    # Wherever a step happens to end near the position in which all bars lie in a line; the error is of second order.
    sim = rb.Simulation(four_bar(count), time_step=step)
    sim.run(10.0)
    assert sim.report.converged
    np.testing.assert_allclose(2.0 * sim["crank_0"].position, FOUR_BAR_AT_TEN[count], rtol=0, atol=20.0 * step**2)


@pytest.mark.parametrize("count", [2, 5])
def test_each_loop_of_the_four_bars_has_three_redundant_rows(count):
    sim = rb.Simulation(four_bar(count), time_step=0.001)
    sim.step()
    assert sim.report.redundant_rows == 3 * count


@pytest.mark.parametrize("joints", ["direct", "reduced"])
def test_bricards_mechanism_swings_for_ten_seconds_and_keeps_its_energy(joints):
    sim = rb.Simulation(bricard(), time_step=0.001, joints=joints)
    places = []
    begun = sim.energy().total
    for _ in range(100):
        sim.step(100)
        report = sim.report
        assert report.converged, f"at t = {sim.time:g} s: {report.reason}"
        assert report.redundant_rows == 1
        assert abs(sim.energy().total - begun) < 1e-5
        places.append(sim["bar_3"].position[1])
    assert np.ptp(places) > 0.1
    assert np.count_nonzero(np.diff(np.sign(np.diff(places)))) >= 4


def test_the_six_bar_moves_with_its_one_freedom():
    sim = rb.Simulation(six_bar(), time_step=0.001)
    worst = swing(sim, 10000, pieces=100)
    assert sim.report.redundant_rows == 1
    assert worst["speed"] > 1.0
    assert worst["energy"] < 1e-3


def test_three_loops_have_nine_redundant_rows_and_an_energy_error_of_second_order():
    changes = []
    for step in (0.004, 0.002):
        sim = rb.Simulation(loops(), time_step=step)
        changes.append(swing(sim, round(2.0 / step))["energy"])
        assert sim.report.redundant_rows == 9
    assert changes[0] / changes[1] == pytest.approx(4.0, rel=0.05)


def check_tree(depth: int, hanging: bool) -> None:
    sim = rb.Simulation(tree(depth, hanging), time_step=TREE_STEP)
    worst = swing(sim, 500)
    assert worst["position"] <= 1e-6
    assert worst["speed"] < 20.0


@pytest.mark.parametrize(("depth", "step"), [(5, TREE_STEP / 4), (6, TREE_STEP), (8, TREE_STEP)])
def test_the_twist_of_a_mobile_is_all_the_angular_momentum_it_has(depth, step):
    """Ten newton metres for a thirtieth of a second; neither gravity nor the top joint turns about the vertical.

    At the longest step the smallest bars of five levels are stiff in the first step, which keeps less.
    """
    sim = rb.Simulation(tree(depth), time_step=step)
    sim.step(200)
    assert sim.momentum().angular[2] == pytest.approx(10.0 / 30.0, abs=1e-9)


@pytest.mark.parametrize("depth", [5, 6, 7, 8])
def test_the_mobile_is_stable_and_every_joint_holds(depth):
    check_tree(depth, hanging=False)


@pytest.mark.parametrize("depth", [5, 8])
def test_the_hanging_tree_is_stable_at_a_step_that_resolves_its_smallest_bars(depth):
    sim = rb.Simulation(tree(depth, hanging=True), time_step=1.0 / 240.0)
    worst = swing(sim, 4000)
    assert worst["position"] <= 1e-6
    assert worst["speed"] < 20.0


def test_a_chain_of_fifty_bars_holds():
    worst = swing(rb.Simulation(chain(50), time_step=0.01), 200)
    assert worst["position"] <= 1e-6
    assert worst["velocity"] <= 1e-6


def test_a_chain_of_fifty_bars_keeps_the_energy_it_has_after_its_violent_start():
    # The first step meets tensions of thousands of newtons, ten times the weight; its error goes with h to the fourth.
    sim = rb.Simulation(chain(50), time_step=0.01)
    sim.step()
    assert swing(sim, 200)["energy"] < 0.5


def test_a_rope_of_a_hundred_links_holds_while_it_swings():
    sim = rb.Simulation(rope(100), time_step=0.005)
    worst = swing(sim, 1000)
    assert worst["position"] <= 1e-6
    # It falls from 0.5 rad: 0.6 J of the 86 J below the pivot turn into motion.
    assert worst["energy"] < 1e-3


def longest_stable_step(ratio: float) -> float:
    """Where ω h = 2 for the fastest mode of a taut chain: neighbours swing in opposite directions [s].

    A link of length l, mass m and moment J about its centre has K = 4 T / l, M = 4 J / l² in that mode.
    """
    link = rb.Capsule(0.01, 0.1).mass_properties(1.0)
    moment = float(link.inertia[0, 0] / link.mass)
    tension = 9.81 * (ratio + 20.0) * (3.0 - 2.0 * np.cos(0.5))
    return 2.0 / np.sqrt(tension * 0.1 / moment)


@pytest.mark.parametrize("tolerance", [1e-6, 1e-10])
@pytest.mark.parametrize("ratio", [1.0, 10.0, 100.0, 1000.0, 1e4, 1e5, 1e6])
def test_a_chain_carries_any_load_at_a_step_that_resolves_its_links(ratio, tolerance):
    step = min(0.005, 0.5 * longest_stable_step(ratio))
    sim = rb.Simulation(mass_ladder(ratio), time_step=step, position_tolerance=tolerance)
    worst = swing(sim, 2000)
    assert worst["position"] <= tolerance
    drop = 9.81 * (20.0 + ratio) * 2.2 * (1.0 - np.cos(0.5))
    assert worst["energy"] < 1e-3 * drop


@pytest.mark.parametrize("ratio", [1.0, 10.0, 100.0, 1000.0])
def test_a_chain_carries_a_load_a_thousand_times_as_heavy_at_a_millisecond(ratio):
    sim = rb.Simulation(mass_ladder(ratio), time_step=0.001)
    assert swing(sim, 5000)["position"] <= 1e-6
