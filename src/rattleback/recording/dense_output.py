"""Dense output: where bodies are at any time between steps, by polynomials through poses and velocities at their ends.

    p(t_j) = x_j,   ṗ(t_j) = v_j        at the k nodes nearest to t, k = order/2:   |p − x| = O(h^order)
    q(t) = exp(θ(t)) q_r,   θ(t_j) = log(q_j q_r⁻¹),   θ̇(t_j) = J⁻¹(θ_j) ω_j

x, v positions and velocities at the ends t_j of steps, h their length; q orientations, q_r that at the start of the
interval, ω angular velocities, J the left Jacobian of the exponential. Velocities are the derivatives of the same
polynomials, whose order is one less. No force is evaluated, so it costs nothing while the simulation runs.

    note poses and velocities after every step
    for a time: the interval it lies in; the nodes on both sides; Newton's divided differences with double nodes
Cost: the state once a step; some microseconds a time and body when it is read. Use it for plots and events, with steps
of any order and sub-steps of any length; its order counts whole steps. Not across impacts, where velocities jump.

Reference: Hairer, Nørsett, Wanner, Solving Ordinary Differential Equations I, II.6 (continuous output) and II.9.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rattleback.core import checks
from rattleback.core.errors import InputError
from rattleback.core.sealed import sealed
from rattleback.maths import rotation
from rattleback.recording.series import Series
from rattleback.simulation import Simulation

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

PARTS = ("position", "orientation", "velocity", "angular_velocity")
# Where a body turns farther than this between nodes [rad], fewer of them are used: logarithms end at half a turn.
FARTHEST = 2.5
USUAL_ORDER = 4


@sealed
class DenseOutput:
    """Poses and velocities of all bodies at any time from when it was made.

    Args:
        simulation: The simulation to watch; it notes its state now and after every step.
        order: Order of the polynomials in the length of a step: 4, 6, 8 or 10; None for that of the simulation's step,
            or 4 where that is less.
    """

    every = 1

    def __init__(self, simulation: Simulation, order: int | None = None) -> None:
        checks.instance(simulation, Simulation, "What a DenseOutput watches", "rb.Simulation(scene)")
        scheme = simulation.methods.step.scheme()
        given = max(USUAL_ORDER, scheme.order if scheme is not None else 0) if order is None else order
        if given not in (4, 6, 8, 10):
            raise InputError(f"The order of a DenseOutput is {given!r}; it may be 4, 6, 8 or 10.")
        self.simulation, self.order = simulation, int(given)
        shape = simulation.state.shape
        self._time = Series((), np.float64)
        self._series = {name: Series((*shape, 4 if name == "orientation" else 3), np.float64) for name in PARTS}
        self.observe(simulation)
        simulation.observe(self)

    def observe(self, simulation: Simulation) -> None:
        """Note the state; the simulation calls this after every step."""
        self._time.append(np.asarray(simulation.time))
        for name, series in self._series.items():
            series.append(np.asarray(simulation.state.now(name), dtype=np.float64))

    def detach(self) -> None:
        """Stop watching; what was noted stays."""
        self.simulation.unobserve(self)

    @property
    def span(self) -> tuple[float, float]:
        """First and last time it knows [s]."""
        return float(self._times[0]), float(self._times[-1])

    def position(self, times: ArrayLike) -> NDArray[np.float64]:
        """Positions [m], shape (times, bodies, 3), with a world axis after the first where worlds were asked for."""
        return self._read(times, lambda nodes, t: self._moved(nodes, t)[0])

    def velocity(self, times: ArrayLike) -> NDArray[np.float64]:
        """Velocities [m/s], shape (times, bodies, 3)."""
        return self._read(times, lambda nodes, t: self._moved(nodes, t)[1])

    def orientation(self, times: ArrayLike) -> NDArray[np.float64]:
        """Quaternions (x, y, z, w), shape (times, bodies, 4)."""
        return self._read(times, lambda nodes, t: self._turned(nodes, t)[0])

    def angular_velocity(self, times: ArrayLike) -> NDArray[np.float64]:
        """Angular velocities [rad/s], world frame, shape (times, bodies, 3)."""
        return self._read(times, lambda nodes, t: self._turned(nodes, t)[1])

    def error(self, times: ArrayLike) -> NDArray[np.float64]:
        """How far positions are from those of a polynomial with one node less [m], shape (times,).

        That is the error of the order below, so that the own one is smaller where steps are short enough.
        """

        def difference(nodes: NDArray[np.int64], t: float) -> NDArray[np.float64]:
            fewer = self._nodes(t, len(nodes) - 1)
            return np.abs(self._moved(nodes, t)[0] - self._moved(fewer, t)[0]).max()

        return self._read(times, difference)

    @property
    def _times(self) -> NDArray[np.float64]:
        return self._time.values.astype(np.float64, copy=False)

    def _noted(self, name: str) -> NDArray[np.float64]:
        return self._series[name].values.astype(np.float64, copy=False)

    def _read(self, times: ArrayLike, read: Any) -> NDArray[np.float64]:
        """What a function of nodes and a time gives at all times."""
        wanted, (first, last) = np.atleast_1d(checks.finite(times, "The times of a DenseOutput")).ravel(), self.span
        slack = 1e-12 * max(abs(first), abs(last))
        if ((wanted < first - slack) | (wanted > last + slack)).any():
            raise InputError(f"This DenseOutput knows the motion from {first:g} s to {last:g} s; {times!r} is outside.")
        if len(self._times) < 2:
            raise InputError("This DenseOutput has seen no step yet; run the simulation first.")
        return np.array([read(self._nodes(float(t), self.order // 2), float(t)) for t in wanted])

    def _nodes(self, t: float, count: int) -> NDArray[np.int64]:
        """The ends of steps around a time, as many on either side as there are."""
        time = self._times
        interval = int(np.clip(np.searchsorted(time, t, side="right") - 1, 0, len(time) - 2))
        count = min(count, len(time))
        first = int(np.clip(interval + 1 - count // 2, 0, len(time) - count))
        return np.arange(first, first + count)

    def _moved(self, nodes: NDArray[np.int64], t: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Positions and velocities at a time."""
        position, velocity = self._noted("position")[nodes], self._noted("velocity")[nodes]
        way, rate = hermite(self._times[nodes], position - position[0], velocity, t)
        return position[0] + way, rate

    def _turned(self, nodes: NDArray[np.int64], t: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Orientations and angular velocities at a time."""
        orientation, spin = self._noted("orientation"), self._noted("angular_velocity")
        while True:
            middle = orientation[nodes[len(nodes) // 2]]
            turns = rotation.multiply(orientation[nodes], rotation.conjugate(middle)[None])
            angles = rotation.rotation_vector_from_quaternion(turns)
            if len(nodes) <= 2 or np.linalg.norm(angles, axis=-1).max() < FARTHEST:
                break
            nodes = self._nodes(t, len(nodes) - 1)
        rates = (inverse_left_jacobian(angles) @ spin[nodes][..., None])[..., 0]
        angle, rate = hermite(self._times[nodes], angles, rates, t)
        turned = rotation.multiply(rotation.quaternion_from_rotation_vector(angle), middle)
        spin_now = np.linalg.solve(inverse_left_jacobian(angle), rate[..., None])[..., 0]
        return turned, spin_now.astype(np.float64, copy=False)


def hermite(
    time: NDArray[np.float64], value: NDArray[np.float64], rate: NDArray[np.float64], t: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The polynomial with given values and rates at its nodes, and its derivative, at a time.

    Args:
        time: The nodes (nodes,) [s].
        value: Values there (nodes, ...).
        rate: Their rates (nodes, ...) [1/s].
        t: The time [s].
    """
    nodes = np.repeat(time, 2)
    table = np.repeat(value, 2, axis=0)
    parts = [table[0]]
    for order in range(1, len(nodes)):
        spans = (nodes[order:] - nodes[:-order]).reshape(-1, *(1,) * (value.ndim - 1))
        if order == 1:
            spans[::2] = 1.0
        table = (table[1:] - table[:-1]) / spans
        if order == 1:
            table[::2] = rate
        parts.append(table[0])
    result, slope = parts[-1], np.zeros_like(parts[-1])
    for node, part in zip(nodes[-2::-1], parts[-2::-1], strict=True):
        slope = slope * (t - node) + result
        result = result * (t - node) + part
    return result, slope


def inverse_left_jacobian(angle: NDArray[np.float64]) -> NDArray[np.float64]:
    """J⁻¹ of rotation vectors (..., 3): 1 − θ̂/2 + (1 − φ/2 cot φ/2) θ̂²/φ², φ = |θ|; shape (..., 3, 3)."""
    size = np.linalg.norm(angle, axis=-1)[..., None, None]
    square = np.where(size > 1e-3, size, 1.0)
    far = (1.0 - 0.5 * square / np.tan(0.5 * square)) / square**2
    factor = np.where(size > 1e-3, far, 1.0 / 12.0 + size**2 / 720.0)
    cross = rotation.cross_matrix(angle)
    return np.eye(3) - 0.5 * cross + factor * (cross @ cross)
