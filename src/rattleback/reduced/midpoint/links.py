"""The links of the trees of a model, and the room in which a step computes with them.

A joint with several freedoms is a series of links with one kind of motion each; all but the last have no mass. The
motion of a link is about or along the z axis of its frame, or any turn.

    frame of a link = frame of its parent · fixed way · motion        body = frame of its last link · fixed way

Vectors of a tree are in the axes of the world, from the origin of the tree, which stands still during a step.
"""

import warp as wp

from rattleback.core.arrays import field, group
from rattleback.core.precision import mat33, quat, real, vec3
from rattleback.model.joint_memory import JointState
from rattleback.model.tree_memory import TreeMemory
from rattleback.problem.joint_rows import Joints

# How friction acts where it holds the freedom of a link still.
HELD = wp.constant(2)
# The same in what rows of joints are found with: its freedom yields a tenth of what it would without friction. So rows
# and friction, which take turns, agree soon, and neither asks for what the other could never give.
SOFT, STIFFER = wp.constant(3), wp.constant(real(10.0))
# Kinds of motion of a link.
RIGID, TURN, SLIDE, BALL, FREE = range(5)
# What of a joint a link is: its turn about z, the first and the second turn of crossed axes, any turn, a slide.
WHOLE_TURN, FIRST_TURN, SECOND_TURN, ANY_TURN, SCREW_TURN, SLIDE_X, SLIDE_Y, SLIDE_Z = range(8)


@group(axis="links")
class Links:
    """The links of one world, parents first, and the numbers of those of all worlds."""

    kind: wp.int32 = field("1", "kind of motion")
    parent: wp.int32 = field("1", "link that carries it; −1 for the first of a tree")
    root: wp.int32 = field("1", "first link of its tree")
    base: wp.int32 = field("1", "body that carries the first link of a tree; −1 for the world")
    joint: wp.int32 = field("1", "joint it belongs to; −1 for a link that moves freely")
    role: wp.int32 = field("1", "what of the joint it is")
    back: wp.int32 = field("1", "1 where it leads from body B of the joint to body A")
    body: wp.int32 = field("1", "body it ends in; −1 where it is not the last of its joint")
    bears: wp.int32 = field("1", "body that its joint leads to")
    turn: quat = field("1", "turn from the frame of the parent to where the motion begins", axis="every")
    way: vec3 = field("m", "way from the origin of the frame of the parent to there, in its axes", axis="every")
    lead: real = field("m", "way along the axis for a turn of one radian", axis="every")
    armature: real = field("kg m² or kg", "inertia of the drive of its one freedom", axis="every")
    friction: real = field("N m or N", "most friction of its one freedom", axis="every")
    body_turn: quat = field("1", "turn from its frame to that of the body", axis="every")
    body_way: vec3 = field("m", "way from its origin to the centre of mass, in its axes", axis="every")
    mass: real = field("kg", "mass of the body; zero where there is none", axis="every")
    inertia: mat33 = field("kg m²", "inertia about the centre of mass, axes of the link", axis="every")


@group(axis="links")
class TreeStep:
    """What a step knows of every link of all worlds."""

    origin: vec3 = field("m", "origin of the tree, of the first link of one")
    base_turn: quat = field("1", "orientation of what carries the first link of a tree")
    base_way: vec3 = field("m", "where it is")
    base_spin: vec3 = field("rad/s", "angular velocity of it")
    base_drift: vec3 = field("m/s", "velocity of it")
    turned: quat = field("1", "turn of the motion at the start of the step")
    slid: real = field("m", "way of the motion along z at the start of the step")
    spin: vec3 = field("rad/s or m/s", "rates at the start: the one about or along z first, or those about its axes")
    drift: vec3 = field("m/s", "velocity at the start of what moves freely")
    mean_spin: vec3 = field("rad/s or m/s", "the same rates, their mean over the step")
    mean_drift: vec3 = field("m/s", "mean of the velocity")
    q: quat = field("1", "orientation of its frame")
    frame: mat33 = field("1", "the same as a matrix")
    x: vec3 = field("m", "origin of its frame")
    s_turn: vec3 = field("1", "motion subspace of one freedom: its turn")
    s_way: vec3 = field("m or 1", "its velocity at the origin of the tree")
    spinning: vec3 = field("rad/s", "angular velocity")
    drifting: vec3 = field("m/s", "velocity of what of it is at the origin of the tree")
    spin_rate: vec3 = field("rad/s²", "angular acceleration; of a solution, its change")
    drift_rate: vec3 = field("m/s²", "rate of the velocity at the origin; of a solution, its change at the joint")
    couple: vec3 = field("N m", "what is missing of the torque about its joint, with that of the links it carries")
    force: vec3 = field("N", "the same of the force")
    turning: mat33 = field("kg m²", "articulated inertia: torque by angular acceleration")
    mixed: mat33 = field("kg m", "torque by acceleration")
    moving: mat33 = field("kg", "force by acceleration")
    u_turn: vec3 = field("kg m²", "articulated inertia times the subspace of one freedom: torque")
    u_way: vec3 = field("kg m", "force of the same")
    give: real = field("1/(kg m²) or 1/kg", "inverse of the inertia that one freedom meets")
    grip: wp.int32 = field("1", "how friction acts: ±1 against a rate of this sign, 2 where it holds, 0 not at all")
    rest: real = field("rad/s² or m/s²", "change of the acceleration with which what friction holds stays or stops")
    relieved: real = field("N m or N", "what friction takes from a freedom that it holds")
    extra: real = field("kg m² or kg", "inertia of its freedom beside that of bodies: of its drive, and of what yields")
    drive: real = field("N m or N", "what the drive of its freedom is short of")
    gained: real = field("rad/s² or m/s²", "what the last solution says of its freedom")
    kept: vec3 = field(
        "rad/s, N m s or m/s, N s", "rate of its drive, and what friction and its servo took of impulses on bodies"
    )
    most: real = field("N m s or N s", "most impulse of friction in the step; −1 where it does not answer to impulses")
    ahead: real = field("N m s or N s", "impulse of friction that the step itself will need")
    due: real = field("N m s or N s", "impulse that friction still has to give")
    most_lent: real = field("N m s or N s", "most impulse of its servo in the step")
    due_lent: real = field("N m s or N s", "impulse that its servo still has to give")
    wanted: real = field("N m or N", "what its freedom is short of")
    block_turn: mat33 = field("kg m²", "the same as ``u_turn`` of three freedoms; of six, part of the inverse")
    block_way: mat33 = field("kg m", "the same as ``u_way``")
    inverse: mat33 = field("1/(kg m²)", "inverse of the inertia that three freedoms meet")
    wanted_turn: vec3 = field("N m", "what three freedoms are short of")


@group(axis="worlds")
class Predicted:
    """The last prediction of a step, as far as another one of the same step may go on from it."""

    known: wp.int32 = field("1", "what is known of the rates, see ``tree_step.take_on``; zero for nothing")
    length: real = field("s", "length of the step")
    left: real = field("rad/s or m/s", "error of the rates that was left")
    rounds: wp.int32 = field("1", "rounds that were done")
    ratio: real = field("1", "part of a change that the last round left of the one before; zero after one round")


@group(axis="links")
class Steering:
    """The servo of the freedom of every link of all worlds, see ``steering``."""

    on: wp.int32 = field("1", "1 where it has one")
    of_rate: wp.int32 = field("1", "1 where that aims at a rate")
    sign: real = field("1", "−1 where the link leads from body B of its joint to body A")
    gain: real = field("N m or N per unit of the error", "effort per error")
    rate_time: real = field("s", "time of the differential part")
    limit: real = field("N m or N", "largest effort")
    first_error: real = field("rad, m, rad/s or m/s", "error at the start of the step; of a rate, the target")
    integral: real = field("rad, m, rad/s or m/s", "integral part, per gain")
    slope: real = field("rad/s, m/s, rad/s² or m/s²", "rate of the target")
    h: real = field("s", "length of the step or of a part of it")
    step: real = field("s", "length of the step")
    error: real = field("rad, m, rad/s or m/s", "error at its start")
    of_mean: real = field("s or 1", "weight of the mean rate")
    of_end: real = field("s or 1", "weight of the rate at the end")
    yields: real = field("N m s or N s/m", "effort that it loses per mean rate")
    bound: wp.int32 = field("1", "±1 where its effort is at its limit")
    effort: real = field("N m or N", "effort")
    lent: real = field("N m or N", "what it did at the start of the step, per time of it")
    given: real = field("N m s or N s", "its impulse in the step before impulses at its end")
    held: real = field("N m or N", "what friction did at the start of the step, per time of it")


@wp.struct
class Trees:
    """The trees of a model, with what a step knows of them."""

    links: Links
    step: TreeStep
    predicted: Predicted
    servos: Steering
    joints: Joints
    remembered: JointState
    memory: TreeMemory
    count: wp.int32  # links of a world, and where those of trees begin that nothing holds
    first_floating: wp.int32
    guesses: wp.int32  # 1 where steps start with what rates gained in the last ones
    driven: wp.int32  # 1 where a joint has armature, friction or a servo
    carried: wp.int32  # 1 where a tree stands on a static body, which may move
    stepping: wp.int32  # 1 for rounds of a step, 0 for impulses
    joint_count: wp.int32
    body_count: wp.int32
