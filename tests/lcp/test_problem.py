"""Problems: what they are made of, how W may be held, and the sentences for what does not fit."""

import numpy as np
import pytest
import scipy.sparse as sp

import rattleback as rb
from rattleback.core.errors import InputError


def random_problem(contacts=4, plain=3, free=2, seed=0):
    rng = np.random.default_rng(seed)
    n = plain + 3 * contacts
    J = rng.normal(size=(n, n + 3))
    return {
        "W": J @ J.T,
        "q": rng.normal(size=n),
        "mu": rng.uniform(0.2, 0.9, contacts),
        "free": free,
        "dimension": 3,
    }, n


def test_every_storage_gives_the_same_velocities_and_residuals():
    given, n = random_problem(plain=2)
    W = given.pop("W")
    plain, first = 2, 2 + 3 * np.arange(4)
    blocks = np.array([W[i : i + 3, i : i + 3] for i in first])
    r = np.random.default_rng(1).normal(size=n)
    forms = [
        rb.lcp.Problem(W=W, **given),
        rb.lcp.Problem(W=sp.csr_matrix(W), **given),
        rb.lcp.Problem(W=sp.coo_array(W), **given),
        rb.lcp.Problem(W=lambda x: W @ x, diagonal=(np.diag(W)[:plain], blocks), **given),
    ]
    assert [form.storage for form in forms] == ["dense", "sparse", "sparse", "operator"]
    for form in forms:
        np.testing.assert_allclose(form.velocity(r), W @ r + given["q"], atol=1e-13)
        assert rb.lcp.residual(form, r) == pytest.approx(rb.lcp.residual(forms[0], r), rel=1e-12)


def test_compliance_is_added_to_the_diagonal():
    given, n = random_problem()
    soft = rb.lcp.Problem(**given, compliance=0.25)
    r = np.arange(n) + 1.0
    np.testing.assert_allclose(soft.velocity(r), given["W"] @ r + 0.25 * r + given["q"], rtol=1e-14)
    np.testing.assert_allclose(soft.dense, given["W"] + 0.25 * np.eye(n))
    np.testing.assert_allclose(soft.sparse.toarray(), soft.dense)
    assert soft.diagonal[0][0] == given["W"][0, 0] + 0.25


def test_the_residual_of_a_frictionless_contact_is_its_velocity_or_its_gap():
    problem = rb.lcp.Problem(W=[[2.0]], q=[-3.0])
    assert rb.lcp.residual(problem, [0.0]) == 3.0
    assert rb.lcp.residual(problem, [1.5]) == 0.0
    assert rb.lcp.residual(problem, [2.0]) == 1.0
    assert rb.lcp.residual(problem, [-1.0]) == 5.0


def test_the_residual_of_a_free_row_is_its_velocity():
    problem = rb.lcp.Problem(W=[[2.0]], q=[-3.0], free=1)
    assert rb.lcp.residual(problem, [-1.0]) == 5.0
    assert rb.lcp.residual(problem, [2.0]) == 1.0


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"W": np.eye(3), "q": []}, "is empty"),
        ({"W": np.eye(2), "q": [1, 2, 3]}, "W must be 3x3"),
        ({"W": sp.eye_array(2), "q": [1, 2, 3]}, "W must be 3x3"),
        ({"W": [[np.nan]], "q": [1]}, "every entry must be finite"),
        ({"W": sp.csr_array([[np.inf]]), "q": [1]}, "not finite"),
        ({"W": np.eye(3), "q": [1, 2, 3], "mu": [-0.1]}, "friction is zero or more"),
        ({"W": np.eye(4), "q": np.ones(4), "mu": [0.1]}, "contacts need 3 or 2 rows each"),
        ({"W": np.eye(3), "q": np.ones(3), "mu": [0.1], "dimension": 4}, "3 rows, or 2 in the plane"),
        ({"W": np.eye(3), "q": np.ones(3), "mu": [0.1, 0.1], "dimension": 3}, "2 contacts of 3 rows need 6"),
        ({"W": np.eye(3), "q": np.ones(3), "free": 4}, "at most 3"),
        ({"W": np.eye(4), "q": np.ones(4), "mu": [0.1], "dimension": 3, "free": 2}, "only 1 rows stand before"),
        (
            {"W": np.eye(2), "q": np.ones(2), "lower": [1, 0], "upper": [0, 0]},
            "Row 0 of problem has the bounds 1 and 0",
        ),
        ({"W": np.eye(2), "q": np.ones(2), "lower": [1, 0, 2]}, "2 rows stand before the contacts"),
        ({"W": np.eye(2), "q": np.ones(2), "lower": [np.nan, 0]}, "not a number"),
        ({"W": np.eye(2), "q": np.ones(2), "lower": ["a", 0]}, "must be made of numbers"),
        ({"W": np.eye(2), "q": np.ones(2), "lower": [0, 0], "free": 1}, "a row with bounds is not free"),
        ({"W": np.eye(2), "q": np.ones(2), "compliance": -1.0}, "it is zero or more"),
        ({"W": np.eye(2), "q": np.ones(2), "compliance": np.ones(3)}, "it needs one, or one for each of 2 rows"),
        ({"W": lambda r: r, "q": np.ones(2)}, "it needs diagonal= as well"),
        ({"W": np.eye(2), "q": np.ones(2), "diagonal": np.ones(2)}, "leave diagonal= out"),
        ({"W": lambda r: r, "q": np.ones(4), "mu": [0.1], "free": 1, "diagonal": np.ones(4)}, "must be a pair"),
    ],
)
def test_what_does_not_fit_is_refused(given, message):
    with pytest.raises(InputError, match=message):
        rb.lcp.Problem(**given)


def test_what_is_asked_of_a_problem_is_checked():
    problem = rb.lcp.Problem(W=lambda r: r[:1], q=np.ones(2), diagonal=np.ones(2))
    with pytest.raises(InputError, match="must return one velocity for each row"):
        problem.velocity(np.zeros(2))
    for field in ("dense", "sparse"):
        with pytest.raises(InputError, match="its entries are not known"):
            getattr(problem, field)
    with pytest.raises(InputError, match="impulse of problem has 3 entries"):
        rb.lcp.residual(rb.lcp.Problem(W=np.eye(2), q=np.ones(2)), np.zeros(3))
    with pytest.raises(rb.UnknownName, match="There is no law 'coulom'. Did you mean 'coulomb'"):
        rb.lcp.residual(rb.lcp.Problem(W=np.eye(2), q=np.ones(2)), np.zeros(2), law="coulom")
