import numpy as np
import pytest

import rattleback as rb
from rattleback.characters import Clip, Figure, Joint, Muscles, Pose, Ragdoll, Skeleton, Skin, get_up, person

RUBBER = rb.Material(friction=0.9)


@pytest.fixture(scope="module")
def figure() -> Figure:
    return person(1.75)


@pytest.fixture(scope="module")
def doll(figure: Figure) -> Ragdoll:
    return Ragdoll(figure, mass=70.0)


def on_the_ground(doll: Ragdoll, *forces: rb.PythonForce, rate: int = 240) -> rb.Simulation:
    scene = rb.Scene()
    scene.add_static(rb.Plane(), material=RUBBER)
    doll.add_to(scene, material=RUBBER)
    for force in forces:
        scene.add_force(force)
    return rb.Simulation(scene, time_step=1 / rate, warn=False)


def gap(sim: rb.Simulation) -> float:
    """The farthest that the two anchors of a joint are apart, from where its bodies are [m]."""
    found = 0.0
    for joint in sim.scene.joints.values():
        ends = []
        for body, point in zip((joint.a, joint.b), joint.points(), strict=True):
            at_start = sim.scene[body]
            local = rb.rotation.rotate(rb.rotation.conjugate(at_start.orientation), point - at_start.position)
            ends.append(sim[body].position + rb.rotation.rotate(sim[body].orientation, local))
        found = max(found, float(np.linalg.norm(ends[1] - ends[0])))
    return found


def turned_too_far(sim: rb.Simulation) -> float:
    """How far the bone of a ball joint is outside its cone [rad]."""
    found = 0.0
    for joint in sim.scene.joints.values():
        if isinstance(joint, rb.Ball):
            turns = [
                rb.rotation.multiply(sim[body].orientation, rb.rotation.conjugate(sim.scene[body].orientation))
                for body in (joint.a, joint.b)
            ]
            cosine = rb.rotation.rotate(turns[0], joint.axis) @ rb.rotation.rotate(turns[1], joint.axis_b)
            found = max(found, float(np.arccos(np.clip(cosine, -1, 1)) - joint.swing))
    return found


def test_masses_add_up_and_limbs_are_alike(doll: Ragdoll) -> None:
    assert np.isclose(sum(part.mass for part in doll.parts), 70.0)
    masses = {name.removeprefix("figure_"): part.mass for name, part in zip(doll.names, doll.parts, strict=True)}
    for side in ("Arm", "ForeArm", "UpLeg", "Leg", "Foot"):
        assert np.isclose(masses[f"Left{side}"], masses[f"Right{side}"], rtol=1e-6)
    assert masses["Chest"] > masses["LeftUpLeg"] > masses["LeftLeg"] > masses["LeftFoot"]


@pytest.mark.parametrize(("name", "time"), [("walk", 0.41), ("run", 0.21), ("wave", 1.32)])
@pytest.mark.parametrize("joints", ["direct", "reduced"])
def test_hand_over_keeps_pose_and_velocities_and_joints(
    figure: Figure, doll: Ragdoll, name: str, time: float, joints: str
) -> None:
    clip, sim = figure.clips[name], on_the_ground(doll)
    sim.use(joints=joints, contacts="none")
    doll.hand_over(sim, clip, time)
    skeleton = figure.skeleton
    np.testing.assert_allclose(skeleton.matrices(doll.pose(sim)), skeleton.matrices(clip.pose(time)), atol=1e-12)
    # Velocities of the joints by differences within a stretch of the clip, in which they turn at constant rates.
    h = 1e-6
    later, before = (skeleton.matrices(clip.pose(time + dt))[:, :3, 3] for dt in (h, -h))
    v, w = clip.velocities(time)
    np.testing.assert_allclose(v, (later - before) / (2 * h), atol=1e-5)
    for part, body in zip(doll.parts, doll.names, strict=True):
        np.testing.assert_allclose(sim[body].angular_velocity, w[part.joint], atol=1e-12)
        arm = sim[body].position - skeleton.matrices(clip.pose(time))[part.joint, :3, 3]
        np.testing.assert_allclose(sim[body].velocity, v[part.joint] + np.cross(w[part.joint], arm), atol=1e-12)
    assert not doll.fallen(sim)
    before = sim.energy().total
    sim.step()
    assert sim.report.position_error < 1e-6
    assert sim.energy().total < before + 1e-6 * abs(before)


@pytest.mark.contacts
def test_a_limp_figure_falls_and_its_joints_hold(figure: Figure, doll: Ragdoll) -> None:
    sim = on_the_ground(doll, rate=480)
    doll.hand_over(sim, figure.clips["walk"], 0.3)
    start = sim.energy().total
    worst = 0.0
    for _ in range(120):
        sim.step(4)
        worst = max(worst, sim.report.position_error)
    assert max(worst, gap(sim)) < 1e-6
    assert turned_too_far(sim) < 1e-3
    assert sim.energy().total < start
    assert figure.skin.vertices(doll.pose(sim))[:, 2].max() < 1.2
    assert doll.fallen(sim)


def test_muscles_bring_every_joint_to_the_clip_as_a_damped_spring(figure: Figure, doll: Ragdoll) -> None:
    scene, stiffness = rb.Scene(gravity=(0, 0, 0)), 10.0
    doll.add_to(scene)
    goal = Clip.from_poses(figure.skeleton, figure.clips["wave"].pose([0.5, 0.5]), 10.0)
    muscles = Muscles(doll, goal, stiffness, strength=1e6)
    scene.add_force(muscles.force())
    sim = rb.Simulation(scene, time_step=1 / 960, contacts="none", warn=False)
    start = figure.clips["stand"].pose(0.0)
    doll.place(sim, start)
    sim.run(0.2)
    wanted = (1.0 + stiffness * 0.2) * np.exp(-stiffness * 0.2)
    for name in ("RightArm", "RightForeArm"):
        j = figure.skeleton.number(name)
        left, whole = (angle(pose.rotation[j], goal.pose(0.0).rotation[j]) for pose in (doll.pose(sim), start))
        assert np.isclose(left / whole, wanted, rtol=0.01)
    assert np.abs(sim.momentum().linear).max() < 1e-9  # they act from inside
    assert np.abs(sim.momentum().angular).max() < 1e-6


def test_muscles_take_another_clip(figure: Figure, doll: Ragdoll) -> None:
    ends = []
    for first, then in (("stand", "wave"), ("wave", "wave"), ("stand", "stand")):
        muscles = Muscles(doll, figure.clips[first])
        muscles.clip, muscles.start = figure.clips[then], -0.5
        sim = on_the_ground(doll, muscles.force())
        doll.hand_over(sim, figure.clips["stand"], 0.01)
        sim.step(5)
        ends.append(np.array(sim.state.position))
    np.testing.assert_array_equal(ends[0], ends[1])
    assert np.abs(ends[0] - ends[2]).max() > 1e-3
    with pytest.raises(rb.FieldError, match="The stiffness of a Muscles cannot be written"):
        muscles.stiffness = 3.0


def test_frames_that_are_not_quite_square_are_taken(figure: Figure) -> None:
    skewed = np.tile([1.0, 1.0, 1.0], (len(figure.skeleton), 1))
    skewed[:3] += [[0, 0, 3e-4], [3e-4, 0, 0], [0, 2e-4, 0]]  # as files of single precision have them, and worse
    pose = figure.clips["wave"].pose(0.8)
    doll, plain = Ragdoll(figure, hinges=False), Ragdoll(figure, hinges=False)
    found = doll.orientations(Pose(pose.rotation, pose.translation, skewed))
    np.testing.assert_allclose(np.abs((found * plain.orientations(pose)).sum(axis=-1)), 1.0, atol=1e-6)


def angle(one: np.ndarray, other: np.ndarray) -> float:
    return float(2.0 * np.arccos(min(1.0, abs(one @ other))))


@pytest.mark.contacts
def test_limp_joints_are_left_alone(figure: Figure, doll: Ragdoll) -> None:
    muscles = Muscles(doll, figure.clips["wave"], limp=["RightForeArm", "RightHand"])
    sim = on_the_ground(doll, muscles.force())
    doll.hand_over(sim, figure.clips["stand"], 0.01)
    sim.step(5)
    torques = dict(zip(doll.names, muscles._torques, strict=True))
    assert np.abs(torques["figure_RightHand"]).max() == 0.0
    assert np.abs(torques["figure_LeftHand"]).max() > 0.0


@pytest.mark.contacts
def test_muscles_are_no_stronger_than_said_and_hold_a_figure_up_a_while(figure: Figure, doll: Ragdoll) -> None:
    falls = {}
    for strength in (300.0, 0.0):
        muscles = Muscles(doll, figure.clips["stand"], strength=strength)
        sim = on_the_ground(doll, muscles.force())
        doll.hand_over(sim, figure.clips["stand"], 0.01)
        for _ in range(100):
            sim.step()
            _, torques = muscles._pull(muscles._time, None)
            assert np.linalg.norm(torques, axis=1).max() <= 3 * strength  # a part has three joints at most
        falls[strength] = doll.fallen(sim)
    assert falls == {300.0: False, 0.0: True}


def test_a_pose_that_a_hinge_cannot_take_is_refused(figure: Figure, doll: Ragdoll) -> None:
    sim = on_the_ground(doll)
    twisted = figure.skeleton.posed({"LeftLeg": rb.rotation.quaternion_from_axis_angle((0, 0, 1), 0.2)})
    with pytest.raises(rb.InputError, match=r"'LeftLeg' of 'figure' is a hinge, and the pose turns it by 0.2 rad"):
        doll.place(sim, twisted)
    bent = figure.skeleton.posed({"Head": rb.rotation.quaternion_from_axis_angle((0, 1, 0), -1.2)})
    with pytest.raises(rb.InputError, match=r"Joint 'Head' of 'figure' swings by 1.2 rad and twists by .* its limits"):
        doll.place(sim, bent)
    free = Ragdoll(figure, hinges=False, limits=False)
    sim = on_the_ground(free)
    free.place(sim, twisted)
    np.testing.assert_allclose(figure.skeleton.matrices(free.pose(sim)), figure.skeleton.matrices(twisted), atol=1e-12)


def test_a_skin_in_pieces_is_refused() -> None:
    skeleton = Skeleton([Joint("a"), Joint("b", "a", (0, 0, 1.0)), Joint("c", "a", (1.0, 0, 0))])
    cloud = np.random.default_rng(0).normal(size=(40, 3))
    joints = np.repeat([[1], [2]], 20, axis=0)
    skin = Skin(skeleton, cloud, [[0, 1, 2]], joints=joints, weights=np.ones((40, 1)))
    with pytest.raises(rb.InputError, match=r"no part that joins \['b', 'c'\]; a ragdoll hangs together"):
        Ragdoll(Figure(skeleton, skins={"cloud": skin}))


@pytest.mark.contacts
@pytest.mark.parametrize("push", [2.0, -2.0])
def test_a_figure_that_fell_gets_up_without_a_jump(figure: Figure, doll: Ragdoll, push: float) -> None:
    sim = on_the_ground(doll, rate=480)
    doll.hand_over(sim, figure.clips["stand"], 0.01)
    sim["figure_Chest"].velocity = (push, 0, 0)
    sim.run(1.2)
    assert doll.fallen(sim)
    clip = get_up(doll, sim)
    skeleton = figure.skeleton
    lying = skeleton.matrices(doll.pose(sim))
    np.testing.assert_allclose(skeleton.matrices(clip.pose(0.0)), lying, atol=1e-12)
    v, w = clip.velocities(0.0)
    for part, name in zip(doll.parts, doll.names, strict=True):
        body = sim[name]
        np.testing.assert_allclose(w[part.joint], body.angular_velocity, atol=1e-12)
        arm = lying[part.joint, :3, 3] - body.position
        np.testing.assert_allclose(v[part.joint], body.velocity + np.cross(body.angular_velocity, arm), atol=1e-6)
    points = skeleton.matrices(clip.pose(np.linspace(0, 2, 81)))[..., :3, 3]
    assert points[..., 2].min() > 0.0
    stood = skeleton.matrices(figure.clips["stand"].pose(0.0))[0, 2, 3]
    assert np.isclose(points[-1, 0, 2], stood, atol=0.02)
    with pytest.raises(rb.InputError, match="The seconds of getting up"):
        get_up(doll, sim, seconds=0.0)


@pytest.mark.contacts
def test_a_figure_that_keeps_its_balance_stands(figure: Figure, doll: Ragdoll) -> None:
    stood = balanced(doll, figure.clips["stand"], 2.0)
    assert not doll.fallen(stood)
    # Its weight lies within its feet, and it is at rest.
    assert np.abs(stood["figure_Head"].velocity).max() < 0.05
    assert doll.fallen(balanced(doll, figure.clips["stand"], 1.0, strength=10.0))


@pytest.mark.slow
@pytest.mark.contacts
@pytest.mark.parametrize("name", ["stand", "march", "wave"])
def test_a_figure_follows_its_clip_on_the_spot_for_ten_seconds(figure: Figure, doll: Ragdoll, name: str) -> None:
    assert not doll.fallen(balanced(doll, figure.clips[name], 10.0))


def balanced(doll: Ragdoll, clip: Clip, seconds: float, strength: float = 150.0) -> rb.Simulation:
    """A simulation of a figure that follows a clip and keeps its balance, until it falls."""
    muscles = Muscles(doll, clip, strength=strength, balance=True)
    sim = on_the_ground(doll, muscles.force(), rate=160)
    doll.hand_over(sim, clip, 0.01)
    muscles.start = -0.01
    while sim.time < seconds and not doll.fallen(sim):
        sim.step(5)
        assert np.linalg.norm(muscles._torques, axis=1).max() <= 3 * strength
    return sim


@pytest.mark.contacts
def test_a_ball_that_hits_a_figure_gives_it_its_momentum(figure: Figure, doll: Ragdoll) -> None:
    scene = rb.Scene(gravity=(0, 0, 0))
    doll.add_to(scene)
    scene.add_body(rb.Sphere(0.12), mass=4.0, position=(-1.0, 0.05, 1.35), velocity=(6, 0, 0), name="ball")
    sim = rb.Simulation(scene, time_step=1 / 480, warn=False)
    doll.place(sim, figure.clips["stand"].pose(0.0))
    start = sim.energy().total
    sim.run(0.5)
    np.testing.assert_allclose(sim.momentum().linear, (24, 0, 0), atol=1e-9)
    assert sim["ball"].velocity[0] < 3.0
    assert sim["figure_Chest"].velocity[0] > 0.1
    assert sim.energy().total < start + 1e-9
    assert gap(sim) < 1e-6


def test_muscles_take_another_clip_while_they_run(figure: Figure, doll: Ragdoll) -> None:
    muscles = Muscles(doll, figure.clips["stand"])
    muscles.clip, muscles.strength = figure.clips["wave"], 20.0
    assert muscles.clip.name == "wave"
    with pytest.raises(rb.InputError, match="not to the skeleton of the ragdoll; characters.retarget takes it there"):
        muscles.clip = person().clips["walk"]
    with pytest.raises(rb.InputError, match="The strength of muscles"):
        muscles.strength = -1.0
