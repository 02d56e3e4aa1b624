"""Characters: skeletons, the clips that move them and the skins that they carry."""

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
from rattleback.characters.ragdoll.muscles import Muscles
from rattleback.characters.skeleton import Joint, Skeleton
from rattleback.characters.skin import Skin
from rattleback.characters.track import Track
from rattleback.characters.tubes import tube_skin

__all__ = [
    "Clip",
    "Cycle",
    "Figure",
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
    "blend",
    "layer",
    "load",
    "mix",
    "person",
    "planted",
    "reached",
    "retarget",
    "tube_skin",
]
