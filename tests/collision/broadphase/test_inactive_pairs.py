"""Pairs of still colliders are taken out of a list, in order, on one thread and on many."""

import numpy as np
import pytest
import warp as wp

from rattleback.collision.broadphase.inactive_pairs import InactivePairFilter, judge, sift
from rattleback.collision.broadphase.pairs import Pairs
from rattleback.core import arrays
from rattleback.core.stages import Program

COLLIDERS, ROOM = 40, 300


def random_pairs(seed):
    """A sorted list of pairs, which colliders are still, and the pairs that are to be kept."""
    rng = np.random.default_rng(seed)
    every = np.array([(a, b) for a in range(COLLIDERS) for b in range(a + 1, COLLIDERS)])
    chosen = every[np.sort(rng.choice(len(every), size=200, replace=False))]
    still = rng.integers(0, 2, COLLIDERS)
    return chosen, still, np.array([pair for pair in chosen if not still[pair].all()])


def filled(pair_filter, chosen):
    """Write the pairs where a broad phase would."""
    given = pair_filter.all_pairs
    given.a.assign(np.pad(chosen[:, 0], (0, ROOM - len(chosen))).astype(np.int32))
    given.b.assign(np.pad(chosen[:, 1], (0, ROOM - len(chosen))).astype(np.int32))
    given.first.assign(np.searchsorted(chosen[:, 0], np.arange(COLLIDERS + 1)).astype(np.int32))
    given.needed.fill_(len(chosen))


def in_order(pair_filter):
    """What a CPU does."""
    program = Program(wp.get_device("cpu"), wp.zeros(1, dtype=wp.int32, device="cpu"))
    with program.stage("sift"):
        pair_filter.record(program)
    program.compile()
    program.run(1)


def side_by_side(pair_filter):
    """What CUDA does, with sums by NumPy."""
    kept = wp.zeros(ROOM + 1, dtype=wp.int32, device="cpu")
    wp.launch(judge, ROOM, inputs=[pair_filter.still, pair_filter.all_pairs, kept], device="cpu")
    kept.assign(np.concatenate([[0], np.cumsum(kept.numpy()[:ROOM])]).astype(np.int32))
    wp.launch(sift, ROOM, inputs=[pair_filter.all_pairs, kept, pair_filter.pairs], device="cpu")


@pytest.mark.parametrize("run", [in_order, side_by_side])
@pytest.mark.parametrize("seed", range(3))
def test_pairs_of_still_colliders_are_left_out_and_the_others_keep_their_order(run, seed):
    chosen, still, wanted = random_pairs(seed)
    pairs = arrays.allocate(Pairs, {"pairs": ROOM, "colliders_and_one": COLLIDERS + 1, "one": 1}, "cpu")
    pair_filter = InactivePairFilter(wp.array(still, dtype=wp.int32, device="cpu"), pairs)
    filled(pair_filter, chosen)
    run(pair_filter)
    count = int(pairs.needed.numpy()[0])
    assert count == len(wanted)
    np.testing.assert_array_equal(np.stack([pairs.a.numpy(), pairs.b.numpy()], axis=1)[:count], wanted)
    np.testing.assert_array_equal(pairs.first.numpy(), np.searchsorted(wanted[:, 0], np.arange(COLLIDERS + 1)))
