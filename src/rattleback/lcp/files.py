"""Contact problems in files: the text files of Siconos, and an ``.npz`` of its own.

Text, numbers parted by any white space:

    LCP:       n, matrix, q of n numbers
    friction:  dimension (3 or 2), contacts, matrix, q, one μ for each contact
    matrix:    storage, rows, columns, then
      storage 0 (dense):   rows, columns once more, then all entries
      storage 1 (blocks):  number of blocks, block rows, block columns, ends of block rows, ends of block columns,
                           lengths of the two index lists, row starts, block columns, then each block: number, entries

Entries stand column by column, also where a file is laid out as if its lines were rows: the library that wrote these
files reads and writes the memory of a matrix that is stored by columns. Text behind the last number is kept as
``remark``. Counts that do not fit are refused with the place where they stand.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from rattleback.core import whole_file
from rattleback.core.errors import FileError, InputError
from rattleback.lcp.problem import Problem

if TYPE_CHECKING:
    from numpy.typing import NDArray

# A count beyond this is a wrong file, not a large problem.
MOST_ROWS = 1_000_000
FIELDS = ("q", "mu", "dimension", "free", "lower", "upper", "compliance", "name", "remark")


def load(path: str | Path) -> Problem:
    """Read a problem from a text file of Siconos or an ``.npz`` file written by ``Problem.save``.

    Args:
        path: The file.

    Raises:
        FileError: The file cannot be read, or its counts do not fit; the sentence says where.
    """
    content = whole_file.read(path, "contact problem")
    path = Path(path)
    if content[:2] == b"PK":
        return _load_npz(path)
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError:
        raise FileError(f"{path} is neither a text file of Siconos nor an .npz file of a contact problem.") from None
    return read_text(text, path.name)


def read_text(text: str, name: str = "problem") -> Problem:
    """The problem that a text describes.

    Args:
        text: The text of a file of Siconos.
        name: Name for messages and of the problem.
    """
    words = _Words(text.split(), name)
    first, second = words.count("its first number"), words.count("its second number")
    ahead = [words.peek(k) for k in range(3)]
    try:
        if first in (2, 3) and ahead[1] == ahead[2] == first * second and ahead[0] in (0, 1):
            return _read_friction(words, first, second)
        if second in (0, 1) and ahead[0] == ahead[1] == first:
            words.place = 1
            return _read_lcp(words, first)
    except InputError as error:
        raise FileError(f"{name} does not hold a contact problem: {error}") from None
    raise FileError(
        f"{name} begins with {first} and {second}, then {ahead}. A linear complementarity file begins with its size, "
        f"the storage (0 or 1) and the size twice; a friction file with 3 or 2, the number of contacts, the storage "
        f"(0 or 1) and the number of rows twice."
    )


@dataclass
class _Words:
    """The words of a text, read one after the other."""

    words: list[str]
    name: str
    place: int = 0

    def peek(self, ahead: int) -> int:
        """A whole number further on; −1 where there is none."""
        try:
            return int(self.words[self.place + ahead])
        except (IndexError, ValueError):
            return -1

    def count(self, what: str, most: int = MOST_ROWS) -> int:
        """The next word as a count."""
        if self.place >= len(self.words):
            raise FileError(f"{self.name} ends where {what} should stand.")
        word = self.words[self.place]
        try:
            value = int(word)
        except ValueError:
            raise FileError(f"Word {self.place + 1} of {self.name} is {word!r}; it should be {what}.") from None
        if not 0 <= value <= most:
            raise FileError(f"Word {self.place + 1} of {self.name} is {value}; {what} is from 0 to {most}.")
        self.place += 1
        return value

    def counts(self, number: int, what: str, most: int = MOST_ROWS) -> list[int]:
        """The next words as counts."""
        return [self.count(what, most) for _ in range(number)]

    def expect(self, value: int, what: str) -> None:
        """A count that is known already."""
        found = self.count(what)
        if found != value:
            raise FileError(f"Word {self.place} of {self.name} is {found}; {what} should be {value}.")

    def numbers(self, number: int, what: str) -> NDArray[np.float64]:
        """The next words as numbers."""
        part = self.words[self.place : self.place + number]
        if len(part) < number:
            raise FileError(f"{self.name} ends after {len(part)} of {number} numbers of {what}.")
        try:
            values = np.array(part, dtype=np.float64)
        except ValueError:
            wrong = next(word for word in part if not _is_number(word))
            raise FileError(f"{wrong!r} in {what} of {self.name} is not a number.") from None
        self.place += number
        return values


def _is_number(word: str) -> bool:
    try:
        float(word)
    except ValueError:
        return False
    return True


def _read_friction(words: _Words, dimension: int, contacts: int) -> Problem:
    """A friction file behind its first two numbers."""
    rows = dimension * contacts
    W = _read_matrix(words, rows)
    q = words.numbers(rows, "q")
    mu = words.numbers(contacts, "the friction coefficients")
    return Problem(W=W, q=q, mu=mu, dimension=dimension, name=words.name, remark=_remark(words))


def _read_lcp(words: _Words, rows: int) -> Problem:
    """A linear complementarity file behind its first number."""
    W = _read_matrix(words, rows)
    q = words.numbers(rows, "q")
    return Problem(W=W, q=q, name=words.name, remark=_remark(words))


def _remark(words: _Words) -> str:
    """What stands behind the numbers; a lone number there is the flag of a known solution, not a remark."""
    text = " ".join(words.words[words.place :])
    return "" if _is_number(text) else text


def _read_matrix(words: _Words, rows: int) -> Any:
    """The matrix, from its storage flag on."""
    storage = words.count("the storage, 0 or 1")
    words.expect(rows, "the number of rows")
    words.expect(rows, "the number of columns")
    if storage == 0:
        words.expect(rows, "the number of rows")
        words.expect(rows, "the number of columns")
        entries = words.numbers(rows * rows, "the matrix").reshape(rows, rows)
        return entries.T
    return _read_blocks(words, rows)


def _read_blocks(words: _Words, rows: int) -> Any:
    """A block-sparse matrix: BSR where all blocks have one size, else compressed rows."""
    number = words.count("the number of blocks")
    block_rows, block_columns = words.count("the block rows"), words.count("the block columns")
    ends_i = _ends(words, block_rows, rows, "row")
    ends_j = _ends(words, block_columns, rows, "column")
    starts_length, columns_length = words.count("a list length"), words.count("a list length")
    starts = words.counts(starts_length, "a row start", max(number, columns_length))
    columns = words.counts(columns_length, "a block column", max(block_columns - 1, 0))
    rising = starts_length == block_rows + 1 and starts == sorted(starts)
    if not rising or starts[-1] != number or columns_length != number:
        raise FileError(
            f"The {starts_length} row starts and {columns_length} block columns of {words.name} do not fit its "
            f"{number} blocks in {block_rows} block rows."
        )
    pieces = []
    for i in range(block_rows):
        for k in range(starts[i], starts[i + 1]):
            j = columns[k]
            words.count("the number of a block", number)
            tall, wide = ends_i[i + 1] - ends_i[i], ends_j[j + 1] - ends_j[j]
            pieces.append((ends_i[i], ends_j[j], words.numbers(tall * wide, f"block {k}").reshape(wide, tall).T))
    return _assemble(pieces, rows)


def _ends(words: _Words, number: int, rows: int, what: str) -> list[int]:
    """Where block rows or columns begin and end."""
    ends = [0, *words.counts(number, f"the end of a block {what}", rows)]
    if ends != sorted(set(ends)) or ends[-1] != rows:
        raise FileError(
            f"The ends of the block {what}s of {words.name} do not rise to the {rows} {what}s of the matrix."
        )
    return ends


def _assemble(pieces: list[tuple[int, int, NDArray[np.float64]]], rows: int) -> Any:
    """A sparse matrix of the pieces."""
    i = [np.repeat(first + np.arange(piece.shape[0]), piece.shape[1]) for first, _, piece in pieces]
    j = [np.tile(first + np.arange(piece.shape[1]), piece.shape[0]) for _, first, piece in pieces]
    values = [piece.ravel() for _, _, piece in pieces]
    none: list[NDArray[np.float64]] = [np.zeros(0)]
    where = (np.concatenate(i or none).astype(int), np.concatenate(j or none).astype(int))
    matrix = sp.csr_array(sp.coo_array((np.concatenate(values or none), where), shape=(rows, rows)))
    sizes = {piece.shape for _, _, piece in pieces}
    square = sizes.pop() if len(sizes) == 1 else (1, 1)
    return sp.bsr_array(matrix, blocksize=square) if square[0] == square[1] and square[0] in (2, 3) else matrix


def save(problem: Problem, path: str | Path) -> None:
    """Write a problem to an ``.npz`` file.

    Args:
        problem: The problem; its matrix must be an array, not an operator.
        path: The file; its name ends in ``.npz``.
    """
    path = Path(path)
    if path.suffix != ".npz":
        raise FileError(f"{path} does not end in .npz, the format of saved contact problems.")
    if problem.storage == "operator":
        raise FileError(f"W of {problem.name} is an operator, which has no file; give it as an array to save it.")
    fields = {name: getattr(problem, name) for name in FIELDS}
    if problem.storage == "dense":
        fields["W"] = problem.W
    else:
        W = problem.W
        fields |= {"data": W.data, "indices": W.indices, "indptr": W.indptr, "format": W.format}
    whole_file.write(path, lambda stream: np.savez_compressed(stream, **fields), "contact problem")


def _load_npz(path: Path) -> Problem:
    """A problem that ``save`` wrote."""
    try:
        with np.load(path, allow_pickle=False) as stored:
            found = {name: stored[name] for name in stored.files}
        given = {name: value.item() if value.ndim == 0 else value for name, value in found.items()}
        if "W" not in given:
            kind = {"bsr": sp.bsr_array, "csr": sp.csr_array}[given.pop("format")]
            n = len(given["q"])
            parts = tuple(given.pop(name) for name in ("data", "indices", "indptr"))
            given["W"] = kind(parts, shape=(n, n))
        # The lower bounds say which rows are free.
        return Problem(W=given["W"], **{name: given[name] for name in FIELDS})
    except (KeyError, ValueError, TypeError, OSError, EOFError) as error:
        raise FileError(f"{path} does not hold a contact problem: {error}") from None
