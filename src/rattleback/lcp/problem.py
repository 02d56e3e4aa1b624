"""A contact problem as pure mathematics: a matrix, a vector, bounds and friction coefficients, without bodies.

    u = W r + C r + q,   r ∈ K,   u complementary to r by the law

W Delassus matrix [1/kg], r impulses [N s], q velocities without impulses [m/s], u velocities [m/s], C diagonal
compliance [1/kg]. Rows come in this order: ``free`` rows of joints (r of any sign, u = 0), rows with bounds (r ≥ 0, or
``lower`` ≤ r ≤ ``upper``), then contacts of ``dimension`` rows each: the normal first, then one or two tangents. What
K is at a contact is a matter of the law (``lcp.laws``).
"""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from rattleback.core import checks
from rattleback.core.errors import InputError
from rattleback.lcp.matrix import apply_of, diagonal_of, read_matrix, storage_of

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import ArrayLike, NDArray


@dataclass(frozen=True, eq=False)
class Problem:
    """A contact problem: W, q, and what its rows are.

    Attributes:
        W: Delassus matrix [1/kg], shape (rows, rows): a dense array, a SciPy sparse matrix or array (block-sparse BSR
            keeps its blocks), or an operator: a function of an impulse vector, or an object with ``matvec``. It need
            not be symmetric. An operator needs ``diagonal``.
        q: Velocities without impulses [m/s], shape (rows,).
        mu: Friction coefficients, shape (contacts,), or one number for all; left out for a problem without contacts.
        dimension: Rows of a contact: 3 (normal and two tangents) or 2; found from the counts where they leave no doubt.
        free: Number of leading rows whose impulse may have any sign (equality rows of joints).
        lower: Lower bounds of the rows before the contacts [N s]; 0 where left out (and −∞ in free rows).
        upper: Upper bounds of the rows before the contacts [N s]; ∞ where left out.
        compliance: Diagonal added to W [1/kg]: one number, or one for each row; zero or more.
        diagonal: Entries of W at the diagonal [1/kg], needed of an operator only: shape (plain rows,) without contacts,
            (contacts, dimension, dimension) with contacts only, else a pair of both.
        name: Name for messages.
        remark: Text that came with the problem: its source, known solutions.
    """

    W: Any
    q: Any
    mu: Any = None
    _: KW_ONLY
    dimension: Any = None
    free: int = 0
    lower: Any = None
    upper: Any = None
    compliance: Any = 0.0
    diagonal: Any = None
    name: str = "problem"
    remark: str = ""

    def __post_init__(self) -> None:
        q = checks.array(self.q, (-1,), f"q of {self.name}")
        if not len(q):
            raise InputError(f"q of {self.name} is empty; a problem needs at least one row.")
        self._set("q", q)
        self._set("W", read_matrix(self.W, len(q), self.name))
        self._set_contacts()
        self._set_bounds()
        self._set("compliance", _compliance(self.compliance, len(q), self.name))
        self._set("diagonal", diagonal_of(self))
        for value in (self.q, self.mu, self.lower, self.upper, self.compliance, *self.diagonal):
            value.setflags(write=False)

    def _set(self, field: str, value: Any) -> None:
        object.__setattr__(self, field, value)

    def _set_contacts(self) -> None:
        """Check the friction coefficients and find the number of rows of a contact."""
        rows, name = len(self.q), self.name
        if self.dimension not in (None, 2, 3):
            raise InputError(f"The dimension of {name} is {self.dimension!r}; a contact has 3 rows, or 2 in the plane.")
        free = checks.count(self.free, f"The number of free rows of {name}", 0, rows)
        bounds = [value for value in (self.lower, self.upper) if value is not None]
        plain = np.size(bounds[0]) if bounds else free
        mu = np.zeros(0) if self.mu is None else np.asarray(self.mu)
        if mu.ndim == 0:
            mu = np.full(max(rows - plain, 0) // (self.dimension or 3), self.mu)
        mu = checks.array(mu, (-1,), f"mu of {name}").copy()
        if (mu < 0.0).any():
            raise InputError(f"mu of {name} has a negative entry, {mu.min():g}; friction is zero or more.")
        self._set("mu", mu)
        self._set("dimension", self.dimension or _dimension(rows, plain, len(mu), name))
        if self.dimension * len(mu) > rows:
            needed = self.dimension * len(mu)
            raise InputError(f"{name} has {rows} rows; {len(mu)} contacts of {self.dimension} rows need {needed}.")

    def _set_bounds(self) -> None:
        """Check the bounds of the rows before the contacts, and fill in those left out."""
        n, free = self.plain_rows, self.free
        if free > n:
            raise InputError(f"{self.name} has {free} free rows, but only {n} rows stand before its contacts.")
        lower = _bounds(self.lower, np.where(np.arange(n) < free, -np.inf, 0.0), f"lower of {self.name}")
        upper = _bounds(self.upper, np.full(n, np.inf), f"upper of {self.name}")
        wrong = np.flatnonzero((lower > upper) | (lower == np.inf) | (upper == -np.inf))
        if len(wrong):
            i = int(wrong[0])
            raise InputError(
                f"Row {i} of {self.name} has the bounds {lower[i]:g} and {upper[i]:g}; no impulse is between them."
            )
        if np.isfinite(lower[:free]).any() or np.isfinite(upper[:free]).any():
            raise InputError(f"A free row of {self.name} has a finite bound; a row with bounds is not free.")
        self._set("lower", lower)
        self._set("upper", upper)

    @property
    def size(self) -> int:
        """Number of rows."""
        return len(self.q)

    @property
    def contacts(self) -> int:
        """Number of contacts with friction."""
        return len(self.mu)

    @property
    def plain_rows(self) -> int:
        """Number of rows before the contacts: free rows and rows with bounds."""
        return self.size - self.contacts * self.dimension

    @property
    def storage(self) -> str:
        """How W is held: ``"dense"``, ``"sparse"`` or ``"operator"``."""
        return storage_of(self.W)

    @cached_property
    def apply(self) -> Any:
        """The function r ↦ W r + C r [m/s]."""
        return apply_of(self)

    def velocity(self, impulse: NDArray[np.float64]) -> NDArray[np.float64]:
        """Velocities u = W r + C r + q [m/s], shape (rows,)."""
        return self.apply(impulse) + self.q

    @cached_property
    def rho(self) -> NDArray[np.float64]:
        """Step ρ of every row [kg], shape (rows,): the number of rows of its block over the trace of its block.

        A block without a positive trace takes the mean of the others; 1 kg where there is none.
        """
        plain, blocks = self.diagonal
        means = np.concatenate([plain, np.trace(blocks, axis1=1, axis2=2) / self.dimension])
        good = means > 0.0
        fallback = float(means[good].mean()) if good.any() else 1.0
        steps = 1.0 / np.where(good, means, fallback)
        rho = np.concatenate([steps[: len(plain)], np.repeat(steps[len(plain) :], self.dimension)])
        rho.setflags(write=False)
        return rho

    @cached_property
    def dense(self) -> NDArray[np.float64]:
        """W with its compliance as a dense array [1/kg], shape (rows, rows); refused for an operator."""
        if self.storage == "operator":
            raise InputError(f"W of {self.name} is an operator; its entries are not known. Give it as an array.")
        whole = self.W.toarray() if sp.issparse(self.W) else np.array(self.W)
        whole[np.diag_indices(self.size)] += self.compliance
        return whole

    @cached_property
    def sparse(self) -> Any:
        """W with its compliance in compressed rows [1/kg]; refused for an operator."""
        if self.storage == "operator":
            raise InputError(f"W of {self.name} is an operator; its entries are not known. Give it as an array.")
        rows = sp.csr_array(self.W) + sp.dia_array((self.compliance[None, :], [0]), shape=(self.size, self.size))
        rows = sp.csr_array(rows)
        rows.sort_indices()
        return rows

    def save(self, path: str | Path) -> None:
        """Write the problem to an ``.npz`` file, which ``rb.lcp.load`` reads again."""
        from rattleback.lcp.files import save

        save(self, path)


def _dimension(rows: int, plain: int, contacts: int, name: str) -> int:
    """Rows of a contact, from the counts."""
    if not contacts:
        return 3
    fits = [d for d in (3, 2) if rows - plain == d * contacts]
    if not fits:
        raise InputError(
            f"{name} has {rows} rows, {plain} of them before the contacts, and {contacts} friction coefficients; "
            f"contacts need 3 or 2 rows each. Give dimension=, free=, lower= or upper=."
        )
    return fits[0]


def _bounds(given: ArrayLike | None, filled: NDArray[np.float64], what: str) -> NDArray[np.float64]:
    """Bounds as an array; infinities are allowed, NaN is not."""
    if given is None:
        return filled
    try:
        bounds = np.array(given, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(f"{what} is {given!r}; it must be made of numbers.") from None
    if bounds.ndim == 0:
        bounds = np.full(len(filled), float(bounds))
    if bounds.shape != filled.shape:
        raise InputError(f"{what} has shape {bounds.shape}; {len(filled)} rows stand before the contacts.")
    if np.isnan(bounds).any():
        raise InputError(f"{what} has an entry that is not a number.")
    return bounds


def _compliance(given: ArrayLike, rows: int, name: str) -> NDArray[np.float64]:
    """The compliance of every row."""
    values = checks.finite(given, f"compliance of {name}")
    if values.ndim == 0:
        values = np.full(rows, float(values))
    values = checks.array(values, (-1,), f"compliance of {name}").copy()
    if len(values) != rows:
        raise InputError(
            f"compliance of {name} has {len(values)} entries; it needs one, or one for each of {rows} rows."
        )
    if (values < 0.0).any():
        raise InputError(f"compliance of {name} has a negative entry, {values.min():g}; it is zero or more.")
    return values
