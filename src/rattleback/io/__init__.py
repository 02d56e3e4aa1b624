"""Files: scenes and states to and from disk."""
