"""Files: the layouts of Siconos read as they are written, sentences for wrong ones, and the format of the package."""

import numpy as np
import pytest
import scipy.sparse as sp

import rattleback as rb
from rattleback.lcp.files import read_text

DENSE = """3
1

0
3
3

3\t3

15 -1 -2
-3 14 1
-4 5 16

-1 2 3

0.1"""
BLOCKS = """2
2
1
4
4
3
2
2
2\t4\t
2 4
3
3
0 2 3
0 1 1
0
 1 2 3 4
1
 5 6 7 8
2
 9 1e1 11 12
-1 -2 -3 -4
0.5 0.25
1
"""
LCP = "2\n0\n2\n2\n2\t2\n  1 2\n 3 4\n-5 -6\n\nExample 4.4.7 of a book\n"


def test_a_dense_friction_file_is_read_column_by_column():
    problem = read_text(DENSE)
    np.testing.assert_array_equal(problem.W, [[15, -3, -4], [-1, 14, 5], [-2, 1, 16]])
    np.testing.assert_array_equal(problem.q, [-1, 2, 3])
    np.testing.assert_array_equal(problem.mu, [0.1])
    assert (problem.dimension, problem.remark) == (3, "")


def test_a_friction_file_of_blocks_is_read():
    problem = read_text(BLOCKS)
    wanted = [[1, 3, 5, 7], [2, 4, 6, 8], [0, 0, 9, 11], [0, 0, 10, 12]]
    np.testing.assert_array_equal(problem.W.toarray(), wanted)
    assert (problem.W.format, problem.W.blocksize, problem.dimension) == ("bsr", (2, 2), 2)
    np.testing.assert_array_equal(problem.mu, [0.5, 0.25])


def test_a_linear_complementarity_file_is_read_with_its_remark():
    problem = read_text(LCP)
    np.testing.assert_array_equal(problem.W, [[1, 3], [2, 4]])
    np.testing.assert_array_equal(problem.q, [-5, -6])
    assert problem.contacts == 0
    assert problem.remark == "Example 4.4.7 of a book"


def test_blocks_of_different_sizes_are_read():
    text = "3 1 3 3 4 2 2 2 3 2 3 3 4 0 2 4 0 1 0 1 0 1 2 3 4 1 5 6 2 7 8 3 9 -1 -1 -1"
    wanted = [[1, 3, 5], [2, 4, 6], [7, 8, 9]]
    np.testing.assert_array_equal(read_text(text).W.toarray(), wanted)


def test_white_space_does_not_matter():
    assert read_text("\r\n".join(DENSE.split())).W.tobytes() == read_text("  " + DENSE.replace("\n", " ")).W.tobytes()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "ends where its first number should stand"),
        ("hello world", "Word 1 of problem is 'hello'; it should be its first number"),
        ("7 9 3 1 2", r"begins with 7 and 9, then \[3, 1, 2\]"),
        ("-1 2", "its first number is from 0 to 1000000"),
        (DENSE[:-4], "ends after 0 of 1 numbers of the friction coefficients"),
        (DENSE.replace("14", "x14"), "'x14' in the matrix of problem is not a number"),
        (DENSE.replace("3\t3", "3\t2"), "is 2; the number of columns should be 3"),
        (DENSE.replace("0.1", "-0.1"), "does not hold a contact problem: mu of problem has a negative entry"),
        (DENSE.replace("15", "nan"), "does not hold a contact problem: W of problem"),
        (DENSE.replace("\n0\n", "\n2\n"), "the storage"),
        (BLOCKS.replace("2 4\n3\n3", "4 2\n3\n3"), "ends of the block columns of problem do not rise to the 4"),
        (BLOCKS.replace("0 2 3\n", "0 3 2\n"), "3 row starts and 3 block columns of problem do not fit its 3 blocks"),
        (BLOCKS.replace("0 1 1\n0", "0 1 7\n0"), "is 7; a block column is from 0 to 1"),
        (LCP[:14], "ends after 0 of 4 numbers of the matrix"),
    ],
)
def test_what_does_not_fit_is_named(text, message):
    with pytest.raises(rb.FileError, match=message):
        read_text(text)


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array, lambda W: sp.bsr_array(W, blocksize=(3, 3))])
def test_a_saved_problem_is_the_same_when_it_is_loaded(tmp_path, form):
    rng = np.random.default_rng(0)
    given = {"q": rng.normal(size=9), "mu": [0.5, 0.7], "free": 1, "compliance": np.arange(9.0), "dimension": 3}
    problem = rb.lcp.Problem(
        W=form(rng.normal(size=(9, 9))), **given, upper=[np.inf, 2.0, 3.0], remark="µ", name="mine"
    )
    problem.save(tmp_path / "problem.npz")
    again = rb.lcp.load(tmp_path / "problem.npz")
    for name in ("q", "mu", "lower", "upper", "compliance", "dense"):
        assert getattr(again, name).tobytes() == getattr(problem, name).tobytes(), name
    assert (again.free, again.name, again.remark) == (1, "mine", "µ")
    assert (again.storage, getattr(again.W, "format", "")) == (problem.storage, getattr(problem.W, "format", ""))


def test_files_that_are_none_are_refused(tmp_path):
    with pytest.raises(rb.FileError, match="cannot be read"):
        rb.lcp.load(tmp_path / "none.dat")
    (tmp_path / "noise.dat").write_bytes(bytes(range(128, 256)))
    with pytest.raises(rb.FileError, match="neither a text file of Siconos nor an .npz file"):
        rb.lcp.load(tmp_path / "noise.dat")
    np.savez(tmp_path / "other.npz", a=np.ones(3))
    with pytest.raises(rb.FileError, match="does not hold a contact problem"):
        rb.lcp.load(tmp_path / "other.npz")
    (tmp_path / "broken.npz").write_bytes(b"PK nothing")
    with pytest.raises(rb.FileError, match="does not hold a contact problem"):
        rb.lcp.load(tmp_path / "broken.npz")
    problem = rb.lcp.Problem(W=[[1.0]], q=[1.0])
    with pytest.raises(rb.FileError, match=r"does not end in \.npz"):
        problem.save(tmp_path / "problem.dat")
    operator = rb.lcp.Problem(W=lambda r: r, q=[1.0], diagonal=[1.0])
    with pytest.raises(rb.FileError, match="is an operator, which has no file"):
        operator.save(tmp_path / "problem.npz")
