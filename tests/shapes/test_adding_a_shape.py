"""Adding a shape: CONTRIBUTING names every file in which an ellipsoid, the plainest curved shape, is known."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "rattleback"
NAMED = re.compile(r"\b(Ellipsoid|ELLIPSOID|EllipsoidEntry)\b")
# What every shape needs is kept in these rooms; elsewhere shapes are used.
ROOMS = ("shapes", "collision", "io", "recording", "viewer/drawing")
# Its own closed form, and two uses of ellipsoids for what only they are: round like spheres, the picture of an inertia.
OWN = {
    "collision/narrowphase/closed_forms/ellipsoid.py",
    "collision/narrowphase/surface/normals.py",
    "recording/picture.py",
}


def entry() -> str:
    text = (ROOT / "CONTRIBUTING.md").read_text()
    start = text.index("- **A shape**")
    return text[start : text.index("\n- **", start)]


def test_every_file_that_knows_a_shape_by_its_class_or_kind_is_in_the_list():
    found = {path for room in ROOMS for path in (SOURCE / room).rglob("*.py") if NAMED.search(_code(path))}
    names = {str(path.relative_to(SOURCE)) for path in found} - OWN - {"shapes/ellipsoid.py"}
    assert {name for name in names if f"`{name}`" not in entry()} == set()


def test_every_file_in_the_list_knows_the_shape():
    listed = [name for name in re.findall(r"`([\w/]+\.py)`", entry()) if not name.startswith(("src/", "tests/"))]
    silent = [name for name in listed if not NAMED.search((SOURCE / name).read_text())]
    # Its contact is one point, which is what support_face gives a kind it does not know.
    assert silent == ["collision/manifold/support_face.py"]


def _code(path: Path) -> str:
    """The source without docstrings."""
    return re.sub(r'""".*?"""', "", path.read_text(), flags=re.DOTALL)
