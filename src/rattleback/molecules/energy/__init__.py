"""The energy of a protein over its dihedrals, and its minimum."""
