"""Figures for sentences: a value beside the limit that it exceeds, with as many digits as it takes to see that."""

# Digits that are enough for a reader, and those that tell any two numbers apart.
USUAL, ALL = 3, 17


def told_apart(value: float, limit: float) -> tuple[str, str]:
    """Two numbers with three digits each, or with more where they would look the same.

    Args:
        value: What is beyond the limit.
        limit: The limit.
    """
    for digits in range(USUAL, ALL):
        texts = f"{value:.{digits}g}", f"{limit:.{digits}g}"
        if texts[0] != texts[1]:
            return texts
    return f"{value:.{ALL}g}", f"{limit:.{ALL}g}"
