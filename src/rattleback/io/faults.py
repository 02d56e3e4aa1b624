"""The faults of a file: collected one by one with their path inside it, told together in one sentence each.

    The scene file 'arm.rb.json' has 2 faults:
      bodies[3].mass: must be greater than zero; it is -1.0
      forces[0].kind: is 'drg', which does not exist. Did you mean 'drag'? The menu: ...

Faults of form come from pydantic and are put into words here; faults of sense are the errors of the other rooms.
"""

from __future__ import annotations

import math
import re
from contextlib import contextmanager
from typing import TYPE_CHECKING

from pydantic import BaseModel, ValidationError

from rattleback.core.errors import FileError, RattlebackError, did_you_mean, listing

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from pydantic_core import ErrorDetails

    Step = str | int

SHOWN = 10
TOO_DEEP = "is nested too deeply"
# Fields whose value is one of several kinds; pydantic puts the kind it chose into the path, after the field.
# In a list of such values, it comes after the index.
OF_SEVERAL_KINDS = ("shape", "inertia", "target", "contacts")
LISTS_OF_SEVERAL_KINDS = ("joints", "forces")
SENTENCES = {
    "missing": "is missing",
    "float_type": "must be a number",
    "int_type": "must be a whole number",
    "string_type": "must be text",
    "string_unicode": "must be text in Unicode, without halves of characters",
    "string_too_short": "must not be empty",
    "bool_type": "must be true or false",
    "list_type": "must be a list",
    "dict_type": "must be a table with named fields",
    "model_type": "must be a table with named fields",
    "model_attributes_type": "must be a table with named fields",
    "finite_number": "must be finite",
}


class Faults:
    """The faults of one file.

    Args:
        kind: What the file is called in messages, such as ``"scene file"``.
        name: Its path.
        entries: The models of the tables in it, by the name of the field or kind they are found under; ``""`` is the
            file itself.
    """

    def __init__(self, kind: str, name: str, entries: Mapping[str, type[BaseModel]]) -> None:
        self.kind, self.name, self.entries = kind, name, entries
        self.found: list[tuple[str, str]] = []

    def __len__(self) -> int:
        return len(self.found)

    def add(self, location: Sequence[Step], message: str) -> None:
        """Note a fault at a path inside the file."""
        self.found.append((shown_path(location), message))

    @contextmanager
    def at(self, *location: Step) -> Iterator[None]:
        """Faults of form and sense met inside belong to this path; the block ends there."""
        try:
            yield
        except ValidationError as error:
            for detail in error.errors(include_url=False):
                self.add(*self._told(location, detail))
        except RattlebackError as error:
            self.add(location, str(error))
        except RecursionError:
            self.add(location, TOO_DEEP)
        except ArithmeticError:
            self.add(location, "has numbers that are too large or too small to compute with")

    def check(self) -> None:
        """Raise what was found, if anything was."""
        if self.found:
            raise FileError(f"The {self.kind} {self.name!r} has {self.told()}")

    def told(self) -> str:
        """The faults as text: how many, then the first of them, each with its path."""
        number = len(self.found)
        lines = [f"{path}: {message}" if path else message for path, message in self.found[:SHOWN]]
        more = [f"and {number - SHOWN} more"] if number > SHOWN else []
        return "\n  ".join([f"{number} fault{'s' if number > 1 else ''}:", *lines, *more])

    def error(self, message: str) -> FileError:
        """A fault of the file as a whole."""
        return FileError(f"The {self.kind} {self.name!r} {message}")

    def _told(self, outer: tuple[Step, ...], detail: ErrorDetails) -> tuple[list[Step], str]:
        """Path and sentence for what pydantic found."""
        location = (*outer, *detail["loc"])
        path, sort = _without_kinds(location), detail["type"]
        if sort.startswith("union_tag"):
            return [*path, "kind"], _wrong_kind(detail)
        if sort == "extra_forbidden":
            names = [step for step in location[:-1] if isinstance(step, str)]
            known = list(self.entries[names[-1] if names else ""].model_fields)
            hint = did_you_mean(location[-1], known)
            return path, f"is not a field of this table.{hint} It takes {listing(known, 30)}."
        return path, _sentence(detail)


def shown_path(location: Sequence[Step]) -> str:
    """A path as people write it: ``bodies[3].mass``; odd names in quotes, ``bodies[3]['mass ']``."""
    text = ""
    for step in location:
        if isinstance(step, str) and re.fullmatch(r"[A-Za-z_]\w{0,59}", step):
            text += f".{step}" if text else step
        else:
            text += f"[{shown_value(step)}]"
    return text if len(text) <= 200 else f"{text[:100]} ... {text[-90:]}"


def shown_value(value: object) -> str:
    """A value from a file, in the words of JSON and not too long."""
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else f"{'-' if value < 0 else ''}Infinity"
    if isinstance(value, list):
        return f"a list of {len(value)}"
    if isinstance(value, dict):
        return "a table"
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."


def _without_kinds(location: Sequence[Step]) -> list[Step]:
    path: list[Step] = []
    field: Step = ""
    after_index = False
    for step in location:
        named = isinstance(step, str)
        if named and field in (LISTS_OF_SEVERAL_KINDS if after_index else OF_SEVERAL_KINDS):
            field = ""
            continue
        path.append(step)
        field, after_index = step if named else field, not named
    return path


def _wrong_kind(detail: ErrorDetails) -> str:
    """What to say of a table whose kind is not on the menu, or that has none."""
    if detail["type"] == "union_tag_not_found":
        return SENTENCES["missing"]
    kind, menu = detail["input"]["kind"], re.findall(r"'([^']*)'", detail["ctx"]["expected_tags"])
    hint = did_you_mean(kind, menu) if isinstance(kind, str) else ""
    return f"is {shown_value(kind)}, which does not exist.{hint} The menu: {listing(menu, 30)}."


def _sentence(detail: ErrorDetails) -> str:
    """What to say of a value of the wrong form."""
    sort, context, given = detail["type"], detail.get("ctx", {}), detail["input"]
    if sort == "missing":
        return SENTENCES[sort]
    if sort.startswith("recursion"):
        return TOO_DEEP
    if sort == "value_error":
        return str(context["error"])
    if sort in ("too_short", "too_long"):
        bound: int = context["min_length" if sort == "too_short" else "max_length"]
        return f"must have {bound} entries; it has {context['actual_length']}" if bound > 1 else "must not be empty"
    bounds = {"greater_than": "gt", "greater_than_equal": "ge", "less_than_equal": "le"}
    if sort in bounds:
        words = {"gt": "greater than {}", "ge": "{} or more", "le": "{} or less"}[bounds[sort]]
        limit = context[bounds[sort]]
        said = f"must be {words.format('zero' if limit == 0 else limit)}"
    elif sort == "literal_error":
        said = f"must be {context['expected']}"
    else:
        said = SENTENCES.get(sort, detail["msg"][0].lower() + detail["msg"][1:])
    return f"{said}; it is {shown_value(given)}"
