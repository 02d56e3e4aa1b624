"""A stand-in that lets bodies fall on a heap, for measuring what finding contacts costs: it only makes heaps.

    v ← (v + h g) / (1 + h k);     n · u ≥ −s / h  or  min(β (−s − slop) / h, fastest),   |p_t| ≤ μ p_n;     x ← x + h v

u velocity of A against B at a contact, s its separation, p its impulse with the parts p_n and p_t along the normal n
and across, k a drag, on the angular velocity too, that calms columns which sway. Contact after contact gets the impulse
that corrects its own velocity, a few rounds in order, beginning with the impulses of the last step. Gyroscopic torques
are left out; a cube has none.

Cost: about 0.1 µs for each contact and round, on one thread. Use it where a heap is wanted whatever its errors.
"""

import warp as wp

from rattleback.collision.compile import compile_colliders
from rattleback.collision.detection import Detection
from rattleback.collision.finder import Finder
from rattleback.core import arrays
from rattleback.core import device as devices
from rattleback.core.arrays import field, group
from rattleback.core.precision import mat33, real, vec3
from rattleback.core.stages import Program
from rattleback.model import Scene
from rattleback.model.compile import compile_scene
from rattleback.model.contacts import Contacts
from rattleback.model.model import Bodies
from rattleback.model.state import Motion

ROUNDS = wp.constant(12)
FRICTION = wp.constant(real(0.5))
GRAVITY = wp.constant(real(9.81))
# Drag, of mass or inertia [1/s].
DRAG = wp.constant(real(1.0))
# Depth that is left alone [m], part of the rest that is undone in a step, and how fast at most [m/s].
SLOP, SHARE, FASTEST = wp.constant(real(1e-3)), wp.constant(real(0.1)), wp.constant(real(1.0))


@group(axis="contacts")
class Pushes:
    """What contacts push with."""

    impulse: vec3 = field("N s", "impulse on A in this step, world frame")
    former: vec3 = field("N s", "impulse on A in the last step")
    least: real = field("m/s", "velocity of A against B along the normal that is wanted at least")
    inverse_inertia: mat33 = field("1/(kg m²)", "inverse inertia of a body, axes of the world", axis="bodies")


@wp.kernel(enable_backward=False)
def fall(bodies: Bodies, motion: Motion, pushes: Pushes, h: real, stop: wp.array[wp.int32]) -> None:
    """Let gravity act for a step."""
    i = wp.tid()
    if stop[0] != 0 or bodies.inverse_mass[i] == real(0.0):
        return
    kept = real(1.0) / (real(1.0) + h * DRAG)
    motion.velocity[i] = kept * (motion.velocity[i] - vec3(real(0.0), real(0.0), h * GRAVITY))
    motion.angular_velocity[i] = kept * motion.angular_velocity[i]
    turn = wp.quat_to_matrix(motion.orientation[i])
    pushes.inverse_inertia[i] = turn * bodies.inverse_inertia[i] * wp.transpose(turn)


@wp.func
def push(bodies: Bodies, motion: Motion, pushes: Pushes, i: int, arm: vec3, impulse: vec3) -> None:
    """Apply an impulse to a body, at the end of an arm from its centre of mass."""
    motion.velocity[i] = motion.velocity[i] + bodies.inverse_mass[i] * impulse
    motion.angular_velocity[i] = motion.angular_velocity[i] + pushes.inverse_inertia[i] * wp.cross(arm, impulse)


@wp.func
def give(bodies: Bodies, pushes: Pushes, i: int, arm: vec3, d: vec3) -> real:
    """How much the point at the end of an arm gives way along d to an impulse along d."""
    across = wp.cross(arm, d)
    return bodies.inverse_mass[i] + wp.dot(across, pushes.inverse_inertia[i] * across)


@wp.func
def correct(bodies: Bodies, motion: Motion, contacts: Contacts, pushes: Pushes, c: int) -> None:
    """Correct the velocity of one contact: along the normal, then across, within the disc of friction."""
    a = contacts.body_a[c]
    b = contacts.body_b[c]
    n = contacts.normal[c]
    r = contacts.point[c] - motion.position[a]
    s = contacts.point[c] - motion.position[b]
    u = motion.velocity[a] + wp.cross(motion.angular_velocity[a], r)
    u -= motion.velocity[b] + wp.cross(motion.angular_velocity[b], s)
    old = pushes.impulse[c]
    along = wp.dot(old, n)
    short = pushes.least[c] - wp.dot(u, n)
    normal = wp.max(along + short / (give(bodies, pushes, a, r, n) + give(bodies, pushes, b, s, n)), real(0.0))
    across = old - along * n
    slip = u - wp.dot(u, n) * n
    speed = wp.length(slip)
    if speed > real(0.0):
        d = slip / speed
        across -= slip / (give(bodies, pushes, a, r, d) + give(bodies, pushes, b, s, d))
        across *= wp.min(real(1.0), FRICTION * normal / wp.max(wp.length(across), real(1e-30)))
    new = normal * n + across
    pushes.impulse[c] = new
    push(bodies, motion, pushes, a, r, new - old)
    push(bodies, motion, pushes, b, s, old - new)


@wp.kernel(enable_backward=False)
def push_apart(
    bodies: Bodies, motion: Motion, contacts: Contacts, pushes: Pushes, h: real, stop: wp.array[wp.int32]
) -> None:
    """Correct contact after contact, a few rounds, on one thread; the impulses of the last step come first."""
    if stop[0] != 0:
        return
    for c in range(contacts.needed[0]):
        s = contacts.separation[c]
        depth = wp.min(SHARE * (-s - SLOP) / h, FASTEST)
        pushes.least[c] = wp.where(s > real(0.0), -s / h, wp.max(depth, real(0.0)))
        impulse = vec3(real(0.0), real(0.0), real(0.0))
        if contacts.previous[c] >= 0:
            impulse = pushes.former[contacts.previous[c]]
        pushes.impulse[c] = impulse
        a = contacts.body_a[c]
        b = contacts.body_b[c]
        push(bodies, motion, pushes, a, contacts.point[c] - motion.position[a], impulse)
        push(bodies, motion, pushes, b, contacts.point[c] - motion.position[b], -impulse)
    for _turn in range(ROUNDS):
        for c in range(contacts.needed[0]):
            correct(bodies, motion, contacts, pushes, c)
    for c in range(contacts.needed[0]):
        pushes.former[c] = pushes.impulse[c]


@wp.kernel(enable_backward=False)
def move(bodies: Bodies, motion: Motion, h: real, stop: wp.array[wp.int32]) -> None:
    """Move every body on for a step."""
    i = wp.tid()
    if stop[0] != 0 or bodies.inverse_mass[i] == real(0.0):
        return
    motion.position[i] = motion.position[i] + h * motion.velocity[i]
    turn = h * motion.angular_velocity[i]
    angle = wp.length(turn)
    if angle > real(0.0):
        motion.orientation[i] = wp.normalize(wp.quat_from_axis_angle(turn / angle, angle) * motion.orientation[i])


class Heap:
    """A scene whose bodies fall on each other.

    Attributes:
        model: The scene as arrays.
        motion: Where its bodies are and how they move.
        finder: Finds the contacts.

    Args:
        scene: What falls; joints, forces and materials are not looked at.
        step: Length of a step [s].
        distance: Contact distance [m]; None for that of a simulation.
    """

    def __init__(self, scene: Scene, step: float = 0.005, distance: float | None = None) -> None:
        self.model, state = compile_scene(scene, None, devices.find("cpu"))
        self.motion, self.step = state.motion, step
        self.finder = Finder(compile_colliders(self.model), self.model.count, self.motion, Detection(distance))
        self._record()

    def run(self, steps: int) -> None:
        """Take steps; buffers grow as they must."""
        for _ in range(steps):
            self._program.run(1)
            while self._program.stop.numpy()[0]:
                former = self._pushes.former
                self.finder.grow()
                self._record()
                wp.copy(self._pushes.former, former, count=len(former))
                self._program.run(1)
            self.finder.refresh()

    def _record(self) -> None:
        """Record a step."""
        model, finder, device = self.model, self.finder, self.model.device
        counts = {"bodies": model.count, "contacts": len(finder.contacts.part)}
        self._pushes = arrays.allocate(Pushes, counts, device)
        program = self._program = Program(device, wp.zeros(1, dtype=wp.int32, device=device))
        with program.stage("step"):
            finder.record(program, program.stop)
            finder.record_memory(program, program.stop)
            program.launch(fall, model.count, model.bodies, self.motion, self._pushes, self.step, program.stop)
            inputs = (model.bodies, self.motion, finder.contacts, self._pushes, self.step, program.stop)
            program.launch(push_apart, 1, *inputs)
            program.launch(move, model.count, model.bodies, self.motion, self.step, program.stop)
        program.compile()
