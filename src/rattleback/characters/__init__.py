"""Characters: skeletons, the clips that move them and the skins that they carry."""

from rattleback.characters.clip import Clip
from rattleback.characters.figure import Figure
from rattleback.characters.load import load
from rattleback.characters.pose import Pose
from rattleback.characters.skeleton import Joint, Skeleton
from rattleback.characters.skin import Skin
from rattleback.characters.track import Track

__all__ = ["Clip", "Figure", "Joint", "Pose", "Skeleton", "Skin", "Track", "load"]
