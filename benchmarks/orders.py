"""Error over CPU time of steps of order 2 to 10 on a double pendulum, beside MuJoCo, Pinocchio and SciPy.

A body on a hinge and another on a ball joint below it, without symmetry, for two seconds. MuJoCo 4 takes its RK4, which
is of its own coordinates of trees; SciPy's DOP853 integrates the equations of motion in the coordinates of Pinocchio,
whose articulated-body algorithm is compiled. Times are CPU time of stepping alone, the median of five, all in one run;
the error is that of the end of the lower body, against the finest steps of two methods that agree to 1e-12 m.
"""

import math
import statistics
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from machine import DOCS, markdown, options, publish

import rattleback as rb
from rattleback.scenes import double_pendulum
from rattleback.scenes.pendulums import LOWER_CENTRE as TIP
from rattleback.scenes.pendulums import LOWER_MOMENTS as LOWER
from rattleback.scenes.pendulums import LOWER_SPIN as SPIN
from rattleback.scenes.pendulums import UPPER_MOMENTS as UPPER

DURATION, GOAL = 2.0, 1e-10
STEPS = (0.2, 0.1, 0.05, 0.025, 0.0125, 0.00625)
OURS: dict[str, Any] = {
    "impulse": None,
    **{f"extrapolated, order {order}": rb.Extrapolated(order=order) for order in (2, 4, 6, 8, 10)},
    **{f"composed, order {order}": rb.Composed(order=order) for order in (4, 6, 8, 10)},
}
XML = """<mujoco><option integrator="RK4" timestep="{step}"><flag contact="disable" constraint="disable"/></option>
<worldbody><body name="upper"><joint type="hinge" axis="0 1 0"/>
<inertial pos="0.5 0 0" mass="1" diaginertia="0.0342 0.104 0.0967"/>
<body name="lower" pos="1 0 0"><joint type="ball"/>
<inertial pos="0.4 0 -0.05" mass="0.8" diaginertia="0.03 0.07 0.065"/></body></body></worldbody></mujoco>"""
# What is measured: places of the tip at the end, and the CPU time it took [s].
Trial = Callable[[], tuple[np.ndarray, float]]


def ours(step: Any, length: float) -> tuple[np.ndarray, float]:
    """The tip by steps of this package; ``step`` None for the usual one at a fortieth of the length."""
    settings: dict[str, Any] = {"time_step": length, "step": step}
    if step is None:
        settings = {"time_step": length / 40.0, "position_tolerance": 1e-12, "velocity_tolerance": 1e-12}
    sim = rb.Simulation(double_pendulum(), warn=False, **settings)
    sim.capture()
    count, begun = round(DURATION / sim.time_step), time.process_time()
    sim.step(count)
    seconds = time.process_time() - begun
    body = sim["lower"]
    if step is not None and not sim.report.converged:
        return np.full(3, math.nan), seconds
    return body.position + rb.rotation.rotate(body.orientation, TIP), seconds


def adaptive(order: int, tolerance: float) -> tuple[np.ndarray, float]:
    """The tip by sub-steps of a tolerance."""
    return ours(rb.Extrapolated(order=order, tolerance=tolerance), DURATION)


def mujoco(length: float) -> tuple[np.ndarray, float]:
    """The tip by MuJoCo's RK4."""
    import mujoco as mj

    model = mj.MjModel.from_xml_string(XML.format(step=length))
    data = mj.MjData(model)
    # The rate of a ball joint is that of the lower body against the upper one, in its own axes.
    data.qvel[:] = [1.0, SPIN[0], SPIN[1] - 1.0, SPIN[2]]
    begun = time.process_time()
    mj.mj_step(model, data, round(DURATION / length))
    seconds = time.process_time() - begun
    mj.mj_forward(model, data)
    return data.xipos[2] + data.xmat[2].reshape(3, 3) @ TIP, seconds


def scipy(tolerance: float) -> tuple[np.ndarray, float]:
    """The tip by SciPy's DOP853 on the equations of Pinocchio, as (q, v) with a quaternion."""
    import pinocchio as pin
    from scipy.integrate import solve_ivp

    model = pin.Model()
    first = model.addJoint(0, pin.JointModelRY(), pin.SE3.Identity(), "hinge")
    second = model.addJoint(first, pin.JointModelSpherical(), pin.SE3(np.eye(3), np.array([1.0, 0, 0])), "ball")
    model.appendBodyToJoint(first, pin.Inertia(1.0, np.array([0.5, 0, 0]), np.diag(UPPER)), pin.SE3.Identity())
    model.appendBodyToJoint(second, pin.Inertia(0.8, TIP, np.diag(LOWER)), pin.SE3.Identity())
    data, q0 = model.createData(), pin.neutral(model)

    def rates(_: float, y: np.ndarray) -> np.ndarray:
        q, v = y[:5].copy(), y[5:]
        q[1:] /= np.linalg.norm(q[1:])
        x, z, w = y[1:4], y[4], v[1:]
        turn = 0.5 * np.concatenate([z * w + np.cross(x, w), [-(x @ w)]])
        return np.concatenate([[v[0]], turn, pin.aba(model, data, q, v, np.zeros(4))])

    start = np.concatenate([q0, [1.0, SPIN[0], SPIN[1] - 1.0, SPIN[2]]])
    begun = time.process_time()
    found = solve_ivp(rates, (0.0, DURATION), start, method="DOP853", rtol=tolerance, atol=tolerance)
    seconds = time.process_time() - begun
    q = found.y[:5, -1]
    q[1:] /= np.linalg.norm(q[1:])
    pin.forwardKinematics(model, data, q)
    return np.asarray(data.oMi[2].act(2.0 * TIP)), seconds


def trials() -> dict[str, list[tuple[str, Trial]]]:
    """What is tried of every method, by what is varied."""
    found: dict[str, list[tuple[str, Trial]]] = {
        name: [(f"{h:g} s", lambda step=step, h=h: ours(step, h)) for h in STEPS] for name, step in OURS.items()
    }
    tolerances = (1e-5, 1e-7, 1e-9, 1e-10, 1e-11, 1e-12)
    found["extrapolated, order 8, by tolerance"] = [
        (f"{tol:g}", lambda tol=tol: adaptive(8, tol)) for tol in tolerances
    ]
    found["MuJoCo, RK4"] = [
        (f"{h:g} s", lambda h=h: mujoco(h)) for h in (0.01, 0.005, 0.002, 0.001, 0.0005, 0.00025, 0.0001)
    ]
    found["Pinocchio, DOP853"] = [
        (f"{tol:g}", lambda tol=tol: scipy(tol)) for tol in (1e-5, 1e-7, 1e-9, 1e-10, 1e-11, 1e-12)
    ]
    return found


def truth() -> np.ndarray:
    """The tip by the finest steps, after a look at whether two methods agree."""
    first, _ = ours(rb.Extrapolated(order=10), 0.01)
    second, _ = ours(rb.Composed(order=10), 0.02)
    if np.abs(first - second).max() > 2e-12:
        raise SystemExit(f"The finest steps differ by {np.abs(first - second).max():.2g} m.")
    return second


def measure() -> dict[str, list[tuple[str, float, float]]]:
    """Setting, error [m] and CPU time [s] of every method."""
    exact, found = truth(), {}
    for name, several in trials().items():
        points = []
        for setting, trial in several:
            results = [trial() for _ in range(5)]
            error = float(np.linalg.norm(results[0][0] - exact))
            points.append((setting, error, statistics.median(seconds for _, seconds in results)))
        found[name] = points
    return found


def time_to(points: list[tuple[str, float, float]]) -> float | None:
    """CPU time of the cheapest setting that reaches the goal [s]; None where none does."""
    return min((seconds for _, error, seconds in points if error <= GOAL), default=None)


def tables(found: dict[str, list[tuple[str, float, float]]]) -> str:
    """All points, and what it takes to reach the goal."""
    rows = [
        [name, setting, "joints not held" if math.isnan(error) else f"{error:.1e} m", f"{1e3 * seconds:.3g} ms"]
        for name, points in found.items()
        for setting, error, seconds in points
    ]
    reach = {name: time_to(points) for name, points in found.items()}
    need = [[name, "–" if ms is None else f"{1e3 * ms:.3g} ms"] for name, ms in reach.items()]
    head = markdown(["method", f"CPU time to an error of {GOAL:g} m"], need)
    return f"{head}\n\n{markdown(['method', 'step or tolerance', 'error', 'CPU time'], rows)}"


def draw(found: dict[str, list[tuple[str, float, float]]]) -> None:
    """The figure of the docs."""
    from matplotlib.figure import Figure

    from rattleback.recording.style import PALETTE, label, tidy

    shown = [name for name in found if "order 4" not in name or "composed" not in name]
    figure = Figure(figsize=(9.0, 5.4), dpi=120, layout="constrained")
    axes = figure.subplots()
    tidy(axes)
    axes.set_xscale("log")
    axes.set_yscale("log")
    for number, name in enumerate(shown):
        points = [(seconds, max(error, 1e-15)) for _, error, seconds in found[name] if not math.isnan(error)]
        peer = name.startswith(("MuJoCo", "Pinocchio"))
        look = {"linestyle": "--" if peer else "-", "marker": "s" if peer else "o"}
        axes.plot(*zip(*points, strict=True), label=name, color=PALETTE[number % len(PALETTE)], markersize=4, **look)
    axes.axhline(GOAL, color="#999999", linewidth=0.8)
    label(axes, f"CPU time for {DURATION:g} s of motion [s]", "error of the tip at the end [m]")
    axes.legend(fontsize=8, loc="upper left", bbox_to_anchor=(1.0, 1.0))
    DOCS.mkdir(exist_ok=True)
    figure.savefig(DOCS / "orders.png")


if __name__ == "__main__":
    arguments = options("orders").parse_args()
    measured = measure()
    publish("orders", arguments, tables(measured))
    if arguments.write:
        draw(measured)
