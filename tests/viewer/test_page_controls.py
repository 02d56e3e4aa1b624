"""The controls of the page in a real browser: what is clicked happens."""

import pytest

import rattleback as rb
from rattleback.scenes import MENU
from rattleback.viewer.panels.control import Control
from rattleback.viewer.panels.files import Files
from rattleback.viewer.panels.methods import MethodsPanel
from rattleback.viewer.panels.recording import Recording
from rattleback.viewer.panels.scenes import Scenes

pytestmark = pytest.mark.contacts
# Nothing is drawn: software WebGL takes its time.
PANELS = (Control, Scenes, MethodsPanel, Files, Recording)


@pytest.fixture
def tree(open_page):
    entry = MENU["tree"]
    return open_page(rb.Simulation(entry.build(depth=3), time_step=entry.time_step), *PANELS)


@pytest.fixture
def page(tree, visit):
    there = visit(tree.address, 600, 720)
    there.get_by_role("button", name="Play").wait_for()
    return there


def tab(page, name):
    page.get_by_text(name, exact=True).first.click()


def choose(page, label, option):
    page.get_by_label(label, exact=True).first.click()
    page.get_by_role("option", name=option, exact=True).click()


def test_play_pause_step_and_reset_work_when_clicked(tree, page, until, keep):
    session = tree.session
    page.get_by_role("button", name="Play").click()
    until(lambda: session.frame.time > 0.3)
    keep(page, "tab_run")
    page.get_by_role("button", name="Pause").click()
    until(lambda: not session.frame.playing)
    there = session.frame.steps
    page.get_by_role("button", name="Step", exact=True).click()
    until(lambda: session.frame.steps == there + 1)
    page.get_by_role("button", name="10 steps").click()
    until(lambda: session.frame.steps == there + 11)
    page.get_by_role("button", name="Reset").click()
    until(lambda: session.frame.steps == 0)
    page.get_by_text("0.000 s").wait_for()


def test_keys_run_and_pause_even_where_a_button_has_the_focus(tree, page, until):
    session = tree.session
    page.get_by_role("button", name="Play").click()
    until(lambda: session.frame.playing)
    page.keyboard.press("Space")
    until(lambda: not session.frame.playing)
    page.get_by_role("button", name="Play").wait_for()
    page.keyboard.press("Space")
    until(lambda: session.frame.playing)
    page.keyboard.press("Space")
    until(lambda: not session.frame.playing)
    there = session.frame.steps
    page.keyboard.press("n")
    until(lambda: session.frame.steps == there + 1)
    page.keyboard.press("r")
    until(lambda: session.frame.steps == 0)


def test_the_joint_method_is_switched_on_the_running_tree_and_it_goes_on(tree, page, until, keep):
    session = tree.session
    page.get_by_role("button", name="Play").click()
    until(lambda: session.frame.time > 0.1)
    tab(page, "Methods")
    choose(page, "Joints", "iterative")
    until(lambda: type(session.frame.picture.methods.joints).__name__ == "Iterative")
    there = session.frame.steps
    until(lambda: session.frame.steps > there + 5)
    keep(page, "tab_methods")
    choose(page, "Joints", "direct")
    until(lambda: type(session.frame.picture.methods.joints).__name__ == "Direct")
    there = session.frame.steps
    until(lambda: session.frame.steps > there + 5)
    assert session.frame.playing
    assert not [notice for notice in session.notices if notice.fault]


def test_a_number_that_is_typed_is_taken_by_enter_and_a_bad_one_goes_back_with_a_sentence(tree, page, until):
    session = tree.session
    tab(page, "Methods")
    field = page.get_by_text("Corrections", exact=True).locator("xpath=ancestor::div[.//input][1]//input")
    field.fill("7")
    field.press("Enter")
    until(lambda: session.frame.picture.methods.max_iterations == 7)
    # Nobody types on before the page has heard that 7 was taken.
    page.wait_for_timeout(500)
    field.fill("-1")
    field.press("Enter")
    page.get_by_text("max_iterations is -1; it must be at least 1.").wait_for()
    until(lambda: field.input_value() == "7")


def test_another_scene_is_opened_by_the_picker(tree, page, until, keep):
    session = tree.session
    page.get_by_text("Scenes", exact=True).click()
    choose(page, "Scene", "bounces")
    page.get_by_text("A ball let go above level ground").wait_for()
    keep(page, "tab_run_scenes")
    page.get_by_role("button", name="Open", exact=True).click()
    until(lambda: session.frame.picture.scene.name == "bounces")
    assert session.frame.time_step == MENU["bounces"].time_step
    page.get_by_role("button", name="Play").click()
    until(lambda: session.frame.steps > 3)


def test_undo_goes_back_to_the_save_point(tree, page, until, keep):
    session = tree.session
    session.step(4).result()
    tab(page, "Files")
    page.get_by_role("button", name="Save point").click()
    until(lambda: session.frame.save_points == 1)
    session.step(4).result()
    until(lambda: session.frame.steps == 8)
    keep(page, "tab_files")
    page.get_by_role("button", name="Undo").click()
    until(lambda: session.frame.steps == 4)


def test_states_and_pictures_are_downloaded_and_states_are_opened_again(tree, page, until, tmp_path):
    session = tree.session
    session.step(4).result()
    until(lambda: session.frame.steps == 4)
    tab(page, "Files")
    with page.expect_download() as waiting:
        page.get_by_role("button", name="Save state").click()
    waiting.value.save_as(tmp_path / "state.rb.npz")
    assert rb.load(tmp_path / "state.rb.npz").state.steps == 4
    with page.expect_download() as waiting:
        page.get_by_role("button", name="Picture of the view").click()
    waiting.value.save_as(tmp_path / "view.png")
    assert (tmp_path / "view.png").read_bytes().startswith(b"\x89PNG")
    session.reset().result()
    version = session.frame.version
    with page.expect_file_chooser() as choosing:
        page.get_by_role("button", name="Open file").click()
    choosing.value.set_files(tmp_path / "state.rb.npz")
    until(lambda: session.frame.version > version)
    assert session.frame.steps == 4
