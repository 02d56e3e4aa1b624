"""The rules of the house, checked: sizes, words, comments, docstrings, menus, tests beside rooms, paths in the docs.

Every rule is a function that yields one line per offender; a failing test shows them all.
"""

import ast
import functools
import importlib
import io
import pkgutil
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "src" / "rattleback"
SOURCES = sorted(PACKAGE.rglob("*.py"))
OTHERS = sorted(
    path for folder in ("tests", "benchmarks", "examples", "docs", "blender") for path in (ROOT / folder).rglob("*.py")
)
TEXTS = [
    *sorted((ROOT / "docs").glob("*.md")),
    *sorted((ROOT / "docs" / "api").glob("*.md")),
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md")),
]

FILE_LINES, BODY_LINES, KERNEL_LINES, PARAMETERS, KERNEL_PARAMETERS = 400, 25, 90, 6, 8
FILE_WORDS = {"util", "utils", "helper", "helpers", "common", "base", "manager", "handler"}
CLASS_WORDS = {"Util", "Utils", "Helper", "Helpers", "Base", "Manager", "Handler"}
LEFTOVERS = re.compile(r"\b(TODO|FIXME|XXX)\b")
ABSOLUTE_PATH = re.compile(r"(?<![\w.~-])/(home|root|work|Users)/")
ALONE = re.compile(r"^\s*#", re.M)
PRAGMA = re.compile(r"^(noqa|type:|ruff:|fmt:|pragma:|mypy:|!)")
MENU_ROOMS = ["integrators", "forces", "shapes", "joints", "solvers.joints", "lcp.methods"]
NOT_FOR_A_MENU = {
    "PythonForce": "carries code, which has no name",
    "WarpForce": "carries code, which has no name",
    "JointsByChain": "needs names of bodies or joints",
}

Function = ast.FunctionDef | ast.AsyncFunctionDef
CODE = (ast.Assign, ast.AugAssign, ast.Import, ast.ImportFrom, ast.Return, ast.Raise, ast.Assert, ast.Delete)


def show(offenders: Iterator[str] | list[str], rule: str) -> None:
    """Fail with the rule and one line per offender."""
    found = list(offenders)
    if found:
        pytest.fail("\n  ".join([rule, *found]), pytrace=False)


def place(path: Path, line: int | None = None) -> str:
    name = path.relative_to(ROOT).as_posix() if path.is_relative_to(ROOT) else path.name
    return name if line is None else f"{name}:{line}"


@functools.cache
def parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def functions(tree: ast.AST) -> Iterator[Function]:
    return (node for node in ast.walk(tree) if isinstance(node, Function))


def is_kernel(function: Function) -> bool:
    """A Warp kernel or function, or a factory that defines one inside."""
    marks = [mark.func if isinstance(mark, ast.Call) else mark for mark in function.decorator_list]
    names = [mark.attr if isinstance(mark, ast.Attribute) else getattr(mark, "id", "") for mark in marks]
    return any(name.endswith("kernel") or name.startswith("func") for name in names) or any(
        is_kernel(inner) for inner in functions(function) if inner is not function
    )


def body_lines(function: Function, lines: list[str]) -> int:
    """Lines of the body that are not blank, without the docstring."""
    body = function.body[1:] if ast.get_docstring(function) is not None else function.body
    if not body:
        return 0
    first = min([body[0].lineno, *(mark.lineno for mark in getattr(body[0], "decorator_list", []))])
    return sum(1 for line in lines[first - 1 : function.end_lineno] if line.strip())


def long_files(paths: list[Path]) -> Iterator[str]:
    for path in paths:
        count = len(path.read_text(encoding="utf-8").splitlines())
        if count > FILE_LINES:
            yield f"{place(path)}: {count} lines"


def long_functions(path: Path) -> Iterator[str]:
    lines = path.read_text(encoding="utf-8").splitlines()
    for function in functions(parsed(path)):
        count = body_lines(function, lines)
        limit = KERNEL_LINES if count > BODY_LINES and is_kernel(function) else BODY_LINES
        if count > limit:
            yield f"{place(path, function.lineno)}: {function.name} has {count} lines, {limit} at most"


def long_signatures(path: Path) -> Iterator[str]:
    for function in functions(parsed(path)):
        given = [*function.args.posonlyargs, *function.args.args]
        count = len(given) - bool(given and given[0].arg in ("self", "cls"))
        limit = KERNEL_PARAMETERS if count > PARAMETERS and is_kernel(function) else PARAMETERS
        if count > limit:
            yield f"{place(path, function.lineno)}: {function.name} takes {count} parameters, {limit} at most"


def empty_words(path: Path) -> Iterator[str]:
    """Names that say nothing; a file may begin with "common" (the joint CommonDirection does), but not end with it."""
    if path.stem.split("_")[-1] in FILE_WORDS:
        yield f"{place(path)}: the file"
    for node in ast.walk(parsed(path)):
        if isinstance(node, ast.ClassDef) and CLASS_WORDS & set(re.findall(r"[A-Z][a-z0-9]*", node.name)):
            yield f"{place(path, node.lineno)}: class {node.name}"


def leftovers(path: Path) -> Iterator[str]:
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if LEFTOVERS.search(line):
            yield f"{place(path, number)}: {line.strip()}"


def looks_like_code(comment: str) -> bool:
    """Whether a comment is a Python statement with an effect: an assignment, a call, an import, a return …"""
    try:
        statements = ast.parse(comment).body
    except (SyntaxError, ValueError):
        return False
    return any(
        isinstance(found, CODE) or (isinstance(found, ast.Expr) and isinstance(found.value, ast.Call))
        for found in statements
    )


def dead_code(path: Path) -> Iterator[str]:
    source = path.read_text(encoding="utf-8")
    if not ALONE.search(source):
        return
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        text = token.string.lstrip("#").strip()
        alone = token.line.lstrip().startswith("#")
        if token.type == tokenize.COMMENT and alone and not PRAGMA.match(text) and looks_like_code(text):
            yield f"{place(path, token.start[0])}: {token.string}"


def absolute_paths(path: Path) -> Iterator[str]:
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if ABSOLUTE_PATH.search(line):
            yield f"{place(path, number)}: {line.strip()}"


def is_spared(node: ast.AST) -> bool:
    """Overloads and setters are explained where the name is first defined."""
    marks = [getattr(mark, "attr", getattr(mark, "id", "")) for mark in getattr(node, "decorator_list", [])]
    return bool({"overload", "setter", "deleter"} & set(marks))


def silent(node: ast.Module | ast.ClassDef) -> Iterator[ast.ClassDef | Function]:
    """Public classes, functions and methods without a docstring."""
    for child in node.body:
        if isinstance(child, (ast.ClassDef, *Function.__args__)) and not child.name.startswith("_"):
            if ast.get_docstring(child) is None and not is_spared(child):
                yield child
            if isinstance(child, ast.ClassDef):
                yield from silent(child)


def missing_docstrings(path: Path) -> Iterator[str]:
    tree = parsed(path)
    if ast.get_docstring(tree) is None:
        yield f"{place(path)}: the module"
    for node in silent(tree):
        yield f"{place(path, node.lineno)}: {node.name}"


def public_methods(kind: type) -> set[str]:
    return {name for name in dir(kind) if not name.startswith("_") and callable(getattr(kind, name))}


def room_classes(room: str) -> list[type]:
    """The public classes a room defines, protocols aside."""
    package = importlib.import_module(f"rattleback.{room}")
    found = []
    for entry in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
        module = importlib.import_module(entry.name)
        for name, thing in vars(module).items():
            own = isinstance(thing, type) and thing.__module__ == module.__name__
            if own and not name.startswith("_") and not getattr(thing, "_is_protocol", False):
                found.append(thing)
    return found


def off_the_menu(classes: list[type], menu: dict[str, type]) -> Iterator[str]:
    """Classes that can do what every entry of the menu can do, and are not on it."""
    duties = set.intersection(*(public_methods(kind) for kind in menu.values())) if menu else set()
    for kind in classes:
        able = duties and duties <= public_methods(kind)
        if able and kind not in menu.values() and kind.__name__ not in NOT_FOR_A_MENU:
            yield f"{kind.__module__}.{kind.__name__}"


def ignored_folders() -> tuple[str, ...]:
    return tuple(line for line in (ROOT / ".gitignore").read_text(encoding="utf-8").split() if line.endswith("/"))


def looks_like_path(text: str) -> bool:
    """A path into the repository: plain characters, a slash, and a known start or a known ending."""
    if not re.fullmatch(r"\.?[\w-]+(/[\w.-]+)+/?|\.?[\w-]+/", text) or (text + "/").startswith(ignored_folders()):
        return False
    known = (ROOT / text.split("/")[0]).is_dir() or (PACKAGE / text.split("/")[0]).is_dir()
    return known or Path(text).suffix in (".py", ".md", ".toml", ".yaml")


def lost_paths(path: Path) -> Iterator[str]:
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        for text in re.findall(r"(?<!`)`([^`]+)`(?!`)", line):
            if looks_like_path(text) and not (ROOT / text).exists() and not (PACKAGE / text).exists():
                yield f"{place(path, number)}: {text}"


def rooms_without_tests() -> Iterator[str]:
    for room in sorted(path for path in PACKAGE.iterdir() if path.is_dir()):
        files = [path for path in room.rglob("*.py") if path.name != "__init__.py"]
        if files and not list((ROOT / "tests" / room.name).rglob("test_*.py")):
            yield f"{place(room)}: tests/{room.name}/ has no tests"


RULES = [
    (
        long_functions,
        f"A function has {BODY_LINES} lines at most, a kernel {KERNEL_LINES}; find the second idea in it:",
    ),
    (long_signatures, f"A function takes {PARAMETERS} parameters at most; group what belongs together:"),
    (empty_words, "These names say nothing; call the thing what it does:"),
    (leftovers, "Finish it or leave it out:"),
    (dead_code, "Code does not sleep in comments:"),
    (absolute_paths, "Paths are relative:"),
    (missing_docstrings, "These need a docstring:"),
]


PLANTED = [
    (long_functions, "def f():\n" + "    x = 1\n" * (BODY_LINES + 1)),
    (long_functions, "@kernel\ndef f():\n" + "    x = 1\n" * (KERNEL_LINES + 1)),
    (long_signatures, "def f(self, a, b, c, d, e, f, g): ..."),
    (empty_words, "class JointManager: ..."),
    (leftovers, "x = 1  # TO" + "DO later"),
    (dead_code, "# x = solve(a, b)"),
    (dead_code, "if x:\n    # solve(a)\n    y = 1"),
    (absolute_paths, "x = '/" + "home/someone'"),
    (missing_docstrings, "x = 1"),
    (missing_docstrings, "'''A module.'''\nclass Box:\n    '''A box.'''\n    def volume(self): ..."),
]
SPARED = [
    (long_functions, "def f():\n    '''One.\n" + "    Two.\n" * 30 + "    '''\n" + "    x = 1\n\n" * BODY_LINES),
    (long_functions, "@wp.func\ndef f():\n" + "    x = 1\n" * KERNEL_LINES),
    (long_signatures, "def f(self, a, b, c, d, e, f, *, g, h): ..."),
    (empty_words, "class CommonDirection: ..."),
    (dead_code, "# The equation of motion, (3.2): M a = f.\n# note: this is prose\nx = 1  # y = x"),
    (absolute_paths, "x = 'docs/work/home/'"),
    (missing_docstrings, "'''A module.'''\nclass _Box:\n    def volume(self): ..."),
]


@pytest.mark.parametrize(("rule", "message"), [pytest.param(*rule, id=rule[0].__name__) for rule in RULES])
def test_the_source_keeps_the_rule(rule, message):
    show([line for path in SOURCES for line in rule(path)], message)


def test_files_have_400_lines_at_most():
    show(long_files(SOURCES + OTHERS), f"A file has {FILE_LINES} lines at most:")


def test_no_file_beside_the_source_names_an_absolute_path():
    paths = [*OTHERS, *TEXTS, ROOT / "Makefile", ROOT / "pyproject.toml", *(ROOT / ".ci").iterdir()]
    show([line for path in paths for line in absolute_paths(path)], "Paths are relative:")


@pytest.mark.parametrize("room", MENU_ROOMS)
def test_the_menu_of_a_room_is_complete(room):
    classes = room_classes(room)
    menu = getattr(importlib.import_module(f"rattleback.{room}"), "MENU", None)
    if classes and not menu:
        pytest.fail(f"rattleback.{room} has {len(classes)} classes and no MENU in its __init__.py.", pytrace=False)
    show(off_the_menu(classes, menu or {}), f"Missing from the MENU of rattleback.{room}:")


def test_every_room_has_its_tests():
    show(rooms_without_tests(), "Tests mirror the rooms:")


@pytest.mark.parametrize("path", TEXTS, ids=place)
def test_every_path_in_the_text_exists(path):
    show(lost_paths(path), "These paths are not in the repository:")


@pytest.mark.parametrize(("rule", "source"), PLANTED)
def test_the_rule_finds_a_planted_offender(rule, source, tmp_path):
    path = tmp_path / "planted.py"
    path.write_text(source, encoding="utf-8")
    assert len(list(rule(path))) == 1


@pytest.mark.parametrize(("rule", "source"), SPARED)
def test_the_rule_spares_what_is_allowed(rule, source, tmp_path):
    path = tmp_path / "allowed.py"
    path.write_text(source, encoding="utf-8")
    assert not list(rule(path))


def test_a_file_of_401_lines_is_found(tmp_path):
    path = tmp_path / "long.py"
    path.write_text("x = 1\n" * (FILE_LINES + 1), encoding="utf-8")
    assert len(list(long_files([path]))) == 1


@pytest.mark.parametrize("name", ["utils", "joint_helpers", "common"])
def test_a_file_named_without_meaning_is_found(name, tmp_path):
    path = tmp_path / f"{name}.py"
    path.write_text("", encoding="utf-8")
    assert len(list(empty_words(path))) == 1


def test_a_class_left_off_the_menu_is_found():
    listed = type("Listed", (), {"support": lambda self: 0})
    forgotten = type("Forgotten", (), {"support": lambda self: 0, "more": lambda self: 1})
    other = type("Other", (), {"more": lambda self: 1})
    found = off_the_menu([listed, forgotten, other], {"listed": listed})
    assert [line.split(".")[-1] for line in found] == ["Forgotten"]


def test_a_path_that_is_gone_is_found_and_units_are_not_paths(tmp_path):
    path = tmp_path / "text.md"
    path.write_text(
        "`src/gone.py` `core/gone.py` `tests/conftest.py` `core/errors.py` `m/s` `out/x.csv` `src/<name>.py`"
    )
    assert [line.split()[-1] for line in lost_paths(path)] == ["src/gone.py", "core/gone.py"]


@pytest.mark.parametrize("page", sorted((ROOT / "docs/api").glob("*.md")), ids=lambda page: page.stem)
def test_every_module_of_a_room_is_on_its_page(page: Path) -> None:
    room = PACKAGE / page.stem
    parts = [path.relative_to(PACKAGE).with_suffix("").parts for path in room.rglob("*.py") if path.stem != "__init__"]
    listed = set(re.findall(r"automodule:: rattleback\.(\S+)", page.read_text(encoding="utf-8")))
    assert {".".join(part) for part in parts} - listed == set()
