"""A scene as articulated bodies: kinematics and dynamics in the coordinates of its joints.

    M(q) v̇ + b(q, v) = τ + Σ Jᵀ w

Symbols: q coordinates, v rates, M mass matrix, b bias forces with gravity and damping, τ forces on the rates, w
wrenches on bodies. Quaternions make q longer than v; derivatives by q are by steps in the rates, see
:meth:`Articulation.integrate`.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
import warp as wp

from rattleback.core import checks, device
from rattleback.core.errors import UnknownName, listing
from rattleback.core.sealed import sealed
from rattleback.dynamics import kernels, measure_kernels, slope_kernels
from rattleback.dynamics.bench import Bench, cores
from rattleback.dynamics.given import laid_out
from rattleback.dynamics.linear import linear_system
from rattleback.dynamics.names import checked_scene, of_joints, per_rate, places, starting, stops_by_coordinate
from rattleback.dynamics.states import NAMES, read_state, write_state
from rattleback.dynamics.work import PART, Launches, Shapes, Work
from rattleback.reduced.forest import compile_forest
from rattleback.reduced.spanning import span

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from rattleback.model.scene import Scene

    Floats = NDArray[np.float64]

# A coordinate without limits is drawn at random from ± this [rad or m].
UNLIMITED = np.pi


@sealed
class Articulation:
    """The bodies of a scene as trees of articulated bodies.

    Every body hangs by one joint on the ground or on a body before it, or floats. Joints that close loops, and joints
    without coordinates (gears, racks, velocity joints), are in ``cut_joints`` and take no part; of the forces of the
    scene only its gravity and the damping of joints do.

    Attributes:
        scene: A copy of the scene.
        bodies: Names of the bodies that move, parents before children.
        coordinates: Names of the coordinates (nq,).
        rates: Names of the rates (nv,).
        cut_joints: Names of joints that take no part.
        lower: Least value of each coordinate (nq,) [rad or m]; −∞ without limits.
        upper: Greatest value of each coordinate (nq,) [rad or m].
        gravity: Acceleration of free fall (3,) [m/s²].
        armature: Inertia of the drive on each rate (nv,) [kg m² or kg].
        damping: Damping of each rate (nv,) [N m s or N s/m].
        threads: Most threads that share many configurations on a CPU.

    Args:
        scene: A scene; a kinematic tree has no masses.
        armature: Inertia of drives: a number for each rate, or by the name of a joint or a rate; where none is given,
            that of the joints of the scene.
        damping: Damping of rates, in the same form.
        on: Device, ``"cpu"``, ``"cuda"`` or ``"cuda:0"``.
        threads: Most threads that share many configurations on a CPU; as many as there are cores if left out. The
            results have the same bits with any number.
    """

    def __init__(
        self, scene: Scene, armature: Any = None, damping: Any = None, on: str = "cpu", threads: int | None = None
    ) -> None:
        self.scene = checked_scene(scene)
        self.threads = cores() if threads is None else checks.count(threads, "threads")
        self._forest, self._layout = compile_forest(self.scene, span(self.scene), device.find(on))
        self.bodies, self.cut_joints = self._layout.bodies, self._layout.cut
        self.coordinates, self.rates = self._layout.coordinates, self._layout.rates
        self.lower, self.upper = stops_by_coordinate(self.scene, self._layout)
        self.gravity = self.scene.gravity
        own = {name: of_joints(self.scene, self._layout, name) for name in ("armature", "axis_damping")}
        self.armature = per_rate(self._layout, armature, "The armature", own["armature"])
        self.damping = per_rate(self._layout, damping, "The damping", own["axis_damping"])
        self._forest.armature.assign(self.armature)
        self._forest.damping.assign(self.damping)
        self._shapes = {
            **dict.fromkeys(("q", "q1"), (self.nq,)),
            **dict.fromkeys(("v", "a", "tau"), (self.nv,)),
            "wrenches": (len(self.bodies), 6),
            "point": (3,),
        }
        self._benches: dict[tuple[int, bool], Bench] = {}
        self._single = self.bench(1)

    @property
    def nq(self) -> int:
        """Number of coordinates of a configuration."""
        return len(self.coordinates)

    @property
    def nv(self) -> int:
        """Number of rates, which is that of freedoms."""
        return len(self.rates)

    @property
    def device(self) -> Any:
        """The Warp device it computes on."""
        return self._forest.parent.device

    @property
    def moves(self) -> Any:
        """The moves of all joints in the order of the coordinates: move, joint, first coordinate and rate."""
        return self._layout.moves

    def places(self, name: str) -> tuple[slice, slice]:
        """Places of a joint, or of a body that floats, in q and in v."""
        return places(self._layout, name)

    def neutral(self) -> Floats:
        """The configuration in which all slides and turns are zero and all quaternions no turn (nq,)."""
        return starting(self._layout)

    def random(self, rng: Any = None, size: tuple[int, ...] | int = ()) -> Floats:
        """Random configurations: within limits, else over 2π or more; orientations evenly spread.

        Args:
            rng: A NumPy generator; a new one if left out.
            size: Leading axes.
        """
        rng = np.random.default_rng() if rng is None else rng
        lead = (size,) if isinstance(size, int) else tuple(size)
        low = np.where(np.isfinite(self.lower), self.lower, np.minimum(-UNLIMITED, self.upper - 2.0 * UNLIMITED))
        high = np.where(np.isfinite(self.upper), self.upper, np.maximum(UNLIMITED, self.lower + 2.0 * UNLIMITED))
        q = rng.uniform(low, high, (*lead, self.nq))
        for move, _, first, _ in self._layout.moves:
            if move.coordinates == 4:
                turn = rng.standard_normal((*lead, 4))
                q[..., first : first + 4] = turn / np.linalg.norm(turn, axis=-1, keepdims=True)
        return q

    def integrate(self, q: ArrayLike, v: ArrayLike, dt: float = 1.0) -> Any:
        """Configurations after moving at rates for a time [s]; quaternions turn by rotation vectors (..., nq)."""
        duration = {"duration": checks.number(dt, "dt")}
        return self._measure(measure_kernels.step, (self.nq,), constants=duration, q=q, v=v)

    def difference(self, q0: ArrayLike, q1: ArrayLike) -> Any:
        """The step in the rates from one configuration to the other: ``integrate(q0, it)`` has the poses of q1."""
        return self._measure(measure_kernels.difference, (self.nv,), q=q0, q1=q1)

    def inverse(self, q: ArrayLike, v: ArrayLike, a: ArrayLike, wrenches: Any = None) -> Any:
        """Forces on the rates that give accelerations, by recursive Newton–Euler.

        Args:
            q: Coordinates (..., nq).
            v: Rates (..., nv).
            a: Accelerations of the rates (..., nv).
            wrenches: Force above torque about the centre of mass of each body, in the world, in the order of ``bodies``
                (..., bodies, 6) [N, N m].

        Returns:
            Forces on the rates (..., nv) [N m or N].
        """
        return self._solve(kernels.inverse, "tau", q=q, v=v, a=a, wrenches=wrenches)

    def bias(self, q: ArrayLike, v: ArrayLike, wrenches: Any = None) -> Any:
        """Forces on the rates that keep them from accelerating (..., nv)."""
        return self._solve(kernels.inverse, "tau", q=q, v=v, still=("a",), wrenches=wrenches)

    def gravity_torque(self, q: ArrayLike) -> Any:
        """Forces on the rates that hold the bodies still against gravity (..., nv)."""
        return self._solve(kernels.inverse, "tau", q=q, still=("v", "a"))

    def forward(self, q: ArrayLike, v: ArrayLike, tau: ArrayLike, wrenches: Any = None) -> Any:
        """Accelerations of the rates under forces on them (..., nv), by articulated bodies; as in :meth:`inverse`."""
        return self._solve(kernels.forward, "a", q=q, v=v, tau=tau, wrenches=wrenches)

    def mass_matrix(self, q: ArrayLike) -> Any:
        """Mass matrices (..., nv, nv), by composite rigid bodies; the armature stands on the diagonal."""
        return self._measure(kernels.mass, (self.nv, self.nv), q=q)

    def inverse_derivatives(self, q: ArrayLike, v: ArrayLike, a: ArrayLike, wrenches: Any = None) -> tuple[Any, ...]:
        """Derivatives of :meth:`inverse`: ∂τ/∂q by steps in the rates, ∂τ/∂v and ∂τ/∂v̇ = M, each (..., nv, nv)."""
        results = dict.fromkeys(("by_q", "by_v", "by_a"), (self.nv, self.nv))
        return self._compute([(slope_kernels.inverse_slopes, 0)], results, wrenches=wrenches, q=q, v=v, a=a)

    def forward_derivatives(self, q: ArrayLike, v: ArrayLike, tau: ArrayLike, wrenches: Any = None) -> tuple[Any, ...]:
        """Derivatives of :meth:`forward`: ∂v̇/∂q by steps in the rates, ∂v̇/∂v and ∂v̇/∂τ = M⁻¹, each (..., nv, nv)."""
        # The second of the launches writes forces on the rates.
        tau = wp.clone(tau) if isinstance(tau, wp.array) else tau
        last = slope_kernels.forward_slopes
        results = dict.fromkeys(("by_q", "by_v", last), (self.nv, self.nv))
        launches = [(kernels.forward, 0), (slope_kernels.inverse_slopes, 0), (last, self.nv**2)]
        return self._compute(launches, results, wrenches=wrenches, q=q, v=v, tau=tau)

    def linearize(self, q: ArrayLike, v: ArrayLike, tau: ArrayLike, wrenches: Any = None) -> tuple[Floats, Floats]:
        """The linear system near a state: d/dt (δ, ε) = A (δ, ε) + B u.

        δ and ε are deviations of q, as steps in the rates, and of v; u is one of the forces on the rates.

        Returns:
            A (..., 2 nv, 2 nv) and B (..., 2 nv, nv).
        """
        return linear_system(self, q, v, tau, wrenches)

    def frames(self, q: ArrayLike) -> Any:
        """Frames of the bodies in the world, as matrices (..., bodies, 4, 4), in the order of ``bodies``."""
        return self._measure(measure_kernels.poses, (len(self.bodies), 4, 4), q=q)

    def motion(self, q: ArrayLike, v: ArrayLike) -> tuple[Any, Any, Any, Any]:
        """Poses and velocities of the bodies, in the order of ``bodies``.

        Returns:
            Centres of mass [m], quaternions, velocities [m/s] and angular velocities [rad/s], in the world, each
            (..., bodies, 3 or 4).
        """
        count = len(self.bodies)
        results = {name: (count, 4 if name == "orientation" else 3) for name in NAMES}
        first, turn, velocity, spin = self._compute([(measure_kernels.poses, 16 * count)], results, q=q, v=v)
        return first, turn, velocity, spin

    def jacobian(self, q: ArrayLike, body: Any, point: ArrayLike = (0.0, 0.0, 0.0)) -> Any:
        """Jacobian of a point on a body: its velocity above the angular velocity of the body, by the rates.

        Args:
            q: Coordinates (..., nq).
            body: The body, or its name.
            point: The point in the body's frame (..., 3) [m].

        Returns:
            Matrices (..., 6, nv), in the world.
        """
        return self._aimed(measure_kernels.jacobian, body, q=q, point=point)

    def jacobian_dot(self, q: ArrayLike, v: ArrayLike, body: Any, point: ArrayLike = (0.0, 0.0, 0.0)) -> Any:
        """Rate of :meth:`jacobian` as the bodies move at the rates v (..., 6, nv)."""
        return self._aimed(measure_kernels.jacobian_rate, body, q=q, v=v, point=point)

    def center_of_mass(self, q: ArrayLike) -> Any:
        """Centre of mass of all bodies together (..., 3) [m]."""
        return self._sums(q, None)[..., :3]

    def momentum(self, q: ArrayLike, v: ArrayLike) -> Any:
        """Momentum above angular momentum about the centre of mass of all (..., 6) [N s, N m s]."""
        return self._sums(q, v)[..., 3:9]

    def momentum_matrix(self, q: ArrayLike) -> Any:
        """The centroidal momentum matrix: the momentum by the rates (..., 6, nv)."""
        return self._measure(measure_kernels.momentum_matrix, (6, self.nv), q=q)

    def energy(self, q: ArrayLike, v: ArrayLike) -> Any:
        """Kinetic energy, with that of drives, and potential energy in the field of gravity (..., 2) [J]."""
        return self._sums(q, v)[..., 9:]

    def coordinates_of(self, sim: Any) -> tuple[Floats, Floats]:
        """Coordinates and rates of a simulation of the scene as it is now.

        Where its bodies violate a joint, what the joint forbids is left out.

        Args:
            sim: A simulation of the same scene.

        Returns:
            q (nq,) and v (nv,); with a leading axis of worlds where they were asked for.
        """
        return read_state(self, sim)

    def move_to(self, sim: Any, q: ArrayLike, v: ArrayLike) -> None:
        """Put the bodies of a simulation of the same scene where coordinates and rates say."""
        write_state(self, sim, q, v)

    def _sums(self, q: ArrayLike, v: ArrayLike | None) -> Any:
        if v is None:
            return self._measure(measure_kernels.sums, (11,), q=q, still=("v",))
        return self._measure(measure_kernels.sums, (11,), q=q, v=v)

    def _aimed(self, kernel: Any, body: Any, **values: Any) -> Any:
        name = getattr(body, "name", body)
        if name not in self.bodies:
            raise UnknownName(f"There is no body {name!r} that moves; there are {listing(self.bodies)}.")
        return self._measure(kernel, (6, self.nv), constants={"body": self.bodies.index(name)}, **values)

    def _measure(self, kernel: Any, shape: tuple[int, ...], **values: Any) -> Any:
        return self._compute([(kernel, math.prod(shape))], {kernel: shape}, **values)[0]

    def _solve(self, kernel: Any, result: str, wrenches: Any = None, still: Any = (), **values: Any) -> Any:
        if wrenches is None and self._single.fill(values, still):
            self._single.launch(kernel)
            return self._single.take(result)
        return self._compute([(kernel, 0)], {result: (self.nv,)}, wrenches=wrenches, still=still, **values)[0]

    def _compute(
        self,
        launches: Launches,
        results: Shapes,
        constants: Any = None,
        wrenches: Any = None,
        still: Any = (),
        **values: Any,
    ) -> tuple[Any, ...]:
        """What launches find from what is given.

        Args:
            launches: Kernels, each with the numbers its ``out`` takes for a configuration.
            results: Names of what is wanted, or the kernels whose ``out`` is, with its shape for one configuration.
            constants: Numbers that are the same for all configurations.
            wrenches: External wrenches; None for none.
            still: What is zero.
            **values: Arrays for each configuration.
        """
        if wrenches is None and constants is None and self._single.fill(values, still):
            return self._single.compute(launches, results)
        work = Work(launches, results, constants or {}, still)
        arrays = {name: (value, self._shapes[name]) for name, value in values.items()}
        if wrenches is not None:
            arrays["wrenches"] = (wrenches, self._shapes["wrenches"])
        given = laid_out(arrays, self.device)
        rows = given.rows if given.warp or self.device.is_cuda else min(given.rows, PART * self.threads)
        bench = self.bench(rows, wrenches is not None, given.warp)
        return work.in_warp(bench, given) if given.warp else work.in_parts(bench, given)

    def bench(self, rows: int, wrenches: bool = False, own: bool = False) -> Bench:
        """Room for a number of configurations; that for one is kept, and that for the last other number."""
        key = (rows, wrenches)
        if key in self._benches and not own:
            return self._benches[key]
        bench = Bench(self._forest, self._layout, rows, wrenches, self.threads)
        bench.put("gravity", self.gravity)
        if not own:
            for old in [old for old in self._benches if old[0] > 1]:
                del self._benches[old]
            self._benches[key] = bench
        return bench
