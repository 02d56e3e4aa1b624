"""A scene as articulated bodies: inverse and forward dynamics, and what belongs to them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rattleback.core import device
from rattleback.core.sealed import sealed
from rattleback.dynamics import kernels
from rattleback.dynamics.bench import Bench
from rattleback.reduced.forest import compile_forest
from rattleback.reduced.spanning import span

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Floats = NDArray[np.float64]


@sealed
class Articulation:
    """The bodies of a scene as a forest of articulated bodies."""

    def __init__(self, scene: Any, on: str = "cpu") -> None:
        self.scene = scene.copy()
        self.forest, self.layout = compile_forest(self.scene, span(self.scene), device.find(on))
        self._benches: dict[tuple[int, bool], Bench] = {}

    @property
    def nq(self) -> int:
        """Number of coordinates of a configuration."""
        return len(self.layout.coordinates)

    @property
    def nv(self) -> int:
        """Number of rates, which is that of freedoms."""
        return len(self.layout.rates)

    def inverse(self, q: ArrayLike, v: ArrayLike, a: ArrayLike, wrenches: Any = None) -> Floats:
        """Forces on the rates that give accelerations."""
        return self._run(kernels.inverse, "tau", (self.nv,), {"q": q, "v": v, "a": a}, wrenches)

    def forward(self, q: ArrayLike, v: ArrayLike, tau: ArrayLike, wrenches: Any = None) -> Floats:
        """Accelerations of the rates under forces on them."""
        return self._run(kernels.forward, "a", (self.nv,), {"q": q, "v": v, "tau": tau}, wrenches)

    def mass_matrix(self, q: ArrayLike) -> Floats:
        """Mass matrices."""
        return self._run(kernels.mass, "out", (self.nv, self.nv), {"q": q, "v": 0.0}, None)

    def _run(self, kernel: Any, result: str, shape: tuple[int, ...], given: dict[str, Any], wrenches: Any) -> Floats:
        values = {name: np.asarray(value, dtype=np.float64) for name, value in given.items()}
        lead = values["q"].shape[:-1]
        rows = int(np.prod(lead))
        key = (rows, wrenches is not None)
        if key not in self._benches:
            self._benches[key] = Bench(self.forest, self.layout, rows, key[1], self.scene.gravity)
        bench = self._benches[key]
        for name, value in values.items():
            bench.given[name].put(value.ravel() if value.ndim else value)
        size = int(np.prod(shape))
        return bench.launch(kernel, result, size).take().reshape(*lead, *shape)
