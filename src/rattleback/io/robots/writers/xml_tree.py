"""XML that is written: elements with numbers in full, so that reading gives the same bits."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

import numpy as np

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element


def element(above: Element | None, tag: str, **attributes: Any) -> Element:
    """An element in another; attributes that are None are left out, numbers are written in full.

    Args:
        above: What it stands in; None for the outermost one.
        tag: Its name.
        **attributes: Text, a number, a flag, or numbers with blanks between; a trailing ``_`` is left out of the name.
    """
    given = {name.rstrip("_"): text(value) for name, value in attributes.items() if value is not None}
    return ElementTree.Element(tag, given) if above is None else ElementTree.SubElement(above, tag, given)


def text(value: Any) -> str:
    """A value as the text of an attribute."""
    if isinstance(value, str):
        return value
    if isinstance(value, (bool, np.bool_)):
        return "true" if value else "false"
    if isinstance(value, (int, np.integer)):
        return str(int(value))
    if isinstance(value, (float, np.floating)):
        # Adding zero turns −0.0 into 0.0.
        return repr(float(value) + 0.0)
    return " ".join(text(entry) for entry in value)


def document(root: Element) -> bytes:
    """A whole document, with its elements indented."""
    ElementTree.indent(root)
    content = ElementTree.tostring(root, encoding="unicode")
    return f'<?xml version="1.0" encoding="utf-8"?>\n{content}\n'.encode()
