"""A scene of hinges on a floating base as MJCF, so that MuJoCo steps the same bodies, joints, servos and contacts."""

import importlib
from typing import Any

import numpy as np

import rattleback as rb


def words(values: Any) -> str:
    """Numbers as MJCF wants them."""
    return " ".join(repr(float(value)) for value in np.ravel(values))


def turn(q: Any) -> str:
    """A quaternion (x, y, z, w) with w first."""
    return words(np.roll(q, 1))


def geom(body: Any, friction: float) -> str:
    """What collides of a body."""
    shape = body.shape
    if shape is None:
        return ""
    if isinstance(shape, rb.Box):
        kind, size = "box", 0.5 * np.array((shape.x, shape.y, shape.z))
    elif isinstance(shape, rb.Capsule):
        kind, size = "capsule", np.array((shape.radius, 0.5 * shape.length - shape.radius))
    else:
        kind, size = "sphere", np.array((shape.radius,))
    return f'<geom type="{kind}" size="{words(size)}" friction="{friction} 0.005 0.0001" mass="0"/>'


def mjcf(scene: rb.Scene, step: float, friction: float) -> str:
    """The scene in MJCF; every body is carried by its hinge, the first one is free.

    Args:
        scene: Boxes, capsules and spheres on hinges, and a plane.
        step: Time step [s].
        friction: Coefficient of friction of every pair.
    """
    moving = {body.name: body for body in scene.bodies if not body.static}
    made = {joint.b: (name, joint) for name, joint in scene.joints.items()}
    made = {getattr(b, "name", b): value for b, value in made.items()}

    def body(name: str, parent: str | None) -> str:
        own = moving[name]
        to = np.zeros(3) if parent is None else moving[parent].position
        text = f'<body name="{name}" pos="{words(own.position - to)}">'
        if parent is None:
            text += "<freejoint/>"
        else:
            label, joint = made[name]
            limits = "" if joint.limits is None else f'range="{words(joint.limits)}" limited="true"'
            text += (
                f'<joint name="{label}" pos="{words(np.array(joint.at) - own.position)}" axis="{words(joint.axis)}" '
                f'damping="{joint.damping}" {limits}/>'
            )
        text += f'<inertial pos="0 0 0" mass="{own.mass}" diaginertia="{words(np.diag(own.inertia))}"/>'
        text += geom(own, friction)
        children = [b for b, (_, joint) in made.items() if getattr(joint.a, "name", joint.a) == name]
        return text + "".join(body(child, name) for child in children) + "</body>"

    root = next(name for name in moving if name not in made)
    apart = "".join(f'<exclude body1="{a}" body2="{b}"/>' for (a, b), meets in scene.meetings.items() if not meets)
    servos = "".join(
        f'<position joint="{getattr(force.joint, "name", None) or force.joint}" kp="{force.gain}"/>'
        for force in scene.forces.values()
        if isinstance(force, rb.Servo)
    )
    return (
        f'<mujoco><compiler angle="radian" inertiafromgeom="false"/><option timestep="{step}"/>'
        f'<worldbody><geom type="plane" size="0 0 1" friction="{friction} 0.005 0.0001"/>{body(root, None)}</worldbody>'
        f"<contact>{apart}</contact><actuator>{servos}</actuator></mujoco>"
    )


def twin(scene: rb.Scene, step: float, friction: float) -> tuple[Any, Any, Any]:
    """The module, the model and its data."""
    mujoco = importlib.import_module("mujoco")
    model = mujoco.MjModel.from_xml_string(mjcf(scene, step, friction))
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    return mujoco, model, data
