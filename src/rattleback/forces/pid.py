"""The digital PID controller of a servo, as kernels: one effort a step, and a memory of the errors.

    u_k = K_r (e_k + I_k/T_N + T_V (e_k − e_{k−1})/h_{k−1}),   |u_k| ≤ u_max
    I_k = Σ_{i<k} h_i e_i over the last T_w seconds

e_k error at the start of step k, h_k its length; K_r gain, T_N reset time, T_V rate time, T_w window, u_max limit.
Every error is weighted by its own step and differences are divided by the step between them, so that steps may differ;
eq. 3.23 of the document has one h. The first step has no e_{k−1} and no slope.

Windup is kept down in two ways. An error that would push an effort further past its limit is not integrated. With a
finite window, errors older than T_w are forgotten: their sum is kept in a ring of stretches, (duration, Σ h e), of at
least T_w/128 each. The sum over the window is exact when steps are that long or longer, however they vary; shorter
steps share a stretch, and only the oldest one, of which the window holds a part, is then taken as even. The ring has
the same size at any time step, which may therefore change at any time, and it is summed anew each step, so that
rounding does not pile up.

Cost: two launches a step, one thread a world; a window adds a sum over 130 stretches.

Reference: Bender, dissertation, §3.2.5, eq. 3.22 and 3.23.
"""

import warp as wp

from rattleback.core.arrays import field, group
from rattleback.core.kernel import kernel
from rattleback.core.precision import real
from rattleback.forces.joint_axis import Place, act, coordinate
from rattleback.forces.schedule import Course, value_at
from rattleback.model.joint_memory import JointState, ServoState
from rattleback.model.state import Clock, Loads, Motion
from rattleback.problem.joint_rows import Joints

# Stretches a window is divided into. Of the ring's, one is still growing and one is left over for rounding.
STRETCHES = 128
RING = STRETCHES + 2
# The least (T_V + h)/h that counts: what swings on a servo then has ω h of a quarter at most and can be followed.
REACH = wp.constant(real(16.0))


@wp.struct
class Law:
    """A controller: which joint it drives, and where its memory lies in every world."""

    place: Place
    of_rate: wp.int32
    servo: wp.int32
    servos: wp.int32
    first: wp.int32
    ring: wp.int32
    stretches: wp.int32


@group(axis="worlds")
class Held:
    """How a servo answers to its error, and what it does in the step under way."""

    gain: real = field("N m or N per unit of the error", "effort per error")
    integral_rate: real = field("1/s", "inverse of the reset time; zero for no integral part")
    rate_time: real = field("s", "time of the differential part; zero for none")
    limit: real = field("N m or N", "largest effort")
    window: wp.float64 = field("s", "time after which the integral forgets an error; infinite for never")
    asked: real = field("N m or N", "effort the controller asks for at its start, whatever the limit")
    lead: real = field("N m or N", "what the way that the joint goes in it at its rate would add to that")
    per_rate: real = field("N m s or N s/m", "D, effort that the next steps put against a change of the rate")
    undamped: real = field("N m s² or N s²", "K_r h (h − T_V) of an angle or a position, zero where T_V is longer")
    error: real = field("rad, m, rad/s or m/s", "error at its start")
    effort: real = field("N m or N", "effort held through it")
    area: real = field("rad s, m s, rad or m", "what it adds to the integral of the error")


@kernel
def regulate(
    joints: Joints,
    motion: Motion,
    clock: Clock,
    remembered: JointState,
    memory: ServoState,
    law: Law,
    course: Course,
    held: Held,
) -> None:
    """The effort of the step that begins, and what its error will add to the integral; none on a broken joint."""
    w = wp.tid()
    s = w * int(law.servos) + int(law.servo)
    target = value_at(course, w, clock.time[w])
    if memory.manual[s] == 1:
        target = memory.target[s]
    q, rate = coordinate(joints, motion, remembered, law.place, w)
    e = real(wp.float64(target) - q)
    if law.of_rate == 1:
        e = target - rate
    slope = real(0.0)
    if memory.step[s] > wp.float64(0.0):
        slope = (e - memory.error[s]) / real(memory.step[s])
    u = held.gain[w] * (e + held.integral_rate[w] * memory.integral[s] + held.rate_time[w] * slope)
    h = real(clock.time_step[w])
    area = e * h
    held.per_rate[w] = held.gain[w] * (real(1.0) + real(2.0) * held.rate_time[w] / h)
    held.lead[w] = real(0.0)
    held.undamped[w] = real(0.0)
    if law.of_rate == 0:
        later = target
        if memory.manual[s] == 0:
            later = value_at(course, w, clock.time[w] + clock.time_step[w])
        held.per_rate[w] = held.gain[w] * wp.max(held.rate_time[w] + h, REACH * h)
        held.lead[w] = held.gain[w] * (later - target - h * rate)
        held.undamped[w] = held.gain[w] * h * wp.max(h - held.rate_time[w], real(0.0))
    if wp.abs(u) > held.limit[w] and u * e > real(0.0):
        area = real(0.0)
    if joints.broken[w * int(law.place.joints) + int(law.place.joint)] != 0:
        u = real(0.0)
        area = real(0.0)
    held.error[w] = e
    held.asked[w] = u
    held.effort[w] = wp.clamp(u, -held.limit[w], held.limit[w])
    held.area[w] = area


@kernel
def add_effort(joints: Joints, motion: Motion, law: Law, held: Held, loads: Loads) -> None:
    """The effort held through the step, along the axis as it lies at a moment of it."""
    w = wp.tid()
    act(joints, motion, law.place, w, held.effort[w], loads)


@kernel
def note_effort(efforts: wp.array[real], held: Held, link: int, links: int) -> None:
    """The effort of a step that is done, where it was found with the motion."""
    w = wp.tid()
    held.effort[w] = efforts[w * links + link]


@wp.func
def window_sum(memory: ServoState, first: int, newest: int, ring: int, window: wp.float64) -> real:
    """The integral over the last T_w seconds, from the newest stretch back; of the oldest the part inside counts."""
    total = real(0.0)
    left = wp.float64(0.0) + window
    for i in range(ring):
        k = first + (newest - i + ring) % ring
        d = memory.duration[k]
        if d > left:
            total += memory.area[k] * real(left / d)
            left = wp.float64(0.0)
        else:
            total += memory.area[k]
            left -= d
    return total


@kernel
def remember(clock: Clock, memory: ServoState, law: Law, held: Held, stop: wp.array[wp.int32]) -> None:
    """A step is done: its error goes into the memory. A step that failed leaves no trace."""
    w = wp.tid()
    if stop[0] != 0:
        return
    s = w * int(law.servos) + int(law.servo)
    h = clock.time_step[w]
    memory.error[s] = held.error[w]
    memory.effort[s] = held.effort[w]
    memory.step[s] = h
    if law.ring == 0:
        memory.integral[s] = memory.integral[s] + held.area[w]
        return
    first = w * int(law.stretches) + int(law.first)
    ring = int(law.ring)
    k = int(memory.newest[s])
    if memory.duration[first + k] >= held.window[w] / wp.float64(STRETCHES):
        k = (k + 1) % ring
        memory.duration[first + k] = wp.float64(0.0)
        memory.area[first + k] = real(0.0)
        memory.newest[s] = k
    memory.duration[first + k] = memory.duration[first + k] + h
    memory.area[first + k] = memory.area[first + k] + held.area[w]
    memory.integral[s] = window_sum(memory, first, k, ring, held.window[w])
