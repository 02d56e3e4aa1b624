"""The world as what bodies can be joined to."""

from rattleback.core.sealed import sealed


@sealed
class World:
    """The unmoving frame bodies can be attached to."""

    name = "world"

    def __repr__(self) -> str:
        return "<world>"
