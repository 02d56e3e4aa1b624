"""Rattleback as one of the peers: the same scenes from our own menu, with the materials of the peers' scene.

``peer_engine.py`` imports it beside the peers' ``common``, in a process of its own like the others. Joints are within
1e-6 m in every step of the scenes without contacts. With contacts, ``RATTLEBACK_PRESET`` names a preset,
``RATTLEBACK_CONTACTS`` a contact method, ``RATTLEBACK_SWEEPS`` its most sweeps, ``RATTLEBACK_EVERY`` after how many
steps contacts are found, and ``RATTLEBACK_SLEEP=1`` lets bodies sleep.
"""

import dataclasses
import math
import os
from typing import Any

import common
import numpy as np

import rattleback as rb
from rattleback.scenes import chain, cradle, cubes_1000, funnel, incline, tree, wall

TOLERANCE = 1e-6
# Bodies that are farther from where the peers' scene has them were moved on purpose [m].
MOVED = 1e-4
WITH_CONTACTS = {"wall": wall, "pile": cubes_1000, "funnel": funnel, "incline": incline}
# Tolerances that belong to a scene: those of the dissertation's funnel.
TOLERANCES = {"funnel": {"penetration_tolerance": 1e-4, "contact_velocity_tolerance": 0.01}}


def mechanism(scene: Any) -> Any:
    """A chain or a mobile; a step that does not meet its tolerance raises."""
    count = len(scene.bodies)
    own = chain(count) if scene.name.startswith("chain") else tree(count.bit_length())
    return rb.Simulation(own, time_step=scene.h, position_tolerance=TOLERANCE, strict=True)


def touching(scene: Any) -> Any:
    """A scene with contacts, as the environment asks for it, with the friction and restitution of the peers' pairs.

    Overlaps of the start are outside their tolerance; the benchmark measures by itself what is left of them.
    """
    name = scene.name
    own = cradle(int(name.removeprefix("cradle"))) if name.startswith("cradle") else WITH_CONTACTS[name]()
    preset, method = (os.environ.get(f"RATTLEBACK_{what}") for what in ("PRESET", "CONTACTS"))
    sim = rb.Simulation(own, time_step=scene.h, preset=preset or "balanced", warn=False, **TOLERANCES.get(name, {}))
    if method:
        sim.use(contacts=method)
    if sweeps := os.environ.get("RATTLEBACK_SWEEPS"):
        solver = rb.contacts.BlockGaussSeidel(sweeps=int(sweeps))
        sim.use(contacts=dataclasses.replace(sim.methods.contacts, solver=solver))
    if every := os.environ.get("RATTLEBACK_EVERY"):
        sim.use(contact_every=int(every))
    if os.environ.get("RATTLEBACK_SLEEP") == "1":
        sim.use(sleep=True)
    # Frictions of two bodies add up and restitutions are multiplied.
    material = rb.Material(friction=0.5 * scene.mu, restitution=math.sqrt(scene.e))
    for body in own.bodies:
        sim[body.name].material = material
    return sim


class World:
    """Ours, as the peers' worlds are."""

    def __init__(self, scene: Any) -> None:
        self.sim = sim = touching(scene) if scene.collide else mechanism(scene)
        sim.capture()
        self.names = [body.name for body in sim.scene.bodies if not body.static]
        self.rows = [sim.model.index(name) for name in self.names]
        self.step, self.advance = sim.step, sim.step
        places = np.array([body.p for body in scene.bodies])
        if np.abs(sim.state.position[self.rows] - places).max() > MOVED:
            sim.state.position[self.rows] = places
        # Balls on arms are turned with their arm here, where others may begin with them upright.
        turned = common.mats(sim.state.orientation[self.rows][:, [3, 0, 1, 2]])
        pairs = zip(turned, scene.bodies, strict=True)
        self.frames = [R.T @ body.R if body.shape == "sphere" else np.eye(3) for R, body in pairs]

    def torque(self, body: int, torque: Any) -> None:
        """Nothing to do: the scene twists its top bar for the first 1/30 s."""

    def set_friction(self, body: int, friction: float) -> None:
        """Friction of a body against ground that has none of its own."""
        self.sim[self.names[body]].material = rb.Material(friction=friction)

    def contacts(self) -> int:
        """Number of contact points."""
        return len(self.sim.contacts)

    def state(self) -> tuple[Any, ...]:
        """Positions, rotation matrices, velocities and angular velocities."""
        state, rows = self.sim.state, self.rows
        turned = common.mats(state.orientation[rows][:, [3, 0, 1, 2]])
        return state.position[rows], turned @ self.frames, state.velocity[rows], state.angular_velocity[rows]
