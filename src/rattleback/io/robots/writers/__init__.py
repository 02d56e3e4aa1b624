"""Writers by format: each makes the bytes of a file from a description, and tells what became of everything.

A writer is a file with ``write(writing)``, which returns the bytes, ``ABLE``, the kinds of joints that bodies can
hang by in its format, and ``MASSLESS``, which links without mass it has.
"""

from __future__ import annotations

MENU = {"URDF": "urdf.robot", "MJCF": "mjcf.model", "USD": "usd.stage"}
