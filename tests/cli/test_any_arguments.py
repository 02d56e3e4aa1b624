"""Whatever the arguments are, the answer is an exit code and a sentence, never a traceback."""

import contextlib
import io
import itertools
import json
import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from rattleback.cli.main import MENU, main

# No slash: a file written by chance stays in the test's own folder.
TEXT = st.text(alphabet="abkéω=,.-_ :01'\"[]{}\n\udcff", max_size=8)
NUMBER = st.sampled_from(["0.02", "0.05", "0", "-1", "nan", "inf", "1e300", "1e-300", "x", ""])
COUNT = st.sampled_from(["1", "3", "0", "-2", "1.5", "many"])
VALUES = {
    "--duration": st.sampled_from(["0.02", "0.05", "0.013", "0", "-1", "nan", "inf", "1e300", "x", ""]),
    "--time-step": st.sampled_from(["0.01", "0.003", "0.5", "0", "-1", "nan", "1e300", "x"]),
    "--device": st.sampled_from(["cpu", "cuda:9", "abacus", ""]) | TEXT,
    "--integrator": st.sampled_from(["rk4", "rk45", "implicit_euler", "rk5"]) | TEXT,
    "--contacts": st.sampled_from(
        ["impulse", "shock(after=3)", "impulse(solver=pgs(sweeps=0))", "impulse(solver=os)", "os:system", "os:"]
    )
    | TEXT,
    "--joints": st.sampled_from(["direct", "iterative()", "direct(loops='cut')", "direct(", "a:b(c)"]) | TEXT,
    "--contact-solver": st.sampled_from(["apgd", "pgs(sweeps=3)", "lemke", "os:system", "pgs("]) | TEXT,
    "--law": st.sampled_from(["coulomb", "cone", "rubber"]),
    "--restitution": st.sampled_from(["newton", "poisson", "rubber"]),
    "--broadphase": st.sampled_from(["sweep", "grid", "math:pi"]) | TEXT,
    "--position-tolerance": NUMBER,
    "--script": st.sampled_from(["file", "gone.py", "."]) | TEXT,
    "--worlds": COUNT,
    "--record": st.sampled_from(["a.npz", "b/a.csv", "a.txt", "", ".", "file/a.npz"]) | TEXT,
    "--plot": st.sampled_from(["a.jpeg2", "file/a.png", ""]) | TEXT,
    "--save": st.sampled_from(["a.rb", "b/c/a.rb", "", "file/a.rb"]) | TEXT,
    "--quantities": st.sampled_from(["energy", "position,iterations", "energy,energy", "a.b", ","]) | TEXT,
    "--every": COUNT,
    "--output": st.sampled_from(["schema.json", "file/x", ""]) | TEXT,
}
OPTION = st.sampled_from(list(VALUES)).flatmap(lambda name: VALUES[name].map(lambda value: [name, value]))
PAIR = st.tuples(st.sampled_from(["count", "speed", "drag", "tilt", "seed", "a"]), NUMBER | COUNT | TEXT)
WORDS = st.one_of(
    OPTION,
    PAIR.map(lambda pair: ["=".join(pair)]),
    st.sampled_from([["--json"], ["--quiet"], ["--help"], ["--version"], ["--"], ["--jsn"]]),
    TEXT.map(lambda text: [text]),
)
TARGET = st.sampled_from(["thrown", "torque_free", "kepler", "swarm", "throw", "file", "scene.rb.json", "a.rb", "."])
START = st.one_of(
    st.tuples(st.just("run"), TARGET | TEXT).map(list),
    st.sampled_from([["list"], ["schema"], ["info"], ["demo", "--out", "file"], [], ["rnu"]]),
    TEXT.map(lambda text: [text]),
)
ARGUMENTS = st.tuples(START, st.lists(WORDS, max_size=5)).map(lambda parts: [*parts[0], *itertools.chain(*parts[1])])

PLAUSIBLE = {
    "--time-step": ["0.01", "0.003", "0.5", "1e300"],
    "--device": ["cpu"],
    "--integrator": ["rk4", "rk45", "implicit_euler", "explicit_euler"],
    "--worlds": ["1", "3"],
    "--record": ["a.npz", "b/a.csv", "b/c/ω.csv"],
    "--save": ["a.rb", "b/c/a.rb"],
    "--quantities": ["energy", "position,iterations", "converged", "body.angular_velocity"],
    "--every": ["1", "3", "100"],
}
SCENES = ["thrown", "torque_free", "kepler", "orbits", "swarm", "a.rb", "scene.rb.json"]
PAIRS = ["count=3", "speed=1e200", "speed=1e-200", "drag=0", "tilt=-1", "seed=7", "eccentricity=0.99", "spin=1e9"]
RUNS = st.tuples(
    st.tuples(st.sampled_from(SCENES), st.just("--duration"), st.sampled_from(["0.02", "0.05", "0.013", "1e-300"])),
    st.lists(st.sampled_from(PAIRS), max_size=1),
    st.lists(st.sampled_from(list(PLAUSIBLE)), max_size=4).flatmap(
        lambda names: st.tuples(*(st.sampled_from([[name, value] for value in PLAUSIBLE[name]]) for name in names))
    ),
).map(lambda parts: ["run", *parts[0], *itertools.chain(*parts[2]), *parts[1], "--json"])


@pytest.fixture(scope="module", autouse=True)
def own_folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("anything")
    (folder / "file").write_text("hello", encoding="utf-8")
    ball = {"name": "body", "shape": {"kind": "sphere", "radius": 0.1}, "velocity": [1, 2, 3]}
    scene = {"format": "rattleback-scene", "version": 1, "name": "drop", "bodies": [ball]}
    (folder / "scene.rb.json").write_text(json.dumps(scene), encoding="utf-8")
    with contextlib.chdir(folder):
        yield


def call(argv):
    with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.redirect_stderr(io.StringIO()) as err:
        code = main(argv)
    return code, out.getvalue(), err.getvalue()


@given(ARGUMENTS)
@example(["run", "thrown", "\udcff=1"])
@example(["run", "thrown", "speed=1e300", "drag=0", "--duration", "0.02", "--record", "huge.csv", "--json"])
@example(["run", "thrown", "--time-step", "1e300", "--duration", "1e300"])
@example(["run", "kepler", "--duration", "1e-300", "--json"])
def test_every_list_of_arguments_is_answered(argv):
    code, out, err = call(argv)
    assert code in (0, 1, 2)
    if code:
        assert re.search(r"^rattleback: .*[.:]", err, re.MULTILINE | re.DOTALL)
        assert "Traceback" not in err
    if code == 1:
        assert not err.startswith("usage:")
    if code == 2:
        assert err.startswith("usage: rattleback")
        assert out == ""
    if "--json" in argv and argv[0] in MENU and code < 2 and not {"--help", "--version", "--"} & set(argv):
        assert ("error" in json.loads(out)) == (code == 1)


@given(RUNS)
def test_every_plausible_run_is_done_or_refused_with_a_reason(argv):
    code, out, err = call(argv)
    found = json.loads(out) if code < 2 else {}
    if code == 0:
        assert err == ""
        assert found["steps"] >= 1
        assert all(path in argv for path in found["files"].values())
    elif code == 1:
        assert err == f"rattleback: {found['error']['message']}\n"
    else:
        assert "has no effect without --record, --plot or --out" in err
