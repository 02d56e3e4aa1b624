"""Joints of files that follow others by polynomials, on several axes and on one, against MuJoCo and written again."""

from pathlib import Path

import numpy as np
import pytest

import rattleback as rb

HINGE, SKEW = 'axis="0 1 0"', 'axis="0.3 1 0.2"'
SLIDE, SLANT = 'type="slide" axis="0 0 1"', 'type="slide" axis="1 0 0.5"'
APART, SAME = "-0.2 0.1 0", "0.1 0 0"
# Joint that leads, joint that follows, where its body is, the law, and how far soft equalities and a pinion may lead.
CASES = {
    "hinges": (HINGE, SKEW, APART, (0.1, 0.7, 0.5, -0.2, 0.1), 3e-5),
    "hinges at a standstill": (HINGE, SKEW, APART, (0.1, 0.0, 0.8, 0.0, 0.0), 3e-5),
    "slide by hinge": (HINGE, SLIDE, APART, (0.0, 0.2, 0.1, 0.0, 0.0), 3e-5),
    "hinge by slide": (SLIDE, HINGE, APART, (0.0, 3.0, -5.0, 2.0, 0.0), 3e-5),
    "slides": (SLIDE, SLANT, APART, (0.0, 0.8, 0.5, 0.0, 0.0), 3e-4),
    "hinges on one axis": (HINGE, HINGE, SAME, (0.1, -0.5, 0.0, 0.0, 0.0), 5e-4),
    "bent on one axis": (HINGE, HINGE, SAME, (0.0, 0.5, 0.3, 0.0, 0.0), 5e-4),
}


def content(leader: str, follower: str, place: str, law: tuple[float, ...]) -> str:
    """A carrier that swings with two bodies on it."""
    given = '<inertial mass="{}" pos="{}" diaginertia="0.01 0.012 0.008"/>'
    hard = 'solref="0.0004 1" solimp="0.9999 0.9999 0.001"'
    return f"""<mujoco><compiler angle="radian"/><worldbody><body name="c" pos="0 0 1"><joint name="jc" axis="1 0 0"/>
      <inertial mass="2" pos="0 0 0" diaginertia="0.05 0.05 0.05"/>
      <body name="a" pos="{SAME}"><joint name="ja" {leader}/>{given.format(0.5, "0.05 0 0.02")}</body>
      <body name="b" pos="{place}"><joint name="jb" {follower}/>{given.format(0.4, "0 0.06 0.01")}</body>
      </body></worldbody>
      <equality><joint joint1="jb" joint2="ja" polycoef="{" ".join(map(str, law))}" {hard}/></equality></mujoco>"""


def coordinate(sim: rb.Simulation, name: str) -> float:
    joint = sim.scene.joints[name]
    return float(sim[name].position if isinstance(joint, rb.Prismatic) else sim[name].angle)


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("joints", ["direct", "reduced"])
def test_joints_follow_by_the_law_of_the_file_as_in_mujoco(case: str, joints: str, tmp_path: Path) -> None:
    import mujoco

    *kinds, law, off = CASES[case]
    path = tmp_path / "model.xml"
    path.write_text(content(*kinds, law))
    scene = rb.Scene.from_file(path)
    assert not [entry for entry in scene.import_report.dropped if "sol" not in entry.place]
    model = mujoco.MjModel.from_xml_path(str(path))
    model.opt.timestep, model.opt.integrator = 1e-4, mujoco.mjtIntegrator.mjINT_RK4
    data = mujoco.MjData(model)
    for name, value in scene.robot.start.items():
        data.joint(name).qpos[:] = value or 0.0
    mujoco.mj_step(model, data, nstep=2000)
    sim = rb.Simulation(scene, time_step=5e-4, joints=joints)
    sim.run(0.2)
    leading, following = (coordinate(sim, name) for name in ("ja", "jb"))
    assert following == pytest.approx(np.polynomial.polynomial.polyval(leading, law), abs=1e-6)
    assert leading == pytest.approx(float(data.joint("ja").qpos[0]), abs=off)
    assert abs(leading) > 0.1


@pytest.mark.parametrize("case", CASES)
def test_laws_are_written_and_read_again(case: str, tmp_path: Path) -> None:
    *kinds, law, _ = CASES[case]
    (tmp_path / "model.xml").write_text(content(*kinds, law))
    scene = rb.Scene.from_file(tmp_path / "model.xml")
    scene.export(tmp_path / "again.xml")
    again = rb.Scene.from_file(tmp_path / "again.xml")
    assert set(again.joints) == set(scene.joints)
    for value in (-0.3, 0.0, 0.4):
        assert again.robot.couplings[0].value(value) == pytest.approx(scene.robot.couplings[0].value(value), abs=1e-9)


def test_bends_of_a_scene_are_written_as_polynomials(tmp_path: Path) -> None:
    scene = rb.Scene(gravity=(0, 0, 0))
    for name, place in (("first", (0, 0, 0)), ("second", (0.3, 0, 0))):
        scene.add_body(rb.Box(0.1, 0.1, 0.1), mass=1.0, position=place, name=name)
        scene.add_joint(rb.Revolute("world", name, at=place, axis=(0, 0, 1)), name=f"{name} bearing")
    scene.add_body(rb.Box(0.1, 0.1, 0.1), mass=1.0, position=(0, -0.1, 0), name="bar")
    scene.add_joint(rb.Prismatic("world", "bar", at=(0, -0.1, 0), axis=(1, 0, 0)), name="slide")
    scene.add_joint(rb.Gear("first", "second", at_b=(0.3, 0, 0), ratio=2.0, bend=(0.4, -0.3, 0.15)))
    rack = {"at": (0.3, 0, 0), "axis_b": (1, 0, 0), "radius": 0.1, "bend": (0.5,), "leads": "rack"}
    scene.add_joint(rb.Rack("second", "bar", **rack))
    scene.export(tmp_path / "bent.xml")
    again = rb.Scene.from_file(tmp_path / "bent.xml")
    laws = {(one.follower, one.leader): one for one in again.robot.couplings}
    x = -0.2
    # Azimuths fall as wheels turn: R f(−x) = 2 R q of the second.
    half = 0.5 * (-x + 0.4 * x**2 + 0.3 * x**3 + 0.15 * x**4)
    assert laws["second bearing", "first bearing"].value(x) == pytest.approx(half, abs=1e-9)
    assert laws["second bearing", "slide"].value(0.1) == pytest.approx((0.1 + 0.5 * 0.01) / 0.1, abs=1e-9)


def test_laws_of_too_high_a_degree_are_data() -> None:
    from rattleback.io.robots.builder.curves import is_possible
    from rattleback.io.robots.description import Coupling

    assert is_possible(Coupling("a", "b", (0, 0, 0, 0, 1.0)))
    assert not is_possible(Coupling("a", "b", (0, 0, 0, 0, 0, 1.0)))
