"""Every Python example in the README, the docs and the folder of examples runs as it stands.

Each has a folder and a namespace of its own. Those of the README and the example of a machine run in processes of their
own, as a reader would run them; the others run in the process of the tests, which spares them loading the package.
"""

import re
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
README, PAGES = ROOT / "README.md", sorted((ROOT / "docs").glob("*.md"))
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))
ALONE = "crank.py"
pytestmark = pytest.mark.contacts


def blocks(page: Path) -> list[str]:
    return re.findall(r"^```python\n(.*?)^```", page.read_text(encoding="utf-8"), re.S | re.M)


@pytest.fixture
def drawn_nowhere(monkeypatch: pytest.MonkeyPatch) -> None:
    """Figures go to files, as where there is no screen, and none is left open for the next example."""
    plt = pytest.importorskip("matplotlib.pyplot")
    plt.switch_backend("Agg")
    yield
    plt.close("all")


def run_alone(script: Path, folder: Path) -> str:
    """What a script prints in a process of its own."""
    done = subprocess.run([sys.executable, script], cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_examples_of_the_readme_run_as_they_stand(tmp_path: Path) -> None:
    for number, code in enumerate(blocks(README), 1):
        script = tmp_path / str(number) / f"{number}.py"
        script.parent.mkdir()
        script.write_text(code, encoding="utf-8")
        run_alone(script, script.parent)


@pytest.mark.usefixtures("drawn_nowhere")
@pytest.mark.parametrize("page", [page for page in PAGES if blocks(page)], ids=lambda page: page.name)
def test_the_examples_of_a_page_run_as_they_stand(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """From files in empty folders."""
    for number, code in enumerate(blocks(page), 1):
        script = tmp_path / str(number) / f"{number}.py"
        script.parent.mkdir()
        script.write_text(code, encoding="utf-8")
        monkeypatch.chdir(script.parent)
        runpy.run_path(str(script), run_name="__main__")


@pytest.mark.usefixtures("drawn_nowhere")
@pytest.mark.parametrize("script", EXAMPLES, ids=lambda path: path.name)
def test_an_example_file_runs_and_says_something(
    script: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    if script.name == ALONE:
        assert run_alone(script, tmp_path).strip()
        return
    monkeypatch.chdir(tmp_path)
    runpy.run_path(str(script), run_name="__main__")
    assert capsys.readouterr().out.strip()


def test_the_example_of_the_readme_has_fifteen_lines() -> None:
    code = blocks(README)[0]
    assert len([line for line in code.splitlines() if line.strip()]) <= 15
