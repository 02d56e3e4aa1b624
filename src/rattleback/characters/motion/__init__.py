"""Motion from clips: blending, gaits whose feet stay planted, layers and what is done on top of a clip."""
