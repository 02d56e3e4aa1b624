"""URDF: inertias in turned frames, merged links, limits, mimic joints, meshes, loops; and what is refused."""

import math
from pathlib import Path

import numpy as np
import pytest

import rattleback as rb
from rattleback.maths.rotation import matrix_from_euler

EXAMPLES = Path(__file__).resolve().parents[3] / "examples" / "robots"
ARM = EXAMPLES / "arm.urdf"
TENSOR = '<inertia ixx="0.1" iyy="0.2" izz="0.2" ixy="0" ixz="0" iyz="0"/>'
BAR = f'<inertial><origin xyz="{{x}} 0 0"/><mass value="2"/>{TENSOR}</inertial>'


def link(name: str, x: float = 0.5, more: str = "") -> str:
    return f'<link name="{name}">{BAR.format(x=x)}{more}</link>'


def joint(name: str, parent: str, child: str, kind: str = "continuous", more: str = "") -> str:
    ends = f'<parent link="{parent}"/><child link="{child}"/>'
    return f'<joint name="{name}" type="{kind}">{ends}<axis xyz="0 1 0"/>{more}</joint>'


@pytest.fixture
def robot(tmp_path: Path):
    def write(*parts: str, name: str = "robot.urdf") -> Path:
        path = tmp_path / name
        path.write_text(f'<robot name="r">{"".join(parts)}</robot>')
        return path

    return write


def test_the_example_is_kept_but_for_the_pinion_of_its_gripper() -> None:
    report = rb.Scene.from_file(ARM).import_report
    assert report.format == "URDF"
    assert report.dropped == []
    assert [entry.place.split("/")[-1] for entry in report.approximated] == ["mimic"]
    assert len(report.kept) > 200
    assert report.summary() in str(report)


def test_a_turned_inertial_frame_turns_the_inertia(robot) -> None:
    inertial = '<inertial><origin xyz="0.1 0.2 0.3" rpy="0.3 -0.4 0.5"/><mass value="2"/>'
    tensor = '<inertia ixx="0.3" iyy="0.2" izz="0.25" ixy="0.01" ixz="0.02" iyz="-0.03"/></inertial>'
    path = robot(f'<link name="a">{inertial}{tensor}</link>')
    body = rb.Scene.from_file(path, base="floating")["a"]
    turn = matrix_from_euler([0.3, -0.4, 0.5], "xyz")
    own = np.array([[0.3, 0.01, 0.02], [0.01, 0.2, -0.03], [0.02, -0.03, 0.25]])
    np.testing.assert_allclose(body.inertia, turn @ own @ turn.T, rtol=0, atol=1e-15)
    np.testing.assert_array_equal(body.center_of_mass, (0.1, 0.2, 0.3))


def test_links_fixed_to_each_other_are_one_body_with_two_names(robot) -> None:
    place = '<origin xyz="0 0 1" rpy="0 0 1.5707963267948966"/>'
    path = robot(link("a"), link("b"), joint("glue", "a", "b", "fixed", place))
    scene = rb.Scene.from_file(path, base="floating")
    assert [body.name for body in scene.bodies] == ["a"]
    body = scene["a"]
    np.testing.assert_allclose(body.center_of_mass, (0.25, 0.25, 0.5), atol=1e-15)
    # Two bars, along x and along y, each 2 kg, their centres (±0.25, ∓0.25, ∓0.5) from the common one.
    d = np.array([0.25, -0.25, -0.5])
    expected = np.diag([0.3, 0.3, 0.4]) + 4.0 * (d @ d * np.eye(3) - np.outer(d, d))
    np.testing.assert_allclose(body.inertia, expected, atol=1e-14)
    name, frame = scene.robot.frames["b"]
    assert name == "a"
    np.testing.assert_allclose(frame[:3, 3], (0, 0, 1))


def test_a_pendulum_from_a_file_swings_with_the_period_of_its_closed_form(robot) -> None:
    path = robot('<link name="base"/>', link("a"), joint("hinge", "base", "a"))
    scene = rb.Scene.from_file(path)
    scene.robot.pose(scene, {"hinge": math.pi / 2 - 1e-3})
    sim = rb.Simulation(scene, time_step=0.002)
    # J = 0.2 + 2 · 0.5²; small swings about hanging down: T = 2 π √(J/(m g d)).
    period = 2 * math.pi * math.sqrt(0.7 / (2 * 9.81 * 0.5))
    sim.run(period / 2)
    assert sim["hinge"].angle == pytest.approx(math.pi / 2 + 1e-3, abs=1e-6)


def test_limits_hold_and_a_start_outside_of_them_is_moved_inside(robot) -> None:
    limits = '<limit lower="0.3" upper="1.0" effort="5" velocity="2"/>'
    path = robot('<link name="base"/>', link("a"), joint("hinge", "base", "a", "revolute", limits))
    scene = rb.Scene.from_file(path)
    told = scene.robot.joints["hinge"]
    assert (told.limits, told.effort_limit, told.velocity_limit) == (((0.3, 1.0),), 5.0, 2.0)
    assert scene.robot.start["hinge"] == 0.3
    sim = rb.Simulation(scene, time_step=0.005)
    assert sim["hinge"].angle == pytest.approx(0.3)
    sim.run(1.0)
    assert sim["hinge"].angle == pytest.approx(1.0, abs=1e-6)


@pytest.mark.parametrize(
    "kinds", [("continuous", "continuous"), ("prismatic", "prismatic"), ("continuous", "prismatic")]
)
@pytest.mark.parametrize("ratio", [1.0, -2.5, 0.4])
def test_a_mimic_joint_follows_both_ways(robot, kinds: tuple[str, str], ratio: float) -> None:
    """On a common base, whichever of the two is driven."""
    follows = f'<mimic joint="first" multiplier="{ratio}" offset="0.1"/><origin xyz="0.5 0.3 0.1" rpy="0.4 0.5 0"/>'
    path = robot(
        '<link name="base"/>',
        link("a"),
        link("b", 0.2),
        joint("first", "base", "a", kinds[0]),
        joint("second", "base", "b", kinds[1], follows),
    )
    for driven in ("first", "second"):
        scene = rb.Scene.from_file(path)
        assert scene.import_report.dropped == []
        sim = rb.Simulation(scene, time_step=0.002)
        measure = ["angle" if kind == "continuous" else "position" for kind in kinds]
        setattr(sim[driven], "torque" if kinds[driven == "second"] == "continuous" else "force", 3.0)
        sim.run(0.2)
        first, second = getattr(sim["first"], measure[0]), getattr(sim["second"], measure[1])
        assert abs(first) > 0.002
        assert second == pytest.approx(ratio * first + 0.1, abs=2e-6)


def test_a_mimic_joint_on_the_link_that_leads_it_follows(robot) -> None:
    follows = '<mimic joint="first" multiplier="0.7"/><origin xyz="1 0 0"/>'
    path = robot(
        '<link name="base"/>',
        link("a"),
        link("b"),
        joint("first", "base", "a"),
        joint("second", "a", "b", more=follows),
    )
    sim = rb.Simulation(rb.Scene.from_file(path), time_step=0.002)
    sim.run(0.5)
    assert abs(sim["first"].angle) > 0.5
    assert sim["second"].angle == pytest.approx(0.7 * sim["first"].angle, abs=2e-6)


def test_a_pinion_between_slides_takes_its_mass_from_what_carries_it() -> None:
    scene = rb.Scene.from_file(ARM)
    assert sum(body.mass for body in scene.bodies) == pytest.approx(1.2 + 0.8 + 0.3 + 0.05 + 0.05, rel=1e-14)


def test_a_gripper_that_is_posed_stays_closed() -> None:
    scene = rb.Scene.from_file(ARM)
    scene.robot.pose(scene, {"left_finger_joint": 0.03, "wrist": 1.0})
    assert scene.assemble().iterations == 0


def test_a_mimic_joint_without_a_common_body_is_data_and_led_in_the_tree(robot) -> None:
    follows = '<mimic joint="first" multiplier="2"/>'
    path = robot(
        '<link name="base"/>',
        *(link(name) for name in "abcd"),
        joint("first", "base", "a"),
        joint("between", "a", "b"),
        joint("other", "base", "c"),
        joint("second", "c", "d", more=follows),
    )
    scene = rb.Scene.from_file(path)
    assert "its joints share no body" in scene.import_report.dropped[0].note
    assert scene.robot.couplings[0].coefficients == (0.0, 2.0)
    tree = rb.kinematics.Tree.from_file(path)
    assert tree.coordinates == ("first", "between", "other")


def test_friction_of_a_file_is_that_of_its_joint_for_methods_that_hold_it(robot) -> None:
    """A wheel with 0.2 N m of friction loss stops after J ω²/(2 f); read without drives, any method of joints runs."""
    path = robot('<link name="base"/>', link("a"), joint("hinge", "base", "a", more='<dynamics friction="0.2"/>'))
    plain = rb.Scene.from_file(path, drives=False)
    assert [entry.note for entry in plain.import_report.dropped] == [
        "drives=False leaves it out; scene.robot.joints keeps it"
    ]
    rb.Simulation(plain, joints="baraff")
    scene = rb.Scene.from_file(path, strict=True)
    assert any(entry.place.endswith("friction_loss") for entry in scene.import_report.kept)
    scene.gravity = (0, 0, 0)
    scene.change_body("a", angular_velocity=(0, 1, 0), velocity=(0, 0, 0))
    with pytest.raises(rb.InputError, match=r"joints='baraff' cannot hold that.*drives=False\) does"):
        rb.Simulation(scene, joints="baraff")
    sim = rb.Simulation(scene, joints="reduced", time_step=1e-3)
    sim.step()
    energy = sim.energy().kinetic
    start = sim["hinge"].angle
    sim.run(60.0)
    assert sim["hinge"].velocity == pytest.approx(0.0, abs=1e-12)
    assert abs(sim["hinge"].angle - start) == pytest.approx(energy / 0.2, rel=1e-3)


def test_damping_slows_a_hinge_as_its_closed_form_says(robot) -> None:
    damped = '<dynamics damping="0.7"/>'
    path = robot('<link name="base"/>', link("a"), joint("hinge", "base", "a", more=damped))
    scene = rb.Scene.from_file(path)
    scene.gravity = (0, 0, 0)
    scene.change_body("a", angular_velocity=(0, 2, 0), velocity=(0, 0, -1))
    sim = rb.Simulation(scene, time_step=0.0005)
    sim.run(1.0)
    # J = 0.7 and c = 0.7: the speed falls by e a second.
    assert sim["hinge"].velocity == pytest.approx(2.0 / math.e, rel=1e-3)


def test_hinges_without_a_link_of_mass_between_them_are_a_universal_joint(robot) -> None:
    second = '<joint name="second" type="continuous"><parent link="cross"/><child link="b"/><axis xyz="0 0 1"/></joint>'
    path = robot('<link name="base"/>', '<link name="cross"/>', link("b"), joint("first", "base", "cross"), second)
    scene = rb.Scene.from_file(path)
    assert [type(joint).__name__ for joint in scene.joints.values()] == ["Universal"]
    scene.robot.pose(scene, {"first": 0.4, "second": -0.3})
    assert scene.assemble().iterations == 0
    turn = matrix_from_euler([0.4, -0.3, 0.0], "YZX")
    np.testing.assert_allclose(scene["b"].position, turn @ (0.5, 0, 0), atol=1e-14)


def test_a_moving_link_without_mass_borrows_it_and_the_whole_stays_as_heavy(robot) -> None:
    limits = '<limit lower="-1" upper="1" effort="5" velocity="2"/>'
    ends = '<parent link="cross"/><child link="b"/><axis xyz="0 0 1"/>'
    second = f'<joint name="second" type="revolute">{ends}{limits}</joint>'
    path = robot('<link name="base"/>', '<link name="cross"/>', link("b"), joint("first", "base", "cross"), second)
    scene = rb.Scene.from_file(path)
    assert "so that the whole keeps mass" in scene.import_report.approximated[0].note
    for angles in ((0.0, 0.0), (0.5, -0.7)):
        scene.robot.pose(scene, dict(zip(("first", "second"), angles, strict=True)))
        turn = matrix_from_euler([*angles, 0.0], "YZX")
        mass = sum(body.mass for body in scene.bodies)
        center = sum(body.mass * body.position for body in scene.bodies) / mass
        assert mass == pytest.approx(2.0, rel=1e-14)
        np.testing.assert_allclose(center, turn @ (0.5, 0, 0), atol=1e-14)


def test_an_impossible_inertia_is_raised_and_told(robot) -> None:
    inertial = '<inertial><mass value="1"/><inertia ixx="1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial>'
    path = robot(f'<link name="a">{inertial}</link>')
    scene = rb.Scene.from_file(path, base="floating")
    np.testing.assert_allclose(scene["a"].inertia, np.diag([1.0, 0.5, 0.5]), rtol=1e-9)
    assert "no body has the principal moments" in scene.import_report.approximated[0].note
    with pytest.raises(rb.FileError, match="cannot be kept as it is"):
        rb.Scene.from_file(path, base="floating", strict=True)


def test_two_loop_frames_close_a_four_bar(robot) -> None:
    """Three bars of 1 m and the ground; the last is held to the ground where the loop frame lies."""
    at = '<origin xyz="1 0 0"/>'
    turned = '<origin xyz="0 0 0" rpy="0 -1.5707963267948966 0"/>'
    path = robot(
        '<link name="base"/>',
        *(link(name) for name in "abc"),
        '<link name="end"/><link name="ground_end"/>',
        joint("j1", "base", "a", more=turned),
        joint("j2", "a", "b", more='<origin xyz="1 0 0" rpy="0 1.5 0"/>'),
        joint("j3", "b", "c", more='<origin xyz="1 0 0" rpy="0 1.5 0"/>'),
        joint("f1", "c", "end", "fixed", at),
        joint("f2", "base", "ground_end", "fixed", at),
    )
    scene = rb.Scene.from_file(path, loops=[("ground_end", "end", "ball")])
    name, frame = scene.robot.frames["end"]
    body = scene[name]
    place = rb.rotation.rotate(body.orientation, frame[:3, 3]) + body.origin
    np.testing.assert_allclose(place, (1, 0, 0), atol=1e-9)
    sim = rb.Simulation(scene, time_step=0.005)
    sim.run(1.0)
    assert sim.report.position_error < 1e-6
    (path.parent / "robot.yaml").write_text("closed_loop: [['ground_end', 'end']]\ntype: ['3d']\nname_mot: ['j1']\n")
    again = rb.Scene.from_file(path)
    assert list(again.joints) == list(scene.joints)
    assert "name_mot" in again.import_report.dropped[-1].place
    assert "loop 1" not in rb.Scene.from_file(path, loops=False).joints


@pytest.mark.parametrize(
    ("loops", "said"),
    [
        ([("a", "nowhere")], "A loop joins 'nowhere', which is no link, frame or joint"),
        ([("a", "base", "glue")], "A loop is of the kind 'glue'"),
        ([("a",)], r"it must be a list of \(link, link\)"),
        ("gone.yaml", "The loop file 'gone.yaml' cannot be read"),
    ],
)
def test_wrong_loops_are_refused(robot, loops, said: str) -> None:
    path = robot('<link name="base"/>', link("a"), joint("hinge", "base", "a"))
    with pytest.raises(rb.FileError, match=said):
        rb.Scene.from_file(path, loops=loops)


def test_a_yaml_file_of_dashes_and_one_that_is_no_list(robot) -> None:
    path = robot('<link name="base"/>', link("a"), joint("hinge", "base", "a"))
    (path.parent / "robot.yaml").write_text("closed_loop:\n  - [base, a]  # joined\ntype:\n  - 6d\n")
    assert "loop 1" in rb.Scene.from_file(path).joints
    (path.parent / "robot.yaml").write_text("closed_loop: [[base, a\n")
    with pytest.raises(rb.FileError, match="has a 'closed_loop' that is not a list of names"):
        rb.Scene.from_file(path)
    (path.parent / "robot.yaml").write_text("closed_loop: [base, a]\n")
    with pytest.raises(rb.FileError, match="not a list of pairs of names"):
        rb.Scene.from_file(path)


@pytest.mark.parametrize(
    ("parts", "said"),
    [
        (["<link/>"], "in line 1, robot 'r'/link: the attribute 'name' is missing"),
        ([link("a"), link("a")], "another link is called 'a'"),
        ([], "there is no link"),
        ([link("a"), joint("j", "a", "b")], "there is no link 'b'"),
        ([link("a"), link("b"), joint("j", "a", "b", "hinge")], "the type 'hinge' is not known"),
        ([link("a"), '<joint name="j" type="fixed"><parent link="a"/></joint>'], "the element child is missing"),
        ([link("a"), link("b"), joint("j", "a", "b"), joint("j", "b", "a")], "another joint is called 'j'"),
        ([link("a"), link("b"), joint("j", "a", "b"), joint("k", "b", "a")], "hang on each other in a circle"),
        ([link("a"), link("b"), joint("j", "a", "b"), joint("k", "a", "b")], "hangs on two joints"),
        ([link("a", more='<visual><geometry><box size="1 x 1"/></geometry></visual>')], "it must be 3 numbers"),
        ([link("a", more='<visual><geometry><box size="1 nan 1"/></geometry></visual>')], "it must be finite"),
        ([link("a", more='<visual><geometry><sphere radius="-1"/></geometry></visual>')], "must not be below zero"),
        ([link("a", more="<visual/>")], "the element geometry is missing"),
        (['<link name="a"><inertial><mass value="-1"/></inertial></link>'], "the mass is -1 kg"),
        (
            [
                link("a"),
                link("b"),
                '<joint name="j" type="prismatic"><parent link="a"/><child link="b"/><axis xyz="0 0 0"/></joint>',
            ],
            "the axis is the zero vector",
        ),
        (
            [link("a"), link("b"), joint("j", "a", "b", "revolute", '<limit lower="2" upper="1"/>')],
            "lower limit 2 is above",
        ),
        ([link("a"), link("b"), joint("j", "a", "b", more='<dynamics damping="-1"/>')], "must not be below zero"),
        (
            [
                '<link name="a"/>',
                link("b"),
                joint("j", "a", "b", "floating"),
                '<link name="c"/>',
                joint("k", "a", "c", "floating"),
            ],
            "moves freely and has no mass",
        ),
    ],
)
def test_faults_are_told_with_line_and_path(robot, parts: list[str], said: str) -> None:
    with pytest.raises(rb.FileError, match=said):
        rb.Scene.from_file(robot(*parts))


def test_limits_that_are_both_zero_are_none(robot) -> None:
    path = robot('<link name="base"/>', link("a"), joint("j", "base", "a", "revolute", '<limit lower="0" upper="0"/>'))
    scene = rb.Scene.from_file(path)
    assert scene.joints["j"].limits is None
    assert "both limits are zero" in scene.import_report.approximated[0].note


def test_a_yaml_file_beside_that_says_nothing_of_loops_is_left_alone(robot) -> None:
    path = robot('<link name="base"/>', link("a"), joint("hinge", "base", "a"))
    (path.parent / "robot.yaml").write_text("gains: {hinge: 3}\n")
    assert list(rb.Scene.from_file(path).joints) == ["hinge"]


def test_what_other_programs_add_is_kept(robot) -> None:
    """Surfaces of links, named frames and groups that do not collide."""
    solid = '<collision><geometry><sphere radius="0.1"/></geometry></collision>'
    contact = '<contact><lateral_friction value="0.9"/><restitution value="0.2"/><stiffness value="1e5"/></contact>'
    links = [link("a"), link("b", more=solid + contact), link("c", more=solid), link("d", more=solid)]
    joints = [joint(f"j{k}", "a", name, more=f'<origin xyz="0 {k} 0"/>') for k, name in enumerate("bcd")]
    member = '<drake:member link="{}"/>'
    groups = f'<drake:collision_filter_group name="g">{member.format("b")}{member.format("c")}'
    groups += '<drake:ignored_collision_filter_group name="g"/></drake:collision_filter_group>'
    path = robot(*links, *joints, groups, '<frame name="tip" link="b" xyz="1 2 3" rpy="0 0 0"/>')
    path.write_text(path.read_text().replace('name="r"', 'name="r" xmlns:drake="http://drake.mit.edu"'))
    scene = rb.Scene.from_file(path)
    assert (scene["b"].material.friction, scene["b"].material.restitution) == (0.9, 0.2)
    assert set(scene.meetings) == {("b", "c")}
    np.testing.assert_array_equal(scene.robot.frames["tip"].place[:3, 3], (1, 2, 3))
    assert [entry.place.split("/")[-1] for entry in scene.import_report.dropped] == ["stiffness"]
    path.write_text(path.read_text().replace('link="b" xyz', 'link="z" xyz'))
    with pytest.raises(rb.FileError, match="there is no link 'z'"):
        rb.Scene.from_file(path)
    path.write_text(path.read_text().replace('link="z" xyz', 'link="b" xyz').replace('value="0.9"', 'value="-1"'))
    with pytest.raises(rb.FileError, match="the value is -1; it must not be below zero"):
        rb.Scene.from_file(path)


def test_a_link_without_moments_gets_those_of_a_small_ball(robot) -> None:
    bare = '<link name="b"><inertial><mass value="2"/><inertia ixx="0" iyy="0" izz="0" ixy="0" ixz="0" iyz="0"/>'
    scene = rb.Scene.from_file(robot(link("a"), f"{bare}</inertial></link>", joint("j", "a", "b")))
    np.testing.assert_allclose(scene["b"].inertia, 2e-4 * np.eye(3))
    assert "no body has the principal moments 0, 0, 0" in scene.import_report.approximated[-1].note


def test_a_joint_of_the_tree_has_a_name_of_its_own_where_links_have_it(robot) -> None:
    path = robot(link("a"), link("b"), link("b joint"), joint("b", "a", "b"), joint("c", "b", "b joint"))
    assert rb.kinematics.Tree.from_file(path).coordinates == ("b joint joint", "c")
