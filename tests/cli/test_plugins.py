"""Methods of other packages on the command line, methods with arguments, and that files never bring code."""

import dataclasses
import json
import re
import sys
import zipfile

import numpy as np
import pytest

import rattleback as rb
from rattleback.cli.plugins import resolve, with_parts
from rattleback.io import state_archive

# An integrator as another package might have it: bodies move on as they did, whatever pushes them.
HEEDLESS = '''
"""An integrator that heeds no force."""

from dataclasses import dataclass

import warp as wp

from rattleback.core.precision import real
from rattleback.model.model import Bodies
from rattleback.model.state import Clock, Motion


@wp.kernel(enable_backward=False)
def drift(bodies: Bodies, start: Motion, clock: Clock, speed: real, end: Motion):
    i = wp.tid()
    h = speed * real(clock.time_step[bodies.world[i]])
    end.position[i] = start.position[i] + h * start.velocity[i]
    end.orientation[i] = start.orientation[i]
    end.velocity[i] = start.velocity[i]
    end.angular_velocity[i] = start.angular_velocity[i]


@dataclass(frozen=True)
class Heedless:
    speed: float = 1.0

    order = 1
    tolerance = 0.0

    def record_forces(self, bench):
        pass

    def record_prediction(self, bench):
        bench.for_bodies(drift, bench.start, bench.state.clock, real(self.speed), bench.predicted)


hasty = Heedless(3.0)


class Inner:
    Slow = Heedless


class Demanding:
    def __init__(self, must):
        self.must = must


class Timeless:
    def record_forces(self, bench):
        pass

    record_prediction = record_forces
'''
BOUNCY = '''
"""A contact method made of one that comes with the package."""

from rattleback.contacts import BlockGaussSeidel, Impulse


class Bouncy:
    finds, resolves = True, True

    def __init__(self, sweeps=50):
        self.inner = Impulse(solver=BlockGaussSeidel(sweeps=sweeps), restitution="poisson")

    def bind(self, *given):
        return self.inner.bind(*given)
'''
BY_NAME = 'impulse(solver=block_gauss_seidel(sweeps=7), restitution="poisson")'
DROP = {
    "format": "rattleback-scene",
    "version": 1,
    "name": "drop",
    "bodies": [{"name": "ball", "shape": {"kind": "sphere", "radius": 0.1}, "velocity": [1, 2, 3]}],
}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A current folder with packages of others in it."""
    package = tmp_path / "plugged_package"
    package.mkdir()
    (package / "__init__.py").write_text(BOUNCY.replace("rattleback.contacts", "rattleback.solvers.contacts"))
    (package / "moving.py").write_text(HEEDLESS)
    (tmp_path / "plugged_broken.py").write_text("import plugged_nowhere\n")
    (tmp_path / "plugged_failing.py").write_text("raise RuntimeError('not today')\n")
    (tmp_path / "drop.rb.json").write_text(json.dumps(DROP))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    yield tmp_path
    for name in [name for name in sys.modules if name.startswith("plugged_")]:
        del sys.modules[name]


@pytest.mark.parametrize(
    ("named", "speed"),
    [
        ("plugged_package.moving:Heedless", 1.0),
        ("plugged_package.moving:Heedless()", 1.0),
        ("plugged_package.moving:Heedless(speed=2.0)", 2.0),
        ("plugged_package.moving:Heedless(2)", 2.0),
        ("plugged_package.moving:hasty", 3.0),
        ("plugged_package.moving:Inner.Slow", 1.0),
    ],
)
def test_an_integrator_of_another_package_moves_the_bodies(named, speed, folder, run):
    code, out, _ = run("drop.rb.json", "--integrator", named, "--record", "a.csv", "--json")
    assert code == 0
    assert json.loads(out)["integrator"] == "Heedless"
    last = (folder / "a.csv").read_text().splitlines()
    end = dict(zip(last[0].split(","), map(float, last[-1].split(",")), strict=True))
    place = [end[f"ball.position.{axis} [m]"] for axis in "xyz"]
    assert place == pytest.approx([speed * 1.0, speed * 2.0, speed * 3.0], rel=1e-12)


@pytest.mark.contacts
def test_a_contact_method_of_another_package_gives_the_bits_of_what_it_is_made_of(folder, run):
    options = ["bounces", "--duration", "0.8", "--time-step", "0.01", "--json"]
    found = [
        json.loads(run(*options, "--contacts", method)[1])["hash"]
        for method in ("plugged_package:Bouncy(sweeps=7)", BY_NAME, "none")
    ]
    assert found[0] == found[1] != found[2]


def test_a_state_with_methods_of_others_cannot_be_saved_and_says_so_before_anything_is_simulated(
    folder, run, monkeypatch
):
    monkeypatch.setattr(rb.Simulation, "step", lambda *_: pytest.fail("a step was taken"))
    monkeypatch.setattr(rb.Simulation, "run", lambda *_: pytest.fail("a step was taken"))
    code, out, err = run("drop.rb.json", "--integrator", "plugged_package.moving:hasty", "--save", "a.rb")
    assert (code, out) == (1, "")
    assert "The integrator Heedless(speed=3.0) is not on the menu, so a state file cannot name it; " in err
    assert not (folder / "a.rb").exists()


@pytest.mark.parametrize(
    ("slot", "text", "message"),
    [
        ("contacts", "plugged_gone:Solver", "There is no module 'plugged_gone' to take the contact method from; ins"),
        ("contacts", "plugged_package.gone:Solver", "There is no module 'plugged_package.gone' to take the contact me"),
        ("contacts", "plugged_broken:Solver", "The module 'plugged_broken' cannot be imported: No module named 'plu"),
        ("contacts", "plugged_failing:Solver", "The module 'plugged_failing' cannot be imported: RuntimeError: not t"),
        ("contacts", "..:a", "The module '..' cannot be imported: TypeError: "),
        ("contacts", "plugged_package:Bounzy", "The module 'plugged_package' has no 'Bounzy' to be the contact metho"),
        ("contacts", "plugged_package:Bouncy(sweps=3)", "'plugged_package:Bouncy' cannot be made: TypeError: "),
        ("contacts", "plugged_package:Bouncy(sweeps=0)", "sweeps of BlockGaussSeidel is 0; it must be at least 1."),
        (
            "contacts",
            "plugged_package:Bouncy(sweeps=open('x'))",
            "There is no part of 'plugged_package:Bouncy' 'open'.",
        ),
        ("contacts", "plugged_package:Bouncy(**{})", "'plugged_package:Bouncy' got the arguments (**{}), which canno"),
        ("contacts", "plugged_package:Bouncy()()", "'plugged_package:Bouncy' got the arguments ()(), which cannot be"),
        ("contacts", "plugged_package:Bouncy)(", "'plugged_package:Bouncy)(' is no contact method; write a name of"),
        ("contacts", "plugged_package.moving:hasty", "'plugged_package.moving:hasty' cannot be the contact method: it"),
        (
            "integrator",
            "plugged_package.moving:Timeless",
            "'plugged_package.moving:Timeless' cannot be the integrator:",
        ),
        ("integrator", "plugged_package.moving:hasty()", "'plugged_package.moving:hasty' is an object already; leave"),
        (
            "integrator",
            "plugged_package.moving:Heedless(sped=1)",
            "'plugged_package.moving:Heedless' has no option 'sp",
        ),
        ("integrator", "plugged_package.moving:Demanding", "'plugged_package.moving:Demanding' cannot be made: TypeE"),
        ("joints", "os:system", "'os:system' cannot be the joint method: it lacks the method 'prepare'; see"),
        ("joints", "iterativ", "There is no joint method 'iterativ'. Did you mean 'iterative'?"),
        ("joints", "iterativ()", "There is no joint method 'iterativ'. Did you mean 'iterative'?"),
        ("joints", "direct loops", "There is no joint method 'direct loops'."),
        ("joints", "", "There is no joint method ''."),
        ("contacts", "impulse(sweeps=3)", "The contact method 'impulse' has no option 'sweeps'."),
        ("contacts", "impulse('pgs', 2, 3, 4)", "restitution of Impulse is 4; it may be"),
        (
            "contacts",
            "impulse('pgs', 2, 3, 'newton', 'sequential', True, True, 'cone', 5)",
            "The contact method 'impulse' cannot be",
        ),
        ("contacts", "impulse(sweeps_between=1+)", "The contact method 'impulse' got the arguments (sweeps_between=1+"),
        (
            "contacts",
            "impulse(solver=pgz)",
            "There is no part of the contact method 'impulse' 'pgz'. Did you mean 'pgs'?",
        ),
        (
            "contacts",
            "impulse(solver=pgs(sweps=3))",
            "The 'pgs' of the contact method 'impulse' has no option 'sweps'.",
        ),
        ("contacts", "impulse(solver='math:pi')", "3.14159265358979"),
        ("contacts", "impulse(solver=7)", "7 cannot be the contact solver: it lacks 'bind'."),
        ("broadphase", "math:pi", "'math:pi' cannot be the broad phase: it lacks the method 'bind'; see core/protoc"),
        ("narrowphase", "math:pi", "'math:pi' cannot be the narrow phase: it lacks the method 'record'; see core/pro"),
    ],
)
def test_what_cannot_be_plugged_in_is_refused_with_a_reason(slot, text, message, folder):
    with pytest.raises(rb.RattlebackError) as caught:
        resolve(slot, text)
    assert str(caught.value).startswith(message)


def test_the_sentence_about_what_does_not_fit_names_everything_that_is_missing(folder):
    with pytest.raises(
        rb.InputError, match="it lacks the method 'record_forces' and the method 'record_prediction' and"
    ):
        resolve("integrator", "math:pi")
    with pytest.raises(rb.InputError, match="it lacks the property 'tolerance'; see core/protocols.py."):
        resolve("integrator", "plugged_package.moving:Timeless")


@pytest.mark.parametrize("slot", ["integrator", "joints", "contacts", "broadphase", "narrowphase", "bounding_volume"])
def test_every_name_of_a_menu_gives_its_object_with_or_without_brackets(slot):
    from rattleback.io.state_schema import SLOTS

    for name, kind in SLOTS[slot][1].MENU.items():
        assert resolve(slot, name) == resolve(slot, f"{name}()") == kind()


def test_arguments_are_literal_values():
    assert resolve("joints", 'direct(loops="cut")') == type(resolve("joints", "direct"))(loops="cut")
    assert resolve("contacts", " impulse(solver=pgs(sweeps=9),\n restitution='stronge') ") == rb.contacts.Impulse(
        solver=rb.contacts.ProjectedGaussSeidel(sweeps=9), restitution="stronge"
    )


def test_a_law_of_restitution_is_given_to_what_has_one_and_to_what_is_wrapped():
    impulse, shock = (
        rb.contacts.Impulse(solver=rb.contacts.BlockGaussSeidel(sweeps=9)),
        rb.contacts.ShockPropagation(after=3),
    )
    assert with_parts(impulse, restitution="poisson") == dataclasses.replace(impulse, restitution="poisson")
    wanted = rb.contacts.ShockPropagation(rb.contacts.Impulse(restitution="poisson"), after=3)
    assert with_parts(shock, restitution="poisson") == wanted
    with pytest.raises(rb.InputError, match=r"The contact method DetectOnly\(\) has no law of restitution to choose; "):
        with_parts(rb.contacts.DetectOnly(), restitution="poisson")


@pytest.mark.parametrize("slot", ["integrator", "joints", "contacts", "narrowphase"])
def test_files_and_settings_name_methods_of_the_menus_alone(slot, folder, run):
    settings = {slot: "os:system"}
    with pytest.raises(rb.UnknownName, match="There is no .* 'os:system'"):
        rb.Simulation(rb.scenes.thrown(), **settings)
    sim = rb.Simulation(rb.scenes.thrown(), narrowphase="gjk")
    sim.save(folder / "a.rb")
    with zipfile.ZipFile(folder / "a.rb") as archive, np.load(folder / "a.rb") as arrays:
        header = json.loads(archive.read("header.json"))
        values = {name: arrays[name] for name in arrays.files if name != "header.json"}
    for name in ("os:system", "os:system()"):
        header["settings"][slot] = {"name": name, "parameters": {}}
        (folder / "b.rb").write_bytes(state_archive.pack(header, values))
        code, out, err = run(folder / "b.rb", "--duration", "0.1")
        assert (code, out) == (1, "")
        assert re.search(rf"b.rb' cannot be loaded: There is no [a-z ]+ '{re.escape(name)}'\.", err)


def test_scene_files_have_no_place_for_methods_or_code(folder, run):
    for more in ({"contacts": "os:system"}, {"script": "print(1)"}, {"settings": {"integrator": "os:system"}}):
        (folder / "bad.rb.json").write_text(json.dumps({**DROP, **more}))
        code, out, err = run("bad.rb.json")
        assert (code, out) == (1, "")
        assert next(iter(more)) in err


def test_the_current_folder_is_importable_only_where_a_module_is_named(folder):
    resolve("contacts", "impulse(solver=pgs(sweeps=3))")
    assert str(folder) not in sys.path
    resolve("contacts", "plugged_package:Bouncy")
    assert sys.path[0] == str(folder)
