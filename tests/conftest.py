"""What every test shares: the hypothesis profiles, the device to run on, the skip where there is no GPU."""

import functools
import os

import hypothesis
import pytest
import warp as wp

from rattleback.solvers import contacts

# "ci" gives the same examples on every run; "search" looks for new ones: HYPOTHESIS_PROFILE=search make test
hypothesis.settings.register_profile("ci", deadline=None, derandomize=True, max_examples=50)
hypothesis.settings.register_profile("search", deadline=None, max_examples=2000)
hypothesis.settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))


@functools.cache
def cuda_is_there() -> bool:
    return bool(wp.is_cuda_available())


def pytest_runtest_setup(item: pytest.Item) -> None:
    if item.get_closest_marker("cuda") and not cuda_is_there():
        pytest.skip("needs a CUDA device, and this machine has none")


@pytest.fixture(autouse=True)
def free_motion(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let bodies pass through each other where a test is not about contacts, which then need not be asked for."""
    if not request.node.get_closest_marker("contacts"):
        monkeypatch.setattr(contacts, "DEFAULT", "none")


@pytest.fixture(params=["cpu", pytest.param("cuda", marks=pytest.mark.cuda)])
def device(request: pytest.FixtureRequest) -> str:
    """The device a test runs on: the CPU, and CUDA where there is one."""
    return request.param
