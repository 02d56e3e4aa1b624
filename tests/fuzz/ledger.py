"""Energy of a simulation, step by step, beside what may have been put in: which gains are there, and are they named?

    E_k+1 − E_k ≤ W + C + D      or the report of the step names what is off, and then   ≤ W + C + D + N

E kinetic and potential energy, that of springs too;
W work of what drives: |u| s of every servo, u its effort (with sub-steps its limit), s the way or the angle that its
  two bodies went against each other, or would go in the step at the rates of its start or of its end; in reduced
  coordinates a servo follows the motion through the step, so u is the largest effort of this step and the last;
  |F| h v + |τ| h ω of every velocity joint with rates v and ω, F and τ what it exerts;
C what closing joints that are apart may lift: m g v h with v the closing_speed, up to the first step that ends with all
  joints within their tolerance; the same for overlaps, as deep as they are, at most at the speed of their recovery;
D what a step of length h leaves to the integrator: a part θ² of the kinetic energy where bodies turn by θ, 2 % at
  most, with joints of the largest lately, as the energy limit does, for what they give back they took; while joints
  close also of that of the way they go; ½ m g² h² for explicit Euler, and ½ h² G·J⁻¹G for Euler steps of rotations
  without a torque, where ω' = ω + h J⁻¹G and G = −ω × Jω does no work; of each spring the part (ω h)^(order + 1); and
  what joints and contacts may be off within their tolerances;
N the gain that the report tells in joules, as ``energy_gained``, where it says that the step has not converged. An
  error of another kind excuses nothing.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

import rattleback as rb
from rattleback.maths import rotation
from rattleback.solvers.joints.reduced import Reduced

# How long ago joints may have taken what they give back [s].
LATELY = 1.0
# How fast overlaps are removed at most [m/s].
RECOVERY = 1.0
# The part of the kinetic energy that turning bodies may gain in a step, and all of them over a run.
TURNED, OVER_A_RUN = 0.02, 0.05
FIRST_ORDER = ("explicit_euler", "semi_implicit_euler", "implicit_euler")
EXPLICIT = FIRST_ORDER[:2]


def by_world(sim: rb.Simulation, value: Any) -> np.ndarray:
    """A value with a world axis in any case."""
    array = np.asarray(value, dtype=np.float64)
    return array if sim.worlds is not None else array[None]


@dataclass(frozen=True)
class Moment:
    """What the ledger needs of the state between two steps; worlds first."""

    total: np.ndarray
    kinetic: np.ndarray
    position: np.ndarray
    orientation: np.ndarray
    velocity: np.ndarray
    angular_velocity: np.ndarray

    @classmethod
    def of(cls, sim: rb.Simulation) -> "Moment":
        energy, state = sim.energy(), sim.state
        names = ("position", "orientation", "velocity", "angular_velocity")
        arrays = (by_world(sim, getattr(state, name)).copy() for name in names)
        return cls(by_world(sim, energy.total), by_world(sim, energy.kinetic), *arrays)

    @property
    def finite(self) -> bool:
        return all(bool(np.isfinite(value).all()) for value in vars(self).values())

    def body(self, index: int) -> dict[str, np.ndarray]:
        """One body, of every world; the world itself for −1."""
        if index >= 0:
            return {
                name: getattr(self, name)[:, index]
                for name in ("position", "orientation", "velocity", "angular_velocity")
            }
        still = dict.fromkeys(("position", "velocity", "angular_velocity"), np.zeros((len(self.total), 3)))
        return {**still, "orientation": np.tile([0.0, 0.0, 0.0, 1.0], (len(self.total), 1))}


class Pair:
    """The two bodies of a joint or spring and a point on each, as they go against each other."""

    def __init__(self, scene: rb.Scene, joint: Any) -> None:
        self.bodies = [-1 if name == "world" else scene.index(name) for name in (joint.a, joint.b)]
        points = (
            np.array(joint.at, dtype=float),
            np.array(joint.at if joint.at_b is None else joint.at_b, dtype=float),
        )
        self.points = [
            point
            if k < 0
            else rotation.rotate(rotation.conjugate(scene.bodies[k].orientation), point - scene.bodies[k].position)
            for k, point in zip(self.bodies, points, strict=True)
        ]
        self.ease = sum(
            self._ease(scene.bodies[k], point) for k, point in zip(self.bodies, self.points, strict=True) if k >= 0
        )

    @staticmethod
    def _ease(body: Any, point: np.ndarray) -> float:
        """The largest 1/m at a point of a body [1/kg]."""
        return 0.0 if body.static else 1.0 / body.mass + float(point @ point) / body.principal_moments.min()

    def seen(self, moment: Moment) -> dict[str, np.ndarray]:
        """Way and turn of B against A, their rates, and the line between the points."""
        a, b = (moment.body(k) for k in self.bodies)
        lever_a, lever_b = (
            rotation.rotate(body["orientation"], np.broadcast_to(point, (len(moment.total), 3)))
            for body, point in zip((a, b), self.points, strict=True)
        )
        back = rotation.conjugate(a["orientation"])
        end = b["position"] + lever_b
        away = end - a["position"]
        drift = b["velocity"] + np.cross(b["angular_velocity"], lever_b)
        line = end - a["position"] - lever_a
        return {
            "way": rotation.rotate(back, away),
            "turn": rotation.multiply(back, b["orientation"]),
            "slide_rate": np.linalg.norm(drift - a["velocity"] - np.cross(a["angular_velocity"], away), axis=-1),
            "turn_rate": np.linalg.norm(b["angular_velocity"] - a["angular_velocity"], axis=-1),
            "length": np.linalg.norm(line, axis=-1),
            "length_rate": np.linalg.norm(drift - a["velocity"] - np.cross(a["angular_velocity"], lever_a), axis=-1),
        }


def travelled(before: dict[str, np.ndarray], after: dict[str, np.ndarray], h: float, turning: bool) -> np.ndarray:
    """How far B went against A in a step, or would have gone at the rates of its start or of its end."""
    rate = "turn_rate" if turning else "slide_rate"
    if turning:
        went = 2.0 * np.arccos(np.clip(np.abs((before["turn"] * after["turn"]).sum(axis=-1)), 0.0, 1.0))
    else:
        went = np.linalg.norm(after["way"] - before["way"], axis=-1)
    return np.maximum(went, h * np.maximum(before[rate], after[rate]))


class Ledger:
    """The account of a simulation.

    Args:
        sim: The simulation, before its first step.
        apart: Whether joints may be apart or limits passed then.
    """

    def __init__(self, sim: rb.Simulation, apart: bool) -> None:
        self.sim, self.scene, self.closing = sim, sim.scene, apart
        self.mass = sum(body.mass for body in self.scene.bodies)
        self.gravity = float(np.linalg.norm(self.scene.gravity))
        self.order = 1 if _name(sim.integrator) in FIRST_ORDER else 2
        self.servos = [(name, force) for name, force in self.scene.forces.items() if isinstance(force, rb.Servo)]
        self.springs = [f for f in self.scene.forces.values() if isinstance(f, (rb.Spring, rb.TorsionSpring))]
        self.driven = [(n, j) for n, j in self.scene.joints.items() if isinstance(j, rb.VelocityJoint)]
        ends = {
            id(f): Pair(self.scene, f if isinstance(f, rb.Spring) else self.scene.joints[f.joint])
            for f in (*self.springs, *(s for _, s in self.servos))
        }
        self.pairs = ends
        self.follows = sim.methods.joints == Reduced()
        self.efforts: dict[str, Any] = {}
        self.overlap = sim.report.penetration
        self.peak = np.zeros(sim.worlds or 1)

    def work(self, before: Moment, after: Moment) -> np.ndarray:
        """W of the step between two moments, of every world."""
        sim, h = self.sim, self.sim.time_step
        found = np.zeros(len(before.total))
        for name, servo in self.servos:
            turning = servo.control == "angle" or (
                servo.control == "velocity" and "turn_z" in self.scene.joints[servo.joint].freedoms
            )
            pair = self.pairs[id(servo)]
            now = np.abs(by_world(sim, sim.servo(name).effort)) if sim.methods.substeps == 1 else servo.limit
            effort = np.maximum(now, self.efforts.get(name, 0.0)) if self.follows else now
            self.efforts[name] = now
            found += effort * travelled(pair.seen(before), pair.seen(after), h, turning)
        for name, joint in self.driven:
            linear, angular = (
                np.linalg.norm([rate or 0.0 for rate in rates]) for rates in (joint.linear, joint.angular)
            )
            force, torque = (by_world(sim, getattr(sim[name], f"reaction_{kind}")) for kind in ("force", "torque"))
            found += h * (linear * np.linalg.norm(force, axis=-1) + angular * np.linalg.norm(torque, axis=-1))
        return found

    def lift(self) -> float:
        """C of the step to come."""
        h, methods = self.sim.time_step, self.sim.methods
        closed = h * methods.closing_speed if self.closing else 0.0
        moving = sum(not body.static for body in self.scene.bodies)
        return self.mass * self.gravity * (closed + moving * min(h * RECOVERY, self.overlap))

    def slack(self, before: Moment, after: Moment) -> np.ndarray:
        """D of the step between two moments, of every world."""
        h = self.sim.time_step
        turn = h * np.linalg.norm(np.stack([m.angular_velocity for m in (before, after)]), axis=-1).max(axis=(0, 2))
        found = np.minimum(TURNED, turn**2) * np.maximum(self.peak, np.maximum(before.kinetic, after.kinetic))
        if self.closing:
            found = found + TURNED * self._of_closing(before, after)
        if _name(self.sim.integrator) == "explicit_euler":
            found = found + 0.5 * self.mass * (self.gravity * h) ** 2
        found = found + self.spun(before, after)
        for spring in self.springs:
            found = found + self._of_spring(spring, before, h)
        return found + self.noise(np.maximum(before.kinetic, after.kinetic)) + 1e-9 * np.abs(before.total)

    def noise(self, kinetic: np.ndarray) -> np.ndarray:
        """What joints and contacts may be off within their tolerances, as energy."""
        report = self.sim.report
        depth = report.position_tolerance + report.penetration_tolerance
        speed = report.velocity_tolerance + report.contact_velocity_tolerance
        return self.mass * (self.gravity * depth + speed**2) + np.sqrt(2.0 * self.mass * kinetic) * speed

    def _of_closing(self, before: Moment, after: Moment) -> np.ndarray:
        """Kinetic energy of the way that was gone, of which joints that are apart may go the most."""
        mass = np.array([body.mass for body in self.scene.bodies])
        speed = np.linalg.norm(after.position - before.position, axis=-1) / self.sim.time_step
        most = 0.5 * self.mass * self.sim.methods.closing_speed**2
        return np.minimum(most, 0.5 * (mass * speed**2).sum(axis=-1))

    def spun(self, before: Moment, after: Moment) -> np.ndarray:
        """What Euler steps of rotations gain in the step between two moments; nothing with other methods."""
        if _name(self.sim.integrator) not in EXPLICIT:
            return np.zeros(len(before.total))
        return np.maximum(self._of_spin(before), self._of_spin(after))

    def _of_spin(self, moment: Moment) -> np.ndarray:
        """½ h² G·J⁻¹G of all bodies."""
        found = np.zeros(len(moment.total))
        for k, body in enumerate(self.scene.bodies):
            if not body.static:
                back = rotation.conjugate(moment.orientation[:, k])
                spin = rotation.rotate(back, moment.angular_velocity[:, k])
                gyration = np.cross(spin, spin @ body.inertia)
                found += (
                    0.5 * self.sim.time_step**2 * (gyration * (gyration @ np.linalg.inv(body.inertia))).sum(axis=-1)
                )
        return found

    def _of_spring(self, spring: Any, before: Moment, h: float) -> np.ndarray:
        """(ω h)^(order + 1) of the energy of a spring and of what swings on it."""
        pair = self.pairs[id(spring)]
        seen = pair.seen(before)
        if isinstance(spring, rb.Spring):
            ease, stretch, rate = pair.ease, seen["length"] - spring.length, seen["length_rate"]
        else:
            moments = [
                self.scene.bodies[k].principal_moments.min()
                for k in pair.bodies
                if k >= 0 and not self.scene.bodies[k].static
            ]
            ease = sum(1.0 / moment for moment in moments)
            stretch, rate = 2.0 * np.pi, seen["turn_rate"]
        part = min(1.0, h * math.sqrt(spring.stiffness * ease)) ** (self.order + 1)
        return part * (0.5 * spring.stiffness * stretch**2 + 0.5 * rate**2 / ease)

    def named(self, report: Any) -> float:
        """N of the step that has this report: what it says was gained in one of its sub-steps, in all of them."""
        return 0.0 if report.converged else report.energy_gained * self.sim.methods.substeps

    def turn_page(self, report: Any, kinetic: np.ndarray) -> None:
        """The step with this report, which ended with so much energy of motion, is done."""
        if self.scene.joints:
            self.peak = np.maximum(kinetic, math.exp(-self.sim.time_step / LATELY) * self.peak)
        self.overlap = report.penetration
        within = (
            report.position_error <= report.position_tolerance
            and report.orientation_error <= report.orientation_tolerance
        )
        self.closing = self.closing and not within


def _name(integrator: Any) -> str:
    from rattleback.integrators import MENU

    return next((name for name, kind in MENU.items() if type(integrator) is kind), "")
