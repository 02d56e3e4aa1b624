"""Every command of the page of variants runs as it stands, in order, beside the function the page shows."""

import re
import shlex
import sys
from pathlib import Path

from rattleback.cli.main import main
from rattleback.sweeps import load

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "variants.md").read_text(encoding="utf-8")


def test_the_commands_of_the_page_run_as_they_stand(tmp_path, monkeypatch, capsys):
    (code,) = [block for block in re.findall(r"^```python\n(.*?)^```", PAGE, re.S | re.M) if "def brake" in block]
    (tmp_path / "braking.py").write_text(code[: code.index("\nresult = ")], encoding="utf-8")
    (shell,) = re.findall(r"^```shell\n(.*?)^```", PAGE, re.S | re.M)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    try:
        for line in shell.splitlines():
            program, *argv = shlex.split(line)
            assert program == "rattleback"
            assert main(argv) == 0, capsys.readouterr().err
    finally:
        sys.modules.pop("braking", None)
    assert "6 of 6 variants are done, 0 of them failed." in capsys.readouterr().out
    assert load("runs")["distance"][3] == 10.0**2 / (2.0 * 0.5 * 9.81)
