"""What the page draws: bodies, ground, joints, contacts, arrows and trails, each a part with a tick box."""
