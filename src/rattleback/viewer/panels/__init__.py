"""The controls of the page, by the tabs they are in."""
