"""Values as the user reads and types them, and dialogs made from declarations."""

import math
from dataclasses import fields

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import rattleback as rb
from rattleback.forces import MENU as FORCES
from rattleback.joints import MENU as JOINTS
from rattleback.viewer.panels.compound_entry import Course, Seat, Turn
from rattleback.viewer.panels.declared import entries_of, hint_of, label_of, meanings_of
from rattleback.viewer.panels.entry import Choice, Names, Numbers, Tick, figure

LENGTH = Numbers(none="none")
LIMITS = Numbers((2,), "none", "free")


@pytest.mark.parametrize(
    ("value", "text"), [(0.0, "0"), (-0.0, "0"), (1e-6, "1e-6"), (1.5, "1.5"), (1e20, "1e+20"), (math.inf, "inf")]
)
def test_numbers_are_written_short(value, text):
    assert figure(value, 6) == text


@pytest.mark.parametrize("text", ["1, 2, 3", "1 2 3", "(1, 2, 3)", " 1;2 ; 3 ", "[1 2 3]"])
def test_vectors_are_typed_in_many_ways(text):
    assert Numbers((3,)).parse(text, None, "At") == (1.0, 2.0, 3.0)


def test_digits_that_are_not_shown_are_kept_where_a_number_is_left_alone():
    held = np.array([1.0 / 3.0, 2.0 / 3.0, 1.0])
    text = Numbers((3,)).write(held)
    assert text == "0.3333, 0.6667, 1"
    found = Numbers((3,)).parse("0.3333, 0.6667, 5", held, "At")
    assert found == (1.0 / 3.0, 2.0 / 3.0, 5.0)


def test_rounding_is_written_as_zero_and_kept():
    form, held = Numbers((3,), grain=1e-9), np.array([2e-16, -3e-12, 0.5])
    assert form.write(held) == "0, 0, 0.5"
    assert form.parse("0, 0, 0.6", held, "Velocity") == (2e-16, -3e-12, 0.6)
    assert Turn().write((1e-17, 0.0, 0.0, 1.0)) == "0, 0, 0"


def test_words_stand_for_none():
    assert LENGTH.parse("none", 1.0, "Length") is LENGTH.parse("", 1.0, "Length") is None
    assert LIMITS.parse("free, 1", None, "Limits") == (None, 1.0)
    assert LIMITS.write((None, 1.0)) == "free, 1"
    assert LIMITS.write(None) == "none"
    assert Names("all").parse("all", None, "Bodies") is None
    assert Names("all").parse("arm, leg", None, "Bodies") == ("arm", "leg")
    assert Names("all").parse("arm", None, "Bodies") == "arm"


@pytest.mark.parametrize(
    ("form", "text", "sentence"),
    [
        (Numbers(), "x", "Mass is 'x'; it must be a number, such as 1e-3."),
        (Numbers(), "nan", "Mass is 'nan'; it must be a number, such as 1e-3."),
        (LENGTH, "1 2", "Mass is '1 2'; it must be a number, such as 1e-3, or 'none'."),
        (Numbers((3,)), "1, 2", "Mass is '1, 2'; it must be 3 numbers with commas between."),
        (LIMITS, "1", "it must be 2 numbers with commas between, 'free' where there is none, or 'none'."),
        (Turn(), "1, 2", "it must be 3 or 4 numbers with commas between."),
        (Turn(), "0 0 0 0", "a quaternion must not be zero."),
        (Course(), "0 1 2", "it must be a number, or pairs of time and value, such as (0, 0) (1, 0.5), after one of"),
    ],
)
def test_what_cannot_be_is_refused_with_a_sentence(form, text, sentence):
    held = (0.0, 0.0, 0.0, 1.0) if isinstance(form, Turn) else None
    with pytest.raises(rb.InputError) as told:
        form.parse(text, held, "Mass")
    assert sentence in str(told.value)


def test_orientations_are_angles_about_fixed_axes_or_quaternions():
    held = np.array([0.0, 0.0, 0.0, 1.0])
    expected = Rotation.from_euler("xyz", [10, 20, 30], degrees=True)
    found = Turn().parse("10, 20, 30", held, "Turned by")
    assert (Rotation.from_quat(found).inv() * expected).magnitude() < 1e-12
    assert Turn().write(found) == "10, 20, 30"
    assert np.allclose(Turn().parse("0 0 2 2", held, "Turned by"), [0, 0, math.sqrt(0.5), math.sqrt(0.5)])


def test_schedules_are_pairs_after_a_word():
    schedule = rb.Schedule((0.0, 1.0, 2.0), (0.0, 0.5, -0.25), "cubic")
    assert Course().write(schedule) == "cubic (0, 0) (1, 0.5) (2, -0.25)"
    assert Course().parse(Course().write(schedule), None, "Target") == schedule
    assert Course().parse("0: 0, 1: 2", None, "Target") == rb.Schedule((0.0, 1.0), (0.0, 2.0), "linear")
    assert Course().parse("1.5", None, "Target") == 1.5


def test_frames_on_bodies_are_seven_numbers():
    held = ((0.0, 0.0, 1.0 / 3.0), (0.0, 0.0, 0.0, 1.0))
    point, turn = Seat().parse("1, 0, 0.3333, 0, 0, 0, 1", held, "Frame on A")
    assert point == (1.0, 0.0, 1.0 / 3.0)
    assert turn == (0.0, 0.0, 0.0, 1.0)


@pytest.fixture
def scene():
    made = rb.Scene()
    made.add_body(rb.Box(1, 1, 1), name="arm")
    made.add_body(rb.Box(1, 1, 1), name="leg", position=(1, 0, 0))
    made.add_joint(rb.Revolute("arm", "leg"), name="hinge")
    return made


def sample(kind):
    """A joint or force of a kind, with what it cannot be made without."""
    needed = {
        "double_rotation": {"axis": (1, 0, 0), "axis_b": (0, 1, 0)},
        "universal": {"axis": (1, 0, 0), "axis_b": (0, 1, 0)},
        "distance": {"at_b": (1, 0, 0)},
        "distance_to_line": {"at_b": (1, 0, 0)},
        "screw": {"pitch": 0.1},
        "gear": {"at_b": (1, 0, 0), "ratio": 2.0},
        "rack": {"axis_b": (1, 0, 0), "radius": 0.1},
        "velocity_joint": {"linear": (0.0, None, None)},
        "spring": {"at": (0, 0, 0), "stiffness": 1.0},
        "torsion_spring": {"stiffness": 1.0},
        "servo": {"gain": 1.0},
        "ball": {"stiffness": {"slide_z": 1e4, "slide_x": 20.0}, "damping": 3.0},
        "implicit_spring": {"stiffness": 1.0, "freedom": "turn_z"},
        "implicit_pd": {"stiffness": 1.0, "target": rb.Schedule([0, 1], [0, 2])},
        "implicit_hand": {"body": "arm", "target": (0.5, rb.Schedule([0, 1], [0, 2]), 0.0), "stiffness": 1.0},
    }.get(kind, {})
    if kind in JOINTS:
        return JOINTS[kind]("arm", "leg", **needed)
    hinged = ("servo", "torsion_spring", "implicit_spring", "implicit_pd")
    first = ("hinge",) if kind in hinged else ("arm", "leg") if kind == "spring" else ()
    first = (("hinge", "wrist"),) if kind == "implicit_hand" else first
    return FORCES[kind](*first, **needed)


@pytest.mark.parametrize("kind", [*JOINTS, *FORCES])
def test_every_field_of_every_joint_and_force_has_an_entry_that_reads_what_it_writes(scene, kind):
    thing = sample(kind)
    entries = {entry.name: entry for entry in entries_of(thing, scene, lambda frame: thing)}
    assert entries.keys() == {field.name for field in fields(thing)} - {"frame_a", "frame_b"}
    for name, entry in entries.items():
        held = getattr(thing, name)
        found = entry.form.parse(entry.form.write(held), held, entry.label)
        assert np.array_equal(np.array(found, dtype=object), np.array(held, dtype=object)), name
        assert entry.hint, name


def test_a_joint_placed_in_its_bodies_shows_its_frames_instead(scene):
    seat = ((0.0, 0.0, 0.0), (0.0, 0.0, 0.0, 1.0))
    entries = {entry.name for entry in entries_of(rb.Ball("arm", "leg", frame_a=seat, frame_b=seat), scene, None)}
    assert {"frame_a", "frame_b"} <= entries
    assert not {"at", "axis", "at_b", "axis_b"} & entries


def test_controls_and_units_come_from_what_is_declared(scene):
    servo = {entry.name: entry for entry in entries_of(sample("servo"), scene, None)}
    assert servo["control"].form == Choice(("angle", "position", "velocity"))
    assert servo["joint"].form == Choice(("hinge",))
    assert servo["reset_time"].label == "Reset time [s]"
    assert servo["limit"].label == "Limit"
    gear = {entry.name: entry for entry in entries_of(sample("gear"), scene, None)}
    assert gear["internal"].form == Tick()
    assert gear["a"].form == Choice(("arm", "leg", "world"))
    assert label_of("breaking_force", meanings_of(JOINTS["ball"])["breaking_force"]) == "Breaking force [N]"


def test_hints_are_free_of_the_shapes_of_arrays():
    assert hint_of("Velocity of ``B`` (3,) [m/s]; of both (2, 3) [m/s].") == "Velocity of B [m/s]; of both [m/s]."


def test_code_can_only_be_looked_at(scene):
    def blow(time, bodies):
        return 0.0 * bodies.position

    force = rb.PythonForce(blow)
    entry = next(entry for entry in entries_of(force, scene, lambda frame: force) if entry.name == "function")
    assert entry.fixed
    assert entry.form.write(blow) == "blow"


def test_what_is_no_dataclass_has_no_entries(scene):
    assert entries_of(object(), scene, None) == []
