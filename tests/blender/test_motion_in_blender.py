"""Motions opened in Blender: every body at every tenth frame is where the recording has it."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import rattleback as rb

pytestmark = [pytest.mark.blender, pytest.mark.contacts]
FPS = 60


def exact(recorder, quantity, row, frame):
    """A quantity of a body at a frame; every frame lies at a sample."""
    return np.array(recorder[quantity][round(frame / FPS / recorder.simulation.time_step), row])


@pytest.mark.parametrize("ending", [".glb", ".gltf", ".usdc", ".usda"])
@pytest.mark.parametrize(("name", "time_step", "duration"), [("slider_crank", 1 / 240, 1.0), ("cradle", 1 / 960, 0.75)])
def test_every_tenth_frame_in_blender_is_that_of_the_recording(name, time_step, duration, ending, tmp_path, blender):
    sim = rb.Simulation(rb.scenes.MENU[name].build(), time_step=time_step)
    recorder = rb.Recorder(sim, quantities=["position", "orientation", "velocity", "energy"])
    sim.run(duration)
    path = tmp_path / f"motion{ending}"
    told = recorder.export(path, fps=FPS)
    found = blender("poses.py", path, FPS)
    assert found["last"] == told.frames - 1 == round(duration * FPS)
    assert told.position_error == told.orientation_error == 0.0
    usd = ending.startswith(".usd")
    for row, body in enumerate(sim.scene.bodies):
        poses = found["poses"][body.name.replace(" ", "_") if usd else body.name]
        assert len(poses) == told.frames // 10 + 1
        for frame, matrix in poses.items():
            place, turn = np.array(matrix)[:3, 3], np.array(matrix)[:3, :3]
            wanted = Rotation.from_quat(exact(recorder, "orientation", row, int(frame)))
            origin = exact(recorder, "position", row, int(frame)) - wanted.apply(np.array(body.center_of_mass))
            np.testing.assert_allclose(place, origin, rtol=0, atol=1e-5)
            np.testing.assert_allclose(turn, wanted.as_matrix(), rtol=0, atol=1e-5)
