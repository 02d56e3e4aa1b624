"""A script for the simulator: `rattleback view wall --script examples/scripts/push.py`."""

import numpy as np

print("A brick of the top row is pushed after a second, and every contact of the ball is told.")


@sim.at(1.0)
def push(sim):
    top = max(sim.scene.bodies, key=lambda body: body.position[2] if body.name.startswith("brick") else -np.inf)
    sim[top].apply_impulse((0.0, 0.5 * sim[top].mass, 0.0))


@sim.on_contact("ball", None)
def tell(event):
    print(f"{event.a} touches {event.b} at {event.time:.3f} s")
