import json
from pathlib import Path

import numpy as np
import pytest

import rattleback as rb
from rattleback.characters import Clip, Figure, Joint, Skeleton, Skin, load
from rattleback.characters.formats.gltf_file import GltfFile

ODD = """HIERARCHY
ROOT Hips {
  OFFSET 1 2 3
  CHANNELS 6 Zrotation Xrotation Yrotation Xposition Yposition Zposition
  JOINT Left Leg
  {
    OFFSET 0 -1 0
    CHANNELS 2 Xrotation Yposition
    End Site
    { OFFSET 0 -1 0 }
  }
}
ROOT Ball
{
  OFFSET 9 0 0
  CHANNELS 0
}
MOTION
Frames: 2
Frame Time: 0.25
0 0 0 0 0 0 0 -1
90 0 0 10 20 30 90 -3
"""


def test_bvh_takes_channels_in_any_order_and_several_roots(tmp_path: Path) -> None:
    (tmp_path / "odd.bvh").write_text(ODD)
    figure = load(tmp_path / "odd.bvh")
    assert figure.skeleton.names == ("Hips", "Left Leg", "Left Leg_end", "Ball")
    clip = figure.clip()
    assert (clip.frame_time, clip.duration) == (0.25, 0.25)
    frames = figure.skeleton.forward(clip.pose(0.25))
    # Positions replace offsets. The hips are turned about z, the leg about x, and its place is 3 below the hips.
    np.testing.assert_allclose(frames["Hips"][:3, 3], [10, 20, 30], atol=1e-12)
    np.testing.assert_allclose(frames["Left Leg"][:3, 3], [10 + 3, 20, 30], atol=1e-12)
    np.testing.assert_allclose(frames["Left Leg_end"][:3, 3], [13, 20, 29], atol=1e-12)
    np.testing.assert_allclose(frames["Ball"][:3, 3], [9, 0, 0])


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (("HIERARCHY", "HIERARCHIE"), "is neither BVH"),
        (("ROOT Hips", "JOINT Hips"), "line 2: JOINT stands outside of a ROOT"),
        (("JOINT Left Leg", "ROOT Left Leg"), "line 5: a ROOT stands inside of a joint"),
        (("JOINT Left Leg", "JOINT"), "line 5: a JOINT has no name"),
        (("OFFSET 1 2 3", "OFFSET 1 2"), "line 3: '1 2' stands where 3 numbers are expected"),
        (("6 Zrot", "5 Zrot"), "line 4: the channels .* are not a number and as many"),
        (("2 Xrotation", "2 Wrotation"), "line 8: the channels"),
        (("CHANNELS 0", "CHANNELS"), "line 16: the channels"),
        (("CHANNELS 0", "COLOR red"), "line 16: 'COLOR' has no place here"),
        (("End Site\n    {", "End Site\n"), "stands where '{' is expected"),
        (("{ OFFSET 0 -1 0 }", "{ JOINT x { } }"), "something hangs on an End Site"),
        (("Frames: 2", "Bones: 2"), "stands where 'Frames:' is expected"),
        (("Frames: 2", "Frames: -2"), "there are -2 frames"),
        (("Time: 0.25", "Time: -1"), "there are 2 frames of -1 s"),
        (("Frames: 2", "Frames: 3"), "has 16 numbers behind its frame time; 3 frames of 8 channels need 24"),
        (("20 30", "20 nan"), "has a number in frame 1 that is not finite"),
        (("20 30", "20 x"), "has a frame that is not of numbers"),
        ((ODD[ODD.index("Frames") :], ""), "ends where the line Frames: is expected"),
    ],
)
def test_a_spoilt_bvh_file_is_refused_with_its_line(change: tuple[str, str], words: str, tmp_path: Path) -> None:
    (tmp_path / "odd.bvh").write_text(ODD.replace(*change, 1))
    with pytest.raises(rb.FileError, match=words):
        load(tmp_path / "odd.bvh")


@pytest.mark.parametrize(
    "change",
    [
        ("\n", "\r\n"),
        ("\n", "\n\n"),
        (" ", "\t"),
        ("Frames: ", "FRAMES:"),
        ("rotation", "ROTATION"),
        ("OFFSET", "offset"),
    ],
)
def test_bvh_files_may_be_written_in_many_ways(change: tuple[str, str], tmp_path: Path) -> None:
    (tmp_path / "plain.bvh").write_text(ODD.replace("Left Leg", "LeftLeg"))
    (tmp_path / "other.bvh").write_text(ODD.replace("Left Leg", "LeftLeg").replace(*change), newline="")
    one, other = (load(tmp_path / f"{name}.bvh") for name in ("plain", "other"))
    found, wanted = (f.skeleton.matrices(f.clip().pose(f.clip().frames)) for f in (one, other))
    assert np.array_equal(found, wanted)


@pytest.mark.parametrize("name", ["KHR_draco_mesh_compression", "EXT_meshopt_compression", "MY_shapes"])
def test_a_gltf_file_that_needs_what_is_not_read_is_refused_by_name(name: str, figure: Figure, tmp_path: Path) -> None:
    figure.save(tmp_path / "plain.gltf")
    data = json.loads((tmp_path / "plain.gltf").read_text())
    data["extensionsRequired"] = ["KHR_mesh_quantization", "KHR_materials_unlit"]
    (tmp_path / "plain.gltf").write_text(json.dumps(data))
    assert load(tmp_path / "plain.gltf").skins
    data["extensionsRequired"].append(name)
    (tmp_path / "plain.gltf").write_text(json.dumps(data))
    with pytest.raises(rb.FileError, match=f"it needs the extension '{name}', which is not read here; "):
        load(tmp_path / "plain.gltf")


def test_a_gltf_mesh_without_a_skin_follows_its_node(figure: Figure, tmp_path: Path) -> None:
    figure.save(tmp_path / "plain.gltf")
    data = json.loads((tmp_path / "plain.gltf").read_text())
    node = next(node for node in data["nodes"] if "skin" in node)
    del node["skin"]
    (tmp_path / "plain.gltf").write_text(json.dumps(data))
    found = load(tmp_path / "plain.gltf").skin
    assert len(np.unique(found.joints)) == 1


def test_bvh_joints_are_where_the_reference_says(data: Path) -> None:
    for name, wanted in json.loads((data / "oracle" / "bvh_world_positions.json").read_text()).items():
        if (data / "bvh" / name).is_file():
            figure = load(data / "bvh" / name)
            assert list(figure.skeleton.names) == wanted["joints"]
            poses = figure.clip().pose(figure.clip().frame_time * np.array(wanted["frames"]))
            found = figure.skeleton.matrices(poses)[..., :3, 3]
            np.testing.assert_allclose(found, wanted["world_positions"], rtol=0, atol=6e-7)  # its digits end there


def test_gltf_vertices_are_where_the_reference_says(data: Path) -> None:
    for key, wanted in json.loads((data / "oracle" / "gltf_linear_blend_positions.json").read_text()).items():
        name, number, time = key.split("|")
        figure = load(data / "gltf" / name)
        found = figure.skin.vertices(list(figure.clips.values())[int(number)].pose(float(time)))
        size = np.ptp(found, axis=0).max()
        assert len(found) == wanted[0]["n"]
        np.testing.assert_allclose(found[:50], wanted[0]["first50"], rtol=0, atol=1e-6 * size)


@pytest.fixture
def figure(arm: Skeleton) -> Figure:
    turns = rb.rotation.random(6, seed=5)
    keys = {0.0: {"Hand": turns[0], "Upper": turns[1]}, 0.4: {"Hand": turns[2]}, 1.0: {"Forearm": turns[3]}}
    points = np.random.default_rng(0).normal(size=(30, 3))
    joints = np.random.default_rng(1).integers(0, 4, size=(30, 5))
    skin = Skin(arm, points, [[0, 1, 2], [3, 4, 5]], joints=joints, weights=np.random.default_rng(2).random((30, 5)))
    return Figure(arm, {"wave": Clip.from_keys(arm, keys, "wave")}, {"cloud": skin})


@pytest.mark.parametrize("ending", ["glb", "gltf", "bvh"])
def test_what_is_written_is_read_again(figure: Figure, ending: str, tmp_path: Path) -> None:
    path = tmp_path / f"figure.{ending}"
    figure.save(path)
    again = load(path)
    times = np.array([0.0, 1 / 30, 0.4, 1.0])
    clip, other = figure.clip(), next(iter(again.clips.values()))
    assert sorted(again.skeleton.names) == sorted(figure.skeleton.names)
    before, after = (f.skeleton.forward(c.pose(times)) for f, c in ((figure, clip), (again, other)))
    for name in before:
        np.testing.assert_allclose(after[name], before[name], atol=1e-12 if ending == "bvh" else 1e-5)
    if ending != "bvh":
        found, wanted = again.skin.vertices(other.pose(0.7)), figure.skin.vertices(clip.pose(0.7))
        np.testing.assert_allclose(found, wanted, atol=1e-5)
        assert np.array_equal(again.skin.faces, figure.skin.faces)
        assert [joint.end for joint in again.skeleton.joints] == [joint.end for joint in figure.skeleton.joints]


def test_trimesh_reads_the_same_mesh(figure: Figure, tmp_path: Path) -> None:
    trimesh = pytest.importorskip("trimesh")
    figure.save(tmp_path / "figure.glb")
    mesh = next(iter(trimesh.load(tmp_path / "figure.glb", process=False).geometry.values()))
    np.testing.assert_allclose(mesh.vertices, figure.skin.points, atol=1e-6)


def spoil(path: Path, change: dict[str, object]) -> None:
    document = json.loads(path.read_text())
    for place, value in change.items():
        *way, last = [int(part) if part.isdigit() else part for part in place.split(".")]
        at = document
        for part in way:
            at = at[part]
        at[last] = value
    path.write_text(json.dumps(document))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"asset.version": "1.0"}, "does not say that it is of version 2.0"),
        ({"nodes": []}, "entry 0 of 'nodes', which has 0"),
        ({"nodes.0.children": [99]}, "entry 99 of 'nodes'"),
        ({"nodes.1.children": [0, 2]}, "hangs on"),
        ({"nodes.0.rotation": [0, 0, 0, 0]}, "the rotation of node 'Upper' is zero"),
        ({"nodes.0.scale": [1, "a", 1]}, "the scale of node 'Upper' is .* must be 3 numbers"),
        ({"skins.0.joints": []}, "a skin has no joints"),
        ({"accessors.0.count": 10**6}, "lies beyond its buffer"),
        ({"accessors.0.count": 2**40}, "more than can be"),
        ({"accessors.0.type": "VEC9"}, "a type or a count that is not known"),
        ({"buffers.0.uri": "../secret.bin"}, "only files in the folder of the glTF file are read"),
        ({"buffers.0.uri": "file:other.bin"}, "only files in the folder of the glTF file are read"),
        ({"buffers.0.uri": "data:;base64,%%%"}, "buffer 0 is not base64"),
        ({"buffers.0": {"byteLength": 1}}, "buffer 0 has no address"),
        ({"animations.0.samplers.0.interpolation": "WILD"}, "an interpolation 'WILD' that is not known"),
        ({"animations.0.channels.0.sampler": 77}, "names sampler 77"),
        ({"meshes.0.primitives.0.mode": 0}, "has no triangles"),
        ({"meshes": "none"}, "'meshes' is not a list of tables"),
    ],
)
def test_a_spoilt_gltf_file_is_refused(change: dict[str, object], words: str, figure: Figure, tmp_path: Path) -> None:
    path = tmp_path / "figure.gltf"
    figure.save(path)
    spoil(path, change)
    with pytest.raises(rb.FileError, match=words):
        load(path)


def test_a_binary_file_that_is_cut_off_is_refused(figure: Figure, tmp_path: Path) -> None:
    figure.save(tmp_path / "figure.glb")
    (tmp_path / "cut.glb").write_bytes((tmp_path / "figure.glb").read_bytes()[:400])
    with pytest.raises(rb.FileError, match="it is cut off"):
        GltfFile(tmp_path / "cut.glb")
    (tmp_path / "empty.glb").write_bytes(b"glTF" + bytes(8))
    with pytest.raises(rb.FileError, match="it has no JSON inside"):
        GltfFile(tmp_path / "empty.glb")


def test_a_figure_in_the_world_is_in_metres_and_upright(figure: Figure) -> None:
    placed = figure.in_world(unit=0.01)
    assert placed.skin.vertices(placed.skeleton.rest).shape == (30, 3)
    before, after = (f.skin.vertices(f.clip().pose(0.3)) for f in (figure, placed))
    np.testing.assert_allclose(after, 0.01 * before[:, [2, 0, 1]], atol=1e-14)
    tall = Figure(figure.skeleton).in_world(height=1.8, up="z")
    assert np.isclose(np.ptp(tall.skeleton.matrices(tall.skeleton.rest)[:, 2, 3]), 1.8)


def test_what_does_not_fit_a_figure_is_refused(figure: Figure, tmp_path: Path) -> None:
    other = Skeleton([Joint("lone")], "lone")
    with pytest.raises(rb.InputError, match="Clip 'wave' belongs to"):
        Figure(other, figure.clips)
    with pytest.raises(rb.InputError, match="give one of the two"):
        figure.in_world()
    with pytest.raises(rb.InputError, match="'arm' has no height at rest"):
        Figure(figure.skeleton).in_world(height=1.0)
    with pytest.raises(rb.InputError, match="'lone' has no skin"):
        Figure(other).skin  # noqa: B018
    with pytest.raises(rb.InputError, match="'lone' has no clips"):
        Figure(other).clip()
    with pytest.raises(rb.UnknownName, match="no clip 'wive'. Did you mean 'wave'"):
        figure.clip("wive")
    with pytest.raises(rb.InputError, match="it must end in .glb or .gltf"):
        figure.save(tmp_path / "figure.fbx")
