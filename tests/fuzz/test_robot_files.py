"""Damaged robot files of each format: loaded, or refused by an error that names the file; nothing else happens."""

import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from fuzz.robot_files import ENDINGS, damaged, good

TESTS = Path(__file__).resolve().parents[1]
FEW, ALL = 40, 500
NEEDED = {"mjcf": "mujoco", "usd": "pxr"}


def verdicts(kind: str, first: int, count: int, seconds: float) -> list[dict]:
    """What becomes of damaged files, in a process that may crash or hang."""
    if kind in NEEDED:
        pytest.importorskip(NEEDED[kind], reason="needs pip install 'rattleback[formats]'")
    command = [sys.executable, "-m", "fuzz.robot_worker", kind, str(first), str(first + count)]
    paths = os.pathsep.join([str(TESTS), *sys.path])
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=seconds, cwd=TESTS, env={**os.environ, "PYTHONPATH": paths}
    )
    lines = done.stdout.splitlines()
    assert done.returncode == 0, f"{lines[-1:]}: ended with {done.returncode}\n{done.stderr[-2000:]}"
    return [json.loads(line) for line in lines if line.startswith("{")]


def faults(told: list[dict]) -> list[str]:
    return [f"{one['kind']} {one['number']}: {said}" for one in told for said in one["found"]]


@pytest.mark.parametrize("kind", ENDINGS)
def test_damaged_files_are_refused_or_load(kind: str) -> None:
    told = verdicts(kind, 0, FEW, 300.0)
    assert faults(told) == []
    ends = Counter(one["end"] for one in told)
    assert ends["refused"] > 0
    assert ends["loaded"] > 0


@pytest.mark.slow
@pytest.mark.parametrize("kind", ENDINGS)
def test_five_hundred_damaged_files_are_refused_or_load(kind: str) -> None:
    assert faults(verdicts(kind, 0, ALL, 3000.0)) == []


def test_the_same_number_damages_the_same_way() -> None:
    for kind in ENDINGS:
        assert damaged(kind, 3) == damaged(kind, 3)
        assert damaged(kind, 3) != good(kind)
