"""Scenes by name: functions that return a scene, shared by tests, benchmarks, demos and the command line.

| name | scene |
|---|---|
| ``tumbling`` | handles and cards that spin about their middle axis and turn over |
| ``torque_free`` | one such body whose motion is known in closed form |
| ``thrown`` | balls and boxes thrown at a fan of angles, with drag |
| ``orbits`` | three bodies on an orbit in the shape of an eight |
| ``kepler`` | two bodies on Kepler ellipses |
| ``swarm`` | many bodies of every primitive shape, flying |
"""

import math

from rattleback.scenes.entry import Entry
from rattleback.scenes.orbits import EIGHT_PERIOD, kepler, orbits
from rattleback.scenes.swarm import swarm
from rattleback.scenes.thrown import thrown
from rattleback.scenes.tumbling import torque_free, tumbling

MENU: dict[str, Entry] = {
    "tumbling": Entry(tumbling, duration=20.0, time_step=0.005, integrator="lie_midpoint"),
    "torque_free": Entry(torque_free, duration=100.0, time_step=0.01, integrator="lie_midpoint"),
    "thrown": Entry(thrown, duration=2.0, time_step=0.01, integrator="rk4"),
    "orbits": Entry(orbits, duration=2.0 * EIGHT_PERIOD, time_step=0.01, integrator="rk45"),
    "kepler": Entry(kepler, duration=4.0 * math.pi, time_step=0.01, integrator="rk45"),
    "swarm": Entry(swarm, duration=2.0, time_step=0.01, integrator="lie_midpoint"),
}

__all__ = ["MENU", "Entry", "kepler", "orbits", "swarm", "thrown", "torque_free", "tumbling"]
