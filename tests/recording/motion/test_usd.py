"""USD files read back through usd-core: frames, places, shared meshes, and what was recorded."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import rattleback as rb
from rattleback.recording.look import Appearance
from rattleback.recording.snapshot import snapshot_of

pytest.importorskip("pxr")
from pxr import Usd, UsdGeom, UsdShade


@pytest.fixture(scope="module", params=[".usda", ".usdc"])
def crank(request, tmp_path_factory):
    sim = rb.Simulation(rb.scenes.slider_crank(), time_step=0.01)
    recorder = rb.Recorder(sim, quantities=["position", "orientation", "velocity", "energy", "pin.reaction_force"])
    sim.run(0.5)
    path = tmp_path_factory.mktemp("usd") / f"crank{request.param}"
    recorder.export(path, fps=50)
    return recorder, Usd.Stage.Open(str(path))


def test_the_stage_has_metres_z_up_and_a_time_code_for_each_frame(crank):
    _, stage = crank
    assert UsdGeom.GetStageMetersPerUnit(stage) == 1.0
    assert UsdGeom.GetStageUpAxis(stage) == "Z"
    assert (stage.GetTimeCodesPerSecond(), stage.GetFramesPerSecond()) == (50, 50)
    assert (stage.GetStartTimeCode(), stage.GetEndTimeCode()) == (0, 25)
    assert stage.GetDefaultPrim().GetPath() == "/run"
    assert stage.GetDefaultPrim().GetCustomDataByKey("rattleback:scene") == "slider_crank"


def test_every_body_is_where_the_recording_has_it(crank):
    recorder, stage = crank
    for frame in range(26):
        cache = UsdGeom.XformCache(frame)
        for row, body in enumerate(recorder.simulation.scene.bodies):
            matrix = np.array(cache.GetLocalToWorldTransform(stage.GetPrimAtPath(f"/run/bodies/{body.name}"))).T
            np.testing.assert_allclose(matrix[:3, 3], recorder["position"][2 * frame, row], rtol=0, atol=1e-14)
            wanted = Rotation.from_quat(recorder["orientation"][2 * frame, row]).as_matrix()
            np.testing.assert_allclose(matrix[:3, :3], wanted, rtol=0, atol=1e-12)


def test_the_points_of_joints_move_with_their_bodies_and_stay_together(crank):
    _, stage = crank
    for frame in (0, 11, 25):
        cache = UsdGeom.XformCache(frame)
        places = [
            cache.GetLocalToWorldTransform(
                stage.GetPrimAtPath(f"/run/bodies/{body}/pin_point_{side}")
            ).ExtractTranslation()
            for body, side in (("crank", "a"), ("rod", "b"))
        ]
        np.testing.assert_allclose(places[0], places[1], rtol=0, atol=1e-5)


def test_arrows_and_attributes_follow_what_was_recorded(crank):
    recorder, stage = crank
    arrow, body = stage.GetPrimAtPath("/run/vectors/slider_velocity"), stage.GetPrimAtPath("/run/bodies/slider")
    scale = arrow.GetAttribute("rattleback:metres_per_unit").Get()
    for frame in (3, 25):
        velocity = recorder["slider.velocity"][2 * frame]
        matrix = np.array(UsdGeom.XformCache(frame).GetLocalToWorldTransform(arrow)).T
        np.testing.assert_allclose(matrix[:3, 2], scale * velocity, rtol=0, atol=1e-12)
        np.testing.assert_allclose(body.GetAttribute("rattleback:velocity").Get(frame), velocity, atol=0)
        total = stage.GetPrimAtPath("/run/recorded").GetAttribute("rattleback:energy:total")
        assert total.Get(frame) == recorder["energy.total"][2 * frame]
        assert total.GetCustomDataByKey("unit") == "J"
    force = stage.GetPrimAtPath("/run/recorded").GetAttribute("rattleback:pin:reaction_force")
    np.testing.assert_allclose(force.Get(7), recorder["pin.reaction_force"][14], atol=0)


def test_solids_that_are_alike_are_instances_of_one_and_keep_their_colours(tmp_path):
    scene = rb.Scene()
    for k in range(12):
        scene.add_body(rb.Box(1, 0.5, 0.2), position=(2.0 * k, 0, 1), name=f"brick {k}")
    scene.add_body(rb.Sphere(0.3), position=(0, 4, 1), name="brick_1")
    sim = rb.Simulation(scene, time_step=0.01)
    recorder = rb.Recorder(sim, quantities=["position", "orientation"])
    sim.run(0.02)
    recorder.export(tmp_path / "bricks.usda")
    stage = Usd.Stage.Open(str(tmp_path / "bricks.usda"))
    bodies = stage.GetPrimAtPath("/run/bodies").GetChildren()
    assert [prim.GetDisplayName() for prim in bodies] == [body.name for body in scene.bodies]
    assert len({prim.GetName() for prim in bodies}) == 13
    prototypes = stage.GetPrototypes()
    assert len(prototypes) < 13
    reached = [prim for prim in Usd.PrimRange.Stage(stage, Usd.TraverseInstanceProxies()) if prim.IsA(UsdGeom.Mesh)]
    assert len(reached) == 13
    wanted = Appearance().colours(snapshot_of(sim), 1.0)
    for row, prim in enumerate(bodies):
        (mesh,) = [inner for inner in reached if inner.GetPath().HasPrefix(prim.GetPath())]
        material, _ = UsdShade.MaterialBindingAPI(mesh).ComputeBoundMaterial()
        colour = UsdShade.Shader(material.GetPrim().GetChild("surface")).GetInput("diffuseColor").Get()
        np.testing.assert_allclose(colour, wanted[row], rtol=0, atol=1e-6)
    size = UsdGeom.BBoxCache(0, [UsdGeom.Tokens.default_]).ComputeWorldBound(bodies[3]).ComputeAlignedRange().GetSize()
    np.testing.assert_allclose(size, (1.0, 0.5, 0.2), atol=1e-6)


def test_the_validators_of_usd_find_no_fault(crank):
    validation = pytest.importorskip("pxr.UsdValidation")
    every = validation.ValidationRegistry().GetOrLoadAllValidators()
    found = validation.ValidationContext(every).Validate(crank[1])
    assert len(every) > 5
    assert [fault.GetMessage() for fault in found] == []
