"""Spoilt scene and state files: refused by an error of rattleback, or loaded and simulated; nothing else happens."""

import io
import json
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

import rattleback as rb
from fuzz import pool
from fuzz.file_mutations import MOST_CHANGES, spoilt
from fuzz.file_seeds import SCENES, good_files
from fuzz.file_verdict import judge_file

pytestmark = pytest.mark.contacts

# Files of the quick test, of all, and how many of them one slow test takes.
FEW, ALL, SHARE = 100, 100_000, 2000


def faults(first: int, count: int) -> list[str]:
    """What is wrong with what becomes of spoilt files."""
    return [
        f"file {verdict['seed']}: {kind}: {said}"
        for verdict in pool.file_verdicts(first, first + count)
        for kind, said in verdict["found"]
    ]


def test_spoilt_files_are_refused_or_load() -> None:
    assert faults(0, FEW) == []


@pytest.mark.slow
@pytest.mark.parametrize("first", range(0, ALL, SHARE))
def test_a_hundred_thousand_spoilt_files_are_refused_or_load(first: int) -> None:
    assert faults(first, SHARE) == []


def test_the_files_are_good_before_they_are_spoilt(tmp_path: Path) -> None:
    """Each goes on as its simulation would; together they have worlds, stops, servos, breaks, sleep and contacts."""
    filled: Counter[str] = Counter()
    for number, good in enumerate(good_files()):
        scene = json.dumps(good.scene).encode()
        for suffix, content in ((".json", scene), (".npz", good.state)):
            verdict = judge_file(number, suffix, content, tmp_path)
            assert (verdict["end"], verdict["found"]) == ("steps", [])
        with np.load(io.BytesIO(good.state)) as state:
            filled.update(name for name in state.files if name != "header.json" and np.any(state[name] != 0))
    wanted = {"contacts.part", "sleep.asleep", "servos.integral", "breaks.broken", "joints.angle", "clock.substep"}
    assert wanted - set(filled) == set()
    assert len(good_files()) == len(SCENES)


def test_the_same_number_spoils_the_same_way() -> None:
    assert spoilt(5) == spoilt(5)
    assert spoilt(5) != spoilt(6)
    assert MOST_CHANGES > 1


def test_some_spoilt_files_load_and_some_are_refused(tmp_path: Path) -> None:
    ends = Counter((v["kind"], v["end"]) for v in (judge_file(n, *spoilt(n), tmp_path) for n in range(50)))
    assert all(ends[kind, end] > 0 for kind in (".json", ".npz") for end in ("refused", "steps"))


def test_an_error_from_inside_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(path: object) -> None:
        raise KeyError(path)

    good = good_files()[0]
    monkeypatch.setattr(rb, "load", broken)
    verdict = judge_file(0, ".npz", good.state, tmp_path)
    assert [kind for kind, _ in verdict["found"]] == ["exception"]
