import re
import signal
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest

from rattleback.cli.main import main

pytest.importorskip("viser")
pytest.importorskip("gemmi", reason="needs pip install 'rattleback[molecules]'")
HAIRPIN = Path(__file__).resolve().parents[2] / "examples" / "molecules" / "hairpin.pdb"


def test_protein_prints_its_address_serves_the_page_and_ends_cleanly_with_ctrl_c():
    program = """
import runpy, signal
signal.signal(signal.SIGINT, signal.default_int_handler)
runpy.run_module("rattleback", run_name="__main__", alter_sys=True)
"""
    argv = ["protein", str(HAIRPIN), "--residue", "A:5B", "--no-browser"]
    process = subprocess.Popen(
        [sys.executable, "-c", program, *argv], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    line = process.stdout.readline()
    address = re.search(r"The protein is at (http://127\.0\.0\.1:\d+/\?token=\S+)", line)[1]
    opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor())
    assert b"<html" in opener.open(address).read()
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=30)
    assert (err, process.returncode) == ("", 0)


@pytest.mark.egl
def test_a_picture_is_written_instead(capsys, tmp_path):
    assert main(["protein", str(HAIRPIN), "--style", "trace", "--render", str(tmp_path / "a.png")]) == 0
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")
    assert f"Wrote the picture to {tmp_path / 'a.png'}" in capsys.readouterr().out


def test_a_ramachandran_plot_is_written_instead(capsys, tmp_path):
    assert main(["protein", str(HAIRPIN), "--ramachandran", str(tmp_path / "a.svg")]) == 0
    assert "<svg" in (tmp_path / "a.svg").read_text()
    assert "Wrote the plot" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("argv", "sentence"),
    [
        (["none.pdb"], "there is no such file"),
        ([str(HAIRPIN), "--residue", "A:77", "--no-browser"], "has no amino acid 'A:77'"),
        ([str(HAIRPIN), "--style", "cartoon", "--no-browser"], "The style of a protein is 'cartoon'"),
    ],
)
def test_what_cannot_be_shown_is_told_in_a_sentence(argv, sentence, capsys):
    assert main(["protein", *argv]) == 1
    assert sentence in capsys.readouterr().err
