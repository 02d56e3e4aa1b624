"""Scenes by name: functions that return a scene, shared by tests, benchmarks, demos and the command line.

| name | scene |
|---|---|
| ``tumbling`` | handles and cards that spin about their middle axis and turn over |
| ``torque_free`` | one such body whose motion is known in closed form |
| ``thrown`` | balls and boxes thrown at a fan of angles, with drag |
| ``orbits`` | three bodies on an orbit in the shape of an eight |
| ``kepler`` | two bodies on Kepler ellipses |
| ``swarm`` | many bodies of every primitive shape, flying |
| ``pendulum`` | a point mass on a rod, whose period is known in closed form |
| ``heavy_top`` | a fast top on a ball joint |
| ``chain`` | bars that hang by ball joints, pushed in all directions |
| ``rope`` | a hundred short links that swing down |
| ``mass_ladder`` | a light chain that carries a load a thousand times as heavy as a link |
| ``tree`` | a mobile of bars that branches at every level |
| ``loops`` | three linked loops of four bars |
| ``four_bar`` | four-bars side by side that pass through a singular position |
| ``six_bar`` | six bars along the edges of a box, with one freedom |
| ``bricard`` | a spatial mechanism that moves though counting says it cannot |
| ``slider_crank`` | a crank that drives a slider through a rod in space |
| ``cubes_1000`` | a thousand cubes in ten layers above the ground |
"""

import math

from rattleback.scenes.chains import chain, mass_ladder, rope
from rattleback.scenes.entry import Entry
from rattleback.scenes.mechanisms import bricard, four_bar, loops, six_bar
from rattleback.scenes.orbits import EIGHT_PERIOD, kepler, orbits
from rattleback.scenes.pendulums import heavy_top, pendulum
from rattleback.scenes.piles import cubes_1000
from rattleback.scenes.slider_crank import slider_crank
from rattleback.scenes.swarm import swarm
from rattleback.scenes.thrown import thrown
from rattleback.scenes.trees import TREE_STEP, tree
from rattleback.scenes.tumbling import torque_free, tumbling

MENU: dict[str, Entry] = {
    "tumbling": Entry(tumbling, duration=20.0, time_step=0.005, integrator="lie_midpoint"),
    "torque_free": Entry(torque_free, duration=100.0, time_step=0.01, integrator="lie_midpoint"),
    "thrown": Entry(thrown, duration=2.0, time_step=0.01, integrator="rk4"),
    "orbits": Entry(orbits, duration=2.0 * EIGHT_PERIOD, time_step=0.01, integrator="rk45"),
    "kepler": Entry(kepler, duration=4.0 * math.pi, time_step=0.01, integrator="rk45"),
    "swarm": Entry(swarm, duration=2.0, time_step=0.01, integrator="lie_midpoint"),
    "pendulum": Entry(pendulum, duration=10.0, time_step=0.01, integrator="lie_midpoint"),
    "heavy_top": Entry(heavy_top, duration=2.0, time_step=0.001, integrator="lie_midpoint"),
    "chain": Entry(chain, duration=10.0, time_step=0.01, integrator="lie_midpoint"),
    "rope": Entry(rope, duration=10.0, time_step=0.005, integrator="lie_midpoint"),
    "mass_ladder": Entry(mass_ladder, duration=10.0, time_step=0.001, integrator="lie_midpoint"),
    "tree": Entry(tree, duration=500.0 * TREE_STEP, time_step=TREE_STEP, integrator="lie_midpoint"),
    "loops": Entry(loops, duration=10.0, time_step=0.01, integrator="lie_midpoint"),
    "four_bar": Entry(four_bar, duration=10.0, time_step=0.001, integrator="lie_midpoint"),
    "six_bar": Entry(six_bar, duration=10.0, time_step=0.001, integrator="lie_midpoint"),
    "bricard": Entry(bricard, duration=10.0, time_step=0.001, integrator="lie_midpoint"),
    "slider_crank": Entry(slider_crank, duration=5.0, time_step=0.001, integrator="lie_midpoint"),
    "cubes_1000": Entry(cubes_1000, duration=7.0, time_step=0.005, integrator="lie_midpoint"),
}

__all__ = [
    "MENU",
    "Entry",
    "bricard",
    "chain",
    "cubes_1000",
    "four_bar",
    "heavy_top",
    "kepler",
    "loops",
    "mass_ladder",
    "orbits",
    "pendulum",
    "rope",
    "six_bar",
    "slider_crank",
    "swarm",
    "thrown",
    "torque_free",
    "tree",
    "tumbling",
]
