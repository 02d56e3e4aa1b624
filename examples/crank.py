"""A crank with a motor, a rod and a slider that pushes a parcel off a table: `rattleback view crank.rb.json`."""

import rattleback as rb

scene = rb.Scene(name="crank")
scene.add_static(rb.Plane())
scene.add_static(rb.Box(0.66, 0.3, 0.05), position=(0.13, 0, 0.475), name="table")

crank = scene.add_body(rb.Box(0.1, 0.02, 0.02), mass=0.5, position=(-0.05, 0, 0.63), name="crank", collision=None)
rod = scene.add_body(rb.Box(0.3, 0.02, 0.02), mass=0.3, position=(0.05, 0, 0.63), name="rod", collision=None)
slider = scene.add_body(rb.Box(0.08, 0.08, 0.24), mass=1.0, position=(0.2, 0, 0.63), name="slider")
scene.add_body(rb.Box(0.08, 0.1, 0.08), mass=0.2, position=(0.38, 0, 0.54), name="parcel")

hinge = scene.add_joint(rb.Revolute(scene.world, crank, at=(0, 0, 0.63), axis=(0, 1, 0)), name="hinge")
scene.add_joint(rb.Revolute(crank, rod, at=(-0.1, 0, 0.63), axis=(0, 1, 0)))
scene.add_joint(rb.Revolute(rod, slider, at=(0.2, 0, 0.63), axis=(0, 1, 0)))
scene.add_joint(rb.Prismatic(scene.world, slider, at=(0.2, 0, 0.63), axis=(1, 0, 0)))
scene.add_force(rb.Servo(hinge, target=6.0, control="velocity", gain=0.5, reset_time=0.2), name="motor")
scene.save("crank.rb.json")
sim = rb.Simulation(
    scene, time_step=0.005, contacts=rb.contacts.Impulse(solver=rb.contacts.BlockGaussSeidel(sweeps=200))
)
sim.run(3.0)
print(f"The crank has turned by {sim['hinge'].angle:.2f} rad, the parcel lies at {sim['parcel'].position.round(3)} m.")
