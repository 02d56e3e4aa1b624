"""Files: scenes as JSON text, running simulations as archives of arrays. Loaded on first use."""
