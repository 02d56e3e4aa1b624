"""Articulated bodies beside Pinocchio: one configuration from Python, and 10,000 in one call.

    python benchmarks/articulated.py [--device cuda] [--write]

Both have the same chain of hinges and the same humanoid, joint by joint, and compute the same random configurations;
that they agree is checked before any time is taken. Pinocchio is called from Python once for each configuration. Times
are CPU time on one core, by turns, the median of several rounds. Without Pinocchio ours is measured alone.
"""

import argparse
import os
import statistics
import time
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from machine import markdown, options, publish

import rattleback as rb

try:
    import pinocchio as pin
except ImportError:
    pin = None

MANY, CALLS, ROUNDS = 10_000, 3_000, 7
LENGTH, WIDTH, MASS = 0.3, 0.08, 1.5


class Segment(NamedTuple):
    """A box of a machine and the hinge that carries it, at its upper end: parent, axis, place on the parent."""

    parent: int
    axis: tuple[float, float, float]
    place: tuple[float, float, float]


def chain(count: int) -> list[Segment]:
    """Hinges one below the other, about y and x by turns."""
    return [
        Segment(k - 1, (0.0, 1.0, 0.0) if k % 2 == 0 else (1.0, 0.0, 0.0), (0.0, 0.0, -LENGTH if k else 0.0))
        for k in range(count)
    ]


def humanoid() -> list[Segment]:
    """A floating trunk with a neck of one hinge, two arms of seven and two legs of six; the trunk is not listed."""
    found = [Segment(-1, (0.0, 0.0, 1.0), (0.0, 0.0, 0.3))]
    axes = [(1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)]
    for joints, y, z in ((7, 0.2, 0.2), (7, -0.2, 0.2), (6, 0.1, -0.3), (6, -0.1, -0.3)):
        for k in range(joints):
            place = (0.0, y, z) if k == 0 else (0.0, 0.0, -LENGTH if k in (2, 3) else -0.05)
            found.append(Segment(-1 if k == 0 else len(found) - 1, axes[k % 3], place))
    return found


class Machine:
    """A machine in both packages, with random states.

    Args:
        segments: Its hinges.
        floating: Whether they hang on a body that floats, or on the ground.
        device: Device of ours.
    """

    def __init__(self, segments: list[Segment], floating: bool, device: str) -> None:
        self.inertia = MASS / 12.0 * np.diag([WIDTH**2 + LENGTH**2, WIDTH**2 + LENGTH**2, 2.0 * WIDTH**2])
        self.scene = self._scene(segments, floating)
        self.robot = rb.dynamics.Articulation(self.scene, on=device, threads=1)
        rng = np.random.default_rng(1)
        self.q = self.robot.random(rng, MANY)
        self.v, self.a = rng.standard_normal((2, MANY, self.robot.nv))
        if pin:
            self.model = self._model(segments, floating)
            self.data = self.model.createData()

    def _scene(self, segments: list[Segment], floating: bool) -> rb.Scene:
        scene, ends = rb.Scene(), []
        trunk = scene.add_body(mass=MASS, inertia=self.inertia, name="trunk") if floating else scene.world
        for k, (parent, axis, place) in enumerate(segments):
            top = np.array(place) + (ends[parent] if parent >= 0 else 0.0)
            ends.append(top)
            center = top - (0.0, 0.0, 0.5 * LENGTH)
            body = scene.add_body(mass=MASS, inertia=self.inertia, position=center, name=f"segment{k}")
            scene.add_joint(
                rb.Revolute(scene.bodies[parent + floating] if parent >= 0 else trunk, body, at=top, axis=axis)
            )
        return scene

    def _model(self, segments: list[Segment], floating: bool) -> Any:
        model, joints, base = pin.Model(), [], 0
        if floating:
            base = model.addJoint(0, pin.JointModelTranslation(), pin.SE3.Identity(), "slides")
            base = model.addJoint(base, pin.JointModelSpherical(), pin.SE3.Identity(), "trunk")
            model.appendBodyToJoint(base, pin.Inertia(MASS, np.zeros(3), self.inertia), pin.SE3.Identity())
        for k, (parent, axis, place) in enumerate(segments):
            turning = {"x": pin.JointModelRX, "y": pin.JointModelRY, "z": pin.JointModelRZ}["xyz"[axis.index(1.0)]]
            at = pin.SE3(np.eye(3), np.array(place))
            joints.append(model.addJoint(joints[parent] if parent >= 0 else base, turning(), at, f"hinge{k}"))
            center = np.array((0.0, 0.0, -0.5 * LENGTH))
            model.appendBodyToJoint(joints[-1], pin.Inertia(MASS, center, self.inertia), pin.SE3.Identity())
        return model

    def pairs(self) -> dict[str, tuple[Callable[..., Any], Callable[..., Any] | None]]:
        """What is computed, by us and by Pinocchio."""
        robot, take = self.robot, (lambda name: self._call(name)) if pin else (lambda name: None)
        return {
            "inverse dynamics": (robot.inverse, take("rnea")),
            "forward dynamics": (robot.forward, take("aba")),
            "mass matrix": (lambda q, v, a: robot.mass_matrix(q), take("crba")),
            "derivatives of inverse dynamics": (robot.inverse_derivatives, take("computeRNEADerivatives")),
            "derivatives of forward dynamics": (robot.forward_derivatives, take("computeABADerivatives")),
        }

    def _call(self, name: str) -> Callable[..., Any]:
        function, model, data = getattr(pin, name), self.model, self.data
        if name == "crba":
            return lambda q, v, a: function(model, data, q)
        return lambda q, v, a: function(model, data, q, v, a)

    def check(self) -> float:
        """The largest difference of forces, relative to the largest force."""
        if not pin:
            return 0.0
        expected = np.array(
            [pin.rnea(self.model, self.data, *state) for state in zip(self.q, self.v, self.a, strict=True)]
        )
        found = self.robot.inverse(self.q, self.v, self.a)
        return float(np.abs(found - expected).max() / np.abs(expected).max())


def compare(name: str, machine: Machine, on_gpu: bool) -> list[list[str]]:
    """Rows of the table."""
    clock = time.perf_counter if on_gpu else time.process_time
    return [[name, what, *said(race(machine, ours, theirs, clock))] for what, (ours, theirs) in machine.pairs().items()]


def race(machine: Machine, ours: Any, theirs: Any, clock: Callable[[], float]) -> dict[str, float]:
    """Times of a call with one configuration and of one of many [µs], by turns."""
    one, many = (machine.q[0], machine.v[0], machine.a[0]), (machine.q, machine.v, machine.a)
    states = list(zip(*many, strict=True))
    works = {"one": (lambda: ours(*one), CALLS, CALLS), "many": (lambda: ours(*many), 1, MANY)}
    if theirs:
        works["theirs"] = (lambda: theirs(*one), CALLS, CALLS)
        works["loop"] = (lambda: [theirs(*state) for state in states], 1, MANY)
    found: dict[str, list[float]] = {key: [] for key in works}
    for _ in range(ROUNDS + 1):
        for key, (work, calls, shared) in works.items():
            begun = clock()
            for _ in range(calls):
                work()
            found[key].append((clock() - begun) / shared * 1e6)
    return {key: statistics.median(times[1:]) for key, times in found.items()}


def said(times: dict[str, float]) -> list[str]:
    """The figures of a row."""
    one, many, theirs, loop = (times.get(key) for key in ("one", "many", "theirs", "loop"))
    if theirs is None or loop is None:
        return [f"{one:.1f}", "–", "–", f"{many:.2f}", "–", "–"]
    return [f"{one:.1f}", f"{theirs:.1f}", f"{one / theirs:.2f}", f"{many:.2f}", f"{loop:.2f}", f"{loop / many:.1f}"]


def measure(device: str) -> str:
    """The table."""
    rows, differences = [], []
    machines = {"chain of 10": (chain(10), False), "chain of 50": (chain(50), False), "humanoid": (humanoid(), True)}
    for name, (segments, floating) in machines.items():
        machine = Machine(segments, floating, device)
        differences.append(machine.check())
        if differences[-1] > 1e-11:
            raise SystemExit(f"The forces of the {name} differ from Pinocchio's by {differences[-1]:.1e}.")
        rows += compare(name, machine, device != "cpu")
    head = [
        "machine",
        "what",
        "one call [µs]",
        "Pinocchio",
        "ratio",
        f"one of {MANY:,} [µs]",
        "Pinocchio in a loop",
        "faster",
    ]
    peer = f"Pinocchio {pin.__version__}; forces agree to {max(differences):.0e} of the largest." if pin else "Alone."
    return f"{peer}\n\n{markdown(head, rows)}"


def main() -> None:
    """Run the benchmark from the command line."""
    arguments: argparse.Namespace = options("articulated").parse_args()
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    publish("articulated", arguments, measure(arguments.device))


if __name__ == "__main__":
    main()
