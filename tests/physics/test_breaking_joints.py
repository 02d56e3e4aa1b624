"""Joints that break: when, by what, and what comes after, against closed forms."""

import math
from typing import Any

import numpy as np
import pytest
from scipy.integrate import quad, solve_ivp

import rattleback as rb
from rattleback.collision import finder
from rattleback.solvers.joints import Direct

G = 9.81
METHODS = {"direct": "direct", "iterative": "iterative", "cut": Direct(loops="cut")}
every_method = pytest.mark.parametrize("method", METHODS)


def pendulum(limit: float | None = None, mass: float = 2.0, length: float = 0.8) -> rb.Scene:
    """A mass on a rod without mass, held level."""
    scene = rb.Scene()
    scene.add_body(rb.Sphere(0.1), mass=mass, position=(length, 0, 0), name="bob")
    scene.add_joint(rb.Distance("world", "bob", at_b=(length, 0, 0), breaking_force=limit), name="rod")
    return scene


def hung(joint: Any, mass: float = 3.0) -> rb.Scene:
    scene = rb.Scene()
    scene.add_body(rb.Box(1.0, 0.2, 0.2), mass=mass, position=(0.5, 0, 0), name="beam")
    scene.add_joint(joint, name="wall")
    return scene


@every_method
def test_a_rod_breaks_when_its_tension_reaches_the_limit_and_the_bob_flies_a_parabola(method: str, device: str) -> None:
    """Released level, a pendulum at φ below has the tension 3 m g sin φ and the speed √(2 g l sin φ)."""
    mass, length, limit, h = 2.0, 0.8, 40.0, 0.001
    sim = rb.Simulation(pendulum(limit), time_step=h, joints=METHODS[method], position_tolerance=1e-9, device=device)
    seen: list[rb.BreakEvent] = []
    sim.observe(rb.BreakEvents(seen.append))
    sim.run(0.6)
    deep = math.asin(limit / (3.0 * mass * G))
    # φ = s² takes the root out of the integrand of dt = dφ / √(2 g sin φ / l).
    when, _ = quad(lambda s: 2.0 * s / math.sqrt(2.0 * G / length * math.sin(s * s)), 1e-12, math.sqrt(deep))
    (event,) = seen
    # The mean tension of a step is that of its middle; the first step above the limit ends half a step to one and
    # a half after the moment it is reached.
    assert 0.45 * h <= event.time - when <= 1.55 * h
    assert limit < event.force <= limit * (1.0 + 3.0 * h)
    assert event.torque == pytest.approx(0.0, abs=1e-9)
    start = np.array([0.0, 0.0])
    phi, rate = solve_ivp(
        lambda t, y: (y[1], G / length * math.cos(y[0])), (0, event.time), start, rtol=1e-11, atol=1e-12
    ).y[:, -1]
    place = length * np.array([math.cos(phi), 0, -math.sin(phi)])
    speed = length * rate * np.array([-math.sin(phi), 0, -math.cos(phi)])
    left = sim.time - event.time
    np.testing.assert_allclose(sim["bob"].position, place + left * speed - [0, 0, 0.5 * G * left**2], atol=2e-6)
    np.testing.assert_allclose(sim["bob"].velocity, speed - [0, 0, G * left], atol=5e-6)
    assert sim["rod"].broken
    np.testing.assert_array_equal(sim["rod"].reaction_force, 0.0)
    assert sim.report.converged


@every_method
def test_a_hanging_load_that_grows_breaks_its_hook_in_the_step_it_is_too_large(method: str) -> None:
    scene = rb.Scene()
    scene.add_body(rb.Sphere(0.1), mass=1.0, position=(0, 0, -1), name="load")
    scene.add_joint(rb.Ball("world", "load", at=(0, 0, 0), breaking_force=20.0), name="hook")
    sim = rb.Simulation(scene, joints=METHODS[method])
    for pull in np.arange(0.0, 12.0, 0.5):
        sim["load"].applied_force = (0, 0, -pull)
        sim.step()
        assert sim["hook"].broken == (G + pull > 20.0)
        if sim["hook"].broken:
            break
    assert sim.state.breaks.force.numpy()[0] == pytest.approx(G + pull, rel=1e-6)
    assert sim["load"].velocity[2] == pytest.approx(0.0, abs=1e-6)
    sim.step()
    assert sim["load"].velocity[2] == pytest.approx(-0.01 * (G + pull), rel=1e-6)


@every_method
@pytest.mark.parametrize("strength", [0.999, 1.001])
def test_a_welded_beam_breaks_by_the_moment_of_its_weight(method: str, strength: float) -> None:
    """m g l/2 about the weld; the weight itself does not break it."""
    moment = 3.0 * G * 0.5
    sim = rb.Simulation(hung(rb.Fixed("world", "beam", breaking_torque=strength * moment)), joints=METHODS[method])
    sim.step(50)
    assert sim["wall"].broken == (strength < 1.0)
    if strength < 1.0:
        assert sim.state.breaks.torque.numpy()[0] == pytest.approx(moment, rel=1e-6)
        assert sim.state.breaks.time.numpy()[0] == pytest.approx(0.01)
        assert sim["beam"].velocity[2] == pytest.approx(-G * 0.49, rel=1e-6)


def test_a_weld_without_a_torque_limit_breaks_by_force_alone() -> None:
    strong, weak = (rb.Simulation(hung(rb.Fixed("world", "beam", breaking_force=f))) for f in (29.5, 29.4))
    for sim in (strong, weak):
        sim.step(10)
    assert (strong["wall"].broken, weak["wall"].broken) == (False, True)


@every_method
def test_what_a_stop_carries_counts(method: str) -> None:
    """A weight slides down onto the end of its rail, which the hit, spread over one step, tears off."""
    scene = rb.Scene()
    scene.add_body(rb.Box(0.1, 0.1, 0.1), mass=1.0, position=(0, 0, 0.2), name="weight")
    rail = rb.Prismatic("world", "weight", axis=(0, 0, 1), at_b=(0, 0, 0.2), limits=(0.0, None), breaking_force=15.0)
    scene.add_joint(rail, name="rail")
    sim = rb.Simulation(scene, joints=METHODS[method])
    sim.run(1.0)
    fall = math.sqrt(2.0 * 0.2 / G)
    assert sim["rail"].broken
    assert fall <= sim.state.breaks.time.numpy()[0] <= fall + 0.011
    assert sim["rail"].position < -1.0


def test_worlds_break_by_limits_and_loads_of_their_own(device: str) -> None:
    limits, pulls = [30.0, 40.0, None, 40.0], [0.0, 0.0, 0.0, 20.0]
    batch = rb.Simulation(pendulum(1.0), time_step=0.002, worlds=4, device=device)
    batch["rod"].breaking_force = limits
    batch["bob"].applied_force = np.array(pulls)[:, None] * (0, 0, -1)
    np.testing.assert_allclose(batch["rod"].breaking_force, [30.0, 40.0, np.inf, 40.0])
    events = rb.BreakEvents(every=10)
    batch.observe(events)
    batch.run(0.5)
    np.testing.assert_array_equal(batch["rod"].broken, [True, True, False, True])
    found = {event.world: event for event in events.take()}
    assert set(found) == {0, 1, 3}
    for world, (limit, pull) in enumerate(zip(limits, pulls, strict=True)):
        alone = rb.Simulation(pendulum(limit), time_step=0.002, device=device)
        alone["bob"].applied_force = (0, 0, -pull)
        alone.run(0.5)
        np.testing.assert_array_equal(alone["bob"].position, batch["bob"].position[world])
        np.testing.assert_array_equal(alone["bob"].velocity, batch["bob"].velocity[world])
        if limit is not None:
            assert alone.state.breaks.time.numpy()[0] == found[world].time


@every_method
def test_a_chain_with_a_broken_link_moves_as_two_chains(method: str) -> None:
    """Beside a scene that never had the joint."""
    scene, other = (rb.scenes.chain(6, speed=1.0) for _ in range(2))
    name = list(scene.joints)[3]
    del other.joints[name]
    settings = {"time_step": 0.002, "joints": METHODS[method], "position_tolerance": 1e-9, "max_iterations": 500}
    sims = [rb.Simulation(made, **settings) for made in (scene, other)]
    sims[0][name].broken = True
    for sim in sims:
        sim.run(0.2)
        assert sim.report.converged, sim.report.reason
    np.testing.assert_allclose(sims[0].state.position, sims[1].state.position, atol=1e-7)
    np.testing.assert_allclose(sims[0].state.velocity, sims[1].state.velocity, atol=1e-5)


@every_method
def test_a_loop_that_breaks_moves_as_the_tree_that_is_left(method: str) -> None:
    scene, other = (rb.scenes.loops() for _ in range(2))
    name = list(scene.joints)[-1]
    del other.joints[name]
    settings = {"time_step": 0.001, "joints": METHODS[method], "position_tolerance": 1e-9, "max_iterations": 3000}
    sims = [rb.Simulation(made, **settings) for made in (scene, other)]
    sims[0][name].broken = True
    for sim in sims:
        sim.step(40)
        assert sim.report.converged, sim.report.reason
    np.testing.assert_allclose(sims[0].state.position, sims[1].state.position, atol=1e-7)


def test_a_joint_breaks_in_a_stiff_world_too() -> None:
    """A load of a thousand links on a light chain at a long step, where levers of the end of the step are used."""
    scene = rb.scenes.mass_ladder(1000.0)
    name = list(scene.joints)[2]
    sim = rb.Simulation(scene, time_step=0.01)
    sim.run(0.1)
    sim[name].broken = True
    sim.run(0.3)
    assert np.isfinite(sim.state.position).all()
    assert sim.report.converged, sim.report.reason
    np.testing.assert_array_equal(sim[name].reaction_force, 0.0)


def test_a_joint_mended_far_apart_is_pulled_together_and_does_not_break_by_that() -> None:
    scene = rb.Scene(gravity=(0, 0, 0))
    scene.add_body(rb.Sphere(0.1), mass=1.0, position=(0.0, 0, 0), name="ball")
    scene.add_joint(rb.Ball("world", "ball", breaking_force=5.0), name="socket")
    sim = rb.Simulation(scene)
    sim["socket"].broken = True
    sim["ball"].position = (0.5, 0, 0)
    sim.step(3)
    np.testing.assert_allclose(sim["ball"].position, (0.5, 0, 0))
    sim["socket"].broken = False
    with pytest.warns(rb.NotConvergedWarning, match="pulled together"):
        sim.step(3)
    with pytest.warns(rb.NotConvergedWarning, match="socket"):
        sim.step(3)
    sim.step(10)
    assert sim.report.converged
    assert not sim["socket"].broken
    np.testing.assert_allclose(sim["ball"].position, 0.0, atol=1e-6)
    sim["ball"].applied_force = (6.0, 0, 0)
    sim.step()
    assert sim["socket"].broken


@pytest.mark.contacts
def test_a_sleeping_load_wakes_and_falls_when_its_hook_is_broken() -> None:
    scene = rb.Scene()
    scene.add_static(rb.Plane(), name="floor")
    scene.add_body(rb.Box(0.2, 0.2, 0.2), mass=1.0, position=(0, 0, 1.0), name="load")
    scene.add_joint(rb.Ball("world", "load", at=(0, 0, 1.1), breaking_force=11.0), name="hook")
    sims = [rb.Simulation(scene, sleep=True) for _ in range(2)]
    for sim in sims:
        sim.run(1.0)
        assert sim["load"].asleep
    sims[0]["hook"].broken = True
    assert not sims[0]["load"].asleep
    sims[0].step(10)
    sims[1]["load"].applied_force = (0, 0, -2.0)
    sims[1].step()
    assert sims[1]["hook"].broken
    sims[1]["load"].applied_force = 0.0
    sims[1].step(10)
    for sim in sims:
        assert sim["load"].velocity[2] == pytest.approx(-0.1 * G, rel=1e-6)


def rods_on_an_edge() -> rb.Scene:
    """Pairs of welded boxes that fall level, one box of each onto a table and the other beside it."""
    scene = rb.Scene()
    scene.add_static(rb.Box(1, 40, 1), name="table", position=(0, 0, -0.5))
    for k in range(12):
        for side, x in (("inner", 0.35), ("outer", 0.65)):
            scene.add_body(rb.Box(0.28, 0.3, 0.1), mass=1.0, position=(x, k, 0.25), name=f"{side}_{k}")
        weld = rb.Fixed(f"inner_{k}", f"outer_{k}", at=(0.5, k, 0.25), breaking_torque=3.0)
        scene.add_joint(weld, name=f"weld_{k}")
    return scene


@pytest.mark.contacts
@pytest.mark.filterwarnings("ignore::rattleback.core.errors.NotConvergedWarning")
def test_a_break_is_the_same_where_buffers_had_to_grow_in_its_step(monkeypatch: pytest.MonkeyPatch) -> None:
    sims = []
    for room in (finder.room_before, lambda colliders: 16):
        monkeypatch.setattr(finder, "room_before", room)
        sims.append(rb.Simulation(rods_on_an_edge()))
        sims[-1].run(0.3)
        assert sims[-1].state.breaks.broken.numpy().all()
    assert sims[1]._step.contacts.version > sims[0]._step.contacts.version
    assert sims[0].hash() == sims[1].hash()
