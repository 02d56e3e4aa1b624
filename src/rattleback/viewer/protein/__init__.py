"""The page of a protein: a click on a residue brings sliders for its dihedrals."""
