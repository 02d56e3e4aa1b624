"""A Python file inside a simulation: what it finds there, and that its faults stop nobody but itself."""

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rattleback as rb
from rattleback.script import Script


@pytest.fixture
def sim() -> rb.Simulation:
    """A ball that drifts along x at 1 m/s."""
    scene = rb.Scene(gravity=(0, 0, 0))
    scene.add_body(rb.Sphere(0.1), velocity=(1, 0, 0), name="ball")
    return rb.Simulation(scene, time_step=0.1)


@pytest.fixture
def started(sim: rb.Simulation, tmp_path: Path) -> Any:
    """Start a script with this text."""

    def start(text: str, **options: Any) -> Script:
        (tmp_path / "push.py").write_text(text, encoding="utf-8")
        script = Script(tmp_path / "push.py", **options)
        script.start(sim)
        return script

    return start


def test_a_script_finds_the_simulation_and_the_package_and_registers_functions(
    sim: rb.Simulation, started: Any
) -> None:
    script = started(
        "import os\n"
        "assert __name__ == '__main__' and os.path.basename(__file__) == 'push.py'\n"
        "assert isinstance(sim, rb.Simulation)\n"
        "UP = (0, 0, 2.0)\n"
        "@sim.at(0.5)\n"
        "def push(sim):\n"
        "    sim['ball'].velocity = UP\n"
    )
    sim.run(1.0)
    assert (script.fault, script.running) == ("", True)
    np.testing.assert_allclose(sim["ball"].position, [0.5, 0, 1.0], atol=1e-14)
    script.stop()
    assert not script.running
    assert len(sim.observers) == 0
    script.stop()


FAULTS = {
    "def f(:\n": (1, "def f(:", "SyntaxError: "),
    "x = 1\nif x:\ny = 2\n": (3, "y = 2", "IndentationError: "),
    "x = 1\n  \ny = x / 0  # here\n": (3, "y = x / 0  # here", "ZeroDivisionError: division by zero"),
    "def f():\n    sim['bell']\nf()\n": (2, "sim['bell']", "UnknownName: There is no body"),
    "raise RuntimeError\n": (1, "raise RuntimeError", "RuntimeError"),
    "import sys\nsys.exit('no')\n": (2, "sys.exit('no')", "SystemExit: no"),
    "sim.at(-1)\n": (1, "sim.at(-1)", "InputError: A time of at is -1; it must be zero or more."),
}


@pytest.mark.parametrize("text", FAULTS)
def test_a_fault_at_the_start_is_told_with_its_line_and_leaves_nothing_behind(
    text: str, sim: rb.Simulation, started: Any, tmp_path: Path
) -> None:
    said: list[str] = []
    line, source, error = FAULTS[text]
    script = started(f"sim.after_step(lambda sim: 1 / 0)\n{text}", tell=said.append)
    first, second, *_ = script.fault.splitlines()
    assert first.startswith(f"{tmp_path / 'push.py'}, line {line + 1}: ")
    assert first.endswith(source)
    assert second.startswith(error)
    assert said == [script.fault]
    assert not script.running
    assert len(sim.observers) == 0
    sim.run(0.3)


def test_a_fault_in_a_function_stops_the_script_and_the_simulation_goes_on(sim: rb.Simulation, started: Any) -> None:
    seen: list[int] = []
    sim.after_step(lambda sim: seen.append(sim.state.steps))
    script = started(
        "count = []\n"
        "@sim.after_step\n"
        "def note(sim):\n"
        "    count.append(1)\n"
        "    if len(count) == 3:\n"
        "        raise ValueError('three')\n"
        "sim.after_step(lambda sim: sim['ball'].apply_impulse((0, 0, sim['ball'].mass)))\n"
    )
    sim.step(10)
    where, what, note = script.fault.splitlines()
    assert where.endswith("push.py, line 6: raise ValueError('three')")
    assert what == "ValueError: three"
    assert note == "Raised by 'note', called after a step, after step 3, t = 0.3 s."
    assert seen == list(range(1, 11))
    assert len(sim.observers) == 1
    # Struck upwards by 1 m/s after each of the first two steps.
    assert sim["ball"].position[2] == pytest.approx(0.1 * 1.0 + 0.8 * 2.0, abs=1e-14)


def test_what_functions_of_a_script_bring_belongs_to_it_too(sim: rb.Simulation, started: Any) -> None:
    script = started(
        "def later(sim):\n"
        "    raise ValueError\n"
        "@sim.at(0.1)\n"
        "def bring(sim):\n"
        "    sim.at(0.3)(later)\n"
        "    sim.observe(rb.BreakEvents())\n"
    )
    sim.step(2)
    assert len(sim.observers) == 3
    sim.step(2)
    assert script.fault.startswith(str(script.path))
    assert "line 2: raise ValueError" in script.fault
    assert len(sim.observers) == 0


def test_a_value_that_cannot_be_written_stops_the_script_alone(sim: rb.Simulation, started: Any) -> None:
    script = started("@sim.after_step\ndef spoil(sim):\n    sim['ball'].velocity[:] = float('nan')\n")
    sim.step(5)
    assert "InputError: The velocity written is not finite" in script.fault
    assert "Raised by 'spoil'" in script.fault
    assert sim["ball"].position[0] == pytest.approx(0.5)


def test_the_keyboard_interrupts_a_script_and_comes_through(sim: rb.Simulation, started: Any, tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt):
        started("sim.after_step(print)\nraise KeyboardInterrupt\n")
    assert len(sim.observers) == 0
    script = started("@sim.at(0.2)\ndef press(sim):\n    raise KeyboardInterrupt\n")
    with pytest.raises(KeyboardInterrupt):
        sim.step(5)
    assert (sim.state.steps, script.fault) == (2, "")


def test_a_script_may_leave_without_a_fault(sim: rb.Simulation, started: Any) -> None:
    script = started("import sys\n@sim.at(0.2)\ndef leave(sim):\n    sys.exit()\nsim.after_step(lambda sim: None)\n")
    sim.step(5)
    assert (script.fault, script.running, len(sim.observers)) == ("", False, 0)


def test_starting_again_reads_the_file_again(sim: rb.Simulation, started: Any) -> None:
    script = started("1 / 0\n")
    assert "ZeroDivisionError" in script.fault
    script.path.write_text("sim.after_step(lambda sim: None)\n")
    script.start(sim)
    script.start(sim)
    assert (script.fault, script.running, len(sim.observers)) == ("", True, 1)
    script.path.unlink()
    script.start(sim)
    assert script.fault.startswith(f"{script.path}\nFileNotFoundError: ")
    assert len(sim.observers) == 0


def test_a_script_imports_what_lies_beside_it_and_the_path_is_as_before(
    sim: rb.Simulation, started: Any, tmp_path: Path
) -> None:
    (tmp_path / "lies_beside_push.py").write_text("SPEED = 3.0\n")
    before = list(sys.path)
    script = started("import lies_beside_push as it\nsim['ball'].velocity[0] = it.SPEED\n")
    assert (script.fault, sys.path) == ("", before)
    sys.modules.pop("lies_beside_push")
    sim.step()
    assert sim["ball"].position[0] == pytest.approx(0.3)


def test_names_of_this_package_do_not_leak_into_a_script(started: Any) -> None:
    script = started("def f(x: int) -> int: ...\nassert f.__annotations__ == {'x': int, 'return': int}\nPath\n")
    assert script.fault.endswith("NameError: name 'Path' is not defined")


def test_a_script_in_another_encoding_runs_and_bytes_that_are_none_are_a_fault(
    sim: rb.Simulation, tmp_path: Path
) -> None:
    path = tmp_path / "latin.py"
    path.write_bytes("# coding: latin-1\nassert 'é' == chr(233)\n".encode("latin-1"))
    script = Script(path)
    script.start(sim)
    assert script.fault == ""
    path.write_bytes(b"x = '\xff'\n")
    script.start(sim)
    assert "SyntaxError: " in script.fault


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("gone.py", "There is no script 'gone.py'; give the path of a Python file."),
        (".", "There is no script '.'; give the path of a Python file."),
        ("x" * 300, f"The script '{'x' * 300}' cannot be read: File name too long."),
    ],
)
def test_a_file_that_is_not_there_is_refused(path: str, message: str) -> None:
    with pytest.raises(rb.FileError) as caught:
        Script(path)
    assert str(caught.value) == message
