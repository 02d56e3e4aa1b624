"""Files of characters: BVH and glTF, read and written."""
