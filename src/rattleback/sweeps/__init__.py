"""Sweeps: many variants of a function or a scene, in processes or on clusters, with results that stay on disk.

Loaded on first use; ``rb.sweep`` does all at once, the names below do it in parts.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rattleback.sweeps.explanation import Explanation
    from rattleback.sweeps.results.result import Result, load
    from rattleback.sweeps.samples import Samples, latin_hypercube, sobol, zipped
    from rattleback.sweeps.sweep import Sweep

_HOME = {
    "Explanation": "explanation",
    "Result": "results.result",
    "Samples": "samples",
    "Sweep": "sweep",
    "latin_hypercube": "samples",
    "load": "results.result",
    "sobol": "samples",
    "zipped": "samples",
}


def __getattr__(name: str) -> Any:
    """Import a name on first use: a worker process needs few of them."""
    if name not in _HOME:
        raise AttributeError(f"module 'rattleback.sweeps' has no attribute {name!r}")
    return getattr(import_module(f"rattleback.sweeps.{_HOME[name]}"), name)


__all__ = ["Explanation", "Result", "Samples", "Sweep", "latin_hypercube", "load", "sobol", "zipped"]
