"""The words of the house, checked: prose is about bodies and contacts, not persons, and old names stay gone."""

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SOURCES = sorted((ROOT / "src" / "rattleback").rglob("*.py"))
PAGES = [
    *sorted((ROOT / "docs").rglob("*.md")),
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")),
]
# "Whose" is the relative pronoun of things, too.
PERSONS = re.compile(r"\b(who|whom|nobody|somebody|everybody|anybody|everyone|someone|anyone)\b", re.IGNORECASE)
# Names of the past, as words of an identifier, and what they are called now.
GONE = {
    "palette": "colours, ColourDriver",
    "patch": "manifold",
    "patches": "manifolds",
    "pressing": "contact steps, scheme",
    "easer": "energy limiter",
    "easing": "energy limiter",
    "glance": "host read",
    "standing": "load propagation",
}
CONTACTS = [path for path in SOURCES if "contacts" in path.relative_to(ROOT).parts]


def is_string(token: tokenize.TokenInfo) -> bool:
    return tokenize.tok_name[token.type] in ("STRING", "FSTRING_MIDDLE", "COMMENT")


def texts(source: str) -> Iterator[tuple[int, str]]:
    """Line and text of every docstring, comment and string; of what an f-string fills in nothing."""
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if is_string(token):
            text = re.sub(r"\{[^{}]*\}", "", token.string) if token.string[:2].lower() in ('f"', "f'") else token.string
            for number, line in enumerate(text.splitlines()):
                yield token.start[0] + number, line


def persons(lines: Iterator[tuple[int, str]]) -> Iterator[str]:
    for number, line in lines:
        if PERSONS.search(line):
            yield f"{number}: {line.strip()}"


def names(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Every name that a file defines: classes, functions, parameters, variables and fields."""
    for node in ast.walk(tree):
        if isinstance(node, (ast.ClassDef, ast.FunctionDef)):
            yield node.lineno, node.name
        elif isinstance(node, ast.arg):
            yield node.lineno, node.arg
        elif isinstance(node, (ast.Name, ast.Attribute)) and isinstance(node.ctx, ast.Store):
            yield node.lineno, node.id if isinstance(node, ast.Name) else node.attr


def gone(source: str) -> Iterator[str]:
    for line, name in names(ast.parse(source)):
        for word in re.findall(r"[A-Z]?[a-z]+", name):
            if word.lower() in GONE:
                yield f"{line}: {name}; it is called {GONE[word.lower()]}"


def show(offenders: dict[Path, list[str]], rule: str) -> None:
    found = [f"{path.relative_to(ROOT)}:{line}" for path, lines in offenders.items() for line in lines]
    if found:
        pytest.fail("\n  ".join([rule, *found]), pytrace=False)


def test_docstrings_comments_and_messages_are_about_things() -> None:
    rule = "The subject of a sentence is the body, the contact, the client, not a person:"
    show({path: list(persons(texts(path.read_text(encoding="utf-8")))) for path in SOURCES}, rule)


def test_pages_are_about_things() -> None:
    rule = "The subject of a sentence is the body, the contact, the client, not a person:"
    show({path: list(persons(enumerate(path.read_text(encoding="utf-8").splitlines(), 1))) for path in PAGES}, rule)


def test_names_that_are_gone_from_the_contact_room_stay_gone() -> None:
    show({path: list(gone(path.read_text(encoding="utf-8"))) for path in CONTACTS}, "These names have better ones:")


def test_a_person_is_found_in_every_kind_of_text() -> None:
    source = '"""Who stands."""\nx = f"{who} of nobody"  # for somebody\ny = "a body, whose mass"\nwho = 1\n'
    assert [line.split(":")[0] for line in persons(texts(source))] == ["1", "2", "2"]


def test_a_name_that_is_gone_is_found() -> None:
    source = "class PatchRows: ...\ndef f(palette): self.easer = matching = 1\nname = palette\n"
    assert sorted(line.split(";")[0] for line in gone(source)) == ["1: PatchRows", "2: easer", "2: palette"]
