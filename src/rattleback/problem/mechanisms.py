"""Mechanisms: moving bodies that joints connect, over any number of others, and the corrections each of them keeps.

Corrections of joints that contradict each other, or that contacts have hit hard, may not converge, and end farther from
the joints, or with more energy, than they began. Such a mechanism goes back to where it was before them, at which its
joints hold to first order; what is open is closed by the next steps.

    kept as it began   where   e > ε   and   (e > e₀ + d   or   T > 1.01 T₀ + ½ m (2 d / h)²)
    d = min(e₀, closing speed h)

e largest error of its joints, ε their tolerance, T its kinetic energy and m its mass, e₀ and T₀ the same at the
beginning, h time step, d the way that joints may close in it; bodies that close it may be twice as fast. The energy
matters where contacts have hit bodies. Worlds that are far open limit every correction themselves.

Cost: one pass over its joints and bodies at either end of a loop.
"""

from typing import TYPE_CHECKING, Any

import numpy as np
import warp as wp

from rattleback.core import arrays
from rattleback.core.arrays import field, group
from rattleback.core.kernel import kernel
from rattleback.core.precision import numpy_real, real
from rattleback.maths.quat import rotate_back
from rattleback.model.model import Bodies
from rattleback.model.state import Motion
from rattleback.model.step_context import move
from rattleback.problem.corrections import Flight, JointStatus, Limits, Reactions
from rattleback.problem.joint_errors import JointErrors

if TYPE_CHECKING:
    from rattleback.problem.joint_rows import JointRows
    from rattleback.problem.preview import Preview

# Kinetic energy that corrections which do not converge may add to a mechanism, as a multiple of what it had.
MORE = wp.constant(real(1.01))
# How much faster than a joint closes its bodies may go.
LEVERAGE = wp.constant(real(2.0))


@group(axis="mechanisms")
class Mechanisms:
    """The mechanisms of all worlds: a stretch of the list of bodies and of that of joints for each."""

    first: wp.int32 = field("1", "its first body")
    count: wp.int32 = field("1", "number of its bodies")
    body: wp.int32 = field("1", "row of a body", axis="members")
    first_joint: wp.int32 = field("1", "its first joint")
    joints: wp.int32 = field("1", "number of its joints")
    joint: wp.int32 = field("1", "row of a joint", axis="joints")
    gap: real = field("m", "largest error of its joints where a step begins, an angle as a length")
    error: real = field("1", "largest error of its joints where a loop begins, in units of the tolerance")
    energy: real = field("J", "its kinetic energy there")
    mass: real = field("kg", "its mass")


@wp.func
def kinetic_energy(bodies: Bodies, motion: Motion, i: int) -> real:
    """Kinetic energy of a body; none of what does not move freely."""
    if bodies.mass[i] == real(0.0):
        return real(0.0)
    v = motion.velocity[i]
    spin = rotate_back(motion.orientation[i], motion.angular_velocity[i])
    return real(0.5) * (bodies.mass[i] * wp.dot(v, v) + wp.dot(spin, bodies.inertia[i] * spin))


@wp.func
def state_of(
    bodies: Bodies, mechanisms: Mechanisms, errors: JointErrors, limits: Limits, motion: Motion, m: int
) -> tuple[real, real]:
    """Largest error of the joints of a mechanism, in units of the tolerance, and its kinetic energy."""
    error = real(0.0)
    for k in range(mechanisms.first_joint[m], mechanisms.first_joint[m] + mechanisms.joints[m]):
        j = mechanisms.joint[k]
        error = wp.max(error, errors.position[j] / limits.position)
        error = wp.max(error, errors.orientation[j] / limits.orientation)
    energy = real(0.0)
    for k in range(mechanisms.first[m], mechanisms.first[m] + mechanisms.count[m]):
        energy += kinetic_energy(bodies, motion, mechanisms.body[k])
    return error, energy


@wp.struct
class Entry:
    """Where a loop began, in the worlds where ``which`` is 1, and whether contacts may have hit bodies before it."""

    start: Motion
    end: Motion
    reactions: Reactions
    which: wp.array[wp.int32]
    hit: wp.int32


@kernel
def enter(
    bodies: Bodies,
    mechanisms: Mechanisms,
    errors: JointErrors,
    limits: Limits,
    flight: Flight,
    reactions: Reactions,
    entry: Entry,
) -> None:
    """A loop begins: what a mechanism may go back to."""
    m = wp.tid()
    if entry.which[bodies.world[mechanisms.body[mechanisms.first[m]]]] == 0:
        return
    error, energy = state_of(bodies, mechanisms, errors, limits, flight.start, m)
    mechanisms.error[m] = error
    mechanisms.energy[m] = energy
    for k in range(mechanisms.first[m], mechanisms.first[m] + mechanisms.count[m]):
        move(flight.start, entry.start, mechanisms.body[k])
        move(flight.end, entry.end, mechanisms.body[k])
    for k in range(mechanisms.first_joint[m], mechanisms.first_joint[m] + mechanisms.joints[m]):
        j = mechanisms.joint[k]
        entry.reactions.impulse[j] = reactions.impulse[j]
        entry.reactions.couple[j] = reactions.couple[j]


@kernel
def go_back(
    bodies: Bodies,
    mechanisms: Mechanisms,
    errors: JointErrors,
    limits: Limits,
    flight: Flight,
    reactions: Reactions,
    entry: Entry,
    status: JointStatus,
) -> None:
    """A loop has ended: a mechanism that it made worse goes back to where it began."""
    m = wp.tid()
    w = bodies.world[mechanisms.body[mechanisms.first[m]]]
    if entry.which[w] == 0 or (entry.hit == 0 and status.open[w] == 1):
        return
    error, energy = state_of(bodies, mechanisms, errors, limits, flight.start, m)
    h = status.time_step[w]
    close = wp.min(limits.position * mechanisms.error[m], h * limits.speed)
    pull = LEVERAGE * close / h
    most = MORE * mechanisms.energy[m] + real(0.5) * mechanisms.mass[m] * pull * pull
    calm = entry.hit == 0 or energy <= most
    if error <= real(1.0) or (error <= mechanisms.error[m] + close / limits.position and calm):
        return
    for k in range(mechanisms.first[m], mechanisms.first[m] + mechanisms.count[m]):
        move(entry.start, flight.start, mechanisms.body[k])
        move(entry.end, flight.end, mechanisms.body[k])
    for k in range(mechanisms.first_joint[m], mechanisms.first_joint[m] + mechanisms.joints[m]):
        j = mechanisms.joint[k]
        reactions.impulse[j] = entry.reactions.impulse[j]
        reactions.couple[j] = entry.reactions.couple[j]


class WayBack:
    """Records the way back of mechanisms that a loop of corrections makes worse.

    Args:
        preview: The loop.
        which: 1 for every world that it corrects.
        hit: Whether contacts may have hit bodies before it.
    """

    def __init__(self, preview: "Preview", which: Any, hit: bool) -> None:
        self.program, self.mechanisms, self.status = preview.context.program, preview.mechanisms, preview.status
        entry = Entry()
        entry.start, entry.end = (preview.context.scratch(Motion) for _ in range(2))
        entry.reactions, entry.which, entry.hit = arrays.clone(preview.reactions), which, int(hit)
        seen = (preview.context.model.bodies, preview.mechanisms, preview.errors, preview.limits, preview.flight)
        self.given = (*seen, preview.reactions, entry)

    def record_begin(self) -> None:
        """Record where a loop begins, when its joints have been measured."""
        self.program.launch(enter, len(self.mechanisms.first), *self.given)

    def record_end(self) -> None:
        """Record which mechanisms go back there."""
        self.program.launch(go_back, len(self.mechanisms.first), *self.given, self.status)


def make_mechanisms(problem: "JointRows") -> Any:
    """The mechanisms of a model, in the order of their first joints."""
    model, parts = problem.model, parts_of(problem)
    members = [sorted({int(b) for j in part for b in problem.pairs[j] if b >= 0}) for part in parts]
    bodies, joints = len(model.names), len(problem.names)
    columns = {
        **_stretches("first", "count", "body", members, model.worlds, bodies),
        **_stretches("first_joint", "joints", "joint", parts, model.worlds, joints),
    }
    counts = {"mechanisms": len(columns["first"]), "members": len(columns["body"]), "joints": len(columns["joint"])}
    made = arrays.allocate(Mechanisms, counts, model.device)
    masses = model.scenes.listed(lambda scene: [sum(scene.bodies[b].mass for b in part) for part in members])
    columns["mass"] = model.scenes.tiled(np.array(masses)).astype(numpy_real)
    arrays.write(made, {**arrays.read(made), **columns}, "the mechanisms")
    return made


def parts_of(problem: "JointRows") -> list[list[int]]:
    """The joints of each mechanism of one world."""
    root = list(range(len(problem.names)))

    def find(j: int) -> int:
        while root[j] != j:
            root[j] = root[root[j]]
            j = root[j]
        return j

    last: dict[int, int] = {}
    for j, pair in enumerate(problem.pairs.tolist()):
        for body in pair:
            if body >= 0:
                a, b = find(last.setdefault(body, j)), find(j)
                root[max(a, b)] = min(a, b)
    parts: dict[int, list[int]] = {}
    for j in range(len(root)):
        parts.setdefault(find(j), []).append(j)
    return list(parts.values())


def _stretches(
    first: str, count: str, name: str, lists: list[list[int]], worlds: int, each: int
) -> dict[str, np.ndarray]:
    """Lists of one world as stretches of a list of all worlds, each of which has so many rows."""
    lengths = np.tile([len(rows) for rows in lists], worlds)
    rows = np.concatenate([np.array(rows, dtype=np.int64) for rows in lists])
    all_rows = (np.arange(worlds)[:, None] * each + rows).ravel()
    found = {first: np.cumsum(lengths) - lengths, count: lengths, name: all_rows}
    return {key: values.astype(np.int32) for key, values in found.items()}
