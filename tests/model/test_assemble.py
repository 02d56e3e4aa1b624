"""Scenes put together before the start, against closed forms and conditions written down with SciPy's rotations."""

import dataclasses
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

import rattleback as rb
from rattleback import joints, scenes

TOLERANCE = 1e-9
# What a joint needs besides its place.
EXTRA = {
    "distance": {"length": 0.7},
    "distance_to_line": {"length": 0.4},
    "distance_to_plane": {"length": -0.3},
    "screw": {"pitch": 0.2},
    "gear": {"radii": (0.3, 0.5)},
    "rack": {"radius": 0.3},
    "velocity_joint": {"linear": (1.0, None, None)},
}
PLACE = {"at": None, "axis": None, "at_b": None, "axis_b": None}


def conditions(kind, joint, ends):
    """What must vanish, from the frames of A and B in the world."""
    (p, A), (q, B) = ends
    d = q - p
    along, turn = A.T @ d, A.T @ B
    parallel, same, apart = turn[:, 2] - (0, 0, 1), turn - np.eye(3), turn[2, 2]
    length = getattr(joint, "length", None)
    return {
        "ball": [d],
        "point_on_line": [along[:2]],
        "point_on_plane": [along[2]],
        "fixed_orientation": [same],
        "common_direction": [parallel],
        "double_rotation": [apart],
        "revolute": [d, parallel],
        "cylindrical": [along[:2], parallel],
        "prismatic": [along[:2], same],
        "universal": [d, apart],
        "fixed": [d, same],
        "planar": [along[2], parallel],
        "distance": [np.linalg.norm(d) - (length or 0)],
        "distance_to_line": [math.hypot(*along[:2]) - (length or 0)],
        "distance_to_plane": [along[2] - (length or 0)],
        "screw": [along[:2], parallel, along[2] - 0.2 / (2 * math.pi) * math.atan2(turn[1, 0], turn[0, 0])],
        "gear": [0.3 * math.atan2(along[1], along[0]) - 0.5 * math.atan2(B[:, 1] @ d, -B[:, 0] @ d)],
        "rack": [d @ B[:, 2] + 0.3 * math.atan2(turn[1, 0], turn[0, 0])],
        "velocity_joint": [0.0],
    }[kind]


def pose(scene, name):
    """Origin and rotation of a body's frame."""
    if name == "world":
        return np.zeros(3), Rotation.identity()
    return scene[name].origin, Rotation.from_quat(scene[name].orientation)


def ends_in_world(scene, joint):
    """The frames of a joint that is placed by frames, as points and matrices."""
    found = []
    for name, (point, turn) in ((joint.a, joint.frame_a), (joint.b, joint.frame_b)):
        origin, q = pose(scene, name)
        found.append((origin + q.apply(point), (q * Rotation.from_quat(turn)).as_matrix()))
    return found


def largest_error(scene):
    kinds = {known: kind for kind, known in joints.MENU.items()}
    parts = [conditions(kinds[type(j)], j, ends_in_world(scene, j)) for j in scene.joints.values()]
    return max(np.abs(value).max() for conditions_ in parts for value in conditions_)


def by_frames(scene, joint):
    """A joint placed in the world, placed by frames instead."""
    frames = {}
    for side, name, point, turn in zip("ab", (joint.a, joint.b), joint.points(), joint.frames(), strict=True):
        origin, q = pose(scene, name)
        frames[f"frame_{side}"] = (q.inv().apply(point - origin), (q.inv() * Rotation.from_quat(turn)).as_quat())
    return dataclasses.replace(joint, **PLACE, **frames)


def torn(scene, seed, far, turn):
    """The scene with every body moved by up to ``far`` along each axis and turned by up to ``turn``."""
    random, twin = np.random.default_rng(seed), rb.Scene(scene.gravity)
    for body in scene.bodies:
        if body.static:
            twin.add_static(body.shape, name=body.name, position=body.position, orientation=body.orientation)
            continue
        axis = random.standard_normal(3)
        by = Rotation.from_rotvec(random.uniform(0, turn) * axis / np.linalg.norm(axis))
        twin.add_body(
            body.shape,
            mass=body.mass,
            inertia=body.inertia,
            name=body.name,
            position=body.position + random.uniform(-far, far, 3),
            orientation=(by * Rotation.from_quat(body.orientation)).as_quat(),
        )
    for name, joint in scene.joints.items():
        twin.add_joint(by_frames(scene, joint), name=name)
    return twin


def random_frame(random):
    return random.uniform(-0.5, 0.5, 3), Rotation.random(rng=random).as_quat()


def scattered(seed, kinds, parents):
    """Bodies in random poses; number k + 1 hangs by a joint of kind k at body parents[k], number 0 is in the world."""
    random, scene = np.random.default_rng(seed), rb.Scene()
    for k in range(len(kinds) + 1):
        place = {"position": random.uniform(-5, 5, 3), "orientation": Rotation.random(rng=random).as_quat()}
        scene.add_body(rb.Box(1.0, 0.2, 0.3), name=f"b{k}", **place)
    for k, (kind, parent) in enumerate(zip(kinds, parents, strict=True)):
        frames = {"frame_a": random_frame(random), "frame_b": random_frame(random)}
        scene.add_joint(joints.MENU[kind](f"b{parent}", f"b{k + 1}", **frames, **EXTRA.get(kind, {})))
    return scene


def poses(scene):
    return [(body, body.position.tobytes(), body.orientation.tobytes()) for body in scene.bodies]


@pytest.mark.parametrize("kind", joints.MENU)
@pytest.mark.parametrize("seed", range(5))
def test_every_joint_closes_from_random_poses(kind, seed):
    scene = scattered(seed, [kind], [0])
    report = scene.assemble(tolerance=TOLERANCE)
    assert largest_error(scene) <= TOLERANCE
    assert max(report.position_error, report.orientation_error) <= TOLERANCE
    assert report.redundant_rows == 0


@given(st.integers(0, 2**32 - 1), st.data())
def test_any_tree_of_joints_closes_from_random_poses(seed, data):
    kinds = data.draw(st.lists(st.sampled_from(sorted(joints.MENU)), min_size=1, max_size=6))
    scene = scattered(seed, kinds, [data.draw(st.integers(0, k)) for k in range(len(kinds))])
    scene.assemble(tolerance=TOLERANCE)
    assert largest_error(scene) <= TOLERANCE


@pytest.mark.parametrize("seed", range(5))
def test_a_chain_of_fifty_scattered_over_ten_metres_closes(seed):
    scene = torn(scenes.chain(50), seed, 5.0, math.pi)
    assert scene.assemble().redundant_rows == 0
    assert largest_error(scene) <= TOLERANCE


@pytest.mark.parametrize(
    ("make", "redundant"),
    [(lambda: scenes.four_bar(2), 6), (scenes.loops, 9), (scenes.bricard, 1), (scenes.six_bar, 1)],
)
@pytest.mark.parametrize(("far", "turn"), [(0.1, 0.3), (1.0, 1.0)])
def test_loops_close_and_their_redundant_rows_are_counted(make, redundant, far, turn):
    scene = torn(make(), 3, far, turn)
    assert scene.assemble().redundant_rows == redundant
    assert largest_error(scene) <= TOLERANCE


def test_two_bodies_held_at_their_centres_meet_halfway_without_turning():
    scene = rb.Scene()
    for name, x in (("left", -2.0), ("right", 2.0)):
        scene.add_body(rb.Sphere(0.5), name=name, position=(x, 1.0, 0.0), velocity=(0.0, x, 0.0))
    scene.add_joint(rb.Ball("left", "right", at=(-2, 1, 0), at_b=(2, 1, 0)))
    scene.assemble()
    for name, x in (("left", -2.0), ("right", 2.0)):
        np.testing.assert_allclose(scene[name].position, (0, 1, 0), atol=1e-9)
        np.testing.assert_allclose(scene[name].orientation, (0, 0, 0, 1), atol=1e-12)
        assert scene[name].velocity.tolist() == [0.0, x, 0.0]


def test_a_chain_of_fixed_joints_takes_the_only_poses_there_are():
    scene = scattered(7, ["fixed"] * 5, range(5))
    base = scene["b0"]
    scene.assemble(fixed=["b0"])
    place = np.eye(4)
    place[:3, :3], place[:3, 3] = Rotation.from_quat(base.orientation).as_matrix(), base.position
    for k, joint in enumerate(scene.joints.values()):
        there, back = np.eye(4), np.eye(4)
        for frame, matrix in ((joint.frame_a, there), (joint.frame_b, back)):
            matrix[:3, :3], matrix[:3, 3] = Rotation.from_quat(frame[1]).as_matrix(), frame[0]
        place = place @ there @ np.linalg.inv(back)
        np.testing.assert_allclose(scene[f"b{k + 1}"].position, place[:3, 3], atol=1e-8)
        found = Rotation.from_quat(scene[f"b{k + 1}"].orientation).as_matrix()
        np.testing.assert_allclose(found, place[:3, :3], atol=1e-8)


def four_bar(coupler=3.0, rocker=2.5, angle=1.2):
    """Crank of 1 m at an angle, coupler and rocker lying about; the ground bar has 3.5 m."""
    scene = rb.Scene(name="four_bar")
    lengths = {"crank": 1.0, "coupler": coupler, "rocker": rocker}
    turn = (0, 0, math.sin(0.5 * angle), math.cos(0.5 * angle))
    start = (0.5 * math.cos(angle), 0.5 * math.sin(angle), 0)
    places = {"crank": (start, turn), "coupler": ((2, 3, 1), (0, 0, 0, 1)), "rocker": ((5, -1, 0.5), (0, 0, 0, 1))}
    for name, length in lengths.items():
        scene.add_body(
            rb.Box(length, 0.1, 0.1), mass=1.0, name=name, position=places[name][0], orientation=places[name][1]
        )

    def end(name, sign):
        return ((sign * 0.5 * lengths[name], 0, 0), (0, 0, 0, 1))

    ground = {"A": ((0, 0, 0), (0, 0, 0, 1)), "D": ((3.5, 0, 0), (0, 0, 0, 1))}
    scene.add_joint(rb.Revolute("world", "crank", frame_a=ground["A"], frame_b=end("crank", -1)), name="A")
    scene.add_joint(rb.Revolute("crank", "coupler", frame_a=end("crank", 1), frame_b=end("coupler", -1)), name="B")
    scene.add_joint(rb.Revolute("coupler", "rocker", frame_a=end("coupler", 1), frame_b=end("rocker", 1)), name="C")
    scene.add_joint(rb.Revolute("world", "rocker", frame_a=ground["D"], frame_b=end("rocker", -1)), name="D")
    return scene


def test_a_four_bar_closes_where_its_circles_meet():
    scene = four_bar()
    crank = scene["crank"]
    report = scene.assemble(fixed="crank")
    assert report.redundant_rows == 8  # 20 rows, and two bars with 12 motions, none of which is left
    assert scene["crank"] is crank
    b, d = np.array([math.cos(1.2), math.sin(1.2)]), np.array([3.5, 0.0])
    reach = np.linalg.norm(d - b)
    along = (d - b) / reach
    foot = (3.0**2 - 2.5**2 + reach**2) / (2 * reach)
    side = math.sqrt(3.0**2 - foot**2) * np.array([-along[1], along[0]])
    meeting = [b + foot * along + side, b + foot * along - side]
    found = scene["coupler"].position + Rotation.from_quat(scene["coupler"].orientation).apply((1.5, 0, 0))
    assert abs(found[2]) < 1e-8
    assert min(np.linalg.norm(found[:2] - point) for point in meeting) < 1e-8


def test_a_loop_that_cannot_close_is_refused_by_name_and_nothing_moves():
    scene = four_bar(coupler=0.5, rocker=1.0)
    before, held = poses(scene), dict(scene.joints)
    with pytest.raises(
        rb.NotConverged, match=r"'four_bar' cannot be assembled: joint '[A-D]' of .* is still off by"
    ) as e:
        scene.assemble()
    assert "seem to forbid it. Nothing was moved." in str(e.value)
    assert poses(scene) == before
    assert all(scene.joints[name] is joint for name, joint in held.items())


def test_too_few_iterations_are_said_to_be_used_up():
    scene = torn(scenes.bricard(), 1, 5.0, 3.0)
    before = poses(scene)
    with pytest.raises(rb.NotConverged, match="when the 2 iterations allowed are used up. Nothing was moved"):
        scene.assemble(max_iterations=2)
    assert poses(scene) == before


def test_an_open_joint_between_bodies_that_must_not_move_is_refused():
    scene = rb.Scene()
    for name, x in (("left", -2.0), ("right", 2.0)):
        scene.add_body(rb.Sphere(0.5), name=name, position=(x, 1.0, 0.0))
    scene.add_joint(rb.Ball("left", "right", at=(-2, 1, 0), at_b=(2, 1, 0)), name="rope")
    with pytest.raises(rb.NotConverged, match="joint 'rope' of 'left' and 'right' is still off by 4 m"):
        scene.assemble(fixed=["left", scene["right"]])


@pytest.mark.parametrize("name", sorted(scenes.MENU))
def test_a_closed_scene_does_not_move_at_all(name):
    scene = scenes.MENU[name].build()
    before, held = poses(scene), dict(scene.joints)
    assert scene.assemble().iterations == 0
    assert poses(scene) == before
    assert all(scene.joints[label] is joint for label, joint in held.items())


def test_static_bodies_fixed_groups_and_closed_mechanisms_stay_as_they_are():
    scene = rb.Scene()
    wall = scene.add_static(rb.Box(1, 1, 1), name="wall", position=(0, 0, 3))
    arm = scene.add_body(rb.Box(1, 0.1, 0.1), name="arm", position=(4, 0, 0), group="arms")
    hand = scene.add_body(rb.Box(1, 0.1, 0.1), name="hand", position=(9, 2, 0))
    closed = [scene.add_body(rb.Sphere(0.1), name=f"ball_{k}", position=(k, 7, 0)) for k in range(2)]
    scene.add_joint(rb.Ball(wall, hand, at=(0, 0, 2.5), at_b=(9.5, 2, 0)))
    scene.add_joint(rb.Distance(hand, arm, at=(8.5, 2, 0), at_b=(4.5, 0, 0), length=4.5))
    scene.add_joint(rb.Ball(*closed, at=(0.5, 7, 0)))
    scene.assemble(fixed=["arms"])
    assert [scene[name] for name in ("wall", "arm", "ball_0", "ball_1")] == [wall, arm, *closed]
    assert scene["hand"] is not hand
    assert scene.groups == {"arms": [arm]}
    scene.add_body(rb.Sphere(0.1), name="late", group="arms")
    assert scene.index(hand) == 2


def test_the_members_of_a_group_are_the_bodies_as_they_start_now():
    scene = rb.Scene()
    scene.add_body(rb.Box(1, 0.1, 0.1), name="arm", position=(4, 0, 0), group="arms")
    scene.add_joint(rb.Ball(scene.world, "arm", at=(0, 0, 0), at_b=(3.5, 0, 0)))
    scene.assemble()
    assert scene.groups["arms"] == [scene["arm"]]


def test_a_body_turned_by_exactly_half_a_turn_is_turned_back():
    scene = rb.Scene()
    scene.add_body(rb.Box(1, 0.1, 0.1), name="arm", position=(0, 0, 0), orientation=(1, 0, 0, 0))
    place = ((0, 0, 0), (0, 0, 0, 1))
    scene.add_joint(rb.Fixed("world", "arm", frame_a=place, frame_b=place))
    scene.assemble()
    assert largest_error(scene) <= TOLERANCE


def test_a_hinge_mounted_the_other_way_round_stays_so():
    scene = rb.Scene()
    scene.add_body(rb.Box(1, 0.1, 0.1), name="arm", position=(3, 0, 0))
    scene.add_joint(rb.Revolute("world", "arm", at=(0, 0, 0), axis=(0, 0, 1), at_b=(2.5, 0, 0), axis_b=(0, 0, -1)))
    scene.assemble()
    up = Rotation.from_quat(scene["arm"].orientation).apply((0, 0, 1))
    np.testing.assert_allclose(up, (0, 0, 1), atol=1e-8)


def test_an_assembled_scene_is_the_same_after_a_file(tmp_path):
    scene = rb.Scene()
    for k in range(3):
        scene.add_body(rb.Box(1, 0.1, 0.1), name=f"b{k}", position=(2 * k, 0, 0), orientation=(0, 0.6, 0, 0.8))
    scene.add_joint(rb.Universal("b0", "b1", at=(0.5, 0, 0), at_b=(1.5, 0, 0), axis=(0, 1, 0), axis_b=(0, 0, 1)))
    scene.add_joint(rb.Prismatic("b1", "b2", at=(2.5, 0, 0), at_b=(3.5, 1, 0), axis=(1, 0, 0)))
    scene.assemble()
    scene.save(tmp_path / "scene.rb.json")
    twin = rb.Scene.load(tmp_path / "scene.rb.json")
    assert twin.assemble().iterations == 0
    assert largest_error(twin) <= TOLERANCE


def test_what_cannot_be_used_is_refused():
    scene = torn(scenes.chain(2), 0, 1.0, 1.0)
    with pytest.raises(rb.InputError, match="The tolerance of assemble is 0"):
        scene.assemble(tolerance=0)
    with pytest.raises(rb.InputError, match="The max_iterations of assemble is 0"):
        scene.assemble(max_iterations=0)
    with pytest.raises(rb.UnknownName, match="There is no body 'bsae'"):
        scene.assemble(fixed="bsae")
    with pytest.raises(rb.UnknownName, match="There is no body 5"):
        scene.assemble(fixed=5)


def test_a_scene_too_large_for_numbers_is_refused():
    scene = rb.Scene()
    scene.add_body(rb.Sphere(0.5), name="ball")
    scene.add_joint(rb.Ball("world", "ball", at=(1e200, 0, 0)), name="far")
    scene.add_joint(rb.Ball("world", "ball", at=(0, 0, 0), at_b=(0, 1e200, 0)), name="farther")
    with pytest.raises(rb.InputError, match="Joint 'far' or one it hangs together with is too far away"):
        scene.assemble()


def test_a_scene_without_joints_is_assembled():
    scene = rb.Scene()
    scene.add_body(rb.Sphere(0.5))
    assert scene.assemble().worst_joint == ""
