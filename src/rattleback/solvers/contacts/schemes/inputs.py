"""What a contact problem is made from: the contacts found, what is remembered of them, the surfaces, and the limits."""

import warp as wp

from rattleback.core.precision import real
from rattleback.model.body_impulses import BodyImpulses
from rattleback.model.contact_memory import ContactMemory
from rattleback.model.contacts import Contacts
from rattleback.model.model import Bodies
from rattleback.model.surfaces import PairRules, Surfaces


@wp.struct
class ContactLimits:
    """What contacts aim at: penetrations of at most ``depth`` [m], residuals of at most ``speed`` [m/s].

    Steps that end with more than ``deepest`` [m] or ``fastest`` [m/s] are reported.
    """

    depth: real
    speed: real
    deepest: real
    fastest: real
    slow: real
    rebound: real
    correction_share: real
    correction_speed: real


@wp.struct
class ContactInputs:
    """What the manifolds are made from: contacts, what is remembered of them, the surfaces, and the limits.

    Where ``adds`` is 1, on one thread, bodies get what their points have done as soon as that is kept.
    """

    contacts: Contacts
    memory: ContactMemory
    surfaces: Surfaces
    rules: PairRules
    limits: ContactLimits
    bodies: Bodies
    impulses: BodyImpulses
    adds: wp.int32
