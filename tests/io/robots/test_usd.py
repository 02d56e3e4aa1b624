"""USD: units, axes and scales, mass from colliders, joints of every kind, drives, loops; and what is refused."""

import math
from pathlib import Path

import numpy as np
import pytest

import rattleback as rb
from rattleback.maths.rotation import matrix_from_quaternion

pytest.importorskip("pxr", reason="needs USD, pip install 'rattleback[formats]'")

DATA = Path(__file__).resolve().parents[4] / "shared" / "data" / "usd"
FILES = sorted(DATA.glob("*.usda"))
needs_data = pytest.mark.skipif(not FILES, reason="the stages are not in ../shared/data/usd")
HEAD = '#usda 1.0\n(\n    metersPerUnit = {meters}\n    kilogramsPerUnit = 1\n    upAxis = "{up}"\n)\n'
RIGID = 'prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsMassAPI"]'
TURNED = 'string physics:principalAxes = "turned"'
SOLID = 'prepend apiSchemas = ["PhysicsCollisionAPI"]'


def body(name: str, inside: str = "", at: tuple[float, ...] = (0, 0, 0), mass: str = "float physics:mass = 2") -> str:
    place = f'double3 xformOp:translate = {at}\nuniform token[] xformOpOrder = ["xformOp:translate"]'
    moments = (
        "float3 physics:diagonalInertia = (0.1, 0.2, 0.2)\npoint3f physics:centerOfMass = (0.5, 0, 0)"
        if "physics:mass " in mass
        else ""
    )
    return f'def Xform "{name}" ({RIGID})\n{{\n{place}\n{mass}\n{moments}\n{inside}\n}}\n'


def joint(name: str, kind: str, ends: tuple[str, str], inside: str = "", schemas: str = "") -> str:
    told = f"({schemas})" if schemas else ""
    sides = "".join(f"rel physics:body{k} = </{end}>\n" for k, end in enumerate(ends) if end)
    return f'def {kind} "{name}" {told}\n{{\n{sides}{inside}\n}}\n'


def load(tmp_path: Path, content: str, meters: float = 1.0, up: str = "Z", **options) -> rb.Scene:
    path = tmp_path / "stage.usda"
    path.write_text(HEAD.format(meters=meters, up=up) + content)
    return rb.Scene.from_file(path, **options)


def test_centimetres_with_y_up_give_the_same_scene_as_metres_with_z_up(tmp_path: Path) -> None:
    inside = 'def Cube "c" ({}) {{\ndouble size = {}\n}}'
    hinge = 'uniform token physics:axis = "X"\nfloat physics:lowerLimit = -30\npoint3f physics:localPos1 = ({}, 0, 0)'
    drive = "\nfloat physxJoint:armature = {}\nfloat physxJoint:jointFriction = {}"
    first = load(
        tmp_path,
        body("a", inside.format(SOLID, 0.2), (0, 0, 1))
        + joint(
            "j",
            "PhysicsRevoluteJoint",
            ("", "a"),
            hinge.format(0.4) + "\npoint3f physics:localPos0 = (0.4, 0, 1)" + drive.format(0.5, 0.25),
        ),
    )
    scaled = body("a", inside.format(SOLID, 20), (0, 100, 0)).replace("(0.1, 0.2, 0.2)", "(1000, 2000, 2000)")
    scaled = scaled.replace("(0.5, 0, 0)", "(50, 0, 0)")
    second = load(
        tmp_path,
        scaled
        + joint(
            "j",
            "PhysicsRevoluteJoint",
            ("", "a"),
            hinge.format(40) + "\npoint3f physics:localPos0 = (40, 100, 0)" + drive.format(5000, 2500),
        ),
        meters=0.01,
        up="Y",
    )
    a, b = first["a"], second["a"]
    assert b.mass == a.mass
    np.testing.assert_allclose(b.position, a.position, atol=1e-9)
    np.testing.assert_allclose(b.colliders[0].shape.x, 0.2)
    turns = [matrix_from_quaternion(one.orientation) for one in (a, b)]
    tensors = [turn @ one.inertia @ turn.T for turn, one in zip(turns, (a, b), strict=True)]
    np.testing.assert_allclose(tensors[0], np.diag([0.1, 0.2, 0.2]), atol=1e-8)
    np.testing.assert_allclose(tensors[1], np.diag([0.1, 0.2, 0.2]), atol=1e-8)
    np.testing.assert_allclose(second.gravity, (0, 0, -9.81), atol=1e-15)
    for scene in (first, second):
        np.testing.assert_allclose((scene.joints["j"].armature, scene.joints["j"].friction), (0.5, 0.25), rtol=1e-12)
    np.testing.assert_allclose(second.robot.joints["j"].limits[0][0], math.radians(-30))


def test_a_scaled_body_keeps_its_joints_where_they_are(tmp_path: Path) -> None:
    """Local points are scaled with their prim, the way to the hinge is 0.55 × 0.2."""
    pole = body("pole", at=(0.11, 0, 0.5)).replace(
        'uniform token[] xformOpOrder = ["xformOp:translate"]',
        'float3 xformOp:scale = (0.04, 0.06, 1)\nuniform token[] xformOpOrder = ["xformOp:translate", "xformOp:scale"]',
    )
    cart = body("cart").replace(
        'uniform token[] xformOpOrder = ["xformOp:translate"]',
        "float3 xformOp:scale = (0.2, 0.25, 0.2)\n"
        'uniform token[] xformOpOrder = ["xformOp:translate", "xformOp:scale"]',
    )
    ends = "point3f physics:localPos0 = (0.55, 0, 0)\npoint3f physics:localPos1 = (0, 0, -0.5)"
    scene = load(tmp_path, cart + pole + joint("j", "PhysicsRevoluteJoint", ("cart", "pole"), ends))
    assert scene.assemble().position_error < 1e-8
    np.testing.assert_allclose(scene["pole"].origin, (0.11, 0, 0.5), atol=1e-7)
    np.testing.assert_allclose(scene["pole"].center_of_mass, (0.02, 0, 0), atol=1e-8)


@pytest.mark.parametrize(
    ("kind", "size", "volume"),
    [
        ("Cube", "double size = 0.5", 0.125),
        ("Sphere", "double radius = 0.5", math.pi / 6),
        ("Cylinder", 'double radius = 0.5\ndouble height = 2\nuniform token axis = "X"', math.pi / 2),
        ("Capsule", "double radius = 0.5\ndouble height = 2", math.pi / 2 + math.pi / 6),
        ("Cone", 'double radius = 0.5\ndouble height = 3\nuniform token axis = "Y"', math.pi / 4),
    ],
)
def test_mass_follows_from_what_collides(tmp_path: Path, kind: str, size: str, volume: float) -> None:
    inside = f'def {kind} "c" ({SOLID}) {{\n{size}\n}}'
    scene = load(tmp_path, body("a", inside, mass="float physics:density = 100"))
    assert scene["a"].mass == pytest.approx(100 * volume, rel=1e-9)
    reference = scene["a"].colliders[0].shape.mass_properties(100.0)
    np.testing.assert_allclose(
        sorted(np.linalg.eigvalsh(scene["a"].inertia)), sorted(np.linalg.eigvalsh(reference.inertia))
    )


def test_an_axis_turns_a_cylinder(tmp_path: Path) -> None:
    inside = f'def Cylinder "c" ({SOLID}) {{\ndouble radius = 0.1\ndouble height = 2\nuniform token axis = "X"\n}}'
    collider = load(tmp_path, body("a", inside))["a"].colliders[0]
    turn = matrix_from_quaternion(collider.orientation)
    np.testing.assert_allclose(np.abs(turn @ (0, 0, 1)), (1, 0, 0), atol=1e-12)


def test_a_body_without_anything_has_a_kilogram(tmp_path: Path) -> None:
    assert load(tmp_path, body("a", mass=""))["a"].mass == 1.0


FREE, LOCKED = (-math.inf, math.inf), (1, -1)


def d6(**free: tuple[float, float]) -> tuple[str, str]:
    names = [f"{kind}{axis}" for kind in ("trans", "rot") for axis in "XYZ"]
    schemas = ", ".join(f'"PhysicsLimitAPI:{name}"' for name in names)
    lines = []
    for name in names:
        low, high = free.get(name, LOCKED)
        lines.append(f"float limit:{name}:physics:low = {low}\nfloat limit:{name}:physics:high = {high}")
    return "\n".join(lines), f"prepend apiSchemas = [{schemas}]"


@pytest.mark.parametrize(
    ("free", "kind"),
    [
        ({}, "Fixed"),
        ({"rotY": FREE}, "Revolute"),
        ({"transY": FREE}, "Prismatic"),
        ({"transX": (-1, 1), "rotX": FREE}, "Cylindrical"),
        ({"rotX": FREE, "rotZ": FREE}, "Universal"),
        ({"rotX": FREE, "rotY": FREE, "rotZ": FREE}, "Ball"),
        ({"transX": FREE, "transY": FREE, "rotZ": FREE}, "Planar"),
        ({"transX": FREE, "transY": FREE, "transZ": FREE}, "FixedOrientation"),
        ({"transZ": FREE, "rotX": FREE, "rotY": FREE, "rotZ": FREE}, "PointOnLine"),
        ({"transX": FREE, "transZ": FREE, "rotX": FREE, "rotY": FREE, "rotZ": FREE}, "PointOnPlane"),
    ],
)
def test_what_is_locked_decides_the_kind_of_a_joint(tmp_path: Path, free, kind: str) -> None:
    inside, schemas = d6(**free)
    scene = load(tmp_path, body("a") + body("b") + joint("j", "PhysicsJoint", ("a", "b"), inside, schemas))
    told = [type(one).__name__ for one in scene.joints.values()]
    assert told == ([] if kind == "Fixed" else [kind])
    if told:
        sim = rb.Simulation(scene, time_step=0.002)
        sim.run(0.1)
        assert sim.report.position_error < 1e-6


def test_a_joint_with_strange_freedoms_is_dropped_with_a_word(tmp_path: Path) -> None:
    inside, schemas = d6(transX=FREE, rotY=FREE)
    scene = load(tmp_path, body("a") + body("b") + joint("j", "PhysicsJoint", ("a", "b"), inside, schemas))
    assert "leaves transX, rotY free is not known" in " ".join(entry.note for entry in scene.import_report.dropped)


def test_a_drive_in_degrees_is_a_servo_in_radians(tmp_path: Path) -> None:
    law = {"stiffness": 4, "damping": 0.5, "targetPosition": 30, "maxForce": 7}
    inside = "\n".join(f"float drive:angular:physics:{name} = {value}" for name, value in law.items())
    drive = 'prepend apiSchemas = ["PhysicsDriveAPI:angular"]'
    scene = load(tmp_path, body("a") + joint("j", "PhysicsRevoluteJoint", ("", "a"), inside, drive))
    servo = scene.forces["j drive"]
    assert servo.gain == pytest.approx(4 * 180 / math.pi)
    assert servo.rate_time == pytest.approx(0.125)
    assert (servo.target, servo.limit) == (pytest.approx(math.pi / 6), 7.0)


def test_a_velocity_drive_and_a_velocity_at_the_start(tmp_path: Path) -> None:
    inside = "float drive:angular:physics:damping = 0.5\nfloat drive:angular:physics:targetVelocity = 90"
    drive = 'prepend apiSchemas = ["PhysicsDriveAPI:angular"]'
    told = "vector3f physics:angularVelocity = (0, 0, 90)\nvector3f physics:velocity = (1, 0, 0)"
    scene = load(tmp_path, body("a", told) + body("b") + joint("j", "PhysicsRevoluteJoint", ("", "b"), inside, drive))
    servo = scene.forces["j drive"]
    assert (servo.control, servo.target) == ("velocity", pytest.approx(math.pi / 2))
    np.testing.assert_allclose(scene["a"].angular_velocity, (0, 0, math.pi / 2))
    np.testing.assert_allclose(scene["a"].velocity, (1, 0.25 * math.pi, 0), atol=1e-12)


def test_filters_keep_groups_and_pairs_apart(tmp_path: Path) -> None:
    pair = 'def Xform "a" (prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsMassAPI", "PhysicsFilteredPairsAPI"])\n'
    pair += "{\nrel physics:filteredPairs = </b>\n}\n"
    group = 'def PhysicsCollisionGroup "g"\n{\nrel collection:colliders:includes = [</c>, </d>]\n'
    group += "rel physics:filteredGroups = </g>\n}\n"
    scene = load(tmp_path, pair + "".join(map(body, "bcd")) + group)
    assert set(scene.meetings) == {("a", "b"), ("c", "d")}


def test_a_mesh_is_seen_and_its_hull_collides(tmp_path: Path) -> None:
    faces = "int[] faceVertexCounts = [3, 3, 3, 3]\nint[] faceVertexIndices = [0, 2, 1, 0, 1, 3, 0, 3, 2, 1, 2, 3]"
    points = "point3f[] points = [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)]"
    inside = f'def Mesh "m" ({SOLID}) {{\n{faces}\n{points}\n}}'
    scene = load(tmp_path, body("a", inside, mass="float physics:density = 6"))
    assert scene["a"].mass == pytest.approx(1.0)
    assert isinstance(scene["a"].colliders[0].shape, rb.ConvexHull)
    assert "its convex hull collides" in scene.import_report.approximated[0].note


def test_references_inside_the_folders_are_read_and_others_refused(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    for folder in (home, tmp_path):
        (folder / "part.usda").write_text('#usda 1.0\n(\n    defaultPrim = "p"\n)\n' + body("p"))
    told = 'def "ref" (prepend references = @{}@)\n{{\n}}\n'
    assert "ref" in load(home, told.format("./part.usda"))
    with pytest.raises(rb.FileError, match="lies outside the folder of the file"):
        load(home, told.format("../part.usda"))
    scene = load(home, told.format("./none.usda") + body("a"))
    assert "there is no such file" in scene.import_report.dropped[0].note


def test_a_double_counts_beside_a_single_number_as_long_as_both_agree(tmp_path: Path) -> None:
    """1/3 in double precision is read; where the single one was changed by itself, that one counts."""
    told = "float physics:mass = {}\ncustom double rattleback:physics:mass = 0.3333333333333333"
    assert load(tmp_path, body("a", mass=told.format("0.33333334")))["a"].mass == 1 / 3
    assert load(tmp_path, body("a", mass=told.format("0.5")))["a"].mass == 0.5


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("def Xform (", "cannot be read: .*stage.usda:7:1: parse error at"),
        (
            body("a", f'def Sphere "s" ({SOLID}) {{\ndouble radius = -1\n}}'),
            "radius is -1; it must be greater than zero",
        ),
        (body("a", mass="float physics:mass = nan"), "is not a number"),
        (body("a", mass="strange physics:mass = (1, 2)"), "physics:mass is of a type that USD does not know"),
        (body("a", mass='string physics:centerOfMass = "here"'), "physics:centerOfMass must be three numbers"),
        (body("a", TURNED), "Something that must be a quaternion is 'turned'"),
        (
            body("a")
            + joint("j", "PhysicsRevoluteJoint", ("", "a"), "custom double[] rattleback:coefficients = [0, 1]"),
            "rattleback:coefficients needs finite numbers and one joint as rattleback:leader",
        ),
    ],
)
def test_faults_are_told_with_their_prim(tmp_path: Path, content: str, said: str) -> None:
    with pytest.raises(rb.FileError, match=said):
        load(tmp_path, content)


def test_an_arm_of_instances_in_centimetres_hangs_as_it_says() -> None:
    """Shapes inside instances count; 10 × 20 × 10 cm of 2 g/cm³ are 4 kg, and a drive per degree is one per radian."""
    path = Path(__file__).with_name("models") / "usd" / "instanced_arm.usda"
    scene = rb.Scene.from_file(path)
    assert scene.import_report.dropped == []
    body = scene["link"]
    assert body.mass == pytest.approx(4.0, rel=1e-6)
    np.testing.assert_allclose(np.sort(body.principal_moments), 4.0 / 12.0 * np.array([0.02, 0.05, 0.05]), rtol=1e-6)
    np.testing.assert_allclose(body.position, (0, 0, 0.7), atol=1e-9)
    np.testing.assert_allclose(scene.robot.colours["link"], (0.2, 0.5, 0.9, 1), atol=1e-6)
    assert scene.forces["d6 drive"].gain == pytest.approx(1000.0 * 1e-4 * 180.0 / math.pi)
    sim = rb.Simulation(scene, time_step=scene.robot.time_step)
    sim.run(4.0)
    assert sim["d6"].angle == pytest.approx(math.radians(20.0), abs=1e-4)


@needs_data
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_bodies_of_a_stage_lie_where_it_says_and_their_joints_are_closed(path: Path) -> None:
    """Frames, masses and moments against the values of the stage, read by USD's own classes."""
    from pxr import Usd, UsdGeom, UsdPhysics

    scene = rb.Scene.from_file(path)
    stage = Usd.Stage.Open(str(path))
    cache, total = UsdGeom.XformCache(), 0.0
    for prim in stage.Traverse():
        name = prim.GetName()
        if not prim.HasAPI(UsdPhysics.RigidBodyAPI) or name not in scene.robot.frames:
            continue
        own, place = scene.robot.frames[name]
        if own == "world" or scene[own].static:
            continue
        matrix = np.array(cache.GetLocalToWorldTransform(prim)).T
        expected = matrix[:3, :3] / np.linalg.norm(matrix[:3, :3], axis=0)
        turn = matrix_from_quaternion(scene[own].orientation) @ place[:3, :3]
        # Stages are written in single precision, and assembling closes what that leaves open.
        np.testing.assert_allclose(turn, expected, atol=2e-6)
        total += UsdPhysics.MassAPI(prim).GetMassAttr().Get() or 0.0
    if total and "ant" not in path.stem:
        assert sum(one.mass for one in scene.bodies) == pytest.approx(total, rel=1e-12)
    found = scene.assemble()
    assert max(found.position_error, found.orientation_error) <= 1e-9


@needs_data
@pytest.mark.parametrize("name", ["cartpole", "ant", "boxes_fourbar"])
def test_stages_run(name: str) -> None:
    scene = rb.Scene.from_file(DATA / f"{name}.usda")
    sim = rb.Simulation(scene, time_step=0.002)
    sim.run(1.0)
    assert sim.report.position_error < 1e-6
    assert np.isfinite(sim.state.position).all()


@needs_data
def test_the_ant_weighs_what_its_shapes_do() -> None:
    """A ball of 0.25 m, and capsules of 0.08 m between the joints, of 1 kg/m³."""
    scene = rb.Scene.from_file(DATA / "ant.usda")
    density = sum(part.shape.mass_properties(1.0).mass for part in scene["torso"].colliders)
    assert scene["torso"].mass == pytest.approx(density, rel=1e-6)
    assert len(scene.joints) == 8
    assert len(scene.forces) == 8


def instancer(arrays: str, proto: str = "", more: str = "") -> str:
    place = 'double3 xformOp:translate = (0, 0, 5)\nuniform token[] xformOpOrder = ["xformOp:translate"]'
    return f'def PointInstancer "pi"\n{{\n{place}\n{arrays}\nrel prototypes = [</pi/p>]\n{proto}\n}}\n{more}'


def test_point_instances_are_bodies_where_the_instancer_has_them(tmp_path: Path) -> None:
    """Turned by a quarter about z at (2, 0, 5); the second one is hidden, the third has a velocity."""
    half = math.sqrt(0.5)
    arrays = "point3f[] positions = [(1, 0, 0), (9, 9, 9), (2, 0, 0)]\nint[] protoIndices = [0, 0, 0]\n"
    arrays += (
        f"quath[] orientations = [(1, 0, 0, 0), (1, 0, 0, 0), ({half}, 0, 0, {half})]\nint64[] invisibleIds = [1]\n"
    )
    arrays += "vector3f[] velocities = [(0, 0, 0), (0, 0, 0), (0, 0, 3)]"
    solid = SOLID.replace("]", ', "MaterialBindingAPI"]')
    inside = f'def Cube "c" ({solid}) {{\ndouble size = 0.2\nrel material:binding:physics = </m>\n}}'
    told = 'def Material "m" (prepend apiSchemas = ["PhysicsMaterialAPI"]) {\nfloat physics:dynamicFriction = 0.25\n}\n'
    scene = load(tmp_path, instancer(arrays, body("p", inside, (0.5, 0, 0)), told))
    assert sorted(one.name for one in scene.bodies) == ["pi_0", "pi_2"]
    np.testing.assert_allclose(scene["pi_0"].origin, (1.5, 0, 5), atol=1e-6)
    np.testing.assert_allclose(scene["pi_2"].origin, (2, 0.5, 5), atol=1e-3)
    np.testing.assert_allclose(scene["pi_2"].velocity, (0, 0, 3), atol=1e-6)
    assert scene["pi_0"].material.dynamic_friction == 0.25
    assert [entry.note for entry in scene.import_report.kept if entry.note] == ["each is a prim of its own"]


@pytest.mark.parametrize(
    ("arrays", "said"),
    [
        (
            "int[] protoIndices = [0, 0]\npoint3f[] positions = [(0, 0, 0)]",
            "its arrays are not as long as protoIndices",
        ),
        (
            "int[] protoIndices = [3]\npoint3f[] positions = [(0, 0, 0)]",
            "protoIndices name prototypes that it does not",
        ),
        (f"int[] protoIndices = {[0] * 10001}", "a file has 10000 instances at most"),
    ],
)
def test_point_instances_that_cannot_be_are_dropped_with_a_word(tmp_path: Path, arrays: str, said: str) -> None:
    scene = load(tmp_path, instancer(arrays, body("p")) + body("a"))
    assert any(said in entry.note for entry in scene.import_report.dropped)
    assert [one.name for one in scene.bodies] == ["a"]


def test_a_missing_prototype_and_one_around_its_instancer_are_said(tmp_path: Path) -> None:
    arrays = "int[] protoIndices = [0]\npoint3f[] positions = [(0, 0, 0)]"
    scene = load(tmp_path, instancer(arrays) + body("a"))
    assert any("a prototype is missing" in entry.note for entry in scene.import_report.dropped)
    around = f'def Xform "p"\n{{\n{instancer(arrays).replace("</pi/p>", "</p>")}\n}}\n'
    scene = load(tmp_path, around + body("a"))
    assert any("a prototype holds its own instancer" in entry.note for entry in scene.import_report.dropped)


def test_a_drive_along_a_locked_freedom_is_dropped_with_a_word(tmp_path: Path) -> None:
    inside, schemas = d6(rotY=FREE)
    inside += "\nfloat drive:rotX:physics:stiffness = 5\nfloat drive:rotY:physics:stiffness = 3"
    schemas = schemas.replace("[", '["PhysicsDriveAPI:rotX", "PhysicsDriveAPI:rotY", ', 1)
    scene = load(tmp_path, body("a") + body("b") + joint("j", "PhysicsJoint", ("a", "b"), inside, schemas))
    assert [force.gain for force in scene.forces.values()] == [pytest.approx(3 * 180 / math.pi)]
    assert any("joint does not move that way" in entry.note for entry in scene.import_report.dropped)


def test_friction_of_joints_of_an_extension_is_said_to_be_taken_as_an_effort(tmp_path: Path) -> None:
    told = body("a") + joint("j", "PhysicsRevoluteJoint", ("", "a"), "float physxJoint:jointFriction = 0.25")
    scene = load(tmp_path, told)
    said = [entry.note for entry in scene.import_report.approximated]
    assert said == ["it is taken as an effort; some programs multiply it with the load of the joint"]
    scene.export(tmp_path / "own.usda")
    assert rb.Scene.from_file(tmp_path / "own.usda").import_report.approximated == []
