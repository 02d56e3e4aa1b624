import json
import re
import signal
import subprocess
import sys
import time
import types
import urllib.error
import urllib.request

import pytest

import rattleback as rb
from rattleback.cli.main import main

pytest.importorskip("viser")
# A shell may start what it runs with Ctrl-C switched off; this program switches it on first.
COMMAND = """
import runpy, signal
signal.signal(signal.SIGINT, signal.default_int_handler)
runpy.run_module("rattleback", run_name="__main__", alter_sys=True)
"""


def started(*argv):
    """The command as a process, and the first line it printed that holds an address."""
    process = subprocess.Popen(
        [sys.executable, "-c", COMMAND, *map(str, argv)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    for line in process.stdout:
        if "http://" in line:
            return process, line
    raise AssertionError(process.stderr.read())


def ended(process):
    """Standard output, the lines on standard error, and the exit code after Ctrl-C."""
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=30)
    # The first run on a machine says that it compiles.
    said = [line for line in err.splitlines() if not line.startswith("Compiling kernels")]
    return out, said, process.returncode


def test_view_prints_its_address_serves_the_page_and_ends_cleanly_with_ctrl_c():
    process, line = started("view", "pendulum", "--no-browser")
    address = re.search(r"http://127\.0\.0\.1:\d+/\?token=\S+", line)[0]
    for _ in range(2):
        browser = urllib.request.build_opener(urllib.request.HTTPCookieProcessor())
        assert b"<html" in browser.open(address).read()
    with pytest.raises(urllib.error.HTTPError, match="403"):
        urllib.request.urlopen(address.partition("?")[0])
    _, err, code = ended(process)
    assert (err, code) == ([], 0)


def test_the_demo_prints_picture_and_address_and_ends_cleanly_with_ctrl_c(tmp_path, monkeypatch):
    for name in ("DISPLAY", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(name, raising=False)
    process, line = started("demo", "--out", tmp_path)
    assert "The simulator is at http://127.0.0.1:" in line
    assert (tmp_path / "tumbling.png").read_bytes().startswith(b"\x89PNG")
    _, err, code = ended(process)
    assert (err, code) == ([], 0)


@pytest.mark.contacts
def test_a_failing_script_is_shown_with_its_line_and_the_simulator_goes_on(tmp_path, monkeypatch, capsys):
    script = tmp_path / "push.py"
    script.write_text("@sim.at(0.02)\ndef push(sim):\n    sim['nobody'].velocity = (1, 0, 0)\n")
    said = []

    def wait(shown):
        """Until the fault is told and the simulator has gone on; then Ctrl-C."""
        shown.session.play()
        end, told = time.monotonic() + 30.0, None
        while told is None or shown.session.frame.steps < told + 5:
            assert time.monotonic() < end, "it never went on"
            time.sleep(0.01)
            said.append(capsys.readouterr().err)
            if told is None and "push.py, line 3" in "".join(said):
                told = shown.session.frame.steps
        raise KeyboardInterrupt

    monkeypatch.setattr("rattleback.viewer.opened.Opened.wait", wait)
    assert main(["view", "pendulum", "--no-browser", "--script", str(script)]) == 1
    told = "".join(said)
    assert "The script failed and is stopped; the simulator goes on." in told
    assert f"{script}, line 3: sim['nobody'].velocity = (1, 0, 0)" in told


def test_a_page_for_others_without_a_token_is_refused(capsys):
    assert main(["view", "pendulum", "--listen", "0.0.0.0"]) == 1
    assert "choose a token they have to know" in capsys.readouterr().err


def test_a_script_that_is_not_there_is_refused_before_anything_opens(capsys):
    assert main(["view", "pendulum", "--script", "nowhere.py"]) == 1
    assert "There is no script 'nowhere.py'" in capsys.readouterr().err


def test_compare_prints_a_row_for_every_method_and_draws_them(capsys, tmp_path):
    plot = tmp_path / "errors.png"
    argv = ["compare", "chain", "--joints", "direct", "iterative", "--duration", "0.1", "--plot", str(plot)]
    assert main(argv) == 0
    out = capsys.readouterr().out
    assert [word for word in ("direct", "iterative", f"Wrote the plot to {plot}") if word not in out] == []
    assert plot.read_bytes().startswith(b"\x89PNG")


def test_compare_takes_every_combination(capsys):
    argv = ["compare", "pendulum", "--integrator", "rk4", "taylor2", "--time-step", "0.01", "0.02", "--duration", "0.1"]
    assert main([*argv, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert {row["method"]: row["steps"] for row in found["methods"]} == {
        "time step 0.01, integrator rk4": 10,
        "time step 0.01, integrator taylor2": 10,
        "time step 0.02, integrator rk4": 5,
        "time step 0.02, integrator taylor2": 5,
    }


def test_too_many_and_equal_lanes_are_refused(capsys):
    steps = [str(0.001 * k) for k in range(1, 15)]
    assert main(["compare", "pendulum", "--time-step", *steps, "--table"]) == 1
    assert "These are 14 combinations; at most 12" in capsys.readouterr().err
    assert main(["compare", "pendulum", "--integrator", "rk4", "rk4", "--table"]) == 1
    assert "'rk4' is to be compared with itself" in capsys.readouterr().err


@pytest.mark.contacts
def test_compare_opens_a_page_with_all_of_them(monkeypatch, capsys):
    labels = []

    def wait(shown):
        labels.extend(shown.session.labels)
        raise KeyboardInterrupt

    monkeypatch.setattr("rattleback.viewer.opened.Opened.wait", wait)
    assert main(["compare", "chain", "--joints", "direct", "iterative", "--no-browser"]) == 0
    assert "http://" in capsys.readouterr().out
    assert labels == ["direct", "iterative"]


def test_the_demo_shows_the_hit_slowly_and_then_goes_on_as_before():
    from rattleback.cli import demo

    sim, speeds = rb.Simulation(rb.scenes.pendulum(), time_step=0.05), []
    session = types.SimpleNamespace(set_speed=lambda speed: speeds.append((round(sim.time, 3), speed)))
    demo.slow_through(sim, session)
    sim.run(3.0)
    assert speeds == [(demo.HIT[0], demo.SLOW), (demo.HIT[1], 1.0)]
