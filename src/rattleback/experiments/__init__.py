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
| ``rivals`` | classical methods beside impulses: time, accuracy, loops, long steps |
| ``drift`` | how fast joints drift that are held by accelerations, velocities and positions |
| ``controllers`` | the longest stable step of controllers outside the engine and inside |
| ``soft_chain`` | how Newton's method converges on soft joints with and without parts of the Jacobian |
| ``loops`` | cost of closed loops |
| ``orders`` | steps of order 2 to 10, measured with joints, and published digits |
| ``mass_ladder`` | loads up to a million times the mass of a link |
| ``rope`` | ropes of up to 800 links |
| ``adams`` | one body on one joint against ADAMS |
| ``cubes_1000`` | cost of finding contacts while cubes fall on a heap, and how it rests |
| ``incline`` | braking distances of cubes on an inclined plane |
| ``sliding_ball`` | when a sliding ball begins to roll |
| ``rolling`` | balls that roll or slide down an inclined plane |
| ``towers`` | tall towers, also with the heaviest cube on top |
| ``book_stack`` | how far books can hang over the edge of a table |
| ``arch`` | how thin an arch of stones may be |
| ``painleve`` | at which friction a rod that is pushed along jams |
| ``tippe_top`` | tops that friction turns over |
| ``rattleback`` | a stone that reverses its spin |
| ``bounces`` | how high and for how long balls bounce |
| ``cradle`` | as many balls leave Newton's cradle as have arrived |
| ``double_pendulum_impact`` | which laws of restitution create energy |
| ``ragdoll_on_stairs`` | a ragdoll that holds together while it tumbles down stairs |
| ``wall`` | a wall that stands still until a ball hits it |
| ``wall_shock`` | what shock propagation saves in that wall, and what it costs |
| ``funnel`` | collisions and contacts of a thousand cubes in a funnel |
| ``presets`` | what the presets buy, and what sub-steps and sweeps do |
| ``run_solvers`` | which contact solver holds what in the run, and how long it takes |
| ``contact_solvers`` | which contact method solves which problem, how exactly and in what time |

An experiment is one file with an ``EXPERIMENT`` and a line here. ``rattleback experiment NAME`` runs it.
"""

from rattleback.experiments import (
    adams,
    arch,
    book_stack,
    bounces,
    bricard,
    chain,
    contact_solvers,
    controllers,
    cradle,
    cubes_1000,
    double_pendulum_impact,
    drift,
    funnel,
    heavy_top,
    incline,
    loops,
    mass_ladder,
    n_four_bar,
    orders,
    painleve,
    pendulum,
    presets,
    ragdoll_on_stairs,
    rattleback,
    rivals,
    rolling,
    rope,
    run_solvers,
    six_bar,
    slider_crank,
    sliding_ball,
    soft_chain,
    tippe_top,
    torque_free,
    towers,
    tree,
    tree_sizes,
    wall,
    wall_shock,
)
from rattleback.experiments.figure import draw
from rattleback.experiments.result import Curve, Experiment, Finding, Options, Panel, Picture, Result

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
        rivals,
        drift,
        controllers,
        soft_chain,
        loops,
        orders,
        mass_ladder,
        rope,
        adams,
        cubes_1000,
        incline,
        sliding_ball,
        rolling,
        towers,
        book_stack,
        arch,
        painleve,
        tippe_top,
        rattleback,
        bounces,
        cradle,
        double_pendulum_impact,
        ragdoll_on_stairs,
        wall,
        wall_shock,
        funnel,
        presets,
        contact_solvers,
        run_solvers,
    )
}

__all__ = ["MENU", "Curve", "Experiment", "Finding", "Options", "Panel", "Picture", "Result", "draw"]
