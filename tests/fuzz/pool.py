"""Judges random mechanisms and files in processes of their own, so that one that hangs or crashes is seen and named.

``python -m fuzz.pool mechanisms 0 5000 --workers 16 --out found.jsonl`` judges all on one machine, a line of JSON for
each, and says how many of each kind were found; ``files 0 100000`` does the same with spoilt files.
"""

import argparse
import json
import os
import queue
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path
from typing import Any

TESTS = Path(__file__).resolve().parents[1]
# How long a worker may be silent [s]: a scene takes well below ten, but the first on a machine compiles kernels.
SILENCE = 600.0
# The modules whose processes judge them.
WORKER, FILES = "fuzz.worker", "fuzz.files"
# What a gain may be called; and divergence, which is to be rare.
NAMED, RARE = "gain named", "divergence"
# So many numbers are judged by a process before it makes room for another.
STRETCH = 50


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


def judge_all(what: str, first: int, end: int, workers: int, steps: int) -> Iterator[list[dict[str, Any]]]:
    """The verdicts of all numbers, by stretches, as they are done."""
    worker, options = (WORKER, [str(steps)]) if what == "mechanisms" else (FILES, [])
    with ThreadPoolExecutor(workers) as threads:
        stretches = [(begin, min(begin + STRETCH, end)) for begin in range(first, end, STRETCH)]
        jobs = [threads.submit(_listed, worker, begin, stop, options) for begin, stop in stretches]
        for job in as_completed(jobs):
            yield job.result()


def _listed(worker: str, first: int, end: int, options: list[str]) -> list[dict[str, Any]]:
    return list(_judged(worker, first, end, *options))


def main(given: list[str]) -> int:
    """Judge, write and count; 0 where nothing is found that should not be."""
    parser = argparse.ArgumentParser(description="Judge random mechanisms or spoilt files.")
    parser.add_argument("what", choices=("mechanisms", "files"))
    parser.add_argument("first", type=int)
    parser.add_argument("end", type=int)
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--steps", type=int, default=120)
    parser.add_argument("--out", type=Path, default=Path("found.jsonl"))
    asked = parser.parse_args(given)
    kinds: Counter[str] = Counter()
    with asked.out.open("w") as out:
        for verdicts in judge_all(asked.what, asked.first, asked.end, asked.workers, asked.steps):
            for verdict in verdicts:
                kinds.update(kind for kind, _ in verdict["found"])
                out.write(json.dumps(verdict) + "\n")
            out.flush()
    print(json.dumps({"judged": asked.end - asked.first, **kinds}))
    rare = max(1, (asked.end - asked.first) // 100)
    bad = sum(kinds.values()) - kinds[NAMED]
    return int(bad > (kinds[RARE] if kinds[RARE] <= rare else 0))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
