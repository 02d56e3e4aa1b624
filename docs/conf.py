"""How the documentation is built: Markdown pages, and the docstrings of the rooms."""

import ast
import inspect
import re
import textwrap

import warp as wp


def plain_function(function=None, **options):
    """Stand in for wp.func and wp.kernel, so that a kernel is documented as the Python function it is written as."""
    if function is None:
        return plain_function
    function.is_kernel = True
    return function


wp.func = wp.kernel = plain_function  # before the first room is imported
wp.struct = lambda group: group

from rattleback._version import __version__  # noqa: E402

project = "rattleback"
author = "The rattleback developers"
copyright = "The rattleback developers, Apache-2.0"
version = release = __version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
myst_enable_extensions = ["colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3
exclude_patterns = ["_build", "measured"]

# Rooms may call different things by the same short name: a Window, a Frame; in signatures it links to one of them.
suppress_warnings = ["ref.python"]
autodoc_default_options = {"members": True}
autodoc_member_order = "bysource"
autodoc_preserve_defaults = True
napoleon_numpy_docstring = False
napoleon_use_ivar = True  # an attribute that a dataclass declares as well is listed once
napoleon_use_rtype = False  # "Angles [rad]: the outer ones first." is a sentence, not a type

html_theme = "furo"
html_title = f"rattleback {release}"
html_show_sourcelink = False
html_copy_source = False


def signature_as_written(app, what, name, obj, options, signature, return_annotation):
    """Show the signature of a kernel in the words of its source; Warp's own names of its types say little."""
    if not getattr(obj, "is_kernel", False):
        return None
    written = ast.walk(ast.parse(textwrap.dedent(inspect.getsource(obj))))
    node = next((part for part in written if isinstance(part, ast.FunctionDef)), None)
    if node is None:  # a function whose decorator takes arguments
        return "(...)", None
    return f"({ast.unparse(node.args)})", ast.unparse(node.returns) if node.returns else None


def sentence_stays_whole(app, what, name, obj, options, lines):
    """Keep napoleon from reading "The sequences: all 24." as a name and its type."""
    if what in ("attribute", "data"):
        lines[:0] = ["..", ""]  # an empty comment


def bars_stay_bars(app, what, name, obj, options, lines):
    """Keep reStructuredText from reading the length |w| as a substitution; literals and equations stay as they are."""
    for number, line in enumerate(lines):
        if what != "module" or not line.startswith(" "):
            lines[number] = re.sub(r"(``.*?``)|\|", lambda found: found[1] or r"\|", line)


def equations_as_written(app, what, name, obj, options, lines):
    """Show the indented equations of a module docstring as they are written, not as reStructuredText."""
    if what != "module":
        return
    shown = []
    for number, line in enumerate(lines):
        before = next((text for text in reversed(lines[:number]) if text.strip()), "")
        opens = line.startswith(" ") and number and not lines[number - 1].strip() and not before.startswith(" ")
        if opens and not before.endswith("::") and not before.startswith((".. ", "- ", "* ")):
            shown += ["::", ""]
        closes = not line.startswith(" ") and number and lines[number - 1].startswith(" ")
        shown += ["", line] if closes else [line]
    lines[:] = shown


def fields_of_groups(app, what, name, obj, options, lines):
    """List the arrays of a group with their units, from the declaration that allocates them."""
    for field, declared in getattr(obj, "fields", {}).items() if what == "class" else ():
        lines.append(f"- ``{field}`` [{declared.unit}], by {declared.axis}: {declared.meaning}")


def setup(app):
    app.connect("autodoc-process-signature", signature_as_written)
    app.connect("autodoc-process-docstring", sentence_stays_whole, priority=400)  # napoleon comes at 500
    app.connect("autodoc-process-docstring", bars_stay_bars)
    app.connect("autodoc-process-docstring", equations_as_written)
    app.connect("autodoc-process-docstring", fields_of_groups)
