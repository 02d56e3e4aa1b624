"""Presets: what they say, that they give way to what is said beside them, and what each of them buys."""

import json
import warnings
from typing import Any

import numpy as np
import pytest

import rattleback as rb
from rattleback import presets, scenes
from rattleback.cli.main import main
from rattleback.settings import Settings

pytestmark = pytest.mark.contacts


def heap(**settings: Any) -> rb.Simulation:
    """Cubes that fall on each other."""
    return rb.Simulation(scenes.cubes_1000(2, 3, spacing=1.6), time_step=1.0 / 60.0, **settings)


def test_balanced_is_what_a_simulation_does_without_a_preset() -> None:
    plain, named = rb.Simulation(scenes.tower(2)), rb.Simulation(scenes.tower(2), preset="balanced")
    assert named.methods == plain.methods
    assert (named.strict, named.warn, named.time_step) == (plain.strict, plain.warn, plain.time_step)
    for sim in (plain, named):
        sim.step(20)
    assert named.hash() == plain.hash()


def test_every_preset_says_all_that_any_of_them_says() -> None:
    said = [set(presets.with_preset({"preset": name})) for name in presets.MENU]
    assert all(names == said[0] for names in said)
    assert said[0] <= set(Settings.__annotations__)
    assert list(presets.CONTACT_PARTS) == list(presets.JOINT_TOLERANCE) == list(presets.MENU)


@pytest.mark.parametrize("name", presets.MENU)
def test_a_preset_takes_the_place_of_another_on_a_running_scene(name: str) -> None:
    wanted = rb.Simulation(scenes.tower(2), preset=name)
    for before in presets.MENU:
        sim = rb.Simulation(scenes.tower(2), preset=before)
        sim.step()
        sim.use(preset=name)
        assert sim.methods == wanted.methods
        assert sim.warn == wanted.warn
        sim.step()
        assert sim.report.contact_velocity_tolerance == wanted.report.contact_velocity_tolerance


def test_what_is_said_beside_a_preset_goes_before_it() -> None:
    own = rb.contacts.Impulse(solver=rb.contacts.BlockGaussSeidel(sweeps=7))
    sim = rb.Simulation(
        scenes.tower(2), preset="fast", contacts=own, substeps=3, sleep=False, penetration_tolerance=0.5
    )
    assert sim.methods.contacts == own
    assert (sim.methods.substeps, sim.methods.sleep, sim.methods.max_iterations) == (3, False, 4)
    assert sim.report.penetration_tolerance == 0.5
    sim.use(max_iterations=9)
    assert (sim.methods.preset, sim.methods.contacts, sim.methods.max_iterations) == ("fast", own, 9)


def test_a_wrong_name_lists_the_menu() -> None:
    with pytest.raises(rb.UnknownName, match=r"no preset 'fats'. Did you mean 'fast'\? The menu: 'accurate', 'balanc"):
        rb.Simulation(scenes.tower(2), preset="fats")
    sim = rb.Simulation(scenes.tower(2))
    with pytest.raises(rb.UnknownName, match="no preset 3"):
        sim.use(preset=3)  # type: ignore[arg-type]
    assert sim.methods.preset == "balanced"


def test_contact_tolerances_are_parts_of_the_size_of_what_moves() -> None:
    for name, (deep, quick) in presets.CONTACT_PARTS.items():
        for size in (0.1, 10.0):
            scene = rb.Scene()
            scene.add_static(rb.Plane(), name="ground")
            scene.add_body(rb.Box(size, size, size), position=(0, 0, size), name="cube")
            report = rb.Simulation(scene, preset=name, contact_distance=1e-3 * size).report
            assert report.penetration_tolerance == pytest.approx(deep * 1e-3 * size)
            assert report.contact_velocity_tolerance == pytest.approx(quick * np.sqrt(2 * 9.81 * 1e-3 * size))


def test_a_file_keeps_the_preset_and_goes_on_bit_for_bit(tmp_path: Any) -> None:
    sim = heap(preset="fast", substeps=3)
    sim.step(30)
    sim.save(tmp_path / "half.rb.npz")
    loaded = rb.load(tmp_path / "half.rb.npz")
    assert loaded.methods == sim.methods
    assert loaded.warn is False
    for one in (sim, loaded):
        one.step(10)
    assert loaded.hash() == sim.hash()


@pytest.mark.parametrize("name", ["accurate", "balanced"])
def test_a_step_outside_its_tolerance_is_told_by_a_warning(name: str) -> None:
    sim = heap(
        preset=name,
        contact_velocity_tolerance=1e-13,
        contacts=rb.contacts.Impulse(solver=rb.contacts.BlockGaussSeidel(sweeps=1)),
    )
    with pytest.warns(rb.NotConvergedWarning):
        sim.step(60)


def test_fast_tells_its_error_in_the_report_alone_unless_it_is_asked_to_warn_or_to_be_strict() -> None:
    sim = heap(preset="fast", contact_velocity_tolerance=1e-13, penetration_tolerance=0.01)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        sim.step(60)
    assert not sim.report.converged
    assert f"after {sim.report.contact_sweeps} sweeps" in sim.report.reason
    assert sim.report.contact_sweeps in (7, 8)
    sim.use(warn=True)
    with pytest.warns(rb.NotConvergedWarning):
        sim.step(5)
    sim.use(strict=True)
    with pytest.raises(rb.NotConverged):
        sim.step(5)


@pytest.mark.parametrize("value", ["yes", 1])
def test_warn_is_true_or_false(value: Any) -> None:
    with pytest.raises(rb.InputError, match="warn is .* it must be True or False"):
        rb.Simulation(scenes.tower(2), warn=value)


def test_accurate_keeps_a_tower_within_tighter_tolerances_than_balanced() -> None:
    tight, usual = (rb.Simulation(scenes.tower(8), preset=name, strict=True) for name in ("accurate", "balanced"))
    start = tight.state.position
    tight.step(50)
    assert tight.report.contact_velocity_tolerance < usual.report.contact_velocity_tolerance
    assert np.abs(tight.state.position - start).max() < 1e-5
    assert np.abs(tight.state.velocity).max() < 10 * tight.report.contact_velocity_tolerance


def test_accurate_holds_a_chain_to_its_tolerance() -> None:
    sim = rb.Simulation(scenes.chain(10), preset="accurate", strict=True)
    sim.step(50)
    assert 0.0 < sim.report.position_error <= presets.TIGHT == sim.report.position_tolerance


def test_fast_does_no_more_than_a_few_sweeps_and_corrections() -> None:
    sim = heap(preset="fast", contact_velocity_tolerance=1e-13)
    most = 0
    for _ in range(60):
        sim.step()
        most = max(most, sim.report.contact_sweeps)
    assert most in (7, 8)
    swinging = rb.Simulation(scenes.slider_crank(), time_step=1.0 / 30.0, preset="fast", position_tolerance=1e-14)
    swinging.step(30)
    assert swinging.report.iterations == 4


def test_books_stand_or_fall_with_every_preset_as_their_overhang_says() -> None:
    for name in presets.MENU:
        for part, falls in ((0.9, False), (1.1, True)):
            sim = rb.Simulation(scenes.book_stack(6, part), time_step=1.0 / 60.0, preset=name, warn=False)
            start = sim.state.position
            sim.run(1.0)
            moved = np.linalg.norm(sim.state.position - start, axis=1).max()
            assert bool(moved > 0.1) is falls, (name, part, moved)
            assert falls or moved < 0.005


def test_the_command_line_takes_presets_and_sub_steps(capsys: Any) -> None:
    assert main(["run", "tower", "cubes=2", "--duration", "0.02", "--preset", "fast", "--substeps", "3", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    entry = scenes.MENU["tower"]
    sim = rb.Simulation(
        scenes.tower(2), time_step=entry.time_step, integrator=entry.integrator, preset="fast", substeps=3
    )
    sim.run(0.02)
    assert found["hash"] == sim.hash()
    assert main(["run", "tower", "--preset", "quick"]) == 1
    assert "no preset 'quick'" in capsys.readouterr().err


@pytest.mark.parametrize(("name", "speed"), [("balanced", 4e-4), ("fast", 1e-6)])
def test_columns_that_lean_on_each_other_come_to_rest(name: str, speed: float) -> None:
    sim = rb.Simulation(scenes.cubes_1000(4, 6), time_step=1.0 / 60.0, preset=name, sleep=False, warn=False)
    sim.step(600)
    assert np.abs(sim.state.velocity).max() < speed
