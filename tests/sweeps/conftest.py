"""Functions to sweep, in a module that worker processes can import, too."""

import importlib
import sys

import pytest

MODULE = "swept_functions"
SOURCE = '''
import os, signal, sys, time
import numpy as np

G = 9.81

def brake(speed, friction=0.5):
    """Distance and motion of a sledge that brakes by friction, in closed form."""
    end = speed / (friction * G)
    time = np.linspace(0.0, 1.0, 5)
    inside = np.minimum(time, end)
    x = speed * inside - friction * G * inside**2 / 2.0
    return {"distance": speed**2 / (2.0 * friction * G), "time": time, "x": x}

def picky(x):
    if x == 3:
        raise ValueError("three is too many")
    return {"twice": 2 * x, "kind": "odd" if x % 2 else "even", "small": x < 2, "steps": np.arange(x)}

def drawn(x, seed):
    return {"number": np.random.default_rng(seed).normal(), "got": seed}

def slow(x, seed):
    time.sleep(0.004)
    return {"number": np.random.default_rng(seed).normal() + x}

def slowly_drawn(x, seed):
    time.sleep(0.01)
    return drawn(x, seed)

def deadly(x):
    if x == 5:
        os.kill(os.getpid(), signal.SIGKILL)
    return {"y": x}

def moody(x):
    if x == 1 and not os.path.exists("tried"):
        open("tried", "w").close()
        raise OSError("not today")
    return {"y": x}

def leaving(x):
    sys.exit(3)

def interrupting(x):
    if x == 4 and not os.path.exists("pressed"):
        open("pressed", "w").close()
        raise KeyboardInterrupt
    return {"y": x}
'''


@pytest.fixture
def functions(tmp_path, monkeypatch):
    """The module with the functions."""
    folder = tmp_path / "modules"
    folder.mkdir()
    (folder / f"{MODULE}.py").write_text(SOURCE, encoding="utf-8")
    monkeypatch.syspath_prepend(folder)
    monkeypatch.delitem(sys.modules, MODULE, raising=False)
    yield importlib.import_module(MODULE)
    sys.modules.pop(MODULE, None)


def contents(store):
    """Every file of a store with its bytes."""
    return {str(path.relative_to(store)): path.read_bytes() for path in sorted(store.rglob("*")) if path.is_file()}


@pytest.fixture
def read_all():
    """Reads every file of a store."""
    return contents
