"""Islands of bodies that come to rest, and the contacts of bodies that sleep."""
