"""The sums of the impulses of contact points over a step: where they are kept while contacts change their rows.

The sum of a contact is in its row of the memory. When contacts are found, that of a point whose row is another one now
waits beside it until what it did at the end of the step is known; of one that stays, as nearly all do, nothing moves.
"""

import warp as wp

from rattleback.core.precision import vec3
from rattleback.model.body_impulses import BodyImpulses, give
from rattleback.model.contact_memory import ADVANCED, SETTLED, ContactMemory
from rattleback.model.contacts import Contacts
from rattleback.model.model import Bodies
from rattleback.solvers.contacts.problem.manifolds import ContactSystem


@wp.func
def recall_impulses(contacts: Contacts, memory: ContactMemory, system: ContactSystem, k: int) -> None:
    """Impulses of a manifold in the step so far; zero where velocities were written since it was taken.

    Where a contact is in the row it was in, that stays there.
    """
    pending = memory.pending[system.manifolds.world[k]]
    for i in range(system.manifolds.count[k]):
        row = system.manifolds.contact[k] + i
        former = contacts.previous[row]
        if former == row and former < memory.count[0]:
            if pending != ADVANCED and pending != SETTLED:
                memory.impulse[row] = vec3()
        elif former >= 0 and pending == ADVANCED:
            system.points.given[system.manifolds.first[k] + i] = memory.impulse[former]
        else:
            system.points.given[system.manifolds.first[k] + i] = vec3()


@wp.func
def add_impulse(contacts: Contacts, memory: ContactMemory, system: ContactSystem, k: int, i: int, p: vec3) -> None:
    """Add an impulse of a point at the end of the step, world frame."""
    row = system.manifolds.contact[k] + i
    if contacts.previous[row] == row:
        memory.impulse[row] = memory.impulse[row] + p
    else:
        c = system.manifolds.first[k] + i
        system.points.given[c] = system.points.given[c] + p


@wp.func
def keep_impulse(contacts: Contacts, memory: ContactMemory, system: ContactSystem, k: int, i: int) -> None:
    """Store the sum of a point in the step, by the rows of the contacts found last."""
    row = system.manifolds.contact[k] + i
    if contacts.previous[row] != row:
        memory.impulse[row] = system.points.given[system.manifolds.first[k] + i]


@wp.func
def give_manifold(bodies: Bodies, impulses: BodyImpulses, system: ContactSystem, k: int, p: vec3) -> None:
    """Add an impulse of the world to the bodies of a manifold."""
    give(bodies, impulses, system.manifolds.body_a[k], system.manifolds.body_b[k], p)
