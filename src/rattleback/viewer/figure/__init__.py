"""The page of a figure: its clips played and blended, its skin and skeleton, a crowd of it, and how it falls."""
