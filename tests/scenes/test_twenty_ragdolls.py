"""Twenty ragdolls: each is the one of the stairs, elsewhere."""

import numpy as np

from rattleback.scenes import ragdoll_on_stairs, twenty_ragdolls


def test_every_one_of_the_ragdolls_is_that_of_the_stairs_somewhere_else():
    one, many = ragdoll_on_stairs(), twenty_ragdolls(count=9)
    assert (len(many.joints), len(many.groups)) == (9 * 12, 9)
    for k in range(9):
        # Four beside each other, on three tracks, every four 1.9 m above the last.
        way = np.array([0.54 * (k % 4) - 0.6, 0.6 * (k % 3 - 1), 1.9 * (k // 4)])
        for part in one.groups["ragdoll"]:
            twin = many[f"{part.name}_{k + 1}"]
            assert (twin.shape, twin.mass, twin.group) == (part.shape, part.mass, f"ragdoll_{k + 1}")
            np.testing.assert_allclose(twin.position, part.position + way, atol=1e-12)
            np.testing.assert_array_equal([twin.orientation, [*twin.velocity, 0]], [part.orientation, [1.0, 0, 0, 0]])
        for name, joint in one.joints.items():
            twin = many.joints[f"{name}_{k + 1}"]
            assert (type(twin), twin.a, twin.b) == (type(joint), f"{joint.a}_{k + 1}", f"{joint.b}_{k + 1}")
            np.testing.assert_allclose(twin.at, joint.at + way, atol=1e-12)
            assert getattr(twin, "limits", None) == getattr(joint, "limits", None)
