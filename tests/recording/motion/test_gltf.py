"""Animated glTF read back number by number, by the format's own rules and by another reader."""

import base64
import json
import struct

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import rattleback as rb

# From glTF, y up, to the simulation, z up.
BACK = np.array([(1.0, 0.0, 0.0), (0.0, 0.0, -1.0), (0.0, 1.0, 0.0)])


def chunks(path):
    content = path.read_bytes()
    magic, version, total = struct.unpack_from("<4sII", content)
    assert (magic, version, total) == (b"glTF", 2, len(content))
    length, kind = struct.unpack_from("<I4s", content, 12)
    assert kind == b"JSON"
    assert length % 4 == 0
    size, kind = struct.unpack_from("<I4s", content, 20 + length)
    assert kind == b"BIN\0"
    assert 28 + length + size == total
    return json.loads(content[20 : 20 + length]), content[28 + length :]


class Reader:
    """A glTF document and its buffer."""

    def __init__(self, document, buffer):
        self.json, self.buffer = document, buffer
        self.nodes = {node["name"]: index for index, node in enumerate(document["nodes"])}

    def numbers(self, index):
        entry = self.json["accessors"][index]
        view = self.json["bufferViews"][entry["bufferView"]]
        kind = {5126: "<f4", 5125: "<u4"}[entry["componentType"]]
        count = entry["count"] * {"SCALAR": 1, "VEC3": 3, "VEC4": 4}[entry["type"]]
        assert count * 4 == view["byteLength"]
        assert view["byteOffset"] + view["byteLength"] <= len(self.buffer)
        return np.frombuffer(self.buffer, kind, count, view["byteOffset"]).reshape(entry["count"], -1)

    def keys(self, name, path):
        """Times and values of a node's animation; its rest where there is none."""
        (motion,) = self.json["animations"]
        for channel in motion["channels"]:
            if channel["target"] == {"node": self.nodes[name], "path": path}:
                sampler = motion["samplers"][channel["sampler"]]
                assert sampler["interpolation"] == "LINEAR"
                return self.numbers(sampler["input"])[:, 0], self.numbers(sampler["output"])
        return None

    def node(self, name):
        return self.json["nodes"][self.nodes[name]]


def recorded(scene, time_step=0.01, duration=0.5, more=()):
    sim = rb.Simulation(scene, time_step=time_step)
    recorder = rb.Recorder(sim, quantities=["position", "orientation", "velocity", "energy", *more])
    sim.run(duration)
    return recorder


@pytest.fixture(scope="module")
def crank(tmp_path_factory):
    recorder = recorded(
        rb.scenes.slider_crank(), more=["bearing.reaction_force", ("twice [s]", lambda sim: 2 * sim.time)]
    )
    path = tmp_path_factory.mktemp("gltf") / "crank.glb"
    told = recorder.export(path, fps=50)
    return recorder, Reader(*chunks(path)), told


def test_every_body_is_at_every_frame_where_the_recording_has_it(crank):
    recorder, reader, told = crank
    assert (told.frames, told.fps) == (26, 50)
    for row, body in enumerate(recorder.simulation.scene.bodies):
        time, place = reader.keys(body.name, "translation")
        np.testing.assert_allclose(time, np.arange(26) / 50.0, rtol=0, atol=1e-7)
        np.testing.assert_allclose(place @ BACK.T, recorder["position"][::2, row], rtol=0, atol=1e-6)
        keys = reader.keys(body.name, "rotation")
        turn = np.array([reader.node(body.name)["rotation"]]) if keys is None else keys[1]
        seen = np.einsum("ij,tjk,lk->til", BACK, Rotation.from_quat(turn).as_matrix(), BACK)
        wanted = Rotation.from_quat(recorder["orientation"][::2, row]).as_matrix()
        np.testing.assert_allclose(np.broadcast_to(seen, wanted.shape), wanted, rtol=0, atol=1e-6)


def test_the_two_points_of_a_joint_stay_together(crank):
    recorder, reader, _ = crank
    scene, worst = recorder.simulation.scene, 0.0
    for name in ("pin", "cross", "bearing"):
        joint, found = scene.joints[name], []
        for side, owner in (("a", joint.a), ("b", joint.b)):
            local = BACK @ np.array(reader.node(f"{name}.point_{side}")["translation"])
            if owner == "world":
                assert reader.nodes[f"{name}.point_{side}"] in reader.json["scenes"][0]["nodes"]
                found.append(np.tile(local, (26, 1)))
                continue
            assert reader.nodes[f"{name}.point_{side}"] in reader.node(owner)["children"]
            row = [body.name for body in scene.bodies].index(owner)
            turn = Rotation.from_quat(recorder["orientation"][::2, row])
            found.append(recorder["position"][::2, row] + turn.apply(local))
        worst = max(worst, np.abs(found[0] - found[1]).max())
    assert worst < 1e-5


def test_arrows_point_along_velocities_and_forces_and_are_as_long_as_they_say(crank):
    recorder, reader, _ = crank
    for name, body in (("slider.velocity", "slider"), ("bearing.reaction_force", None)):
        vectors = recorder[name][::2]
        _, size = reader.keys(name, "scale")
        _, turn = reader.keys(name, "rotation")
        scale = reader.node(name)["extras"]["rattleback"]["metres_per_unit"]
        tip = Rotation.from_quat(turn).apply(np.array([0.0, 1.0, 0.0])) * size[:, :1] @ BACK.T
        np.testing.assert_allclose(tip, scale * vectors, rtol=0, atol=2e-6 * scale * np.abs(vectors).max())
        if body is not None:
            np.testing.assert_allclose(reader.keys(name, "translation")[1], reader.keys(body, "translation")[1])


def test_what_was_recorded_stands_beside_the_motion(crank):
    recorder, reader, told = crank
    about = reader.json["scenes"][0]["extras"]["rattleback"]
    assert about["fps"] == 50
    assert (
        (about["position_error"], about["orientation_error"]) == (told.position_error, told.orientation_error) == (0, 0)
    )
    entries = {entry["name"]: entry for entry in about["quantities"]}
    np.testing.assert_allclose(
        reader.numbers(entries["energy.total"]["accessor"])[:, 0], recorder["energy.total"][::2], rtol=1e-6
    )
    np.testing.assert_allclose(
        reader.numbers(entries["slider.velocity"]["accessor"]), recorder["slider.velocity"][::2], atol=1e-6
    )
    assert entries["twice"]["unit"] == "s"
    _, place = reader.keys("twice", "translation")
    np.testing.assert_allclose(place[:, 0], 2.0 * np.arange(26) / 50.0, rtol=0, atol=1e-6)


def test_bodies_that_are_alike_share_their_vertices_and_static_ones_do_not_move(tmp_path):
    scene = rb.Scene()
    scene.add_static(rb.Plane(), name="ground")
    balls = [scene.add_body(rb.Sphere(0.1), position=(k, 0, 1), name=f"ball {k}") for k in range(20)]
    recorder = recorded(scene, duration=0.1)
    recorder.export(tmp_path / "balls.gltf", fps=100, arrows=False)
    document = json.loads((tmp_path / "balls.gltf").read_text())
    buffer = base64.b64decode(document["buffers"][0]["uri"].partition(",")[2])
    assert len(buffer) == document["buffers"][0]["byteLength"]
    reader = Reader(document, buffer)
    used = {
        document["meshes"][reader.node(ball.name)["mesh"]]["primitives"][0]["attributes"]["POSITION"] for ball in balls
    }
    assert len(used) == 1
    assert len(document["meshes"]) < 20
    assert reader.keys("ground", "translation") is None
    assert reader.keys("ball 3", "rotation") is None
    assert not [name for name in reader.nodes if name.endswith(".velocity")]


def test_another_reader_finds_every_solid_with_its_volume_where_it_starts(tmp_path):
    trimesh = pytest.importorskip("trimesh")
    scene = rb.Scene(gravity=(0, 0, 0))
    tilt = (0.5, 0.5, 0.5, 0.5)
    shapes = {
        "box": rb.Box(1.0, 0.4, 0.2),
        "ellipsoid": rb.Ellipsoid(0.5, 0.3, 0.2),
        "capsule": rb.Capsule(0.1, 0.8),
        "cone": rb.Cone(0.3, 0.9),
        "both": rb.Compound((rb.Placed(rb.Box(1, 1, 1)), rb.Placed(rb.Cylinder(0.2, 1.0), position=(2, 0, 0)))),
    }
    for number, (name, shape) in enumerate(shapes.items()):
        scene.add_body(shape, position=(3.0 * number, 1.0, 2.0), orientation=tilt, name=name)
    recorded(scene, duration=0.02).export(tmp_path / "solids.glb", joints=False)
    found = trimesh.load(tmp_path / "solids.glb")
    for name, shape in shapes.items():
        place, mesh = found.graph.get(name)
        solid = found.geometry[mesh]
        volume = trimesh.Trimesh(solid.vertices, solid.faces).volume
        assert volume == pytest.approx(shape.volume(), rel=0.02)
        matrix = np.eye(4)
        matrix[:3, :3] = BACK.T @ Rotation.from_quat(tilt).as_matrix() @ BACK
        matrix[:3, 3] = BACK.T @ scene[name].origin
        np.testing.assert_allclose(place, matrix, rtol=0, atol=1e-6)
