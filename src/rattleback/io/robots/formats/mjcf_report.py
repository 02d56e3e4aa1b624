"""What became of every element and attribute of an MJCF file; the model itself is compiled by MuJoCo."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rattleback.io.robots.description import MEASURED
from rattleback.io.robots.formats.mjcf_flags import KEPT as FLAGS

if TYPE_CHECKING:
    from collections.abc import Collection

    from rattleback.io.robots.source.xml_text import Node

SOFT = "loops, limits and contacts are exact here, not soft"
LOOK = "the viewer has settings of its own"
FRAMES = "pos quat axisangle euler xyaxes zaxis"
DRIVE = "name class joint jointinparent tendon gear ctrllimited ctrlrange forcelimited forcerange"
# Attributes that are kept, by element; those of an element without an entry are all kept.
KEPT = {
    "mujoco": "model",
    "option": "gravity timestep",
    "mesh": "name class file scale vertex face inertia content_type refpos refquat builtin params maxhullvert",
    "material": "name class rgba",
    "hfield": "name file size nrow ncol elevation content_type",
    "body": f"name childclass gravcomp {FRAMES}",
    "inertial": f"mass diaginertia fullinertia {FRAMES}",
    "joint": "name class type pos axis range limited ref springref springdamper stiffness damping armature "
    "frictionloss actuatorfrcrange actuatorfrclimited joint coef joint1 joint2 polycoef active",
    "freejoint": "name align",
    "geom": f"name class type size fromto mesh hfield mass density rgba material contype conaffinity condim friction "
    f"group fitscale shellinertia {FRAMES}",
    "site": f"name class site {FRAMES}",
    "camera": f"name class fovy {FRAMES}",
    "exclude": "name body1 body2",
    "pair": "name geom1 geom2",
    "connect": "name class active body1 body2 anchor site1 site2",
    "weld": "name class active body1 body2 anchor relpose site1 site2",
    "fixed": "name class",
    "spatial": "name class stiffness damping springlength",
    "tendon": "name class active tendon1 tendon2 polycoef",
    "key": "name qpos ctrl",
    "motor": DRIVE,
    "position": f"{DRIVE} kp kv dampratio inheritrange",
    "velocity": f"{DRIVE} kv",
    "damper": f"{DRIVE} kv",
    "intvelocity": f"{DRIVE} kp kv dampratio actrange inheritrange",
    "cylinder": f"{DRIVE} area diameter bias",
    "general": f"{DRIVE} gaintype biastype gainprm biasprm dyntype",
}
# Elements that are dropped with everything in them.
DROPPED = {
    "light": "the viewer has lights of its own",
    "texture": "bodies have one colour",
    "skin": "bodies are rigid",
    "flex": "bodies are rigid",
    "flexcomp": "bodies are rigid",
    "deformable": "bodies are rigid",
    "spatial": "only straight tendons between two sites are springs here",
    "muscle": "there are no muscles",
    "adhesion": "contacts do not adhere",
    "plugin": "plugins are code",
    "extension": "plugins are code",
    "visual": "the viewer has settings of its own",
    "statistic": "the viewer has settings of its own",
    "custom": "it is for programs of the user",
    "size": "buffers grow by themselves",
}
SOFTNESS = ("solref", "solimp", "solmix", "solreflimit", "solimplimit", "solreffriction", "solimpfriction")
METHODS = ("integrator", "solver", "iterations", "tolerance", "cone", "jacobian", "impratio")
# Why single attributes are dropped.
WHY = {
    **dict.fromkeys(SOFTNESS, SOFT),
    **dict.fromkeys(("margin", "gap"), "contacts begin where surfaces touch"),
    **dict.fromkeys(METHODS, "methods are chosen with the Simulation"),
    **dict.fromkeys(("density", "viscosity", "wind", "fluidshape", "fluidcoef"), "a medium is added with rb.Drag"),
    **dict.fromkeys(("dynprm", "timeconst", "actdim", "actearly"), "the activation follows the control at once"),
    "site": "actuators act on joints and fixed tendons",
    "priority": "the larger coefficient of friction counts",
    **dict.fromkeys(("texture", "texrepeat", "texuniform", "texcoord", "normal"), "bodies have one colour"),
    **dict.fromkeys(("emission", "specular", "shininess", "reflectance", "metallic", "roughness"), LOOK),
    **dict.fromkeys(("type", "width"), "it only says what is shown"),
    **dict.fromkeys(("cranksite", "slidersite", "cranklength", "refsite"), "actuators act on joints"),
    "time": "a simulation has its own time",
    **dict.fromkeys(("mpos", "mquat"), "the body is fixed where it is"),
    "user": "it is for programs of the user",
    "group": "it only says what is shown",
    "rgba": "it only says what is shown",
    "size": "it only says what is shown",
    "qvel": "named states have coordinates and controls",
    "act": "named states have coordinates and controls",
    "mocap": "the body is fixed where it is",
    "mode": "the camera stays on its body",
    "target": "the camera stays on its body",
}  # fmt: skip
# Why all further attributes of an element are dropped.
OWN = {
    "pair": "single pairs have no surface of their own",
    "fixed": "the tendon only passes on what its actuator does",
}
NOTED = {
    ("pair", ""): "the two bodies collide by all of their shapes that do, with friction of their own",
}
# Elements whose attributes all say something to the compiler, and nothing to a scene.
COMPILER = ("compiler", "default", "include", "frame", "replicate", "attach", "asset", "worldbody", "model")
# Attributes of sensors that are kept.
SENSOR = ("name", "joint", "actuator", "site", "objtype", "objname", "reftype", "refname")
DATA = {
    "sensor": "a Recorder takes its name",
    "camera": "data in scene.robot.cameras",
}


def judge(root: Node, lost: Collection[str]) -> None:
    """Note the verdict on every element below the outermost one.

    Args:
        root: The outermost element.
        lost: Names of actuators that are dropped.
    """
    stack = [(root, "")]
    while stack:
        node, above = stack.pop()
        if above == "actuator" and node.attributes.get("name") in lost:
            node.drop("see its own entry")
            continue
        if not _judge_element(node, above):
            continue
        tag = node.tag
        if above == "sensor" or tag == "flag":
            _judge_listed(node, tag)
            continue
        _judge_attributes(node, tag)
        stack.extend((child, tag) for child in node.children)


def _judge_element(node: Node, above: str) -> bool:
    """Whether an element is kept."""
    tag = node.tag
    if tag == "spatial" and [child.tag for child in node.children] == ["site", "site"]:
        node.keep("a spring between two points where it has stiffness or damping")
        return True
    if reason := _dropped(tag, above):
        node.drop(reason)
        return False
    if (tag, "") in NOTED:
        node.approximate(NOTED[tag, ""])
    elif tag == "fixed" and above == "tendon":
        node.approximate("kept as weights of an actuator on its joints; the tendon itself has no stiffness or limits")
    else:
        node.keep(DATA.get(above, DATA.get(tag, "")))
    return True


def _dropped(tag: str, above: str) -> str:
    """Why an element inside another is dropped; empty if it is not."""
    if tag in DROPPED and not (tag == "size" and above != "mujoco"):
        return DROPPED[tag]
    if above == "tendon" and tag != "fixed":
        return "there are no tendons, but as weights of an actuator on joints"
    if above == "equality" and tag not in ("connect", "weld", "joint", "tendon"):
        return "only connect, weld, joint and the length of a straight tendon are constraints here"
    if above == "sensor" and tag not in MEASURED:
        return "no quantity here is what it measures; scene.robot.sensors keeps it"
    return ""


def _judge_listed(node: Node, tag: str) -> None:
    """Note the verdict on the attributes of a sensor or of the flags."""
    kept, reason = (FLAGS, WHY["integrator"]) if tag == "flag" else (SENSOR, "a Recorder takes the state as it is")
    for name in node.attributes:
        if name in kept:
            node.get(name)
        else:
            node.drop(reason, name)


def _judge_attributes(node: Node, tag: str) -> None:
    kept = KEPT.get(tag)
    for name in node.attributes:
        if kept is None or tag in COMPILER or name in kept.split():
            node.get(name)
        elif tag in OWN:
            node.drop(OWN[tag], name)
        elif name in WHY:
            node.drop(WHY[name], name)
