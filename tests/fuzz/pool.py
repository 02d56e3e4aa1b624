"""Judges random mechanisms and files in a process of its own, so that one that hangs or crashes is seen and named."""

import json
import os
import queue
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

TESTS = Path(__file__).resolve().parents[1]
# How long a worker may be silent [s]: a scene takes well below ten, but the first on a machine compiles kernels.
SILENCE = 600.0
# The modules whose processes judge them.
WORKER, FILES = "fuzz.worker", "fuzz.files"


def verdicts(first: int, end: int, steps: int) -> Iterator[dict[str, Any]]:
    """What became of every scene from ``first`` until before ``end``."""
    yield from _judged(WORKER, first, end, str(steps))


def file_verdicts(first: int, end: int) -> Iterator[dict[str, Any]]:
    """What became of every spoilt file from ``first`` until before ``end``."""
    yield from _judged(FILES, first, end)


def _judged(worker: str, first: int, end: int, *options: str) -> Iterator[dict[str, Any]]:
    """The verdicts of as many workers, one after the other, as hang or crash, and one more."""
    while first < end:
        for said in _told(worker, first, end, *options):
            yield said
            first = said["seed"] + 1


def _told(worker_module: str, first: int, end: int, *options: str) -> Iterator[dict[str, Any]]:
    """The verdicts of one worker, until it is done, hangs or crashes; the last is then of that."""
    command = [sys.executable, "-m", worker_module, str(first), str(end), *options]
    paths = [str(TESTS), *(path for path in os.environ.get("PYTHONPATH", "").split(os.pathsep) if path)]
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}
    worker = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=env)
    lines: queue.Queue[str] = queue.Queue()
    reader = threading.Thread(target=_read, args=(worker.stdout, lines), daemon=True)
    reader.start()
    seed, done = first, first
    try:
        while line := lines.get(timeout=SILENCE):
            said = json.loads(line)
            seed = said.get("begin", seed)
            if "begin" not in said:
                done = seed + 1
                yield said
        if done < end and worker.wait() != 0:
            yield {"seed": seed, "traits": [], "found": [["crash", f"the worker ended with {worker.returncode}"]]}
    except queue.Empty:
        yield {"seed": seed, "traits": [], "found": [["hang", f"nothing was heard for {SILENCE:g} s"]]}
    finally:
        worker.kill()
        worker.wait()
        reader.join()


def _read(stream: Any, lines: "queue.Queue[str]") -> None:
    """Pass on every line, and an empty one at the end."""
    with stream:
        for line in stream:
            lines.put(line)
    lines.put("")
