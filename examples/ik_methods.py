"""What each method of inverse kinematics does, as pictures: its steps, its error, and what it is known for.

One file a method, ``ik_pinv.jpg`` and so on, in the current folder: three bars on their way to a point, the error after
each step beside those of the other methods, and a third panel of its own.
"""

import matplotlib as mpl

mpl.use("Agg")

import matplotlib.pyplot as plt
import numpy as np

import rattleback as rb
from rattleback.recording.style import ACCENT, FAINT, INK, OTHERS, PALETTE, label, tidy

ik, models = rb.ik, rb.kinematics.models
ARM, START, GOAL = models.planar_3r(), np.array([0.3, -0.8, 1.6]), np.array([-0.6, 2.0, 0.0])
PLAIN = ("newton", "pinv", "dls", "sdls", "transpose", "gradient", "ccd", "fabrik", "qp")
SHOWN = 60  # steps


def history(name, tree=ARM, goal=GOAL, start=START, **options):
    """Error after each step [m]."""
    return ik.solve(tree, ik.Position(goal), name, start=start, **{"iterations": SHOWN, **options}).history


ERRORS = {name: history(name) for name in PLAIN}


def by_steps(step, tree=ARM, goal=GOAL, start=START, count=12):
    """The loop of the methods that solve for a step, written out: q ← q + Δq(J, e)."""
    found = [np.array(start)]
    for _ in range(count):
        q = found[-1]
        error, jacobian = goal - tree.forward(q)[:3, 3], tree.jacobian(q)[:3]
        found.append(q + step(jacobian[None], error[None])[0])
    return np.array(found)


def marquardt(jacobian, error):
    """A step of Levenberg and Marquardt, λ = |e|²."""
    j, e = jacobian[0], error[0]
    return np.linalg.solve(j.T @ j + (e @ e + 1e-13) * np.eye(j.shape[1]), j.T @ e)[None]


def way(name):
    """Configurations on the way from the start to the goal."""
    if name == "lm":
        return by_steps(marquardt)
    if name in ("gradient", "ccd", "fabrik", "qp"):
        rows = [ik.solve(ARM, ik.Position(GOAL), name, start=START, iterations=k).q for k in range(1, 13)]
        return np.array([START, *rows])
    return by_steps(ik.MENU[name]().step)


def bars(axes, tree, rows, goal=None, across=0, up=1):
    """Links of configurations, the later the darker, the path of the tip, and the goal."""
    places = np.concatenate([tree.frames(rows)[..., :3, 3], tree.forward(rows)[:, None, :3, 3]], axis=1)
    for number, points in enumerate(places):
        last = number == len(places) - 1
        shade = 0.15 + 0.55 * number / len(places)
        axes.plot(
            points[:, across], points[:, up], color=INK if last else OTHERS[0], alpha=1.0 if last else shade,
            linewidth=2.2 if last else 1.0, marker="o", markersize=3.5 if last else 1.5,
        )  # fmt: skip
    if goal is not None:
        axes.plot(places[:, -1, across], places[:, -1, up], color=ACCENT, linewidth=1.2)
        axes.plot(goal[across], goal[up], "x", color=ACCENT, markersize=9, markeredgewidth=2.0)
    axes.set_aspect("equal", adjustable="datalim")
    label(axes, "xyz"[across] + " [m]", "xyz"[up] + " [m]")


def errors(axes, name):
    """Error after each step, beside those of all other methods."""
    for other in ERRORS.values():
        axes.semilogy(other, color=FAINT, linewidth=1.0)
    own = [np.linalg.norm(GOAL - ARM.forward(q)[:3, 3]) for q in way("lm")] if name == "lm" else ERRORS[name]
    axes.semilogy(own, color=ACCENT, linewidth=2.0)
    axes.set_ylim(1e-8, 10.0)
    axes.set_xlim(0, SHOWN)
    label(axes, "step", "error [m]")


def changes(rows):
    """Largest change of a joint in each step [rad]; nothing where there is none."""
    largest = np.abs(np.diff(rows, axis=0)).max(axis=1)
    return np.where(largest > 1e-9, largest, np.nan)


def curves(axes, found, up, across="step", logarithmic=True):
    """Named curves."""
    for number, (name, values) in enumerate(found.items()):
        x, y = values if isinstance(values, tuple) else (np.arange(len(values)), values)
        axes.plot(x, y, color=PALETTE[number], linewidth=1.6, label=name)
    if logarithmic:
        axes.set_yscale("log")
    axes.legend(frameon=False, fontsize=8)
    label(axes, across, up)


def newton(axes):
    """β too large diverges."""
    curves(
        axes, {f"β = {beta}": history("newton", beta=beta, iterations=30) for beta in (0.3, 1.0, 1.7, 2.5)}, "error [m]"
    )


def spikes(axes):
    """The fastest joint along a line 2 cm beside the base, with and without damping."""
    tree = models.planar_2r(1.0, 1.0)
    line = rb.kinematics.Path([(-0.3, 0.02, 0.0), (0.3, 0.02, 0.0)], speed=0.5, acceleration=1000.0)
    start, found = ik.solve(tree, ik.Position(line(0.0)[:3, 3]), start=(0.0, 2.5)).q, {}
    for damping, name in ((0.0, "pinv"), (0.1, "dls, λ = 0.1 m")):
        motion = rb.kinematics.track_rates(tree, line, damping, count=201, start=start, orientation=False)
        found[name] = (motion.times, np.abs(motion.rates).max(axis=1))
    curves(axes, found, "fastest joint [rad/s]", "time [s]")
    axes.set_ylim(0.1, 50.0)


def gains(axes):
    """What a singular value multiplies the error with."""
    sigma = np.geomspace(1e-3, 1.0, 200)
    found = {"pinv, 1/σ": (sigma, 1.0 / sigma)}
    found |= {f"dls, λ = {d} m": (sigma, sigma / (sigma**2 + d**2)) for d in (0.02, 0.05, 0.2)}
    curves(axes, found, "step for an error of 1 m [rad]", "singular value σ [m]")
    axes.set_xscale("log")


def beyond(axes):
    """Largest joint change a step makes when the goal is out of reach."""
    far, found = np.array([2.4, 0.9, 0.0]), {}
    for name in ("pinv", "dls", "sdls"):
        found[name] = changes(by_steps(ik.MENU[name]().step, goal=far, count=40))
    curves(axes, found, "largest change of a joint [rad]")


def singular(axes):
    """All but stretched, with a goal inwards along the arm."""
    tree, start, goal = models.planar_2r(1.0, 1.0), (0.0, 1e-3), np.array([1.5, 0.0, 0.0])
    names = ("transpose", "pinv")
    curves(
        axes,
        {name: changes(by_steps(ik.MENU[name]().step, tree, goal, start, 40)) for name in names},
        "largest change of a joint [rad]",
    )


def valley(axes):
    """The squared error over the joints of two bars, and two ways down."""
    tree, start, goal = models.planar_2r(1.0, 1.0), (0.1, 1.5), np.array([0.4, 1.75, 0.0])
    grid = np.stack(np.meshgrid(np.linspace(-0.1, 1.6, 80), np.linspace(0.2, 1.8, 80)), axis=-1)
    square = ((tree.forward(grid)[..., :3, 3] - goal) ** 2).sum(axis=-1)
    axes.contour(grid[..., 0], grid[..., 1], np.log(square + 1e-4), 14, colors=[FAINT], linestyles="solid")
    steep = [ik.solve(tree, ik.Position(goal), "gradient", start=start, iterations=k).q for k in range(1, 26)]
    found = {"gradient": np.array([start, *steep]), "newton": by_steps(ik.Newton().step, tree, goal, start, 8)}
    curves(axes, {name: tuple(rows.T) for name, rows in found.items()}, "q₂ [rad]", "q₁ [rad]", logarithmic=False)


def uneven(axes):
    """How much each joint of a snake has turned after one step."""
    tree, start = models.snake(20), np.full(20, 0.05)
    goal = tree.forward(start)[:3, 3] + [-0.02, 0.06, 0.05]
    for number, name in enumerate(("ccd", "pinv")):
        change = ik.solve(tree, ik.Position(goal), name, start=start, iterations=1).q - start
        axes.bar(np.arange(1, 21) + 0.4 * number - 0.2, np.abs(change), 0.4, color=PALETTE[number], label=name)
    axes.legend(frameon=False, fontsize=8)
    label(axes, "joint, from the base", "change in the first step [rad]")


def rope(axes):
    """Sixteen bars reach for a point."""
    rows = [(0.2 if i else 0.0, 0.0, 0.0, 0.0) for i in range(16)]
    tree = rb.kinematics.Tree.from_dh(rows, tool=((0.2, 0.0, 0.0), (0.0, 0.0, 0.0, 1.0)), name="rope")
    start, goal = np.full(16, 0.02), np.array([0.2, 2.2, 0.0])
    found = [ik.solve(tree, ik.Position(goal), "fabrik", start=start, iterations=k).q for k in (1, 2, 3, 5, 8, 13)]
    bars(axes, tree, np.array([start, *found]), goal)


def bounded(axes):
    """Largest joint change of each step, with a bound and without."""
    rows = [START]
    for _ in range(25):
        rows.append(ik.solve(ARM, ik.Position(GOAL), "qp", start=rows[-1], iterations=1, largest=0.1).q)
    found = {"qp, largest=0.1": changes(rows), "dls": changes(by_steps(ik.DampedLeastSquares().step, count=25))}
    curves(axes, found, "largest change of a joint [rad]")


def restarts(axes):
    """Steps that poses take, restarts included."""
    for number, name in enumerate(("puma560", "seven_axis")):
        tree = getattr(models, name)()
        found = ik.solve(tree, tree.forward(tree.random(4000, seed=1)))
        steps = np.sort(found.iterations)
        share = 100.0 * (1.0 - np.arange(len(steps)) / len(steps))
        axes.plot(
            steps,
            share,
            color=PALETTE[number],
            linewidth=1.6,
            label=f"{name}, {100.0 * found.reached.mean():.2f} % reached",
        )
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.legend(frameon=False, fontsize=8)
    label(axes, "steps", "poses that need more [%]")


def eight(axes):
    """All solutions of an arm with a spherical wrist, seen from above and aside."""
    rows = models.puma560().to_dh()
    tree = rb.kinematics.Tree.from_dh(rows.rows, base=rows.base, tool=rows.tool, name="free")
    found = ik.solve(tree, tree.forward([0.4, 0.6, -0.4, 0.5, 0.8, 0.3]), "analytic")
    for number, q in enumerate(found.every):
        points = np.concatenate([tree.frames(q)[:, :3, 3], tree.forward(q)[None, :3, 3]])
        points = points @ [(0.9, 0.2), (0.45, -0.4), (0.0, 0.9)]
        axes.plot(*(points + 0.004 * number).T, color=PALETTE[number], linewidth=1.4, marker="o", markersize=3)
    axes.set_title(f"{len(found.every)} solutions, drawn a little apart", fontsize=9, color=INK)
    axes.set_aspect("equal", adjustable="datalim")
    label(axes, "across [m]", "up [m]")


THIRD = {
    "lm": restarts, "newton": newton, "pinv": spikes, "dls": gains, "sdls": beyond, "transpose": singular,
    "gradient": valley, "ccd": uneven, "fabrik": rope, "qp": bounded,
}  # fmt: skip


def draw(name):
    """The picture of a method."""
    figure, grid = plt.subplots(1, 3 if name in THIRD else 2, figsize=(12.0 if name in THIRD else 8.0, 3.6), dpi=80)
    if name in THIRD:
        bars(grid[0], ARM, way(name), GOAL)
        errors(grid[1], name)
        THIRD[name](grid[2])
    else:
        pose = ARM.forward([0.6, 1.1, 0.8])
        bars(grid[0], ARM, ik.solve(ARM, pose, "analytic").every, pose[:3, 3])
        eight(grid[1])
    for axes in grid:
        tidy(axes)
    figure.tight_layout()
    figure.savefig(f"ik_{name}.jpg", pil_kwargs={"quality": 85, "subsampling": 0})
    plt.close(figure)


for method in (*THIRD, "analytic"):
    draw(method)
counts = {name: len(history(name, iterations=5000)) - 1 for name in PLAIN}
print("Steps to a micrometre: " + ", ".join(f"{name} {count}" for name, count in counts.items()) + ".")
