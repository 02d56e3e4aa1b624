"""Every broad phase writes the list a plain search finds, whatever the sizes, filters, worlds, motions and room."""

from contextlib import contextmanager
from types import SimpleNamespace

import numpy as np
import pytest
import warp as wp
from hypothesis import given, settings
from hypothesis import strategies as st

from rattleback.collision import broadphase
from rattleback.collision.broadphase import AllPairs, BoxTree, Cached, Grid, Sweep, cached, sweep
from rattleback.collision.broadphase.listing import MOST_BIG, big_ones
from rattleback.collision.broadphase.pairs import Pairs
from rattleback.collision.geometry.colliders import Colliders, Exclusions, Places
from rattleback.core import arrays, device
from rattleback.core.errors import InputError
from rattleback.core.precision import numpy_real
from rattleback.core.stages import Program
from rattleback.core.sums import Sum

FAR = float(np.sqrt(np.finfo(numpy_real).max))
METHODS = {
    "all_pairs": AllPairs(),
    "sweep": Sweep(),
    "grid": Grid(),
    "grid_without_wide": Grid(wide=0),
    "tree": BoxTree(),
    "cached": Cached(),
    "cached_sweep": Cached(inner=Sweep(slack=0.01), slack=0.3),
    "cached_tree": Cached(inner=BoxTree()),
}
each_method = pytest.mark.parametrize("method", METHODS.values(), ids=METHODS)


class Crowd:
    """Boxes of a few worlds with filters, on the host and on a device; the same colliders in every world."""

    def __init__(self, seed, each=12, worlds=2, decades=1.5, where="cpu"):
        self.rng = np.random.default_rng(seed)
        self.each, self.worlds, self.count = each, worlds, each * worlds
        self.device = device.find(where)
        rng, bodies = self.rng, max(1, (2 * each) // 3)
        self.bodies = bodies
        self.local_body = rng.integers(bodies, size=each)
        self.half = 10.0 ** rng.uniform(-decades, 0.0, (each, 1)) * rng.uniform(0.2, 1.0, (each, 3))
        self.endless = rng.random(each) < 0.1
        static = rng.random(bodies) < 0.3
        self.values = {
            "movable": ~static[self.local_body],
            "category": rng.integers(1, 8, each),
            "mask": np.where(rng.random(each) < 0.6, 7, rng.integers(0, 8, each)),
            "reach": np.where(self.endless, -1.0, np.linalg.norm(self.half, axis=1)),
        }
        self.excluded = {tuple(sorted(pair)) for pair in rng.integers(bodies, size=(bodies // 2, 2)).tolist()}
        self.center = rng.uniform(-1.0, 1.0, (worlds, each, 3)) * (0.7 * each ** (1 / 3))
        self.geometry = self.compile()
        self.places = arrays.allocate(Places, {"colliders": self.count}, self.device)
        self.place()

    def compile(self):
        colliders = arrays.allocate(Colliders, {"colliders": self.count}, self.device)
        world = np.repeat(np.arange(self.worlds), self.each)
        others = [[] for _ in range(self.bodies)]
        for i, j in self.excluded:
            others[i].append(j)
            others[j].append(i)
        starts = np.cumsum([0, *map(len, others)])
        values = {name: np.tile(value, self.worlds) for name, value in self.values.items()}
        body = np.tile(self.local_body, self.worlds)
        values |= {"world": world, "body": body + world * self.bodies, "excluded": starts[body]}
        values |= {"exclusions": np.array([len(listed) for listed in others])[body]}
        for name, value in values.items():
            getattr(colliders, name).assign(value.astype(numpy_real if value.dtype.kind == "f" else np.int32))
        exclusions = arrays.allocate(Exclusions, {"exclusions": int(starts[-1])}, self.device)
        if starts[-1]:
            exclusions.body.assign(np.concatenate(others).astype(np.int32))
        return SimpleNamespace(
            colliders=colliders, exclusions=exclusions, each=self.each, count=self.count, device=self.device
        )

    def place(self):
        """Put the boxes on the device; on a coarse lattice, so that many boxes just touch."""
        half = np.where(self.endless[:, None], FAR, self.half)
        center = np.where(self.endless[:, None], 0.0, self.center)
        lower, upper = center - half, center + half
        rounded = ~self.endless
        lower[:, rounded] = np.floor(lower[:, rounded] * 8.0) / 8.0
        upper[:, rounded] = np.ceil(upper[:, rounded] * 8.0) / 8.0
        self.lower, self.upper = (x.reshape(-1, 3).astype(numpy_real) for x in (lower, upper))
        self.places.lower.assign(self.lower)
        self.places.upper.assign(self.upper)

    def move(self):
        """Mostly small motions, at times some boxes or all of them elsewhere."""
        kind = self.rng.random()
        if kind < 0.6:
            self.center = self.center + self.rng.normal(0.0, 0.05, self.center.shape)
        elif kind < 0.9:
            chosen = self.rng.random(self.center.shape[:2]) < 0.2
            self.center = np.where(chosen[..., None], self.rng.uniform(-3.0, 3.0, self.center.shape), self.center)
        else:
            self.center = self.rng.uniform(-1.0, 1.0, self.center.shape) * 10.0 ** self.rng.uniform(-1.0, 6.0)
        self.place()

    def expected(self):
        """The list found by a plain search."""
        lower, upper, values = self.lower, self.upper, self.values
        found = []
        for a in range(self.count):
            for b in range(a + 1, self.count):
                i, j = a % self.each, b % self.each
                bodies = tuple(sorted((self.local_body[i].item(), self.local_body[j].item())))
                if (
                    a // self.each == b // self.each
                    and bodies[0] != bodies[1]
                    and bodies not in self.excluded
                    and (values["movable"][i] or values["movable"][j])
                    and values["category"][i] & values["mask"][j]
                    and values["category"][j] & values["mask"][i]
                    and (lower[a] <= upper[b]).all()
                    and (lower[b] <= upper[a]).all()
                ):
                    found.append((a, b))
        return np.array(found, dtype=np.int32).reshape(-1, 2)

    def pairs(self, room):
        return arrays.allocate(Pairs, {"pairs": room, "colliders_and_one": self.count + 1, "one": 1}, self.device)


class InParallel:
    """Records what CUDA would run, to be run on a CPU."""

    device = SimpleNamespace(is_cpu=False)

    def __init__(self, program):
        self.launch, self.when = program.launch, program.when


def recorded(bound, device, parallel=False):
    program = Program(device, wp.zeros(1, dtype=wp.int32, device=device))
    with program.stage("broad phase"):
        bound.record(InParallel(program) if parallel else program)
    program.compile()
    return program


def check(crowd, pairs):
    expected, room = crowd.expected(), len(pairs.a)
    fits = min(room, len(expected))
    assert pairs.needed.numpy()[0] == len(expected)
    starts = np.searchsorted(expected[:, 0], np.arange(crowd.count + 1))
    np.testing.assert_array_equal(pairs.first.numpy(), np.minimum(starts, room))
    full = starts[starts <= room].max() if room < len(expected) else fits
    np.testing.assert_array_equal(pairs.a.numpy()[:fits], expected[:fits, 0])
    np.testing.assert_array_equal(pairs.b.numpy()[:full], expected[:full, 1])


def grown(bound, crowd, program, parallel=False):
    """Run a step; where a buffer of the method's own lacks room, enlarge it and repeat."""
    program.run(1)
    for _ in range(3):
        if all(have >= need for need, have in broadphase.needed(bound).values()):
            return program
        bound.grow()
        program = recorded(bound, crowd.device, parallel)
        program.run(1)
    raise AssertionError("The buffers still lack room.")


@each_method
@given(seed=st.integers(0, 2**32 - 1), each=st.integers(1, 30), worlds=st.integers(1, 3), parallel=st.booleans())
@settings(max_examples=30, deadline=None)
def test_the_list_is_what_a_plain_search_finds_whatever_moves(method, seed, each, worlds, parallel):
    crowd = Crowd(seed, each, worlds)
    pairs = crowd.pairs(crowd.count * each + 1)
    bound = method.bind(crowd.geometry, crowd.places, pairs, crowd.bodies)
    program = recorded(bound, crowd.device, parallel)
    for _ in range(6):
        program = grown(bound, crowd, program, parallel)
        check(crowd, pairs)
        crowd.move()


@each_method
@pytest.mark.parametrize("parallel", [False, True])
def test_a_list_recorded_before_the_steps_and_in_them_is_right_both_times(method, parallel):
    crowd = Crowd(11, each=30, worlds=2)
    pairs = crowd.pairs(2000)
    bound = method.bind(crowd.geometry, crowd.places, pairs, crowd.bodies)
    program = Program(crowd.device, wp.zeros(1, dtype=wp.int32, device=crowd.device))
    for part in (program.prologue(), program.stage("broad phase")):
        with part:
            bound.record(InParallel(program) if parallel else program)
    program.compile()
    for steps in (0, 1, 0, 2):
        program.run(steps)
        check(crowd, pairs)
        crowd.center = crowd.center + crowd.rng.normal(0.0, 0.1, crowd.center.shape)
        crowd.place()


@each_method
@pytest.mark.parametrize("parallel", [False, True])
def test_sizes_over_six_decades_are_found(method, parallel):
    crowd = Crowd(3, each=80, worlds=1, decades=6.0)
    pairs = crowd.pairs(80 * 80)
    bound = method.bind(crowd.geometry, crowd.places, pairs, crowd.bodies)
    grown(bound, crowd, recorded(bound, crowd.device, parallel), parallel)
    assert len(crowd.expected()) > 80
    check(crowd, pairs)


@each_method
@pytest.mark.parametrize("parallel", [False, True])
def test_nothing_is_written_past_the_room_there_is_and_the_number_needed_is_right(method, parallel):
    crowd = Crowd(5, each=25, worlds=2)
    wanted = len(crowd.expected())
    assert wanted > 40
    for room in (1, 7, wanted - 1, wanted):
        pairs, behind = crowd.pairs(room), crowd.pairs(wanted + 10)
        for name in ("a", "b"):
            getattr(behind, name).fill_(-5)
            setattr(pairs, name, getattr(behind, name)[:room])
        bound = method.bind(crowd.geometry, crowd.places, pairs, crowd.bodies)
        grown(bound, crowd, recorded(bound, crowd.device, parallel), parallel)
        check(crowd, pairs)
        for name in ("a", "b"):
            assert (getattr(behind, name).numpy()[room:] == -5).all()


@pytest.mark.parametrize("parallel", [False, True])
@pytest.mark.parametrize(("method", "module"), [(Sweep(), sweep), (Cached(), cached)])
def test_buffers_of_a_method_grow_from_nothing(method, module, parallel, monkeypatch):
    monkeypatch.setattr(module, "ROOM", 0)
    crowd = Crowd(6, each=25, worlds=2)
    pairs = crowd.pairs(700)
    bound = method.bind(crowd.geometry, crowd.places, pairs, crowd.bodies)
    program = recorded(bound, crowd.device, parallel)
    program.run(1)
    (need, have), *_ = broadphase.needed(bound).values()
    assert have == 0 < need
    for _ in range(5):
        program = grown(bound, crowd, program, parallel)
        check(crowd, pairs)
        crowd.move()


def test_a_sweep_grows_when_a_pair_begins_for_which_there_is_no_room(monkeypatch):
    crowd = Crowd(7, each=30, worlds=1, decades=0.2)
    crowd.center = crowd.center * 100.0
    crowd.place()
    monkeypatch.setattr(sweep, "ROOM", 0)
    pairs = crowd.pairs(900)
    bound = Sweep().bind(crowd.geometry, crowd.places, pairs, crowd.bodies)
    program = recorded(bound, crowd.device)
    program.run(1)
    check(crowd, pairs)
    crowd.center = crowd.center / 100.0
    crowd.place()
    program.run(1)
    ((need, have),) = broadphase.needed(bound).values()
    assert need > have
    grown(bound, crowd, program)
    check(crowd, pairs)


@each_method
def test_worlds_in_one_place_never_meet(method):
    crowd = Crowd(8, each=15, worlds=5)
    crowd.center = np.tile(crowd.center[:1], (5, 1, 1))
    crowd.place()
    pairs = crowd.pairs(2000)
    bound = method.bind(crowd.geometry, crowd.places, pairs, crowd.bodies)
    grown(bound, crowd, recorded(bound, crowd.device))
    a, b = (x.numpy()[: pairs.needed.numpy()[0]] for x in (pairs.a, pairs.b))
    assert len(a) % 5 == 0
    assert (a // 15 == b // 15).all()


@each_method
def test_the_list_does_not_depend_on_the_history(method):
    crowd = Crowd(9, each=30, worlds=2)
    lists = []
    bound = method.bind(crowd.geometry, crowd.places, pairs := crowd.pairs(2000), crowd.bodies)
    program = recorded(bound, crowd.device)
    begun = crowd.center
    for path in (0, 3):
        for _ in range(path):
            crowd.move()
            program = grown(bound, crowd, program)
        crowd.center = begun
        crowd.place()
        program = grown(bound, crowd, program)
        lists.append(arrays.read(pairs) | {"length": pairs.needed.numpy()[0]})
    length = lists[0]["length"]
    for name in ("a", "b"):
        np.testing.assert_array_equal(lists[0][name][:length], lists[1][name][:length])
    np.testing.assert_array_equal(lists[0]["first"], lists[1]["first"])


@each_method
def test_a_bound_method_can_be_given_a_larger_list(method):
    crowd = Crowd(12, each=25, worlds=2)
    bound = method.bind(crowd.geometry, crowd.places, crowd.pairs(1), crowd.bodies)
    program = grown(bound, crowd, recorded(bound, crowd.device))
    bound.write_to(pairs := crowd.pairs(900))
    program = recorded(bound, crowd.device)
    program.run(1)
    check(crowd, pairs)


@each_method
@pytest.mark.parametrize("parallel", [False, True])
def test_a_world_without_colliders_has_no_pairs(method, parallel):
    crowd = Crowd(13, each=0, worlds=2)
    bound = method.bind(crowd.geometry, crowd.places, pairs := crowd.pairs(4), crowd.bodies)
    recorded(bound, crowd.device, parallel).run(1)
    assert pairs.needed.numpy()[0] == 0
    assert pairs.first.numpy().tolist() == [0]


def test_a_loose_tree_asks_to_be_built_anew():
    crowd = Crowd(10, each=60, worlds=2, decades=0.3)
    pairs = crowd.pairs(4000)
    bound = BoxTree().bind(crowd.geometry, crowd.places, pairs, crowd.bodies)
    program = recorded(bound, crowd.device)
    program.run(2)
    assert bound.wants_renewal.numpy()[0] == 0
    crowd.center = crowd.rng.permuted(crowd.center * 3.0, axis=1)
    crowd.place()
    program.run(1)
    check(crowd, pairs)
    assert bound.wants_renewal.numpy()[0] == 1
    bound.renew()
    program.run(2)
    check(crowd, pairs)
    assert bound.wants_renewal.numpy()[0] == 0


@pytest.mark.parametrize("count", [0, 1, 63, 64, 65, 4096, 4097, 10_000])
@pytest.mark.parametrize("parallel", [False, True])
def test_sums_of_counts_are_what_numpy_adds_up(count, parallel):
    where = device.find("cpu")
    counts = np.random.default_rng(count).integers(0, 5, count).astype(np.int32)
    values = wp.array(np.append(counts, 99), dtype=wp.int32, device=where)
    bound = SimpleNamespace(record=Sum(values, count, InParallel.device if parallel else where).record)
    recorded(bound, where).run(1)
    np.testing.assert_array_equal(values.numpy(), np.append(0, np.cumsum(counts)))


def test_big_is_what_has_no_end_or_is_much_larger_than_the_median():
    assert big_ones(np.array([1.0, -1.0, 1.1, 7.0, 9.0, 0.9])).tolist() == [False, True, False, False, True, False]
    assert big_ones(np.array([-1.0, -1.0])).all()
    assert big_ones(np.append(np.ones(200), np.arange(10.0, 110.0))).nonzero()[0].tolist() == [
        *range(300 - MOST_BIG, 300)
    ]


@contextmanager
def refused(message):
    with pytest.raises(InputError, match=message):
        yield


def test_parameters_that_mean_nothing_are_refused():
    with refused("wide of Grid is -1; it must be at least 0."):
        Grid(wide=-1)
    with refused("looser of BoxTree is 1.0; it must be greater than 1."):
        BoxTree(looser=1.0)
    with refused("slack of Sweep is 0; it must be greater than zero."):
        Sweep(slack=0)
    with refused("slack of Cached is -1.0; it must be greater than zero."):
        Cached(slack=-1.0)
    with refused("inner of Cached is 'grid'; it must be a broad phase, such as Grid()."):
        Cached(inner="grid")


def test_the_default_depends_on_size_and_device():
    def chosen(each, on_cpu):
        return broadphase.default(SimpleNamespace(each=each, device=SimpleNamespace(is_cpu=on_cpu)))

    assert chosen(10, True) == AllPairs()
    assert chosen(1000, True) == Sweep()
    assert chosen(100, False) == AllPairs()
    assert chosen(100_000, False) == Grid()


@pytest.mark.cuda
@each_method
def test_cuda_writes_the_same_list(method):
    crowd = Crowd(11, each=60, worlds=3, where="cuda")
    pairs = crowd.pairs(12_000)
    bound = method.bind(crowd.geometry, crowd.places, pairs, crowd.bodies)
    program = recorded(bound, crowd.device)
    for _ in range(10):
        program = grown(bound, crowd, program)
        check(crowd, pairs)
        crowd.move()
