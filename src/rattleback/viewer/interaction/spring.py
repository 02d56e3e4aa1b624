"""Spring: a damped spring pulls a point of a body to the pointer for as long as the mouse holds it.

    (1 + (h² k + h c) K) f = k (x* − x − h u) − c u        |f| ≤ a M        k = M ω²        c = 2 M ω
    K = 1/m − [r]ₓ J⁻¹ [r]ₓ        τ = r × f − (C⁻¹ + h J⁻¹)⁻¹ ω_B        C = (J − m [r]ₓ²) / T

f force on the point, x and u its place and its velocity after a step of free fall, x* the pointer, h time step, m and J
mass and inertia of the body, r the point from its centre, M mass of all that hangs on the body by joints, ω how firm
the spring is, a how hard it may pull, τ torque, ω_B angular velocity, which fades within T.

The force is the one at the end of the step, as if the body were free: so no spring is too stiff for a time step, and
joints and walls, which only take motions away, leave it stable. It acts in the steps alone; between them the state
holds nothing of it.

Reference: Bender, dissertation, §6.2.2, for the hand; the spring is our own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rattleback.maths.rotation import matrix_from_quaternion
from rattleback.viewer.amounts import amount
from rattleback.viewer.interaction.grab import Grab, point_of, total_mass
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
# A held body ceases to spin within about this time [s].
CALM = 0.25


class SpringHand:
    """The hand at the end of a spring, for every simulation of a session.

    Attributes:
        target: Where the point is pulled to in the world (3,) [m].
        force: How hard it was pulled in the last step [N].
        every: It looks after every step, to take back what it did.

    Args:
        grab: The point that is held.
        target: Where to pull it at first (3,) [m].
    """

    every = 1

    def __init__(self, grab: Grab, target: Floats) -> None:
        self.grab, self.target, self.force = grab, target, 0.0
        self._given: dict[int, tuple[Floats, Floats, Floats, Floats]] = {}
        self._known: tuple[Scene, float] | None = None

    def before_step(self, sim: Simulation) -> None:
        """Pull."""
        self.observe(sim)
        if self.grab.body not in sim.scene:
            return
        view = sim[self.grab.body]
        force, torque = self.pull(sim)
        self.force = float(np.linalg.norm(force, axis=-1).max())
        before = np.array(view.applied_force), np.array(view.applied_torque)
        view.applied_force, view.applied_torque = before[0] + force, before[1] + torque
        self._given[id(sim)] = (*before, np.array(view.applied_force), np.array(view.applied_torque))

    def observe(self, sim: Simulation) -> None:
        """Take back what was done before the step, unless that was done already."""
        given = self._given.pop(id(sim), None)
        if given is None or self.grab.body not in sim.scene:
            return
        view = sim[self.grab.body]
        if np.array_equal(view.applied_force, given[2]) and np.array_equal(view.applied_torque, given[3]):
            view.applied_force, view.applied_torque = given[0], given[1]

    def pull(self, sim: Simulation) -> tuple[Floats, Floats]:
        """Force [N] and torque about the centre of mass [N m] on the body, each (..., 3)."""
        view, body, h = sim[self.grab.body], sim.scene[self.grab.body], sim.time_step
        all_mass = self._mass(sim.scene)
        k, c = all_mass * FIRMNESS**2, 2.0 * all_mass * FIRMNESS
        place = point_of(view.position, view.orientation, self.grab.local)
        arm, turn = place - view.position, matrix_from_quaternion(view.orientation)
        inertia = turn @ body.inertia @ np.swapaxes(turn, -1, -2)
        moved = view.velocity + h * sim.scene.gravity + np.cross(view.angular_velocity, arm)
        softened = np.eye(3) + (h * h * k + h * c) * mobility(body.mass, inertia, arm)
        wanted = k * (self.target - place - h * moved) - c * moved
        force = np.linalg.solve(softened, wanted[..., None])[..., 0]
        most = HARDEST * all_mass
        force = force * np.minimum(1.0, most / np.maximum(np.linalg.norm(force, axis=-1, keepdims=True), 1e-300))
        fading = fade(body.mass, inertia, arm, h) @ view.angular_velocity[..., None]
        return force, np.cross(arm, force) - fading[..., 0]

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
    return np.asarray(np.eye(3) / mass + lever @ np.linalg.solve(inertia, np.swapaxes(lever, -1, -2)))


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
    return np.asarray(np.linalg.inv(CALM * np.linalg.inv(about_point) + time_step * np.linalg.inv(inertia)))


def levers(arm: Floats) -> Floats:
    """The matrix that takes a force at an arm [m] to its torque (..., 3, 3)."""
    return np.asarray(np.cross(np.eye(3), arm[..., None, :]))


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
        sim.observe(hand)

    return session.do(begin)


def let_go(session: Any, hand: SpringHand) -> Any:
    """Have a hand act no more and take everything back; returns a Future."""

    def end(sim: Simulation) -> None:
        if hand in session.hands:
            session.hands.remove(hand)
        sim.unobserve(hand)
        hand.observe(sim)

    return session.do(end)
