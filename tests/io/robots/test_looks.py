"""Colours and cameras of a file, as pictures and the page take them."""

import math
from pathlib import Path

import numpy as np
import pytest

import rattleback as rb
from rattleback.recording.look import Appearance, as_light
from rattleback.recording.snapshot import snapshot_of
from rattleback.viewer.drawing.colours import by_body
from rattleback.viewer.drawing.joints import as_shown

pytest.importorskip("mujoco", reason="needs MuJoCo, pip install 'rattleback[formats]'")

MODELS = Path(__file__).with_name("models")
CONTENT = """<mujoco><asset><material name="red" rgba="0.9 0.1 0 1"/></asset>
<worldbody><geom name="wall" type="box" size="1 1 1" pos="9 0 0" rgba="0 0 1 1"/><camera name="far" pos="4 0 3"
 xyaxes="0 1 0 -0.6 0 0.8" fovy="50"/>
<body name="a"><joint/><geom size="0.1" material="red"/><camera name="own" pos="0 0 1" euler="0 0 90"/></body>
<body name="b" pos="0 1 0"><joint/><geom size="0.1"/></body></worldbody></mujoco>"""


def load(tmp_path: Path) -> rb.Scene:
    path = tmp_path / "model.xml"
    path.write_text(CONTENT)
    return rb.Scene.from_file(path)


def test_bodies_have_the_colours_of_their_file(tmp_path: Path) -> None:
    scene = load(tmp_path)
    assert scene.robot.colours == {"a": pytest.approx((0.9, 0.1, 0, 1)), "static": (0, 0, 1, 1)}
    shown = by_body(scene, {})
    np.testing.assert_array_equal(shown[scene.index("a")], (229, 25, 0))
    np.testing.assert_array_equal(shown[scene.index("static")], (0, 0, 255))
    snapshot = snapshot_of(rb.Simulation(scene))
    found, plain = (Appearance(colour=colour).colours(snapshot, 1.0) for colour in ("body", "palette"))
    np.testing.assert_allclose(found[scene.index("a")], as_light(np.array([0.9, 0.1, 0.0])), atol=1e-7)
    assert not np.allclose(found[scene.index("a")], plain[scene.index("a")])
    # What has no colour in the file has one of ours.
    np.testing.assert_array_equal(found[scene.index("b")], plain[scene.index("b")])


def test_cameras_of_a_file_are_cameras_of_pictures(tmp_path: Path) -> None:
    scene = load(tmp_path)
    camera = rb.Camera(**scene.robot.camera(scene, "far"))
    np.testing.assert_allclose(camera.eye, (4, 0, 3), atol=1e-12)
    np.testing.assert_allclose(camera.axes(), ((0, 1, 0), (-0.6, 0, 0.8), (0.8, 0, 0.6)), atol=1e-12)
    assert camera.field_of_view == pytest.approx(math.radians(50))
    own = rb.Camera(**scene.robot.camera(rb.Simulation(scene), "own"))
    assert own.eye[2] == pytest.approx(1.0, abs=5e-3)
    with pytest.raises(rb.UnknownName, match="no camera 'fat'. Did you mean 'far'"):
        scene.robot.camera(scene, "fat")


def test_links_without_mass_are_shown_as_small_balls() -> None:
    scene = rb.Scene.from_file(MODELS / "mjcf" / "nested_defaults.xml")
    between = [scene[name] for name in ("thigh 1", "thigh 2")]
    assert all(body.shape.bounding_radius() < 0.05 for body in between)
    assert not any(body.colliders for body in between)


def test_a_link_whose_looks_are_missing_is_shown_by_what_collides(tmp_path: Path) -> None:
    seen = '<visual><geometry><mesh filename="gone.stl"/></geometry></visual>'
    seen += '<visual><geometry><sphere radius="0.1"/></geometry></visual>'
    solid = '<collision><geometry><box size="1 1 1"/></geometry></collision>'
    inertial = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'
    path = tmp_path / "robot.urdf"
    for looks, radius in ((seen, math.sqrt(0.75)), (seen.replace("gone.stl", "x").replace("mesh", "nothing"), 0.1)):
        path.write_text(f'<robot name="r"><link name="a">{inertial}{looks}{solid}</link></robot>')
        if "nothing" in looks:
            path.write_text(
                path.read_text().replace('<visual><geometry><nothing filename="x"/></geometry></visual>', "")
            )
        scene = rb.Scene.from_file(path, base="floating")
        assert scene["a"].shape.bounding_radius() == pytest.approx(radius)


def test_wheels_of_couplings_are_no_larger_on_the_page_than_what_they_turn() -> None:
    """Between slides runs a pinion of a radius of 1 m, so that it turns little; between hinges wheels that touch."""
    arm = rb.Scene.from_file(Path(__file__).resolve().parents[3] / "examples" / "robots" / "arm.urdf")
    racks = [joint for joint in arm.joints.values() if isinstance(joint, rb.Rack)]
    assert racks
    for rack in racks:
        reach = max(arm[name].shape.bounding_radius() for name in (rack.a, rack.b))
        assert as_shown(arm, rack).radius <= 1.5 * reach < rack.radius
    gripper = rb.Scene.from_file(MODELS / "mjcf" / "gripper.xml")
    gear = next(joint for joint in gripper.joints.values() if isinstance(joint, rb.Gear))
    np.testing.assert_allclose(gear.radii, (0.04, 0.04), atol=1e-12)
    assert as_shown(gripper, gear).radii == gear.radii
