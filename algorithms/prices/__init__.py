"""Prices as users write them: by the names of columns, and for groups of features."""
