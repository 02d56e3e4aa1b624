"""Every Python example in the README, the docs and the folder of examples runs as it stands.

The examples of a page are run in one process, which spares each of them the loading of the package. Everyone has a
folder and a namespace of its own.
"""

import re
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


RUNNER = textwrap.dedent("""
    import os, pathlib, runpy, sys, traceback

    failed = 0
    for script in map(pathlib.Path, sys.argv[1:]):
        os.chdir(script.parent)
        try:
            runpy.run_path(script.name, run_name="__main__")
        except BaseException:
            failed = 1
            print(f"Example {script.stem}:", traceback.format_exc(), sep=chr(10), file=sys.stderr)
    sys.exit(failed)
""")


def blocks(page: Path) -> list[str]:
    return re.findall(r"^```python\n(.*?)^```", page.read_text(encoding="utf-8"), re.S | re.M)


@pytest.mark.parametrize("page", [page for page in PAGES if blocks(page)], ids=lambda page: page.name)
def test_the_examples_of_a_page_run_as_they_stand(page: Path, tmp_path: Path) -> None:
    """From files in empty folders, as a reader would run them."""
    scripts = []
    for number, code in enumerate(blocks(page), 1):
        scripts.append(tmp_path / str(number) / f"{number}.py")
        scripts[-1].parent.mkdir()
        scripts[-1].write_text(code, encoding="utf-8")
    done = subprocess.run([sys.executable, "-c", RUNNER, *scripts], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("script", sorted((ROOT / "examples").glob("*.py")), ids=lambda path: path.name)
def test_an_example_file_runs_and_says_something(script: Path, tmp_path: Path) -> None:
    done = subprocess.run([sys.executable, script], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip()


def test_the_example_of_the_readme_has_fifteen_lines() -> None:
    code = blocks(ROOT / "README.md")[0]
    assert len([line for line in code.splitlines() if line.strip()]) <= 15
