"""Bodies have levels above the ground, and manifolds are laid out from the ground up."""

import numpy as np
import pytest

import rattleback as rb

pytestmark = pytest.mark.contacts


def heap() -> rb.Simulation:
    """Two columns of three and two cubes, and a pair that flies."""
    scene = rb.Scene()
    scene.add_static(rb.Plane(), name="ground")
    for name, place in {
        "top": (0, 0, 2.5),
        "left": (0, 0, 0.5),
        "middle": (0, 0, 1.5),
        "right": (3, 0, 0.5),
        "upper": (3, 0, 1.5),
        "bird": (0, 0, 9.5),
        "rider": (0, 0, 10.5),
    }.items():
        scene.add_body(rb.Box(1, 1, 1), mass=1.0, position=place, name=name)
    sim = rb.Simulation(scene, time_step=0.001)
    sim.step()
    return sim


def test_levels_count_the_bodies_down_to_the_ground() -> None:
    sim = heap()
    levels = sim._step.impulses.problem.graph.level.numpy()
    names = sim.model.names
    found = {name: int(levels[names.index(name)]) for name in ("ground", "left", "middle", "top", "right", "upper")}
    assert found == {"ground": 0, "left": 1, "middle": 2, "top": 3, "right": 1, "upper": 2}
    assert levels[names.index("bird")] == levels[names.index("rider")] > 3


def test_patches_are_solved_from_the_ground_up_and_have_their_own_points() -> None:
    impulses = heap()._step.impulses
    graph, manifolds = impulses.problem.graph, impulses.problem.system.manifolds
    total = int(graph.total.numpy()[0])
    a, b, first, count, contact = (
        array.numpy()[:total]
        for array in (manifolds.body_a, manifolds.body_b, manifolds.first, manifolds.count, manifolds.contact)
    )
    assert total == 6
    levels = graph.level.numpy()
    assert np.all(np.diff(np.minimum(levels[a], levels[b])) >= 0)
    for start in (first, contact):
        rows = np.concatenate([np.arange(i, i + n) for i, n in zip(start, count, strict=True)])
        assert sorted(rows) == list(range(len(rows)))


def test_the_graph_knows_the_patches_of_every_body() -> None:
    impulses = heap()._step.impulses
    graph, manifolds = impulses.problem.graph, impulses.problem.system.manifolds
    total = int(graph.total.numpy()[0])
    ends = np.concatenate([manifolds.body_a.numpy()[:total], manifolds.body_b.numpy()[:total]])
    head, follower, solved = graph.head.numpy(), graph.next_end.numpy(), graph.solve_row.numpy()
    for body in range(len(head)):
        met, end = [], int(head[body])
        while end >= 0:
            met.append(int(solved[end // 2]) + (end % 2) * total)
            end = int(follower[end])
        assert sorted(met) == np.flatnonzero(ends == body).tolist()
