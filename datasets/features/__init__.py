"""Features computed from raw measurements such as images."""
