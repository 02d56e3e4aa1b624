"""Laws of friction in the run: closed forms of a sliding block, refusals, and what needs no friction."""

import numpy as np
import pytest

import rattleback as rb
from rattleback.core.errors import InputError
from rattleback.solvers.contacts import SOLVERS
from rattleback.solvers.contacts.kernels.laws import LAWS
from rattleback.solvers.contacts.schemes.settings import laws_of

pytestmark = pytest.mark.contacts
MU, H, G = 0.5, 0.01, 9.81
PAIRS = [(solver, law) for solver, kind in SOLVERS.items() for law in laws_of(kind())]


def block(speed=1.0, velocity=None, gravity=(0, 0, -G)):
    scene = rb.Scene(gravity=gravity)
    material = rb.Material(friction=MU / 2)
    scene.add_static(rb.Plane(), material=material)
    given = {"position": (0, 0, 0.5), "velocity": velocity or (speed, 0, 0), "material": material}
    scene.add_body(rb.Box(1, 1, 1), mass=1.0, name="block", **given)
    return scene


def simulate(solver, law, scheme=rb.contacts.TimeStepping, scene=None, **settings):
    contacts = scheme(solver=SOLVERS[solver](sweeps=5000), law=law)
    fine = {"time_step": H, "contact_distance": 0.02, "contact_velocity_tolerance": 1e-10}
    settings = {"integrator": "semi_implicit_euler", **fine, **settings}
    return rb.Simulation(scene or block(), contacts=contacts, **settings)


def relaxed(v, mu=MU, fall=G * H):
    """Velocity after a step of a point mass that slides on a plane under ``cone``: across and along the normal."""
    r = (fall + mu * v) / (1 + mu**2)
    return v - mu * r, r - fall


@pytest.mark.parametrize(("solver", "law"), PAIRS)
def test_a_block_slides_through_one_step_as_the_closed_form_of_its_law_says(solver, law):
    sim = simulate(solver, law)
    sim.step()
    braked = 1.0 - MU * G * H
    known = {"coulomb": (braked, 0.0), "cone": relaxed(1.0), "pyramid": (braked, 0.0), "frictionless": (1.0, 0.0)}
    u_t, u_n = known[law]
    np.testing.assert_allclose(sim["block"].velocity, (u_t, 0.0, u_n), atol=1e-9)
    assert sim.report.normal_velocity_error < 1e-9
    assert sim.report.tangential_velocity_error < 1e-9


def test_the_closed_forms_are_those_of_the_documents():
    np.testing.assert_allclose(relaxed(1.0), (0.76076, 0.38038), atol=5e-6)
    assert pytest.approx(0.95095) == 1.0 - MU * G * H


@pytest.mark.parametrize("solver", [name for name, kind in SOLVERS.items() if "pyramid" in laws_of(kind())])
def test_a_pyramid_brakes_root_two_times_as_hard_along_a_diagonal(solver):
    sim = simulate(solver, "pyramid", scene=block(velocity=(1.0, 1.0, 0.0)))
    sim.step()
    np.testing.assert_allclose(sim["block"].velocity[:2], 1.0 - MU * G * H, atol=1e-9)
    round_cone = simulate(solver, "coulomb", scene=block(velocity=(1.0, 1.0, 0.0)))
    round_cone.step()
    np.testing.assert_allclose(round_cone["block"].velocity[:2], 1.0 - MU * G * H / np.sqrt(2), atol=1e-9)


@pytest.mark.parametrize("scheme", [rb.contacts.TimeStepping, rb.contacts.Impulse])
def test_under_the_cone_a_sliding_block_lags_by_friction_times_its_gap(scheme):
    # Friction is mu times the normal impulse in every step, so x = x_coulomb - mu * gap while both slide.
    true, cone = (simulate("pgs", law, scheme, integrator="lie_midpoint") for law in ("coulomb", "cone"))
    lag, gaps = [], []
    for _ in range(15):
        true.step()
        cone.step()
        lag.append(true["block"].position[0] - cone["block"].position[0])
        gaps.append(cone["block"].position[2] - 0.5)
    assert max(gaps) > 5e-3
    np.testing.assert_allclose(lag, MU * np.array(gaps), atol=2e-6)


def test_on_an_incline_the_braking_distance_is_right_and_the_way_there_is_not_under_the_cone():
    tilt, v = np.radians(15.0), 2.0
    down, press = G * np.sin(tilt), G * np.cos(tilt)
    scene = lambda: block(v, gravity=(down, 0, -press))  # noqa: E731
    fine = {"integrator": "lie_midpoint", "time_step": 0.002, "contact_velocity_tolerance": 1e-6}
    # Points within this count as touching, and would be lifted once more.
    fine["penetration_tolerance"] = 1e-5
    true, cone = (simulate("pgs", law, rb.contacts.Impulse, scene(), **fine) for law in ("coulomb", "cone"))
    lags = []
    for _ in range(60):
        true.step(15)
        cone.step(15)
        lags.append((true["block"].position[0] - cone["block"].position[0], cone["block"].position[2] - 0.5))
    assert true["block"].position[0] == pytest.approx(v**2 / (2 * (MU * press - down)), abs=1e-4)
    lag, gap = np.transpose(lags)
    np.testing.assert_allclose(lag, MU * gap, atol=1e-4)
    # It leaves with mu v / (1 + mu²), and half of a step of its weight, and rises against its press.
    leaves = (MU * v + 0.5 * 0.002 * (press + MU * down)) / (1 + MU**2)
    assert lag.max() == pytest.approx(MU * leaves**2 / (2 * press), rel=0.005)
    assert abs(lag[-1]) < 1e-3


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: rb.contacts.Impulse(law="cones"), "law of Impulse is 'cones'"),
        (lambda: rb.contacts.Impulse(law="cone", restitution="poisson"), "choose restitution='newton'"),
        (lambda: rb.contacts.ShockPropagation(inner=rb.contacts.Impulse(law="cone")), "pass of ShockPropagation knows"),
        (lambda: rb.contacts.Impulse(solver=Plain(), law="cone"), "Plain does not solve contacts under law='cone'"),
        (lambda: rb.contacts.SuccessiveOverRelaxation(factor=2.0), "it must be below 2"),
    ],
)
def test_wrong_laws_are_refused_with_what_would_work(make, words):
    with pytest.raises(InputError, match=words):
        make()


class Plain:
    """A solver that does not say which laws it takes."""

    sweeps = 10

    def bind(self, problem):
        raise NotImplementedError


def test_a_solver_that_says_nothing_takes_coulomb_and_no_friction():
    assert laws_of(Plain()) == ("coulomb", "frictionless")
    assert rb.contacts.Impulse(solver=Plain(), law="frictionless").law == "frictionless"


@pytest.mark.parametrize("law", LAWS)
def test_laws_are_swapped_on_a_running_scene(law):
    sim = simulate("pgs", "frictionless", warn=False)
    sim.run(0.1)
    sim.use(contacts=rb.contacts.TimeStepping(solver="pgs", law=law))
    sim.run(0.1)
    assert (sim["block"].velocity[0] < 0.9) == (law != "frictionless")
