"""Models of other files in SDF, and what couples two hinges; against the same model in one file, and closed forms."""

from pathlib import Path

import numpy as np
import pytest

import rattleback as rb
from rattleback.maths.rotation import matrix_from_euler

TENSOR = "<inertia><ixx>0.1</ixx><iyy>0.2</iyy><izz>0.2</izz></inertia>"
BAR = f"<inertial><pose>0.5 0 0 0 0 0</pose><mass>2</mass>{TENSOR}</inertial>"
Y = "<axis><xyz>0 1 0</xyz></axis>"
INNER = (
    f'<link name="palm"><pose>0 0 0.1 0 0 0</pose>{BAR}</link>'
    f'<link name="finger"><pose>0.3 0 0 0 0 0</pose>{BAR}</link>'
    '<frame name="grip" attached_to="finger"><pose>0.2 0 0 0 0 0</pose></frame>'
    f'<joint name="knuckle" type="revolute"><parent>palm</parent><child>finger</child>{Y}</joint>'
)
BASE = f'<link name="base">{BAR}</link>'
WRIST = f'<joint name="wrist" type="revolute"><parent>base</parent><child>{{}}</child>{Y}</joint>'


def write(path: Path, content: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f'<sdf version="1.9">{content}</sdf>')
    return path


def robot(content: str, name: str = "robot") -> str:
    return f'<model name="{name}">{content}</model>'


def include(uri: str, more: str = "", merge: str = "") -> str:
    return f"<include{merge}><uri>{uri}</uri>{more}</include>"


def state(scene: rb.Scene) -> dict[str, list[float]]:
    """Where all frames are at a configuration that is none of the file."""
    names = [name for name in scene.robot.joints if not name.endswith("mount")]
    scene.robot.pose(scene, dict.fromkeys(names, 0.3))
    return {name: scene.robot.frame(scene, name).round(9).tolist() for name in sorted(scene.robot.frames)}


def notes(scene: rb.Scene) -> str:
    return " ".join(entry.note for entry in scene.import_report.dropped)


@pytest.mark.parametrize("uri", ["hand/hand.sdf", "hand", "model://hand", "file://{home}/hand/hand.sdf"])
@pytest.mark.parametrize("merge", ["", ' merge="true"'])
def test_an_included_model_is_that_model_in_its_place(tmp_path: Path, uri: str, merge: str) -> None:
    write(tmp_path / "hand" / "hand.sdf", robot(INNER, "hand"))
    write(tmp_path / "hand" / "old.sdf", robot("", "old"))
    (tmp_path / "hand" / "model.config").write_text(
        '<model><sdf version="1.4">old.sdf</sdf><sdf version="1.10">hand.sdf</sdf>'
        '<sdf version="1.9">old.sdf</sdf></model>'
    )
    pose = '<pose relative_to="base">1 0 0 0 0.2 0</pose>'
    told = include(uri.format(home=tmp_path), f"<name>tool</name>{pose}", merge)
    inside = "palm" if merge else "tool::palm"
    scene = rb.Scene.from_file(write(tmp_path / "a.sdf", robot(BASE + told + WRIST.format(inside))))
    if merge:
        moved = INNER.replace("0 0 0.1 0 0 0", "{palm}").replace("0.3 0 0 0 0 0", "{finger}")
        turn = matrix_from_euler([0, 0.2, 0], "xyz")
        places = {"palm": (0, 0, 0.1), "finger": (0.3, 0, 0)}
        texts = {key: " ".join(map(repr, ((1, 0, 0) + turn @ at).tolist())) for key, at in places.items()}
        flat = moved.format(**{key: f"{text} 0 0.2 0" for key, text in texts.items()})
    else:
        flat = f'<model name="tool">{pose}{INNER}</model>'
    other = rb.Scene.from_file(write(tmp_path / "b.sdf", robot(BASE + flat + WRIST.format(inside))))
    assert scene.import_report.dropped == []
    assert state(scene) == state(other)
    assert [body.mass for body in scene.bodies] == [2.0, 2.0, 2.0]


def test_a_model_is_placed_by_a_frame_in_it_and_held_still(tmp_path: Path) -> None:
    """The frame is on the finger, 0.5 m from the model's own: turned by a quarter, that is 0.5 m along −y."""
    write(tmp_path / "hand.sdf", robot("<pose>9 9 9 0 0 0</pose>" + INNER, "hand"))
    more = "<placement_frame>grip</placement_frame><pose>1 2 3 0 0 1.5707963267948966</pose><static>true</static>"
    scene = rb.Scene.from_file(write(tmp_path / "w.world", f'<world name="w">{include("hand.sdf", more)}</world>'))
    np.testing.assert_allclose(scene.robot.frame(scene, "hand::grip")[:3, 3], (1, 2, 3), atol=1e-12)
    np.testing.assert_allclose(scene.robot.frame(scene, "hand::palm")[:3, 3], (1, 1.5, 3.1), atol=1e-12)
    assert scene.robot.frames["hand::palm"][0] == "world"
    assert "the include places the model" in notes(scene)
    nested = robot(robot(INNER, "hand").replace("<model ", '<model placement_frame="grip" '))
    scene = rb.Scene.from_file(write(tmp_path / "n.sdf", nested))
    np.testing.assert_allclose(scene.robot.frame(scene, "hand::grip")[:3, 3], (0, 0, 0), atol=1e-12)


def test_what_included_files_name_lies_beside_them(tmp_path: Path) -> None:
    write(tmp_path / "models" / "arm" / "model.sdf", robot(include("../hand/model.sdf") + include("part.sdf"), "arm"))
    write(tmp_path / "models" / "arm" / "part.sdf", robot(BASE, "part"))
    write(tmp_path / "models" / "hand" / "model.sdf", robot(INNER, "hand"))
    path = write(tmp_path / "robot" / "robot.sdf", robot(BASE + include("model://arm", "<name>left</name>")))
    scene = rb.Scene.from_file(path, search=[tmp_path / "models"])
    assert {"left::hand::palm", "left::part::base"} <= {body.name for body in scene.bodies}
    assert any("file 'part.sdf'/sdf/model 'part'" in entry.place for entry in scene.import_report.kept)
    assert "the model 'model://arm' is missing; name the folder it is in with search=" in notes(
        rb.Scene.from_file(path)
    )


def test_an_include_that_cannot_be_is_named_and_the_rest_is_loaded(tmp_path: Path) -> None:
    home = tmp_path / "home"
    write(tmp_path / "out.sdf", robot(BASE, "out"))
    write(home / "sun" / "model.sdf", '<light name="sun" type="directional"/>')
    (home / "arm.urdf").write_text('<robot name="arm"><link name="a"/></robot>')
    uris = ["model://none", "../out.sdf", "model://sun", "arm.urdf"]
    scene = rb.Scene.from_file(write(home / "a.sdf", robot(BASE + "".join(map(include, uris)))))
    for said in (
        "the model 'model://none' is missing",
        "the model '../out.sdf' lies outside the folder of the file and those of search=",
        "'model.sdf' holds no model",
        "'arm.urdf' is no SDF file; its outermost element is 'robot'",
    ):
        assert said in notes(scene)
    assert [body.name for body in scene.bodies] == ["base"]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (f"{include('b.sdf')}", r"b\.sdf' has a fault in line 1, file 'b.sdf'/sdf/model 'b'/link 'l'/pose: its text"),
        (f"{include('torn.sdf')}", r"torn\.sdf' is not XML"),
        (f"{include('a.sdf')}", r"'a.sdf' includes itself, by way of 'a.sdf'\."),
        (f"{include('c.sdf')}", r"'c.sdf' includes itself, by way of 'c.sdf', 'd.sdf'\."),
        (f"{include('n0.sdf')}", "files include each other more than 16 deep"),
        ("<include><name>x</name></include>", "the element uri is missing"),
        (
            f"{include('e.sdf', '<placement_frame>f</placement_frame>')}",
            "it is placed by 'e::f', which is no frame",
        ),
    ],
)
def test_a_fault_names_the_file_that_has_it(tmp_path: Path, content: str, said: str) -> None:
    write(tmp_path / "b.sdf", robot('<link name="l"><pose>1 2</pose></link>', "b"))
    (tmp_path / "torn.sdf").write_text("<sdf><model")
    write(tmp_path / "c.sdf", robot(include("d.sdf"), "c"))
    write(tmp_path / "d.sdf", robot(include("c.sdf"), "d"))
    write(tmp_path / "e.sdf", robot(BASE, "e"))
    for k in range(17):
        write(tmp_path / f"n{k}.sdf", robot(include(f"n{k + 1}.sdf"), f"n{k}"))
    with pytest.raises(rb.FileError, match=said):
        rb.Scene.from_file(write(tmp_path / "a.sdf", robot(BASE + content)))


def test_files_that_include_each_other_many_times_are_refused(tmp_path: Path) -> None:
    for k in range(4):
        more = "".join(include(f"n{k + 1}.sdf", f"<name>m{j}</name>") for j in range(8))
        write(tmp_path / f"n{k}.sdf", robot(BASE + more, f"n{k}"))
    write(tmp_path / "n4.sdf", robot(BASE, "n4"))
    with pytest.raises(rb.FileError, match="more than 1000 files"):
        rb.Scene.from_file(tmp_path / "n0.sdf")


def gears(reference: str = "<gearbox_reference_body>base</gearbox_reference_body>", axis: str = "0 1 0") -> str:
    wheels = f'<link name="a">{BAR}</link><link name="b"><pose>0 0 1 0 0 0</pose>{BAR}</link>'
    hinge = (
        '<joint name="{}" type="revolute"><parent>{}</parent><child>{}</child><axis><xyz>0 {} 0</xyz></axis></joint>'
    )
    box = f'<joint name="box" type="gearbox"><parent>a</parent><child>b</child>{reference}'
    box += "<gearbox_ratio>2.5</gearbox_ratio>"
    box += f"<axis><xyz>0 1 0</xyz></axis><axis2><xyz>{axis}</xyz></axis2></joint>"
    return robot(BASE + wheels + hinge.format("first", "base", "a", 1) + hinge.format("second", "base", "b", -1) + box)


def test_a_gearbox_couples_the_hinges_it_lies_between(tmp_path: Path) -> None:
    """θ₂ = −2.5 θ₁ about +y; the second hinge turns about −y, so that its own angle is 2.5 times the first."""
    scene = rb.Scene.from_file(write(tmp_path / "a.sdf", gears()), base="fixed")
    sim = rb.Simulation(scene, time_step=0.002)
    sim.run(0.3)
    assert abs(sim["first"].angle) > 0.05
    assert sim["second"].angle == pytest.approx(2.5 * sim["first"].angle, abs=1e-5)
    assert scene.import_report.dropped == []


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (gears(""), "a gearbox without a gearbox_reference_body says nothing of its hinges"),
        (gears(axis="1 0 0"), "no hinge along its axis2 joins 'b' to its reference body 'base'"),
        (
            robot(
                BASE + f'<link name="a">{BAR}</link><joint name="j" type="revolute2"><parent>base</parent>'
                f"<child>a</child>{Y}<axis2><xyz>0 1 1</xyz></axis2></joint>"
            ),
            "the axes of a revolute2 joint that are not perpendicular",
        ),
    ],
)
def test_a_joint_that_does_not_map_is_dropped_with_a_word(tmp_path: Path, content: str, said: str) -> None:
    assert said in notes(rb.Scene.from_file(write(tmp_path / "a.sdf", content)))


def test_a_double_hinge_with_axes_across_is_a_universal_joint(tmp_path: Path) -> None:
    arm = f'<link name="a">{BAR}</link><joint name="j" type="revolute2"><parent>base</parent><child>a</child>{Y}'
    path = write(tmp_path / "a.sdf", robot(BASE + arm + "<axis2><xyz>0 0 1</xyz></axis2></joint>"))
    scene = rb.Scene.from_file(path)
    assert type(scene.joints["j"]).__name__ == "Universal"
    tree = rb.kinematics.Tree.from_file(path, base="fixed")
    turn = matrix_from_euler([0.4, 0.3, 0.0], "YZX")
    np.testing.assert_allclose(tree.forward([0.4, 0.3], "a")[:3, :3], turn, atol=1e-12)
