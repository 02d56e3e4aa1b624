"""Trees from scenes move their bodies as the dynamics do, and looks follow links by name."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import rattleback as rb
from rattleback.kinematics import Look, Tree, models, sticks


def pendulum(**limits):
    scene = rb.Scene(gravity=(0.3, 0.5, -9.81), name="double")
    upper = scene.add_body(rb.Box(1.0, 0.1, 0.1), position=(0.5, 0, 0), name="upper")
    lower = scene.add_body(
        rb.Box(0.1, 0.1, 0.8),
        position=(1, 0, -0.4),
        name="lower",
        orientation=Rotation.from_rotvec([0, 0, 1]).as_quat(),
    )
    scene.add_joint(rb.Revolute(scene.world, upper, at=(0, 0, 0), axis=(0, 1, 0), **limits), "shoulder")
    scene.add_joint(rb.Revolute(lower, upper, at=(1, 0, 0), axis=(1, 1, 0)), "elbow")
    return scene


def bodies(sim, names):
    """Frames of bodies of a simulation; boxes have their centre of mass at the origin of their frame."""
    found = np.tile(np.eye(4), (len(names), 1, 1))
    for frame, name in zip(found, names, strict=True):
        frame[:3, :3], frame[:3, 3] = Rotation.from_quat(sim[name].orientation).as_matrix(), sim[name].position
    return found


def test_a_tree_puts_the_bodies_where_the_dynamics_has_them():
    scene = pendulum()
    tree, sim = Tree.from_scene(scene), rb.Simulation(scene, time_step=0.01, position_tolerance=1e-10)
    assert tree.coordinates == ("shoulder", "elbow")
    for _ in range(5):
        sim.run(0.1)
        q = [sim["shoulder"].angle, sim["elbow"].angle]
        assert np.abs(q).max() > 0.01
        frames = np.array([tree.forward(q, name) for name in ("upper", "lower")])
        np.testing.assert_allclose(frames, bodies(sim, ["upper", "lower"]), atol=1e-8)


COORDINATES = ("Ball", "Planar", "Cylindrical", "Prismatic", "Universal", "Screw", "PointOnLine", "FixedOrientation")
COORDINATES += ("PointOnPlane", "CommonDirection", "DoubleRotation")


@pytest.mark.parametrize("backwards", [False, True])
def test_every_joint_with_coordinates_moves_its_body_within_what_it_allows(backwards):
    rng = np.random.default_rng(4)
    for kind in COORDINATES:
        crossed = {"axis_b": (0.6, 0.8, 0.0)}
        options = {"Universal": crossed, "DoubleRotation": crossed, "Screw": {"pitch": 0.2}}.get(kind, {})
        scene = rb.Scene(gravity=(0, 0, 0), name=kind)
        turn = Rotation.random(random_state=3).as_quat()
        box = scene.add_body(rb.Box(0.1, 0.2, 0.3), position=(0.3, 0.1, 0.2), orientation=turn, name="box")
        ends = (box, scene.world) if backwards else (scene.world, box)
        joint = scene.add_joint(getattr(rb, kind)(*ends, at=(0.1, 0.2, 0.3), axis=(0, 0, 1), **options), "joint")
        tree = Tree.from_scene(scene)
        assert len(tree.coordinates) == len(joint.freedoms)
        np.testing.assert_allclose(
            tree.forward(np.zeros(len(tree.coordinates)), "box")[:3, 3], box.position, atol=1e-12
        )
        frame = tree.forward(rng.uniform(0.2, 1, len(tree.coordinates)), "box")
        assert np.abs(frame[:3, 3] - box.position).max() > 0.01
        sim = rb.Simulation(scene, time_step=1e-9, position_tolerance=1e-12)
        sim["box"].position, sim["box"].orientation = frame[:3, 3], Rotation.from_matrix(frame[:3, :3]).as_quat()
        before = bodies(sim, ["box"])
        sim.step()  # a joint that is violated pulls its body back as fast as it may
        np.testing.assert_allclose(bodies(sim, ["box"]), before, atol=1e-12, err_msg=kind)


def test_stops_become_limits():
    tree = Tree.from_scene(pendulum(limits=(-0.5, None)))
    np.testing.assert_allclose(tree.lower, [-0.5, -np.inf])
    np.testing.assert_allclose(tree.upper, [np.inf, np.inf])


def test_a_joint_of_several_freedoms_is_a_series_of_links_without_length():
    scene = rb.Scene()
    arm = scene.add_body(rb.Box(1, 0.1, 0.1), position=(0.5, 0, 0), name="arm")
    scene.add_joint(rb.Ball(scene.world, arm, at=(0, 0, 0)), "hip")
    tree = Tree.from_scene(scene)
    assert tree.coordinates == ("hip.turn_x", "hip.turn_y", "hip.turn_z")
    q = np.array([0.3, -0.4, 0.5])
    turn = Rotation.from_euler("XYZ", q)
    np.testing.assert_allclose(tree.forward(q, "arm")[:3, 3], turn.apply([0.5, 0, 0]), atol=1e-15)


def test_a_screw_moves_by_its_pitch_in_a_turn():
    scene = rb.Scene()
    nut = scene.add_body(rb.Box(0.1, 0.1, 0.1), position=(0, 0, 0.4), name="nut")
    scene.add_joint(rb.Screw(scene.world, nut, at=(0, 0, 0), at_b=(0, 0, 0.4), pitch=0.02), "thread")
    tree = Tree.from_scene(scene)
    np.testing.assert_allclose(tree.forward([0.0], "nut")[:3, 3], [0, 0, 0.4], atol=1e-15)
    np.testing.assert_allclose(tree.forward([4.0 * np.pi], "nut")[:3, 3], [0, 0, 0.44], atol=1e-14)


def test_static_bodies_and_bodies_as_roots_stay_where_they_are():
    scene = rb.Scene()
    ground = scene.add_static(rb.Box(1, 1, 1), position=(0, 0, -0.5), name="ground")
    cart = scene.add_body(rb.Box(1, 1, 1), position=(2, 0, 0.5), name="cart")
    wheel = scene.add_body(rb.Sphere(0.2), position=(2, 1, 0.5), name="wheel")
    scene.add_joint(rb.Prismatic(ground, cart, at=(0, 0, 0), at_b=(2, 0, 0), axis=(1, 0, 0)), "rail")
    scene.add_joint(rb.Revolute(cart, wheel, at=(2, 1, 0.5), axis=(0, 1, 0)), "axle")
    whole, part = Tree.from_scene(scene), Tree.from_scene(scene, root=cart)
    np.testing.assert_allclose(whole.forward([2.3, 0.1], "wheel")[:3, 3], [2.3, 1, 0.5], atol=1e-15)
    assert part.coordinates == ("axle",)
    np.testing.assert_allclose(part.forward([0.4], "wheel")[:3, 3], [2, 1, 0.5], atol=1e-15)


def looped():
    scene = pendulum()
    scene.add_joint(rb.Ball(scene.world, "lower", at=(1, 0, -0.8)), "foot")
    return scene


def test_a_joint_that_closes_a_loop_may_be_left_out():
    assert Tree.from_scene(looped(), leave_out=["foot"]).coordinates == ("shoulder", "elbow")


def geared():
    scene = pendulum()
    free = scene.add_body(rb.Sphere(0.1), position=(3, 0, 0), name="free")
    scene.add_joint(rb.Distance("lower", free, at=(1, 0, -0.4), at_b=(3, 0, 0)), "rod")
    return scene


REFUSED = [
    (
        lambda: Tree.from_scene(looped()),
        "Joint 'foot' closes a loop; a tree has none. Name a joint of the loop in leave_out=.",
    ),
    (lambda: Tree.from_scene(geared()), "Joint 'rod' is a Distance, which has no coordinates of its own; name it"),
    (lambda: Tree.from_scene(rb.Scene()), "Nothing that moves hangs on 'world' in scene 'scene'"),
    (lambda: Tree.from_scene(pendulum(), root="upperr"), "There is no body 'upperr'. Did you mean 'upper'?"),
    (lambda: Tree.from_scene(pendulum(), leave_out=["elbo"]), "There is no joint 'elbo' to leave out. Did you mean"),
    (lambda: Look({"arm": 3}), "The look of link 'arm' is 3; it must be a shape, such as rb.Sphere(0.1)."),
]


@pytest.mark.parametrize(("build", "message"), REFUSED)
def test_what_is_no_tree_is_refused_in_a_sentence(build, message):
    with pytest.raises(rb.RattlebackError) as caught:
        build()
    assert message in str(caught.value)


def test_one_motion_drives_several_looks():
    tree = models.planar_2r()
    q = tree.random(5, seed=1)
    plain = Look(
        {"joint1": rb.Sphere(0.1), "joint2": [rb.Placed(rb.Box(1, 0.1, 0.1), position=(0.5, 0, 0))], "no": rb.Sphere(1)}
    )
    shown = plain.of(tree, q)
    assert [part.link for part in shown] == ["joint1", "joint2"]
    middle = 0.5 * (tree.forward(q, "joint2") + tree.forward(q))[:, :3, 3]
    np.testing.assert_allclose(shown[1].frame[:, :3, 3], middle, atol=1e-15)
    ends = [part.frame[..., :3, 3] for part in sticks(tree).of(tree, q)]
    np.testing.assert_allclose(ends[-1], middle, atol=1e-15)


@pytest.mark.parametrize("model", ["puma560", "hand", "snake"])
def test_sticks_reach_from_joint_to_joint(model):
    tree = getattr(models, model)()
    q = tree.random(1, seed=2)[0]
    for part in sticks(tree, radius=0.001).of(tree, q):
        if isinstance(part.shape, rb.Capsule):
            half = 0.5 * part.shape.length - 0.001
            ends = [part.frame[:3, 3] + side * half * part.frame[:3, 2] for side in (-1.0, 1.0)]
            joint = tree.forward(q, part.link)[:3, 3]
            assert min(np.linalg.norm(end - joint) for end in ends) < 1e-12
