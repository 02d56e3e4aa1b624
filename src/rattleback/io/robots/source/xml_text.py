"""XML as a tree whose elements know their line, and which of their attributes were read.

Document types and entities are refused, so that nothing expands and nothing else is opened; size, depth and number of
elements are bounded. What a reader never asked for is found again at the end, and reported as dropped.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any
from xml.parsers import expat

import numpy as np

from rattleback.core import whole_file
from rattleback.core.errors import FileError
from rattleback.io.robots.report import APPROXIMATED, DROPPED, KEPT, Entry

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from rattleback.io.robots.report import Report

    Floats = NDArray[np.float64]

MOST_BYTES, MOST_ELEMENTS, DEEPEST = 64 * 2**20, 500_000, 200
# Longer values are cut in messages.
SHOWN = 60
UNKNOWN = "this reader does not know the element"
UNREAD = "this reader does not know the attribute"


class Node:
    """An element.

    Attributes:
        tag: Its name.
        attributes: Its attributes, as text.
        children: The elements in it, in order.
        text: The text in it, before, between and after these.
        line: The line it begins on.
        path: Where it is: the elements around it, each with its name where it has one.
        visited: Whether a reader has come by.
    """

    def __init__(self, tag: str, attributes: dict[str, str], line: int, document: Document, above: str) -> None:
        self.tag, self.attributes, self.line, self.document = tag, attributes, line, document
        name = attributes.get("name")
        own = f"{tag} {name[:SHOWN]!r}" if name else tag
        self.path = f"{above}/{own}" if above else own
        self.children: list[Node] = []
        self.text = ""
        self.visited = False
        self._read: set[str] = set()
        self._notes: dict[str, tuple[str, str]] = {}

    def error(self, message: str) -> FileError:
        """A fault in this element."""
        document = self.document
        return FileError(
            f"The {document.kind} file {document.path!r} has a fault in line {self.line}, {self.path}: {message}"
        )

    def get(self, name: str, default: str = "") -> str:
        """An attribute as text."""
        self._read.add(name)
        return self.attributes.get(name, default)

    def need(self, name: str) -> str:
        """An attribute that must be there."""
        found = self.get(name)
        if not found:
            raise self.error(f"the attribute {name!r} is missing.")
        return found

    def number(self, name: str, default: float = 0.0, infinite: bool = False) -> float:
        """An attribute as a number."""
        text = self.get(name)
        return float(self._numbers(text, name, 1, infinite)[0]) if text.strip() else default

    def numbers(self, name: str, count: int, default: Any = None) -> Floats:
        """An attribute as so many numbers."""
        text = self.get(name)
        if not text.strip():
            return np.array(np.zeros(count) if default is None else default, dtype=np.float64)
        return self._numbers(text, name, count)

    def value(self, default: float = 0.0, infinite: bool = False) -> float:
        """The text in it as a number."""
        return float(self._numbers(self.text, "", 1, infinite)[0]) if self.text.strip() else default

    def values(self, count: int) -> Floats:
        """The text in it as so many numbers."""
        return self._numbers(self.text, "", count)

    def _numbers(self, text: str, name: str, count: int, infinite: bool = False) -> Floats:
        words, what = text.split(), f"the attribute {name!r}" if name else "its text"
        shown = repr(text if len(text) <= SHOWN else f"{text[:SHOWN]}...")
        wanted = "a number" if count == 1 else f"{count} numbers"
        try:
            found = [float(word) for word in words if "_" not in word]
        except ValueError:
            found = []
        if len(found) != count or len(words) != count:
            raise self.error(f"{what} is {shown}; it must be {wanted}.")
        if any(math.isnan(one) or (math.isinf(one) and not infinite) for one in found):
            raise self.error(f"{what} is {shown}; it must be finite.")
        return np.array(found)

    def flag(self, name: str, default: bool = False) -> bool:
        """An attribute, or with an empty name the text, as true or false."""
        text = (self.get(name) if name else self.text).strip().lower()
        if text not in ("", "0", "1", "true", "false"):
            raise self.error(f"{name or 'its text'!r} is {text[:SHOWN]!r}; it must be true or false.")
        return text in ("1", "true") if text else default

    def child(self, tag: str) -> Node | None:
        """The first element of this name in it; others of the name are reported as dropped."""
        found = next((node for node in self.children if node.tag == tag), None)
        if found is not None:
            found.visited = True
        return found

    def all(self, tag: str) -> list[Node]:
        """All elements of this name in it."""
        found = [node for node in self.children if node.tag == tag]
        for node in found:
            node.visited = True
        return found

    def keep(self, note: str = "", attribute: str = "") -> None:
        """It, or one of its attributes, is kept."""
        self._note(attribute, KEPT, note)

    def approximate(self, how: str, attribute: str = "") -> None:
        """It, or one of its attributes, is approximated."""
        self._note(attribute, APPROXIMATED, how)

    def drop(self, why: str, attribute: str = "") -> None:
        """It, or one of its attributes, is dropped, with everything in it."""
        self._note(attribute, DROPPED, why)

    def _note(self, attribute: str, verdict: str, note: str) -> None:
        self.visited = True
        self._notes[attribute] = (verdict, note)

    def entries(self) -> Iterator[tuple[str, str, str]]:
        """Place, verdict and note of it, its attributes and everything in it."""
        place = f"line {self.line}, {self.path}"
        verdict, note = self._notes.get("", (KEPT, "") if self.visited else (DROPPED, UNKNOWN))
        yield place, verdict, note
        if verdict == DROPPED:
            return
        for name in self.attributes:
            if name.startswith("xmlns"):
                continue
            told = (KEPT, "") if name in self._read else (DROPPED, UNREAD)
            yield f"{place} @{name}", *self._notes.get(name, told)
        for node in self.children:
            yield from node.entries()


class Document:
    """An XML file.

    Attributes:
        path: The file.
        kind: What it is called in messages, such as ``"URDF"``.
        root: Its outermost element.
        above: What stands before the paths of its elements, where another file holds it.
        count: Number of its elements.
    """

    def __init__(self, path: str, kind: str, content: bytes, above: str = "") -> None:
        self.path, self.kind, self.above = path, kind, above
        if len(content) > MOST_BYTES:
            raise self.error(f"has {len(content)} bytes; {MOST_BYTES} are read at most.")
        self._open: list[Node] = []
        self.count = 0
        self._found: Node | None = None
        self._parse(content)
        if self._found is None:
            raise self.error("has no element.")
        self.root: Node = self._found
        self.root.visited = True

    def error(self, message: str) -> FileError:
        """A fault of the file as a whole."""
        return FileError(f"The {self.kind} file {self.path!r} {message}")

    def _parse(self, content: bytes) -> None:
        parser = expat.ParserCreate()
        parser.buffer_text = True
        parser.StartElementHandler = lambda tag, given: self._start(tag, given, parser.CurrentLineNumber)
        parser.EndElementHandler = lambda _: self._open.pop()
        parser.CharacterDataHandler = self._add_text
        parser.StartDoctypeDeclHandler = self._refuse_type
        try:
            parser.Parse(content, True)
        except expat.ExpatError as error:
            raise self.error(f"is not XML: {expat.ErrorString(error.code)} in line {error.lineno}.") from None
        except (LookupError, ValueError) as error:
            raise self.error(f"is not XML: {error} in line {parser.CurrentLineNumber}.") from None

    def _refuse_type(self, *given: object) -> None:
        raise self.error("declares a document type, which could define entities; remove the <!DOCTYPE ...>.")

    def _start(self, tag: str, attributes: dict[str, str], line: int) -> None:
        self.count += 1
        if self.count > MOST_ELEMENTS or len(self._open) >= DEEPEST:
            raise self.error(f"has too many elements, or too deep ones, in line {line}.")
        node = Node(tag, attributes, line, self, self._open[-1].path if self._open else self.above)
        if self._open:
            self._open[-1].children.append(node)
        else:
            self._found = node
        self._open.append(node)

    def _add_text(self, text: str) -> None:
        if self._open:
            self._open[-1].text += text

    def tell(self, report: Report) -> None:
        """Write what became of every element into the report."""
        for place, verdict, note in self.root.entries():
            report.add(Entry(place, verdict, note))


def read_document(path: str, kind: str) -> Document:
    """The XML file at a path."""
    return Document(path, kind, whole_file.read(path, f"{kind} file"))
