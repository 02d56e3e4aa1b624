"""A state is whole: one that is copied, saved or gone back to goes on bit for bit, whatever is in it and steps it.

Scenes and methods are drawn by seed: joints, limits, breaking, motors, servos, contacts, sleep, integrators, methods,
worlds. What a simulation remembers besides its state is made to differ: another simulation has no past, another past,
one that ended in a divergence, or numbers in it that are none.
"""

import contextlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import warp as wp
from scipy.spatial.transform import Rotation

import rattleback as rb
from rattleback.collision import broadphase, narrowphase
from rattleback.collision.broadphase import bounds
from rattleback.core import arrays
from rattleback.core.node import launches_of
from rattleback.integrators import MENU as INTEGRATORS
from rattleback.solvers.contacts import MENU as CONTACTS
from rattleback.solvers.joints import IMPULSES as METHODS

pytestmark = pytest.mark.contacts
SHAPES = (rb.Box(0.5, 0.12, 0.1), rb.Sphere(0.12), rb.Capsule(0.06, 0.4), rb.Cylinder(0.1, 0.3))
LIMITED = ("revolute", "prismatic")
# Scenes that have everything between them, and are stepped in a second at most.
QUICK = (2, 5, 9, 10, 20, 25, 36, 38, 40, 42, 44, 45, 51, 59, 1021, 1286)
# Scenes of each part of the long search.
EACH = 8


def draw(rng: np.random.Generator, names: Any) -> Any:
    return list(names)[int(rng.integers(len(names)))]


def add_joint(scene: rb.Scene, rng: np.random.Generator, k: int, height: float) -> None:
    """A joint between two bodies that follow each other; half of the distances are open at the start."""
    a, b = ("world" if rng.random() < 0.15 else f"b{k}"), f"b{k + 1}"
    at, axis = np.array([0.5 * (k + 0.5), 0.0, height]), rng.standard_normal(3)
    kind = draw(rng, LIMITED if rng.random() < 0.4 else rb.joints.MENU)
    across = np.cross(axis, rng.standard_normal(3))
    across /= np.linalg.norm(across)
    given: dict[str, Any] = {"at": at, "axis": axis}
    if kind in LIMITED and rng.random() < 0.7:
        width = rng.uniform(0.01, 0.4)
        given |= {"limits": (-width, width), "restitution": draw(rng, (0.0, 0.5, 1.0))}
    if "distance" in kind:
        given["at_b"] = at + 0.3 * rng.standard_normal(3)
    if kind == "distance" and rng.random() < 0.5:
        given["length"] = rng.uniform(0.1, 2.5)
    given |= {
        "universal": {"axis_b": across},
        "double_rotation": {"axis_b": across},
        "screw": {"pitch": 0.3},
        "gear": {"at_b": at + 0.3 * across, "ratio": 1.5},
        "rack": {"axis_b": across, "radius": 0.2},
        "velocity_joint": {"angular": (1.0, None, None)},
    }.get(kind, {})
    if rng.random() < 0.2:
        given["breaking_force"] = rng.uniform(5.0, 60.0)
    scene.add_joint(rb.joints.MENU[kind](a, b, **given), name=f"j{k}")


def add_forces(scene: rb.Scene, rng: np.random.Generator) -> None:
    turning = [name for name, joint in scene.joints.items() if isinstance(joint, rb.Revolute)]
    if turning and rng.random() < 0.7:
        scene.add_force(rb.Servo(draw(rng, turning), target=0.2, gain=5.0, reset_time=0.5, window=0.1), name="servo")
    if rng.random() < 0.3:
        first = scene["b0"].position
        scene.add_force(rb.Spring("world", "b0", at=(0, 0, 2), at_b=first, stiffness=30.0, damping=1.0))
    if rng.random() < 0.2:
        scene.add_force(rb.Drag(linear=0.3))


def drawn_scene(rng: np.random.Generator, touching: bool) -> rb.Scene:
    scene, count = rb.Scene(), int(rng.integers(2, 6))
    for k in range(count):
        scene.add_body(
            draw(rng, SHAPES),
            mass=rng.uniform(0.2, 2.0),
            position=(0.5 * k, rng.uniform(-0.02, 0.02), rng.uniform(0.1, 0.6) if touching else 1.0),
            orientation=Rotation.from_rotvec(0.2 * rng.standard_normal(3)).as_quat(),
            velocity=rng.standard_normal(3),
            angular_velocity=3.0 * rng.standard_normal(3),
            material=rb.Material(friction=rng.uniform(0.0, 0.8), restitution=draw(rng, (0.0, 0.0, 0.3, 0.8))),
            continuous=bool(rng.random() < 0.1),
            name=f"b{k}",
        )
    if touching:
        scene.add_static(draw(rng, (rb.Plane(), rb.HeightField(np.zeros((5, 5)), (2.0, 2.0)))), name="ground")
        scene.add_body(rb.Box(0.2, 0.2, 0.1), position=(-1.0, 0.0, 0.05), name="at rest")
    for k in range(count - 1):
        if rng.random() < 0.8:
            add_joint(scene, rng, k, 0.3 if touching else 1.0)
    add_forces(scene, rng)
    return scene


def drawn_settings(rng: np.random.Generator, touching: bool) -> dict[str, Any]:
    sometimes: dict[str, tuple[float, Any]] = {
        "joints": (0.4, lambda: draw(rng, METHODS)),
        "sleep": (0.4, lambda: True),
        "substeps": (0.2, lambda: 2),
        "max_iterations": (0.3, lambda: int(rng.integers(1, 6))),
        "worlds": (0.2, lambda: 2),
    }
    if touching:
        sometimes |= {
            "contact_every": (0.3, lambda: int(rng.integers(2, 5))),
            "contact_time": (0.15, lambda: draw(rng, ("bisect", "interpolate"))),
            "narrowphase": (0.3, lambda: draw(rng, narrowphase.MENU)),
            "broadphase": (0.3, lambda: draw(rng, broadphase.MENU)),
            "bounding_volume": (0.2, lambda: draw(rng, bounds.MENU)),
        }
    integrator = draw(rng, INTEGRATORS)
    return {
        "time_step": draw(rng, (0.002, 0.005, 1 / 60, 0.04)),
        # What is pushed to its end would be followed in 10,000 sub-steps.
        "integrator": rb.integrators.RK45(max_substeps=100) if integrator == "rk45" else integrator,
        "contacts": draw(rng, [name for name in CONTACTS if name != "none"]) if touching else "none",
        "warn": False,
        **{name: choice() for name, (share, choice) in sometimes.items() if rng.random() < share},
    }


def drawn(seed: int) -> tuple[rb.Scene, dict[str, Any], np.random.Generator]:
    rng = np.random.default_rng(seed)
    touching = bool(rng.random() < 0.55)
    return drawn_scene(rng, touching), drawn_settings(rng, touching), rng


def push(sim: rb.Simulation, rng: np.random.Generator, speed: float) -> None:
    """Let a simulation live through something else, to its end if it is too much for it."""
    sim["b0"].velocity = speed * rng.standard_normal(sim["b0"].velocity.shape)
    sim["b1"].angular_velocity = speed * rng.standard_normal(sim["b1"].velocity.shape)
    with contextlib.suppress(rb.DivergenceError):
        sim.step(2)


def step(sim: rb.Simulation, steps: int = 1) -> str:
    """The hash after some steps, and whether they could be taken."""
    try:
        sim.step(steps)
    except rb.DivergenceError as error:
        return f"{sim.hash()} {error}"
    return sim.hash()


def memory(sim: rb.Simulation) -> list[tuple[str, Any]]:
    """Every array that the launches of a step use, but those of the state, by a name."""
    program, found = sim._step.program, {}
    for launch in launches_of([*program._prologue, *program._nodes, *program._idle]):
        for place, given in enumerate(launch.inputs):
            for name, array in leaves(given, f"{launch.kernel.key}[{place}]"):
                found.setdefault(array.ptr, (name, array))
    for group in sim.state.groups.values():
        for _, array in arrays.each(group):
            found.pop(array.ptr, None)
    return list(found.values())


def leaves(given: Any, name: str) -> Any:
    """The arrays in an argument of a kernel."""
    if isinstance(given, wp.array):
        yield from [(name, given)] if given.size else []
    elif hasattr(given, "_cls"):
        for inner in given._cls.vars:
            yield from leaves(getattr(given, inner), f"{name}.{inner}")


def remembered(sim: rb.Simulation) -> dict[str, np.ndarray]:
    return {name: array.numpy().copy() for name, array in memory(sim)}


def spoil(sim: rb.Simulation, unused: dict[str, np.ndarray]) -> None:
    """Put numbers that are none where steps have written numbers."""
    for name, array in memory(sim):
        now, first = array.numpy(), unused.get(name)
        if now.dtype.kind == "f" and first is not None and now.shape == first.shape and (now != first).any():
            array.assign(np.full_like(now, np.nan))


def goes_on(seed: int, path: Path, steps: int = 18) -> None:
    """Step a scene, and others from each of its states."""
    scene, settings, rng = drawn(seed)
    sim, other = (rb.Simulation(scene, **settings) for _ in range(2))
    unused = remembered(other)
    if settings.get("sleep") and rng.random() < 0.5:
        step(sim, round(0.55 / sim.time_step))
    for k in range(steps):
        start = sim.state.copy()
        if k % 6 == 2:
            sim.save(path)
        if k % 3 == 2:
            push(other, rng, 10.0 ** rng.choice([0, 0, 3, 40, 160]))
        wanted = step(sim)
        other.state = start
        if k % 3 == 1:
            spoil(other, unused)
        assert step(other) == wanted, (seed, k, "another past")
        if k % 6 == 2:
            loaded = rb.load(path)
            assert loaded.hash() == start.hash(), (seed, k, "loaded")
            assert step(loaded) == wanted, (seed, k, "after loading")
        if k % 6 == 5:
            start, wanted = sim.state.copy(), [step(sim) for _ in range(3)][-1]
            other.state = start
            assert step(other, 3) == wanted, (seed, k, "in one call")
        if " " in wanted:
            return


@pytest.mark.parametrize("seed", QUICK)
def test_every_state_goes_on_bit_for_bit_wherever_it_is_taken_to(seed: int, tmp_path: Path) -> None:
    goes_on(seed, tmp_path / "whole.npz")


@pytest.mark.slow
@pytest.mark.parametrize("part", range(40))
def test_many_states_go_on_bit_for_bit_wherever_they_are_taken_to(part: int, tmp_path: Path) -> None:
    for seed in range(1000 + part * EACH, 1000 + (part + 1) * EACH):
        goes_on(seed, tmp_path / "whole.npz")
