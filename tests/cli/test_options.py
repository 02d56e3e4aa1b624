"""The options of a simulation on the command line, and scripts inside a run."""

import argparse
import json

import numpy as np
import pytest

import rattleback as rb
from rattleback.cli.options import FLAGS, OPTIONS, add_simulation_options, settings_of
from rattleback.settings import Settings


@pytest.fixture
def opened(monkeypatch):
    """The simulation that ``rattleback run`` makes of its arguments, without the run."""

    def make(*argv):
        from rattleback.cli.main import parse
        from rattleback.cli.sources import open_source

        return open_source(parse(["run", *map(str, argv)]))[0]

    return make


def parsed(*argv, leave_out=()):
    parser = argparse.ArgumentParser()
    add_simulation_options(parser, leave_out)
    return parser.parse_args(argv)


def test_every_option_is_a_setting_of_the_simulation_but_for_parts_of_the_contact_method():
    assert {*OPTIONS, *FLAGS} - {"restitution", "law", "contact_solver"} <= set(Settings.__annotations__)


def test_what_is_not_given_is_not_a_setting():
    assert settings_of(parsed()) == {}
    assert settings_of(argparse.Namespace()) == {}
    assert settings_of(parsed(), time_step=0.5, contacts="kept") == {"time_step": 0.5}


def test_a_command_may_declare_options_of_its_own_instead():
    parser = argparse.ArgumentParser()
    group = add_simulation_options(parser, leave_out=("joints", "sleep"))
    group.add_argument("--joints", nargs="+")
    given = parser.parse_args(["--joints", "direct", "iterative", "--time-step", "0.1"])
    assert given.joints == ["direct", "iterative"]
    assert not hasattr(given, "sleep")
    given.joints = "iterative"
    assert settings_of(given) == {"time_step": 0.1, "joints": type(settings_of(given)["joints"])()}


def test_every_option_reaches_the_simulation(opened):
    sim = opened(
        *("tower", "--time-step", "0.02", "--substeps", "3", "--worlds", "2", "--integrator", "rk4"),
        *("--joints", 'direct(loops="cut")', "--contacts", "impulse(solver=pgs(sweeps=7))", "--restitution", "stronge"),
        *("--broadphase", "grid", "--narrowphase", "gjk", "--bounding-volume", "oriented"),
        *("--contact-time", "bisect", "--position-tolerance", "1e-5", "--orientation-tolerance", "1e-4"),
        *("--velocity-tolerance", "1e-3", "--penetration-tolerance", "1e-2", "--contact-velocity-tolerance", "0.1"),
        *("--max-iterations", "9", "--sleep", "--strict"),
    )
    methods = sim.methods
    assert (sim.time_step, methods.substeps, sim.worlds, sim.integrator) == (0.02, 3, 2, rb.integrators.RK4())
    assert sim.methods.joints.loops == "cut"
    assert methods.contacts == rb.contacts.Impulse(solver=rb.contacts.ProjectedGaussSeidel(7), restitution="stronge")
    assert type(methods.detection.broadphase).__name__ == "Grid"
    assert type(methods.detection.narrowphase).__name__ == "GJK"
    assert "riented" in type(methods.detection.bounds).__name__
    assert methods.contact_time == "bisect"
    assert list(methods.tolerances.values()) == [1e-5, 1e-4, 1e-3]
    assert (methods.penetration_tolerance, methods.contact_velocity_tolerance) == (1e-2, 0.1)
    assert (methods.max_iterations, methods.sleep, sim.strict) == (9, True, True)


@pytest.mark.contacts
def test_a_law_of_restitution_goes_with_the_contact_method_that_would_be_taken(opened, tmp_path):
    assert opened("tower", "--restitution", "poisson").methods.contacts == rb.contacts.Impulse(restitution="poisson")
    fast = opened("tower", "--preset", "fast", "--restitution", "poisson").methods.contacts
    usual = opened("tower", "--preset", "fast").methods.contacts
    assert (fast.solver, fast.restitution, usual.restitution) == (usual.solver, "poisson", "newton")
    opened("tower", "--contacts", "impulse(solver=pgs(sweeps=7))").save(tmp_path / "s.rb")
    again = opened(tmp_path / "s.rb", "--restitution", "poisson")
    assert again.methods.contacts == rb.contacts.Impulse(
        solver=rb.contacts.ProjectedGaussSeidel(sweeps=7), restitution="poisson"
    )


@pytest.mark.contacts
def test_solver_and_law_of_friction_go_with_the_contact_method_that_would_be_taken(opened):
    pgs = rb.contacts.ProjectedGaussSeidel(sweeps=7)
    given = ("--contacts", "time_stepping", "--contact-solver", "pgs(sweeps=7)", "--law", "cone")
    assert opened("tower", *given).methods.contacts == rb.contacts.TimeStepping(solver=pgs, law="cone")
    lemke = opened("tower", "--contact-solver", "lemke", "--law", "frictionless").methods.contacts
    assert lemke == rb.contacts.Impulse(solver=rb.contacts.Assembled("lemke"), law="frictionless")


@pytest.mark.parametrize(
    ("argv", "sentence"),
    [
        (["--law", "cones", "--contacts", "impulse"], "law of Impulse is 'cones'; it may be "),
        (["--law", "cone", "--contacts", "none"], "The contact method NoContacts() has no law of friction to choose"),
        (["--contacts", "impulse", "--contact-solver", "apdg"], "There is no contact solver 'apdg'. Did you mean"),
        (["--restitution", "rubber", "--contacts", "impulse"], "restitution of Impulse is 'rubber'; it may be "),
        (["--restitution", "newton", "--contacts", "detect"], "The contact method DetectOnly() has no law of restit"),
        (["--contacts", "impluse"], "There is no contact method 'impluse'. Did you mean 'impulse'?"),
        (["--broadphase", "gird"], "There is no broad phase 'gird'. Did you mean 'grid'?"),
        (["--contact-time", "never"], "contact_time is 'never'; it may be 'off', "),
        (["--position-tolerance", "-1"], "position_tolerance is -1.0; it must be greater than zero."),
        (["--max-iterations", "0"], "max_iterations is 0; it must be at least 1."),
        (["--preset", "fats"], "There is no preset 'fats'. Did you mean 'fast'?"),
        (["--script", "gone.py"], "There is no script 'gone.py'; give the path of a Python file."),
    ],
)
def test_what_cannot_be_set_is_refused_before_anything_is_simulated(argv, sentence, run, monkeypatch):
    monkeypatch.setattr(rb.Simulation, "run", lambda *_: pytest.fail("a step was taken"))
    code, out, err = run("thrown", *argv)
    assert (code, out) == (1, "")
    assert err.startswith(f"rattleback: {sentence}")


@pytest.fixture
def script(tmp_path):
    """Write a script and give its path."""

    def write(text):
        (tmp_path / "push.py").write_text(text, encoding="utf-8")
        return tmp_path / "push.py"

    return write


def test_a_script_acts_on_the_run_and_its_recording(run, script, tmp_path):
    path = script(
        "for body in sim.scene.bodies:\n"
        "    sim[body].velocity = (1, 0, 0)\n"
        "@sim.at(0.5)\n"
        "def push(sim):\n"
        "    print('pushed')\n"
        "    sim.state.velocity[:] = (0, 2, 0)\n"
    )
    options = ["--duration", "1", "--record", tmp_path / "a.npz", "--json", "--script", path]
    code, out, err = run("thrown", "drag=0", "count=2", "--integrator", "rk4", *options)
    assert (code, err) == (0, "pushed\n")
    assert "error" not in json.loads(out)
    with np.load(tmp_path / "a.npz") as arrays:
        velocity, position = arrays["velocity"], arrays["position"]
    np.testing.assert_array_equal(velocity[0], [[1, 0, 0]] * 2)
    fallen = -0.5 * 9.81 * 0.5**2
    np.testing.assert_allclose(position[-1] - position[0], [[0.5, 1.0, 2 * fallen]] * 2, atol=1e-12)


def test_a_script_that_fails_is_told_of_at_once_and_the_run_goes_on(run, script, tmp_path):
    path = script("@sim.at(0.5)\ndef push(sim):\n    sim['bell'].velocity = 3\n")
    code, out, err = run("thrown", "--duration", "1", "--script", path, "--save", tmp_path / "s.rb")
    assert code == 1
    assert "100 steps of 0.01 s" in out
    assert (tmp_path / "s.rb").is_file()
    first, where, what, note = err.splitlines()
    assert first == "rattleback: The script failed and is stopped; the run goes on."
    assert where == f"{path}, line 3: sim['bell'].velocity = 3"
    assert what.startswith("UnknownName: There is no body")
    assert note == "Raised by 'push', called at a time, after step 50, t = 0.5 s."
    code, out, _ = run("thrown", "--duration", "1", "--script", path, "--json")
    assert code == 1
    found = json.loads(out)
    assert found["error"] == {"kind": "ScriptFault", "message": "\n".join((where, what, note))}
    assert found["steps"] == 100


def test_a_script_that_cannot_be_read_leaves_the_run_as_it_is(run, script):
    plain = json.loads(run("thrown", "--json")[1])
    code, out, err = run("thrown", "--json", "--script", script("def push(:\n"))
    assert code == 1
    assert "push.py, line 1: def push(:\nSyntaxError: " in err
    assert json.loads(out)["hash"] == plain["hash"]


def test_an_interrupt_in_a_script_ends_the_command(run, script):
    code, out, err = run("thrown", "--script", script("raise KeyboardInterrupt\n"))
    assert (code, out, err) == (130, "", "rattleback: Interrupted before it was done.\n")


def test_a_step_of_high_order_is_named_with_its_arguments(opened):
    sim = opened("double_pendulum", "--step", "extrapolated(order=10, tolerance=1e-9)")
    assert sim.methods.step == rb.Extrapolated(order=10, tolerance=1e-9)
