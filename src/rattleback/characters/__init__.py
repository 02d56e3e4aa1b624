"""Characters: skeletons, the clips that move them and the skins that they carry."""

from rattleback.characters.acting.actor import Actor
from rattleback.characters.acting.aims import look_at, reach_for
from rattleback.characters.acting.anatomy import Anatomy, anatomy
from rattleback.characters.acting.hurdle import Hurdle
from rattleback.characters.clip import Clip
from rattleback.characters.figure import Figure
from rattleback.characters.load import load
from rattleback.characters.motion.blend import blend, layer, mix
from rattleback.characters.motion.cycle import Cycle
from rattleback.characters.motion.footing import Leg, planted
from rattleback.characters.motion.limb import Limb, reached
from rattleback.characters.motion.locomotion import Locomotion
from rattleback.characters.motion.retarget import retarget
from rattleback.characters.person import person
from rattleback.characters.pose import Pose
from rattleback.characters.ragdoll.doll import Ragdoll
from rattleback.characters.ragdoll.get_up import get_up
from rattleback.characters.ragdoll.muscles import Muscles
from rattleback.characters.skeleton import Joint, Skeleton
from rattleback.characters.skin import Skin
from rattleback.characters.track import Track
from rattleback.characters.tubes import tube_skin

__all__ = [
    "Actor",
    "Anatomy",
    "Clip",
    "Cycle",
    "Figure",
    "Hurdle",
    "Joint",
    "Leg",
    "Limb",
    "Locomotion",
    "Muscles",
    "Pose",
    "Ragdoll",
    "Skeleton",
    "Skin",
    "Track",
    "anatomy",
    "blend",
    "get_up",
    "layer",
    "load",
    "look_at",
    "mix",
    "person",
    "planted",
    "reach_for",
    "reached",
    "retarget",
    "tube_skin",
]
