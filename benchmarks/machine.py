"""What the benchmarks share: the words for this machine, medians, and tables that go to the screen and the docs."""

import argparse
import os
import platform
import statistics
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import warp as wp

from rattleback.core import device

DOCS = Path(__file__).resolve().parents[1] / "docs" / "measured"


def describe(name: str) -> str:
    """The device in words."""
    found = device.find(name)
    if found.is_cuda:
        return f"{found.name}, Warp {wp.__version__}"
    model = platform.processor() or platform.machine()
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        lines = [line.split(":", 1)[1].strip() for line in cpuinfo.read_text().splitlines() if "model name" in line]
        model = lines[0] if lines else model
    versions = f"Warp {wp.__version__}, Python {platform.python_version()}"
    return f"{model}, {os.cpu_count()} cores of which one is used, {versions}"


def median_seconds(work: Callable[[], None], repeats: int = 7) -> float:
    """Median wall time of a piece of work [s]."""
    seconds = []
    for _ in range(repeats):
        begun = time.perf_counter()
        work()
        seconds.append(time.perf_counter() - begun)
    return statistics.median(seconds)


def markdown(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A Markdown table."""
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return "\n".join([*lines, *("| " + " | ".join(row) + " |" for row in rows)])


def options(name: str) -> argparse.ArgumentParser:
    """The options every benchmark has."""
    parser = argparse.ArgumentParser(description=f"Benchmark: {name}.")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--write", action="store_true", help="put the table into docs/measured")
    return parser


def publish(name: str, arguments: argparse.Namespace, text: str) -> None:
    """Show what was measured; with ``--write``, it becomes a page of the docs."""
    kind = "cuda" if device.find(arguments.device).is_cuda else "cpu"
    page = f"Measured on {describe(arguments.device)}, by `benchmarks/{name}.py`.\n\n{text}\n"
    print(page)
    if arguments.write:
        DOCS.mkdir(exist_ok=True)
        (DOCS / f"{name}_{kind}.md").write_text(page, encoding="utf-8")


def main(name: str, measure: Callable[[str], str]) -> None:
    """Run a benchmark from the command line."""
    arguments = options(name).parse_args()
    publish(name, arguments, measure(arguments.device))
