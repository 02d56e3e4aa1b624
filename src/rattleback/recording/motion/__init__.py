"""Motion for other programs: the bodies of a recording frame by frame, as animated glTF or as USD time samples."""
