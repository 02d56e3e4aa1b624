"""Speculative contacts: contact points created before the surfaces touch, for pairs that may touch within the step.

``boxes`` stretches the AABBs of colliders by their motion. ``new_impacts`` and ``chained_impacts`` bound how far an
impact within the step can move a body. ``speculative`` turns both into a speculative margin for every pair.
"""
