"""The gallery and its links: every scene has its card; a link opens what the command line would, or says why not."""

import urllib.parse
from argparse import Namespace
from itertools import chain

import pytest

import rattleback as rb
from rattleback.cli.sources import open_source
from rattleback.core.errors import RattlebackError
from rattleback.scenes import MENU
from rattleback.scenes.parameters import parameters_of
from rattleback.viewer.drawing.bodies import Bodies
from rattleback.viewer.front import OWN, Front, reply
from rattleback.viewer.gallery.cards import GROUPS, PICTURES, cards, picture_of
from rattleback.viewer.gallery.link import COUNTS, NUMBERS, PACE, SCENE, TICKS, Link, read_link
from rattleback.viewer.gallery.sheets import Sheets
from rattleback.viewer.panels.control import Control
from rattleback.viewer.panels.scenes import Scenes


def test_every_scene_of_the_list_has_a_card_with_a_picture_and_all_of_them_are_small():
    assert sorted(chain(*GROUPS.values())) == sorted(MENU)
    assert all(picture_of(name)[:3] == b"\xff\xd8\xff" for name in MENU)
    assert sorted(path.stem for path in PICTURES.iterdir()) == sorted(MENU)
    assert sum(path.stat().st_size for path in PICTURES.iterdir()) < 600_000
    assert cards().count("data-scene=") == len(MENU)
    assert picture_of("../../front") is None


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("scene=walll", "no scene 'walll'. Did you mean 'wall'"),
        ("scene=wall&scene=tree", "says something twice"),
        ("scene=wall&bricks=3", "cannot say 'bricks'"),
        ("scene=tree&depth=three", "'depth' of the scene 'tree' is 'three'; it must be a whole number"),
        ("scene=tree&time_step=fast", "time_step=fast; it must be a number"),
        ("scene=tree&time_step=nan", "must be a number"),
        ("scene=tree&substeps=1.5", "must be a whole number"),
        ("scene=tree&joints=direkt", "not on the menu. Did you mean 'direct'"),
        ("scene=tree&integrator=os:system", "not on the menu"),
        ("scene=tree&sleep=maybe", "must be true or false"),
        ("scene=tree&pace=0", "must be more than zero"),
        ("scene=tree&x=" + 5000 * "a", "too long"),
    ],
)
def test_a_link_is_read_as_strictly_as_the_command_line(query, said):
    with pytest.raises(RattlebackError) as refused:
        read_link(query)
    assert said in str(refused.value)


def test_what_asks_for_no_scene_is_no_link():
    assert read_link("websocket=1&darkMode") is None


def test_a_parameter_with_the_name_of_a_setting_is_the_parameter_and_the_setting_has_dashes():
    assert not [
        name for name in MENU if {*NUMBERS, *COUNTS, *TICKS, PACE, SCENE} & parameters_of(MENU[name].build).keys()
    ]
    link = Link("bounces", {"restitution": 0.5}, {"restitution": "poisson"})
    assert link.query == "scene=bounces&restitution=0.5&--restitution=poisson"
    assert read_link(link.query) == link
    with pytest.raises(rb.InputError, match="twice"):
        read_link("scene=tree&joints=direct&--joints=direct")


def test_a_link_and_the_command_line_make_the_same_bits():
    link = read_link("scene=tree&depth=3&joints=iterative&integrator=rk4&time_step=0.01&substeps=2")
    words = {"target": "tree", "parameters": ["depth=3"], "joints": "iterative", "integrator": "rk4"}
    sims = [link.make("cpu"), open_source(Namespace(**words, time_step=0.01, substeps=2))[0]]
    for sim in sims:
        sim.warn = False
        sim.step(5)
    assert sims[0].hash() == sims[1].hash()


def lightened(scene):
    made = scene.copy()
    made.gravity = rb.Scene((0, 0, -1)).gravity
    return made


@pytest.fixture
def window(open_page):
    return open_page(rb.Simulation(MENU["pendulum"].build(), time_step=0.01), Sheets, Scenes)


def test_the_link_of_what_is_shown_opens_it_again_with_the_settings_it_has_now(window):
    session, opener = window.session, window.opener
    with pytest.raises(rb.InputError, match="not one of the list as it comes"):
        opener.link()
    opener.open(Link("tree", {"depth": 3}, paused=True)).result()
    session.do(lambda sim: sim.use(joints="iterative", position_tolerance=1e-5, time_step=0.02)).result()
    link = opener.link()
    assert urllib.parse.parse_qs(link.query) == {
        "scene": ["tree"], "depth": ["3"], "joints": ["iterative"], "position_tolerance": ["1e-05"],
        "time_step": ["0.02"],
    }  # fmt: skip
    assert link.command == "rattleback view tree depth=3 --time-step 0.02 --joints iterative --position-tolerance 1e-05"
    again, now = read_link(link.query).make("cpu"), session.frame.picture
    assert (type(again.methods.joints), again.methods.tolerances) == (type(now.methods.joints), now.methods.tolerances)
    session.rebuild(lambda scene: scene.copy(), then=lambda sim: None).result()
    assert opener.link() == link
    session.rebuild(lightened).result()
    with pytest.raises(rb.InputError, match="it was edited"):
        opener.link()


def test_a_link_opens_behind_the_key_and_only_where_the_page_or_the_user_leads_to_it(window, visitor, until):
    session, key = window.session, {"Cookie": visitor.key(window)}
    assert visitor.ask(window, "/?scene=bounces")[0] == 403
    assert visitor.ask(window, "/?scene=bounces", **key, **{"Sec-Fetch-Site": "same-site"})[0] == 200
    assert visitor.ask(window, "/rattleback/open?scene=bounces", **key)[0] == 403
    assert visitor.ask(window, "/?scene=nothing", **key)[0] == 400
    assert session.do(lambda sim: sim.scene.name).result() == ["pendulum"]
    status, headers = visitor.ask(window, "/?scene=bounces&paused=true", **key)
    assert (status, headers["Location"]) == (303, "/")
    until(lambda: session.frame.picture.scene.name == "bounces")
    assert visitor.ask(window, "/rattleback/open?scene=cradle", **key, **{OWN: "page"})[0] == 200
    until(lambda: session.frame.picture.scene.name == "cradle" and session.frame.playing)


def test_the_token_is_exchanged_and_the_link_stays():
    from rattleback.viewer.gate import Gate

    gate = Gate(word="a-word-of-one-s-own")
    answer = gate.judge("/?scene=wall&token=a-word-of-one-s-own&x=%0d%0aA", {"Host": "localhost"})
    assert dict(answer.headers)["Location"] == "/?scene=wall&x=%0D%0AA"


def test_what_has_an_effect_is_done_for_the_page_only_and_refusals_cannot_write_into_it():
    front, done = Front("a"), []
    front.serve("act", lambda rest, query: done.append(query) or reply("done"), acts=True)
    assert front.answer("/rattleback/act?1", {}).status == 403
    assert front.answer("/rattleback/act?1", {OWN: "page"}).status == 200
    assert done == ["1"]
    assert front.answer("/rattleback/nothing").status == 404
    front.open_link = read_link
    refused = front.answer("/?scene=<script>alert(1)</script>")
    assert refused.status == 400
    assert "<script>" not in refused.text
    asked = front.answer('/?scene=a"><script>', {"Sec-Fetch-Site": "cross-site"})
    assert "<script>" not in asked.text


@pytest.mark.slow
def test_the_gallery_is_searched_and_a_click_opens_and_runs_the_scene(open_page, visit, keep, until):
    window = open_page(rb.Simulation(MENU["pendulum"].build(), time_step=0.01), Bodies, Sheets, Control)
    window.front.greets = True
    page = visit(window.address, 900, 600)
    page.locator("[data-scene=wall] img").wait_for()
    page.get_by_label("Search scenes").fill("newton")
    assert page.locator("[data-scene]:visible").count() == 1
    keep(page, "gallery")
    page.locator("[data-scene=cradle]").click()
    until(lambda: window.session.frame.picture.scene.name == "cradle" and window.session.frame.time > 0.0, 30.0)
    page.locator("#rattleback-sheet").wait_for(state="detached")
    page.keyboard.press("?")
    page.get_by_text("look at a body").wait_for()
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Link").click()
    page.get_by_text("rattleback view cradle").wait_for()
