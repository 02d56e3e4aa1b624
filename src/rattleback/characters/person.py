"""A person: the figure that comes with the package, with a skin and a few motions.

Proportions are parts of the height from Winter's table of body segments. The skeleton is in metres with z up and looks
along x with its arms out to the sides; all its joints are unturned at rest. Its gaits are made, not captured: ankles go
along given paths, straight back at the speed of the gait while they stand, and legs follow by closed form, so feet
do not slide.

Reference: Winter, Biomechanics and motor control of human movement, 4th ed., figure 4.1.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rattleback.characters.clip import Clip
from rattleback.characters.figure import Figure
from rattleback.characters.motion.cycle import Cycle
from rattleback.characters.motion.footing import Leg
from rattleback.characters.motion.limb import Limb, reached
from rattleback.characters.pose import Pose
from rattleback.characters.skeleton import Joint, Skeleton
from rattleback.characters.tubes import tube_skin
from rattleback.core import checks
from rattleback.maths.rotation import conjugate, multiply, quaternion_from_axis_angle, quaternion_from_matrix

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

X, Y, Z = np.eye(3)
# Thickness of the bones that begin at a joint, in parts of the height.
RADII = {
    "Hips": 0.075, "Spine": 0.072, "Chest": 0.078, "Neck": 0.032, "Head": 0.055,
    "Shoulder": 0.034, "Arm": 0.027, "ForeArm": 0.023, "Hand": 0.019, "UpLeg": 0.047, "Leg": 0.034,
    "Foot": 0.016, "Toe": 0.015,
}  # fmt: skip
SIDES = ("Left", "Right")
LEGS = tuple(Leg(Limb(f"{s}UpLeg", f"{s}Leg", f"{s}Foot"), f"{s}Toe") for s in SIDES)
ARMS = tuple(Limb(f"{s}Arm", f"{s}ForeArm", f"{s}Hand") for s in SIDES)
# Of a gait: speed [leg lengths/s], time of a stride [s], part of it on the ground, lift of the foot and drop of the
# hips in parts of the leg, how far the arms swing, how far elbows are bent and how far the trunk leans [rad].
WALK = {"speed": 1.15, "time": 1.1, "down": 0.6, "lift": 0.09, "sink": 0.09, "arms": 0.4, "elbow": 0.3, "lean": 0.03}
MARCH = {"speed": 1e-3, "time": 1.2, "down": 0.65, "lift": 0.05, "sink": 0.05, "arms": 0.3, "elbow": 0.3, "lean": 0.0}
RUN = {"speed": 3.2, "time": 0.68, "down": 0.32, "lift": 0.28, "sink": 0.09, "arms": 0.7, "elbow": 1.4, "lean": 0.14}
FRAME = 1.0 / 60.0


def person(height: float = 1.75) -> Figure:
    """A person with clips named ``stand``, ``walk``, ``run``, ``march``, ``wave``, ``crouch`` and ``sit``.

    Args:
        height: How tall [m].
    """
    tall = checks.positive(height, "The height of a person")
    skeleton = Skeleton(_joints(tall), "person")
    calm = _standing(skeleton)
    clips = {"stand": Clip.from_poses(skeleton, _repeated(calm, 60), FRAME, "stand")}
    for name, gait in (("walk", WALK), ("run", RUN), ("march", MARCH)):
        cycle = gait_cycle(skeleton, gait)
        phases = np.arange(0.0, 1.0 + 1e-9, FRAME / cycle.duration)
        poses = cycle.pose(phases)
        ways = np.array(poses.translation)
        ways[:, 0, 0] += phases * cycle.stride
        clips[name] = Clip.from_poses(skeleton, Pose(poses.rotation, ways, poses.scale), FRAME, name)
    clips["wave"] = _wave(skeleton, calm)
    clips["crouch"] = _lowered(skeleton, calm, 0.45, "crouch", lean=0.5)
    clips["sit"] = _lowered(skeleton, calm, 0.5, "sit", lean=0.1, back=0.42)
    radii = {joint.name: tall * _radius(joint.name) for joint in skeleton.joints}
    return Figure(skeleton, clips, {"person": tube_skin(skeleton, radii, name="person")})


def gait_cycle(skeleton: Skeleton, gait: dict[str, float]) -> Cycle:
    """One stride of a person, made from the path of the ankles.

    Args:
        skeleton: That of a person.
        gait: Speed in leg lengths a second, time of a stride [s], part of it on the ground, lift of the foot and drop
            of the hips in parts of the leg, swing of the arms, bend of the elbows and lean [rad].
    """
    phases = np.arange(96) / 96
    leg = LEGS[0].length(skeleton)
    stride = gait["speed"] * leg * gait["time"]
    swing = 2.0 * np.pi * phases
    pose = _repeated(_standing(skeleton, gait["elbow"]), len(phases))
    turns, ways = np.array(pose.rotation), np.array(pose.translation)
    # The hips are lowest while both feet are down or, in flight, in the middle of the stance.
    bounce = 0.012 * leg * (-1.0 if gait["down"] > 0.5 else 1.0)
    ways[:, 0, 2] -= gait["sink"] * leg + bounce * np.cos(2.0 * swing)
    ways[:, 0, 1] += 0.02 * leg * np.sin(swing)
    _turn(skeleton, turns, "Hips", multiply(_about(Y, gait["lean"]), _about(Z, 0.1 * np.cos(swing))))
    _turn(skeleton, turns, "Chest", _about(Z, -0.2 * np.cos(swing)))
    for arm, sign in zip(ARMS, (1.0, -1.0), strict=True):
        _turn(skeleton, turns, arm.upper, _about(Y, sign * gait["arms"] * np.cos(swing)), first=True)
    pose = Pose(turns, ways, pose.scale)
    for limb_leg, ahead in zip(LEGS, (0.0, 0.5), strict=True):
        goal, pitch = _ankle(skeleton, limb_leg, gait, np.mod(phases + ahead, 1.0), stride)
        pose = _pitched(skeleton, reached(skeleton, pose, limb_leg.limb, goal, bend=Y), limb_leg, pitch)
    return Cycle(skeleton, pose, gait["time"], stride)


def _ankle(skeleton: Skeleton, leg: Leg, gait: dict[str, float], phase: Floats, stride: float) -> tuple[Floats, Floats]:
    """Path of an ankle against the mean place of the hips (phases, 3) [m], and pitch of the foot [rad]."""
    rest = skeleton.matrices(skeleton.rest)[skeleton.number(leg.limb.end), :3, 3]
    down, long = gait["down"], leg.length(skeleton)
    on = phase < down
    part = np.clip((phase - down) / (1.0 - down), 0.0, 1.0)
    # Backwards with the ground while down; then forwards, leaving and meeting the ground at its speed.
    reach = 0.5 * down * stride
    slope = -stride * (1.0 - down)
    cubic = 2.0 * part**3 - 3.0 * part**2
    swing = -reach - 2.0 * reach * cubic + slope * (part - 3.0 * part**2 + 2.0 * part**3)
    found = np.tile(rest, (len(phase), 1))
    found[:, 0] = rest[0] + np.where(on, reach - stride * phase, swing)
    found[:, 2] += np.where(on, 0.0, gait["lift"] * long * np.sin(np.pi * part) ** 2)
    return found, np.where(on, 0.0, 0.5 * np.sin(2.0 * np.pi * part) * np.sin(np.pi * part))


def _joints(tall: float) -> list[Joint]:
    found = [
        Joint("Hips", "", (0, 0, 0.53 * tall)),
        Joint("Spine", "Hips", (0, 0, 0.055 * tall), limits=((-0.6, 0.6), (-0.4, 1.2), (-0.5, 0.5))),
        Joint("Chest", "Spine", (0, 0, 0.11 * tall), limits=((-0.6, 0.6), (-0.4, 0.8), (-0.5, 0.5))),
        Joint("Neck", "Chest", (0, 0, 0.145 * tall), limits=((-0.8, 0.8), (-0.6, 0.8), (-0.5, 0.5))),
        Joint("Head", "Neck", (0.01 * tall, 0, 0.05 * tall), limits=((-0.8, 0.8), (-0.6, 0.6), (-0.4, 0.4))),
        Joint("Head_end", "Head", (0, 0, 0.11 * tall), end=True),
    ]
    for side, sign in (("Left", 1.0), ("Right", -1.0)):
        found += _arm(side, sign, tall) + _leg(side, sign, tall)
    return found


def _arm(side: str, sign: float, tall: float) -> list[Joint]:
    shoulder = ((-1.6, 1.6), (-2.8, 2.8), (-1.6, 1.6))
    bends = (0.0, 2.5) if sign < 0 else (-2.5, 0.0)
    return [
        Joint(
            f"{side}Shoulder",
            "Chest",
            (0, 0.03 * sign * tall, 0.125 * tall),
            limits=((-0.2, 0.2), (-0.2, 0.2), (-0.2, 0.2)),
        ),
        Joint(f"{side}Arm", f"{side}Shoulder", (0, 0.095 * sign * tall, 0), limits=shoulder),
        Joint(f"{side}ForeArm", f"{side}Arm", (0, 0.186 * sign * tall, 0), limits=(bends, (-1.5, 1.5), (-0.1, 0.1))),
        Joint(
            f"{side}Hand", f"{side}ForeArm", (0, 0.146 * sign * tall, 0), limits=((-0.5, 0.5), (-0.2, 0.2), (-1.0, 1.0))
        ),
        Joint(f"{side}Hand_end", f"{side}Hand", (0, 0.1 * sign * tall, 0), end=True),
    ]


def _leg(side: str, sign: float, tall: float) -> list[Joint]:
    return [
        Joint(f"{side}UpLeg", "Hips", (0, 0.055 * sign * tall, 0), limits=((-0.6, 0.6), (-2.0, 0.5), (-0.7, 0.7))),
        Joint(f"{side}Leg", f"{side}UpLeg", (0.01 * tall, 0, -0.245 * tall), limits=((0, 0), (-0.09, 2.4), (0, 0))),
        Joint(
            f"{side}Foot",
            f"{side}Leg",
            (-0.01 * tall, 0, -0.246 * tall),
            limits=((-0.3, 0.3), (-0.6, 0.8), (-0.3, 0.3)),
        ),
        Joint(f"{side}Heel", f"{side}Foot", (-0.035 * tall, 0, -0.024 * tall), end=True),
        Joint(f"{side}Toe", f"{side}Foot", (0.085 * tall, 0, -0.024 * tall), limits=((0, 0), (-0.8, 0.4), (0, 0))),
        Joint(f"{side}Toe_end", f"{side}Toe", (0.045 * tall, 0, 0), end=True),
    ]


def _radius(name: str) -> float:
    return RADII.get(name.removeprefix("Left").removeprefix("Right"), 0.02)


def _about(axis: Any, angle: Any) -> Any:
    return quaternion_from_axis_angle(axis, angle)


def _repeated(pose: Pose, count: int) -> Pose:
    return Pose(*(np.tile(part, (count, 1, 1)) for part in (pose.rotation, pose.translation, pose.scale)))


def _turn(skeleton: Skeleton, turns: Floats, joint: str, turn: Any, first: bool = False) -> None:
    """Turn a joint further, about its own axes or, first, about those of its parent."""
    j = skeleton.number(joint)
    turns[..., j, :] = multiply(turn, turns[..., j, :]) if first else multiply(turns[..., j, :], turn)


def _standing(skeleton: Skeleton, elbow: float = 0.25) -> Pose:
    """A person at ease: the arms hang."""
    turns = np.array(skeleton.rest.rotation)
    for side, sign in (("Left", 1.0), ("Right", -1.0)):
        _turn(skeleton, turns, f"{side}Arm", _about(X, -sign * 1.42))
        _turn(skeleton, turns, f"{side}ForeArm", _about(Z, -sign * elbow))
    return Pose(turns, skeleton.rest.translation, skeleton.rest.scale)


def _pitched(skeleton: Skeleton, pose: Pose, leg: Leg, pitch: Floats) -> Pose:
    """A pose whose foot is level, turned by a pitch; the trunk may lean."""
    foot = skeleton.number(leg.limb.end)
    frames = skeleton.matrices(pose)
    shank = frames[..., skeleton.parents[foot], :3, :3]
    turns = np.array(pose.rotation)
    turns[..., foot, :] = multiply(conjugate(quaternion_from_matrix(shank)), _about(Y, pitch))
    return Pose(turns, pose.translation, pose.scale)


def _wave(skeleton: Skeleton, calm: Pose) -> Clip:
    times = np.linspace(0.0, 2.0, 41)
    up = np.sin(np.pi * np.clip(times / 0.5, 0, 1) / 2) * np.sin(np.pi * np.clip((2.0 - times) / 0.5, 0, 1) / 2)
    turns = np.tile(calm.rotation, (len(times), 1, 1))
    _turn(skeleton, turns, "RightArm", _about(X, -up * 1.6), first=True)
    _turn(skeleton, turns, "RightForeArm", _about(X, -up * (1.1 + 0.4 * np.sin(4.0 * np.pi * times))))
    return Clip.from_poses(skeleton, Pose(turns, calm.translation, calm.scale), times[1], "wave")


def _lowered(skeleton: Skeleton, calm: Pose, depth: float, name: str, lean: float, back: float = 0.12) -> Clip:
    """A clip in which the hips go down over feet that stay."""
    part = np.linspace(0.0, 1.0, 49)
    gentle = part * part * (3.0 - 2.0 * part)
    pose, leg = _repeated(calm, len(part)), LEGS[0].length(skeleton)
    turns, ways = np.array(pose.rotation), np.array(pose.translation)
    ways[:, 0] += np.outer(gentle, [-back * leg, 0.0, -depth * leg])
    _turn(skeleton, turns, "Spine", _about(Y, lean * gentle))
    pose = Pose(turns, ways, pose.scale)
    ankles = skeleton.matrices(calm)[:, :3, 3]
    for one in LEGS:
        goal = np.tile(ankles[skeleton.number(one.limb.end)], (len(part), 1))
        pose = _pitched(skeleton, reached(skeleton, pose, one.limb, goal, bend=Y), one, np.zeros(len(part)))
    return Clip.from_poses(skeleton, pose, FRAME, name)
