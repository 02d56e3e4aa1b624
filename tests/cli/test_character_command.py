import re

import pytest

import rattleback as rb
from rattleback.cli.main import main
from rattleback.viewer.figure.page import FigurePage

pytest.importorskip("viser")


@pytest.fixture
def pages(monkeypatch):
    """Pages that the command opens; it does not wait for Ctrl-C."""
    opened = []
    monkeypatch.setattr(FigurePage, "wait", lambda page: opened.append(page))
    return opened


def test_character_opens_a_file_as_it_is_told_and_prints_its_address(pages, capsys, tmp_path):
    rb.characters.person(height=1.6).save(tmp_path / "small.glb")
    argv = ["character", str(tmp_path / "small.glb"), "--clip", "run", "--crowd", "4", "--paused", "--no-browser"]
    assert main([*argv, "--height", "2", "--up", "z"]) == 0
    (page,) = pages
    assert re.search(r"The character is at http://127\.0\.0\.1:\d+/\?token=\S+", capsys.readouterr().out)
    assert page.stage.playback.shares == {"run": 1.0}
    assert len(page.stage.throng.homes) == 4
    assert not page.playing
    skin = page.stage.figure.skin
    points = skin.vertices(page.stage.figure.skeleton.rest)
    assert points[:, 2].max() - points[:, 2].min() == pytest.approx(2.0, rel=1e-5)


def test_without_a_file_a_person_walks_and_what_is_wrong_is_a_sentence(pages, capsys, tmp_path):
    assert main(["character", "--no-browser"]) == 0
    assert pages[0].stage.playback.shares == {"walk": 1.0}
    assert main(["character", "--clip", "hop", "--no-browser"]) == 1
    assert "The figure has no clip 'hop'." in capsys.readouterr().err
    assert main(["character", str(tmp_path / "none.bvh"), "--no-browser"]) == 1
    assert "cannot be read: there is no such file" in capsys.readouterr().err
    assert main(["character", "--up", "x", str(tmp_path), "--no-browser"]) == 1
    assert len(pages) == 1
