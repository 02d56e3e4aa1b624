"""Every command of the tutorial runs as it stands, in order, in a folder that has the examples beside it."""

import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
COMMANDS = [
    line
    for block in re.findall(
        r"^```shell\n(.*?)^```", (ROOT / "docs" / "tutorial.md").read_text(encoding="utf-8"), re.S | re.M
    )
    for line in block.splitlines()
]
# These show a page until Ctrl-C.
PAGES = ("make demo", "rattleback view", "rattleback compare tree --joints direct iterative")
PROGRAMS = {
    "rattleback": [sys.executable, "-m", "rattleback"],
    "python": [sys.executable],
}


def opens_a_page(command: str) -> bool:
    return command.startswith(PAGES) and "--table" not in command


def run(command: str, folder: Path) -> None:
    program, *rest = shlex.split(command)
    argv = [*PROGRAMS.get(program, [program]), *rest]
    quiet = {name: value for name, value in os.environ.items() if name not in ("DISPLAY", "WAYLAND_DISPLAY")}
    # A process group of its own, so that Ctrl-C goes to all that a command has started, as in a terminal.
    process = subprocess.Popen(
        argv, cwd=folder, env=quiet, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    if opens_a_page(command):
        said = next((line for line in process.stdout if "http://127.0.0.1:" in line), "")
        assert said, process.stderr.read()
        os.killpg(process.pid, signal.SIGINT)
    out, err = process.communicate(timeout=240)
    # make itself ends by the signal it gets, whatever the command does.
    fine = (0, -signal.SIGINT) if program == "make" else (0,)
    assert process.returncode in fine, f"{command}\n{out}\n{err}"
    assert "Traceback" not in err


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """An empty folder with the examples, and what the scene file of the crank is read from."""
    place = tmp_path_factory.mktemp("tutorial")
    shutil.copytree(ROOT / "examples", place / "examples")
    run("python examples/crank.py", place)
    return place


@pytest.mark.skipif(shutil.which("make") is None, reason="needs make")
def test_the_demo_of_the_tutorial_runs() -> None:
    assert COMMANDS[0] == "make demo"
    run(COMMANDS[0], ROOT)


@pytest.mark.parametrize("command", COMMANDS[1:])
def test_a_command_of_the_tutorial_runs_as_it_stands(command: str, folder: Path) -> None:
    if command.startswith("rattleback render"):
        pytest.importorskip("moderngl")
    run(command, folder)


def test_the_crank_of_the_tutorial_is_that_of_the_examples() -> None:
    text = (ROOT / "docs" / "tutorial.md").read_text(encoding="utf-8")
    (code,) = [block for block in re.findall(r"^```python\n(.*?)^```", text, re.S | re.M) if "crank" in block]
    assert code.strip() in (ROOT / "examples" / "crank.py").read_text(encoding="utf-8")
