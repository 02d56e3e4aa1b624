"""What every test shares: the hypothesis profiles, the device to run on, the skip where there is no GPU."""

import functools
import os
import sys
import tempfile
from pathlib import Path

import hypothesis
import pytest
import warp as wp

from rattleback.core.errors import DeviceError
from rattleback.recording.context import close_context, open_context
from rattleback.solvers import contacts

# "quick" gives the same examples on every run, "all" more of them, which `make test-all` takes; "search" looks for new
# ones: HYPOTHESIS_PROFILE=search make test
hypothesis.settings.register_profile("quick", deadline=None, derandomize=True, max_examples=20)
hypothesis.settings.register_profile("all", deadline=None, derandomize=True, max_examples=50)
hypothesis.settings.register_profile("search", deadline=None, max_examples=2000)
hypothesis.settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "quick"))

# Where Python is told to leave no bytecode beside the sources, the processes of the tests share it in a folder of
# their own: each would else compile the whole package, which takes longer than what it is started for.
if sys.dont_write_bytecode:
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    os.environ.setdefault("PYTHONPYCACHEPREFIX", str(Path(tempfile.gettempdir()) / "rattleback-bytecode"))


@functools.cache
def cuda_is_there() -> bool:
    return bool(wp.is_cuda_available())


@functools.cache
def what_drawing_needs() -> str:
    """The sentence that says what to install before pictures can be drawn; empty if they can."""
    try:
        close_context(open_context())
    except DeviceError as error:
        return str(error)
    return ""


def pytest_sessionstart() -> None:
    """Arrays of tests that name no device lie on the CPU, also where there is a GPU."""
    wp.set_device("cpu")


def pytest_runtest_setup(item: pytest.Item) -> None:
    if item.get_closest_marker("cuda") and not cuda_is_there():
        pytest.skip("needs a CUDA device, and this machine has none")
    if item.get_closest_marker("egl") and (missing := what_drawing_needs()):
        pytest.skip(missing)


@pytest.fixture(autouse=True)
def free_motion(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let bodies pass through each other where a test is not about contacts, which then need not be asked for."""
    if not request.node.get_closest_marker("contacts"):
        monkeypatch.setattr(contacts, "DEFAULT", "none")


@pytest.fixture(params=["cpu", pytest.param("cuda", marks=pytest.mark.cuda)])
def device(request: pytest.FixtureRequest) -> str:
    """The device a test runs on: the CPU, and CUDA where there is one."""
    return request.param
