"""Methods by chain: each chain has the impulses its method finds alone, and wrong names are told in sentences."""

from typing import Any

import numpy as np
import pytest

import rattleback as rb
from rattleback.scenes import bricard
from rattleback.solvers.joints import Direct, Iterative, JointsByChain

ROPES = ("short", "long")


def add_rope(scene: rb.Scene, name: str, links: int, y: float) -> None:
    """A horizontal rope that hangs from the static beam by its left end."""
    for k in range(links):
        scene.add_body(rb.Box(0.5, 0.1, 0.1), mass=1.0, position=(0.5 * k + 0.25, y, 0), name=f"{name}_{k}")
        held = f"{name}_{k - 1}" if k else "beam"
        scene.add_joint(rb.Ball(held, f"{name}_{k}", at=(0.5 * k, y, 0)), name=f"{name}_pin_{k}")


def ropes(*names: str) -> rb.Scene:
    scene = rb.Scene()
    scene.add_static(rb.Box(0.1, 4, 0.1), name="beam")
    scene.add_body(rb.Sphere(0.1), position=(0, 0, 3), name="free")
    for name in names:
        add_rope(scene, name, *{"short": (2, 0.0), "long": (5, 2.0)}[name])
    return scene


def solved(case: Any) -> dict[str, np.ndarray]:
    """The impulses of every joint for random wanted changes, the same for a joint in every scene."""
    names = case.problem.names
    wanted = [np.random.default_rng(list(name.encode())).standard_normal(3) for name in names]
    return dict(zip(names, case.impulses(np.concatenate(wanted)).reshape(-1, 3), strict=True))


METHODS: list[Any] = ["direct", "iterative", Iterative(sweeps=7)]


@pytest.mark.parametrize("second", METHODS, ids=str)
@pytest.mark.parametrize("first", METHODS, ids=str)
def test_a_chain_has_the_bits_its_method_finds_for_it_alone(dense: Any, first: Any, second: Any) -> None:
    both = solved(dense(ropes(*ROPES), rb.joints_by_chain({"short_1": first, "long_pin_3": second})))
    for rope, method in zip(ROPES, (first, second), strict=True):
        for joint, impulse in solved(dense(ropes(rope), method)).items():
            np.testing.assert_array_equal(both[joint], impulse)
    assert np.abs(list(both.values())).min() > 0.0


def test_a_chain_moves_as_it_does_alone() -> None:
    """To the bit where the chains need as many corrections as each other, as two equal ropes do."""
    scene = ropes("short")
    add_rope(scene, "twin", 2, 0.0)
    sim = rb.Simulation(scene, joints=rb.joints_by_chain({"twin_0": Direct(loops="cut", rounds=3)}), time_step=0.005)
    alone = rb.Simulation(ropes("short"), time_step=0.005)
    for each in (sim, alone):
        each.step(100)
        assert each.report.converged, each.report.reason
    for k in range(2):
        for rope in ("short", "twin"):
            np.testing.assert_array_equal(sim[f"{rope}_{k}"].position, alone[f"short_{k}"].position)


def test_chains_with_other_methods_move_as_with_the_default_within_the_tolerance() -> None:
    tolerances = {f"{kind}_tolerance": 1e-10 for kind in ("position", "velocity")}
    given = {"time_step": 0.005, "max_iterations": 2000, **tolerances}
    mixed = rb.Simulation(ropes(*ROPES), joints=rb.joints_by_chain({"short_0": Iterative(sweeps=20)}), **given)
    plain = rb.Simulation(ropes(*ROPES), **given)
    for sim in (mixed, plain):
        sim.step(60)
        assert sim.report.converged, sim.report.reason
    np.testing.assert_allclose(mixed.state.position, plain.state.position, rtol=0, atol=1e-8)


def test_redundant_rows_of_all_methods_are_counted_and_the_tolerances_fit_all_chains() -> None:
    scene = bricard()
    scene.add_static(rb.Box(0.1, 4, 0.1), position=(5, 0, 0), name="beam")
    add_rope(scene, "rope", 3, 8.0)
    sim = rb.Simulation(scene, joints=rb.joints_by_chain({"rope_1": "iterative"}), time_step=0.001, worlds=2)
    sim.step(10)
    assert sim.report.converged, sim.report.reason
    assert sim.report.redundant_rows == 1
    assert sim.report.redundant_joints[0].startswith("joint_")
    alone = rb.Simulation(bricard(), time_step=0.001)
    alone.step()
    shares = [np.asarray(each._step.preview.solver.share.numpy()) for each in (sim, alone)]
    assert shares[0].tolist() == [shares[1][0]] * 2
    assert shares[0][0] < 1.0


def test_a_chain_may_be_named_twice_with_the_same_method() -> None:
    sim = rb.Simulation(ropes(*ROPES), joints=rb.joints_by_chain({"long_0": "iterative", "long_pin_4": Iterative()}))
    assert len(sim._step.preview.solver.methods) == 2
    sim.use(joints=rb.joints_by_chain({}, default="iterative"))
    assert len(sim._step.preview.solver.methods) == 1
    sim.step()


@pytest.mark.parametrize(
    ("methods", "kind", "message"),
    [
        ({"shrot_0": "direct"}, rb.UnknownName, "'shrot_0', and there is no body or joint .* Did you mean 'short_0'?"),
        (
            {"beam": "direct"},
            rb.InputError,
            "'beam', which does not move and so joins no chain; name a body or",
        ),
        ({"world": "direct"}, rb.InputError, "'world', which does not move and so joins no chain"),
        ({"free": "direct"}, rb.InputError, "'free', a body that no joint holds"),
        (
            {"short_0": "direct", "short_pin_1": "iterative"},
            rb.InputError,
            r"^'short_0' and 'short_pin_1' belong to the same chain, .* gives Direct\(.* and Iterative\(.* to the o",
        ),
    ],
)
def test_names_that_fit_no_chain_are_told_when_the_simulation_is_made(methods: Any, kind: Any, message: str) -> None:
    given = rb.joints_by_chain(methods)
    with pytest.raises(kind, match=message):
        rb.Simulation(ropes(*ROPES), joints=given)


class Whole:
    """A method of one's own that cannot do with some of the joints."""

    def prepare(self, problem: Any) -> Any:
        return problem

    def __repr__(self) -> str:
        return "Whole()"


@pytest.mark.parametrize(
    ("call", "kind", "message"),
    [
        (lambda: rb.joints_by_chain({"a": "dirct"}), rb.UnknownName, "no joint method 'dirct'. Did you mean 'direct'?"),
        (lambda: rb.joints_by_chain({}, default="dirct"), rb.UnknownName, "no joint method 'dirct'"),
        (lambda: rb.joints_by_chain(["a"]), rb.InputError, r"are \['a'\]; they must be a dict of names in the scene"),
        (lambda: rb.joints_by_chain({3: "direct"}), rb.InputError, "The name of a chain is 3; it must be a string"),
        (lambda: rb.joints_by_chain({"a": Whole()}), rb.InputError, r"^Whole\(\) cannot be the method of a chain: its"),
        (lambda: rb.joints_by_chain({"a": rb.joints_by_chain({})}), rb.InputError, "cannot be the method of a chain"),
        (lambda: JointsByChain(methods=("a",)), rb.InputError, r"are \('a',\); they must be pairs of name and method"),
    ],
)
def test_wrong_methods_are_told_at_once(call: Any, kind: Any, message: str) -> None:
    with pytest.raises(kind, match=message):
        call()


@pytest.mark.parametrize(
    "method",
    [
        Direct(loops="cut", rounds=7),
        rb.joints_by_chain({"short_1": Iterative(sweeps=9), "long_pin_0": Direct(loops="cut")}, default="iterative"),
    ],
)
def test_a_saved_simulation_keeps_its_methods(method: Any, tmp_path: Any) -> None:
    sim = rb.Simulation(ropes(*ROPES), joints=method)
    sim.step(5)
    sim.save(tmp_path / "x.npz")
    twin = rb.load(tmp_path / "x.npz")
    assert twin.methods.joints == sim.methods.joints == method
    for each in (sim, twin):
        each.step(20)
    assert twin.hash() == sim.hash()


def test_a_method_of_ones_own_inside_cannot_be_saved(tmp_path: Any) -> None:
    class Own(Direct):
        """A joint method off the menu."""

    sim = rb.Simulation(ropes("short"), joints=rb.joints_by_chain({"short_0": Own()}))
    with pytest.raises(rb.InputError, match=r"^The joint method .*Own\(.*\) is not on the menu, so a state file"):
        sim.save(tmp_path / "x.npz")
