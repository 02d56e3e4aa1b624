"""The tables of the add-on hold what scene files hold; they are read without Blender and without the package."""

import importlib.util
import sys
from dataclasses import fields
from pathlib import Path

import pytest

from rattleback import joints
from rattleback.io.force_schema import ServoEntry, SpringEntry, TorsionSpringEntry
from rattleback.io.scene_schema import BodyEntry, MaterialEntry
from rattleback.io.shape_schema import SHAPES

FOLDER = Path(__file__).resolve().parents[2] / "blender"
# Where something is, told by the place of an object; what it is and belongs to, by its type.
PLACES = {"a", "b", "at", "axis", "at_b", "axis_b", "frame_a", "frame_b", "name", "kind", "joint"}


@pytest.fixture(scope="module")
def attributes():
    spec = importlib.util.spec_from_file_location("addon_attributes", FOLDER / "attributes.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def names(table):
    return {field.name for field in table}


def test_the_add_on_knows_every_joint_with_every_attribute(attributes):
    assert set(attributes.JOINTS) == set(joints.MENU)
    for kind, own in attributes.JOINTS.items():
        wanted = {field.name for field in fields(joints.MENU[kind])} - PLACES
        given = {name for name in (*own, *attributes.COMMON) if not name.endswith("_axes")}
        assert {attributes.file_name(kind, name) for name in given} == wanted, kind
        assert given <= names(attributes.JOINT)


@pytest.mark.parametrize(
    ("table", "entry", "elsewhere", "own"),
    [
        (
            "BODY",
            BodyEntry,
            {"name", "origin", "position", "orientation", "material", "collision"},
            {"collides", "products"},
        ),
        ("MATERIAL", MaterialEntry, set(), set()),
        ("MOTOR", ServoEntry, PLACES, {"schedule", "between"}),
        ("TORSION", TorsionSpringEntry, PLACES, set()),
        ("SPRING", SpringEntry, PLACES, set()),
    ],
)
def test_the_add_on_knows_every_attribute_of_what_is_no_joint(attributes, table, entry, elsewhere, own):
    assert names(getattr(attributes, table)) - own == set(entry.model_fields) - elsewhere


def test_the_add_on_knows_every_shape_that_a_mesh_can_be(attributes):
    assert set(attributes.SHAPES) - {"auto", "none"} == set(SHAPES) - {"compound", "height_field"}


def test_a_schedule_is_read_and_nonsense_is_refused(attributes):
    assert attributes.schedule("0: 0, 1.5: -3.25") == ([0.0, 1.5], [0.0, -3.25])
    with pytest.raises(ValueError, match=r"The schedule '1, 2' of a motor cannot be read; write times and values"):
        attributes.schedule("1, 2")


def test_the_add_on_imports_nothing_from_the_package():
    for path in FOLDER.glob("*.py"):
        text = path.read_text(encoding="utf-8")
        assert text.startswith("# SPDX-License-Identifier: GPL-3.0-or-later\n"), path.name
        assert "import rattleback" not in text
        assert "from rattleback" not in text
