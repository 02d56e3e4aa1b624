"""What the mouse does in the scene: push a body, pull it by a spring, move it by a manipulator."""
