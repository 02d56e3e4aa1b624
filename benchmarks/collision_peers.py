"""Unit cubes on the ground in MuJoCo and Rapier, for times beside ours; each only where it can be imported."""

import importlib.util
import time
from typing import Any

import numpy as np

TIME_STEP = 0.005


class MuJoCo:
    """Cubes in MuJoCo; a round finds all contacts, and nothing else."""

    name = "MuJoCo, `mj_collision` alone"

    def __init__(self, position: Any, orientation: Any) -> None:
        import mujoco

        self.mujoco, spec = mujoco, mujoco.MjSpec()
        spec.memory = 1 << 29
        spec.worldbody.add_geom(type=mujoco.mjtGeom.mjGEOM_PLANE, size=[0.0, 0.0, 1.0])
        for place, turn in zip(position, np.roll(orientation, 1, axis=1), strict=True):
            body = spec.worldbody.add_body(pos=place, quat=turn)
            body.add_freejoint()
            body.add_geom(type=mujoco.mjtGeom.mjGEOM_BOX, size=[0.5, 0.5, 0.5], mass=1.0)
        self.model = spec.compile()
        self.data = mujoco.MjData(self.model)
        mujoco.mj_kinematics(self.model, self.data)
        mujoco.mj_comPos(self.model, self.data)

    def round(self) -> None:
        """Find the contacts."""
        self.mujoco.mj_collision(self.model, self.data)

    def said(self) -> str:
        """What it found."""
        return f"{len(self.depths()):,} collisions that overlap, {self.data.ncon:,} contacts"

    def depths(self) -> dict[tuple[int, int], float]:
        """Depth of every collision [m]; the ground is body 0."""
        deepest: dict[tuple[int, int], float] = {}
        for pair, distance in zip(self.data.contact.geom.tolist(), self.data.contact.dist.tolist(), strict=True):
            key = (min(pair), max(pair))
            deepest[key] = max(-distance, deepest.get(key, 0.0))
        return deepest


class Rapier:
    """Cubes in Rapier; a round is a whole step, as contacts cannot be had alone."""

    name = "Rapier, a whole step of 4 iterations"

    def __init__(self, position: Any, orientation: Any) -> None:
        import rapier3d

        world = self.world = rapier3d.PhysicsWorld(gravity=(0.0, 0.0, -9.81))
        world.set_num_threads(1)
        world.integration_parameters.dt = TIME_STEP
        world.add_collider(rapier3d.Collider.halfspace((0.0, 0.0, 1.0)).friction(0.5))
        self.start, self.handles = position, []
        for place, (x, y, z, w) in zip(position.tolist(), orientation.tolist(), strict=True):
            pose = rapier3d.Isometry3(tuple(place), rapier3d.Rotation3(w, x, y, z))
            body = rapier3d.RigidBody.dynamic().position(pose).can_sleep(False)
            cube = rapier3d.Collider.cuboid(0.5, 0.5, 0.5).mass(1.0).friction(0.5)
            self.handles.append(world.add_body(body, [cube]))

    def round(self) -> None:
        """Take a step."""
        self.world.step()

    def said(self) -> str:
        """What it has of contacts, and how far its cubes have gone since the start."""
        places = [self.world.rigid_bodies[handle].translation for handle in self.handles]
        moved = np.linalg.norm(np.array([(p.x, p.y, p.z) for p in places]) - self.start, axis=1).max()
        points = sum(len(m.points) for pair in self.world.narrow_phase.contact_pairs() for m in pair.manifolds)
        return f"{points:,} contacts; cubes moved by {1e3 * moved:.0f} mm at most"


ENGINES: dict[str, type[Any]] = {"mujoco": MuJoCo, "rapier3d": Rapier}


def present(position: Any, orientation: Any) -> list[Any]:
    """The engines there are, with cubes in these places."""
    return [make(position, orientation) for name, make in ENGINES.items() if importlib.util.find_spec(name)]


def seconds(engine: Any) -> float:
    """CPU time of one round [s]."""
    begun = time.process_time()
    engine.round()
    return time.process_time() - begun
