"""Servos: the controller against one in plain Python, its limit, window and memory; the momentum it leaves alone."""

import math
from typing import Any

import numpy as np
import pytest

import rattleback as rb
from rattleback.core.precision import PRECISION
from rattleback.forces import ServoView

DOUBLE = PRECISION == "double"
TIGHT = 1e-9 if DOUBLE else 1e-3
INERTIA = 0.5 * 3.0 * 0.2**2


def hinged(gravity: tuple[float, float, float] = (0, 0, 0), **servo: Any) -> rb.Scene:
    """A disk on a hinge along z."""
    scene = rb.Scene(gravity=gravity)
    scene.add_body(rb.Cylinder(0.2, 0.1), mass=3.0, name="disk")
    scene.add_joint(rb.Revolute("world", "disk"), "hinge")
    scene.add_force(rb.Servo("hinge", **servo), "motor")
    return scene


def arm(**servo: Any) -> rb.Scene:
    """An arm on a hinge across gravity."""
    scene = rb.Scene()
    scene.add_body(rb.Box(1.0, 0.1, 0.1), mass=1.0, position=(0.5, 0, 0), name="arm")
    scene.add_joint(rb.Revolute("world", "arm", axis=(0, 1, 0)), "hinge")
    scene.add_force(rb.Servo("hinge", **servo), "motor")
    return scene


def slider(**servo: Any) -> rb.Scene:
    scene = rb.Scene(gravity=(0, 0, 0))
    scene.add_body(rb.Sphere(0.1), mass=2.0, name="cart")
    scene.add_joint(rb.Prismatic("world", "cart", axis=(1, 0, 0)), "rail")
    scene.add_force(rb.Servo("rail", **servo), "motor")
    return scene


def motor(sim: rb.Simulation) -> ServoView:
    return ServoView(sim.model, sim.state, "motor")


class Reference:
    """The controller in plain Python: every error is kept with its step."""

    def __init__(self, gain: float, reset: float, rate: float, window: float, limit: float) -> None:
        self.gain, self.reset, self.rate, self.window, self.limit = gain, reset, rate, window, limit
        self.past: list[tuple[float, float]] = []
        self.last: tuple[float, float] | None = None

    def integral(self) -> float:
        total, left = 0.0, self.window
        for h, e in reversed(self.past):
            total += e * min(h, left)
            left -= min(h, left)
        return total

    def __call__(self, error: float, h: float) -> float:
        slope = 0.0 if self.last is None else (error - self.last[0]) / self.last[1]
        wanted = self.gain * (error + self.integral() / self.reset + self.rate * slope)
        effort = max(-self.limit, min(self.limit, wanted))
        winding = abs(wanted) > self.limit and wanted * error > 0
        self.past.append((h, 0.0 if winding else error))
        self.last = (error, h)
        return effort


@pytest.mark.parametrize("window", [math.inf, 0.35])
@pytest.mark.parametrize("limit", [math.inf, 1.5])
def test_the_servo_moves_its_joint_as_the_controller_in_plain_python_would(
    window: float, limit: float, device: str
) -> None:
    """The disk moves on a parabola of constant torque in each step, also when the step changes."""
    law = {"gain": 4.0, "reset_time": 0.5, "rate_time": 0.2, "window": window, "limit": limit}
    sim = rb.Simulation(hinged(target=0.7, **law), integrator="rk45", device=device)
    reference, angle, rate = Reference(4.0, 0.5, 0.2, window, limit), 0.0, 0.0
    for k in range(120):
        h = 0.01 if k % 3 else 0.0173
        sim.time_step = h
        effort = reference(0.7 - angle, h)
        angle, rate = angle + h * rate + 0.5 * h * h * effort / INERTIA, rate + h * effort / INERTIA
        sim.step()
        assert motor(sim).effort == pytest.approx(effort, abs=1e3 * TIGHT)
        assert sim["hinge"].angle == pytest.approx(angle, abs=10 * TIGHT)
    assert motor(sim).integral == pytest.approx(reference.integral(), abs=10 * TIGHT)


@pytest.mark.parametrize("control", ["angle", "velocity"])
@pytest.mark.parametrize("window", [math.inf, 0.35])
@pytest.mark.parametrize("integrator", rb.integrators.MENU)
def test_the_effort_is_that_of_the_error_measured_at_the_start_of_the_step(
    integrator: str, window: float, control: str, device: str
) -> None:
    law = {"gain": 1.0, "reset_time": 0.5, "rate_time": 0.02, "window": window, "limit": 1.5, "control": control}
    sim = rb.Simulation(arm(target=0.7, **law), integrator=integrator, device=device)
    reference = Reference(1.0, 0.5, 0.02, window, 1.5)
    for k in range(60):
        sim.time_step = h = 0.01 if k % 3 else 0.0173
        measured = sim["hinge"].angle if control == "angle" else sim["hinge"].velocity
        effort = reference(0.7 - measured, h)
        sim.step()
        assert motor(sim).effort == pytest.approx(effort, abs=TIGHT)
        assert motor(sim).error == pytest.approx(0.7 - measured, abs=TIGHT)


def test_short_steps_share_stretches_and_the_window_stays_close(device: str) -> None:
    """Steps of a twentieth of a stretch: of the window's integral at most one stretch of it is taken as even."""
    window = 0.35
    sim = rb.Simulation(hinged(target=0.7, gain=4.0, reset_time=0.5, rate_time=0.2, window=window), device=device)
    errors = []
    sim.time_step = h = window / 128 / 20
    for _ in range(200):
        sim.step(25)
        errors.append(0.7 - sim["hinge"].angle)
    fine = np.interp(np.arange(-window, 0, h / 2), 25 * h * np.arange(-199, 1), errors)
    assert motor(sim).integral == pytest.approx(fine.mean() * window, abs=window / 128 * np.ptp(fine) + 1e-4)


def test_the_effort_is_held_through_the_stages_of_a_step(device: str) -> None:
    """One long step at constant torque is the exact parabola; a torque that followed the error would not be."""
    sim = rb.Simulation(hinged(target=1.0, gain=0.02), time_step=0.3, integrator="rk45", device=device)
    sim.step()
    assert sim["hinge"].angle == pytest.approx(0.5 * 0.3**2 * 0.02 / INERTIA, abs=TIGHT)


def test_without_an_integral_part_a_load_leaves_an_error_and_with_it_none(device: str) -> None:
    load = 9.81 * 0.5
    stiff = {"gain": 40.0, "rate_time": 0.25}
    sim = rb.Simulation(arm(**stiff), time_step=0.005, device=device)
    sim.run(8.0)
    angle = sim["hinge"].angle
    assert angle == pytest.approx(load * math.cos(angle) / 40.0, abs=1e-6 if DOUBLE else 1e-3)
    sim = rb.Simulation(arm(**stiff, reset_time=0.6), time_step=0.005, device=device)
    sim.run(15.0)
    assert sim["hinge"].angle == pytest.approx(0.0, abs=1e-9 if DOUBLE else 1e-3)
    assert motor(sim).effort == pytest.approx(-load, abs=1e-6 if DOUBLE else 1e-2)


def test_the_limit_is_never_passed_and_the_integral_does_not_wind_up(device: str) -> None:
    law = {"gain": 4.0, "reset_time": 0.3, "rate_time": 0.2, "target": 30.0}
    sim = rb.Simulation(hinged(limit=0.25, **law), time_step=0.01, device=device)
    largest, top = 0.0, 0.0
    for _ in range(2000):
        sim.step()
        largest, top = max(largest, abs(motor(sim).effort)), max(top, sim["hinge"].angle)
    assert largest == pytest.approx(0.25, abs=1e-7)
    assert sim["hinge"].angle > 20.0
    assert motor(sim).integral < 0.3 * 30.0


def test_the_window_forgets(device: str) -> None:
    """A constant error for longer than the window: the integral stays at error times window."""
    sim = rb.Simulation(hinged(target=0.5, gain=1e-9, reset_time=1.0, window=0.4), time_step=0.01, device=device)
    sim.step(30)
    assert motor(sim).integral == pytest.approx(0.5 * 0.3, rel=1e-6)
    sim.step(200)
    assert motor(sim).integral == pytest.approx(0.5 * 0.4, rel=1e-6)
    motor(sim).target = sim["hinge"].angle
    sim.step(41)
    assert motor(sim).integral == pytest.approx(0.0, abs=1e-6)
    sim.time_step = 3.0
    motor(sim).target = sim["hinge"].angle + 2.0
    sim.step()
    assert motor(sim).integral == pytest.approx(2.0 * 0.4, rel=1e-3)


def test_a_velocity_is_reached_and_counted_over_full_turns(device: str) -> None:
    law = {"control": "velocity", "target": 40.0, "gain": 0.5, "reset_time": 0.5}
    sim = rb.Simulation(hinged(**law), time_step=0.01, device=device)
    sim.run(10.0)
    assert sim["hinge"].velocity == pytest.approx(40.0, abs=1e-6 if DOUBLE else 1e-2)
    assert sim["hinge"].angle > 300


def test_an_angle_of_many_turns_is_aimed_at_as_such(device: str) -> None:
    sim = rb.Simulation(hinged(target=9 * math.pi, gain=2.0, rate_time=0.25), time_step=0.01, device=device)
    sim.run(8.0)
    assert sim["hinge"].angle == pytest.approx(9 * math.pi, abs=1e-5 if DOUBLE else 1e-2)


@pytest.mark.parametrize("control", ["position", "velocity"])
def test_a_linear_motor_reaches_its_target(control: str, device: str) -> None:
    law = {"position": {"gain": 60.0, "rate_time": 0.35}, "velocity": {"gain": 30.0}}[control]
    sim = rb.Simulation(slider(control=control, target=0.8, **law), time_step=0.005, device=device)
    sim.run(6.0)
    reached = sim["rail"].position if control == "position" else sim["rail"].velocity
    assert reached == pytest.approx(0.8, abs=1e-6 if DOUBLE else 1e-3)


def test_a_slow_schedule_is_followed(device: str) -> None:
    path = rb.Schedule([0, 2, 3], [0, 0.6, 0.2], kind="cubic")
    law = {"control": "position", "gain": 4000.0, "rate_time": 0.04}
    sim = rb.Simulation(slider(target=path, **law), time_step=0.002, device=device)
    for _ in range(8):
        sim.run(0.5)
        assert sim["rail"].position == pytest.approx(path(sim.time), abs=0.03)
        assert motor(sim).target == pytest.approx(path(sim.time), abs=1e-6)
    assert sim["rail"].position == pytest.approx(0.2, abs=1e-4)


def free_pair(joint: type[Any], **servo: Any) -> rb.Scene:
    """Two free bodies that spin together, with a motor between them, fastened beside their centres of mass."""
    scene = rb.Scene(gravity=(0, 0, 0))
    scene.add_body(rb.Box(0.4, 0.2, 0.3), mass=2.0, name="a", angular_velocity=(0.3, 0.2, 0.4))
    velocity = np.cross((0.3, 0.2, 0.4), (0.4, 0.3, 0.2))
    spin = {"velocity": velocity, "angular_velocity": (0.3, 0.2, 0.4)}
    scene.add_body(rb.Box(0.2, 0.5, 0.1), mass=0.7, position=(0.4, 0.3, 0.2), name="b", **spin)
    held = scene.add_joint(joint("a", "b", at=(0.1, 0.2, 0.1), at_b=(0.1, 0.2, 0.1), axis=(1, 2, 0.5)), "held")
    scene.add_force(rb.Servo(held, **servo), "motor")
    return scene


@pytest.mark.parametrize(
    ("joint", "control"), [(rb.Revolute, "angle"), (rb.Prismatic, "position"), (rb.Cylindrical, "position")]
)
def test_a_motor_between_free_bodies_keeps_their_momentum(joint: type[Any], control: str, device: str) -> None:
    sim = rb.Simulation(free_pair(joint, control=control, target=0.3, gain=5.0), time_step=1e-3, device=device)
    before = sim.momentum()
    sim.run(0.2)
    assert abs(getattr(sim["held"], control)) > 0.05
    np.testing.assert_allclose(sim.momentum().linear, before.linear, atol=1e-11 if DOUBLE else 1e-4)
    np.testing.assert_allclose(sim.momentum().angular, before.angular, atol=1e-5 if DOUBLE else 1e-3)


def test_the_loads_of_a_linear_motor_have_no_net_torque(device: str) -> None:
    """Without joint impulses in between: one explicit step of a joint that leaves everything but one direction."""
    scene = free_pair(rb.FixedOrientation, control="position", target=1.0, gain=5.0)
    for body in scene.bodies:
        object.__setattr__(body, "angular_velocity", np.zeros(3))
        object.__setattr__(body, "velocity", np.zeros(3))
    h = 1e-4
    sim = rb.Simulation(scene, time_step=h, integrator="explicit_euler", device=device)
    sim.step()
    np.testing.assert_allclose(sim.momentum().linear, 0, atol=1e-15 if DOUBLE else 1e-6)
    np.testing.assert_allclose(sim.momentum().angular, 0, atol=1e-12 if DOUBLE else 1e-6)
    force = 0.7 * np.linalg.norm(sim["b"].velocity) / h
    assert force == pytest.approx(5.0, rel=1e-3)


def working(**more: Any) -> rb.Scene:
    law = {"gain": 30.0, "reset_time": 0.7, "rate_time": 0.2, "window": 0.25, "limit": 9.0}
    scene = arm(target=rb.Schedule([0, 0.3, 0.9], [0.0, 0.8, -0.4], kind="cubic"), **{**law, **more})
    scene.add_force(rb.Servo("hinge", control="velocity", gain=0.01, reset_time=1.0), "brake")
    scene.add_force(rb.TorsionSpring("hinge", stiffness=2.0, damping=0.1), "spring")
    return scene


@pytest.mark.parametrize("worlds", [None, 3])
@pytest.mark.parametrize("integrator", ["lie_midpoint", "rk45"])
def test_a_copied_and_a_saved_state_go_on_bit_for_bit(worlds: int | None, integrator: str, tmp_path: Any) -> None:
    sim = rb.Simulation(working(), worlds=worlds, integrator=integrator, time_step=0.004)
    sim.step(90)
    motor(sim).target = 0.1 if worlds is None else [0.1, 0.2, 0.3]
    sim.step(3)
    sim.save(tmp_path / "x.npz")
    kept = sim.state.copy()
    sim.step(150)
    after = sim.hash()
    twin = rb.load(tmp_path / "x.npz")
    assert motor(twin).target == pytest.approx([0.1, 0.2, 0.3] if worlds else 0.1)
    twin.step(150)
    assert twin.hash() == after
    sim.state = kept
    sim.step(150)
    assert sim.hash() == after


def test_worlds_have_the_bits_of_single_runs_and_targets_of_their_own(device: str) -> None:
    many = rb.Simulation(working(), worlds=3, device=device)
    motor(many).target = [0.1, -0.2, 0.5]
    many.step(80)
    for world, target in enumerate([0.1, -0.2, 0.5]):
        one = rb.Simulation(working(), device=device)
        motor(one).target = target
        one.step(80)
        np.testing.assert_array_equal(one["arm"].orientation, many["arm"].orientation[world])
        assert motor(one).effort == motor(many).effort[world]


def test_a_target_set_by_hand_holds_until_it_is_given_back(device: str) -> None:
    sim = rb.Simulation(hinged(target=rb.Schedule([0, 1], [0, 2]), gain=0.01), time_step=0.25, device=device)
    assert motor(sim).target == 0.0
    sim.step()
    assert motor(sim).target == pytest.approx(0.5)
    motor(sim).target = 7
    sim.step()
    assert motor(sim).target == 7.0
    assert motor(sim).error == pytest.approx(7.0, abs=0.5)
    motor(sim).target = None
    assert motor(sim).target == pytest.approx(1.0)


def test_a_reset_servo_starts_anew(device: str) -> None:
    sim = rb.Simulation(working(), device=device, worlds=2)
    sim.step(40)
    fresh = rb.Simulation(working(), device=device, worlds=2)
    for name in ("motor", "brake"):
        ServoView(sim.model, sim.state, name).reset()
    for name in ("error", "integral", "effort", "step", "newest", "duration", "area"):
        there, here = (getattr(which.state.servos, name).numpy() for which in (fresh, sim))
        np.testing.assert_array_equal(here, there)
    assert repr(motor(sim)) == "<Servo 'motor' on 'hinge'>"


def test_a_step_that_fails_leaves_no_trace_in_the_memory() -> None:
    def burst(time: float, bodies: rb.forces.ForcePicture) -> np.ndarray:
        return np.full_like(bodies.position, 0.5 * np.finfo(bodies.position.dtype).max if time > 0.05 else 0.0)

    scene = working()
    scene.add_body(rb.Sphere(0.1), mass=1e-3, name="spark")
    scene.add_force(rb.PythonForce(burst, bodies="spark"))
    sim = rb.Simulation(scene, time_step=0.01)
    sim.step(5)
    before = sim.hash()
    with pytest.raises(rb.DivergenceError):
        sim.step(5)
    assert sim.state.steps == 5
    assert sim.hash() == before


def test_many_servos_keep_to_their_own_memory(device: str) -> None:
    """Three motors with different memories in one scene do what each does alone."""
    laws = [
        {"gain": 3.0, "reset_time": 0.5, "window": 0.2, "rate_time": 0.1},
        {"gain": 2.0, "reset_time": 0.4, "rate_time": 0.2},
        {"gain": 1.0, "reset_time": 0.9, "window": 0.1, "rate_time": 0.3},
    ]

    def build(chosen: list[int]) -> rb.Scene:
        scene = rb.Scene(gravity=(0, 0, 0))
        for k in chosen:
            scene.add_body(rb.Cylinder(0.2, 0.1), mass=3.0, position=(k, 0, 0), name=f"disk {k}")
            scene.add_joint(rb.Revolute("world", f"disk {k}", at=(k, 0, 0)), f"hinge {k}")
            scene.add_force(rb.Servo(f"hinge {k}", target=0.5 + k, **laws[k]), f"motor {k}")
        return scene

    together = rb.Simulation(build([0, 1, 2]), worlds=2, device=device)
    together.step(60)
    for k in range(3):
        alone = rb.Simulation(build([k]), device=device)
        alone.step(60)
        expected = ServoView(alone.model, alone.state, f"motor {k}")
        found = ServoView(together.model, together.state, f"motor {k}")
        np.testing.assert_allclose(found.integral, expected.integral, rtol=1e-9 if DOUBLE else 1e-3)
        np.testing.assert_allclose(found.effort, expected.effort, rtol=1e-7 if DOUBLE else 1e-2)
