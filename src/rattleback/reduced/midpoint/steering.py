"""Servos of the freedoms of trees, solved with the step: stable at any gain, of second order where it follows them.

    u = K (e₀ + I/T_N − a (v̄ − ṙ) − b (v₁ − ṙ)),   |u| ≤ u_max            v₁ = 2 v̄ − v₀
    of a place   a = h/2 (1 + s) + T_V (1 − d),   b = h/2 s + T_V d          s = z/(1 + z),    z = h² K/(4 J)
    of a rate    a = 1 − d,   b = d,   and − K T_V ((v₁ − v₀)/h − ṙ)         d = y²/(1 + y²),  y = h c/(2 J)

K gain, T_V rate time, T_N reset time, I integral of the error up to the start of the step, e₀ error there (of a rate:
the target in the middle), ṙ rate of the target; v₀, v̄, v₁ rates of the freedom; J inertia that it meets, c = K T_V,
or K of a rate. Soft servos see the middle of the step (s, d → 0), stiff ones its end: they reach their target in two
steps, where the midpoint rule would swing for ever.

    factor     D ← D + h/2 k,  k = K (a + 2 b) what u loses per v̄; none at the limit
    a round    u at the mean rates so far, within its limit
    after it   |u| > u_max: at the limit;   at a limit, and u within it or beyond the other: free;   then once more
Cost: some numbers a freedom; a factorisation for each round in which a servo changes over.

Reference: Bender, dissertation, §3.2.5, eq. 3.22; Hairer, Wanner, Solving Ordinary Differential Equations II, IV.3.
"""

import warp as wp

from rattleback.core.precision import real
from rattleback.reduced.midpoint.links import Trees


@wp.func
def begin_steering(trees: Trees, k: int, h: real) -> None:
    """A step or a part of it begins: no servo is at its limit."""
    trees.servos.h[k] = h
    trees.servos.bound[k] = 0


@wp.func
def turn_error(trees: Trees, k: int) -> None:
    """A part of a step is done: the error at the start of the next."""
    servos = trees.servos
    if servos.on[k] == 1 and servos.of_rate[k] == 0:
        gone = servos.sign[k] * trees.step.mean_spin[k][0] - servos.slope[k]
        servos.error[k] = servos.error[k] - servos.h[k] * gone


@wp.func
def weigh(trees: Trees, k: int, inertia: real) -> real:
    """The weights of the rates of a servo at a freedom with an inertia; what it adds to that."""
    servos = trees.servos
    if servos.on[k] == 0:
        return real(0.0)
    h = servos.h[k]
    gain = servos.gain[k]
    half = real(0.5) * h
    one = real(1.0)
    if servos.of_rate[k] == 1:
        y = half * gain / (inertia + gain * servos.rate_time[k])
        d = y * y / (one + y * y)
        servos.of_mean[k] = one - d + servos.rate_time[k] / half
        servos.of_end[k] = d
    else:
        z = half * half * gain / inertia
        s = z / (one + z)
        y = half * gain * servos.rate_time[k] / inertia
        d = y * y / (one + y * y)
        servos.of_mean[k] = half * (one + s) + servos.rate_time[k] * (one - d)
        servos.of_end[k] = half * s + servos.rate_time[k] * d
    servos.yields[k] = gain * (servos.of_mean[k] + real(2.0) * servos.of_end[k])
    if servos.bound[k] != 0:
        servos.yields[k] = real(0.0)
    return half * servos.yields[k]


@wp.func
def wanted_effort(trees: Trees, k: int) -> real:
    """The effort that a servo asks for at the mean rates so far, whatever its limit."""
    servos = trees.servos
    sign = servos.sign[k]
    start = sign * trees.step.spin[k][0]
    mean = sign * trees.step.mean_spin[k][0]
    end = real(2.0) * mean - start
    if servos.of_rate[k] == 1:
        lead = servos.rate_time[k]
        inert = real(2.0) / servos.h[k] * lead
        d = servos.of_end[k]
        off = servos.error[k] + servos.integral[k] + lead * servos.slope[k] + inert * start
        return servos.gain[k] * (off - servos.of_mean[k] * mean - d * end)
    slope = servos.slope[k]
    off = servos.error[k] + servos.integral[k]
    return servos.gain[k] * (off - servos.of_mean[k] * (mean - slope) - servos.of_end[k] * (end - slope))


@wp.func
def steer(trees: Trees, k: int) -> real:
    """The force of a servo on its freedom in a round."""
    servos = trees.servos
    if servos.on[k] == 0:
        return real(0.0)
    most = servos.limit[k]
    effort = wanted_effort(trees, k)
    if servos.bound[k] != 0:
        effort = real(servos.bound[k]) * most
    servos.effort[k] = wp.clamp(effort, -most, most)
    return servos.sign[k] * effort - servos.lent[k]


@wp.func
def bound_after(trees: Trees, k: int) -> int:
    """At which limit a servo is to be after a round, whose rates are there."""
    servos = trees.servos
    effort = wanted_effort(trees, k)
    servos.effort[k] = wp.clamp(effort, -servos.limit[k], servos.limit[k])
    bound = servos.bound[k]
    if wp.abs(effort) <= servos.limit[k]:
        return 0
    side = wp.where(effort > real(0.0), 1, -1)
    return wp.where(bound + side == 0, 0, side)
