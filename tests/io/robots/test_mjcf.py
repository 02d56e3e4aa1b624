"""MJCF: nested defaults, several joints on a body, named states, actuators, loops, filters, missing files."""

import itertools
import math
from pathlib import Path

import numpy as np
import pytest

import rattleback as rb
from rattleback.model.filter import category_bits, excluded_pairs

pytest.importorskip("mujoco", reason="needs MuJoCo, pip install 'rattleback[formats]'")

BALL = '<geom type="sphere" size="0.1" mass="2"/>'


def load(tmp_path: Path, content: str, **options) -> rb.Scene:
    path = tmp_path / "model.xml"
    path.write_text(f"<mujoco>{content}</mujoco>")
    return rb.Scene.from_file(path, **options)


def test_nested_defaults_and_degrees_are_resolved(tmp_path: Path) -> None:
    defaults = (
        '<default><joint damping="1"/><default class="soft"><joint damping="0.25" range="-30 60"/></default></default>'
    )
    body = f'<body pos="0 0 1"><joint name="a" class="soft" axis="0 1 0"/>{BALL}</body>'
    body += f'<body><joint name="b"/>{BALL}</body>'
    scene = load(tmp_path, f"{defaults}<worldbody>{body}</worldbody>")
    a, b = scene.robot.joints["a"], scene.robot.joints["b"]
    assert (a.damping, b.damping) == (0.25, 1.0)
    np.testing.assert_allclose(a.limits[0], np.radians((-30, 60)))
    assert scene.import_report.format == "MJCF"


def test_a_joint_with_a_reference_starts_there_and_limits_are_in_its_coordinate(tmp_path: Path) -> None:
    joint = '<joint name="j" axis="0 1 0" ref="40" range="10 50"/>'
    scene = load(
        tmp_path, f'<worldbody><body><inertial mass="1" pos="1 0 0" diaginertia="1 1 1"/>{joint}</body></worldbody>'
    )
    np.testing.assert_allclose(scene.bodies[0].position, (1, 0, 0), atol=1e-15)
    sim = rb.Simulation(scene, time_step=0.005)
    assert sim["j"].angle == pytest.approx(math.radians(40))
    sim.run(1.0)
    assert sim["j"].angle == pytest.approx(math.radians(50), abs=1e-6)


def test_two_hinges_on_a_body_are_a_universal_joint_and_with_limits_two_hinges(tmp_path: Path) -> None:
    for limits, kinds in (("", ["Universal"]), (' range="-40 40"', ["Revolute", "Revolute"])):
        joints = f'<joint name="x" axis="1 0 0"{limits}/><joint name="y" axis="0 1 0"{limits}/>'
        scene = load(tmp_path, f'<worldbody><body name="a">{joints}{BALL}</body></worldbody>')
        assert [type(joint).__name__ for joint in scene.joints.values()] == kinds
        assert sum(body.mass for body in scene.bodies) == pytest.approx(2.0, rel=1e-14)


def test_named_states_place_the_bodies(tmp_path: Path) -> None:
    bodies = f'<body name="free"><freejoint name="f"/>{BALL}</body><body name="arm"><joint name="j" axis="0 0 1"/>'
    bodies += '<inertial mass="1" pos="1 0 0" diaginertia="1 1 1"/></body>'
    key = '<keyframe><key name="home" qpos="1 2 3 0 0 0 1 1.5" ctrl="0.5"/></keyframe>'
    scene = load(tmp_path, f'<worldbody>{bodies}</worldbody><actuator><motor name="m" joint="j"/></actuator>{key}')
    scene.robot.pose(scene, "home")
    np.testing.assert_allclose(scene["free"].position, (1, 2, 3))
    np.testing.assert_allclose(np.abs(scene["free"].orientation), (0, 0, 1, 0))
    np.testing.assert_allclose(scene["arm"].position, (math.cos(1.5), math.sin(1.5), 0), atol=1e-15)
    assert scene.robot.keyframes["home"].controls == {"m": 0.5}


def test_a_position_actuator_is_a_servo_with_gear_damping_and_limit(tmp_path: Path) -> None:
    body = '<body><joint name="j" axis="0 0 1"/><inertial mass="1" pos="0 0 0" diaginertia="1 1 1"/></body>'
    drive = '<position name="p" joint="j" kp="8" kv="2" gear="3" forcerange="-5 7" ctrlrange="0.6 2"/>'
    scene = load(tmp_path, f"<worldbody>{body}</worldbody><actuator>{drive}</actuator>")
    servo = scene.forces["p"]
    assert (servo.gain, servo.limit, servo.control) == (72.0, 21.0, "angle")
    assert servo.rate_time == pytest.approx(0.25)
    assert servo.target == pytest.approx(0.2)
    sim = rb.Simulation(scene, time_step=0.001)
    sim.run(2.0)
    assert sim["j"].angle == pytest.approx(0.2, abs=1e-3)


@pytest.mark.parametrize(
    ("drive", "control", "gain"),
    [
        ('<velocity name="d" joint="j" kv="4"/>', "velocity", 4.0),
        ('<general name="d" joint="j" biastype="affine" gainprm="6" biasprm="0 -6 -1"/>', "angle", 6.0),
    ],
)
def test_other_actuators_that_are_linear_are_servos(tmp_path: Path, drive: str, control: str, gain: float) -> None:
    body = f'<body><joint name="j" axis="0 0 1"/>{BALL}</body>'
    servo = load(tmp_path, f"<worldbody>{body}</worldbody><actuator>{drive}</actuator>").forces["d"]
    assert (servo.control, servo.gain) == (control, gain)


def test_a_motor_is_data_and_its_joint_takes_efforts(tmp_path: Path) -> None:
    body = '<body><joint name="j" axis="0 0 1"/><inertial mass="1" pos="0 0 0" diaginertia="1 1 2"/></body>'
    scene = load(tmp_path, f'<worldbody>{body}</worldbody><actuator><motor name="m" joint="j" gear="10"/></actuator>')
    assert not scene.forces
    assert scene.robot.actuators[0].joints == {"j": 10.0}
    sim = rb.Simulation(scene, time_step=0.01)
    sim["j"].torque = 4.0
    sim.run(1.0)
    assert sim["j"].angle == pytest.approx(1.0, abs=1e-5)


def test_connect_and_weld_close_loops_exactly(tmp_path: Path) -> None:
    """A four-bar of three hinged bars whose last one is connected to the ground, and a body that is welded to it."""
    bar = '<inertial mass="1" pos="0.5 0 0" diaginertia="0.01 0.1 0.1"/>'
    hinge = '<joint axis="0 1 0"/>'
    chain = f'<body name="a" euler="0 -90 0">{hinge}{bar}<body name="b" pos="1 0 0" euler="0 80 0">{hinge}{bar}'
    chain += f'<body name="c" pos="1 0 0" euler="0 100 0">{hinge}{bar}</body></body></body>'
    ground = '<body name="ground" pos="1 0 0"/><body name="extra" pos="0 0 1"><freejoint/><geom size="0.1"/></body>'
    loop = '<connect name="close" body1="c" body2="ground" anchor="1 0 0"/><weld name="glue" body1="c" body2="extra"/>'
    scene = load(tmp_path, f"<worldbody>{chain}{ground}</worldbody><equality>{loop}</equality>")
    found = scene.assemble()
    assert max(found.position_error, found.orientation_error) <= 1e-9
    sim = rb.Simulation(scene, time_step=0.002)
    before = sim.energy().total
    sim.run(2.0)
    assert sim.report.position_error < 1e-6
    assert sim.energy().total == pytest.approx(before, abs=2e-3)
    # MuJoCo joins the points that meet at the start: the end of the last bar, wherever that was.
    ends = [rb.rotation.rotate(body.orientation, (0.5, 0, 0)) + body.position for body in (scene["c"], sim["c"])]
    np.testing.assert_allclose(*ends, atol=1e-6)


def test_an_equality_of_joints_is_a_gear_that_turns_the_weights(tmp_path: Path) -> None:
    bodies = "".join(f'<body pos="{k} 0 0"><joint name="j{k}" axis="0 1 0"/><inertial mass="1" pos="0 0 {0.1 + k} " '
                     'diaginertia="1 1 1"/></body>' for k in range(2))  # fmt: skip
    equal = '<equality><joint joint1="j0" joint2="j1" polycoef="0 -2 0 0 0"/></equality>'
    sim = rb.Simulation(load(tmp_path, f"<worldbody>{bodies}</worldbody>{equal}"), time_step=0.002)
    sim["j1"].torque = 1.0
    sim.run(0.5)
    assert abs(sim["j1"].angle) > 0.02
    assert sim["j0"].angle == pytest.approx(-2.0 * sim["j1"].angle, abs=1e-6)


def test_an_equality_of_one_joint_holds_it(tmp_path: Path) -> None:
    body = f'<body><joint name="j" axis="0 1 0"/>{BALL}</body>'
    equal = '<equality><joint joint1="j" polycoef="0.3 0 0 0 0"/></equality>'
    scene = load(tmp_path, f"<worldbody>{body}</worldbody>{equal}")
    assert type(scene.joints["j"]).__name__ == "Fixed"
    assert scene.robot.start["j"] == 0.3


def test_filters_and_exclusions_let_the_same_pairs_meet(tmp_path: Path) -> None:
    """Every pair of shapes that MuJoCo lets meet, and no other."""
    import mujoco

    bits = [(1, 1), (2, 1), (1, 2), (4, 4), (0, 3), (3, 0), (0, 0), (0, 0)]
    bodies = "".join(
        f'<body name="b{k}"><freejoint/><geom name="g{k}" size="0.1" contype="{c}" conaffinity="{a}"/></body>'
        for k, (c, a) in enumerate(bits)
    )
    listed = "".join(f'<pair geom1="g{i}" geom2="g{j}"/>' for i, j in ((6, 3), (7, 6), (0, 1)))
    content = f'<worldbody>{bodies}</worldbody><contact><exclude body1="b0" body2="b1"/>{listed}</contact>'
    scene = load(tmp_path, content)
    category, mask = category_bits(scene)
    excluded = excluded_pairs(scene)
    model = mujoco.MjModel.from_xml_path(str(tmp_path / "model.xml"))
    data = mujoco.MjData(model)
    for i, j in itertools.combinations(range(len(bits)), 2):
        for n in range(len(bits)):
            data.qpos[7 * n : 7 * n + 3] = (0.0, 0.0, 0.05 * (n == j)) if n in (i, j) else (10.0 * n + 10.0, 0.0, 0.0)
        mujoco.mj_forward(model, data)
        meets = bool(category[i] & mask[j] and category[j] & mask[i]) and (i, j) not in excluded
        assert meets == (data.ncon > 0)


def test_sites_cameras_sensors_and_gravity_compensation_are_kept(tmp_path: Path) -> None:
    site = '<site name="tip" pos="0 0 0.5"/><camera name="eye" pos="0 -1 0" fovy="60"/>'
    body = f'<body name="a" gravcomp="1" pos="0 0 1"><freejoint/>{site}{BALL}</body>'
    sensor = '<sensor><framepos name="s" objtype="site" objname="tip"/></sensor>'
    scene = load(tmp_path, f"<worldbody>{body}</worldbody>{sensor}")
    name, place = scene.robot.frames["tip"]
    assert (name, place[2, 3]) == ("a", 0.5)
    assert scene.robot.cameras["eye"].field_of_view == pytest.approx(math.radians(60))
    assert (scene.robot.sensors[0].kind, scene.robot.sensors[0].on) == ("framepos", "tip")
    sim = rb.Simulation(scene, time_step=0.01)
    sim.run(0.5)
    np.testing.assert_allclose(sim["a"].position, (0, 0, 1), atol=1e-12)


def test_a_missing_mesh_is_named_and_one_outside_is_not_read(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    (tmp_path / "out.stl").write_bytes(b"x")
    for file, said in (("gone.stl", "is missing"), ("../out.stl", "lies outside the folder")):
        asset = f'<asset><mesh name="m" file="{file}"/></asset>'
        body = f'<body name="a"><freejoint/><geom type="mesh" mesh="m"/>{BALL}</body>'
        scene = load(home, f"{asset}<worldbody>{body}</worldbody>")
        notes = [entry.note for entry in scene.import_report.dropped]
        assert said in notes[0]
        assert notes[1] == "its mesh is not there"
        assert scene["a"].mass == 2.0


def test_an_included_file_is_read_and_one_outside_is_refused(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    part = f'<mujoco><worldbody><body name="a"><freejoint/>{BALL}</body></worldbody></mujoco>'
    for folder in (home, tmp_path):
        (folder / "part.xml").write_text(part)
    assert "a" in load(home, '<include file="part.xml"/>')
    with pytest.raises(rb.FileError, match="lies outside the folder of the file"):
        load(home, '<include file="../part.xml"/>')
    with pytest.raises(rb.FileError, match="there is no file 'none.xml'"):
        load(home, '<include file="none.xml"/>')
    (home / "part.xml").write_text(f"<!DOCTYPE a>{part}")
    with pytest.raises(rb.FileError, match="declares a document type"):
        load(home, '<include file="part.xml"/>')


def test_what_mujoco_refuses_is_told_in_its_words(tmp_path: Path) -> None:
    with pytest.raises(rb.FileError, match="cannot be compiled: .*mass"):
        load(tmp_path, "<worldbody><body><freejoint/></body></worldbody>")
    with pytest.raises(rb.FileError, match="cannot be compiled"):
        load(tmp_path, "<worldbdy/>")


def test_straight_tendons_are_springs_and_rods(tmp_path: Path) -> None:
    """F = k (L₀ − L) between two sites, and a length that an equality holds; what is neither is dropped with a word."""
    content = (
        f'<worldbody><body name="a"><freejoint/>{BALL}<site name="s"/></body><site name="w" pos="0 0 1"/></worldbody>'
    )
    ends = '<site site="s"/><site site="w"/></spatial>'
    content += f'<tendon><spatial name="coil" stiffness="7" springlength="0.4">{ends}<spatial name="rod">{ends}'
    content += f'<spatial name="slack" stiffness="7" springlength="0.1 0.4">{ends}<spatial name="idle">{ends}</tendon>'
    content += '<equality><tendon name="held" tendon1="rod" polycoef="0.5 0 0 0 0"/></equality>'
    scene = load(tmp_path, content)
    assert (scene.forces["coil"].stiffness, scene.forces["coil"].length) == (7.0, 0.4)
    assert scene.joints["held"].length == pytest.approx(1.5)
    told = {entry.place: entry.note for entry in scene.import_report.dropped}
    assert told == {
        "tendon 'slack' stiffness": "it is slack between 0.1 m and 0.4 m",
        "tendon 'idle'": "it has neither stiffness nor a length that is held",
    }


def test_what_is_dropped_is_said_with_a_reason(tmp_path: Path) -> None:
    content = '<option timestep="0.01" solver="CG" wind="1 0 0"/><worldbody><light/>'
    content += f'<body><joint armature="0.1" frictionloss="0.2"/>{BALL}'
    content += '<site name="s"/></body><site name="w" pos="0 0 1"/></worldbody>'
    content += '<tendon><spatial><site site="s"/><site site="w"/><site site="s"/></spatial></tendon>'
    scene = load(tmp_path, content)
    told = {entry.place.split("/")[-1]: entry.note for entry in scene.import_report.dropped}
    assert "chosen with the Simulation" in told["option @solver"]
    assert scene.robot.time_step == 0.01
    assert "rb.Drag" in told["option @wind"]
    assert "only straight tendons" in told["spatial"]
    kept = {entry.place.split()[-1] for entry in scene.import_report.kept}
    assert {"armature", "friction_loss"} <= kept


def test_the_base_can_be_fixed_or_let_go(tmp_path: Path) -> None:
    inner = f'<body name="b"><joint name="j"/>{BALL}</body>'
    body = f'<worldbody><body name="a" pos="0 0 2"><freejoint/>{BALL}{inner}</body></worldbody>'
    fixed = load(tmp_path, body, base="fixed")
    assert "a" in fixed.robot.frames
    assert fixed["a"].static
    np.testing.assert_allclose(fixed.robot.link_frames({})["a"][:3, 3], (0, 0, 2))
    loose = load(tmp_path, body.replace("<freejoint/>", ""), base="floating")
    assert not loose["a"].static
    np.testing.assert_allclose(loose["a"].position, (0, 0, 2))


def test_warnings_of_the_compiler_are_told_and_leave_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    body = '<body><joint axis="0 1 0"/><joint axis="0 1 0"/><geom size="0.1"/></body>'
    scene = load(tmp_path, f"<worldbody>{body}</worldbody>")
    assert any("MuJoCo warns: Inertia matrix" in entry.note for entry in scene.import_report.approximated)
    assert [path.name for path in tmp_path.iterdir()] == ["model.xml"]


def test_what_is_not_a_number_is_refused_before_it_is_compiled(tmp_path: Path) -> None:
    with pytest.raises(rb.FileError, match="line 1.*axis is '0 1 nan', which is not a number"):
        load(tmp_path, f'<worldbody><body><joint axis="0 1 nan"/>{BALL}</body></worldbody>')
    assert "nan" in load(tmp_path, f'<worldbody><body name="nan"><joint/>{BALL}</body></worldbody>')


def test_flags_switch_off_what_they_say(tmp_path: Path) -> None:
    joint = '<joint name="j" axis="0 1 0" range="-1 1" stiffness="3" damping="2" frictionloss="1"/>'
    body = f'<worldbody><body name="a">{joint}{BALL}</body><geom name="g" size="0.1"/></worldbody>'
    equal = '<equality><joint joint1="j" polycoef="0.1"/></equality>'
    off = {"gravity": "gravity", "spring": "stiffness", "damper": "damping", "frictionloss": "friction_loss"}
    everything = load(tmp_path, body + equal)
    assert (everything.robot.joints["j"].limits, everything.gravity[2]) == (((0.1, 0.1),), -9.81)
    for flag, field in off.items():
        scene = load(tmp_path, f'<option><flag {flag}="disable" warmstart="disable"/></option>{body}')
        values = {"gravity": scene.gravity[2], **vars(scene.robot.joints["j"])}
        assert [name for name in off.values() if values[name] == 0.0] == [field]
        told = {entry.place.split("/")[-1]: entry.verdict for entry in scene.import_report.entries}
        assert (told[f"flag @{flag}"], told["flag @warmstart"]) == ("kept", "dropped")
    scene = load(tmp_path, f'<option><flag constraint="disable"/></option>{body}{equal}')
    assert (scene.robot.joints["j"].limits, scene.robot.joints["j"].friction_loss) == ((), 0.0)
    assert not scene["a"].colliders


def test_a_joint_that_is_held_has_no_spring_and_no_drive(tmp_path: Path) -> None:
    joint = '<joint name="j" axis="0 1 0" stiffness="3"/>'
    equal = '<equality><joint joint1="j" polycoef="0.1"/></equality>'
    drive = '<actuator><position name="p" joint="j" kp="2"/></actuator>'
    scene = load(tmp_path, f"<worldbody><body>{joint}{BALL}</body></worldbody>{equal}{drive}")
    assert not scene.forces
    told = {entry.place: entry.note for entry in scene.import_report.dropped}
    assert "hold the joint" in told["joint 'j' damping"]
    assert "hold it" in told["actuator 'p'"]


def test_a_damped_ball_joint_loses_its_spin_as_a_damper_takes_it(tmp_path: Path) -> None:
    """J ω' = −c ω, and an implicit method of first order is as near as its step is short."""
    inertia = '<inertial mass="1" pos="0 0 0" diaginertia="2 2 2"/>'
    body = f'<worldbody><body name="a"><joint type="ball" damping="4"/>{inertia}</body></worldbody>'
    sim = rb.Simulation(load(tmp_path, body), time_step=0.001)
    sim["a"].angular_velocity = (1.0, -2.0, 3.0)
    sim.run(0.5)
    np.testing.assert_allclose(sim["a"].angular_velocity, np.array([1.0, -2.0, 3.0]) * math.exp(-1.0), rtol=1e-3)


def test_every_actuator_is_a_servo_a_motor_or_dropped_with_its_reason() -> None:
    scene = rb.Scene.from_file(Path(__file__).with_name("models") / "mjcf" / "actuators.xml")
    assert set(scene.forces) == {"p", "inherit", "v", "g"}
    assert scene.forces["p"].limit == math.inf
    assert scene.forces["g"].limit == 3.0  # that of the joint, which is lower
    assert {one.name for one in scene.robot.actuators if one.kind == "motor"} == {"m", "cy"}
    told = {
        entry.place.split("'")[1]: entry.note for entry in scene.import_report.dropped if "actuator '" in entry.place
    }
    linear, joint = "no linear function", "no joint of one freedom"
    reasons = {"iv": "integrates", "tendon": "against each other", **dict.fromkeys(("dm", "mu", "odd"), linear)}
    reasons |= dict.fromkeys(("jet", "ballmotor", "freemotor", "ad"), joint)
    assert told.keys() == reasons.keys()
    assert all(reason in told[name] for name, reason in reasons.items())
    ways = [entry.note for entry in scene.import_report.approximated if entry.place == "actuator 'g'"]
    assert "its force range is not even; it is 4 both ways" in ways


def test_actuators_take_controls_in_the_units_of_the_file(tmp_path: Path) -> None:
    body = '<body><joint name="j" axis="0 0 1"/><inertial mass="1" pos="0 0 0" diaginertia="1 1 1"/></body>'
    drive = '<general name="d" joint="j" biastype="affine" gainprm="0.5 0 0" biasprm="0 -20 -8"/>'
    scene = load(tmp_path, f"<worldbody>{body}</worldbody><actuator>{drive}</actuator>")
    scene.robot.control(scene, {"d": 40.0})
    sim = rb.Simulation(scene, time_step=0.002)
    sim.run(4.0)
    assert sim["j"].angle == pytest.approx(1.0, abs=1e-3)
    with pytest.raises(rb.UnknownName, match="There is no actuator 'e'"):
        scene.robot.control(scene, {"e": 1.0})


def test_a_passive_arm_swings_as_in_mujoco_ever_closer_as_the_step_shrinks(tmp_path: Path) -> None:
    """Two links with turned inertias, hinges in different directions, damping and a spring, for a second."""
    import mujoco

    first = '<inertial mass="1.5" pos="0.1 0.05 -0.3" quat="0.9 0.1 0.3 0.2" diaginertia="0.03 0.02 0.015"/>'
    second = '<inertial mass="0.7" pos="0.2 0 -0.1" quat="0.8 -0.3 0.1 0.4" diaginertia="0.01 0.008 0.005"/>'
    content = f"""<option integrator="RK4" timestep="0.0002"/><worldbody><body pos="0 0 1">
      <joint name="a" axis="0 1 0" damping="0.05"/>{first}<body pos="0 0.1 -0.6" euler="10 20 30">
      <joint name="b" axis="1 0.5 0" stiffness="2" springref="20" damping="0.02"/>{second}</body></body></worldbody>"""
    scene = load(tmp_path, content)
    start = {"a": 1.2, "b": -0.4}
    scene.robot.pose(scene, start)
    model = mujoco.MjModel.from_xml_path(str(tmp_path / "model.xml"))
    data = mujoco.MjData(model)
    data.qpos[:] = list(start.values())
    mujoco.mj_step(model, data, nstep=5000)
    errors = []
    for step in (0.002, 0.001, 0.0005):
        sim = rb.Simulation(scene.copy(), time_step=step)
        sim.run(1.0)
        errors.append(max(abs(sim["a"].angle - data.qpos[0]), abs(sim["b"].angle - data.qpos[1])))
    assert errors[2] < 2e-3
    assert errors[0] > 1.7 * errors[1] > 1.7**2 * errors[2]


def test_rotors_and_dampers_of_the_file_count_in_reduced_coordinates(tmp_path: Path) -> None:
    import mujoco

    first = '<inertial mass="1.5" pos="0.1 0.05 -0.3" diaginertia="0.03 0.02 0.015"/>'
    second = '<inertial mass="0.7" pos="0.2 0 -0.1" quat="0.8 -0.3 0.1 0.4" diaginertia="0.01 0.008 0.005"/>'
    content = f"""<worldbody><body pos="0 0 1"><joint name="a" axis="0 1 0" armature="0.2" damping="0.5"/>{first}
      <body pos="0 0.1 -0.6"><joint name="b" axis="1 0.5 0" armature="0.05"/>{second}</body></body></worldbody>"""
    scene = load(tmp_path, content)
    robot = rb.dynamics.Articulation(scene, damping=scene.robot.damping)
    model = mujoco.MjModel.from_xml_path(str(tmp_path / "model.xml"))
    data = mujoco.MjData(model)
    data.qpos[:], data.qvel[:] = (0.4, -0.9), (1.5, -0.7)
    mujoco.mj_forward(model, data)
    full = np.zeros((2, 2))
    mujoco.mj_fullM(model, data, full)
    assert robot.coordinates == ("a", "b")
    np.testing.assert_allclose(robot.mass_matrix(data.qpos), full, rtol=1e-12)
    np.testing.assert_allclose(robot.forward(data.qpos, data.qvel, np.zeros(2)), data.qacc, rtol=1e-9)
