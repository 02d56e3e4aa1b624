"""Steps in reduced coordinates beside MuJoCo: chains of hinges, a cart-pole, trees of ball joints.

The same bodies, joints and start for both, one core, by turns in one run, CPU time of everything a call does. Both are
checked against each other first, at a step so short that their errors do not show: after 0.05 s poses must agree.
Errors of energy are those after one second, beside the largest kinetic energy on the way.
"""

import importlib
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from machine import main, markdown

import rattleback as rb

HEAD = ["scene", "time step", "rattleback, µs a step", "MuJoCo, µs a step", "ratio", "energy error", "of MuJoCo"]
REPEATS = 7
AGREE = 2e-6  # metres
GRAVITY = 9.81


@dataclass
class Link:
    """A link of a tree: parent, axis of its hinge or None for a ball joint, joint and centre of mass in the world."""

    parent: int
    axis: tuple[float, float, float] | None
    at: tuple[float, float, float]
    center: tuple[float, float, float]
    mass: float
    moments: tuple[float, float, float]
    slides: bool = False


def chain(count: int) -> list[Link]:
    """Rods of a metre on hinges about x and y by turns, hanging."""
    moments = (1.01 / 12, 1.01 / 12, 0.02 / 12)
    axes = [(0.0, 1.0, 0.0), (1.0, 0.0, 0.0)]
    return [Link(k - 1, axes[k % 2], (0, 0, -k), (0, 0, -0.5 - k), 1.0, moments) for k in range(count)]


def cart_pole() -> list[Link]:
    """A cart of 1 kg on a rail and a pole of 0.1 kg."""
    cart = Link(-1, (1.0, 0.0, 0.0), (0, 0, 0), (0, 0, 0), 1.0, (0.1, 0.1, 0.1), slides=True)
    return [cart, Link(0, (0.0, 1.0, 0.0), (0, 0, 0), (0, 0, -0.5), 0.1, (0.01, 0.01, 0.001))]


def balls(depth: int) -> list[Link]:
    """A binary tree of rods on ball joints, each with two below it."""
    found: list[Link] = []

    def add(parent: int, at: np.ndarray, level: int) -> None:
        size = 0.5 * 0.8**level
        moments = (size**2 / 12, size**2 / 12, 0.1 * size**2 / 12)
        found.append(Link(parent, None, tuple(at), tuple(at - (0, 0, 0.5 * size)), 1.0, moments))
        own = len(found) - 1
        if level + 1 < depth:
            for side in (-0.1, 0.1):
                shift = np.array((side * (level % 2), side * (1 - level % 2), -size))
                add(own, at + shift, level + 1)

    add(-1, np.zeros(3), 0)
    return found


def ours(links: list[Link], step: float) -> rb.Simulation:
    """The scene in rattleback, turning as a whole about y."""
    scene, made = rb.Scene(), []
    for link in links:
        c = np.array(link.center)
        velocity = (0, 0, 0) if links[0].slides else tuple(np.cross((0, 0.5, 0), c))
        turn = (0, 0.5, 0) if not links[0].slides or not link.slides else (0, 0, 0)
        if links[0].slides and not link.slides:
            velocity = tuple(np.cross(turn, c - np.array(link.at)))
        body = scene.add_body(
            mass=link.mass, inertia=np.diag(link.moments), position=c, velocity=velocity, angular_velocity=turn
        )
        parent = scene.world if link.parent < 0 else made[link.parent]
        if link.axis is None:
            scene.add_joint(rb.Ball(parent, body, at=link.at))
        else:
            kind = rb.Prismatic if link.slides else rb.Revolute
            scene.add_joint(kind(parent, body, at=link.at, axis=link.axis))
        made.append(body)
    return rb.Simulation(scene, time_step=step, joints="reduced", contacts="none")


def theirs(links: list[Link], step: float) -> tuple[Any, Any, Any]:
    """The same in MuJoCo."""
    mujoco = importlib.import_module("mujoco")
    spec = mujoco.MjSpec()
    spec.option.timestep, spec.option.gravity = step, (0, 0, -GRAVITY)
    spec.option.enableflags |= mujoco.mjtEnableBit.mjENBL_ENERGY
    made: list[Any] = []
    for link in links:
        parent = spec.worldbody if link.parent < 0 else made[link.parent]
        at = np.array(link.at, float) - (0 if link.parent < 0 else np.array(links[link.parent].at, float))
        body = parent.add_body(pos=at, mass=link.mass, inertia=link.moments, explicitinertial=True)
        body.ipos = np.array(link.center, float) - np.array(link.at, float)
        kinds = mujoco.mjtJoint
        kind = kinds.mjJNT_BALL if link.axis is None else kinds.mjJNT_SLIDE if link.slides else kinds.mjJNT_HINGE
        body.add_joint(type=kind, axis=link.axis or (0, 0, 1))
        made.append(body)
    model = spec.compile()
    data = mujoco.MjData(model)
    data.qvel[1 if links[0].slides else 0] = 0.5
    if links[0].axis is None:
        data.qvel[:3] = (0, 0.5, 0)
    mujoco.mj_forward(model, data)
    return mujoco, model, data


def agree(links: list[Link]) -> float:
    """Largest distance between centres of mass after 0.05 s [m]."""
    sim = ours(links, 1e-5)
    mujoco, model, data = theirs(links, 1e-5)
    sim.step(5000)
    mujoco.mj_step(model, data, 5000)
    mujoco.mj_forward(model, data)
    return float(np.abs(np.array(sim.state.position) - data.xipos[1:]).max())


def cpu_time(call: Callable[[], object], steps: int) -> float:
    """CPU time of a step [µs]."""
    begun = time.process_time()
    call()
    return 1e6 * (time.process_time() - begun) / steps


def errors(links: list[Link], step: float) -> tuple[str, str]:
    """Error of energy after a second, ours and theirs, in parts of the largest kinetic energy."""
    sim, found = ours(links, step), []
    mujoco, model, data = theirs(links, step)
    count = round(1.0 / step)
    start, most = sim.energy().total, 0.0
    for _ in range(10):
        sim.step(count // 10)
        most = max(most, sim.energy().kinetic)
    found.append(abs(sim.energy().total - start) / most)
    start = data.energy.sum()
    mujoco.mj_step(model, data, count // 10 * 10)
    mujoco.mj_forward(model, data)
    found.append(abs(data.energy.sum() - start) / most)
    mine, other = (f"{value:.1e}" if value < 1.0 else "diverges" for value in found)
    return mine, other


def row(name: str, links: list[Link], step: float) -> list[str]:
    """Times by turns, after the check."""
    if (off := agree(links)) > AGREE:
        raise SystemExit(f"{name}: poses differ by {off:.2g} m; no time counts.")
    sim = ours(links, step)
    mujoco, model, data = theirs(links, step)
    steps = max(50, min(2000, round(20000 / len(links))))
    sim.step(steps)
    mine, other = [], []
    for _ in range(REPEATS):
        mine.append(cpu_time(lambda: sim.step(steps), steps))
        mujoco.mj_resetData(model, data)
        other.append(cpu_time(lambda: mujoco.mj_step(model, data, steps), steps))
    a, b = statistics.median(mine), statistics.median(other)
    return [name, f"{step:.4g} s", f"{a:.2f}", f"{b:.2f}", f"{a / b:.2f}", *errors(links, step)]


def single() -> list[str]:
    """One call for one step of a cart-pole, with its joint coordinates and rates read, with a torque written before."""
    sim, steps = ours(cart_pole(), 0.001), 2000
    mujoco, model, data = theirs(cart_pole(), 0.001)

    def mine() -> None:
        for _ in range(steps):
            sim.step()
            _read = (sim.joints.position, sim.joints.velocity)

    def other() -> None:
        for _ in range(steps):
            mujoco.mj_step(model, data)
            _read = (data.qpos.copy(), data.qvel.copy())

    a, b = (statistics.median(cpu_time(call, steps) for _ in range(REPEATS)) for call in (mine, other))
    return ["cart-pole, a call a step, state read", "0.001 s", f"{a:.2f}", f"{b:.2f}", f"{a / b:.2f}", "", ""]


def tables(device: str) -> str:
    """The table of the documentation."""
    del device
    rows = [row("cart-pole", cart_pole(), 0.001)]
    rows += [row(f"chain of {count} hinges", chain(count), 0.001) for count in (10, 50)]
    rows += [row("tree of 255 balls", balls(8), step) for step in (0.001, 0.01)]
    rows += [row("tree of 31 balls", balls(5), 1.0 / 30.0), single()]
    return markdown(HEAD, rows)


if __name__ == "__main__":
    main("reduced", tables)
