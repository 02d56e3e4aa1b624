"""Runs CoACD in a process of its own: native code that breaks down on a bad mesh, or never ends, takes only that along.

    search(vertices, triangles)         here: starts the process, waits, reads what it found
    python convex_search.py IN OUT ...  there: reads the mesh, runs CoACD, writes the points of each part

The wait can be interrupted from the keyboard; the process then ends too.
"""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

# How long a search may take [s]; meshes of 100,000 triangles take a few minutes.
PATIENCE = 900.0


def search(
    vertices: NDArray[np.float64], triangles: NDArray[np.int32], parameters: Mapping[str, Any]
) -> list[NDArray[np.float64]]:
    """The points of each convex part that CoACD finds.

    Args:
        vertices: Points [m], shape (vertices, 3).
        triangles: Closed surface, shape (triangles, 3).
        parameters: Options of CoACD.

    Raises:
        OSError: CoACD broke down, or the process could not be started.
        TimeoutError: The search took too long.
    """
    with tempfile.TemporaryDirectory(prefix="rattleback") as folder:
        given, found = Path(folder) / "mesh.npz", Path(folder) / "parts.npz"
        np.savez(given, vertices=vertices, triangles=triangles)
        # -P: the files beside this one are not to be taken for modules of other names.
        command = [sys.executable, "-P", __file__, str(given), str(found), json.dumps(dict(parameters))]
        env = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
        quiet = subprocess.DEVNULL
        try:
            done = subprocess.run(command, stdin=quiet, stdout=quiet, stderr=quiet, env=env, timeout=PATIENCE)
        except subprocess.TimeoutExpired:
            raise TimeoutError from None
        if done.returncode != 0 or not found.exists():
            raise OSError(done.returncode)
        with np.load(found, allow_pickle=False) as parts:
            return np.split(parts["points"], parts["ends"][:-1]) if len(parts["ends"]) else []


def _search_here(given: str, found: str, parameters: str) -> None:
    """Read the mesh, run CoACD, write what it finds."""
    import coacd

    with np.load(given, allow_pickle=False) as mesh:
        vertices, triangles = mesh["vertices"], mesh["triangles"]
    coacd.set_log_level("off")
    parts = [points for points, _ in coacd.run_coacd(coacd.Mesh(vertices, triangles), **json.loads(parameters))]
    ends = np.cumsum([len(points) for points in parts], dtype=np.int64)
    np.savez(found, points=np.concatenate([np.zeros((0, 3)), *parts]), ends=ends)


if __name__ == "__main__":
    _search_here(*sys.argv[1:])
