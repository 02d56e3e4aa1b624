"""An archive is refused before it is unpacked where it says more than a state has, or than the file holds."""

import io
import json
import tracemalloc
import zipfile
from pathlib import Path

import numpy as np
import pytest

import rattleback as rb
from rattleback.io.state_archive import seal

LARGE = 2**27


@pytest.fixture(scope="module")
def entries(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    scene = rb.Scene()
    scene.add_body(rb.Sphere(0.1))
    path = tmp_path_factory.mktemp("archive") / "good.npz"
    rb.Simulation(scene).save(path)
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def told(path: Path, content: bytes) -> str:
    """What is said of an archive with a seal of its own, and that hardly any memory was taken for it."""
    path.write_bytes(seal(content))
    tracemalloc.start()
    with pytest.raises(rb.FileError) as caught:
        rb.load(path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 8 * len(content) + 2**20
    return str(caught.value).replace(str(path), "x").removeprefix("The state file 'x' ")


def packed(entries: list[tuple[str, bytes]], method: int = zipfile.ZIP_STORED) -> bytes:
    """A zip of some entries without its seal."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", method, compresslevel=9) as archive:
        for name, content in entries:
            archive.writestr(zipfile.ZipInfo(name), content, compress_type=method)
        archive.comment = b"0" * 64
    return stream.getvalue()[:-64]


def array_of(header: bytes | tuple[int, ...], data: bytes = b"") -> bytes:
    """An entry with the header of an array and so many bytes of data."""
    stream = io.BytesIO()
    if isinstance(header, tuple):
        said = {"descr": "<f8", "fortran_order": False, "shape": header}
        np.lib.format.write_array_header_1_0(stream, said)
        return stream.getvalue() + data
    return b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header + data


def test_an_array_that_no_state_has_is_not_unpacked(tmp_path: Path, entries: dict[str, bytes]) -> None:
    content = packed([*entries.items(), ("x.npy", array_of((1,), bytes(8)))])
    assert told(tmp_path / "x", content) == "has an array 'x', which no state has."


def test_entries_that_are_compressed_are_not_unpacked(tmp_path: Path, entries: dict[str, bytes]) -> None:
    for name in ("motion.position.npy", "header.json"):
        bomb = {**entries, name: bytes(LARGE)}
        with zipfile.ZipFile(stream := io.BytesIO(), "w") as archive:
            for key, content in bomb.items():
                how = zipfile.ZIP_DEFLATED if key == name else zipfile.ZIP_STORED
                archive.writestr(zipfile.ZipInfo(key), content, compress_type=how, compresslevel=9)
            archive.comment = b"0" * 64
        shown = repr(name.removesuffix(".npy"))
        said = f"has {shown} compressed; the entries of a state file are stored as they are."
        assert told(tmp_path / "x", stream.getvalue()[:-64]) == said


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_an_entry_that_is_there_twice_is_refused(tmp_path: Path, entries: dict[str, bytes]) -> None:
    twice = [*entries.items(), ("motion.position.npy", entries["motion.position.npy"])]
    assert told(tmp_path / "x", packed(twice)) == "has 'motion.position' twice."


def test_entries_that_share_their_bytes_are_not_unpacked_one_by_one(tmp_path: Path, entries: dict[str, bytes]) -> None:
    """The list at the end of the archive says of each that it is as long as the file."""
    content = bytearray(packed([*entries.items()]))
    start = content.index(b"PK\x01\x02")
    at = start
    while content[at : at + 4] == b"PK\x01\x02":
        content[at + 20 : at + 28] = 2 * len(content).to_bytes(4, "little")
        at += 46 + sum(int.from_bytes(content[at + k : at + k + 2], "little") for k in (28, 30, 32))
    assert told(tmp_path / "x", bytes(content)) == "says that its arrays are larger than the file is."


@pytest.mark.parametrize(
    ("array", "message"),
    [
        (array_of((2**50, 3)), "has an array 'motion.position' of shape (1125899906842624, 3) in 0 bytes."),
        (array_of((1, 3), bytes(23)), "has an array 'motion.position' of shape (1, 3) in 23 bytes."),
        (array_of((-1, 3), bytes(24)), "has an array 'motion.position' of shape (-1, 3) in 24 bytes."),
        (array_of((-1, -3), bytes(24)), "is not an archive of arrays: "),
        (array_of((), bytes(8)), "cannot be loaded: group 'motion': position has shape () of float64;"),
        (array_of(b"(" * 3000), "is not an archive of arrays: "),
        (array_of(b"-" * 200 + b"1"), "is not an archive of arrays: "),
        (array_of(b"{'descr': '|O', 'fortran_order': False, 'shape': (1, 3)}"), "that holds no numbers."),
        (array_of(b"{'descr': '<f8', 'fortran_order': False, 'shape': (1.5,)}"), "is not an archive of arrays: "),
        (b"\x93NUMPY\x09\x00", "is not an archive of arrays: "),
        (b"", "is not an archive of arrays: "),
    ],
)
def test_an_array_that_does_not_say_what_it_is_is_refused(
    tmp_path: Path, entries: dict[str, bytes], array: bytes, message: str
) -> None:
    content = packed([*{**entries, "motion.position.npy": array}.items()])
    assert message in told(tmp_path / "x", content)


def test_a_file_without_a_header_is_refused(tmp_path: Path, entries: dict[str, bytes]) -> None:
    left = [(name, content) for name, content in entries.items() if name != "header.json"]
    assert told(tmp_path / "x", packed(left)).startswith("is not an archive of arrays: ")


def test_worlds_take_memory_only_once_their_arrays_are_seen(tmp_path: Path, entries: dict[str, bytes]) -> None:
    """A header may ask for any number of worlds; an array that is not as long says otherwise."""
    header = json.loads(entries["header.json"])
    header["settings"]["worlds"] = 10**12
    said = told(tmp_path / "x", packed([*{**entries, "header.json": json.dumps(header).encode()}.items()]))
    assert "position has shape (1, 3) of " in said
    assert "it must be (1000000000000, 3) of " in said


def test_columns_first_or_rows_first_makes_no_difference(tmp_path: Path) -> None:
    scene = rb.Scene()
    for k in range(4):
        scene.add_body(rb.Sphere(0.1), position=(k, 2 * k, 3))
    sim = rb.Simulation(scene)
    sim.save(tmp_path / "rows.npz")
    with zipfile.ZipFile(tmp_path / "rows.npz") as archive:
        entries = {name: archive.read(name) for name in archive.namelist()}
    stream = io.BytesIO()
    np.lib.format.write_array(stream, np.asfortranarray(sim.state.position))
    assert b"'fortran_order': True" in stream.getvalue()
    (tmp_path / "columns.npz").write_bytes(
        seal(packed([*{**entries, "motion.position.npy": stream.getvalue()}.items()]))
    )
    assert rb.load(tmp_path / "columns.npz").hash() == sim.hash()
