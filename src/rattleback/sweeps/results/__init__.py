"""What came of a sweep: read from its store, as a table, as arrays over variants and time, as pictures."""
