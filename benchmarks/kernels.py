"""The kernel language: what a launch costs, how many free bodies move per second, which part of the memory's speed.

The answers are checked first: after the run every body must lie on its parabola. NumPy does the same step beside us.
"""

import numpy as np
import warp as wp
from machine import main, markdown, median_seconds

import rattleback as rb
from rattleback.core import device as devices
from rattleback.core.stages import Program

# Bytes a body's step of semi_implicit_euler under gravity moves in double precision, kernel by kernel (read + written):
# start_from 48 + 48, add_gravity 24 + 8 + 4 + 24, velocity_then_position (104 + 48 + 4 + 8 + 72 + 72) + 104,
# find_fault 104, take_over 104 + 104. What is kept for the report is not counted.
BYTES_PER_BODY_STEP = 96 + 60 + 412 + 104 + 208


@wp.kernel(enable_backward=False)
def nothing(values: wp.array[wp.float64]) -> None:
    values[0] = values[0] + wp.float64(1.0)


def launch_costs(device: str) -> list[list[str]]:
    """Microseconds of a launch, made in three ways."""
    where = devices.find(device)
    values, stop = wp.zeros(1, dtype=wp.float64, device=where), wp.zeros(1, dtype=wp.int32, device=where)
    program = Program(where, stop)
    with program.stage("all"):
        for _ in range(10):
            program.launch(nothing, 1, values)
    program.compile()
    command = wp.launch(nothing, dim=1, inputs=[values], device=where, record_cmd=True)

    def plain() -> None:
        for _ in range(1000):
            wp.launch(nothing, dim=1, inputs=[values], device=where)
        wp.synchronize_device(where)

    def recorded() -> None:
        for _ in range(1000):
            command.launch()
        wp.synchronize_device(where)

    def captured() -> None:
        program.run(100)
        wp.synchronize_device(where)

    ways = {"`wp.launch`": plain, "recorded launch": recorded, "captured step of 10 launches, per launch": captured}
    return [[name, f"{1e3 * median_seconds(work):.2f} µs"] for name, work in ways.items()]


def flying(device: str, bodies: int, integrator: str) -> rb.Simulation:
    """A million boxes in free flight, as worlds of a hundred."""
    scene = rb.Scene()
    for k in range(100):
        scene.add_body(rb.Box(1.0, 0.5, 0.3), position=(k, 0, 0), velocity=(0, k, 10), angular_velocity=(1, 2, 3))
    sim = rb.Simulation(scene, time_step=1e-3, worlds=bodies // 100, integrator=integrator, device=device)
    sim.step(2)
    return sim


def check(sim: rb.Simulation, late: float) -> None:
    """Every body must be on its parabola; semi-implicit Euler falls as if it had begun ``late`` steps earlier."""
    t, k = sim.time, np.arange(100.0)
    fall = 0.5 * 9.81 * t * (t + late * sim.time_step)
    expected = np.stack([k, k * t, np.full(100, 10 * t - fall)], axis=-1)
    error = np.abs(sim.state.position - expected).max()
    if error > 1e-9:
        raise SystemExit(f"The bodies are {error:.3g} m off their parabola; a time would mean nothing.")


def throughput(device: str, bodies: int) -> list[list[str]]:
    rows = []
    for name, late in (("lie_midpoint", 0.0), ("semi_implicit_euler", 1.0), ("rk4", 0.0)):
        sim = flying(device, bodies, name)
        steps = 5 if sim.device.is_cpu else 200
        seconds = median_seconds(lambda sim=sim, steps=steps: sim.step(steps), 5) / steps
        check(sim, late)
        rows.append([f"`{name}`, {bodies:,} free bodies", f"{bodies / seconds / 1e6:.1f} million body steps/s"])
        if name == "semi_implicit_euler":
            rate = BYTES_PER_BODY_STEP * bodies / seconds
            copy = copy_rate(device, bodies)
            rows.append(["— of the copy bandwidth", f"{100 * rate / copy:.0f} % of {copy / 1e9:.0f} GB/s"])
    return rows


def copy_rate(device: str, bodies: int) -> float:
    """Bytes read and written per second by a plain copy of an array of the same size."""
    source = wp.zeros(bodies * 20, dtype=wp.float64, device=device)
    target = wp.zeros_like(source)

    def copy() -> None:
        for _ in range(5):
            wp.copy(target, source)
        wp.synchronize_device(device)

    copy()
    return 5 * 2 * source.size * 8 / median_seconds(copy)


def numpy_rate(bodies: int) -> list[str]:
    """The step of semi_implicit_euler for the same bodies in NumPy."""
    x, v, w = np.zeros((bodies, 3)), np.ones((bodies, 3)), np.tile([1.0, 2.0, 3.0], (bodies, 1))
    q = np.tile([0.0, 0.0, 0.0, 1.0], (bodies, 1))
    inertia, g, h = np.array([1.0, 2.0, 2.5]), np.array([0.0, 0.0, -9.81]), 1e-3

    def step() -> None:
        nonlocal x, v, w, q
        back = q * [-1.0, -1.0, -1.0, 1.0]
        local = turned(back, w)
        w = w + h * turned(q, -np.cross(local, inertia * local) / inertia)
        v = v + h * g
        x = x + h * v
        angle = np.linalg.norm(w, axis=1, keepdims=True) * h
        change = np.concatenate([w * h * 0.5 * np.sinc(angle / 2 / np.pi), np.cos(angle / 2)], axis=1)
        q = product(change, q)
        q /= np.linalg.norm(q, axis=1, keepdims=True)

    return ["the same step in NumPy", f"{bodies / median_seconds(step, 3) / 1e6:.1f} million body steps/s"]


def turned(q: np.ndarray, v: np.ndarray) -> np.ndarray:
    t = 2.0 * np.cross(q[:, :3], v)
    return v + q[:, 3:] * t + np.cross(q[:, :3], t)


def product(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    vector = a[:, 3:] * b[:, :3] + b[:, 3:] * a[:, :3] + np.cross(a[:, :3], b[:, :3])
    return np.concatenate([vector, a[:, 3:] * b[:, 3:] - (a[:, :3] * b[:, :3]).sum(axis=1, keepdims=True)], axis=1)


def measure(device: str) -> str:
    bodies = 1_000_000
    rows = [*launch_costs(device), *throughput(device, bodies)]
    if devices.find(device).is_cpu:
        rows.append(numpy_rate(bodies))
    return markdown(["what", "measured"], rows)


if __name__ == "__main__":
    main("kernels", measure)
