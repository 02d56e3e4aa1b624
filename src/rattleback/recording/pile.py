"""A pile: the solids of one mould on the graphics card, all drawn by one call."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rattleback.recording.instances import COLUMNS, Castings, Spans

if TYPE_CHECKING:
    from numpy.typing import NDArray


class Pile:
    """The solids of one mould on the graphics card.

    Args:
        context: Where they are.
        batch: The solids.
        solid: The program that draws them lit.
        depth: The program that draws their depths.
    """

    def __init__(self, context: Any, batch: Castings | Spans, solid: Any, depth: Any) -> None:
        mould = batch.mould
        vertices = np.concatenate([mould.core, mould.edge, mould.normal], axis=1).astype(np.float32)
        mesh, index = context.buffer(vertices.tobytes()), context.buffer(mould.triangles.astype(np.int32).tobytes())
        self.batch, self._context, self._solid = batch, context, solid
        self._table = context.buffer(reserve=4 * COLUMNS * len(batch.body))
        lit = [
            (mesh, "3f 3f 3f", "core", "edge", "normal"),
            (self._table, "3f 4f 3f 1f 3f/i", "place", "turn", "size", "rounding", "colour"),
        ]
        plain = [
            (mesh, "3f 3f 12x", "core", "edge"),
            (self._table, "3f 4f 3f 1f 12x/i", "place", "turn", "size", "rounding"),
        ]
        self._lit = context.vertex_array(solid, lit, index)
        self._plain = context.vertex_array(depth, plain, index)
        self._parts = [self._lit, self._plain, self._table, mesh, index]

    def place(self, table: NDArray[np.float32], toward: NDArray[np.float64]) -> None:
        """Take over where the solids are; the nearest to the camera are drawn first and hide the others."""
        self._table.write(table[np.argsort(-table[:, :3] @ toward, kind="stable")].tobytes())

    def draw(self) -> None:
        """Draw them lit."""
        self._solid["stretched"] = self.batch.mould.stretched
        self._render(self._lit)

    def draw_depth(self) -> None:
        """Draw their depths only."""
        self._render(self._plain)

    def _render(self, array: Any) -> None:
        """Draw all of them, of closed ones only the sides that face the camera."""
        if self.batch.mould.closed:
            self._context.enable(self._context.CULL_FACE)
        else:
            self._context.disable(self._context.CULL_FACE)
        array.render(instances=len(self.batch.body))

    def release(self) -> None:
        """Give back their memory."""
        for part in self._parts:
            part.release()


def assign(program: Any, uniforms: dict[str, Any]) -> None:
    """Hand over values to those of a program's names that it uses; matrices as mathematics writes them."""
    for name, value in uniforms.items():
        if name in program:
            if isinstance(value, np.ndarray):
                program[name].write(np.asarray(value.T, dtype=np.float32).tobytes())
            else:
                program[name].value = value
