"""Show versions, devices and the kernel cache of this machine, and compile every kernel ahead if asked to."""

from __future__ import annotations

import importlib
import pkgutil
import platform
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rattleback.cli import output

if TYPE_CHECKING:
    import argparse


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument(
        "--warm-up", action="store_true", help="compile every kernel now, so that later runs start at once"
    )
    parser.add_argument("--device", metavar="NAME", help="device to warm up: cpu, cuda or cuda:0 (default: all)")


def execute(arguments: argparse.Namespace) -> int:
    """Print what is known."""
    from rattleback.core import device

    chosen = device.names() if arguments.device is None else [device.find(arguments.device).alias]
    warmed = warm_up(chosen) if arguments.warm_up else None
    found = gather()
    if warmed is not None:
        found["warm_up"] = warmed
    if arguments.json:
        output.write_json(found)
    else:
        output.write(as_text(found))
    return output.FINE


def gather() -> dict[str, Any]:
    """Versions, precision, devices and the kernel cache, as plain data."""
    import numpy as np
    import warp as wp

    from rattleback._version import __version__
    from rattleback.core import device
    from rattleback.core.precision import PRECISION

    folder = Path(device.kernel_cache())
    return {
        "versions": {
            "rattleback": __version__,
            "Python": platform.python_version(),
            "Warp": wp.__version__,
            "NumPy": np.__version__,
        },
        "precision": PRECISION,
        "devices": device.names(),
        "kernel_cache": {"folder": str(folder), "bytes": size_of(folder)},
    }


def size_of(folder: Path) -> int:
    """Bytes of all files in a folder; files that vanish meanwhile count nothing."""
    total = 0
    for path in folder.rglob("*"):
        try:
            total += path.stat().st_size if path.is_file() else 0
        except OSError:
            continue
    return total


def warm_up(names: list[str]) -> dict[str, Any]:
    """Import every room and compile the kernels of all of them on the devices named.

    Returns:
        The devices, the number of Warp modules on each, the seconds it took, and the rooms that could not be imported
        because they need a package that is not installed.
    """
    from rattleback.core import device

    begun, left_out = time.perf_counter(), import_rooms()
    modules = device.own_modules()
    for name in names:
        device.load_kernels(modules, device.find(name))
    seconds = time.perf_counter() - begun
    return {"devices": names, "modules": len(modules), "seconds": seconds, "left_out": left_out}


def import_rooms() -> dict[str, str]:
    """Import every module of the package; returns those that need a package that is not installed, and which."""
    import rattleback

    left_out: dict[str, str] = {}
    for entry in pkgutil.walk_packages(rattleback.__path__, "rattleback.", onerror=lambda _: None):
        if entry.name == "rattleback.__main__":
            continue
        try:
            importlib.import_module(entry.name)
        except ModuleNotFoundError as error:
            if (error.name or "").startswith("rattleback"):
                raise
            left_out[entry.name] = str(error.name)
    return left_out


def as_text(found: dict[str, Any]) -> str:
    """The data as lines of text."""
    cache = found["kernel_cache"]
    lines = {
        **found["versions"],
        "precision": found["precision"],
        "devices": ", ".join(found["devices"]),
        "kernel cache": f"{cache['folder']} ({cache['bytes'] / 2**20:.1f} MiB)",
    }
    if warmed := found.get("warm_up"):
        where = ", ".join(warmed["devices"])
        lines["warm-up"] = f"{warmed['modules']} modules ready on {where} in {warmed['seconds']:.1f} s"
        for room, package in warmed["left_out"].items():
            lines[f"left out {room}"] = f"it needs the package {package}"
    width = max(map(len, lines)) + 2
    return "\n".join(f"{name:<{width}}{value}" for name, value in lines.items())
