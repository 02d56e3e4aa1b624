import numpy as np
import pytest

import rattleback as rb
from rattleback.characters import Skeleton, Skin


def turned(tube: Skin, angle: float) -> rb.characters.Pose:
    return tube.skeleton.posed({"High": rb.rotation.quaternion_from_axis_angle((0, 0, 1), angle)})


def test_a_twist_collapses_linear_blending_and_not_dual_quaternions(tube: Skin) -> None:
    angle = np.radians(178)
    middle = slice(10 * 16, 11 * 16)
    radii = {
        m: np.linalg.norm(tube.vertices(turned(tube, angle), m)[middle, :2], axis=1)
        for m in ("linear", "dual_quaternion")
    }
    np.testing.assert_allclose(radii["linear"], np.cos(angle / 2), atol=1e-12)  # 0.0175, the candy wrapper
    np.testing.assert_allclose(radii["dual_quaternion"], 1.0, atol=1e-12)


@pytest.mark.parametrize("method", ["linear", "dual_quaternion"])
def test_a_skin_moves_as_a_whole_with_its_root(tube: Skin, method: str) -> None:
    turn = rb.rotation.random(1, seed=3)[0]
    pose = tube.skeleton.posed({"Low": turn})
    np.testing.assert_allclose(tube.vertices(pose, method), rb.rotation.rotate(turn, tube.points), atol=1e-12)
    np.testing.assert_allclose(tube.vertices(tube.skeleton.rest, method), tube.points, atol=1e-14)


@pytest.mark.parametrize("method", ["linear", "dual_quaternion"])
def test_stacks_of_poses_give_the_vertices_of_each(tube: Skin, method: str) -> None:
    poses = turned(tube, 0.5), turned(tube, -1.0)
    both = rb.characters.Pose(
        *(np.stack([getattr(p, part) for p in poses]) for part in ("rotation", "translation", "scale"))
    )
    found = tube.vertices(both, method)
    assert all(np.array_equal(found[k], tube.vertices(pose, method)) for k, pose in enumerate(poses))


@pytest.mark.parametrize("kind", [np.float64, np.float32])
def test_an_array_that_is_given_gets_the_vertices(tube: Skin, kind: type) -> None:
    poses = turned(tube, 0.5)
    out = np.empty((len(tube.points), 3), dtype=kind)
    assert np.array_equal(tube.vertices(poses, out=out), tube.vertices(poses).astype(kind))
    for wrong in (out[::-1], np.empty((3, 3)), np.empty(out.shape, dtype=int), [0.0]):
        with pytest.raises(rb.InputError, match="The out of skin 'skin' is .* it must be an array of floats of shape"):
            tube.vertices(poses, out=wrong)


def test_joints_that_stretch_do_so_by_dual_quaternions_too(tube: Skin) -> None:
    rest = tube.skeleton.rest
    longer = rb.characters.Pose(rest.rotation, rest.translation, np.tile((1.0, 1.0, 2.0), (2, 1)))
    one = rb.characters.Pose(rest.rotation, rest.translation, [[1.0, 1.0, 1.0], [1.0, 1.0, 2.0]])
    both = rb.characters.Pose(
        *(np.stack([getattr(p, n) for p in (rest, one)]) for n in ("rotation", "translation", "scale"))
    )
    np.testing.assert_allclose(tube.vertices(both, "dual_quaternion")[0], tube.points, atol=1e-14)
    for pose in (one, longer):
        found = [tube.vertices(pose, method) for method in ("linear", "dual_quaternion")]
        np.testing.assert_allclose(*found, atol=1e-12)  # nothing turns, so both are the same
        assert np.abs(found[0] - tube.points).max() > 0.1


def test_weights_are_made_to_sum_to_one_and_none_follow_the_first_joint(tube: Skin) -> None:
    np.testing.assert_allclose(tube.weights.sum(axis=1), 1.0, atol=1e-15)
    lone = Skin(tube.skeleton, [[0, 0, 1]], [[0, 0, 0]], joints=[[1, 0]], weights=[[0, 0]])
    assert lone.weights.tolist() == [[1.0, 0.0]]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"points": [[0, 0]]}, "The points of skin 'skin' have shape"),
        ({"joints": [[2, 0]]}, "The joints of skin 'skin' name a joint 2; there are 2"),
        ({"joints": [[0, 1], [0, 1]]}, "has 1 points and joints for 2"),
        ({"weights": [[1.0]]}, "The weights of skin 'skin' have shape"),
        ({"weights": [[-1.0, 2.0]]}, "has a weight below zero at vertex 0"),
        ({"faces": [[0, 1]]}, "The faces of skin 'skin' have shape"),
        ({"faces": [[0, 0, 7]]}, "The faces of skin 'skin' name a vertex 7; there are 1"),
    ],
)
def test_what_is_no_skin_is_refused(tube: Skin, change: dict[str, object], words: str) -> None:
    given = {"points": [[0, 0, 1]], "faces": [[0, 0, 0]], "joints": [[0, 1]], "weights": [[1, 0]], **change}
    with pytest.raises(rb.InputError, match=words):
        Skin(tube.skeleton, given.pop("points"), given.pop("faces"), **given)


def test_a_method_that_is_not_there_is_named(tube: Skin) -> None:
    with pytest.raises(rb.InputError, match="The method of skinning"):
        tube.vertices(tube.skeleton.rest, "spherical")


@pytest.mark.parametrize(
    "name", ["CesiumMan.glb", "Fox.glb", "RiggedFigure.glb", "RiggedSimple.glb", "SimpleSkin.gltf"]
)
def test_vertices_are_those_of_usd(name: str, data: "object") -> None:
    figure = rb.characters.load(data / "gltf" / name)
    for clip in figure.clips.values():
        pose = clip.pose(0.5 * clip.duration)
        frames = figure.skeleton.matrices(pose) @ figure.skin.bind
        size = np.ptp(figure.skin.points, axis=0).max()
        for method, usd in (("linear", "classicLinear"), ("dual_quaternion", "dualQuaternion")):
            found = figure.skin.vertices(pose, method)
            assert np.abs(found - of_usd(figure.skin, figure.skeleton, frames, usd)).max() < 1e-6 * max(
                size, np.ptp(found)
            )


def of_usd(skin: Skin, skeleton: Skeleton, frames: np.ndarray, method: str) -> np.ndarray:
    """The vertices that UsdSkel finds, in single precision."""
    from pxr import Gf, Usd, UsdGeom, UsdSkel, Vt

    stage = Usd.Stage.CreateInMemory()
    root, bones = UsdSkel.Root.Define(stage, "/figure"), UsdSkel.Skeleton.Define(stage, "/figure/bones")
    bones.CreateJointsAttr([f"joint_{j}" for j in range(len(skeleton))])
    still = Vt.Matrix4dArray([Gf.Matrix4d(1)] * len(skeleton))
    bones.CreateBindTransformsAttr(still)
    bones.CreateRestTransformsAttr(still)
    mesh = UsdGeom.Mesh.Define(stage, "/figure/mesh")
    mesh.CreatePointsAttr([Gf.Vec3f(*map(float, point)) for point in skin.points])
    binding, width = UsdSkel.BindingAPI.Apply(mesh.GetPrim()), skin.joints.shape[1]
    binding.CreateSkeletonRel().SetTargets(["/figure/bones"])
    binding.CreateJointIndicesPrimvar(False, width).Set(Vt.IntArray(skin.joints.ravel().tolist()))
    binding.CreateJointWeightsPrimvar(False, width).Set(Vt.FloatArray(skin.weights.ravel().tolist()))
    binding.CreateSkinningMethodAttr().Set(method)
    cache = UsdSkel.Cache()
    cache.Populate(root, Usd.PrimDefaultPredicate)
    points = Vt.Vec3fArray(mesh.GetPointsAttr().Get())
    moved = Vt.Matrix4dArray([Gf.Matrix4d(*map(float, frame.T.ravel())) for frame in frames])
    assert cache.GetSkinningQuery(mesh.GetPrim()).ComputeSkinnedPoints(moved, points, Usd.TimeCode.Default())
    return np.array(points, dtype=np.float64)
