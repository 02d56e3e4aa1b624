"""The command as a process of its own: streams, pipes, Ctrl-C, what it imports."""

import json
import os
import re
import signal
import subprocess
import sys

import numpy as np
import pytest

from rattleback.cli.main import main

# A shell may start what it runs with Ctrl-C switched off; these programs switch it on first.
COMMAND = """
import runpy, signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)
runpy.run_module("rattleback", run_name="__main__", alter_sys=True)
"""
PRESSED = """
import os, signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)
from rattleback.cli import stepping
from rattleback.cli.main import main

class Watch(stepping.Watch):
    def observe(self, simulation):
        if simulation.state.steps >= 200:
            os.kill(os.getpid(), signal.SIGINT)
        super().observe(simulation)

stepping.Watch = Watch
sys.exit(main(sys.argv[1:]))
"""
IMPORTED = """
import sys
from rattleback.cli.main import main
code = main(sys.argv[1:])
print(*sorted({name.partition(".")[0] for name in sys.modules}), file=sys.stderr)
sys.exit(code)
"""


def run(*argv, program=None, **options):
    head = ["-m", "rattleback"] if program is None else ["-c", program]
    given = {"capture_output": True, "text": True, "timeout": 120, "encoding": "utf-8"} | options
    return subprocess.run([sys.executable, *head, *map(str, argv)], **given)


def test_a_run_prints_one_json_object_and_nothing_else(tmp_path):
    done = run("run", "torque_free", "--duration", "1", "tilt=0.5", "--json", "--save", tmp_path / "s.rb")
    found = json.loads(done.stdout)
    assert (done.returncode, done.stderr) == (0, "")
    # Half of 1 kg m² (0.5 rad/s)² and of 2 kg m² (1 rad/s)².
    assert found["energy_end"] == pytest.approx(0.125 + 1.0, rel=1e-12)
    assert found["files"] == {"state": str(tmp_path / "s.rb")}


@pytest.mark.parametrize(("argv", "code"), [(["run", "nowhere"], 1), (["run"], 2), ([], 2)])
def test_a_refusal_has_its_exit_code_and_a_sentence_without_a_traceback(argv, code):
    done = run(*argv)
    assert (done.returncode, done.stdout) == (code, "")
    assert re.search(r"^rattleback: [A-Z].*\.$", done.stderr, re.MULTILINE)
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("argv", [["list"], ["--help"], ["run", "torque_free", "--duration", "0.1", "--json"]])
def test_a_reader_that_went_away_ends_the_command_quietly(argv):
    reading, writing = os.pipe()
    os.close(reading)
    done = run(*argv, capture_output=False, stdout=writing, stderr=subprocess.PIPE)
    os.close(writing)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs a device that is always full")
@pytest.mark.parametrize("argv", [["list"], ["--help"], ["list", "--json"]])
def test_a_full_disk_under_standard_output_is_told(argv):
    with open("/dev/full", "w") as full:
        done = run(*argv, capture_output=False, stdout=full, stderr=subprocess.PIPE)
    assert done.returncode == 1
    assert done.stderr == "rattleback: Standard output cannot be written: No space left on device.\n"


def test_a_terminal_that_knows_only_ascii_gets_escapes():
    done = run("list", env={**os.environ, "PYTHONIOENCODING": "ascii"})
    assert done.returncode == 0
    assert r"kg m\xb2" in done.stdout


def test_ctrl_c_writes_what_was_asked_for_up_to_there_and_says_how_far_it_got(tmp_path, capsys):
    argv = [
        "run",
        "torque_free",
        "--duration",
        "1e9",
        "--json",
        "--record",
        tmp_path / "a.npz",
        "--save",
        tmp_path / "a.rb",
    ]
    done = run(*argv, program=PRESSED)
    found = json.loads(done.stdout)
    assert done.returncode == 130
    assert found["interrupted"] is True
    assert found["steps"] >= 200
    assert re.fullmatch(
        r"rattleback: Interrupted after [\d.]+ s of 1e\+09 s\. What was asked for is written up to there\.\n",
        done.stderr,
    )
    with np.load(tmp_path / "a.npz") as arrays:
        assert len(arrays["time"]) == found["steps"] + 1
    assert main(["run", str(tmp_path / "a.rb"), "--duration", "0.01", "--json"]) == 0
    going_on = json.loads(capsys.readouterr().out)
    assert going_on["time"] == pytest.approx(found["time"] + 0.01, rel=1e-12)


def test_ctrl_c_from_outside_ends_a_run_whose_bar_moves_on_a_terminal():
    pty = pytest.importorskip("pty")
    ours, theirs = pty.openpty()
    argv = [sys.executable, "-c", COMMAND, "run", "torque_free", "--duration", "1e9"]
    with subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=theirs, text=True) as process:
        os.close(theirs)
        seen = b""
        while b"t = " not in seen:
            seen += os.read(ours, 4096)
        process.send_signal(signal.SIGINT)
        try:
            while chunk := os.read(ours, 4096):
                seen += chunk
        except OSError:
            pass  # Linux reports the other end's closing as an error.
        out, _ = process.communicate(timeout=60)
    os.close(ours)
    assert process.returncode == 130
    assert b"torque_free" in seen
    assert b"rattleback: Interrupted after " in seen
    assert "torque_free, 1 body" in out


@pytest.mark.parametrize("argv", [["--version"], ["list"], ["run", "torque_free", "--duration", "0.1", "--json"]])
def test_nothing_heavy_is_imported_that_the_command_does_not_need(argv):
    done = run(*argv, program=IMPORTED)
    assert done.returncode == 0
    assert not {"matplotlib", "pydantic", "rich"} & set(done.stderr.split())
