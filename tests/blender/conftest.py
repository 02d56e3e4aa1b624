"""What tests in Blender share: a Python that has Blender as a module, and scripts that run in it."""

import functools
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
MISSING = "needs Blender as a module (bpy 5.0), which is not here; `make test-blender` installs it beside"


@functools.cache
def python_with_blender() -> str:
    """The Python to run scripts in: that of RATTLEBACK_BLENDER, of .venv-blender, or this one; empty if none has it."""
    beside = ROOT / ".venv-blender" / "bin" / "python"
    for python in (os.environ.get("RATTLEBACK_BLENDER", ""), str(beside), sys.executable):
        found = [python, "-c", "import importlib.util, sys; sys.exit(importlib.util.find_spec('bpy') is None)"]
        if python and Path(python).exists() and subprocess.run(found, check=False, capture_output=True).returncode == 0:
            return python
    return ""


@pytest.fixture
def in_blender(tmp_path: Path):
    """Runs a script in Blender with arguments."""
    if not (python := python_with_blender()):
        pytest.skip(MISSING)

    def call(script: Path, *arguments: object) -> None:
        # The package and the add-on know each other by files alone, so Blender's Python must not see the package.
        clean = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
        done = subprocess.run(
            [python, str(script), *map(str, arguments)],
            cwd=tmp_path,
            env={**clean, "BLENDER_USER_RESOURCES": str(tmp_path / "blender")},
            capture_output=True,
            text=True,
            check=False,
            timeout=280,
        )
        assert done.returncode == 0, f"{done.stdout[-3000:]}\n{done.stderr[-3000:]}"

    return call


@pytest.fixture
def blender(tmp_path: Path, in_blender):
    """Runs a script of this folder in Blender with arguments; returns what it writes as JSON to its first one."""

    def call(script: str, *arguments: object):
        answer = tmp_path / "answer.json"
        in_blender(Path(__file__).parent / "scripts" / script, answer, *arguments)
        return json.loads(answer.read_text(encoding="utf-8"))

    return call
