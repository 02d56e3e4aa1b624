"""The spatial slider-crank against its own equation of motion, which one quadrature solves.

    ½ M(φ) φ̇² + V(φ) = E   ⇒   t(φ) = ∫ √(M / 2(E − V)) dφ

φ angle of the crank, M its inertia with all it moves, V height of the rod's centre times its weight, E energy. The
integrand is smooth and of period 2π, so the time of a whole turn follows from a plain sum; the angle at a given time by
Newton's method. Nothing of this uses the simulation. The benchmark library publishes the mechanism, and solutions of
its contributors as curves; the digits beside ours are those of the quadrature.

Reference: multibody benchmark library, spatial rigid slider-crank mechanism.
"""

from __future__ import annotations

import math

import numpy as np

from rattleback.experiments.convergence import error_panel, order, run_to
from rattleback.experiments.result import Curve, Experiment, Finding, Findings, Options, Panel, Result, near
from rattleback.experiments.trial import watch
from rattleback.scenes import slider_crank
from rattleback.scenes.slider_crank import CENTRE, CRANK, CRANK_MOMENTS, ROD, ROD_MASS, ROD_MOMENTS, SLIDER_MASS

GRAVITY, SPIN, MOMENT = 9.81, 6.0, 5.0
# 25 micrometres at a quarter of a millisecond, of second order; the crank turns at up to 23 rad/s.
ALLOWED, ALLOWED_ANGLE = 400.0, 10_000.0
NODES, WEIGHTS = np.polynomial.legendre.leggauss(64)


def slider(angle: np.ndarray) -> np.ndarray:
    """Where the slider is when the crank is at an angle [m]."""
    tip = CENTRE + CRANK * np.stack([0.0 * angle, -np.sin(angle), np.cos(angle)], axis=-1)
    return np.sqrt(ROD**2 - np.sum(tip**2, axis=-1))


def inertia_and_height(angle: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Inertia of the whole mechanism as the crank feels it [kg m²], and height of the rod's centre [m]."""
    zero, along = np.zeros_like(angle), np.array([1.0, 0.0, 0.0])
    arm = CRANK * np.stack([zero, -np.sin(angle), np.cos(angle)], axis=-1)
    tip, tip_rate = CENTRE + arm, np.cross(along, arm)
    x = slider(angle)
    x_rate = -np.sum(tip * tip_rate, axis=-1) / x
    end, end_rate = np.stack([x, zero, zero], axis=-1), np.stack([x_rate, zero, zero], axis=-1)
    unit, rate = (end - tip) / ROD, (end_rate - tip_rate) / ROD
    cross = np.cross(unit, along)
    size = np.linalg.norm(cross, axis=-1, keepdims=True)
    roll = np.sum(np.cross(rate, along) / size * np.cross(unit, cross / size), axis=-1)
    middle = 0.5 * (tip_rate + end_rate)
    inertia = CRANK_MOMENTS[0] + SLIDER_MASS * x_rate**2 + ROD_MASS * np.sum(middle**2, axis=-1)
    inertia += ROD_MOMENTS[0] * roll**2 + ROD_MOMENTS[1] * np.sum(rate**2, axis=-1)
    return inertia, 0.5 * tip[..., 2]


def seconds_per_radian(angle: np.ndarray) -> np.ndarray:
    """dt/dφ by the conservation of energy [s]."""
    inertia, height = inertia_and_height(angle)
    first, top = inertia_and_height(np.zeros(1))
    energy = 0.5 * first * SPIN**2 + ROD_MASS * GRAVITY * (top - height)
    return np.sqrt(0.5 * inertia / energy)


def angle_at(moment: float) -> float:
    """The angle of the crank at a time, from whole turns, a Gauss rule for the rest and Newton's method [rad]."""
    turn = float(np.mean(seconds_per_radian(np.linspace(0.0, 2.0 * math.pi, 4096, endpoint=False)))) * 2.0 * math.pi
    whole, rest = divmod(moment, turn)
    angle = 2.0 * math.pi * rest / turn
    for _ in range(20):
        pieces = np.linspace(0.0, angle, 9)
        half, middle = 0.5 * np.diff(pieces), 0.5 * (pieces[1:] + pieces[:-1])
        passed = float(np.sum(half[:, None] * WEIGHTS * seconds_per_radian(middle[:, None] + half[:, None] * NODES)))
        change = (rest - passed) / float(seconds_per_radian(np.array([angle]))[0])
        angle += change
        if abs(change) < 1e-12:
            break
    return 2.0 * math.pi * whole + angle


def run(options: Options) -> Result:
    """Compare slider and crank at 5 s, at several step lengths; the shortest decides."""
    found, errors = Findings(), {}
    truth = angle_at(MOMENT)
    place = float(slider(np.array([truth]))[0])
    for step in (0.002, 0.001) if options.quick else (0.002, 0.001, 5e-4, 2.5e-4):
        options.tell(f"slider-crank at {step:g} s")
        sim = run_to(slider_crank(), MOMENT, found, time_step=step)
        x = math.nan if sim is None else float(sim["slider"].position[0])
        angle = math.nan if sim is None else sim["bearing"].angle
        errors[step] = abs(x - place)
    found.rows.append(near(f"slider at 5 s, h = {step:g} s", x, place, ALLOWED * step**2, "m"))
    found.rows.append(near(f"angle of the crank at 5 s, h = {step:g} s", angle, truth, ALLOWED_ANGLE * step**2, "rad"))
    found.rows.append(Finding("order of the error in h", order(errors)))
    return found.result(_way(), error_panel("Error of the slider at 5 s", "m", {"slider": errors}))


def _way() -> Panel:
    """The way of the slider at the longest step beside that of the quadrature."""
    ours: list[float] = []
    trial = watch(slider_crank(), 2500, 125, lambda sim: ours.append(float(sim["slider"].position[0])), time_step=0.002)
    times = np.linspace(0.0, MOMENT, 501)
    way = slider(np.array([angle_at(moment) for moment in times]))
    curves = (
        Curve("quadrature", times.tolist(), way.tolist(), "line", 1),
        Curve("h = 0.002 s", trial.times, ours, "dots"),
    )
    return Panel("Way of the slider", "time [s]", "x [m]", curves)


EXPERIMENT = Experiment(
    "slider_crank",
    "Does the spatial slider-crank move as its equation of motion says?",
    "multibody benchmark library, spatial rigid slider-crank; digits by quadrature",
    run,
)
