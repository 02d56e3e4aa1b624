"""The parts of the simulator, in the order in which the page is made of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rattleback.viewer.building.panel import Build
from rattleback.viewer.drawing.arrows import Centres, Velocities
from rattleback.viewer.drawing.bodies import Bodies
from rattleback.viewer.drawing.contacts import Contacts
from rattleback.viewer.drawing.ground import Ground
from rattleback.viewer.drawing.joints import Joints
from rattleback.viewer.drawing.names import Names
from rattleback.viewer.drawing.trails import Trails
from rattleback.viewer.gallery.sheets import Sheets
from rattleback.viewer.interaction.measure import Measure
from rattleback.viewer.interaction.mouse import Mouse
from rattleback.viewer.interaction.views import Views
from rattleback.viewer.panels.control import Control
from rattleback.viewer.panels.edit import Edit
from rattleback.viewer.panels.files import Files
from rattleback.viewer.panels.methods import MethodsPanel
from rattleback.viewer.panels.motors import Motors
from rattleback.viewer.panels.plots import Plots
from rattleback.viewer.panels.recording import Recording
from rattleback.viewer.panels.scenes import Scenes
from rattleback.viewer.panels.show import Show
from rattleback.viewer.panels.tree import Tree
from rattleback.viewer.timeline.panel import TimelinePanel

if TYPE_CHECKING:
    from collections.abc import Callable

    from rattleback.viewer.window import Part, Window

# Those that draw; replays are made of them, too.
DRAWN: tuple[Callable[[Window], Part], ...] = (Bodies, Ground, Joints, Contacts, Centres, Velocities, Trails, Names)
PARTS: tuple[Callable[[Window], Part], ...] = (
    *DRAWN,
    Views,
    Show,
    Sheets,
    Scenes,
    Control,
    TimelinePanel,
    Mouse,
    Measure,
    Build,
    Tree,
    Edit,
    Motors,
    MethodsPanel,
    Plots,
    Files,
    Recording,
)
