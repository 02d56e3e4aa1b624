"""The rehearsal of a swap: a process of its own makes the swap and a step, which leaves the kernels in Warp's cache.

    rehearse(files, ...)                    here: starts the process and waits until it ends
    python -m ...rehearsal SLOT OPTION ...  there: loads each simulation, swaps, takes a step

State files carry scene, settings and state, and no code. What goes wrong there is not told: the swap itself, which
follows, finds the same and tells it.
"""

from __future__ import annotations

import atexit
import os
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from rattleback.core import device
from rattleback.io import state_file
from rattleback.viewer.panels.slots import SLOTS

if TYPE_CHECKING:
    import threading
    from collections.abc import Sequence

# How long a rehearsal may take [s], and how often it is looked whether it is still wanted [s].
PATIENCE, PULSE = 120.0, 0.05
# The process gives way to the simulation by so much.
NICENESS = 5


def rehearse(slot: str, option: str, place: str, files: Sequence[str], given_up: threading.Event) -> None:
    """Have a swap rehearsed; comes back when that is done, has failed, takes too long or is given up.

    Args:
        slot: Name of the slot.
        option: What is chosen.
        place: Name of the device.
        files: State files of the simulations.
        given_up: Set when it is no longer wanted.
    """
    # -P: the files of the folder that Python was started in are not to be taken for modules of other names.
    command = [sys.executable, "-P", "-m", __spec__.name, slot, option, place, *files]
    paths = os.pathsep.join(path for path in sys.path if path)
    env = {**os.environ, "PYTHONPATH": paths, "WARP_CACHE_PATH": str(Path(device.kernel_cache()).parent)}
    quiet = subprocess.DEVNULL
    try:
        process = subprocess.Popen(command, stdin=quiet, stdout=quiet, stderr=quiet, env=env, start_new_session=True)
    except OSError:
        return
    atexit.register(process.kill)
    end = time.monotonic() + PATIENCE
    while process.poll() is None and time.monotonic() < end and not given_up.wait(PULSE):
        pass
    process.kill()
    process.wait()
    atexit.unregister(process.kill)


def _rehearse_here(name: str, option: str, place: str, *files: str) -> None:
    """Load each simulation, make the swap and take a step."""
    if hasattr(os, "nice"):
        os.nice(NICENESS)
    slot = next(slot for slot in SLOTS if slot.name == name)
    for file in files:
        sim = state_file.load(file, device=place)
        slot.choose(sim, option)
        sim.step()


if __name__ == "__main__":
    with suppress(KeyboardInterrupt):
        _rehearse_here(*sys.argv[1:])
