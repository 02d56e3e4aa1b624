"""Random mechanisms: a scene of bodies, joints, limits, motors and springs on some ground, drawn from a number.

Three to eight solids whose masses lie within a factor of 1000, in a row or in a heap; joints of the whole menu, as a
tree, with loops, to the world, twice the same, against each other, apart at the start; limits, some of them passed at
the start; joints that break; servos of every control with a largest effort; springs; contacts with random materials,
among bodies and with planes, slabs, height fields and triangle meshes; every method.
"""

import dataclasses
import itertools
from dataclasses import dataclass
from typing import Any

import numpy as np

import rattleback as rb
from fuzz.random_joints import draw_joint, draw_limits
from fuzz.random_parts import (
    Rng,
    chance,
    direction,
    draw_ground,
    draw_material,
    draw_solid,
    draw_terrain,
    log_uniform,
    turned,
)
from rattleback.maths import rotation

STEPS = (1 / 60, 1 / 60, 1 / 120, 1 / 240, 1 / 500, 1 / 1000)
# What of a spring the shortest step is: the largest ω h of the lighter body on it.
STIFF = 0.1


@dataclass(frozen=True)
class Draw:
    """A random scene and how it is simulated.

    Attributes:
        seed: The number it is drawn from.
        scene: The scene.
        settings: Those of the simulation.
        places: What is written into the state before the first step: position and orientation of bodies by name.
        traits: What is in it, in words.
    """

    seed: int
    scene: rb.Scene
    settings: dict[str, Any]
    places: dict[str, tuple[np.ndarray, np.ndarray]]
    traits: tuple[str, ...]


class Sketch:
    """A scene while it is drawn.

    Attributes:
        rng: Where the numbers come from.
        more: Where those come from of what was added later, so that a scene keeps the rest of it.
        size: How large bodies are [m].
        traits: What is in it, in words.
    """

    def __init__(self, seed: int) -> None:
        self.rng, self.more = np.random.default_rng([seed, 7]), np.random.default_rng([seed, 8])
        self.scene = rb.Scene(gravity=(0, 0, -9.81) if chance(self.rng, 0.85) else (0, 0, 0))
        self.size = log_uniform(self.rng, 0.1, 1.0)
        self.traits: set[str] = set()
        self.settings = draw_settings(self.rng) | draw_finding(self.more)

    def named(self, trait: str, part: float, rng: Rng | None = None) -> bool:
        """Whether something is to be in the scene, which a part of all scenes have."""
        found = chance(self.rng if rng is None else rng, part)
        if found:
            self.traits.add(trait)
        return found


def draw(seed: int) -> Draw:
    """The random mechanism of this number."""
    sketch = Sketch(seed)
    draw_bodies(sketch)
    draw_joints(sketch)
    draw_motors(sketch)
    draw_springs(sketch)
    draw_breaks(sketch)
    places = displace(sketch) if sketch.named("displaced", 0.2) else {}
    return Draw(seed, sketch.scene, sketch.settings, places, tuple(sorted(sketch.traits)))


def draw_bodies(sketch: Sketch) -> None:
    """Solids in a row or in a heap, above some ground or without."""
    rng, size = sketch.rng, sketch.size
    bouncy = "preset" not in sketch.settings and sketch.named("bouncy", 0.4)
    count, lightest = int(rng.integers(3, 9)), log_uniform(rng, 0.01, 10.0)
    steps = rng.normal(size=(count, 3)) * (1.0, 1.0, 0.4)
    steps *= size / np.linalg.norm(steps, axis=1, keepdims=True)
    heap = sketch.named("heap", 0.3)
    places = 0.7 * size * count ** (1 / 3) * rng.uniform(-1, 1, (count, 3)) if heap else np.cumsum(steps, axis=0)
    places[:, 2] += rng.uniform(0.2, 2.0) * size - places[:, 2].min()
    speed = log_uniform(rng, 0.1, 5.0) if sketch.named("moving", 0.5) else 0.0
    for place in places:
        options: Any = {"collision": None} if chance(rng, 0.1) else {}
        options["continuous"] = chance(sketch.more, 0.05)
        own = size * rng.uniform(0.5, 1.0)
        sketch.scene.add_body(
            draw_solid(rng, own),
            mass=lightest * 10.0 ** rng.uniform(0, 3),
            position=place,
            orientation=turned(rng) if chance(rng, 0.7) else (0, 0, 0, 1),
            velocity=speed * rng.normal(size=3),
            angular_velocity=speed / size * rng.normal(size=3),
            material=draw_material(rng, own, True, bouncy),
            **options,
        )
    if sketch.named("ground", 0.75):
        ground = draw_ground(rng, size)
        if sketch.named("terrain", 0.25, sketch.more):
            ground = draw_terrain(sketch.more, size)
        sketch.traits.add(f"on {type(ground).__name__}")
        sketch.scene.add_static(ground, name="ground", material=draw_material(rng, size, True, bouncy))


def draw_joints(sketch: Sketch) -> None:
    """Joints between bodies that follow each other, between any two, to the world; some twice, some in conflict."""
    rng, bodies = sketch.rng, [body for body in sketch.scene.bodies if not body.static]
    ends: list[tuple[Any, Any]] = [pair for pair in itertools.pairwise(bodies) if chance(rng, 0.7)]
    if sketch.named("loop", 0.3):
        for _ in range(int(rng.integers(1, 3))):
            a, b = rng.choice(len(bodies), 2, replace=False)
            ends.append((bodies[a], bodies[b]))
    if sketch.named("held", 0.4):
        ends += [(None, bodies[k]) for k in rng.choice(len(bodies), rng.integers(1, 3), replace=False)]
    limited = sketch.named("limits", 0.5)
    for a, b in ends:
        apart = sketch.named("apart", 0.05)
        add(sketch, draw_joint(rng, a, b, sketch.size, apart), limited)
        if sketch.named("twice", 0.05):
            label = list(sketch.scene.joints)[-1]
            sketch.scene.add_joint(sketch.scene.joints[label], name=f"{label}_again")
        if sketch.named("conflict", 0.05):
            add(sketch, draw_joint(rng, a, b, sketch.size, chance(rng, 0.5)), limited)


def add(sketch: Sketch, joint: Any, limited: bool) -> None:
    """A joint, with limits where it can have some; limits are about a start at which its axes agree."""
    agree = isinstance(joint, rb.Universal) or np.allclose(
        joint.axis, joint.axis if joint.axis_b is None else joint.axis_b
    )
    if limited and chance(sketch.rng, 0.6) and agree:
        joint = draw_limits(sketch.rng, joint, sketch.size)
    label = f"{type(joint).__name__.lower()}_{len(sketch.scene.joints)}"
    sketch.scene.add_joint(joint, name=label)


def draw_motors(sketch: Sketch) -> None:
    """Servos on joints with one coordinate, with a largest effort of 30 times what lifts the lighter body, at most."""
    rng, scene, step = sketch.rng, sketch.scene, sketch.settings["time_step"]
    driven = [(name, control) for name, joint in scene.joints.items() for control in controls(joint)]
    if not driven or not sketch.named("servo", 0.4):
        return
    for k in rng.choice(len(driven), min(len(driven), int(rng.integers(1, 4))), replace=False):
        name, control = driven[k]
        joint = scene.joints[name]
        ends = [scene[end] for end in (joint.a, joint.b) if end != "world" and not scene[end].static]
        turning = control == "angle" or (control == "velocity" and "turn_z" in joint.freedoms)
        inertia = min(end.principal_moments.mean() if turning else end.mass for end in ends)
        gain = inertia * log_uniform(rng, 1e-3, 10.0) / (step if control == "velocity" else step**2)
        reset = {"reset_time": log_uniform(rng, 10 * step, 10.0)} if chance(rng, 0.3) else {}
        window = {"window": log_uniform(rng, 10 * step, 1.0)} if chance(rng, 0.2) else {}
        scene.add_force(
            rb.Servo(
                name,
                control=control,
                target=draw_target(rng, control, sketch.size),
                gain=gain,
                limit=inertia * 9.81 * (1.0 / sketch.size if turning else 1.0) * log_uniform(rng, 0.3, 30.0),
                rate_time=step * rng.uniform(0, 5) if chance(rng, 0.3) else 0.0,
                **reset,
                **window,
            )
        )


def controls(joint: Any) -> list[str]:
    """What a servo can control of a joint."""
    kinds = [freedom.split("_")[0] for freedom in joint.freedoms]
    turns = kinds.count("turn") == 1 and "turn_z" in joint.freedoms
    slides = kinds.count("slide") == 1 and "slide_z" in joint.freedoms
    return ["angle"] * turns + ["position"] * slides + ["velocity"] * (turns or slides)


def draw_target(rng: Rng, control: str, size: float) -> Any:
    """A number, or one that changes with time."""
    reach = {"angle": 2.0, "position": size, "velocity": 5.0}[control]
    if chance(rng, 0.5):
        return rng.uniform(-reach, reach)
    kind = str(rng.choice(["step", "linear", "cubic"]))
    return rb.Schedule((0.0, 0.1, 0.5, 1.0), rng.uniform(-reach, reach, 4), kind)


def draw_springs(sketch: Sketch) -> None:
    """Springs between points of bodies, and about joints that turn, none stiffer than the step can follow."""
    rng, scene = sketch.rng, sketch.scene
    if not sketch.named("spring", 0.3):
        return
    bodies = [body for body in scene.bodies if not body.static]
    for _ in range(int(rng.integers(1, 3))):
        a, b = (bodies[k] for k in rng.choice(len(bodies), 2, replace=False))
        start = scene.world if chance(rng, 0.3) else a
        at, at_b = (body.position + 0.3 * sketch.size * rng.uniform(-1, 1, 3) for body in (a, b))
        lightest = min(body.mass for body in (a, b)) * 0.1
        rate = STIFF / sketch.settings["time_step"] * log_uniform(rng, 0.1, 1.0)
        damping = rng.choice([0.0, rng.uniform(0, 1)]) * lightest * rate
        scene.add_force(rb.Spring(start, b, at=at, at_b=at_b, stiffness=lightest * rate**2, damping=damping))
    for name, joint in scene.joints.items():
        if "angle" in controls(joint) and chance(rng, 0.5):
            moments = [scene[end].principal_moments.min() for end in (joint.a, joint.b) if end != "world"]
            rate = STIFF / sketch.settings["time_step"] * log_uniform(rng, 0.1, 1.0)
            scene.add_force(rb.TorsionSpring(name, stiffness=0.5 * min(moments) * rate**2, angle=rng.uniform(-1, 1)))


def draw_breaks(sketch: Sketch) -> None:
    """Joints that break under some of the weight of all bodies, or under a hundred times that."""
    rng, scene = sketch.more, sketch.scene
    if not scene.joints or not sketch.named("breaks", 0.2, rng):
        return
    weight = 9.81 * sum(body.mass for body in scene.bodies if not body.static)
    for name, joint in list(scene.joints.items()):
        limits = {"breaking_force": weight, "breaking_torque": weight * sketch.size}
        chosen = {key: most * log_uniform(rng, 0.1, 100.0) for key, most in limits.items() if chance(rng, 0.4)}
        if chosen:
            scene.replace_joint(name, dataclasses.replace(joint, **chosen))


def displace(sketch: Sketch) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Places for one or two bodies that are not those the scene starts from: joints open, limits are passed."""
    rng, bodies = sketch.rng, [body for body in sketch.scene.bodies if not body.static]
    places = {}
    for k in rng.choice(len(bodies), int(rng.integers(1, 3)), replace=False):
        body, joints = bodies[k], [j for j in sketch.scene.joints.values() if bodies[k].name in (j.a, j.b)]
        turn = rotation.quaternion_from_axis_angle(direction(rng), rng.uniform(0.0, 1.0))
        moved = body.position + sketch.size * rng.choice([0.0, 0.01, 0.2]) * rng.normal(size=3)
        if joints and chance(rng, 0.5):
            # About the axis of one of its joints, which stays closed and may pass its limits.
            turn = rotation.quaternion_from_axis_angle(joints[0].axis, rng.uniform(-2.0, 2.0))
            at = np.array(joints[0].at_b if joints[0].b == body.name else joints[0].at)
            moved = at + rotation.rotate(turn, body.position - at)
        orientation = rotation.multiply(turn, body.orientation)
        places[body.name] = (moved, orientation / np.linalg.norm(orientation))
    return places


def draw_finding(rng: Rng) -> dict[str, Any]:
    """How contacts are found: mostly by the defaults, each other way now and then."""
    rare: dict[str, tuple[Any, ...]] = {
        "contact_time": ("bisect", "interpolate"),
        "contact_points": (1, 2, 8),
        "bounding_volume": ("sphere", "oriented", "dop"),
    }
    return {name: values[rng.integers(len(values))] for name, values in rare.items() if chance(rng, 0.03)}


def draw_settings(rng: Rng) -> dict[str, Any]:
    """How a scene is simulated: mostly the defaults, each other method now and then."""
    settings: dict[str, Any] = {"time_step": float(rng.choice(STEPS))}
    rare = {
        "preset": ("fast", "accurate", "fast"),
        "joints": ("iterative", "reduced"),
        "contacts": ("shock", "time_stepping", "time_stepping", "detect", "none"),
        "integrator": ("explicit_euler", "semi_implicit_euler", "implicit_euler", "taylor2", "rk4", "rk45"),
        "sleep": (True,),
        "substeps": (2, 3, 4),
        "worlds": (3,),
        "broadphase": ("all_pairs", "sweep", "grid", "tree", "cached"),
        "narrowphase": ("gjk", "vclip"),
        "contact_every": (2, 3),
        "closing_speed": (1.0,),
        "max_iterations": (4,),
    }
    for name, values in rare.items():
        if chance(rng, 0.05):
            settings[name] = values[rng.integers(len(values))]
    # Newton's law of impact can create energy where there is friction; Stronge's cannot. A preset has its own contacts.
    if "preset" not in settings:
        order = str(rng.choice(["sequential", "sequential", "simultaneous"]))
        law = {"restitution": "stronge", "impact": order}
        settings["contacts"] = {
            "impulse": rb.contacts.Impulse(**law),
            "shock": rb.contacts.ShockPropagation(rb.contacts.Impulse(**law)),
            "time_stepping": rb.contacts.TimeStepping(**law),
        }.get(kind := settings.get("contacts", "impulse"), kind)
    return settings
