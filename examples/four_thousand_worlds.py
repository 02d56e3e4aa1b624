"""A ball thrown in 4096 worlds at once, each at its own angle: which angle flies farthest through the air?"""

import numpy as np

import rattleback as rb

scene = rb.Scene()
scene.add_body(rb.Sphere(0.03), mass=0.15, name="ball")
scene.add_force(rb.Drag(quadratic=0.0016))

sim = rb.Simulation(scene, time_step=0.01, worlds=4096)
angles = np.linspace(0.1, 1.5, 4096)
sim["ball"].velocity = 30.0 * np.stack([np.cos(angles), 0 * angles, np.sin(angles)], axis=-1)

landed = np.full(4096, np.nan)
while np.isnan(landed).any():
    before = sim["ball"].position
    sim.step()
    after = sim["ball"].position
    down = np.isnan(landed) & (after[:, 2] <= 0.0)
    part = before[down, 2] / (before[down, 2] - after[down, 2])
    landed[down] = before[down, 0] + part * (after[down, 0] - before[down, 0])

best = int(np.argmax(landed))
print(f"{sim.state.steps} steps of {len(angles)} worlds: best at {np.degrees(angles[best]):.1f}°, {landed[best]:.2f} m")
