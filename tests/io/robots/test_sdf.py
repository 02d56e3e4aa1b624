"""SDF: poses relative to each other, axes in other frames, graphs with loops, nested models; against closed forms."""

import math
from pathlib import Path

import numpy as np
import pytest

import rattleback as rb
from oracles.mass_matrix import mass_matrix, of_file
from rattleback.maths.rotation import matrix_from_euler

DATA = Path(__file__).resolve().parents[4] / "shared" / "data" / "sdf"
needs_data = pytest.mark.skipif(not DATA.is_dir(), reason="the models are not in ../shared/data/sdf")
TENSOR = "<inertia><ixx>0.1</ixx><iyy>0.2</iyy><izz>0.2</izz></inertia>"
BAR = f"<inertial><pose>0.5 0 0 0 0 0</pose><mass>2</mass>{TENSOR}</inertial>"


def link(name: str, pose: str = "", more: str = "") -> str:
    return f'<link name="{name}">{pose}{BAR}{more}</link>'


def joint(
    name: str, parent: str, child: str, kind: str = "revolute", more: str = "<axis><xyz>0 1 0</xyz></axis>"
) -> str:
    return f'<joint name="{name}" type="{kind}"><parent>{parent}</parent><child>{child}</child>{more}</joint>'


def load(tmp_path: Path, content: str, **options) -> rb.Scene:
    path = tmp_path / "model.sdf"
    path.write_text(f'<sdf version="1.9">{content}</sdf>')
    return rb.Scene.from_file(path, **options)


def test_poses_are_relative_to_what_they_name(tmp_path: Path) -> None:
    content = link("a", "<pose>1 0 0 0 0 1.5707963267948966</pose>")
    content += link("b", '<pose relative_to="f" degrees="true">0 0 1 0 0 90</pose>')
    content += '<frame name="f" attached_to="a"><pose>0 2 0 0 0 0</pose></frame>'
    scene = load(tmp_path, f'<model name="m"><pose>0 0 5 0 0 0</pose>{content}</model>')
    np.testing.assert_allclose(scene["b"].origin, (-1, 0, 6), atol=1e-15)
    np.testing.assert_allclose(scene["b"].position, (-1.5, 0, 6), atol=1e-15)
    name, place = scene.robot.frames["f"]
    assert name == "a"
    np.testing.assert_allclose(place[:3, 3], (0, 2, 0), atol=1e-15)


def test_a_joint_is_placed_in_its_child_and_its_axis_may_be_said_elsewhere(tmp_path: Path) -> None:
    axis = '<pose>0 0 0.5 0.3 0 0</pose><axis><xyz expressed_in="__model__">0 1 0</xyz>'
    axis += "<limit><lower>-1</lower><upper>2</upper></limit></axis>"
    content = link("a", "<pose>0 0 1 0 0.2 0</pose>") + joint("j", "world", "a", more=axis)
    scene = load(tmp_path, f'<model name="m">{content}</model>')
    assert scene.robot.joints["j"].limits == ((-1.0, 2.0),)
    frames = scene.robot.link_frames({"j": 0.7})
    turn = matrix_from_euler([0.9, 0, 0], "YXZ")
    pin = np.array([0, 0, 1]) + matrix_from_euler([0.2, 0, 0], "YXZ") @ (0, 0, 0.5)
    np.testing.assert_allclose(frames["a"][:3, :3], turn, atol=1e-14)
    np.testing.assert_allclose(frames["a"][:3, 3], pin - turn @ (0, 0, 0.5), atol=1e-14)


def test_a_graph_with_a_loop_becomes_a_tree_and_a_joint_that_closes_it(tmp_path: Path) -> None:
    """A square of three bars on the ground: the last hinge closes the loop, wherever it stands in the file."""
    places = ["", "<pose>0 0 1 0 0 0</pose>", "<pose>1 0 0 0 -1.5707963267948966 0</pose>"]
    places[0] = "<pose>0 0 0 0 -1.5707963267948966 0</pose>"
    links = "".join(link(name, place) for name, place in zip("abc", places, strict=True))
    joints = joint("j1", "world", "a") + joint("j2", "a", "b") + joint("j3", "world", "c")
    joints += joint("j4", "b", "c", more="<pose>1 0 0 0 0 0</pose><axis><xyz>0 1 0</xyz></axis>")
    scene = load(tmp_path, f'<model name="m">{links}{joints}</model>')
    assert [told.closes for told in scene.robot.joints.values()] == [False, False, False, True]
    found = scene.assemble()
    assert (found.iterations, found.redundant_rows) == (0, 3)
    sim = rb.Simulation(scene, time_step=0.002)
    before = sim.energy().total
    sim.run(2.0)
    assert sim.report.position_error < 1e-6
    assert sim.energy().total == pytest.approx(before, abs=1e-3)
    # A parallelogram: opposite bars turn alike.
    assert sim["j1"].angle == pytest.approx(sim["j3"].angle, abs=1e-6)


def test_a_joint_whose_child_is_the_root_is_turned_round_and_keeps_its_coordinate(tmp_path: Path) -> None:
    limits = "<axis><xyz>0 1 0</xyz><limit><lower>-0.5</lower><upper>1</upper></limit></axis>"
    content = link("a") + link("b") + link("c") + joint("j1", "b", "a") + joint("j2", "c", "a", more=limits)
    scene = load(tmp_path, f'<model name="m">{content}</model>', base="fixed")
    assert not any(told.closes for told in scene.robot.joints.values())
    frames = scene.robot.link_frames({"j1": 0.0, "j2": 0.4})
    turn = frames["c"][:3, :3].T @ frames["a"][:3, :3]
    np.testing.assert_allclose(turn, matrix_from_euler([0.4, 0, 0], "YXZ"), atol=1e-14)


def test_a_mimic_axis_is_a_coupling(tmp_path: Path) -> None:
    mimic = '<mimic joint="j1"><multiplier>-0.5</multiplier><offset>0.1</offset><reference>0.2</reference></mimic>'
    second = f"<axis><xyz>0 1 0</xyz>{mimic}</axis>"
    content = (
        link("a")
        + link("b", "<pose>0 0 2 0 0 0</pose>")
        + joint("j1", "world", "a")
        + joint("j2", "world", "b", more=second)
    )
    scene = load(tmp_path, f'<model name="m">{content}</model>')
    sim = rb.Simulation(scene, time_step=0.002)
    sim.run(0.5)
    assert abs(sim["j1"].angle) > 0.1
    assert sim["j2"].angle == pytest.approx(0.1 - 0.5 * (sim["j1"].angle - 0.2), abs=2e-6)


@pytest.mark.parametrize("kind", ["ball", "universal", "screw", "prismatic", "continuous", "fixed"])
def test_other_kinds_of_joints_load_and_swing(tmp_path: Path, kind: str) -> None:
    axes = "<axis><xyz>0 1 0</xyz></axis>"
    axes += "<axis2><xyz>0 0 1</xyz></axis2>" if kind == "universal" else ""
    axes += "<screw_thread_pitch>0.2</screw_thread_pitch>" if kind == "screw" else ""
    content = link("base") + link("a") + joint("j", "base", "a", kind, axes)
    scene = load(tmp_path, f'<model name="m">{content}</model>', base="fixed")
    told = [type(one).__name__ for one in scene.joints.values()]
    names = {"ball": "Ball", "universal": "Universal", "screw": "Screw", "prismatic": "Prismatic"}
    assert told == ([] if kind == "fixed" else [names.get(kind, "Revolute")])
    if told:
        sim = rb.Simulation(scene, time_step=0.002)
        sim.run(0.2)
        assert sim.report.position_error < 1e-6


def test_static_models_and_models_in_a_world_have_scoped_names(tmp_path: Path) -> None:
    ground = (
        '<collision name="c"><geometry><plane><normal>0 0 1</normal><size>1 1</size></plane></geometry></collision>'
    )
    models = f'<model name="floor"><static>true</static><link name="l">{ground}</link></model>'
    models += f'<model name="m">{link("a", "<pose>0 0 1 0 0 0</pose>")}<model name="inner">{link("b")}</model></model>'
    scene = load(tmp_path, f'<world name="w"><gravity>0 0 -1.6</gravity>{models}</world>')
    np.testing.assert_allclose(scene.gravity, (0, 0, -1.6))
    assert {"m::a", "m::inner::b"} <= {body.name for body in scene.bodies}
    assert any(isinstance(body.shape, rb.Plane) for body in scene.bodies)


def test_friction_colour_and_shapes_are_read(tmp_path: Path) -> None:
    surface = "<surface><friction><ode><mu>0.7</mu></ode></friction>"
    surface += "<bounce><restitution_coefficient>0.3</restitution_coefficient></bounce></surface>"
    shapes = [
        "<box><size>1 2 3</size></box>",
        "<sphere><radius>1</radius></sphere>",
        "<ellipsoid><radii>1 2 3</radii></ellipsoid>",
    ]
    shapes += [f"<{kind}><radius>1</radius><length>2</length></{kind}>" for kind in ("cylinder", "capsule")]
    inside = "".join(
        f'<collision name="c{k}"><geometry>{one}</geometry>{surface}</collision>' for k, one in enumerate(shapes)
    )
    scene = load(tmp_path, f'<model name="m"><link name="a">{BAR}{inside}</link></model>')
    body = scene["a"]
    assert (body.material.friction, body.material.restitution) == (0.7, 0.3)
    names = [type(one.shape).__name__ for one in body.colliders]
    assert names == ["Box", "Sphere", "Ellipsoid", "Cylinder", "Capsule"]
    assert body.colliders[-1].shape.length == 4.0


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("", "there is no model"),
        (
            '<model name="m"><link name="a"><pose relative_to="b"/></link>'
            '<link name="b"><pose relative_to="a"/></link></model>',
            "in a circle",
        ),
        (
            '<model name="m"><link name="a"><pose relative_to="x">0 0 0 0 0 0</pose></link></model>',
            "there is no frame 'x'",
        ),
        (f'<model name="m">{link("a")}{link("a")}</model>', "another frame is called 'a'"),
        (f'<model name="m">{link("a")}{joint("j", "world", "a", "hinge")}</model>', "the type 'hinge' is not known"),
        (
            f'<model name="m">{link("a")}<joint name="j" type="fixed"><child>a</child></joint></model>',
            "the element parent is missing",
        ),
        (f'<model name="m">{link("a")}{joint("j", "b", "a")}</model>', "attached to 'b', which is on no link"),
        (
            f'<model name="m">{link("a")}{joint("j", "world", "a", more="<axis><xyz>0 0 0</xyz></axis>")}</model>',
            "the axis is the zero vector",
        ),
        ('<model name="m"><link name="a"><pose>1 2 3</pose></link></model>', "it must be 6 numbers"),
        ('<model name="m"><link name="a"><inertial><mass>-1</mass></inertial></link></model>', "the mass is -1 kg"),
        ('<model name="m"><link name="a"><visual name="v"/></link></model>', "the element geometry is missing"),
    ],
)
def test_faults_are_told_with_line_and_path(tmp_path: Path, content: str, said: str) -> None:
    with pytest.raises(rb.FileError, match=said):
        load(tmp_path, content)


def test_what_is_dropped_is_said_with_a_reason(tmp_path: Path) -> None:
    content = (
        link("a", more='<sensor name="s" type="imu"/>')
        + '<plugin name="p"/>'
        + link("b")
        + joint("j", "a", "b", "gearbox")
    )
    scene = load(tmp_path, f'<model name="m">{content}</model>')
    notes = " ".join(entry.note for entry in scene.import_report.dropped)
    for said in ("recorders measure bodies", "plugins are code", "a gearbox without a gearbox_reference_body"):
        assert said in notes


@needs_data
def test_the_cart_pole_has_the_mass_matrix_and_weight_of_its_closed_form() -> None:
    """10 kg on a rail, 1 kg at the end of 0.5 m."""
    path = DATA / "drake_cart_pole.sdf"
    scene, tree = rb.Scene.from_file(path), rb.kinematics.Tree.from_file(path)
    for angle in np.linspace(-3, 3, 20):
        own, weight = mass_matrix(of_file(scene), tree, [0.3, angle], scene.gravity)
        across = 0.5 * math.cos(angle) * (-1 if own[0, 1] * math.cos(angle) < 0 else 1)
        np.testing.assert_allclose(own, [[11.0, across], [across, 0.25]], atol=1e-9)
        np.testing.assert_allclose(weight, [0.0, 0.5 * 9.81 * math.sin(angle)], atol=1e-9)
    assert sum("point mass" in entry.note for entry in scene.import_report.approximated) == 2


@needs_data
def test_the_four_bar_closes_by_its_two_frames_and_swings() -> None:
    path = DATA / "drake_four_bar.sdf"
    scene = rb.Scene.from_file(path, loops=[("Bc_bushing", "Cb_bushing", "cylindrical")])
    found = scene.assemble()
    assert max(found.position_error, found.orientation_error) <= 1e-9
    assert sum(body.mass for body in scene.bodies) == 60.0
    sim = rb.Simulation(scene, time_step=0.002)
    before = sim.energy().total
    sim.run(3.0)
    assert sim.report.position_error < 1e-6
    assert sim.energy().total == pytest.approx(before, abs=2e-3)


def test_models_in_models_stand_where_their_frames_say() -> None:
    """Frames by hand: the world's pose of the model, the mount on its base, the arm tilted on it, the tip above."""
    scene = rb.Scene.from_file(Path(__file__).with_name("models") / "sdf" / "nested.sdf")

    def placed(x: float, y: float, z: float, *angles: float) -> np.ndarray:
        frame = np.eye(4)
        frame[:3, 3] = x, y, z
        frame[:3, :3] = matrix_from_euler(angles or (0.0, 0.0, 0.0), "xyz")
        return frame

    mount = placed(1, 2, 0.5, 0, 0, np.pi / 2) @ placed(0, 0, 0.3)
    arm = mount @ placed(0, 0, 0, 0, 0.2, 0)
    lower = arm @ placed(0, 0, 0.25)
    tip = lower @ placed(0, 0, 0.5, 0, 0, 0.3) @ placed(0, 0, 0.25)
    for name, expected in (("robot::mount", mount), ("robot::arm::lower", lower), ("robot::arm::tip", tip)):
        np.testing.assert_allclose(scene.robot.frame(scene, name), expected, atol=1e-9)
    kinds = {name: type(made).__name__ for name, made in scene.joints.items() if "damper" not in name}
    assert kinds == {"robot::shoulder": "Universal", "robot::thread": "Screw", "robot::arm::elbow": "Revolute"}
    axis = (
        scene.robot.frame(scene, "robot::arm::lower")[:3, :3]
        @ scene.robot.joints["robot::arm::elbow"].frame_parent[:3, 2]
    )
    np.testing.assert_allclose(axis, arm[:3, 1], atol=1e-9)
    assert scene.robot.joints["robot::arm::elbow"].limits == ((-1.0, None),)
    assert scene.robot.time_step == 0.004


def test_a_link_without_inertial_has_that_of_the_format(tmp_path: Path) -> None:
    path = tmp_path / "model.sdf"
    path.write_text('<sdf version="1.9"><model name="m"><link name="a"/></model></sdf>')
    scene = rb.Scene.from_file(path)
    assert scene["a"].mass == 1.0
    np.testing.assert_array_equal(scene["a"].inertia, np.eye(3))
    assert any("gives it 1 kg" in entry.note for entry in scene.import_report.kept)


def test_drives_and_dampers_below_zero_are_dropped_with_a_word(tmp_path: Path) -> None:
    dynamics = "<dynamics><damping>-1</damping><friction>-2</friction></dynamics>"
    hinge = joint("j", "a", "b", more=f"<axis><xyz>0 1 0</xyz>{dynamics}</axis>")
    scene = load(tmp_path, f'<model name="m">{link("a")}{link("b")}{hinge}</model>')
    told = {entry.place.split()[-1]: entry.note for entry in scene.import_report.dropped}
    assert told["friction_loss"] == "it is -2, and drives of joints have none below zero"
    assert told["damping"] == "it is -1, which would drive the joint ever faster"
    assert (scene.joints["j"].friction, list(scene.joints)) == (0.0, ["j"])
    assert scene.robot.settings == {"time_step": 0.002}


def test_the_settings_of_a_robot_with_drives_are_reduced_coordinates(tmp_path: Path) -> None:
    hinge = joint("j", "a", "b", more="<axis><xyz>0 1 0</xyz><dynamics><friction>0.1</friction></dynamics></axis>")
    content = f'<model name="m">{link("a")}{link("b")}{hinge}</model>'
    assert load(tmp_path, content).robot.settings == {"time_step": 0.002, "joints": "reduced"}
    assert load(tmp_path, content, drives=False).robot.settings == {"time_step": 0.002}
