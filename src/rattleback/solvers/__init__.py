"""Methods that find impulses: one file each, on rows only."""
