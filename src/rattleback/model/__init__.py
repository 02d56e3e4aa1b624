"""Scene, model and state: what the user builds, the arrays it compiles into, and what changes as time goes on."""

from rattleback.model.body import Body
from rattleback.model.material import Material
from rattleback.model.measure import Energy, Momentum
from rattleback.model.scene import Scene
from rattleback.model.state import State

__all__ = ["Body", "Energy", "Material", "Momentum", "Scene", "State"]
