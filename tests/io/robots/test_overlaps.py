"""Shapes of a mechanism from a file that lie inside each other where it starts."""

from pathlib import Path

import pytest

import rattleback as rb

TENSOR = '<inertia ixx="0.1" iyy="0.2" izz="0.2" ixy="0" ixz="0" iyz="0"/>'


def link(name: str, more: str = "") -> str:
    return f'<link name="{name}"><inertial><mass value="2"/>{TENSOR}</inertial>{more}</link>'


def joint(name: str, parent: str, child: str, more: str) -> str:
    ends = f'<parent link="{parent}"/><child link="{child}"/>'
    return f'<joint name="{name}" type="continuous">{ends}<axis xyz="0 1 0"/>{more}</joint>'


@pytest.mark.contacts
def test_shapes_of_one_mechanism_that_overlap_at_the_start_do_not_collide(tmp_path: Path) -> None:
    """Links two joints apart that lie inside each other would tear it apart; what only touches, and others, collide."""
    solid = '<collision><origin xyz="{} 0 0"/><geometry><sphere radius="0.1"/></geometry></collision>'
    links = [link("a", solid.format(0)), link("b"), link("c", solid.format(0.15))]
    links += [link("d", solid.format(-0.2)), link("e", solid.format(0.05))]
    apart = '<origin xyz="0 0.05 0"/>'
    joints = [joint("j", "a", "b", apart.replace("0.05", "-0.05"))]
    joints += [joint(f"{name} hinge", "b", name, apart) for name in "cd"]
    loose = '<joint name="{0} free" type="floating"><parent link="w"/><child link="{0}"/></joint>'
    path = tmp_path / "robot.urdf"
    path.write_text(
        "".join(['<robot name="r"><link name="w"/>', *links, *joints, *map(loose.format, "ae"), "</robot>"])
    )
    scene = rb.Scene.from_file(path)
    assert set(scene.meetings) == {("a", "c")}
    told = [str(entry) for entry in scene.import_report.approximated if "collisions" in entry.place]
    assert told[0].startswith("collisions of 'a' and 'c': approximated, they overlap by 0.05 m at the start")
    sim = rb.Simulation(scene, time_step=0.002)
    assert set(sim.contacts.pairs) >= {("a", "d"), ("a", "e")}
