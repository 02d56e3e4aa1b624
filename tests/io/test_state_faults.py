"""A state file that was cut short, changed, or written by something else is refused by a FileError."""

import copy
import io
import json
import zipfile

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import rattleback as rb
from rattleback.core.precision import PRECISION, numpy_real
from rattleback.io import state_archive, state_file

OTHER = "single" if PRECISION == "double" else "double"
# Files are mutated three times as often as anything else is tried.
MOST = min(3 * settings().max_examples, 2000)


def small_scene():
    scene = rb.Scene(name="small")
    scene.add_body(rb.Box(1, 2, 3), name="a", angular_velocity=(1, 2, 3))
    scene.add_body(rb.Sphere(1), name="b")
    scene.add_joint(rb.Revolute("world", "a", at=(0, 1, 0)))
    scene.add_joint(rb.Distance("a", "b", at=(0, 1, 0), at_b=(2, 0, 0)))
    scene.add_force(rb.Drag(linear=0.1))
    return scene


def content_of_a_state_file(folder):
    sim = rb.Simulation(small_scene(), worlds=2, integrator="rk45")
    sim.step(3)
    sim.save(folder / "whole.npz")
    return (folder / "whole.npz").read_bytes()


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("states")


@pytest.fixture(scope="module")
def content(folder):
    return content_of_a_state_file(folder)


def opened(content):
    """Header and arrays of a state file, read without the code under test."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        header = json.loads(archive.read("header.json"))
    with np.load(io.BytesIO(content), allow_pickle=False) as archive:
        return header, {name: archive[name] for name in archive.files if name != "header.json"}


def told(folder, content):
    """What a FileError says about a state file with these bytes."""
    path = folder / "x.npz"
    path.write_bytes(content)
    with pytest.raises(rb.FileError) as caught:
        rb.load(path)
    return str(caught.value).replace(str(path), "x").removeprefix("The state file 'x' ")


DAMAGED = "is damaged: its checksum does not fit. It was cut short or changed, or is not a rattleback state file."


@settings(max_examples=MOST)
@given(part=st.floats(0, 1, exclude_max=True))
@example(part=0.0)
def test_a_file_cut_short_anywhere_is_refused(folder, content, part):
    length = int(part * len(content))
    assert told(folder, content[:length]) == (DAMAGED if length > 1 else "is not a rattleback state file.")


@settings(max_examples=MOST)
@given(part=st.floats(0, 1, exclude_max=True), bit=st.integers(0, 7))
def test_a_file_with_a_single_bit_flipped_is_refused(folder, content, part, bit):
    changed, place = bytearray(content), int(part * len(content))
    changed[place] ^= 1 << bit
    assert told(folder, bytes(changed)) == (DAMAGED if place > 1 else "is not a rattleback state file.")


def test_a_file_with_more_at_its_end_is_refused(folder, content):
    assert told(folder, content + b"\n") == DAMAGED


def test_other_files_are_told_apart(folder):
    assert told(folder, b"") == "is not a rattleback state file."
    assert told(folder, b"\x89PNG") == "is not a rattleback state file."
    scene = b' {"format": "rattleback-scene"}'
    assert told(folder, scene) == "is not a rattleback state file. A scene file is read with rb.Scene.load(path)."
    stream = io.BytesIO()
    np.savez(stream, position=np.zeros(3))
    assert told(folder, stream.getvalue()) == DAMAGED
    assert told(folder, state_archive.seal(b"PK")) == "is not an archive of arrays: File is not a zip file."


def test_a_missing_file_is_named(folder):
    with pytest.raises(rb.FileError, match=r"^The state file '.*gone' cannot be read: there is no such file\.$"):
        rb.load(folder / "gone")
    with pytest.raises(rb.FileError, match=r"cannot be written: there is no folder"):
        rb.Simulation(one_ball()).save(folder / "nowhere" / "x")


def one_ball():
    scene = rb.Scene()
    scene.add_body(rb.Sphere(1))
    return scene


def node_of(data, place):
    for step in place[:-1]:
        data = data[step]
    return data


@pytest.mark.parametrize(
    ("place", "value", "message"),
    [
        (["format"], "rattleback-scene", 'is not a rattleback-state file: it has no "format": "rattleback-state".'),
        (["version"], 7, "is version 7; this rattleback reads version 1."),
        (
            ["precision"],
            OTHER,
            f"was saved in {OTHER} precision, and this process runs in {PRECISION}; set RATTLEBACK_PRECISION={OTHER} "
            "before starting Python.",
        ),
        (["precision"], "half", "has 1 fault:\n  precision: must be 'double' or 'single'; it is 'half'"),
        (["bodies"], [], "has 1 fault:\n  bodies: must not be empty"),
        (["bodies"], 3, "has 1 fault:\n  bodies: must be a list; it is 3"),
        (
            ["settings", "worlds"],
            0,
            "has 1 fault:\n  settings.worlds: must be 1 or more; it is 0",
        ),
        (
            ["settings", "wrolds"],
            2,
            "has 1 fault:\n  settings.wrolds: is not a field of this table. Did you mean 'worlds'? It takes "
            "'preset', 'substeps', 'step', 'integrator', 'joints', 'contacts', 'penetration_tolerance', "
            "'contact_velocity_tolerance', 'broadphase', 'narrowphase', 'contact_distance', 'bounding_volume', "
            "'contact_points', 'contact_volumes', 'contact_every', 'contact_time', 'worlds', 'position_tolerance', "
            "'orientation_tolerance', 'velocity_tolerance', 'closing_speed', 'max_iterations', 'sleep', "
            "'strict', 'warn'.",
        ),
        (
            ["settings", "worlds"],
            10**15,
            f"cannot be loaded: group 'motion': position has shape (4, 3) of {np.dtype(numpy_real)}; it must be "
            f"(2000000000000000, 3) of {np.dtype(numpy_real)}.",
        ),
        (
            ["settings", "contacts"],
            {"name": "impulse", "parameters": {}, "sweeps": 3},
            "has 2 faults:\n  settings.contacts: must be text; it is a table\n  settings.contacts.sweeps: is not a "
            "field of this table. It takes 'name', 'parameters'.",
        ),
        (
            ["settings", "integrator", "name"],
            "rk5",
            "cannot be loaded: There is no integrator 'rk5'. Did you mean 'rk45'? The menu: 'lie_midpoint', "
            "'explicit_euler', 'semi_implicit_euler', 'implicit_euler', 'taylor2', 'rk4', 'rk45'.",
        ),
        (
            ["settings", "integrator", "parameters", "eror"],
            1,
            "cannot be loaded: The integrator 'rk45' has no option 'eror'. Did you mean 'error'? It takes 'error', "
            "'max_substeps'.",
        ),
        (
            ["settings", "integrator", "parameters", "error"],
            "small",
            "cannot be loaded: The error of RK45 is 'small'; it must be a number.",
        ),
        (
            ["scene", "bodies", 0, "mass"],
            -1,
            "The scene in the state file 'x' has 1 fault:\n  bodies[0].mass: must be greater than zero; it is -1",
        ),
        (["scene"], None, "holds no scene; build the scene and pass it: rb.load(path, scene=my_scene)."),
        (["scene", "bodies", 0, "mass"], 1e-320, "cannot be loaded: The inverse_mass of body 'a'"),
        (["bodies"], ["a", "c"], "names other bodies than its scene."),
    ],
)
def test_a_header_that_does_not_fit_is_a_sentence(folder, content, place, value, message):
    header, arrays = opened(content)
    node_of(header, place)[place[-1]] = value
    assert told(folder, state_archive.pack(header, arrays)).startswith(message)


def test_a_faulty_integrator_is_the_fault_of_the_file_whatever_scene_is_given(folder, content):
    header, arrays = opened(content)
    header["settings"]["integrator"]["name"] = "magic"
    (folder / "x.npz").write_bytes(state_archive.pack(header, arrays))
    with pytest.raises(rb.FileError, match="cannot be loaded: There is no integrator 'magic'"):
        rb.load(folder / "x.npz", scene=small_scene())


@pytest.mark.parametrize(
    ("name", "array", "message"),
    [
        ("motion.position", None, "cannot be loaded: group 'motion' has no array 'position'."),
        ("motion.velocity", None, "cannot be loaded: group 'motion' has no array 'velocity'."),
        ("clock.steps", None, "cannot be loaded: group 'clock' has no array 'steps'."),
        (
            "motion.velocity",
            np.zeros((4, 2), dtype=np.float16),
            "cannot be loaded: group 'motion': velocity has shape (4, 2) of float16; it must be (4, 3) of "
            f"{np.dtype(numpy_real)}.",
        ),
        (
            "clock.time",
            np.zeros(3),
            "cannot be loaded: group 'clock': time has shape (3,) of float64; it must be (2,) of float64.",
        ),
        (
            "clock.steps",
            np.zeros(2),
            "cannot be loaded: group 'clock': steps has shape (2,) of float64; it must be (2,) of int64.",
        ),
        (
            "motion.velocity",
            np.full((4, 3), np.nan),
            "cannot be loaded: group 'motion': velocity is not finite in row 0.",
        ),
        ("motion.velocity", np.full((4, 3), "x"), "has an array 'motion.velocity' that holds no numbers."),
        ("motion.colour", np.zeros(4), "has an array 'motion.colour', which no state has."),
    ],
)
def test_an_array_that_does_not_fit_is_a_sentence(folder, content, name, array, message):
    header, arrays = opened(content)
    arrays.pop(name, None)
    if array is not None:
        arrays[name] = array
    assert told(folder, state_archive.pack(header, arrays)) == message


def test_nothing_is_unpickled(folder, content):
    header, _ = opened(content)
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr("header.json", json.dumps(header))
        entry = io.BytesIO()
        np.lib.format.write_array(entry, np.array([print], dtype=object), allow_pickle=True)
        archive.writestr("motion.position.npy", entry.getvalue())
    sealed = state_archive.seal(stream.getvalue())
    assert told(folder, sealed) == "has an array 'motion.position' that holds no numbers."


def test_precision_is_said_as_it_is(monkeypatch, folder, content):
    monkeypatch.setattr(state_file, "PRECISION", OTHER)
    said = f"was saved in {PRECISION} precision, and this process runs in {OTHER}; "
    assert told(folder, content).startswith(said)


def places(data, here=()):
    inner = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
    for step, value in inner:
        yield (*here, step)
        yield from places(value, (*here, step))


JUNK = st.sampled_from(
    [
        None,
        True,
        0,
        -1,
        3,
        10**30,
        1e-320,
        1e160,
        1e308,
        "",
        "x",
        "infinity",
        "\u20ac",
        [],
        {},
        [[]],
        ["a", "b"],
        [1e200] * 3,
    ]
)


@settings(max_examples=MOST)
@given(data=st.data())
def test_a_mutated_header_loads_or_is_refused(folder, content, data):
    header, arrays = opened(content)
    place = data.draw(st.sampled_from(list(places(header))))
    node = node_of(header, place)
    if data.draw(st.booleans()):
        node[place[-1]] = data.draw(JUNK)
    else:
        del node[place[-1]]
    path = folder / "x.npz"
    path.write_bytes(state_archive.pack(header, arrays))
    try:
        rb.load(path)
    except rb.FileError:
        return


@settings(max_examples=MOST)
@given(part=st.floats(0, 1, exclude_max=True), byte=st.integers(0, 255))
def test_a_changed_archive_with_a_fresh_seal_loads_or_is_refused(folder, content, part, byte):
    changed = bytearray(copy.copy(content[: -state_archive.SEAL]))
    changed[int(part * len(changed))] = byte
    path = folder / "x.npz"
    path.write_bytes(state_archive.seal(bytes(changed)))
    try:
        rb.load(path)
    except rb.FileError:
        return
