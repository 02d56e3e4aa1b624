"""Inputs of a contact problem: the contacts found, their memory, the surfaces, and the limits."""

import warp as wp

from rattleback.core.precision import real
from rattleback.model.body_impulses import BodyImpulses
from rattleback.model.contact_memory import ContactMemory
from rattleback.model.contacts import Contacts
from rattleback.model.model import Bodies
from rattleback.model.surfaces import PairRules, Surfaces


@wp.struct
class ContactLimits:
    """Tolerances and speeds of contacts, of every world.

    Steps aim at penetrations of at most ``depth`` [m] and residuals of at most ``speed`` [m/s]; those that end above
    ``deepest`` [m] or ``fastest`` [m/s] are reported. Below ``slow`` [m/s] static friction acts; above ``rebound``
    [m/s] points collide. Position correction removes ``correction_share`` of an excess, at ``correction_speed`` [m/s]
    at most. Where ``frictionless`` is 1, points neither rub nor resist rolling.
    """

    depth: wp.array[real]
    speed: wp.array[real]
    deepest: wp.array[real]
    fastest: wp.array[real]
    slow: wp.array[real]
    rebound: wp.array[real]
    correction_share: real
    correction_speed: real
    frictionless: wp.int32


@wp.struct
class ContactInputs:
    """Inputs of the manifolds: contacts, their memory, surfaces, limits, and bodies.

    Where ``adds`` is 1, on one thread, impulses are added to their bodies as they are stored.
    """

    contacts: Contacts
    memory: ContactMemory
    surfaces: Surfaces
    rules: PairRules
    limits: ContactLimits
    bodies: Bodies
    impulses: BodyImpulses
    adds: wp.int32
