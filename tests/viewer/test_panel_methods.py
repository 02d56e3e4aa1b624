"""The methods of a running simulation, swapped without a browser."""

from dataclasses import replace

import pytest

import rattleback as rb
from rattleback import presets, steps
from rattleback.collision import broadphase, narrowphase
from rattleback.integrators import MENU as INTEGRATORS
from rattleback.scenes import MENU
from rattleback.settings import CONTACT_TIMES
from rattleback.solvers import contacts, joints
from rattleback.solvers.contacts.kernels.laws import LAWS
from rattleback.solvers.contacts.restitution.impact import RESTITUTIONS
from rattleback.solvers.joints.levels import LEVELS, STABILISATIONS
from rattleback.steps.symmetric.scheme import ORDERS
from rattleback.viewer.panels.methods import MethodsPanel
from rattleback.viewer.panels.slots import AUTOMATIC, SLOTS, sweeps_of, with_impulse, with_sweeps

pytestmark = pytest.mark.contacts
OFFERED = {
    "preset": tuple(presets.MENU),
    "step": tuple(steps.MENU),
    "order": (*map(str, ORDERS), "none"),
    "joints": tuple(joints.MENU),
    "level": (*LEVELS, "none"),
    "stabilisation": STABILISATIONS,
    "contacts": tuple(contacts.MENU),
    "contact_solver": tuple(contacts.SOLVERS),
    "law": LAWS,
    "restitution": tuple(RESTITUTIONS),
    "integrator": tuple(INTEGRATORS),
    "broadphase": (AUTOMATIC, *broadphase.MENU),
    "narrowphase": tuple(narrowphase.MENU),
    "contact_time": CONTACT_TIMES,
}


@pytest.fixture
def panel(open_page):
    return open_page(rb.Simulation(MENU["chain"].build(), time_step=0.01), MethodsPanel).parts[0]


def held(panel, name):
    slot = next(slot for slot in SLOTS if slot.name == name)
    return slot.read(panel.session.frame.picture.methods)


def test_every_slot_offers_its_menu(panel):
    assert {name: control.handle.options for name, control in panel.slots.items()} == OFFERED


@pytest.mark.parametrize("name", OFFERED)
def test_every_choice_of_a_slot_is_applied_while_the_scene_runs(panel, person, until, name):
    handle = panel.slots[name].handle
    if name in ("level", "stabilisation"):
        panel.session.do(lambda sim: sim.use(joints="baraff", warn=False)).result()
        until(lambda: handle.value != "none")
    if name in ("step", "order"):
        first = {"contacts": "none", "step": "extrapolated" if name == "order" else "impulse"}
        panel.session.do(lambda sim: sim.use(**first, warn=False)).result()
        until(lambda: handle.value != "none")
    panel.session.play().result()
    for option in reversed(handle.options):
        person.turn(handle, option)
        until(lambda option=option: held(panel, name) == option)
        until(lambda option=option: handle.value == option)
    there = panel.session.frame.steps
    until(lambda: panel.session.frame.steps > there)
    assert not panel.session.notices


def test_a_choice_that_is_refused_goes_back_and_the_sentence_is_told(panel, person, until):
    handle = panel.slots["joints"].handle
    person.turn(handle, "nonsense")
    until(lambda: handle.value == "direct")
    assert "There is no joint method 'nonsense'" in panel.session.notices[-1].text
    assert panel.session.notices[-1].fault


@pytest.mark.parametrize(("name", "option"), [("level", "velocity"), ("stabilisation", "projection")])
def test_an_impulse_method_has_no_level_to_choose(panel, person, until, name, option):
    handle = panel.slots[name].handle
    assert handle.value == "none"
    person.turn(handle, option)
    until(lambda: handle.value == "none")
    assert f"'direct' has no {name} to choose; choose 'multipliers' or 'baraff' first" in panel.session.notices[-1].text


def test_controls_show_what_others_have_changed(panel, until):
    panel.session.do(lambda sim: sim.use(joints="iterative", sleep=True, max_iterations=7)).result()
    until(lambda: panel.slots["joints"].handle.value == "iterative")
    until(lambda: panel.sleep.handle.value is True)
    until(lambda: panel.effort.fields["max_iterations"].value == "7")


def test_a_method_from_elsewhere_goes_by_the_name_of_its_class(panel, until):
    class Mine(type(joints.MENU["iterative"]())):
        pass

    panel.session.do(lambda sim: sim.use(joints=Mine())).result()
    until(lambda: panel.slots["joints"].handle.value == "Mine")
    panel.session.do(lambda sim: sim.use(joints="direct")).result()
    until(lambda: panel.slots["joints"].handle.options == OFFERED["joints"])


def test_a_preset_changes_the_other_controls_and_gives_no_warnings(panel, person, until):
    person.turn(panel.slots["preset"].handle, "accurate")
    until(lambda: panel.effort.fields["substeps"].value == "8")
    until(lambda: panel.tolerances.fields["position_tolerance"].value == "1e-8")
    assert panel.session.do(lambda sim: sim.warn).result() == [False]


def test_the_law_of_collisions_stays_when_the_contact_method_changes(panel, person, until):
    person.turn(panel.slots["restitution"].handle, "poisson")
    until(lambda: held(panel, "restitution") == "poisson")
    person.turn(panel.slots["contacts"].handle, "shock")
    until(lambda: held(panel, "contacts") == "shock")
    assert held(panel, "restitution") == "poisson"


def test_without_impulses_there_is_no_law_to_choose_and_no_sweeps(panel, person, until):
    person.turn(panel.slots["contacts"].handle, "none")
    until(lambda: panel.slots["restitution"].handle.disabled)
    until(lambda: panel.effort.fields["sweeps"].value == "–")
    panel.effort.fields["sweeps"].value = "30"
    panel.effort.frame.submit()
    until(lambda: panel.session.notices)
    assert "has no impulses; choose one that has" in panel.session.notices[-1].text
    until(lambda: panel.effort.fields["sweeps"].value == "–")


def test_numbers_are_applied_together(panel, until):
    for name, text in {"substeps": "3", "max_iterations": "12", "sweeps": "30", "budget": "4"}.items():
        panel.effort.fields[name].value = text
    panel.effort.frame.submit()
    until(lambda: panel.session.frame.picture.methods.substeps == 3)
    methods = panel.session.frame.picture.methods
    assert (methods.max_iterations, sweeps_of(methods.contacts)) == (12, 30)
    assert panel.session.frame.budget_ms == 4.0
    panel.effort.fields["budget"].value = ""
    panel.effort.frame.submit()
    until(lambda: panel.session.frame.budget_ms is None)
    until(lambda: panel.effort.fields["budget"].value == "no limit")


def test_a_tolerance_of_contacts_can_be_set_and_left_to_the_scene_again(panel, until):
    field = panel.tolerances.fields["penetration_tolerance"]
    assert field.value == "auto"
    field.value = "1e-4"
    panel.tolerances.frame.submit()
    until(lambda: panel.session.frame.picture.methods.penetration_tolerance == 1e-4)
    field.value = "auto"
    panel.tolerances.frame.submit()
    until(lambda: panel.session.frame.picture.methods.penetration_tolerance is None)


def test_a_tolerance_that_is_refused_goes_back(panel, until):
    field = panel.tolerances.fields["position_tolerance"]
    field.value = "-1"
    panel.tolerances.frame.submit()
    until(lambda: field.value == "1e-6")
    assert "must be greater than zero" in panel.session.notices[-1].text


def test_sleep_is_a_tick_box(panel, person, until):
    person.turn(panel.sleep.handle, True)
    until(lambda: panel.session.frame.picture.methods.sleep)


def test_parameters_of_impulses_are_found_inside_of_shock_propagation():
    shock = contacts.ShockPropagation()
    assert sweeps_of(with_sweeps(shock, 7)) == 7
    assert with_impulse(shock, restitution="stronge") == replace(
        shock, inner=replace(shock.inner, restitution="stronge")
    )
    with pytest.raises(rb.InputError, match="has no impulses"):
        with_impulse(contacts.NoContacts(), restitution="newton")


def test_what_the_user_has_just_chosen_is_not_overwritten_by_the_frames_of_a_running_scene(panel, person, until):
    panel.session.play().result()
    handle = panel.slots["joints"].handle
    handle._impl.value = "iterative"  # as the message does, a moment before the page hears of it
    there = panel.session.frame.number
    until(lambda: panel.session.frame.number > there + 3)
    assert handle.value == "iterative"
    person.turn(handle, handle.value)
    until(lambda: held(panel, "joints") == "iterative")


def test_a_budget_ends_the_corrections_of_the_same_step_early(panel, until):
    session = panel.session
    session.wanted.add("report")
    session.do(lambda sim: sim.use(joints="iterative", position_tolerance=1e-14, max_iterations=2000)).result()
    session.step().result()
    until(lambda: session.frame.steps == 1)
    whole = session.frame.picture.report
    assert whole.converged
    session.reset().result()
    panel.effort.fields["budget"].value = "0.001"
    panel.effort.frame.submit()
    until(lambda: session.frame.budget_ms == 0.001)
    session.step().result()
    until(lambda: session.frame.steps == 1)
    cut = session.frame.picture.report
    assert not cut.converged
    assert cut.iterations < whole.iterations


def test_a_budget_of_nothing_is_refused(panel, until):
    field = panel.effort.fields["budget"]
    field.value = "-1"
    panel.effort.frame.submit()
    until(lambda: field.value == "no limit")
    assert "The budget is -1.0; it must be greater than zero." in panel.session.notices[-1].text
