"""Every integrator with joints and forces that depend on velocity: its order, against SciPy on reduced coordinates.

With joints methods of higher order than two are of order two, since the impulses of joints act at both ends of a step.
"""

import cmath
import functools
import math
from collections.abc import Callable

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import rattleback as rb
from rattleback.core.precision import PRECISION
from rattleback.integrators import MENU

pytestmark = pytest.mark.skipif(PRECISION != "double", reason="orders are measured in double precision")

TIME, GRAVITY = 0.8, 9.81
# Inertia of the links about their centres of mass, far below what the mechanism has for a damper.
LIGHT = 0.01
CRANK, ROD, SLIDER, PULL, BRAKE, HINGE = 0.3, 0.8, 2.0, 60.0, 3.0, 1.5


def simulation(scene: rb.Scene, name: str, steps: int) -> rb.Simulation:
    integrator = rb.integrators.RK45(error=math.inf) if name == "rk45" else MENU[name]()
    tight = dict.fromkeys(("position_tolerance", "orientation_tolerance", "velocity_tolerance"), 1e-10)
    return rb.Simulation(scene, time_step=TIME / steps, integrator=integrator, strict=True, **tight)


def solve(rates: Callable[[float, np.ndarray], list[float]], start: list[float], time: float = TIME) -> np.ndarray:
    found = solve_ivp(rates, (0, time), start, method="DOP853", rtol=1e-12, atol=1e-13)
    return np.asarray(found.y[:, -1])


def pendulum() -> rb.Scene:
    """A rod whose centre of mass is 2 m from its hinge, level at the start."""
    scene = rb.Scene(gravity=(0, 0, -GRAVITY))
    scene.add_body(mass=1.0, inertia=(0.04, 0.1, 0.1), position=(2, 0, 0), name="rod")
    scene.add_joint(rb.Revolute(scene.world, "rod", at=(0, 0, 0), axis=(0, 1, 0)), name="hinge")
    return scene


def damped_hinge() -> rb.Scene:
    scene = pendulum()
    scene.add_force(rb.TorsionSpring("hinge", stiffness=3.0, damping=10.0))
    return scene


@functools.cache
def damped_hinge_truth() -> float:
    def law(_t: float, y: np.ndarray) -> list[float]:
        return [y[1], (2 * GRAVITY * math.cos(y[0]) - 10.0 * y[1] - 3.0 * y[0]) / 4.1]

    return float(solve(law, [0, 0])[0])


def dragged() -> rb.Scene:
    scene = pendulum()
    scene.add_force(rb.Drag(linear=0.7, quadratic=0.2, angular=0.5))
    return scene


@functools.cache
def dragged_truth() -> float:
    def law(_t: float, y: np.ndarray) -> list[float]:
        speed = 2.0 * y[1]
        braking = 2.0 * (0.7 + 0.2 * abs(speed)) * speed + 0.5 * y[1]
        return [y[1], (2 * GRAVITY * math.cos(y[0]) - braking) / 4.1]

    return float(solve(law, [0, 0])[0])


def slider_crank() -> rb.Scene:
    """A crank, a rod and a slider along x, with a damped spring on the slider and a damper between crank and rod."""
    scene = rb.Scene(gravity=(0, 0, -GRAVITY))
    up = cmath.exp(1j * math.pi / 3)
    pin = CRANK * up
    lean = -math.asin(pin.imag / ROD)
    end = pin.real + ROD * math.cos(lean)
    inertia = (LIGHT, LIGHT, LIGHT)
    middle = 0.5 * (pin + end)
    scene.add_body(mass=1.0, inertia=inertia, position=(0.5 * pin.real, 0, 0.5 * pin.imag), name="crank")
    scene.add_body(mass=1.0, inertia=inertia, position=(middle.real, 0, middle.imag), name="rod")
    scene.add_body(mass=SLIDER, inertia=inertia, position=(end, 0, 0), name="slider")
    for a, b, x, z in (("world", "crank", 0, 0), ("crank", "rod", pin.real, pin.imag), ("rod", "slider", end, 0)):
        scene.add_joint(rb.Revolute(a, b, at=(x, 0, z), axis=(0, -1, 0)), name=f"{a}-{b}")
    scene.add_joint(rb.Prismatic("world", "slider", at=(end, 0, 0), axis=(1, 0, 0)), name="rail")
    scene.add_force(rb.TorsionSpring("crank-rod", stiffness=0.0, damping=HINGE), name="bearing")
    ends = {"at": (3, 0, 0), "at_b": (end, 0, 0)}
    scene.add_force(rb.Spring("world", "slider", **ends, stiffness=PULL, damping=BRAKE, length=1.5), name="spring")
    return scene


@functools.cache
def slider_crank_truth() -> float:
    """The turn of the crank, from J(θ) θ'' + ½ J'(θ) θ'² = Q by virtual work."""
    start = math.pi / 3

    def law(_t: float, y: np.ndarray) -> list[float]:
        turn, rate = start + y[0], y[1]
        k = CRANK / ROD
        lean = -math.asin(k * math.sin(turn))
        by = -k * math.cos(turn) / math.cos(lean)
        by2 = (k * math.sin(turn) + math.sin(lean) * by * by) / math.cos(lean)
        out, along = CRANK * cmath.exp(1j * turn), ROD * cmath.exp(1j * lean)
        first = [0.5j * out, 1j * out + 0.5j * by * along, 1j * out + 1j * by * along]
        second = [-0.5 * out, -out + 0.5 * (1j * by2 - by * by) * along, -out + (1j * by2 - by * by) * along]
        masses = [1.0, 1.0, SLIDER]
        inertia = LIGHT * (1 + by * by) + sum(m * abs(d) ** 2 for m, d in zip(masses, first, strict=True))
        slope = 2.0 * LIGHT * by * by2
        slope += 2.0 * sum(m * (d * s.conjugate()).real for m, d, s in zip(masses, first, second, strict=True))
        weight = -GRAVITY * sum(m * d.imag for m, d in zip(masses, first, strict=True))
        place = (out + along).real
        pull = PULL * (3.0 - place - 1.5) - BRAKE * first[2].real * rate
        effort = weight + pull * first[2].real - HINGE * (by - 1.0) ** 2 * rate
        return [rate, (effort - 0.5 * slope * rate * rate) / inertia]

    return float(solve(law, [0, 0])[0])


def servo() -> rb.Scene:
    scene = damped_hinge()
    scene.add_force(rb.Servo("hinge", target=0.7, gain=80.0, reset_time=0.5, rate_time=0.2), name="motor")
    return scene


@functools.cache
def servo_truth(steps: int) -> float:
    """The controller measures at the start of every step and holds its effort through it."""
    h, y, integral, before = TIME / steps, np.zeros(2), 0.0, 0.0
    for k in range(steps):
        error = 0.7 - y[0]
        slope = (error - before) / h if k else 0.0
        effort = 80.0 * (error + integral / 0.5 + 0.2 * slope)

        def law(_t: float, x: np.ndarray, effort: float = effort) -> list[float]:
            return [x[1], (2 * GRAVITY * math.cos(x[0]) - 10.0 * x[1] - 3.0 * x[0] + effort) / 4.1]

        y, integral, before = solve(law, list(y), h), integral + h * error, error
    return float(y[0])


SCENES = {
    "damped hinge": (damped_hinge, "hinge", damped_hinge_truth),
    "drag": (dragged, "hinge", dragged_truth),
    "slider-crank": (slider_crank, "world-crank", slider_crank_truth),
    "servo": (servo, "hinge", servo_truth),
}


@pytest.mark.parametrize("name", MENU)
@pytest.mark.parametrize("case", SCENES)
def test_damped_mechanisms_converge_to_scipy_with_the_order_of_the_method(case: str, name: str) -> None:
    build, joint, truth = SCENES[case]
    order, errors = min(MENU[name].order, 2), []
    for steps in (160, 320):
        sim = simulation(build(), name, steps)
        sim.step(steps)
        errors.append(abs(sim[joint].angle - (truth(steps) if truth is servo_truth else truth())))
    assert math.log2(errors[0] / errors[1]) == pytest.approx(order, abs=0.2)
    assert errors[1] < {1: 2e-2, 2: 1e-4}[order]
