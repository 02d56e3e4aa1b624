"""A robot from a URDF file: what became of it, a pose by inverse kinematics, and servos that hold it."""

from pathlib import Path

import rattleback as rb

GAINS = {"shoulder": 60.0, "elbow": 40.0, "wrist": 0.5, "left_finger_joint": 50.0}
ROBOT = Path(__file__).parent / "robots" / "arm.urdf"

scene = rb.Scene.from_file(ROBOT)
print(scene.import_report)

tree = rb.kinematics.Tree.from_file(ROBOT, tools={"tip": "tool"})
found = rb.ik.solve(tree, rb.ik.Position((0.35, 0.0, 0.45)))
pose = dict(zip(tree.coordinates, found.q.tolist(), strict=True))
scene.robot.pose(scene, pose)

for name, target in pose.items():
    control = "position" if name == "left_finger_joint" else "angle"
    servo = rb.Servo(name, target=target, control=control, gain=GAINS[name], reset_time=0.2, rate_time=0.05)
    scene.add_force(servo)

sim = rb.Simulation(scene, time_step=0.001)
sim.run(2.0)
hand, place = scene.robot.frames["tool"]
reached = sim[hand].position + rb.rotation.rotate(sim[hand].orientation, place[:3, 3] - scene[hand].center_of_mass)
print(f"The tool is held at {reached.round(3)} m, {sim.report.position_error:.1e} m off its joints at most.")
