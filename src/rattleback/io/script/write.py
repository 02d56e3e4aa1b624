"""A scene as a Python script that makes it: ``scene.to_python()``, ``rattleback convert crank.rb.json crank.py``.

The script gives no argument that is a default, calls what is used later by its name, and writes rows of like bodies
as a loop. Numbers have all their digits: the scene it makes is the same, bit for bit.
"""

from __future__ import annotations

import keyword
import re
from collections import Counter
from dataclasses import asdict
from itertools import groupby
from typing import TYPE_CHECKING, Any

from rattleback.core import checks
from rattleback.io.scene_data import to_data
from rattleback.io.script.bodies import OptionsOfBodies
from rattleback.io.script.calls import Calls
from rattleback.io.script.layout import UNPACK, Group, call, lines_of, literal, number, packed
from rattleback.model import Material, Scene
from rattleback.model.body import BodyOptions
from rattleback.model.editing import new_name, numbered
from rattleback.model.pairing import Rules
from rattleback.shapes import Box, Capsule, Cone, Cylinder, Ellipsoid, Placed, Plane, Sphere

if TYPE_CHECKING:
    from collections.abc import Iterator

# Names that a script needs itself.
TAKEN = {"rb", "np", "base64", "zlib", "scene", "unpacked", "_", "float", "range"} | set(BodyOptions.__annotations__)
# So many like bodies, one after the other, are a loop.
LEAST_IN_LOOP = 4
PLAIN_SHAPES = (Box, Capsule, Cone, Cylinder, Ellipsoid, Plane, Sphere)


def to_python(scene: Scene, time_step: float | None = None) -> str:
    """The script of a scene.

    Args:
        scene: The scene; as in a scene file, nothing in it may carry code.
        time_step: Length of a step of the simulation the script opens [s]; by default that of ``Simulation``.

    Raises:
        InputError: Something in the scene cannot be written, such as a force that carries code.
    """
    checks.instance(scene, Scene, "What is written", "rb.Scene()")
    to_data(scene)
    return _Script(scene).text(time_step)


class _Script:
    """The script of a scene, as it is written."""

    def __init__(self, scene: Scene) -> None:
        self.scene, self.calls = scene, Calls(scene)
        self._bodies, self._variables = OptionsOfBodies(self.calls), set(TAKEN)
        used = [getattr(thing, side, None) for thing in self._things() for side in ("a", "b", "body", "joint")]
        self._used = {name for name in used if isinstance(name, str)}
        self._used |= {name for names in scene.meetings for name in names}

    def text(self, time_step: float | None) -> str:
        """The whole script."""
        parts = [self._start(), self._shared(), self._all_bodies(), self._joints(), self._forces(), self._rules()]
        body = "\n\n".join("\n".join(part) for part in parts if part)
        head = ['"""A scene of rattleback; run it to look at it."""', ""]
        needs = packed(body)
        head += ["import base64", "import zlib", "", "import numpy as np", ""] if needs else []
        head += ["import rattleback as rb", *(["", UNPACK] if needs else [])]
        step = {} if time_step is None else {"time_step": number(time_step)}
        made = call("rb.Simulation", ["scene"], step)
        end = ["", 'if __name__ == "__main__":', f"    rb.view({made})", ""]
        return "\n".join([*head, "", body, *end])

    def _things(self) -> Iterator[Any]:
        yield from self.scene.joints.values()
        yield from self.scene.forces.values()

    def _start(self) -> list[str]:
        named: dict[str, Any] = {}
        if self.scene.gravity.tobytes() != Scene().gravity.tobytes():
            named["gravity"] = literal(tuple(self.scene.gravity.tolist()))
        if self.scene.name != Scene().name:
            named["name"] = literal(self.scene.name)
        return lines_of("scene = ", call("rb.Scene", [], named))

    def _shared(self) -> list[str]:
        """Materials and larger shapes that several bodies have, as variables."""
        found: list[str] = []
        bodies = self.scene.bodies
        materials = Counter(body.material for body in bodies)
        materials.update(material for pair in self.scene.pairs for material in pair)
        for material in [known for known, count in materials.items() if count > 1 and known != Material()]:
            self.calls.materials[material] = name = self._variable("surface")
            found += lines_of(f"{name} = ", self.calls.new_material(material))
        for shape, count in Counter(shape for body in bodies for shape in _large_shapes(body)).items():
            if count > 1:
                code = self.calls.new_shape(shape)
                self.calls.shapes[shape] = name = self._variable(type(shape).__name__.lower())
                found += lines_of(f"{name} = ", code)
        return found

    def _all_bodies(self) -> list[str]:
        """The bodies, those that are alike one after the other as loops."""
        known = {self.scene.world.name}
        told = [self._told(body, index, known) for index, body in enumerate(self.scene.bodies)]
        found: list[str] = []
        for _, entries in groupby(told, key=lambda entry: entry[2]):
            run = list(entries)
            found += self._loop(run) if len(run) >= LEAST_IN_LOOP else self._single(run)
        return found

    def _told(self, body: Any, index: int, known: set[str]) -> tuple[Any, dict[str, Any], Any]:
        """A body, its options as code, and what bodies of one loop have in common; earlier names are known."""
        options = self._bodies.of(body)
        if body.name != new_name(body.shape, {}, index, known.__contains__):
            options["name"] = literal(body.name)
        known |= {body.name, body.group}
        shape = None if body.shape is None else str(self.calls.shape(body.shape))
        return body, options, (body.static, shape, tuple(options))

    def _single(self, run: list[Any]) -> list[str]:
        found: list[str] = []
        for body, options, _ in run:
            before = ""
            if body.name in self._used:
                self.calls.names[body.name] = variable = self._variable(body.name)
                before = f"{variable} = "
            found += lines_of(before, self._add(body, options))
        return found

    def _loop(self, run: list[Any]) -> list[str]:
        """Bodies that differ in some options as a table and one call."""
        body, options, _ = run[0]
        differ = [name for name in options if len({str(given[name]) for _, given, _ in run}) > 1]
        if not differ:
            return [f"for _ in range({len(run)}):", *lines_of("", self._add(body, options), 4)]
        rows = [tuple(("", given[name]) for name in differ) for _, given, _ in run]
        table = Group("(", tuple(("", row[0][1] if len(row) == 1 else Group("(", row, ")")) for row in rows), ")")
        head = lines_of(f"for {', '.join(differ)} in ", table)
        head[-1] += ":"
        return [*head, *lines_of("", self._add(body, {**options, **{name: name for name in differ}}), 4)]

    def _add(self, body: Any, options: dict[str, Any]) -> Group:
        shape = [] if body.shape is None else [self.calls.shape(body.shape)]
        return call(f"scene.{'add_static' if body.static else 'add_body'}", shape, options)

    def _joints(self) -> list[str]:
        found: list[str] = []
        known = {body.name for body in self.scene.bodies} | set(self.scene.groups) | {self.scene.world.name}
        for count, (name, joint) in enumerate(self.scene.joints.items()):
            usual = numbered(type(joint).__name__.lower(), count + 1, known.__contains__)
            known.add(name)
            code = self.calls.joint(joint)
            before = ""
            if name in self._used:
                self.calls.names[name] = variable = self._variable(name)
                before = f"{variable} = "
            found += lines_of(before, call("scene.add_joint", [code], {} if name == usual else {"name": literal(name)}))
        return found

    def _forces(self) -> list[str]:
        found: list[str] = []
        known: set[str] = set()
        for count, (name, force) in enumerate(self.scene.forces.items()):
            usual = numbered(type(force).__name__.lower(), count + 1, known.__contains__)
            known.add(name)
            named = {} if name == usual else {"name": literal(name)}
            found += lines_of("", call("scene.add_force", [self.calls.force(name, force)], named))
        return found

    def _rules(self) -> list[str]:
        """What may meet, and how materials combine."""
        found: list[str] = []
        for names, meet in self.scene.meetings.items():
            code = [self.calls.name(name) for name in names]
            found += lines_of("", call(f"scene.{'allow' if meet else 'exclude'}", code, {}))
        rules = {name: rule for name, rule in asdict(self.scene.rules).items() if rule != getattr(Rules(), name)}
        if rules:
            found += lines_of("", call("scene.combine", [], {name: literal(rule) for name, rule in rules.items()}))
        for pair, values in self.scene.pairs.items():
            told = {name: literal(value) for name, value in asdict(values).items() if value is not None}
            found += lines_of("", call("scene.pair", [self.calls.material(entry) for entry in pair], told))
        return found

    def _variable(self, name: str) -> str:
        """A variable for a name, one that nothing else has."""
        stem = re.sub(r"\W+", "_", name, flags=re.ASCII).strip("_").lower() or "thing"
        if stem[0].isdigit() or keyword.iskeyword(stem) or keyword.issoftkeyword(stem):
            stem = f"the_{stem}"
        found, count = stem, 1
        while found in self._variables:
            count += 1
            found = f"{stem}_{count}"
        self._variables.add(found)
        return found


def _large_shapes(body: Any) -> list[Any]:
    """The shapes of a body that take more than a line, seen or colliding, each once."""
    found = dict.fromkeys((body.shape, *(part.shape for part in body.colliders if isinstance(part, Placed))))
    return [shape for shape in found if not isinstance(shape, (*PLAIN_SHAPES, type(None)))]
