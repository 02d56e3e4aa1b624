"""Experiments: published tables, figures and digits done again, with the published number beside the measured one.

| name | question |
|---|---|
| ``pendulum`` | the period of a point mass on a rod |
| ``torque_free`` | when a body spinning about its middle axis turns over |
| ``heavy_top`` | where a fast top is after 0.2 s |
| ``n_four_bar`` | four-bars through their singular position |
| ``slider_crank`` | the spatial slider-crank against its equation of motion |
| ``bricard`` | a mechanism that moves though counting says it cannot |
| ``six_bar`` | one redundant condition, one freedom |
| ``chain`` | cost of a growing chain, iterative against direct |
| ``tree`` | trees at 1/30 s: whether they hold, and what a step needs |
| ``tree_sizes`` | cost of trees by size and tolerance |
| ``loops`` | cost of closed loops |
| ``mass_ladder`` | loads up to a million times the mass of a link |
| ``rope`` | ropes of up to 800 links |
| ``adams`` | one body on one joint against ADAMS |
| ``cubes_1000`` | cost of finding contacts while cubes fall on a heap |

An experiment is one file with an ``EXPERIMENT`` and a line here. ``rattleback experiment NAME`` runs it.
"""

from rattleback.experiments import (
    adams,
    bricard,
    chain,
    cubes_1000,
    heavy_top,
    loops,
    mass_ladder,
    n_four_bar,
    pendulum,
    rope,
    six_bar,
    slider_crank,
    torque_free,
    tree,
    tree_sizes,
)
from rattleback.experiments.figure import draw
from rattleback.experiments.result import Curve, Experiment, Finding, Options, Panel, Result

MENU: dict[str, Experiment] = {
    found.EXPERIMENT.name: found.EXPERIMENT
    for found in (
        pendulum,
        torque_free,
        heavy_top,
        n_four_bar,
        slider_crank,
        bricard,
        six_bar,
        chain,
        tree,
        tree_sizes,
        loops,
        mass_ladder,
        rope,
        adams,
        cubes_1000,
    )
}

__all__ = ["MENU", "Curve", "Experiment", "Finding", "Options", "Panel", "Result", "draw"]
