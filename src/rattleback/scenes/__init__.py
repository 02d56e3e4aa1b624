"""Scenes by name: functions that return a scene, shared by tests, benchmarks, demos and the command line.

| name | scene |
|---|---|
| ``tumbling`` | handles and cards that spin about their middle axis and turn over |
| ``torque_free`` | one such body whose motion is known in closed form |
| ``thrown`` | balls and boxes thrown at a fan of angles, with drag |
| ``free_motion`` | cubes and balls that move and turn uniformly, without any force |
| ``free_fall`` | the same under gravity |
| ``frictionless_box`` | the same that fall into a box and touch without friction |
| ``orbits`` | three bodies on an orbit in the shape of an eight |
| ``kepler`` | two bodies on Kepler ellipses |
| ``swarm`` | many bodies of every primitive shape, flying |
| ``pendulum`` | a point mass on a rod, whose period is known in closed form |
| ``heavy_top`` | a fast top on a ball joint |
| ``double_pendulum`` | a body on a hinge and another on a ball joint below it |
| ``chain`` | bars that hang by ball joints, pushed in all directions |
| ``rope`` | a hundred short links that swing down |
| ``mass_ladder`` | a light chain that carries a load a thousand times as heavy as a link |
| ``tree`` | a mobile of bars that branches at every level |
| ``loops`` | three linked loops of four bars |
| ``four_bar`` | four-bars side by side that pass through a singular position |
| ``six_bar`` | six bars along the edges of a box, with one freedom |
| ``bricard`` | a spatial mechanism that moves though counting says it cannot |
| ``andrews`` | seven light bodies in a plane that turn faster than a thousand radians a second |
| ``governor`` | a flyball governor with stiff, strongly damped springs |
| ``slider_crank`` | a crank that drives a slider through a rod in space |
| ``stewart`` | a Stewart platform whose linear motors lead it around a circle |
| ``cubes_1000`` | a thousand cubes in ten layers above the ground |
| ``funnel`` | a thousand cubes that fall through a funnel |
| ``wall`` | a wall of bricks and a ball on an arm that swings into it |
| ``tower`` | cubes on top of each other, each as heavy as the one below or heavier |
| ``book_stack`` | books that hang over the edge of a table, almost as far as they can |
| ``arch`` | a semicircular arch of stones, just thick enough to stand |
| ``incline`` | ten cubes on an inclined plane, first without friction |
| ``rolling`` | a ball that rolls down an inclined plane, or slides |
| ``sliding_ball`` | a ball that slides on the ground until it rolls |
| ``cradle`` | Newton's cradle |
| ``bounces`` | a ball that bounces |
| ``painleve`` | a rod whose tip slides on the ground and may jam |
| ``double_pendulum_impact`` | two rods, the tip of which strikes the ground at an angle |
| ``tippe_top`` | a top that rises onto its stem |
| ``rattleback`` | a stone that reverses its spin |
| ``ragdoll_on_stairs`` | a ragdoll that falls down stairs |
| ``twenty_ragdolls`` | ragdolls that fall down stairs and pile up |
| ``humanoid`` | a humanoid robot of 27 hinges that stands on the ground, or falls |
| ``breaking_bridge`` | a bridge of planks whose hinges break when a weight falls on it |
| ``hanging_bridge`` | a bridge of planks on two rows of ball joints, and walkers that cross it |
| ``bowl`` | five hundred bodies of many shapes that pile up in a bowl of triangles |
| ``car_on_height_field`` | a car with driven wheels that drives over rough ground of a million heights |
"""

import math

from rattleback.scenes.andrews import andrews
from rattleback.scenes.arch import arch
from rattleback.scenes.bowl import bowl
from rattleback.scenes.bridge import breaking_bridge
from rattleback.scenes.car import car_on_height_field
from rattleback.scenes.chains import chain, mass_ladder, rope
from rattleback.scenes.entry import Entry
from rattleback.scenes.funnel import funnel
from rattleback.scenes.governor import governor
from rattleback.scenes.hanging_bridge import hanging_bridge
from rattleback.scenes.humanoid import humanoid
from rattleback.scenes.impacts import bounces, cradle, double_pendulum_impact, painleve
from rattleback.scenes.lecture import free_fall, free_motion, frictionless_box
from rattleback.scenes.mechanisms import bricard, four_bar, loops, six_bar
from rattleback.scenes.orbits import EIGHT_PERIOD, kepler, orbits
from rattleback.scenes.pendulums import double_pendulum, heavy_top, pendulum
from rattleback.scenes.piles import cubes_1000
from rattleback.scenes.ragdolls import ragdoll_on_stairs, twenty_ragdolls
from rattleback.scenes.slider_crank import slider_crank
from rattleback.scenes.slopes import incline, rolling, sliding_ball
from rattleback.scenes.stacks import book_stack, tower, wall
from rattleback.scenes.stewart import stewart
from rattleback.scenes.swarm import swarm
from rattleback.scenes.thrown import thrown
from rattleback.scenes.tops import rattleback, tippe_top
from rattleback.scenes.trees import TREE_STEP, tree
from rattleback.scenes.tumbling import torque_free, tumbling

MENU: dict[str, Entry] = {
    "tumbling": Entry(tumbling, duration=20.0, time_step=0.005, integrator="lie_midpoint"),
    "torque_free": Entry(torque_free, duration=100.0, time_step=0.01, integrator="lie_midpoint"),
    "thrown": Entry(thrown, duration=2.0, time_step=0.01, integrator="rk4"),
    "free_motion": Entry(free_motion, duration=5.0, time_step=0.01, integrator="semi_implicit_euler"),
    "free_fall": Entry(free_fall, duration=2.0, time_step=0.01, integrator="semi_implicit_euler"),
    "frictionless_box": Entry(frictionless_box, duration=8.0, time_step=0.005, integrator="lie_midpoint"),
    "orbits": Entry(orbits, duration=2.0 * EIGHT_PERIOD, time_step=0.01, integrator="rk45"),
    "kepler": Entry(kepler, duration=4.0 * math.pi, time_step=0.01, integrator="rk45"),
    "swarm": Entry(swarm, duration=2.0, time_step=0.01, integrator="lie_midpoint"),
    "pendulum": Entry(pendulum, duration=10.0, time_step=0.01, integrator="lie_midpoint"),
    "heavy_top": Entry(heavy_top, duration=2.0, time_step=0.001, integrator="lie_midpoint"),
    "double_pendulum": Entry(double_pendulum, duration=5.0, time_step=0.002, integrator="lie_midpoint"),
    "chain": Entry(chain, duration=10.0, time_step=0.01, integrator="lie_midpoint"),
    "rope": Entry(rope, duration=10.0, time_step=0.005, integrator="lie_midpoint"),
    "mass_ladder": Entry(mass_ladder, duration=10.0, time_step=0.001, integrator="lie_midpoint"),
    "tree": Entry(tree, duration=500.0 * TREE_STEP, time_step=TREE_STEP, integrator="lie_midpoint"),
    "loops": Entry(loops, duration=10.0, time_step=0.01, integrator="lie_midpoint"),
    "four_bar": Entry(four_bar, duration=10.0, time_step=0.001, integrator="lie_midpoint"),
    "six_bar": Entry(six_bar, duration=10.0, time_step=0.001, integrator="lie_midpoint"),
    "bricard": Entry(bricard, duration=10.0, time_step=0.001, integrator="lie_midpoint"),
    "andrews": Entry(andrews, duration=0.03, time_step=1e-5, integrator="lie_midpoint"),
    "governor": Entry(governor, duration=1.0, time_step=5e-5, integrator="lie_midpoint"),
    "slider_crank": Entry(slider_crank, duration=5.0, time_step=0.001, integrator="lie_midpoint"),
    "stewart": Entry(stewart, duration=6.0, time_step=0.001, integrator="lie_midpoint"),
    "cubes_1000": Entry(cubes_1000, duration=7.0, time_step=0.005, integrator="lie_midpoint"),
    "funnel": Entry(funnel, duration=8.0, time_step=0.001, integrator="lie_midpoint"),
    "wall": Entry(wall, duration=5.0, time_step=0.005, integrator="lie_midpoint"),
    "tower": Entry(tower, duration=60.0, time_step=0.005, integrator="lie_midpoint"),
    "book_stack": Entry(book_stack, duration=10.0, time_step=0.005, integrator="lie_midpoint"),
    "arch": Entry(arch, duration=10.0, time_step=0.005, integrator="lie_midpoint"),
    "incline": Entry(incline, duration=11.0, time_step=0.001, integrator="lie_midpoint"),
    "rolling": Entry(rolling, duration=2.0, time_step=0.001, integrator="lie_midpoint"),
    "sliding_ball": Entry(sliding_ball, duration=2.0, time_step=0.001, integrator="lie_midpoint"),
    "cradle": Entry(cradle, duration=10.0, time_step=0.001, integrator="lie_midpoint"),
    "bounces": Entry(bounces, duration=5.0, time_step=0.001, integrator="lie_midpoint"),
    "painleve": Entry(painleve, duration=1.0, time_step=0.001, integrator="lie_midpoint"),
    "double_pendulum_impact": Entry(double_pendulum_impact, duration=1.0, time_step=0.001, integrator="lie_midpoint"),
    "tippe_top": Entry(tippe_top, duration=8.0, time_step=0.001, integrator="lie_midpoint"),
    "rattleback": Entry(rattleback, duration=6.0, time_step=0.001, integrator="lie_midpoint"),
    "ragdoll_on_stairs": Entry(ragdoll_on_stairs, duration=6.0, time_step=0.005, integrator="lie_midpoint"),
    "twenty_ragdolls": Entry(twenty_ragdolls, duration=6.0, time_step=0.005, integrator="lie_midpoint"),
    "humanoid": Entry(humanoid, duration=5.0, time_step=0.001, integrator="lie_midpoint"),
    "breaking_bridge": Entry(breaking_bridge, duration=4.0, time_step=0.002, integrator="lie_midpoint"),
    "hanging_bridge": Entry(hanging_bridge, duration=10.0, time_step=0.005, integrator="lie_midpoint"),
    "bowl": Entry(bowl, duration=10.0, time_step=0.01, integrator="lie_midpoint"),
    "car_on_height_field": Entry(car_on_height_field, duration=10.0, time_step=0.01, integrator="lie_midpoint"),
}

__all__ = [
    "MENU",
    "Entry",
    "andrews",
    "arch",
    "book_stack",
    "bounces",
    "bowl",
    "breaking_bridge",
    "bricard",
    "car_on_height_field",
    "chain",
    "cradle",
    "cubes_1000",
    "double_pendulum",
    "double_pendulum_impact",
    "four_bar",
    "free_fall",
    "free_motion",
    "frictionless_box",
    "funnel",
    "governor",
    "hanging_bridge",
    "heavy_top",
    "humanoid",
    "incline",
    "kepler",
    "loops",
    "mass_ladder",
    "orbits",
    "painleve",
    "pendulum",
    "ragdoll_on_stairs",
    "rattleback",
    "rolling",
    "rope",
    "six_bar",
    "slider_crank",
    "sliding_ball",
    "stewart",
    "swarm",
    "thrown",
    "tippe_top",
    "torque_free",
    "tower",
    "tree",
    "tumbling",
    "twenty_ragdolls",
    "wall",
]
