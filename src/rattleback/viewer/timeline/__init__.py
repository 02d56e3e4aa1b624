"""The timeline: what was shown is kept, can be looked at again, and gone on from."""
