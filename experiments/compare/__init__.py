"""The command ``compare``: which method at which budget, on a table of one's own."""
