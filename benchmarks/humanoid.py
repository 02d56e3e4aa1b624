"""A humanoid of 27 hinges on the ground, in reduced coordinates, beside MuJoCo.

    python benchmarks/humanoid.py [--write]

Both step the same bodies, hinges, limits, servos, shapes and friction, each with its own settings but for the time
step; MuJoCo's contacts are soft, ours are not. Before any time counts, both are checked against each other: limp in
the air and turning, after 0.05 s of short steps; standing by their servos, in angles and in what the ground carries.
Times are CPU time on one core, of the same stretch of motion again and again, by turns; medians.
"""

import statistics
import time
from typing import Any

import numpy as np
from machine import main, markdown
from mujoco_twin import twin

import rattleback as rb
from rattleback.scenes import humanoid

HEAD = ["humanoid", "contacts", "rattleback, µs a step", "MuJoCo, µs a step", "ratio", "penetration", "of MuJoCo"]
STEP, STEPS, REPEATS, FRICTION = 0.001, 500, 7, 0.8
SPIN = np.array((0.5, 1.0, 0.3))
# Largest difference of places after 0.05 s in the air [m], of angles while standing [rad], and of loads [1]. Feet of
# 0.26 m stand on MuJoCo's ground half a millimetre deep, and not level.
AGREE, ANGLE, LOAD = 2e-6, 3e-3, 1e-3
# Parameters of the scene, and the time before the stretch that is measured [s].
CASES = {
    "in the air": ({"height": 1000.0, "limp": True}, 0.1),
    "standing by servos": ({}, 0.5),
    "limp, collapsing": ({"limp": True, "lean": 0.2}, 0.3),
    "limp, lying": ({"limp": True, "lean": 0.2}, 4.0),
    "limp, lying, joints without limits": ({"limp": True, "lean": 0.2, "limits": False}, 4.0),
}


def simulation(step: float, **given: Any) -> rb.Simulation:
    """The humanoid in reduced coordinates."""
    return rb.Simulation(humanoid(**given), time_step=step, joints="reduced", warn=False)


def apart_in_the_air() -> float:
    """Largest distance between centres of mass after 0.05 s, turning and limp [m]."""
    given, step = {"height": 10.0, "limp": True}, 4e-6
    sim = simulation(step, **given)
    place = np.array(sim.state.position)
    sim.state.velocity = np.cross(SPIN, place - place[1])
    sim.state.angular_velocity = np.tile(SPIN, (len(place), 1)) * (sim.model.mass > 0.0)[:, None]
    mujoco, model, data = twin(humanoid(**given), step, FRICTION)
    data.qvel[3:6] = SPIN
    sim.step(12_500)
    mujoco.mj_step(model, data, 12_500)
    mujoco.mj_forward(model, data)
    ours = {body.name: sim[body.name].position for body in sim.scene.bodies if not body.static}
    return max(float(np.abs(x - data.body(name).xipos).max()) for name, x in ours.items())


def off_while_standing() -> tuple[float, float]:
    """Largest difference of joint angles after a second on both feet [rad], and of what the ground carries."""
    sim = simulation(STEP)
    mujoco, model, data = twin(humanoid(), STEP, FRICTION)
    sim.step(1000)
    mujoco.mj_step(model, data, 1000)
    ours = dict(zip(sim.joints.names, sim.joints.position, strict=True))
    angle = max(abs(q - float(data.joint(name).qpos[0])) for name, q in ours.items())
    weight = 9.81 * float(sim.model.mass.sum())
    carried, force = [abs(float(sim.contacts.force[:, 2].sum())), 0.0], np.zeros(6)
    for c in range(data.ncon):
        mujoco.mj_contactForce(model, data, c, force)
        carried[1] += force[0]
    return angle, max(abs(value / weight - 1.0) for value in carried)


def check() -> None:
    """Stop where the two do not agree."""
    if (off := apart_in_the_air()) > AGREE:
        raise SystemExit(f"In the air places differ by {off:.2g} m; no time counts.")
    angle, load = off_while_standing()
    if angle > ANGLE or load > LOAD:
        raise SystemExit(f"Standing, angles differ by {angle:.2g} rad and loads by {load:.2g}; no time counts.")


def row(name: str, given: dict[str, Any], before: float) -> list[str]:
    """Times of a stretch of motion by turns, and the largest penetration in it."""
    sim = simulation(STEP, **given)
    mujoco, model, data = twin(humanoid(**given), STEP, FRICTION)
    sim.step(round(before / STEP))
    mujoco.mj_step(model, data, round(before / STEP))
    start, kept, mine, other = sim.state.copy(), mujoco.MjData(model), [], []
    mujoco.mj_copyData(kept, model, data)
    for _ in range(REPEATS):
        sim.state = start
        begun = time.process_time()
        sim.step(STEPS)
        mine.append(time.process_time() - begun)
        mujoco.mj_copyData(data, model, kept)
        begun = time.process_time()
        mujoco.mj_step(model, data, STEPS)
        other.append(time.process_time() - begun)
    a, b = (1e6 * statistics.median(times) / STEPS for times in (mine, other))
    touching = f"{len(sim.contacts)}, {data.ncon}"
    deep = f"{1e3 * sim.report.penetration:.2g} mm", f"{1e3 * max(0.0, -min([*data.contact.dist, 0.0])):.2g} mm"
    return [name, touching, f"{a:.1f}", f"{b:.1f}", f"{a / b:.2f}", *deep]


def tables(device: str) -> str:
    """The table of the documentation."""
    del device
    check()
    return markdown(HEAD, [row(name, *case) for name, case in CASES.items()])


if __name__ == "__main__":
    main("humanoid", tables)
