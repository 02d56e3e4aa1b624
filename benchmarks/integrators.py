"""Every integrator on the torque-free body: measured order, drift over a minute, phase error, cost of a step.

The body has the moments (1, 2, 3) kg m² and starts at ω = (0.01, 1, 0) rad/s, close to the unstable middle axis;
ω₂ first crosses zero at 10.37730488 s. The order is measured on another body against Jacobi's solution.
"""

import math

import numpy as np
from machine import main, markdown, median_seconds
from scipy.special import ellipj

import rattleback as rb

FIRST_CROSSING = 10.37730488234


def body(integrator: object, h: float, device: str, w: tuple[float, float, float]) -> rb.Simulation:
    scene = rb.Scene(gravity=(0, 0, 0))
    scene.add_body(mass=1.0, inertia=(1, 2, 3), angular_velocity=w, name="body")
    return rb.Simulation(scene, time_step=h, integrator=integrator, device=device)


def local_velocity(sim: rb.Simulation) -> np.ndarray:
    found = sim["body"]
    return rb.rotation.rotate(rb.rotation.conjugate(found.orientation), found.angular_velocity)


def jacobi(t: float) -> np.ndarray:
    """ω(t) for ω(0) = (1, 0, 0.8): (cn, √½·… sn, dn) with the moments (1, 2, 3) put in."""
    energy2, momentum2 = 1.0 + 3 * 0.64, 1.0 + 9 * 0.64
    rate, m = math.sqrt((momentum2 - energy2) / 6.0), (3 * energy2 - momentum2) / (momentum2 - energy2)
    sn, cn, dn, _ = ellipj(rate * t, m)
    return np.array([1.0 * cn, math.sqrt((3 * energy2 - momentum2) / 2.0) * sn, 0.8 * dn])


def measured_order(name: str, device: str) -> float:
    order = rb.integrators.MENU[name].order
    integrator = rb.integrators.RK45(error=math.inf) if name == "rk45" else name
    errors = []
    for count in {1: (800, 1600), 2: (200, 400), 4: (40, 80), 5: (40, 80)}[order]:
        sim = body(integrator, 2.0 / count, device, (1.0, 0.0, 0.8))
        sim.step(count)
        errors.append(np.abs(local_velocity(sim) - jacobi(2.0)).max())
    return math.log2(errors[0] / errors[1])


def crossing(sim: rb.Simulation, h: float) -> float:
    """First zero of ω₂ by a line through the two samples around it."""
    steps = int(10.2 / h)
    sim.step(steps)
    before, t = local_velocity(sim)[1], sim.time
    while True:
        sim.step()
        now = local_velocity(sim)[1]
        if now <= 0.0:
            return t + h * before / (before - now)
        before, t = now, sim.time


def measure(device: str) -> str:
    rows, h = [], 1e-3
    for name in rb.integrators.MENU:
        sim = body(name, h, device, (0.01, 1.0, 0.0))
        energy, momentum = sim.energy().total, np.linalg.norm(sim.momentum().angular)
        phase = crossing(sim, h) - FIRST_CROSSING
        sim.run(60.0 - sim.time)
        drift = sim.energy().total / energy - 1.0
        turned = np.linalg.norm(sim.momentum().angular) / momentum - 1.0
        seconds = median_seconds(lambda sim=sim: sim.step(2000)) / 2000
        order = f"{measured_order(name, device):.2f}"
        rows.append([f"`{name}`", order, f"{drift:+.1e}", f"{turned:+.1e}", f"{phase:+.1e}", f"{1e6 * seconds:.2f}"])
    head = [
        "integrator",
        "measured order",
        "energy drift, 60 s",
        "momentum drift, 60 s",
        "first crossing off by [s]",
        "µs a step",
    ]
    return f"One torque-free body, h = {h:g} s, steps replayed 2000 at a time.\n\n{markdown(head, rows)}"


if __name__ == "__main__":
    main("integrators", measure)
