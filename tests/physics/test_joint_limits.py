"""Joint limits against closed forms: rests, rebounds, heights e²ᵏ, momentum; many at once, in batches, after a save."""

import contextlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import rattleback as rb
from rattleback.solvers.joints import IMPULSES as METHODS

G = 9.81
TIGHT = {f"{kind}_tolerance": 1e-9 for kind in ("position", "orientation", "velocity")}
every_method = pytest.mark.parametrize("method", METHODS)


def pendulum(restitution: float, limit: float = 1.0, **settings: Any) -> rb.Simulation:
    """A bar of 1 m and 1 kg, let go level, that falls on a stop; m g l = 4.905 N m, inertia 0.335 kg m² or so."""
    scene = rb.Scene()
    scene.add_body(rb.Box(1.0, 0.1, 0.1), mass=1.0, position=(0.5, 0, 0), name="arm")
    hinge = rb.Revolute("world", "arm", axis=(0, 1, 0), limits=(-4.0, limit), restitution=restitution)
    scene.add_joint(hinge, name="hinge")
    return rb.Simulation(scene, **{"time_step": 0.005, **TIGHT, **settings})


def slider(restitution: float, height: float = 1.0, **settings: Any) -> rb.Simulation:
    """A body on a vertical rail above a stop at zero."""
    scene = rb.Scene()
    scene.add_body(mass=2.0, inertia=(0.1, 0.2, 0.3), position=(0, 0, height), name="weight")
    place = {"at": (0, 0, 0), "at_b": (0, 0, height), "axis": (0, 0, 1)}
    scene.add_joint(rb.Prismatic("world", "weight", **place, limits=(0, None), restitution=restitution), name="rail")
    return rb.Simulation(scene, **{"time_step": 0.005, **TIGHT, **settings})


def chain(links: int, bend: float, time_step: float = 0.005, **settings: Any) -> rb.Simulation:
    """Links of 0.2 m and 1 kg, stretched out level from the world, each hinge with the same limits both ways."""
    scene = rb.Scene()
    for k in range(links):
        scene.add_body(rb.Box(0.2, 0.05, 0.05), mass=1.0, position=(0.2 * k + 0.1, 0, 0), name=f"link {k}")
        before = f"link {k - 1}" if k else "world"
        hinge = rb.Revolute(before, f"link {k}", at=(0.2 * k, 0, 0), axis=(0, 1, 0), limits=(-bend, bend))
        scene.add_joint(hinge, name=f"hinge {k}")
    return rb.Simulation(scene, time_step=time_step, **settings)


@every_method
def test_a_pendulum_comes_to_rest_on_a_dead_stop_which_carries_its_weight(method: str) -> None:
    sim = pendulum(0.0, joints=method)
    for _ in range(300):
        sim.step()
        assert sim["hinge"].angle <= 1.0 + 1e-9
    assert sim["hinge"].angle == pytest.approx(1.0, abs=1e-9)
    assert sim["hinge"].velocity == pytest.approx(0.0, abs=1e-9)
    # Gravity turns the bar by + m g l cos θ about y; the stop turns it back.
    np.testing.assert_allclose(sim["hinge"].reaction_torque, [0, -G * 0.5 * np.cos(1.0), 0], atol=1e-6)
    np.testing.assert_allclose(sim["hinge"].reaction_force, [0, 0, G], atol=1e-6)
    assert sim.report.converged
    assert sim.report.redundant_rows == 0


@pytest.mark.parametrize("integrator", ["lie_midpoint", "rk4"])
def test_a_perfect_stop_keeps_the_energy_over_twenty_bounces_to_second_order(integrator: str) -> None:
    """The error is below 500 J/s² h², 0.05 J at 0.01 s of the 4.1 J the bar has when it hits."""
    for h in (0.01, 0.005):
        sim, bounces, before = pendulum(1.0, integrator=integrator, time_step=h), 0, 0.0
        start = sim.energy().total
        while bounces < 20:
            sim.step()
            now = sim["hinge"].velocity
            bounces += before > 0.5 and now < -0.5
            before = now
        assert abs(sim.energy().total - start) < 500.0 * h * h


@every_method
def test_a_pendulum_rebounds_to_the_square_of_the_restitution(method: str) -> None:
    """Energy above the stop after the hit: e² of that before; the bar falls by 0.5 m × sin 1."""
    sim = pendulum(0.5, joints=method, time_step=0.001)
    while sim["hinge"].velocity >= 0.0:
        sim.step()
    left = sim.energy().total + G * 0.5 * np.sin(1.0)
    assert left == pytest.approx(0.25 * G * 0.5 * np.sin(1.0), rel=1e-3)


@every_method
@pytest.mark.parametrize("restitution", [0.5, 0.8, 1.0])
def test_a_slider_bounces_to_heights_that_fall_by_the_square_of_the_restitution(
    method: str, restitution: float
) -> None:
    """Under constant forces the time of the hit is found exactly, and with it every height, at any step."""
    sim = slider(restitution, joints=method, time_step=0.007)
    heights, before = [], 0.0
    for _ in range(700):
        sim.step()
        height, now = sim["rail"].position, sim["rail"].velocity
        assert height >= -1e-9
        if before < 0.0 < now and len(heights) < 5:
            heights.append(height + now**2 / (2.0 * G))
        before = now
    np.testing.assert_allclose(heights, [restitution ** (2 * k) for k in range(1, len(heights) + 1)], rtol=1e-8)
    assert len(heights) >= 4
    if restitution == 0.5:
        assert sim["rail"].position == pytest.approx(0.0, abs=1e-9)
        np.testing.assert_allclose(sim["rail"].reaction_force, [0, 0, 2.0 * G], rtol=1e-9)


def test_a_ceiling_sends_a_slider_back_at_the_speed_it_came_with() -> None:
    scene = rb.Scene()
    scene.add_body(mass=1.0, inertia=(1, 1, 1), velocity=(0, 0, 5), name="weight")
    scene.add_joint(rb.Prismatic("world", "weight", axis=(0, 0, 1), limits=(None, 1.0), restitution=1.0), name="rail")
    sim = rb.Simulation(scene, time_step=0.007, **TIGHT)
    while sim["rail"].velocity > 0.0:
        sim.step()
    assert sim["rail"].position < 1.0
    assert sim.energy().total == pytest.approx(12.5, rel=1e-9)


@every_method
@pytest.mark.parametrize("restitution", [0.0, 1.0])
def test_two_bodies_in_space_keep_their_momentum_when_their_hinge_hits_its_stop(
    method: str, restitution: float
) -> None:
    scene = rb.Scene(gravity=(0, 0, 0))
    scene.add_body(rb.Box(1.0, 0.2, 0.1), mass=1.0, position=(-0.5, 0, 0), angular_velocity=(0, 0, -1), name="left")
    scene.add_body(rb.Box(1.0, 0.3, 0.2), mass=2.0, position=(0.5, 0, 0), angular_velocity=(0, 0, 2), name="right")
    hinge = rb.Revolute("left", "right", axis=(0, 0, 1), limits=(-0.4, 0.4), restitution=restitution)
    scene.add_joint(hinge, name="hinge")
    sim = rb.Simulation(scene, time_step=0.002, joints=method, max_iterations=2000, **TIGHT)
    sim.step()
    start, energy = sim.momentum(), sim.energy().total
    for _ in range(400):
        sim.step()
        assert abs(sim["hinge"].angle) <= 0.4 + 1e-9
    np.testing.assert_allclose(sim.momentum().linear, start.linear, atol=1e-12)
    np.testing.assert_allclose(sim.momentum().angular, start.angular, atol=1e-12)
    if restitution == 1.0:
        assert sim.energy().total == pytest.approx(energy, rel=1e-3)
    else:
        assert sim.energy().total < 0.9 * energy


def test_a_limit_beyond_full_turns_counts_them() -> None:
    scene = rb.Scene(gravity=(0, 0, 0))
    scene.add_body(mass=1.0, inertia=(0.1,) * 3, angular_velocity=(0, 0, -5.0), name="wheel")
    scene.add_joint(rb.Revolute("world", "wheel", axis=(0, 0, 1), limits=(-4.0 * np.pi, None)), name="hinge")
    sim = rb.Simulation(scene, time_step=0.01, integrator="rk4", **TIGHT)
    sim.run(2.5)
    assert sim["hinge"].angle == pytest.approx(-12.5, abs=1e-6)
    sim.run(0.5)
    assert sim["hinge"].angle == pytest.approx(-4.0 * np.pi, abs=1e-9)
    assert sim["hinge"].velocity == pytest.approx(0.0, abs=1e-9)


@every_method
def test_a_cylindrical_joint_stops_its_slide_and_its_turn_apart(method: str) -> None:
    """With an integrator that turns bodies exactly enough: what it does wrong a stop takes for a load."""
    scene = rb.Scene(gravity=(0, 0, 0))
    scene.add_body(mass=1.0, inertia=(0.1,) * 3, velocity=(0, 0, 1), angular_velocity=(0, 0, -2), name="shaft")
    joint = rb.Cylindrical("world", "shaft", limits=(-1, 0.25), turn_limits=(-1, 3), restitution=0.5)
    scene.add_joint(joint, name="joint")
    sim = rb.Simulation(scene, time_step=0.004, joints=method, integrator="rk4", **TIGHT)
    sim.run(0.4)
    assert sim["shaft"].velocity[2] == pytest.approx(-0.5, abs=1e-9)
    assert sim["shaft"].angular_velocity[2] == pytest.approx(-2.0, abs=1e-9)
    assert sim["joint"].position == pytest.approx(0.25 - 0.5 * 0.15, abs=1e-9)
    sim.run(0.4)
    assert sim["shaft"].angular_velocity[2] == pytest.approx(1.0, abs=1e-9)
    assert sim["joint"].angle == pytest.approx(-1.0 + 0.3, abs=1e-9)


def test_a_screw_stops_at_its_angle() -> None:
    scene = rb.Scene(gravity=(0, 0, 0))
    scene.add_body(mass=1.0, inertia=(0.1,) * 3, velocity=(0, 0, 0.5), angular_velocity=(0, 0, np.pi), name="nut")
    scene.add_joint(rb.Screw("world", "nut", pitch=1.0, limits=(None, 7.0)), name="screw")
    sim = rb.Simulation(scene, time_step=0.01, **TIGHT)
    sim.run(3.0)
    assert sim["screw"].angle == pytest.approx(7.0, abs=1e-8)
    assert sim["nut"].position[2] == pytest.approx(3.5 / np.pi, abs=1e-8)


@every_method
@pytest.mark.parametrize("framed", [False, True])
def test_a_universal_joint_keeps_both_angles_between_their_limits(method: str, framed: bool) -> None:
    """The angles about the two axes, from the orientation: q = turn about x by α, then about the turned y by β."""
    scene = rb.Scene()
    scene.add_body(rb.Box(0.1, 0.2, 1.0), mass=1.0, position=(0, 0, 0.5), angular_velocity=(2, -3, 0), name="stick")
    turned = {"axis": (1, 0, 0), "axis_b": (0, 1, 0)}
    if framed:
        first = Rotation.from_matrix(np.array([[0, 1, 0], [0, 0, 1], [1, 0, 0]]).T)
        second = Rotation.from_matrix(np.array([[1, 0, 0], [0, 0, -1], [0, 1, 0]]).T)
        turned = {"frame_a": ((0, 0, 0), first.as_quat()), "frame_b": ((0, 0, -0.5), second.as_quat())}
    scene.add_joint(rb.Universal("world", "stick", **turned, limits=(-0.3, 0.7), limits_b=(-0.5, 0.2)), name="joint")
    sim = rb.Simulation(scene, time_step=0.002, joints=method, max_iterations=2000, **TIGHT)
    reached = []
    for _ in range(1000):
        sim.step()
        alpha, beta, rest = Rotation.from_quat(sim["stick"].orientation).as_euler("XYZ")
        assert abs(rest) < 1e-8
        assert -0.3 - 1e-8 <= alpha <= 0.7 + 1e-8
        assert -0.5 - 1e-8 <= beta <= 0.2 + 1e-8
        reached.append((alpha, beta))
    assert max(alpha for alpha, _ in reached) == pytest.approx(0.7, abs=1e-6)
    assert min(beta for _, beta in reached) == pytest.approx(-0.5, abs=1e-6)
    assert sim.report.converged


def test_a_chain_of_twenty_links_lies_quietly_on_its_stops() -> None:
    """Each hinge bends by 0.05 rad; the stops carry the moment of all that hangs behind them."""
    sim = chain(20, 0.05)
    for _ in range(600):
        sim.step()
        assert sim.report.converged, sim.report.reason
    angles = [sim[f"hinge {k}"].angle for k in range(20)]
    np.testing.assert_allclose(angles, 0.05, atol=1e-6)
    assert sim.energy().kinetic < 1e-12
    centres = np.array([sim[f"link {k}"].position[0] for k in range(20)])
    for k in (0, 7, 19):
        anchor = centres[k] - 0.1 * np.cos(0.05 * (k + 1))
        moment = G * (centres[k:] - anchor).sum()
        assert sim[f"hinge {k}"].reaction_torque[1] == pytest.approx(-moment, rel=1e-5)
    assert sim.report.iterations <= 4


@pytest.mark.parametrize("time_step", [0.002, 0.01])
def test_no_limit_of_a_whipping_chain_is_ever_exceeded(time_step: float) -> None:
    sim = chain(8, 0.4, time_step)
    for _ in range(round(2.0 / time_step)):
        sim.step()
        assert max(abs(sim[f"hinge {k}"].angle) for k in range(8)) <= 0.4 + 1e-6
        assert sim.report.converged, sim.report.reason
    assert sim.energy().total < 1e-3


def test_both_methods_agree_on_a_chain_with_limits() -> None:
    found = []
    for method in METHODS:
        sim = chain(3, 0.3, joints=method, max_iterations=5000, **TIGHT)
        sim.run(0.5)
        assert sim.report.converged, sim.report.reason
        found.append([sim[f"hinge {k}"].angle for k in range(3)])
    np.testing.assert_allclose(found, [found[0]] * len(found), atol=1e-6)


def test_every_world_of_a_batch_does_what_it_would_do_alone() -> None:
    """Worlds hit their stops at different times; each has the bits of a single run."""
    sims = [pendulum(0.5, worlds=count) for count in (4, None)]
    sims[0].state.angular_velocity[:, 0, 1] = [0.0, 1.0, 2.0, -3.0]
    sims[0].run(1.5)
    for world, spin in enumerate((0.0, 1.0, 2.0, -3.0)):
        alone = pendulum(0.5)
        alone["arm"].angular_velocity = (0, spin, 0)
        alone.run(1.5)
        assert (sims[0].state.orientation[world] == alone.state.orientation).all()
        assert sims[0]["hinge"].angle[world] == alone["hinge"].angle


def test_a_saved_simulation_goes_on_bit_for_bit_between_bounces_and_at_rest(tmp_path: Path) -> None:
    for steps in (60, 130, 400):
        sim = pendulum(0.5)
        sim.step(steps)
        sim.save(tmp_path / "stops.state")
        other = rb.load(tmp_path / "stops.state")
        for running in (sim, other):
            running.step(100)
        assert sim.hash() == other.hash()


def pulled_beside_a_stop() -> rb.Simulation:
    """Three bars, a hinge with stops between two of them, and a distance that has to grow to 2.5 m."""
    rng, scene = np.random.default_rng(2), rb.Scene()
    for k in range(3):
        given = {"mass": rng.uniform(0.2, 2.0), "angular_velocity": 3.0 * rng.normal(size=3)}
        given |= {"velocity": rng.normal(size=3), "position": (0.5 * k, 0, 1)}
        scene.add_body(rb.Box(0.5, 0.1, 0.1), name=f"b{k}", **given)
    turn = {"axis": rng.normal(size=3), "limits": (-0.3, 0.3), "restitution": 0.5}
    scene.add_joint(rb.Revolute("b0", "b1", at=(0.25, 0, 1), **turn))
    scene.add_joint(rb.Distance("b1", "b2", at=(0.75, 0, 1), at_b=(1.0, 0.3, 1), length=2.5))
    return rb.Simulation(scene, time_step=0.005, warn=False)


def test_a_stop_beside_a_joint_that_is_pulled_together_goes_on_from_any_state(tmp_path: Path) -> None:
    """Stops that act for a part of a step only leave nothing that the state does not have."""
    sim, copied = pulled_beside_a_stop(), pulled_beside_a_stop()
    for _ in range(20):
        sim.save(tmp_path / "pulled.state")
        loaded, copied.state = rb.load(tmp_path / "pulled.state"), sim.state
        for running in (sim, loaded, copied):
            running.step()
        assert sim.hash() == loaded.hash() == copied.hash()


def test_a_step_that_diverged_leaves_nothing_at_the_stops() -> None:
    """Set back to where it was, a simulation does what one does that was never lost."""
    sim, lost = pulled_beside_a_stop(), pulled_beside_a_stop()
    for speed in (1e3, 1e40, 1e80, 1e120, 1e160):
        lost["b0"].angular_velocity = (0, speed, speed)
        with contextlib.suppress(rb.DivergenceError):
            lost.step(3)
        lost.state = sim.state
        for running in (sim, lost):
            running.step(4)
        assert lost.hash() == sim.hash()


def test_a_body_put_beyond_its_limit_is_brought_back_no_faster_than_a_joint_closes() -> None:
    sim = pendulum(0.0)
    turn = Rotation.from_euler("y", 1.5)
    sim["arm"].orientation, sim["arm"].position = turn.as_quat(), turn.apply([0.5, 0, 0])
    with pytest.warns(rb.NotConvergedWarning, match="'hinge'"):
        sim.step()
    assert sim["hinge"].angle == pytest.approx(1.5 - 10.0 * 0.005, abs=1e-6)
    with pytest.warns(rb.NotConvergedWarning):
        sim.step(9)
    sim.step(5)
    assert sim["hinge"].angle == pytest.approx(1.0, abs=1e-8)


def test_a_limit_that_cannot_be_kept_is_reported_by_its_joint() -> None:
    """A rail on which a velocity joint drives the body through the stop: nothing can hold both."""
    scene = rb.Scene(gravity=(0, 0, 0))
    scene.add_body(mass=1.0, inertia=(1, 1, 1), name="cart")
    scene.add_joint(rb.Prismatic("world", "cart", axis=(1, 0, 0), limits=(None, 0.1)), name="rail")
    scene.add_joint(rb.VelocityJoint("world", "cart", axis=(1, 0, 0), linear=(None, None, 1.0)), name="drive")
    sim = rb.Simulation(scene, time_step=0.01)
    sim.run(0.09)
    assert sim.report.converged
    with pytest.warns(rb.NotConvergedWarning, match="is off by"):
        sim.run(0.05)
    assert sim.report.worst_joint in ("rail", "drive")
