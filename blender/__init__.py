# SPDX-License-Identifier: GPL-3.0-or-later
"""Rattleback in Blender: model multibody systems, simulate them, bring the motion back as F-curves.

The add-on knows rattleback by its scene files and recordings only: it runs the program and imports nothing from it.
"""

import bpy

from . import modelling, panels, properties, running

CLASSES = (*modelling.CLASSES, *running.CLASSES, *panels.CLASSES)


def register() -> None:
    """Make everything known to Blender."""
    properties.register()
    for kind in CLASSES:
        bpy.utils.register_class(kind)


def unregister() -> None:
    """Take it back."""
    for kind in reversed(CLASSES):
        bpy.utils.unregister_class(kind)
    properties.unregister()
