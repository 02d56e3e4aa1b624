"""The cards of the gallery: every scene of the list in a group, with a picture of a real run and a sentence."""

from __future__ import annotations

from functools import cache
from html import escape
from pathlib import Path

from rattleback.scenes import MENU
from rattleback.scenes.parameters import summary_of

GROUPS = {
    "To begin with": ("wall", "twenty_ragdolls", "stewart", "car_on_height_field", "cradle", "rattleback"),
    "Mechanisms": (
        "slider_crank", "four_bar", "six_bar", "bricard", "andrews", "governor", "loops", "tree",
        "chain", "rope", "mass_ladder", "hanging_bridge", "breaking_bridge",
    ),
    "Contacts": (
        "cubes_1000", "funnel", "bowl", "tower", "book_stack", "arch", "incline", "rolling", "sliding_ball",
        "bounces", "painleve", "double_pendulum_impact", "tippe_top", "frictionless_box",
    ),
    "Truths, known in closed form or from theory": (
        "pendulum", "double_pendulum", "heavy_top", "torque_free", "tumbling", "kepler", "orbits",
        "free_fall", "free_motion", "thrown", "swarm",
    ),
    "Robots and characters": ("humanoid", "ragdoll_on_stairs"),
}  # fmt: skip
PICTURES = Path(__file__).parent / "pictures"
# Where the pictures are asked for; the name of a scene follows.
PLACE = "/rattleback/pictures/"


@cache
def picture_of(name: str) -> bytes | None:
    """The picture of a scene, a JPEG file; None where there is none."""
    return (PICTURES / f"{name}.jpg").read_bytes() if name in MENU and (PICTURES / f"{name}.jpg").is_file() else None


@cache
def cards() -> str:
    """All cards in their groups, as HTML; a script of the page makes the buttons work."""
    return "".join(
        f"<section><h2>{escape(title)}</h2><div>{''.join(map(_card, names))}</div></section>"
        for title, names in GROUPS.items()
    )


def _card(name: str) -> str:
    sentence = summary_of(MENU[name].build)
    picture = f'<img src="{PLACE}{name}" alt="" width="320" height="200" loading="lazy">'
    words = f"<b>{escape(name.replace('_', ' '))}</b><span>{escape(sentence)}</span>"
    return f'<button type="button" data-scene="{escape(name)}">{picture}{words}</button>'
