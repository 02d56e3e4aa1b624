"""Pictures of workspaces: what they show, and that they are written."""

import numpy as np
import pytest

import rattleback as rb
from rattleback.kinematics.models import planar_2r, puma560
from rattleback.kinematics.planar import planar_arm
from rattleback.kinematics.stewart import Stewart
from rattleback.kinematics.workspace import sample
from rattleback.recording.workspace_plot import plot_cloud, plot_dexterity, plot_section


def test_the_cloud_of_a_planar_arm_is_drawn_with_its_edge(tmp_path):
    tree = planar_2r(1.0, 0.6)
    cloud = sample(tree, 2000)
    figure = plot_cloud(cloud, planar_arm(tree), tmp_path / "ring.png")
    (axes,) = figure.axes
    dots, *edges = axes.get_lines()
    np.testing.assert_array_equal(dots.get_xdata(), cloud.points[:, 0])
    radii = sorted(float(np.hypot(*edge.get_data()).mean()) for edge in edges)
    np.testing.assert_allclose(radii, [0.4, 1.6])
    assert (tmp_path / "ring.png").stat().st_size > 1000


def test_a_cloud_in_space_is_seen_from_above_and_from_the_side():
    figure = plot_cloud(sample(puma560(), 1000))
    assert [axes.get_ylabel() for axes in figure.axes] == ["y [m]", "z [m]"]


def test_a_section_shows_the_cells_of_its_layer():
    region = Stewart.symmetric(limits=(0.9, 1.4)).workspace(cells=20)
    (axes,) = plot_section(region, 2, 1.0).axes
    layer, ranges = region.section(2, 1.0)
    (picture,) = axes.get_images()
    np.testing.assert_array_equal(~np.ma.getmaskarray(picture.get_array()), layer.T)
    assert picture.get_extent() == pytest.approx(ranges.ravel())
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("x [m]", "y [m]")


def test_dexterity_is_shown_as_a_share_of_directions():
    found = sample(puma560(), 20_000).dexterity(cells=8, directions=12)
    axes, bar = plot_dexterity(found, 1, 0.1).axes
    (picture,) = axes.get_images()
    shown = picture.get_array()
    assert 0.0 < shown.max() <= 1.0
    assert bar.get_ylabel() == "share of directions"


def test_a_path_that_is_no_picture_is_refused(tmp_path):
    with pytest.raises(rb.InputError, match="The path of a plot is"):
        plot_cloud(sample(planar_2r(), 100), path=tmp_path / "ring.txt")
