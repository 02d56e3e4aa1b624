"""The implicit joint method: its rules against closed forms, convergence, hard joints beside soft ones, refusals."""

import numpy as np
import pytest

import rattleback as rb
from rattleback.core.errors import InputError, NotConverged
from rattleback.solvers.joints import Implicit


def mass_on_springs(rule: str, h: float) -> rb.Simulation:
    """A mass of 2 kg on springs of 50 N/m, pulled out by 0.1 m, without gravity."""
    scene = rb.Scene(gravity=(0, 0, 0))
    ball = scene.add_body(rb.Sphere(0.1), mass=2.0, name="ball")
    scene.add_joint(rb.Ball(scene.world, ball, at=(0, 0, 0), stiffness=50.0))
    sim = rb.Simulation(scene, time_step=h, joints=Implicit(rule=rule))
    sim["ball"].position = (0.1, 0, 0)
    return sim


@pytest.mark.parametrize("rule", ["euler", "midpoint"])
def test_a_mass_on_springs_goes_as_its_difference_equation(rule: str) -> None:
    """The multiplier of x + i v/ω is 1/(1 + i ω h), or (1 − i ω h/2)/(1 + i ω h/2)."""
    h, omega = 0.05, 5.0
    sim, half = mass_on_springs(rule, h), 0.5j * omega * h
    factor = (1 - half) / (1 + half) if rule == "midpoint" else 1 / (1 + 2 * half)
    for n in range(1, 41):
        sim.step()
        expected = 0.1 * factor**n
        assert sim["ball"].position[0] == pytest.approx(expected.real, abs=1e-12)
        assert sim["ball"].velocity[0] == pytest.approx(omega * expected.imag, abs=1e-12)


@pytest.mark.parametrize("part", [0.9, 1.1])
def test_soft_forces_of_the_start_are_stable_up_to_the_bound_of_semi_implicit_euler(part: float) -> None:
    """h² k = 4 m: bounded below, grown beyond all bounds above."""
    sim = mass_on_springs("euler", part * 0.4)
    sim.use(joints=Implicit(jacobian="explicit"))
    sim.step(20)
    assert (abs(sim["ball"].position[0]) < 0.5) == (part < 1.0)


def chain(count: int, stiffness: float, gravity: float = -9.81) -> rb.Scene:
    """Bars that hang together by soft balls, let go sideways."""
    scene = rb.Scene(gravity=(0, 0, gravity))
    last = scene.world
    for i in range(count):
        bar = scene.add_body(rb.Box(0.1, 0.04, 0.04), mass=0.2, position=(0.1 * i + 0.05, 0, 0), name=f"bar {i}")
        scene.add_joint(rb.Ball(last, bar, at=(0.1 * i, 0, 0), stiffness=stiffness))
        last = bar
    return scene


def distances(jacobian: str, counts: list[int]) -> np.ndarray:
    """How far the velocities of a step are from converged ones after so many iterations, in a moving chain of 50."""
    scene = chain(50, 1e3)
    start = rb.Simulation(scene, joints="implicit")
    start.run(0.5)
    found = {}
    for name, most in [("exact", 30), *((jacobian, n) for n in counts)]:
        method = Implicit(jacobian=name, max_iterations=most, tolerance=1e-300)
        sim = rb.Simulation(scene, joints=method, warn=False)
        sim.state = start.state.copy()
        sim.step()
        found[most] = np.concatenate([sim.state.velocity.ravel(), sim.state.angular_velocity.ravel()])
    return np.array([np.abs(found[n] - found[30]).max() for n in counts])


def test_a_chain_of_fifty_converges_quadratically_with_the_exact_jacobian() -> None:
    first, second, third = distances("exact", [1, 2, 3])
    assert first > 1e-4
    assert second < 10.0 * first**2
    assert third < max(10.0 * second**2, 1e-12)


def test_a_chain_of_fifty_converges_linearly_without_what_bodies_do_to_each_other() -> None:
    """Twice the iterations, twice the digits: the factor of an iteration stays the same, and is above a half."""
    off = distances("body_by_body", [24, 48, 72])
    factors = (off[1:] / off[:-1]) ** (1.0 / 24.0)
    assert (factors > 0.5).all()
    assert (factors < 0.95).all()
    assert factors[1] == pytest.approx(factors[0], abs=0.05)


@pytest.mark.parametrize(("rule", "order"), [("euler", 1), ("midpoint", 2)])
def test_a_soft_double_pendulum_converges_at_the_order_of_the_rule(rule: str, order: int) -> None:
    def run(h: float) -> np.ndarray:
        scene = rb.Scene()
        first = scene.add_body(rb.Box(0.2, 0.3, 0.4), mass=2.0, position=(0.5, 0, 0), name="first")
        second = scene.add_body(rb.Box(0.2, 0.3, 0.4), mass=1.0, position=(1.5, 0.2, 0.3), name="second")
        scene.add_joint(rb.Ball(scene.world, first, at=(0, 0, 0), stiffness=300.0, damping=2.0))
        scene.add_joint(rb.Revolute(first, second, at=(1, 0, 0), axis=(0, 1, 0.5)))
        sim = rb.Simulation(scene, time_step=h, joints=Implicit(rule=rule), strict=True)
        sim.run(0.4)
        return np.concatenate([sim[name].position for name in ("first", "second")])

    steps = [4e-3, 2e-3, 1e-3] if order == 2 else [1e-3, 5e-4, 2.5e-4]
    coarse, middle, fine = (run(h) for h in steps)
    measured = np.log2(np.linalg.norm(coarse - middle) / np.linalg.norm(middle - fine))
    assert measured == pytest.approx(order, abs=0.1)


def test_the_midpoint_rule_keeps_momenta_to_rounding() -> None:
    scene = chain(6, 1e4, gravity=0.0)
    scene.remove_joint("ball_1")
    sim = rb.Simulation(scene, joints=Implicit(rule="midpoint"))
    rng = np.random.default_rng(2)
    for k in range(6):
        sim[f"bar {k}"].velocity, sim[f"bar {k}"].angular_velocity = rng.uniform(-1, 1, (2, 3))
    before = sim.momentum()
    sim.run(2.0)
    after = sim.momentum()
    np.testing.assert_allclose(after.linear, before.linear, atol=1e-12)
    np.testing.assert_allclose(after.angular, before.angular, atol=1e-11)


def test_hard_joints_and_redundant_loops_hold_beside_soft_ones() -> None:
    """A four-bar of hinges, three rows too many, whose coupler carries a soft pendulum: closed to 1e-9."""
    scene = rb.Scene()
    bars = [
        scene.add_body(rb.Box(0.1, 0.05, 0.5), mass=1.0, position=(0, 0, 0.25), name="left"),
        scene.add_body(rb.Box(1.0, 0.05, 0.1), mass=1.0, position=(0.5, 0, 0.5), name="top"),
        scene.add_body(rb.Box(0.1, 0.05, 0.5), mass=1.0, position=(1, 0, 0.25), name="right"),
    ]
    for k, (a, b, at) in enumerate(
        [(scene.world, 0, (0, 0, 0)), (0, 1, (0, 0, 0.5)), (1, 2, (1, 0, 0.5)), (scene.world, 2, (1, 0, 0))]
    ):
        first = a if a is scene.world else bars[a]
        scene.add_joint(rb.Revolute(first, bars[b], at=at, axis=(0, 1, 0)), f"pin {k}")
    bob = scene.add_body(rb.Sphere(0.1), mass=0.5, position=(0.5, 0, 0.1), name="bob")
    scene.add_joint(rb.Ball(bars[1], bob, at=(0.5, 0, 0.5), stiffness=2e3))
    sims = [rb.Simulation(scene, time_step=h, joints=Implicit(rule="midpoint")) for h in (0.005, 0.0025)]
    for sim in sims:
        sim["left"].angular_velocity = (0, 2, 0)
        sim.run(0.5)
        assert sim.report.converged, sim.report.reason
        assert sim.report.position_error < 1e-9
        assert sim.report.velocity_error < 1e-6
    energy = [sim.energy().total for sim in sims]
    np.testing.assert_allclose(sims[0]["bob"].position, sims[1]["bob"].position, atol=2e-3)
    assert abs(energy[0] - energy[1]) < 1e-2


def test_hard_joints_alone_move_as_with_impulses() -> None:
    scene = rb.Scene()
    arm = scene.add_body(rb.Box(1.0, 0.1, 0.1), mass=1.0, position=(0.5, 0, 0), name="arm")
    scene.add_joint(rb.Revolute(scene.world, arm, at=(0, 0, 0), axis=(0, 1, 0)), "hinge")
    by_impulses, implicit = (
        rb.Simulation(scene, time_step=1e-3, joints=joints) for joints in ("direct", Implicit(rule="midpoint"))
    )
    for sim in (by_impulses, implicit):
        sim.run(1.0)
    np.testing.assert_allclose(implicit["arm"].position, by_impulses["arm"].position, atol=1e-5)
    np.testing.assert_allclose(implicit["hinge"].reaction_force, by_impulses["hinge"].reaction_force, atol=1e-3)


@pytest.mark.parametrize("stiffness", [1e4, None])
def test_blocks_grow_with_the_bodies_of_a_chain(stiffness: float | None) -> None:
    """As many more for each of 20 bodies more, soft and hard; a soft chain has no block that was zero."""
    layouts = []
    for count in (20, 40, 60):
        scene = chain(count, 1e4)
        for name in list(scene.joints) if stiffness is None else []:
            scene.change_joint(name, stiffness=None)
        layouts.append(rb.Simulation(scene, joints="implicit")._step.implicit.layout)
    first, second, third = (layout.blocks for layout in layouts)
    assert second - first == third - second
    if stiffness is not None:
        assert [layout.fill for layout in layouts] == [0, 0, 0]


def test_worlds_and_calls_make_no_difference() -> None:
    scene = chain(4, 1e4)
    single = rb.Simulation(scene, joints="implicit")
    many = rb.Simulation(scene, joints="implicit", worlds=3)
    many.run(0.3)
    for _ in range(30):
        single.step()
    for world in range(3):
        np.testing.assert_array_equal(many.state.position[world], single.state.position)


def test_it_says_when_it_does_not_converge() -> None:
    sim = rb.Simulation(chain(20, 1e5), joints=Implicit(jacobian="body_by_body", max_iterations=3), strict=True)
    with pytest.raises(NotConverged, match=r"The implicit step left a change of .* jacobian='exact' or more"):
        sim.run(0.1)


@pytest.mark.contacts
@pytest.mark.parametrize(
    ("settings", "limits", "message"),
    [
        ({}, (-1.0, 1.0), "has limits, which joints='implicit' cannot hold"),
        ({"contacts": "impulse"}, None, "cannot be combined with contacts"),
        ({"contacts": "detect", "contact_time": "bisect"}, None, "takes whole steps, and contact_time='bisect'"),
        ({"contacts": "none", "sleep": True}, None, "does not let bodies sleep"),
    ],
)
def test_what_it_cannot_do_is_refused_with_a_sentence(settings: dict, limits: tuple | None, message: str) -> None:
    scene = rb.Scene()
    scene.add_static(rb.Plane())
    arm = scene.add_body(rb.Box(1.0, 0.1, 0.1), position=(0.5, 0, 2), name="arm")
    scene.add_joint(rb.Revolute(scene.world, arm, at=(0, 0, 2), axis=(0, 1, 0), limits=limits))
    with pytest.raises(InputError, match=message):
        rb.Simulation(scene, joints="implicit", **settings)
