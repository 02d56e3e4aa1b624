"""A T-handle turns over in free flight, and four integrators disagree about how often it can."""

import rattleback as rb

for integrator in ("explicit_euler", "semi_implicit_euler", "lie_midpoint", "rk45"):
    scene = rb.Scene(gravity=(0, 0, 0))
    bar = rb.Placed(
        rb.Cylinder(0.03, 0.40), orientation=rb.rotation.quaternion_from_euler((1.5707963267948966, 0, 0), "xyz")
    )
    stem = rb.Placed(
        rb.Cylinder(0.03, 0.25),
        position=(0.125, 0, 0),
        orientation=rb.rotation.quaternion_from_euler((0, 1.5707963267948966, 0), "xyz"),
    )
    scene.add_body(rb.Compound([bar, stem]), density=2700.0, angular_velocity=(6, 0.02, 0), name="handle")
    sim = rb.Simulation(scene, time_step=0.01, integrator=integrator)
    recorder = rb.Recorder(sim, every=10, quantities=["handle.angular_velocity_local", "energy.total"])
    sim.run(60.0)
    spin, energy = recorder["handle.angular_velocity_local"][:, 0], recorder["energy.total"]
    turns = int((spin[:-1] * spin[1:] < 0).sum())
    print(f"{integrator:20} turns over {turns:2d} times in a minute, energy drift {energy[-1] / energy[0] - 1:+.1e}")
