"""Files to write: refused before the work, written after it."""

import os
from pathlib import Path

import pytest

from rattleback.cli.job import Wishes
from rattleback.cli.targets import check_target, write_target
from rattleback.core.errors import FileError, InputError


def test_a_file_in_folders_that_are_not_there_yet_is_fine_and_nothing_is_made_by_looking(tmp_path):
    check_target(tmp_path / "a" / "b" / "c.npz")
    assert list(tmp_path.iterdir()) == []


def test_writing_makes_the_folders(tmp_path):
    write_target(tmp_path / "a" / "b" / "c.txt", lambda path: path.write_text("x"))
    assert (tmp_path / "a" / "b" / "c.txt").read_text() == "x"


def test_a_folder_cannot_be_a_file(tmp_path):
    with pytest.raises(FileError, match=r"cannot be written: it is a folder\.$"):
        check_target(tmp_path)


def test_a_file_cannot_be_a_folder(tmp_path):
    (tmp_path / "a").write_text("")
    with pytest.raises(FileError, match=r"cannot be written: '.*a' is a file, not a folder\.$"):
        check_target(tmp_path / "a" / "b" / "c.npz")


def test_a_name_that_is_too_long_is_refused_at_once(tmp_path):
    with pytest.raises(FileError, match=r"cannot be written: File name too long\.$"):
        check_target(tmp_path / ("x" * 300 + ".npz"))


@pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="needs a folder that takes no files, even from root")
def test_a_folder_that_takes_no_files_is_found_before_the_work():
    with pytest.raises(FileError, match=r"the folder '/proc' takes no files"):
        check_target(Path("/proc/x.npz"))


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write everywhere")
def test_a_write_protected_file_or_folder_is_found_before_the_work(tmp_path):
    (tmp_path / "a.npz").write_text("")
    (tmp_path / "a.npz").chmod(0o400)
    with pytest.raises(FileError, match=r"cannot be written: it is write-protected\.$"):
        check_target(tmp_path / "a.npz")
    tmp_path.chmod(0o500)
    with pytest.raises(FileError, match="takes no files"):
        check_target(tmp_path / "b.npz")


def test_a_fault_while_writing_is_a_sentence(tmp_path):
    (tmp_path / "a").write_text("")
    with pytest.raises(FileError, match=r"b' cannot be written: .*[^.]\.$"):
        write_target(tmp_path / "a" / "b", lambda path: path.write_text(""))


@pytest.mark.parametrize(
    ("wishes", "sentence"),
    [
        ({"record": "a.txt"}, "The path of a recording is 'a.txt'; its name must end with one of '.csv', '.npz'."),
        ({"plot": "a.txt"}, "The path of a plot is 'a.txt'; its name must end with one of "),
        ({"record": "a.npz", "save": "a.npz"}, "'a.npz' is to hold two different things; "),
    ],
)
def test_wishes_that_cannot_be_met_are_refused(wishes, sentence, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError) as caught:
        Wishes(**{name: Path(path) for name, path in wishes.items()}).check()
    assert str(caught.value).startswith(sentence)
