"""Scenes as Python scripts: what a script makes is the scene, digit for digit, whatever is in it."""

import ast
import hashlib
import runpy

import numpy as np
import pytest

import rattleback as rb
from fuzz.random_mechanism import draw
from rattleback.scenes import MENU

# Their scripts are made and run in more than a few tenths of a second.
LARGE = {"bowl", "car_on_height_field", "cubes_1000", "funnel", "stewart", "swarm", "twenty_ragdolls"}
NAMES = [pytest.param(name, marks=[pytest.mark.slow] if name in LARGE else []) for name in MENU]


@pytest.fixture
def run_script(tmp_path):
    """Write the script of a scene and run it as a program is imported; returns the scene it makes."""

    def run(scene):
        path = tmp_path / "script.py"
        path.write_text(scene.to_python(), encoding="utf-8")
        return runpy.run_path(str(path))["scene"]

    return run


@pytest.fixture
def file_hash(tmp_path):
    """Hash of the scene file of a scene."""

    def find(scene):
        scene.save(tmp_path / "scene.rb.json")
        return hashlib.sha256((tmp_path / "scene.rb.json").read_bytes()).hexdigest()

    return find


@pytest.mark.parametrize("name", NAMES)
def test_the_script_of_every_scene_makes_the_same_scene(name, run_script, file_hash):
    scene = MENU[name].build()
    assert file_hash(run_script(scene)) == file_hash(scene)


def test_the_scripts_of_random_mechanisms_make_the_same_scenes(run_script, file_hash):
    for seed in range(40):
        scene = draw(seed).scene
        assert file_hash(run_script(scene)) == file_hash(scene), f"mechanism {seed}"


def every_kind():
    """Something of everything a scene can say."""
    scene = rb.Scene(gravity=(0, 0, -0.0), name='a "scene"\n"""\nraise SystemExit')
    rubber = rb.Material(friction=0.9, restitution=0.3)
    post = scene.add_static(rb.Box(0.2, 0.2, 1), material=rubber, velocity=(0.1, 0, 0), name="class")
    ball = scene.add_body(rb.Sphere(0.1), density=700, position=(0.5, 0, 0), material=rubber, group="toys", name="2nd")
    bell = scene.add_body(
        rb.Compound([rb.Placed(rb.Cone(0.1, 0.2), position=(0, 0, 0.1)), rb.Placed(rb.Sphere(0.05))]),
        position=(1, 0, 0), collision=[rb.Placed(rb.Sphere(0.1), (0, 0, -0.0)), rb.Sphere(0.2)], name="bell",
        margin=0.01, category=("loud", "heavy"), collides_with="loud", continuous=True, group="toys",
    )  # fmt: skip
    scene.add_body(mass=2.0, inertia=(1, 2, 2.5), position=(2, 0, 0), orientation=(0, 0.6, 0, 0.8), name="x = 1; #")
    hinge = scene.add_joint(
        rb.Revolute(post, ball, at=(0, 0, 0.5), axis=(0, 1, 0), limits=(None, 1.0), friction=0.1), name="hinge"
    )
    scene.add_joint(rb.Ball(ball, bell, at=(0.7, 0, 0), breaking_force=50.0, stiffness={"slide_z": 1e4}, damping=3.0))
    scene.add_joint(rb.VelocityJoint(scene.world, bell, linear=(None, 0.5, None)))
    scene.add_force(rb.Servo(hinge, gain=2.0, target=rb.Schedule((0, 1), (0, 0.5), "cubic"), limit=4.0), name="motor")
    scene.add_force(rb.Spring(ball, bell, at=(0.5, 0, 0), at_b=(1, 0, 0), stiffness=30.0))
    scene.add_force(rb.Wrench(force=(0, 0, 1.5), bodies="toys"))
    scene.exclude("toys")
    scene.allow(ball, bell)
    scene.combine(friction="mean")
    scene.pair(rubber, rb.Material(), friction=0.25, rolling_friction=0.01)
    return scene


def test_whatever_a_scene_says_is_in_its_script_and_odd_names_run_no_code(run_script, file_hash):
    scene = every_kind()
    made = run_script(scene)
    assert file_hash(made) == file_hash(scene)
    assert made.meetings == scene.meetings
    assert made.pairs == scene.pairs


def test_a_script_of_a_simulation_ends_in_the_same_bits(run_script):
    scene = MENU["slider_crank"].build()
    hashes = set()
    for each in (scene, run_script(scene)):
        sim = rb.Simulation(each, time_step=0.005)
        sim.step(20)
        hashes.add(sim.hash())
    assert len(hashes) == 1


def test_a_script_says_no_more_than_it_needs():
    scene = rb.Scene(name="arm")
    arm = scene.add_body(rb.Box(1.0, 0.1, 0.1), mass=1.0, position=(0.5, 0, 0), name="arm")
    for number in range(4):
        scene.add_body(rb.Sphere(0.1), position=(number, 1, 0))
    hinge = scene.add_joint(rb.Revolute(scene.world, arm, axis=(0, 1, 0)), name="hinge")
    scene.add_force(rb.Servo(hinge, target=0.5, gain=40.0))
    assert scene.to_python(time_step=0.005) == (
        '"""A scene of rattleback; run it to look at it."""\n\n'
        "import rattleback as rb\n\n"
        'scene = rb.Scene(name="arm")\n\n'
        'arm = scene.add_body(rb.Box(1, 0.1, 0.1), mass=1, position=(0.5, 0, 0), name="arm")\n'
        "for position in ((0, 1, 0), (1, 1, 0), (2, 1, 0), (3, 1, 0)):\n"
        "    scene.add_body(rb.Sphere(0.1), position=position)\n\n"
        'hinge = scene.add_joint(rb.Revolute(scene.world, arm, axis=(0, 1, 0)), name="hinge")\n\n'
        "scene.add_force(rb.Servo(hinge, target=0.5, gain=40))\n\n"
        'if __name__ == "__main__":\n'
        "    rb.view(rb.Simulation(scene, time_step=0.005))\n"
    )


def test_lines_fit_and_arrays_are_packed():
    scene = rb.Scene()
    points = np.random.default_rng(3).normal(size=(500, 3))
    scene.add_body(rb.ConvexHull(points / np.linalg.norm(points, axis=1)[:, None]))
    text = scene.to_python()
    ast.parse(text)
    assert "unpacked(" in text
    assert all(len(line) <= 100 for line in text.splitlines() if '"eN' not in line)


def test_a_scene_that_carries_code_has_no_script():
    scene = rb.Scene()
    scene.add_body(rb.Sphere(0.1))
    scene.exclude_if(lambda a, b: True)
    with pytest.raises(rb.InputError, match="carries code and cannot be written"):
        scene.to_python()
