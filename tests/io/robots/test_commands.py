"""Actuators by name, named states, frames and sensors of a file while a simulation of it runs."""

import itertools
import math
from pathlib import Path

import numpy as np
import pytest

import rattleback as rb

mujoco = pytest.importorskip("mujoco", reason="needs MuJoCo, pip install 'rattleback[formats]'")

HEAVY = '<inertial mass="1.5" pos="0.1 0.05 -0.3" quat="0.9 0.1 0.3 0.2" diaginertia="0.03 0.02 0.015"/>'
ARM = f"""
<worldbody>
  <site name="corner" pos="0.3 -0.2 0.5" euler="20 30 40"/>
  <body name="upper" pos="0 0 1" euler="10 0 0"><joint name="shoulder" axis="0 1 0.2"/>{HEAVY}
    <body name="lower" pos="0 0.1 -0.6" euler="10 20 30">
      <joint name="extend" type="slide" axis="1 0.5 0"/>{HEAVY}
      <site name="tip" pos="0.1 0.2 -0.4" euler="50 -20 10"/>
      <body name="hand" pos="0 0 -0.2"><inertial mass="0.2" pos="0 0 0" diaginertia="1e-3 1e-3 1e-3"/></body>
    </body>
  </body>
  <body name="ball" pos="1 0 0"><freejoint/>{HEAVY}<camera name="eye" pos="0.1 0 0"/></body>
</worldbody>
<actuator>
  <motor name="turn" joint="shoulder" gear="3" ctrlrange="-2 2" forcerange="-1.5 1.5"/>
  <position name="reach" joint="extend" kp="40" kv="9"/>
</actuator>
<keyframe><key name="high" qpos="1.2 0.3 2 0 0.5 1 0 0 0" ctrl="0.5 0.3"/></keyframe>
"""


def of_frame(kind: str, name: str, on: str, more: str = "") -> str:
    return f'<{kind} name="{kind} of {name}" objtype="{on}" objname="{name}"{more}/>'


FRAMES = [("tip", "site"), ("lower", "body"), ("lower", "xbody"), ("hand", "xbody"), ("eye", "camera")]
KINDS = [f"frame{end}" for end in ("pos", "quat", "xaxis", "yaxis", "zaxis", "linvel", "angvel")]
AGAINST = ' reftype="xbody" refname="upper"'
SENSORS = "".join(
    [
        '<jointpos name="q" joint="shoulder"/><jointvel name="qd" joint="shoulder"/>',
        '<jointpos name="s" joint="extend"/><jointvel name="sd" joint="extend"/>',
        '<actuatorpos name="length" actuator="turn"/><actuatorvel name="rate" actuator="turn"/>',
        '<velocimeter name="own velocity" site="tip"/><gyro name="own spin" site="tip"/><clock name="now"/>',
        *(of_frame(kind, name, on).replace("of", on, 1) for kind, (name, on) in itertools.product(KINDS, FRAMES)),
        *(of_frame(kind, "tip", "site", AGAINST).replace("of", "against") for kind in KINDS),
    ]
)


def load(tmp_path: Path, content: str = ARM, sensors: str = SENSORS) -> rb.Scene:
    path = tmp_path / "arm.xml"
    path.write_text(f"<mujoco>{content}<sensor>{sensors}</sensor></mujoco>")
    return rb.Scene.from_file(path)


def test_sensors_show_what_mujoco_shows_and_a_recorder_takes_their_names(tmp_path: Path) -> None:
    scene = load(tmp_path)
    sim = rb.Simulation(scene, time_step=0.002, joints="reduced")
    sim["ball"].angular_velocity = (1.0, 2.0, -3.0)
    scene.robot.control(sim, {"turn": 1.0, "reach": 0.2})
    recorder = rb.Recorder(sim, every=100, quantities=list(scene.robot.measures))
    sim.run(0.4)

    model = mujoco.MjModel.from_xml_path(str(tmp_path / "arm.xml"))
    data, ball = mujoco.MjData(model), scene.robot.motion(sim, "ball")
    x, y, z, w = ball[1]
    turn = rb.rotation.matrix_from_quaternion(ball[1])
    data.time = sim.time
    data.qpos[:] = [sim["shoulder"].angle, sim["extend"].position, *ball[0], w, x, y, z]
    data.qvel[:] = [sim["shoulder"].velocity, sim["extend"].velocity, *ball[2], *(turn.T @ ball[3])]
    mujoco.mj_forward(model, data)
    assert abs(data.qvel).min() > 1e-3
    for name, measure in scene.robot.measures.items():
        expected = data.sensor(name).data
        if "quat" in name:
            expected = np.roll(expected, -1)
            expected = expected * np.sign(expected @ measure.read(sim))
        np.testing.assert_allclose(measure.read(sim), np.squeeze(expected), atol=1e-9, err_msg=name)
        np.testing.assert_array_equal(recorder[name][-1], measure.read(sim))
    assert len(scene.robot.measures) == model.nsensor
    assert recorder.unit("own spin") == "rad/s"


def test_energy_sensors_are_those_of_the_simulation(tmp_path: Path) -> None:
    sensors = '<e_kinetic name="moving"/><e_potential name="waiting"/>'
    scene = load(tmp_path, sensors=sensors)
    sim = rb.Simulation(scene, time_step=0.002)
    sim.run(0.1)
    assert scene.robot.measure(sim, "moving") == sim.energy().kinetic
    assert scene.robot.measure(sim, "waiting") == sim.energy().potential


def test_sensors_that_are_no_quantity_are_dropped_with_a_word(tmp_path: Path) -> None:
    sensors = '<accelerometer name="a" site="tip"/><jointpos name="q" joint="shoulder" noise="1"/>'
    scene = load(tmp_path, sensors=sensors)
    told = {entry.place.split("/")[-1]: entry.note for entry in scene.import_report.dropped}
    assert "no quantity here" in told["accelerometer 'a'"]
    assert "as it is" in told["jointpos 'q' @noise"]
    assert list(scene.robot.measures) == ["q"]
    with pytest.raises(rb.UnknownName, match="No sensor 'a' measures. There are 'q'"):
        scene.robot.measure(rb.Simulation(scene), "a")


def test_motors_give_efforts_within_their_ranges(tmp_path: Path) -> None:
    scene = load(tmp_path, sensors='<actuatorfrc name="f" actuator="turn"/>')
    sim = rb.Simulation(scene, time_step=0.001)
    for control, force in ((0.4, 0.4), (1.8, 1.5), (-7.0, -1.5)):
        scene.robot.control(sim, {"turn": control})
        assert sim["shoulder"].torque == pytest.approx(3.0 * force)
        assert scene.robot.effort(sim, "turn") == pytest.approx(force)
        assert scene.robot.measure(sim, "f") == pytest.approx(force)
    with pytest.raises(rb.InputError, match="'turn' is a motor, which acts in a simulation only"):
        scene.robot.control(scene, {"turn": 1.0})
    with pytest.raises(rb.UnknownName, match="no actuator 'tern'. Did you mean 'turn'"):
        scene.robot.control(sim, {"tern": 1.0})
    with pytest.raises(rb.InputError, match="The control of actuator 'turn'"):
        scene.robot.control(sim, {"turn": math.nan})


def test_a_named_state_is_taken_at_once_with_its_controls(tmp_path: Path) -> None:
    scene = load(tmp_path)
    sim = rb.Simulation(scene, time_step=0.002, joints="reduced")
    sim.run(0.1)
    scene.robot.pose(sim, "high")
    assert sim["shoulder"].angle == pytest.approx(1.2, abs=1e-12)
    assert sim["extend"].position == pytest.approx(0.3, abs=1e-12)
    np.testing.assert_allclose(scene.robot.frame(sim, "ball")[:3, 3], (2, 0, 0.5), atol=1e-12)
    assert abs(sim.state.velocity).max() == abs(sim.state.angular_velocity).max() == 0.0
    assert sim.servo("reach").target == pytest.approx(0.3)
    assert sim["shoulder"].torque == pytest.approx(1.5)
    model = mujoco.MjModel.from_xml_path(str(tmp_path / "arm.xml"))
    data = mujoco.MjData(model)
    mujoco.mj_resetDataKeyframe(model, data, 0)
    mujoco.mj_forward(model, data)
    for name in ("tip", "corner"):
        found = scene.robot.frame(sim, name)
        np.testing.assert_allclose(found[:3, 3], data.site(name).xpos, atol=1e-12)
        np.testing.assert_allclose(found[:3, :3].ravel(), data.site(name).xmat, atol=1e-12)
    scene.robot.pose(scene, "high")
    assert scene.forces["reach"].target == pytest.approx(0.3)
    np.testing.assert_allclose(scene.robot.frame(scene, "tip")[:3, 3], data.site("tip").xpos, atol=1e-12)
    with pytest.raises(rb.UnknownName, match="no frame 'top'. Did you mean 'tip'"):
        scene.robot.frame(sim, "top")


def test_worlds_are_posed_commanded_and_recorded_together(tmp_path: Path) -> None:
    scene = load(tmp_path, sensors=of_frame("framepos", "tip", "site"))
    sim = rb.Simulation(scene, time_step=0.002, worlds=3)
    scene.robot.pose(sim, "high")
    scene.robot.control(sim, {"turn": [0.1, 0.2, 0.3]})
    np.testing.assert_allclose(sim["shoulder"].torque, (0.3, 0.6, 0.9))
    names = ["framepos of tip", "tip.velocity", "hand.position"]
    recorder = rb.Recorder(sim, quantities=names)
    sim.step(3)
    assert scene.robot.frame(sim, "tip").shape == (3, 4, 4)
    assert recorder["framepos of tip"].shape == recorder["hand.position"].shape == (4, 3, 3)
    np.testing.assert_array_equal(recorder["framepos of tip"][-1], scene.robot.frame(sim, "tip")[:, :3, 3])
    drift = np.diff(recorder["framepos of tip"], axis=0)[-1] / 0.002
    np.testing.assert_allclose(drift, recorder["tip.velocity"][-2:].mean(axis=0), atol=1e-4)
