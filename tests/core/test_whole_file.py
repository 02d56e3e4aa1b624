"""Files are read whole and replaced whole, and every refusal is a sentence."""

import errno
import os
import stat

import pytest

from rattleback.core import whole_file
from rattleback.core.errors import FileError, InputError


def test_what_was_written_is_read(tmp_path):
    path = tmp_path / "naïve file"
    whole_file.write(path, b"one", "scene file")
    whole_file.write(str(path), b"two", "scene file")
    assert whole_file.read(path, "scene file") == b"two"
    assert os.listdir(tmp_path) == ["naïve file"]


def test_a_new_file_has_the_usual_permissions(tmp_path):
    (tmp_path / "usual").touch()
    whole_file.write(tmp_path / "new", b"", "scene file")
    assert stat.S_IMODE(os.stat(tmp_path / "new").st_mode) == stat.S_IMODE(os.stat(tmp_path / "usual").st_mode)


def test_a_link_stays_a_link(tmp_path):
    (tmp_path / "target").write_bytes(b"old")
    (tmp_path / "link").symlink_to(tmp_path / "target")
    whole_file.write(tmp_path / "link", b"new", "scene file")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "target").read_bytes() == b"new"


@pytest.mark.parametrize("call", ["open", "fsync", "replace"])
def test_after_a_fault_the_old_file_is_there_and_nothing_else(call, tmp_path, monkeypatch):
    def refuse(*_, **__):
        raise OSError(errno.ENOSPC, "No space left on device")

    path = tmp_path / "x"
    path.write_bytes(b"old")
    if call == "open":
        monkeypatch.setattr(whole_file, "open", refuse, raising=False)
    else:
        monkeypatch.setattr(os, call, refuse)
    with pytest.raises(FileError, match=r"^The scene file '.*x' cannot be written: no space left on device\.$"):
        whole_file.write(path, b"new", "scene file")
    monkeypatch.undo()
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["x"]


def test_an_interrupt_leaves_no_temporary_file(tmp_path, monkeypatch):
    def interrupt(_):
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "fsync", interrupt)
    with pytest.raises(KeyboardInterrupt):
        whole_file.write(tmp_path / "x", b"new", "scene file")
    assert os.listdir(tmp_path) == []


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(FileError, match=r"^The scene file '.*gone.json' cannot be read: there is no such file\.$"):
        whole_file.read(tmp_path / "gone.json", "scene file")
    with pytest.raises(FileError, match=r"cannot be read: there is no folder '.*nowhere'\.$"):
        whole_file.read(tmp_path / "nowhere" / "x", "scene file")
    with pytest.raises(FileError, match=r"cannot be written: there is no folder '.*nowhere'\.$"):
        whole_file.write(tmp_path / "nowhere" / "x", b"", "scene file")


def test_a_folder_is_not_a_file(tmp_path):
    with pytest.raises(FileError, match=r"cannot be read: it is a folder\.$"):
        whole_file.read(tmp_path, "state file")
    with pytest.raises(FileError, match=r"^The state file '.*' cannot be written: it is a folder\.$"):
        whole_file.write(tmp_path, b"", "state file")
    assert os.listdir(tmp_path) == []


def test_a_file_is_not_a_folder(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(FileError, match=r"cannot be written: there is no folder|not a directory"):
        whole_file.write(tmp_path / "file" / "x", b"", "scene file")


def test_a_folder_that_cannot_be_written_to_is_a_sentence(tmp_path, monkeypatch):
    def refuse(*_, **__):
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(whole_file, "open", refuse, raising=False)
    with pytest.raises(FileError, match=r"^The scene file '.*x' cannot be written: permission denied\.$"):
        whole_file.write(tmp_path / "x", b"", "scene file")
    with pytest.raises(FileError, match=r"^The scene file '.*x' cannot be read: permission denied\.$"):
        whole_file.read(tmp_path / "x", "scene file")


def test_a_protected_file_is_not_replaced(tmp_path, monkeypatch):
    (tmp_path / "x").write_bytes(b"old")
    monkeypatch.setattr(os, "access", lambda *_: False)
    with pytest.raises(FileError, match=r"cannot be written: it is write-protected\.$"):
        whole_file.write(tmp_path / "x", b"new", "scene file")
    assert (tmp_path / "x").read_bytes() == b"old"


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such device files")
def test_a_device_is_not_replaced():
    with pytest.raises(
        FileError, match=r"^The scene file '/dev/null' cannot be written: it is a device, not a file\.$"
    ):
        whole_file.write("/dev/null", b"", "scene file")


def test_a_path_with_a_null_character_is_a_sentence(tmp_path):
    for attempt in (lambda: whole_file.read("a\0b", "scene file"), lambda: whole_file.write("a\0b", b"", "scene file")):
        with pytest.raises(FileError, match="embedded null"):
            attempt()


@pytest.mark.parametrize("path", [None, 3, "", b"x", ["x"]])
def test_what_is_no_path_is_refused(path):
    with pytest.raises(InputError, match=r"^The path of a scene file is .*; it must be a string or a Path\.$"):
        whole_file.read(path, "scene file")
    with pytest.raises(InputError, match="must be a string or a Path"):
        whole_file.write(path, b"", "scene file")
