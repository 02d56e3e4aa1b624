"""Commands are judged by every word they print, so the kernels are compiled before the first of them runs."""

import io

import pytest

from rattleback.cli.info import import_rooms
from rattleback.core import device


@pytest.fixture(scope="session", autouse=True)
def compiled_kernels() -> None:
    import_rooms()
    for name in device.names():
        device.load_kernels(device.own_modules(), device.find(name), io.StringIO())
