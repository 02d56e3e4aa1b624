"""The page of a protein: sliders of the residue that is chosen, clicks, energy, and the way back."""

import numpy as np
import pytest

import rattleback as rb
from rattleback.core.errors import InputError, UnknownName
from rattleback.viewer.drawing.paint import painted
from rattleback.viewer.protein.page import ProteinPage

pytest.importorskip("viser")
pytest.importorskip("gemmi", reason="needs pip install 'rattleback[molecules]'")


@pytest.fixture
def open_protein():
    pages = []

    def go(*arguments, **wishes):
        pages.append(ProteinPage(*arguments, **wishes))
        assert pages[-1].settle()
        return pages[-1]

    yield go
    for page in pages:
        page.close()


@pytest.fixture
def helix():
    return rb.molecules.peptide("GAVLKSETPRNQDA", phi=-1.05, psi=-0.82)


class Click:
    """What the page says of a click: a ray."""

    def __init__(self, origin, direction):
        self.ray_origin, self.ray_direction = tuple(origin), tuple(direction)


def test_the_residue_that_is_clicked_gets_its_sliders(open_protein, helix):
    page = open_protein(helix)
    assert list(page.panel.sliders) == ["psi", "omega"]
    atom = helix.positions[helix.atom("A:5", "NZ")]
    away = atom - helix.positions.mean(axis=0)
    away /= np.linalg.norm(away)
    with pytest.raises(StopIteration):
        page._clicked(Click(atom + 50.0 * away, -away)).send(None)
    assert page.settle()
    assert page.panel.residue.value == "A:5 LYS"
    assert list(page.panel.sliders) == ["phi", "psi", "omega", "chi1", "chi2", "chi3", "chi4"]
    assert page.panel.sliders["chi1"].value == pytest.approx(np.degrees(helix.chi["A:5", 1]), abs=0.06)
    assert page.stage.pick(atom + 50.0 * away, away) is None


def test_a_slider_turns_the_protein_and_what_is_drawn(open_protein, helix):
    page = open_protein(helix, residue="A:5", style="sticks")
    before = np.array(page.stage._handles["/balls"].batched_positions)
    page.set("chi1", 100.0)
    page.set("psi", -20.0)
    assert page.settle()
    assert np.degrees(helix.psi["A:5"]) == pytest.approx(-20.0)
    after = np.array(page.stage._handles["/balls"].batched_positions)
    np.testing.assert_allclose(after, helix.drawing("sticks").balls.start, atol=1e-4)
    assert np.abs(after - before).max() > 1.0


def test_the_sliders_of_a_residue_that_is_chosen_later_turn_that_one(open_protein, helix, person):
    page = open_protein(helix, style="sticks")
    page.choose("A:7")
    person.turn(page.panel.sliders["chi1"], -65.0)
    assert page.settle()
    assert np.degrees(helix.chi["A:7", 1]) == pytest.approx(-65.0)
    first = page.panel.sliders["psi"]
    person.turn(page.panel.residue, "A:5 LYS")
    assert page.settle()
    assert page.panel.sliders["psi"] is not first
    person.turn(page.panel.sliders["chi4"], 40.0)
    assert page.settle()
    assert np.degrees(helix.chi["A:5", 4]) == pytest.approx(40.0)
    # Colours are those of the palette once the page has put them into its light.
    drawing, colours = helix.drawing("sticks"), page.stage._handles["/balls"].batched_colors
    seen = np.array([[int(c[k : k + 2], 16) for k in (1, 3, 5)] for c in drawing.balls.colour.tolist()])
    np.testing.assert_array_equal(colours, painted(seen))


def test_the_ring_of_proline_has_no_slider_for_phi(open_protein, helix):
    page = open_protein(helix, residue="A:9")
    assert list(page.panel.sliders) == ["psi", "omega"]


def test_energy_falls_and_the_file_comes_back(open_protein, helix):
    page = open_protein(helix, residue="A:5")
    first = helix.q
    energy = rb.molecules.TVH(helix).energy().total
    assert f"{energy:.1f} kcal/mol" in page.panel.reading.content
    page._worker.ask("minimise", lambda: page._minimise(10))
    assert page.settle()
    assert rb.molecules.TVH(helix).energy().total < energy
    page._worker.ask("turn", page._back)
    assert page.settle()
    np.testing.assert_array_equal(helix.q, first)
    assert f"{energy:.1f} kcal/mol" in page.panel.reading.content


def test_another_style_takes_the_place_of_the_one_before(open_protein, helix):
    page = open_protein(helix)
    assert any(name.startswith("/ribbon") for name in page.stage._handles)
    page.panel.style.value = "trace"
    page._worker.ask("turn", page._show)
    assert page.settle()
    assert not any(name.startswith("/ribbon") for name in page.stage._handles)
    assert {"/balls", "/sticks"} <= page.stage._handles.keys()


def test_nonsense_is_refused_before_anything_is_served(helix):
    with pytest.raises(InputError, match="The style of a protein is 'cartoon'"):
        ProteinPage(helix, style="cartoon")
    with pytest.raises(UnknownName, match="has no amino acid 'A:99'"):
        ProteinPage(helix, residue="A:99")
    with pytest.raises(InputError, match="a protein's page has no option 'styles'"):
        ProteinPage(helix, styles="ribbon")
