"""Every command of the tutorial runs as it stands, in order, in a folder that has the examples beside it.

The commands run in the process of the tests; as processes of their own, which Ctrl-C ends, `tests/cli/` runs each kind.
"""

import os
import re
import runpy
import shlex
import shutil
import signal
import subprocess
from pathlib import Path

import pytest

from rattleback.cli.main import main

ROOT = Path(__file__).resolve().parents[2]
COMMANDS = [
    line
    for block in re.findall(
        r"^```shell\n(.*?)^```", (ROOT / "docs" / "tutorial.md").read_text(encoding="utf-8"), re.S | re.M
    )
    for line in block.splitlines()
]
# These show a page until Ctrl-C.
PAGES = ("rattleback view", "rattleback compare tree --joints direct iterative")
pytestmark = pytest.mark.contacts
needs_make = pytest.mark.skipif(shutil.which("make") is None, reason="needs make")


def opens_a_page(command: str) -> bool:
    return command.startswith(PAGES) and "--table" not in command


def press_ctrl_c(_) -> None:
    """In place of the waiting of a page."""
    raise KeyboardInterrupt


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An empty folder with the examples, and what the scene file of the crank is read from."""
    place = tmp_path_factory.mktemp("tutorial")
    shutil.copytree(ROOT / "examples", place / "examples")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(place)
        runpy.run_path("examples/crank.py", run_name="__main__")
    return place


@needs_make
def test_the_demo_of_the_tutorial_is_the_demo_of_the_command_line() -> None:
    assert COMMANDS[0] == "make demo"
    done = subprocess.run(["make", "-n", "demo"], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == ".venv/bin/rattleback demo --out out"


@needs_make
@pytest.mark.slow
def test_the_demo_of_the_tutorial_runs() -> None:
    quiet = {name: value for name, value in os.environ.items() if name not in ("DISPLAY", "WAYLAND_DISPLAY")}
    # A process group of its own, so that Ctrl-C goes to all that make has started, as in a terminal.
    process = subprocess.Popen(
        ["make", "demo"],
        cwd=ROOT,
        env=quiet,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    said = next((line for line in process.stdout if "http://127.0.0.1:" in line), "")
    assert said, process.stderr.read()
    os.killpg(process.pid, signal.SIGINT)
    out, err = process.communicate(timeout=240)
    # make itself ends by the signal it gets, whatever the command does.
    assert process.returncode in (0, -signal.SIGINT), f"{out}\n{err}"
    assert "Traceback" not in err


@pytest.mark.parametrize("command", COMMANDS[1:])
def test_a_command_of_the_tutorial_runs_as_it_stands(command: str, folder: Path, monkeypatch, capsys) -> None:
    program, *rest = shlex.split(command)
    if command.startswith("rattleback render"):
        pytest.importorskip("moderngl")
    monkeypatch.chdir(folder)
    for name in ("DISPLAY", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(name, raising=False)
    if program == "python":
        runpy.run_path(*rest, run_name="__main__")
        return
    assert program == "rattleback"
    if opens_a_page(command):
        monkeypatch.setattr("rattleback.viewer.opened.Opened.wait", press_ctrl_c)
    assert main(rest) == 0, capsys.readouterr().err
    assert ("http://127.0.0.1:" in capsys.readouterr().out) == opens_a_page(command)


def test_the_crank_of_the_tutorial_is_that_of_the_examples() -> None:
    text = (ROOT / "docs" / "tutorial.md").read_text(encoding="utf-8")
    (code,) = [block for block in re.findall(r"^```python\n(.*?)^```", text, re.S | re.M) if "crank" in block]
    assert code.strip() in (ROOT / "examples" / "crank.py").read_text(encoding="utf-8")
