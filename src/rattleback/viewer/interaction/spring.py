"""Spring: a damped spring pulls a point of a body to the pointer for as long as the mouse holds it.

    (1 + (h² k + h c) K) f = k (x* − x − h u) − c u        |f| ≤ a M        k = M ω²        c = 2 M ω
    K = 1/m − [r]ₓ J⁻¹ [r]ₓ        τ = r × f − (C⁻¹ + h J⁻¹)⁻¹ ω_B        C = (J − m [r]ₓ²) / T

f force on the point, x and u its place and its velocity after free fall until the next look, x* the pointer, h time
until then, m and J mass and inertia of the body, r the point from its centre, M mass of all that hangs on the body by
joints, ω how firm the spring is, a how hard it may pull, τ torque, ω_B angular velocity, which fades within T.

The force is the one at the end of the step, as if the body were free: so no spring is too stiff for a time step, and
joints and walls, which only take motions away, leave it stable. It acts in the steps alone; between them the state
holds nothing of it.

Reference: Bender, dissertation, §6.2.2, for the hand; the spring is our own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rattleback.viewer.amounts import amount
from rattleback.viewer.interaction.grab import Grab, total_mass
from rattleback.viewer.interaction.marks import Mark

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rattleback.model.scene import Scene
    from rattleback.simulation import Simulation
    from rattleback.viewer.frame import Frame
    from rattleback.viewer.window import Window

    Floats = NDArray[np.float64]

# How firm the spring is: its own frequency with all it pulls [rad/s].
FIRMNESS = 25.0
# It pulls no harder than would speed all it pulls up by this [m/s²].
HARDEST = 100.0
UNIT, YZX, ZXY = np.eye(3), [1, 2, 0], [2, 0, 1]
# It looks at the body about so often [s], at least before every step.
LOOK = 1.0 / 120.0
# A held body ceases to spin within about this time [s].
CALM = 0.25


class SpringHand:
    """The hand at the end of a spring, for every simulation of a session.

    Attributes:
        target: Where the point is pulled to in the world (3,) [m].
        force: How hard it was pulled in the last step [N].

    Args:
        grab: The point that is held.
        target: Where to pull it at first (3,) [m].
    """

    def __init__(self, grab: Grab, target: Floats) -> None:
        self.grab, self.target, self.force = grab, target, 0.0
        self._given: dict[int, tuple[Floats, Floats, Floats, Floats]] = {}
        self._known: tuple[Scene, float] | None = None

    def most_steps(self, sim: Simulation) -> int:
        """It looks often enough for the eye, and so that looking costs little of the time."""
        return max(1, int(LOOK / sim.time_step))

    def before_step(self, sim: Simulation, steps: int = 1) -> None:
        """Pull."""
        self.observe(sim)
        if self.grab.body not in sim.scene:
            return
        view = sim[self.grab.body]
        force, torque = self.pull(sim, steps)
        self.force = float(np.linalg.norm(force, axis=-1).max())
        before = np.array(view.applied_force), np.array(view.applied_torque)
        view.applied_force, view.applied_torque = before[0] + force, before[1] + torque
        self._given[id(sim)] = (*before, np.array(view.applied_force), np.array(view.applied_torque))

    def observe(self, sim: Simulation) -> None:
        """Take back what was done before the steps, unless that was done already."""
        given = self._given.pop(id(sim), None)
        if given is None or self.grab.body not in sim.scene:
            return
        view = sim[self.grab.body]
        if np.array_equal(view.applied_force, given[2]) and np.array_equal(view.applied_torque, given[3]):
            view.applied_force, view.applied_torque = given[0], given[1]

    def pull(self, sim: Simulation, steps: int = 1) -> tuple[Floats, Floats]:
        """Force [N] and torque about the centre of mass [N m] on the body for so many steps, each (..., 3)."""
        view, body, h = sim[self.grab.body], sim.scene[self.grab.body], steps * sim.time_step
        all_mass = self._mass(sim.scene)
        k, c = all_mass * FIRMNESS**2, 2.0 * all_mass * FIRMNESS
        turn, spin = turn_of(view.orientation), view.angular_velocity
        arm = turn @ self.grab.local
        place = view.position + arm
        inertia = turn @ body.inertia @ np.swapaxes(turn, -1, -2)
        moved = view.velocity + h * sim.scene.gravity + cross(spin, arm)
        softened = UNIT + (h * h * k + h * c) * mobility(body.mass, inertia, arm)
        wanted = k * (self.target - place - h * moved) - c * moved
        force = (inverse(softened) @ wanted[..., None])[..., 0]
        most = HARDEST * all_mass
        force = force * np.minimum(1.0, most / np.maximum(np.linalg.norm(force, axis=-1, keepdims=True), 1e-300))
        fading = fade(body.mass, inertia, arm, h) @ spin[..., None]
        return force, cross(arm, force) - fading[..., 0]

    def _mass(self, scene: Scene) -> float:
        """Mass of all that hangs on the body [kg]."""
        if self._known is None or self._known[0] is not scene:
            self._known = scene, total_mass(scene, self.grab.body)
        return self._known[1]


def mobility(mass: float, inertia: Floats, arm: Floats) -> Floats:
    """How a point of a free body moves with a force on it (..., 3, 3) [1/kg].

    Args:
        mass: Mass of the body [kg].
        inertia: Inertia about its centre of mass in world axes (..., 3, 3) [kg m²].
        arm: The point from its centre of mass (..., 3) [m].
    """
    lever = levers(arm)
    return np.asarray(UNIT / mass + lever @ inverse(inertia) @ np.swapaxes(lever, -1, -2))


def fade(mass: float, inertia: Floats, arm: Floats, time_step: float) -> Floats:
    """What makes a body that hangs at a point cease to spin, torque for angular velocity (..., 3, 3) [N m s].

    Args:
        mass: Mass of the body [kg].
        inertia: Inertia about its centre of mass in world axes (..., 3, 3) [kg m²].
        arm: The point from its centre of mass (..., 3) [m].
        time_step: Length of the step [s].
    """
    lever = levers(arm)
    about_point = inertia + mass * lever @ np.swapaxes(lever, -1, -2)
    return inverse(CALM * inverse(about_point) + time_step * inverse(inertia))


def levers(arm: Floats) -> Floats:
    """The matrix that takes a force at an arm [m] to its torque (..., 3, 3)."""
    return cross(UNIT, arm[..., None, :])


def cross(a: Floats, b: Floats) -> Floats:
    """Cross products (..., 3); NumPy's own take longer than all else that a hand does."""
    return np.asarray(a[..., YZX] * b[..., ZXY] - a[..., ZXY] * b[..., YZX])


def inverse(matrix: Floats) -> Floats:
    """Inverses of matrices (..., 3, 3): cofactors by determinants."""
    cofactors = cross(matrix[..., YZX, :], matrix[..., ZXY, :])
    determinant = (matrix[..., 0, :] * cofactors[..., 0, :]).sum(axis=-1)
    return np.asarray(np.swapaxes(cofactors, -1, -2) / determinant[..., None, None])


def turn_of(quaternion: Floats) -> Floats:
    """The matrix of a unit quaternion x, y, z, w (..., 3, 3): what it does to the axes, one a column."""
    u, w = quaternion[..., None, :3], quaternion[..., None, 3:]
    across = cross(u, UNIT)
    return np.asarray(np.swapaxes(UNIT + 2.0 * (w * across + cross(u, across)), -1, -2))


class Spring:
    """Springs, one for every client that drags.

    Args:
        window: The page.
    """

    def __init__(self, window: Window) -> None:
        self._window = window
        self._held: dict[int, tuple[SpringHand, Mark]] = {}

    def begin(self, client: int, grab: Grab, pointer: Floats) -> None:
        """A client holds a body."""
        self.cancel(client)
        hand = SpringHand(grab, pointer - grab.offset)
        self._held[client] = hand, Mark(self._window.server, f"/spring_{client}", grab.size, arrow=False)
        take(self._window.session, hand)

    def move(self, client: int, pointer: Floats, lean: tuple[float, float] = (0.0, 1.0)) -> None:
        """Its pointer is elsewhere on the page (3,) [m], in this direction on the screen."""
        if (held := self._held.get(client)) is not None:
            held[0].target = pointer - held[0].grab.offset
            held[1].lean(*lean)
            self._draw(*held, self._window.session.frame)

    def finish(self, client: int, pointer: Floats) -> None:
        """It lets go."""
        self.cancel(client)

    def cancel(self, client: int) -> None:
        """It lets go, however that came."""
        if (held := self._held.pop(client, None)) is not None:
            held[1].remove()
            let_go(self._window.session, held[0])

    def cancel_all(self) -> None:
        """All let go."""
        for client in list(self._held):
            self.cancel(client)

    def show(self, frame: Frame) -> None:
        """The bodies have moved: so have the threads."""
        for held in list(self._held.values()):
            self._draw(*held, frame)

    def _draw(self, hand: SpringHand, mark: Mark, frame: Frame) -> None:
        if (start := hand.grab.on_page(frame)) is not None:
            mark.point(start, hand.target + hand.grab.offset, f"{amount(hand.force, 2)} N" if frame.playing else "")


def take(session: Any, hand: SpringHand) -> Any:
    """Have a hand act on all simulations of a session; returns a Future."""

    def begin(sim: Simulation) -> None:
        if hand not in session.hands:
            session.hands.append(hand)

    return session.do(begin)


def let_go(session: Any, hand: SpringHand) -> Any:
    """Have a hand act no more and take everything back; returns a Future."""

    def end(sim: Simulation) -> None:
        if hand in session.hands:
            session.hands.remove(hand)
        hand.observe(sim)

    return session.do(end)
