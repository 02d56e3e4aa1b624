"""Commands are judged by every word they print, so the kernels are compiled before the first of them runs."""

import io

import pytest

from rattleback.cli.info import import_rooms
from rattleback.cli.main import main
from rattleback.core import device


@pytest.fixture(scope="session", autouse=True)
def compiled_kernels() -> None:
    import_rooms()
    for name in device.names():
        device.load_kernels(device.own_modules(), device.find(name), io.StringIO())


@pytest.fixture
def run(capsys):
    """Run ``rattleback run`` with arguments; gives exit code, standard output and standard error."""

    def call(*argv):
        code = main(["run", *map(str, argv)])
        return code, *capsys.readouterr()

    return call
