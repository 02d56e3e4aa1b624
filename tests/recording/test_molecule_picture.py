"""Pictures of molecules and Ramachandran plots: what they show, and that they are written."""

import numpy as np
import pytest
from PIL import Image

import rattleback as rb
from rattleback.core.errors import FileError, InputError
from rattleback.recording.molecule_picture import render_molecule, scene_of
from rattleback.recording.ramachandran import plot_ramachandran
from rattleback.shapes import Compound, Mesh

pytest.importorskip("gemmi", reason="needs pip install 'rattleback[molecules]'")


@pytest.fixture(scope="module")
def helix():
    return rb.molecules.peptide("GAVLKSETPRNQDA", phi=-1.05, psi=-0.82)


@pytest.mark.egl
def test_the_colours_of_the_elements_are_in_the_picture_and_it_is_filled(helix, tmp_path):
    render_molecule(helix, tmp_path / "helix.png", "sticks", size=(320, 240), samples=1)
    picture = np.asarray(Image.open(tmp_path / "helix.png")).astype(int)
    red = (picture[..., 0] > picture[..., 1] + 60) & (picture[..., 0] > picture[..., 2] + 60)
    blue = picture[..., 2] > picture[..., 0] + 60
    dark = picture.sum(axis=2) < 380
    assert red.sum() > 50
    assert blue.sum() > 50
    rows, columns = np.nonzero(dark | red | blue)
    assert np.ptp(rows) > 80
    assert np.ptp(columns) > 160


@pytest.mark.egl
@pytest.mark.parametrize("style", ["ribbon", "trace"])
def test_every_style_is_drawn(helix, style, tmp_path):
    render_molecule(helix, tmp_path / "helix.png", style, size=(160, 120), samples=1)
    picture = np.asarray(Image.open(tmp_path / "helix.png")).astype(int)
    assert np.ptp(picture[..., 0] - picture[..., 2]) > 80


def test_a_scene_of_a_molecule_has_a_body_for_each_colour_and_keeps_distances(helix):
    drawing = helix.drawing("sticks")
    scene, paints, points = scene_of(drawing)
    assert len(scene.bodies) == len(paints) == len(set(drawing.balls.colour))
    assert all(isinstance(body.shape, Compound) for body in scene.bodies)
    own = np.linalg.norm(drawing.balls.start - drawing.balls.start[0], axis=1)
    turned = np.linalg.norm(points[: len(own)] - points[0], axis=1)
    np.testing.assert_allclose(turned, own, atol=1e-9)
    spread = points.std(axis=0)
    assert spread[0] >= spread[2] >= spread[1]
    bands, _, _ = scene_of(helix.drawing("ribbon"))
    assert all(isinstance(body.shape, Mesh) for body in bands.bodies)


def test_what_cannot_be_drawn_is_refused(helix, tmp_path):
    with pytest.raises(InputError, match="3 cannot be drawn as a molecule; give a protein"):
        render_molecule(3, tmp_path / "a.png")
    with pytest.raises(FileError, match="there is no folder"):
        render_molecule(helix, tmp_path / "none" / "a.png")
    with pytest.raises(InputError, match=r"nothing of the molecule to draw in this style; try style='sticks'"):
        scene_of(rb.molecules.peptide("A").drawing("ribbon"))


def test_every_residue_with_both_angles_is_in_the_ramachandran_plot(helix, tmp_path):
    figure = plot_ramachandran(helix, tmp_path / "angles.png")
    (axes,) = figure.axes
    shown = {line.get_label(): np.column_stack(line.get_data()) for line in axes.get_lines()}
    assert {name: len(points) for name, points in shown.items()} == {"others": 11, "glycine": 0, "proline": 1}
    np.testing.assert_allclose(shown["others"], np.degrees([[-1.05, -0.82]] * 11))
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("φ [°]", "ψ [°]")
    assert (tmp_path / "angles.png").stat().st_size > 1000
