"""Inverse kinematics by roboticstoolbox-python and ikpy, one task a line; runs in a Python that has them, without ours.

A task names a file with an arm (Denavit–Hartenberg rows, frames of its joints, limits) and poses; the answer is a line
with configurations, and the CPU time of each solve, or of all in one call.
"""

import contextlib
import importlib
import importlib.metadata
import json
import sys
import time
import warnings
from typing import Any

import numpy as np

# What the others are asked for: half the squared error that belongs to 1e-6 m and 1e-6 rad.
SQUARE = 5e-13


class Toolbox:
    """The solvers of roboticstoolbox-python; its stopping rule is half the squared error of position and angle."""

    def __init__(self, arm: Any, solver: str) -> None:
        import roboticstoolbox as rtb

        rows = zip(*arm["rows"].T, arm["lower"], arm["upper"], strict=True)
        joints = [rtb.RevoluteMDH(d=d, a=a, alpha=alpha, offset=theta, qlim=ends) for a, alpha, d, theta, *ends in rows]
        self.robot, self.start = rtb.DHRobot(joints), arm["start"]
        self.base, self.end, self.solver = arm["base"], arm["end"], getattr(self.robot, solver)
        self.to_base, self.to_end = np.linalg.inv(self.base), np.linalg.inv(self.end)

    def forward(self, q: Any) -> Any:
        """Frames of the tip."""
        return self.base @ np.array([frame.A for frame in self.robot.fkine(q)]) @ self.end

    def solve(self, poses: Any) -> Any:
        """One pose, or many in one call."""
        wanted = self.to_base @ poses @ self.to_end
        found = self.solver(wanted, q0=self.start, tol=SQUARE, joint_limits=True)
        return np.asarray(found.q if hasattr(found, "q") else found[0])


class Ikpy:
    """The solver of ikpy, scipy.optimize.least_squares from the start alone, with its own tolerance."""

    def __init__(self, arm: Any, solver: str) -> None:
        from ikpy.chain import Chain
        from ikpy.link import OriginLink, URDFLink

        links = [OriginLink()]
        frames = zip(arm["places"], arm["lower"], arm["upper"], strict=True)
        for number, (frame, low, high) in enumerate(frames, 1):
            turn = roll_pitch_yaw(frame[:3, :3])
            links.append(URDFLink(f"joint{number}", frame[:3, 3], turn, rotation=[0, 0, 1], bounds=(low, high)))
        tool = arm["tool"]
        links.append(URDFLink("tip", tool[:3, 3], roll_pitch_yaw(tool[:3, :3]), joint_type="fixed"))
        self.chain = Chain(links, active_links_mask=[False, *[True] * (len(links) - 2), False])
        self.start, self.solver = np.concatenate([[0.0], arm["start"], [0.0]]), solver

    def forward(self, q: Any) -> Any:
        """Frames of the tip."""
        return np.array([self.chain.forward_kinematics([0.0, *row, 0.0]) for row in q])

    def solve(self, pose: Any) -> Any:
        """One pose."""
        found = self.chain.inverse_kinematics_frame(pose, initial_position=self.start, orientation_mode="all")
        return found[1:-1]


PACKAGES = {"roboticstoolbox-python": ("roboticstoolbox", Toolbox), "ikpy": ("ikpy", Ikpy)}


def roll_pitch_yaw(turn: Any) -> list[float]:
    """Angles of a rotation matrix about the fixed axes x, y and z, in this order [rad]."""
    level = np.hypot(turn[0, 0], turn[1, 0])
    pitch = np.arctan2(-turn[2, 0], level)
    if level < 1e-12:  # x and z are one axis: all of the turn is about x
        return [np.arctan2(-turn[1, 2], turn[1, 1]), pitch, 0.0]
    return [np.arctan2(turn[2, 1], turn[2, 2]), pitch, np.arctan2(turn[1, 0], turn[0, 0])]


def answer(task: dict[str, Any]) -> dict[str, Any]:
    """Do a task: tell the version, put the arm into configurations, or solve poses one by one or all in one call."""
    package, kind = PACKAGES[task["package"]]
    importlib.import_module(package)
    if task["what"] == "version":
        return {"version": importlib.metadata.version(task["package"])}
    with np.load(task["file"]) as arm:
        peer = kind(arm, task["solver"])
        given = arm["q" if task["what"] == "forward" else "poses"][task["first"] : task["last"]]
    work = peer.forward if task["what"] == "forward" else peer.solve
    parts = given if task["what"] == "one by one" else [given]
    work(parts[0])
    found, seconds = [], []
    for part in parts:
        begun = time.process_time()
        found.append(work(part))
        seconds.append(time.process_time() - begun)
    return {"found": np.array(found if task["what"] == "one by one" else found[0]).tolist(), "seconds": seconds}


def main() -> None:
    """Answer tasks until there are no more; what packages print goes to standard error."""
    warnings.simplefilter("ignore")
    for line in sys.stdin:
        with contextlib.redirect_stdout(sys.stderr):
            try:
                found = answer(json.loads(line))
            except ImportError as error:
                found = {"missing": str(error)}
        print(json.dumps(found), flush=True)


if __name__ == "__main__":
    main()
