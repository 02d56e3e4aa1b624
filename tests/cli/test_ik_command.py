import json
import re
import signal
import subprocess
import sys
import urllib.request

import numpy as np
import pytest

import rattleback as rb
from rattleback.cli.main import main

pytest.importorskip("viser")


def test_ik_prints_its_address_serves_the_page_and_ends_cleanly_with_ctrl_c():
    program = """
import runpy, signal
signal.signal(signal.SIGINT, signal.default_int_handler)
runpy.run_module("rattleback", run_name="__main__", alter_sys=True)
"""
    argv = ["ik", "planar_2r", "--method", "dls", "--no-browser"]
    process = subprocess.Popen(
        [sys.executable, "-c", program, *argv], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    line = process.stdout.readline()
    address = re.search(r"The arm is at (http://127\.0\.0\.1:\d+/\?token=\S+)", line)[1]
    opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor())
    assert b"<html" in opener.open(address).read()
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=30)
    assert (err, process.returncode) == ("", 0)


def test_a_plot_of_all_methods_is_written_with_a_table(capsys, tmp_path):
    plot = tmp_path / "new" / "errors.png"
    assert main(["ik", "planar_2r", "--target", "1.2", "0.9", "0", "--plot", str(plot)]) == 0
    out = capsys.readouterr().out
    assert [word for word in (*rb.ik.MENU, "reached", f"Wrote the plot to {plot}") if word not in out] == []
    assert plot.read_bytes().startswith(b"\x89PNG")


def test_json_holds_courses_that_forward_kinematics_confirms(capsys):
    assert main(["ik", "planar_2r", "--target", "1.2", "0.9", "0", "--steps", "50", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["model"], found["target"]) == ("planar_2r", "Position")
    assert [row["method"] for row in found["methods"]] == list(rb.ik.MENU)
    for row in found["methods"]:
        if row["reached"]:
            first, second = row["q"]
            tip = (np.cos(first) + np.cos(first + second), np.sin(first) + np.sin(first + second))
            np.testing.assert_allclose(tip, (1.2, 0.9), atol=2e-6)
    assert sum(bool(row["reached"]) for row in found["methods"]) >= 8


def test_a_table_is_printed_without_a_page(capsys):
    assert main(["ik", "planar_3r", "--steps", "20", "--table"]) == 0
    assert "transpose" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("argv", "sentence"),
    [
        (["ik", "puma", "--table"], "There is no model 'puma'. Did you mean 'puma560'?"),
        (["ik", "--method", "lmm", "--table"], "There is no method 'lmm'. Did you mean 'lm'?"),
        (["ik", "--steps", "0", "--table"], "The most steps"),
        (["ik", "--plot", "errors.txt"], "The path of a plot is 'errors.txt'"),
        (["ik", "--listen", "0.0.0.0"], "choose a token they have to know"),
    ],
)
def test_what_cannot_be_done_is_named(capsys, argv, sentence):
    assert main(argv) == 1
    assert sentence in capsys.readouterr().err
