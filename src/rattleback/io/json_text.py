"""JSON text and plain data: read with every fault located, written so that people can read it.

The parser of the standard library lets some things pass that a scene must not hold: a field given twice (the last one
would win), NaN and Infinity, numbers too large for a float. The first is reported here; the others become values that
are not finite, which the schema refuses with their path.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from rattleback.io.faults import TOO_DEEP

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rattleback.io.faults import Faults, Step

    # Tables with fields given twice and the names of those, by identity; holding the table keeps its identity unique.
    Repeated = dict[int, tuple[dict[str, Any], list[str]]]

LINE = 110
ENTRIES_ON_A_LINE = 16
ENCODE = json.JSONEncoder(ensure_ascii=False, allow_nan=False).encode
DIGITS = 300  # a whole number of more digits is beyond every float


def parse(content: bytes, faults: Faults) -> Any:
    """The data of a JSON text; fields given twice are added to the faults.

    Raises:
        FileError: The text is not JSON, not UTF-8, or nested too deeply.
    """
    repeated: Repeated = {}
    try:
        data = json.loads(
            content.decode("utf-8-sig"),
            object_pairs_hook=lambda pairs: _table(pairs, repeated),
            parse_int=lambda digits: int(digits) if len(digits) <= DIGITS else float(digits),
        )
    except UnicodeDecodeError as error:
        raise faults.error(f"is not UTF-8 text: byte {error.start} is {content[error.start]:#04x}.") from None
    except RecursionError:
        raise faults.error(f"{TOO_DEEP}.") from None
    except json.JSONDecodeError as error:
        said = error.msg[0].lower() + error.msg[1:].removesuffix(":").removesuffix(" at")
        raise faults.error(f"is not JSON: {said} at line {error.lineno}, column {error.colno}.") from None
    for location in _find(data, repeated):
        faults.add(location, "is given twice; keep one")
    return data


def layout(data: Any, indent: int = 0) -> str:
    """Data as JSON text: two spaces a level, short lists and tables on one line, every float in full."""
    plain = not isinstance(data, (dict, list)) or indent > LINE
    if plain or len(data) <= ENTRIES_ON_A_LINE:
        line = ENCODE(data)
        if plain or len(line) + indent <= LINE:
            return line
    margin = " " * (indent + 2)
    if isinstance(data, dict):
        entries = [f"{ENCODE(name)}: {layout(value, indent + 2)}" for name, value in data.items()]
        return "{\n" + ",\n".join(margin + entry for entry in entries) + "\n" + " " * indent + "}"
    entries = [layout(value, indent + 2) for value in data]
    return "[\n" + ",\n".join(margin + entry for entry in entries) + "\n" + " " * indent + "]"


def _table(pairs: list[tuple[str, Any]], repeated: Repeated) -> dict[str, Any]:
    table = dict(pairs)
    if len(table) < len(pairs):
        names = [name for name, _ in pairs]
        repeated[id(table)] = (table, [name for name in table if names.count(name) > 1])
    return table


def _find(data: Any, repeated: Repeated) -> Iterator[tuple[Step, ...]]:
    """Paths of the fields given twice."""
    waiting: list[tuple[tuple[Step, ...], Any]] = [((), data)] if repeated else []
    while waiting:
        location, value = waiting.pop()
        if isinstance(value, dict):
            _, names = repeated.get(id(value), (value, []))
            yield from ((*location, name) for name in names)
            waiting.extend(((*location, name), inner) for name, inner in value.items())
        elif isinstance(value, list):
            waiting.extend(((*location, index), inner) for index, inner in enumerate(value))
