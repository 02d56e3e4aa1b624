"""The bound of servos: in a step none may do more than the step can follow, whatever its gain.

    G_ij = s_iᵀ y(M⁻¹ s_j),   D = K_r (1 + 2 T_V/h)  of a rate,   K_r max(T_V + h, 16 h)  of an angle or a position
    u ← σ (u + α l),   σ = 1/max(1, h D G)  and by its neighbours  1/max(1, Σ_j h |G_ij| (D_i D_j)^½)
    α = 32 z − 1 within 0 … 1,   z = K_r h (h − T_V) G  of an angle or a position with less damping than a step gives

G rate of joint i by a unit effort of servo j as joints and bodies answer to it, y what joints leave of the change of
free bodies (``joint_response``); s the effect of a unit effort; D what the loop answers to a change of the rate; u
effort asked for, l what it would be more at the end of the step if rates stayed.

A servo with h D G > 1 would turn a rate about in a single step, with h D G > 2 ever further; σ stops it in one. No mode
of several servos overshoots: the sum of a row bounds the largest eigenvalue of h G D. What swings with ω is followed
up to ω h = 1/4. Without damping, the effort of the start of a step makes a swing grow by z/4 a step; beyond z = 1/32
the servo looks ahead, which damps it. Moderate servos have σ = 1 and α = 0 and keep their bits.

    where free bodies say that it might matter, for every servo: G by one substitution;   σ, α, and the efforts anew
Cost: a launch a servo and one a world; where it might matter, a substitution in the factor of the joints a servo.

Reference: for the sum of the row Baker, Falgout, Kolev and Yang, Multigrid smoothers for ultraparallel computing, 2011.
"""

from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import warp as wp

from rattleback.core import arrays, host_read
from rattleback.core.arrays import field, group
from rattleback.core.kernel import kernel
from rattleback.core.precision import real, vec3
from rattleback.forces.joint_axis import Effect, effect_of
from rattleback.forces.pid import REACH, Held, Law
from rattleback.maths.quat import rotate, rotate_back
from rattleback.model.model import Bodies
from rattleback.model.row_counts import servo_places
from rattleback.model.state import Clock, Motion
from rattleback.model.step_context import StepContext
from rattleback.problem.joint_response import JointResponse
from rattleback.problem.joint_rows import Joints

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from rattleback.problem.preview import Preview

# The largest z with the effort of the start of the step: a swing of ω h = 0.18 grows by 0.8 % in it.
UNDAMPED = wp.constant(real(1.0 / 32.0))


@group(axis="servos")
class Bounds:
    """How far each servo may go; those of one world follow each other."""

    joint: wp.int32 = field("1", "row of its joint")
    turning: wp.int32 = field("1", "1 where it turns that, 0 where it slides it")
    per_rate: real = field("N m s or N s/m", "D")
    undamped: real = field("N m s² or N s²", "z for a unit mobility")
    free: real = field("1/(kg m²) or 1/kg", "rate of its joint by a unit effort if bodies were free")
    share: real = field("1", "σ")
    ahead: real = field("1", "α")
    quick: real = field("1", "how many times more than the step can follow it has asked for in the call; zero for none")
    far: real = field("1", "how many times the limit z was in the call; zero where it never mattered")
    answer: real = field("1/(kg m²) or 1/kg", "G, row by row", axis="pairs")
    suspect: wp.int32 = field("1", "1 where a servo of the world might do too much", axis="worlds")
    any_suspect: wp.int32 = field("1", "1 where one of any world might", axis="flags")


@wp.func
def ease(bodies: Bodies, motion: Motion, i: int, torque: vec3) -> vec3:
    """Change of the angular velocity of a body by a unit of time of a torque."""
    q = motion.orientation[i]
    return rotate(q, bodies.inverse_inertia[i] * rotate_back(q, torque))


@kernel
def offer(bodies: Bodies, joints: Joints, motion: Motion, law: Law, held: Held, bounds: Bounds) -> None:
    """What one servo asks for, and how easily its joint would move if bodies were free."""
    w = wp.tid()
    k = w * int(law.servos) + int(law.servo)
    j = w * int(law.place.joints) + int(law.place.joint)
    bounds.per_rate[k] = real(0.0)
    bounds.undamped[k] = real(0.0)
    bounds.free[k] = real(0.0)
    bounds.joint[k] = j
    bounds.turning[k] = law.place.turning
    if joints.broken[j] != 0:
        return
    effect = effect_of(joints, motion, j, int(law.place.turning))
    a = joints.body_a[j]
    b = joints.body_b[j]
    mobility = wp.length_sq(effect.force) * (joints.inverse_mass_a[j] + joints.inverse_mass_b[j])
    if a >= 0:
        mobility += wp.dot(effect.torque_a, ease(bodies, motion, a, effect.torque_a))
    if b >= 0:
        mobility += wp.dot(effect.torque_b, ease(bodies, motion, b, effect.torque_b))
    bounds.free[k] = mobility
    bounds.per_rate[k] = held.per_rate[w]
    bounds.undamped[k] = held.undamped[w]


@kernel
def suspect(clock: Clock, bounds: Bounds, servos: int) -> None:
    """Whether the servos of a world might do too much: joints make bodies less mobile, never more."""
    w = wp.tid()
    h = real(clock.time_step[w])
    total = real(0.0)
    most = real(0.0)
    far = real(0.0)
    for k in range(w * servos, (w + 1) * servos):
        bounds.share[k] = real(1.0)
        bounds.ahead[k] = real(0.0)
        root = wp.sqrt(h * bounds.per_rate[k] * bounds.free[k])
        total += root
        most = wp.max(most, root)
        far = wp.max(far, bounds.undamped[k] * bounds.free[k])
    bounds.suspect[w] = 0
    if most * total > real(1.0) or far > UNDAMPED:
        bounds.suspect[w] = 1
        wp.atomic_max(bounds.any_suspect, 0, 1)


@kernel
def rest(bodies: Bodies, ways: Motion, held: wp.array[wp.int32], lanes: int) -> None:
    """Nothing has changed the velocities of the bodies with joints."""
    for e in range(wp.tid(), held.shape[0], lanes):
        ways.velocity[held[e]] = vec3()
        ways.angular_velocity[held[e]] = vec3()


@kernel
def strike(bodies: Bodies, joints: Joints, motion: Motion, bounds: Bounds, ways: Motion, servo: int) -> None:
    """What a unit effort of one servo would do to free bodies."""
    w = wp.tid()
    bounds.any_suspect[0] = 0
    k = w * (bounds.joint.shape[0] // bounds.suspect.shape[0]) + servo
    j = bounds.joint[k]
    if bounds.suspect[w] == 0 or bounds.free[k] == real(0.0):
        return
    effect = effect_of(joints, motion, j, int(bounds.turning[k]))
    a = joints.body_a[j]
    b = joints.body_b[j]
    if a >= 0:
        ways.velocity[a] = -joints.inverse_mass_a[j] * effect.force
        ways.angular_velocity[a] = ease(bodies, motion, a, effect.torque_a)
    if b >= 0:
        ways.velocity[b] = joints.inverse_mass_b[j] * effect.force
        ways.angular_velocity[b] = ease(bodies, motion, b, effect.torque_b)


@wp.func
def rate_along(joints: Joints, effect: Effect, ways: Motion, j: int) -> real:
    """The rate of a joint."""
    a = joints.body_a[j]
    b = joints.body_b[j]
    rate = real(0.0)
    if a >= 0:
        rate += wp.dot(effect.torque_a, ways.angular_velocity[a]) - wp.dot(effect.force, ways.velocity[a])
    if b >= 0:
        rate += wp.dot(effect.torque_b, ways.angular_velocity[b]) + wp.dot(effect.force, ways.velocity[b])
    return rate


@kernel
def answer(joints: Joints, motion: Motion, bounds: Bounds, ways: Motion, servo: int) -> None:
    """The rates of the joints of all servos of a world by what one does."""
    w = wp.tid()
    if bounds.suspect[w] == 0:
        return
    n = bounds.joint.shape[0] // bounds.suspect.shape[0]
    for m in range(n):
        k = w * n + m
        j = bounds.joint[k]
        rate = real(0.0)
        if bounds.free[k] > real(0.0):
            rate = rate_along(joints, effect_of(joints, motion, j, int(bounds.turning[k])), ways, j)
        bounds.answer[k * n + servo] = rate


@kernel
def bound(clock: Clock, bounds: Bounds, servos: int) -> None:
    """σ and α of the servos of a world: each by itself, then with its neighbours."""
    w = wp.tid()
    if bounds.suspect[w] == 0:
        return
    h = real(clock.time_step[w])
    first = w * servos
    for k in range(first, first + servos):
        mobility = wp.max(bounds.answer[k * servos + k - first], real(0.0))
        own = real(1.0) / wp.max(h * bounds.per_rate[k] * mobility, real(1.0))
        bounds.per_rate[k] = own * bounds.per_rate[k]
        bounds.share[k] = own
        bounds.undamped[k] = bounds.undamped[k] * mobility
        bounds.ahead[k] = wp.clamp(bounds.undamped[k] / UNDAMPED - real(1.0), real(0.0), real(1.0))
    for k in range(first, first + servos):
        row = real(0.0)
        for m in range(servos):
            row += wp.abs(bounds.answer[k * servos + m]) * wp.sqrt(bounds.per_rate[k] * bounds.per_rate[first + m])
        bounds.share[k] = bounds.share[k] / wp.max(h * row, real(1.0))


@kernel
def hold(clock: Clock, law: Law, held: Held, bounds: Bounds) -> None:
    """The effort of a servo that asks for too much, and what its error adds to the integral then."""
    w = wp.tid()
    k = w * int(law.servos) + int(law.servo)
    s = bounds.share[k]
    if (s == real(1.0) and bounds.ahead[k] == real(0.0)) or bounds.free[k] == real(0.0):
        return
    u = s * (held.asked[w] + bounds.ahead[k] * held.lead[w])
    effort = wp.clamp(u, -held.limit[w], held.limit[w])
    held.area[w] = held.error[w] * real(clock.time_step[w])
    if wp.abs(u) > held.limit[w] and u * held.error[w] > real(0.0):
        held.area[w] = real(0.0)
    if effort != held.effort[w]:
        bounds.quick[k] = wp.max(bounds.quick[k], real(1.0) / s)
        bounds.far[k] = wp.max(bounds.far[k], bounds.undamped[k] / UNDAMPED)
    held.effort[w] = effort


class ServoBounds:
    """Records the bound of the servos of a simulation.

    Args:
        context: Where the step is recorded.
        preview: The preview loop of the joints.
        servos: The compiled servos by name, in the order of the scene.
    """

    def __init__(self, context: StepContext, preview: "Preview", servos: "Mapping[str, Any]") -> None:
        self.context, self.preview, self.servos = context, preview, servos
        self.count, model = len(servo_places(context.model.scene)), context.model
        rows = self.count * model.worlds
        counts = {"servos": rows, "pairs": rows * self.count, "worlds": model.worlds, "flags": 1}
        self.bounds: Any = arrays.allocate(Bounds, counts, model.device)
        self.response, self.ways = JointResponse(preview), context.scratch(Motion)

    def record(self) -> None:
        """Record the efforts of the step, as far as it can follow them."""
        context, bounds, clock = self.context, self.bounds, self.context.state.clock
        moving = (context.model.bodies, self.preview.problem.joints, context.state.motion)
        for servo in self.servos.values():
            context.for_worlds(offer, *moving, servo.law, servo.held, bounds)
        context.for_worlds(suspect, clock, bounds, self.count)
        with context.program.when(bounds.any_suspect):
            for number in (int(servo.law.servo) for servo in self.servos.values()):
                context.program.share(
                    rest, len(self.response.held), context.model.bodies, self.ways, self.response.held
                )
                context.for_worlds(strike, *moving, bounds, self.ways, number)
                self.response.leave(self.ways, bounds.suspect)
                context.for_worlds(answer, *moving[1:], bounds, self.ways, number)
            context.for_worlds(bound, clock, bounds, self.count)
            for servo in self.servos.values():
                context.for_worlds(hold, clock, servo.law, servo.held, bounds)

    @cached_property
    def forget(self) -> "Callable[[], None]":
        """To be called when a call begins: no servo has been held back yet."""
        return host_read.clearing(self.bounds.quick, self.bounds.far)

    def take_over(self, old: "ServoBounds") -> None:
        """Go on with what another one of the same servos has seen."""
        arrays.copy_into(self.bounds, old.bounds)

    @property
    def fell_short(self) -> Any:
        """Above zero where a servo was held back in a step of the call."""
        return self.bounds.quick

    def reason(self, h: float) -> str:
        """Which servo was held back most in steps of a length [s], and what would not be; empty where none was."""
        quick, far = (getattr(self.bounds, name).numpy().astype(np.float64) for name in ("quick", "far"))
        k = int(np.maximum(quick, far).argmax())
        if quick[k] == 0.0:
            return ""
        world, number = divmod(k, self.count)
        name, servo = next(item for item in self.servos.items() if int(item[1].law.servo) == number)
        force = servo.versions[min(world, len(servo.versions) - 1)]
        where = f" of world {world}" if self.context.model.batched else ""
        ratio, steps = max(quick[k], far[k]), _steps(force, h, quick[k], far[k])
        advice = [f"a gain below {force.gain / ratio:.3g}", *([f"a time_step below {steps:.3g} s"] if steps else [])]
        if far[k] > 1.0:
            advice.append(f"a rate_time of {h:.3g} s or more" if quick[k] <= 1.0 else "more rate_time beside that")
        return (
            f"Servo {name!r}{where} asks for more than joint {force.joint!r} can follow in a step of {h:.3g} s and "
            f"was held to what it can. {_either(advice)} would not be held."
        )


def _steps(force: Any, h: float, quick: float, far: float) -> float:
    """The longest step that can follow a servo, zero if none can, from one of a length [s] that cannot."""
    t, found, reach = force.rate_time, h, float(REACH)
    if force.control == "velocity":
        found = (h + 2.0 * t) / quick - 2.0 * t
    elif quick > 1.0:
        most = h * max(t + h, reach * h) / quick
        found = min(-0.5 * t + (0.25 * t * t + most) ** 0.5, (most / reach) ** 0.5)
    if far > 1.0:
        found = min(found, 0.5 * t + (0.25 * t * t + h * (h - t) / far) ** 0.5)
    return max(0.0, found)


def _either(advice: list[str]) -> str:
    said = " or ".join([", ".join(advice[:-1]), advice[-1]]) if len(advice) > 1 else advice[0]
    return said[0].upper() + said[1:]


def make_servo_bounds(context: StepContext, preview: "Preview", named: "Mapping[str, Any]") -> ServoBounds | None:
    """The bound of the servos among the compiled forces of a scene that no tree finds; None without any."""
    servos = {name: named[name] for name in servo_places(context.model.scene) if not named[name].by_tree}
    return ServoBounds(context, preview, servos) if servos else None
