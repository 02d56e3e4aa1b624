"""Steps of high order: one symmetric step, done in several parts whose results are combined."""
