"""What a method of loop closure hands back."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Flags = NDArray[np.bool_]


class Found(NamedTuple):
    """Conformations of a loop.

    Attributes:
        q: Dihedrals (n, joints) [rad].
        start: The start each came from (n,).
        miss: Distance of the end from the anchor, root of the mean square (n,) [Å].
        closed: Whether that is within the method's tolerance (n,).
    """

    q: NDArray[np.float64]
    start: NDArray[np.int64]
    miss: NDArray[np.float64]
    closed: Flags
