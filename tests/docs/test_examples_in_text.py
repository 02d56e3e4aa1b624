"""Every Python example in the README, the docs and the folder of examples runs as it stands."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


def blocks() -> list[pytest.ParameterSet]:
    found = []
    for page in PAGES:
        for number, code in enumerate(
            re.findall(r"^```python\n(.*?)^```", page.read_text(encoding="utf-8"), re.S | re.M)
        ):
            found.append(pytest.param(code, id=f"{page.name}-{number + 1}"))
    return found


@pytest.mark.parametrize("code", blocks())
def test_an_example_runs_as_it_stands(code: str, tmp_path: Path) -> None:
    """From a file in an empty folder, as a reader would run it."""
    script = tmp_path / "example.py"
    script.write_text(code, encoding="utf-8")
    done = subprocess.run([sys.executable, script.name], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("script", sorted((ROOT / "examples").glob("*.py")), ids=lambda path: path.name)
def test_an_example_file_runs_and_says_something(script: Path, tmp_path: Path) -> None:
    done = subprocess.run([sys.executable, script], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip()


def test_the_example_of_the_readme_has_fifteen_lines() -> None:
    code = re.findall(r"^```python\n(.*?)^```", (ROOT / "README.md").read_text(encoding="utf-8"), re.S | re.M)[0]
    assert len([line for line in code.splitlines() if line.strip()]) <= 15
