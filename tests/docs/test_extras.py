"""What installation promises is there: extras install what is used, and the page of installation lists them."""

import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
EXTRAS = {name: [re.split(r"[<>=!]", entry)[0] for entry in entries]
          for name, entries in PROJECT["optional-dependencies"].items()}  # fmt: skip
# Where what an extra installs is used.
USERS = {
    "viewer": ["src"],
    "video": ["src"],
    "film": ["src"],
    "formats": ["src"],
    "cluster": ["src"],
    "molecules": ["src"],
    "gym": ["src"],
    "oracles": ["tests", "benchmarks"],
}
# Packages that are imported under another name.
MODULES = {"biopython": "Bio", "mujoco-core": "mujoco", "pin": "pinocchio", "pycollada": "collada", "usd-core": "pxr"}
IMPORT = r"(?:^\s*(?:import|from)\s+|importorskip\(\s*[\"']|import_module\(\s*[\"']){}\b"


def imported(package: str, folders: list[str]) -> bool:
    """Whether a file of these folders imports a package."""
    wanted = re.compile(IMPORT.format(MODULES.get(package, package.replace("-", "_"))), re.M)
    files = (path for folder in folders for path in (ROOT / folder).rglob("*.py"))
    return any(wanted.search(path.read_text(encoding="utf-8")) for path in files)


@pytest.mark.parametrize("extra", USERS)
def test_an_extra_installs_only_what_is_used(extra: str) -> None:
    assert [package for package in EXTRAS[extra] if not imported(package, USERS[extra])] == []


def test_the_page_of_installation_lists_the_extras() -> None:
    page = (ROOT / "docs" / "install.md").read_text(encoding="utf-8")
    assert re.findall(r"^\| `(\w+)` \|", page, re.M) == list(EXTRAS)
