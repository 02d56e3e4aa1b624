"""The step of ``joints="reduced"``: trees of joints moved by the implicit midpoint rule in their own coordinates."""
