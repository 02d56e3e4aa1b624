"""Writers by format: each makes the bytes of a file from a description, and tells what became of everything.

A writer is a file with ``write(writing)``, which returns the bytes, and ``ABLE``, the kinds of joints that bodies can
hang by in its format.
"""

from __future__ import annotations

MENU = {"URDF": "urdf", "MJCF": "mjcf", "USD": "usd"}
