"""Integrators that bound their own error: the bound is kept, or the report says by whom it was not."""

import numpy as np
import pytest

import rattleback as rb


def falling(**settings: object) -> rb.Simulation:
    scene = rb.Scene()
    scene.add_body(rb.Box(1, 2, 3), angular_velocity=(1, 2, 3), name="box")
    return rb.Simulation(scene, **settings)


def test_rk45_keeps_the_bound_the_user_sets_and_says_how() -> None:
    """The figure-eight of two equal masses falling around each other, against a run with a far tighter bound."""

    def orbit(error: float) -> rb.Simulation:
        scene = rb.Scene(gravity=(0, 0, 0))
        scene.add_body(rb.Sphere(0.01), mass=1.0, position=(1, 0, 0), velocity=(0, 0.3, 0), name="a")
        scene.add_body(rb.Sphere(0.01), mass=1.0, position=(-1, 0, 0), velocity=(0, -0.3, 0), name="b")
        scene.add_force(rb.Attraction(constant=1.0))
        sim = rb.Simulation(scene, time_step=0.5, integrator=rb.integrators.RK45(error=error))
        sim.run(4.0)
        return sim

    truth = orbit(1e-13)
    errors = []
    for bound in (1e-6, 1e-9):
        sim = orbit(bound)
        assert sim.report.converged
        assert 0.01 * bound < sim.report.integration_error <= bound
        assert sim.report.integration_tolerance == bound
        assert sim.report.iterations > 3
        errors.append(np.abs(sim.state.position - truth.state.position).max())
    assert errors[0] < 1e-3
    assert errors[1] < 1e-6


def test_a_bound_that_cannot_be_kept_is_reported_by_body_or_raised_when_strict() -> None:
    def sim(**settings: object) -> rb.Simulation:
        return falling(time_step=0.5, integrator=rb.integrators.RK45(error=1e-12, max_substeps=2), **settings)

    lenient = sim()
    with pytest.warns(rb.NotConvergedWarning, match="at body 'box', above its tolerance"):
        lenient.step()
    report = lenient.report
    assert not report.converged
    assert report.worst_body == "box"
    assert report.reason.startswith("The integrator 'rk45' left an error of")
    assert "at body 'box', above its tolerance of 1e-12" in report.reason
    with pytest.raises(rb.NotConverged, match="at body 'box'"):
        sim(strict=True).step()


def test_implicit_euler_that_may_not_iterate_says_so() -> None:
    sim = falling(time_step=0.1, integrator=rb.integrators.ImplicitEuler(max_iterations=1))
    with pytest.warns(rb.NotConvergedWarning, match="'implicit_euler'"):
        sim.step()
    assert not sim.report.converged
    assert sim.report.iterations == 1


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: rb.integrators.RK45(error=0), "The error of RK45 is 0; it must be greater than zero."),
        (lambda: rb.integrators.RK45(max_substeps=0), "The max_substeps of RK45 is 0; it must be at least 1."),
        (lambda: rb.integrators.ImplicitEuler(tolerance=-1), "The tolerance of ImplicitEuler is -1"),
        (lambda: rb.integrators.ImplicitEuler(max_iterations=0), "The max_iterations of ImplicitEuler is 0"),
    ],
)
def test_an_impossible_parameter_of_an_integrator_is_refused(make: object, words: str) -> None:
    with pytest.raises(rb.InputError) as caught:
        make()
    assert words in str(caught.value)


def test_the_report_covers_every_step_of_a_run() -> None:
    """Hard at the beginning, easy at the end: the worst of the whole run counts, with a progress bar or without."""
    scene = rb.Scene(gravity=(0, 0, 0))
    scene.add_body(rb.Box(1, 2, 3), name="box")
    scene.add_force(rb.Wrench("box", torque=(9e5, 4e5, 1e5), until=0.05))
    scene.add_force(rb.Drag(angular=1e5))
    iterations = []
    for progress in (False, True):
        sim = rb.Simulation(scene, time_step=0.01, integrator="rk45")
        sim.run(3.005, progress=progress)
        iterations.append(sim.report.iterations)
    assert iterations[0] == iterations[1]
    sim.run(0.5)
    assert sim.report.iterations < iterations[0]


def test_the_default_integrator_states_the_residual_of_its_solve() -> None:
    sim = falling(time_step=0.05)
    sim.step(50)
    assert 0.0 < sim.report.integration_error < 1e-15
    assert sim.report.converged


def test_a_motion_that_is_lost_is_not_followed_to_the_end_of_the_step() -> None:
    """Sub-steps shrink to a ten-millionth in 11 fifths; then the step is over, not 10,000 sub-steps later."""
    scene = rb.Scene()
    scene.add_body(rb.Box(1, 2, 3), angular_velocity=(1e160, 2e160, 3e160))
    sim = rb.Simulation(scene, integrator="rk45")
    with pytest.raises(rb.DivergenceError):
        sim.step()
    assert sim._step.context.diagnostics.iterations.numpy().max() == 12
