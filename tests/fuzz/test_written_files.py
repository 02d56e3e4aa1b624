"""Random mechanisms as robot files: every one is written, read back, and weighs what it did."""

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rattleback as rb
from fuzz.random_mechanism import draw

ENDINGS = ("urdf", "xml", "usda")
OPEN = {"apart", "conflict", "twice", "loop"}


def inertias(links: dict[str, Any]) -> dict[str, Any]:
    return {name: link.inertia for name, link in links.items()}


def judge(seed: int, folder: Path) -> None:
    scene = draw(seed).scene
    for ending in ENDINGS:
        report = scene.export(folder / f"robot.{ending}")
        places = {entry.place for entry in report.entries}
        assert {f"body {body.name!r}" for body in scene.bodies} <= places, seed
        assert {f"joint {name!r}" for name in scene.joints} <= places, seed
        assert {f"force {name!r}" for name in scene.forces} <= places, seed
        with warnings.catch_warnings():
            warnings.simplefilter("error", RuntimeWarning)
            again = rb.Scene.from_file(folder / f"robot.{ending}", **({"loops": False} if ending == "urdf" else {}))
        told = again.robot.description.links
        names = [body.name for body in scene.bodies if not body.static]
        mass, moving = (sum(part[name].mass for name in names) for part in (inertias(told), scene))
        np.testing.assert_allclose(mass, moving, rtol=1e-9, err_msg=str(seed))
        unknown = [entry for entry in again.import_report.dropped if "not know" in entry.note]
        assert not unknown, (seed, ending, unknown)


@pytest.mark.parametrize("first", range(0, 20, 10))
def test_random_mechanisms_are_read_back(first: int, tmp_path: Path) -> None:
    """Those whose joints are closed and do not contradict each other; else the reader searches long for a start."""
    for seed in range(first, first + 10):
        if not OPEN & set(draw(seed).traits):
            judge(seed, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("first", range(100, 600, 50))
def test_many_random_mechanisms_are_read_back(first: int, tmp_path: Path) -> None:
    for seed in range(first, first + 50):
        judge(seed, tmp_path)
