"""The builder: a description becomes a scene, whatever file it came from."""
