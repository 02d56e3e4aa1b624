"""Joints that follow followers: of the tree, of the bodies, and in a circle."""

from pathlib import Path

import numpy as np
import pytest

import rattleback as rb

TENSOR = '<inertia ixx="0.1" iyy="0.2" izz="0.2" ixy="0" ixz="0" iyz="0"/>'
LINK = f'<link name="{{}}"><inertial><origin xyz="0.5 0 0"/><mass value="2"/>{TENSOR}</inertial></link>'
MIMIC = '<origin xyz="0.5 0 0"/><mimic joint="{}" multiplier="{}" offset="{}"/>'


def joint(name: str, parent: str, child: str, more: str = "") -> str:
    ends = f'<parent link="{parent}"/><child link="{child}"/>'
    return f'<joint name="{name}" type="continuous">{ends}<axis xyz="0 1 0"/>{more}</joint>'


def robot(folder: Path, first: str = "") -> Path:
    """k3 = 3 k2 + 0.2, k2 = 2 k1 + 0.1; followers come first in the file."""
    joints = [joint("k3", "c", "d", MIMIC.format("k2", 3, 0.2)), joint("k2", "b", "c", MIMIC.format("k1", 2, 0.1))]
    path = folder / "robot.urdf"
    path.write_text(f'<robot name="r">{"".join(map(LINK.format, "abcd"))}{"".join(joints)}{first}</robot>')
    return path


def test_joints_that_follow_followers_follow_the_first(tmp_path: Path) -> None:
    path = robot(tmp_path, joint("k1", "a", "b"))
    tree = rb.kinematics.Tree.from_file(path)
    assert tree.coordinates == ("k1",)
    frames = rb.Scene.from_file(path).robot.link_frames({"k1": 0.3})
    np.testing.assert_allclose(tree.forward([0.3], "d"), frames["d"], atol=1e-12)
    sim = rb.Simulation(rb.Scene.from_file(path), time_step=0.002)
    sim.run(0.2)
    assert abs(sim["k1"].angle) > 0.01
    assert sim["k3"].angle == pytest.approx(6.0 * sim["k1"].angle + 0.5, abs=1e-5)


def test_joints_that_follow_each_other_in_a_circle_are_refused(tmp_path: Path) -> None:
    with pytest.raises(rb.FileError, match="Joint 'k[123]' follows itself"):
        rb.kinematics.Tree.from_file(robot(tmp_path, joint("k1", "a", "b", MIMIC.format("k3", 1, 0))))
