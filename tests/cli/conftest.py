"""Commands are judged by every word they print, so the kernels are compiled before the first of them runs."""

import io

import pytest

from rattleback.cli.info import import_rooms
from rattleback.core import device


@pytest.fixture(scope="session", autouse=True)
def compiled_kernels() -> None:
    import_rooms()
    device.load_kernels(device.own_modules(), device.find("cpu"), io.StringIO())
