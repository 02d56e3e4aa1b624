"""What is measured of contacts in any engine: the time of every step, and from poses and velocities what is wrong.

``peer_engine.py`` uses it in the process of each engine; it needs the peers' ``common`` and NumPy alone. Overlaps are
of boxes with boxes and with the ground, by a test of separating axes, looked at every few steps and at the end. The
first step is not timed. An answer that is no answer has a ``fault``: a sentence that stands where its time would.
"""

import dataclasses
import time
from typing import Any

import numpy as np

# Steps in a row whose mean time counts as one.
TOGETHER = 12
# A cradle's ball is at rest that turns slower than this [rad/s].
AT_REST = 0.01
# What a wall may sink before it is hit, how deep cubes may overlap that lie, and how deep while they fall, and how far
# cubes that brake may be from where they should stop [m].
SUNK, LYING, FALLING, FAR = 0.15, 0.1, 0.5, 1.0
# Part of the energy of the start that a funnel may give, and how far a hinge may come apart [m].
GAINED, APART = 0.1, 0.05


@dataclasses.dataclass(frozen=True)
class Plan:
    """How a scene is run.

    Attributes:
        phases: Parts of the run whose steps are timed apart, by name, with their first and last step.
        every: Steps from one look to the next.
        kept: Steps after which the state is kept, beside the last.
        counts: Steps from which on overlaps count; the pile starts with cubes that overlap.
    """

    phases: dict[str, tuple[int, int]]
    every: int
    kept: int
    counts: int = 0

    @property
    def steps(self) -> int:
        """Number of steps."""
        return max(last for _, last in self.phases.values())


PLANS = {
    "wall": Plan({"before the hit": (1, 200), "from the hit on": (314, 1000)}, 10, 200),
    "pile": Plan(
        {"falling": (1, 400), "rocking": (800, 1200), "leaning": (2000, 2400), "at rest": (4000, 4400)},
        every=20,
        kept=800,
        counts=100,
    ),
    "funnel": Plan({"up to 1 s": (1, 1000), "1 to 3 s": (1000, 3000), "3 to 8 s": (3000, 8000)}, 50, 1000),
    "incline": Plan({"sliding": (1, 5000), "braking": (5000, 11000)}, 500, 5000),
    "cradle": Plan({"all": (1, 2000)}, 10, 1200),
}


class Run:
    """A run of one engine: times of its steps, what was seen on the way, and states that were kept."""

    def __init__(self, common: Any, scene: Any, world: Any, plan: Plan) -> None:
        self.common, self.scene, self.world, self.plan = common, scene, world, plan
        self.milliseconds: list[float] = []
        self.start = world.state()
        self.kept: Any = None
        self.overlaps: list[float] = []
        self.energies = [common.energy(scene, *self.start)]

    def go(self, steps: int, limit: float) -> None:
        """Take steps until there are enough, or they took too long, or nothing is left to look at."""
        spent = 0.0
        while len(self.milliseconds) < steps and spent < limit:
            begun = time.process_time()
            self.world.step()
            taken = time.process_time() - begun
            self.milliseconds.append(1e3 * taken)
            spent += taken
            done = len(self.milliseconds)
            if (done % self.plan.every == 0 or done == self.plan.kept) and not self.look(done):
                return
        if len(self.milliseconds) % self.plan.every:
            self.look(len(self.milliseconds))

    def look(self, done: int) -> bool:
        """Note overlaps and energy; whether the state is one."""
        self.state = state = self.world.state()
        if done == self.plan.kept:
            self.kept = state
            self.brake()
        if not all(np.isfinite(part).all() for part in state):
            return False
        if done < self.plan.counts:
            self.overlaps = [0.0]
        else:
            self.overlaps.append(overlap(self.common, self.scene, state[0], state[1]))
        self.energies.append(self.common.energy(self.scene, *state))
        return True

    def brake(self) -> None:
        """Give the cubes of the inclined plane their friction."""
        if self.scene.name == "incline":
            for body, friction in enumerate(self.common.MUS):
                self.world.set_friction(body, friction)

    @property
    def gained(self) -> float:
        """Most energy gained from one look to any later one, of that at the start."""
        energies = np.array(self.energies)
        return float((energies - np.minimum.accumulate(energies)).max() / abs(energies[0]))

    def medians(self) -> dict[str, float | None]:
        """Median time of a step, in all but the first and in each phase, and the mean of all [ms]."""
        spans = {"ms": (1, len(self.milliseconds)), **self.plan.phases}
        times = {name: self.milliseconds[first:last] for name, (first, last) in spans.items()}
        return {name: median(some) for name, some in times.items()} | {"mean": float(np.mean(times["ms"] or [0.0]))}

    def lost(self) -> int:
        """Number of bodies under the ground or nowhere."""
        if self.scene.plane is None:
            return int((~np.isfinite(self.state[0])).any(axis=1).sum())
        normal, offset = self.scene.plane
        return int((~(self.state[0] @ normal - offset > -1.0)).sum())


def median(times: list[float]) -> float | None:
    """Median of what steps took, each with those around it: some engines do not do the same in each; None for none."""
    groups = [times[k : k + TOGETHER] for k in range(0, max(len(times) - TOGETHER, 0) + 1, TOGETHER)]
    return float(np.median([np.mean(group) for group in groups])) if times else None


def overlap(common: Any, scene: Any, p: Any, R: Any) -> float:
    """Deepest overlap of boxes with each other, with the ground and with what stands [m]."""
    deepest = max(common.penetration(scene, p, R)) if any(body.shape == "box" for body in scene.bodies) else 0.0
    for fixed in scene.statics:
        near = np.linalg.norm(p - fixed.p, axis=1) < 0.5 * np.linalg.norm(fixed.size) + 1.0
        bodies = [*(body for body, close in zip(scene.bodies, near, strict=True) if close), fixed]
        beside = dataclasses.replace(scene, bodies=bodies, plane=None)
        places, turned = np.concatenate([p[near], [fixed.p]]), np.concatenate([R[near], [fixed.R]])
        deepest = max(deepest, common.penetration(beside, places, turned)[0])
    return float(deepest)


def of_wall(run: Run) -> dict[str, Any]:
    """How far bricks went in the second before the hit, and how fast they are then."""
    if run.kept is None:
        return {}
    ways = np.linalg.norm(run.kept[0] - run.start[0], axis=1)[:-1]
    speeds = np.linalg.norm(run.kept[2], axis=1)[:-1]
    standing = overlap(run.common, run.scene, run.kept[0], run.kept[1])
    fault = f"the wall sinks by {ways.max():.2g} m before the hit" if not ways.max() < SUNK else ""
    return {"creep": float(ways.max()), "speed": float(speeds.max()), "standing": standing, "fault": fault}


def of_pile(run: Run) -> dict[str, Any]:
    """How fast cubes are that lie."""
    speed = float(np.linalg.norm(run.state[2], axis=1).mean())
    fault = f"cubes overlap by {run.overlaps[-1]:.2g} m" if not run.overlaps[-1] < LYING else ""
    return {"speed": speed, "fault": fault}


def of_funnel(run: Run) -> dict[str, Any]:
    """How many cubes have come through."""
    fault = f"cubes overlap by {max(run.overlaps):.2g} m" if not max(run.overlaps) < FALLING else ""
    if run.gained > GAINED:
        fault = f"energy grows by {run.gained:.0%}"
    return {"through": int((run.state[0][:, 2] < 8.0).sum()), "gained": run.gained, "fault": fault}


def of_incline(run: Run) -> dict[str, Any]:
    """How far braking distances are from the closed form, and how many cubes were tilted by more than a degree."""
    if run.kept is None:
        return {}
    common, (p, R, v, _) = run.common, run.state
    frame = common.rot((0, 1, 0), common.SLOPE)
    speed = run.kept[2] @ frame[:, 0]
    wanted = speed**2 / (2 * common.G * (np.array(common.MUS) * np.cos(common.SLOPE) - np.sin(common.SLOPE)))
    off = np.abs((p - run.kept[0]) @ frame[:, 0] - wanted)
    tilted = int((R[:, :, 2] @ frame[:, 2] < np.cos(np.radians(1.0))).sum())
    slow = float(np.abs(speed - common.G * np.sin(common.SLOPE) * 5.0).max())
    fault = f"cubes stop {off.max():.2g} m from where they should" if not off.max() < FAR else ""
    if not slow < 0.1:
        fault = f"cubes slide wrong by {slow:.2g} m/s before they brake"
    return {"deviation": float(off.max()), "tilted": tilted, "speed": float(np.abs(v).max()), "fault": fault}


def of_cradle(run: Run) -> dict[str, Any]:
    """How many balls are at rest after the first impact, of how many that should be, and what became of the energy."""
    if run.kept is None:
        return {}
    lifted = int(run.scene.name.removeprefix("cradle"))
    resting = int((np.abs(run.kept[3][:, 1]) < AT_REST).sum())
    scale = lifted * run.common.G * 5.0 * (1.0 - np.cos(0.25 * np.pi))
    changed = (run.common.energy(run.scene, *run.kept) - run.energies[0]) / scale
    return {"resting": resting, "should": 5 - lifted, "changed": float(changed), "fault": ""}


SPECIAL = {"wall": of_wall, "pile": of_pile, "funnel": of_funnel, "incline": of_incline, "cradle": of_cradle}


def measure(common: Any, scene: Any, world: Any, task: dict[str, Any]) -> dict[str, Any]:
    """Run a scene, at most for a number of steps and for a time [s], and say what was seen of it."""
    plan = PLANS[task["scene"]]
    run = Run(common, scene, world, plan)
    steps = min(plan.steps, task.get("steps") or plan.steps)
    run.go(steps, task["limit"])
    done = len(run.milliseconds)
    found = {**run.medians(), "seconds": done * scene.h, "whole": done == steps, "lost": run.lost()}
    if not all(np.isfinite(part).all() for part in run.state):
        return {**found, "fault": f"it diverges at {done * scene.h:.2f} s"}
    apart = common.separation(scene, run.state[0], run.state[1])
    found |= {"end": run.overlaps[-1], "most": max(run.overlaps), "apart": apart}
    found |= SPECIAL[task["scene"]](run)
    faults = [found.get("fault", "")] + ["bodies are lost"] * (found["lost"] > 0)
    faults += [f"a hinge is {apart:.2g} m apart"] * (apart > APART)
    return {**found, "fault": next(filter(None, faults), "")}
