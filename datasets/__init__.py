"""Data sets with checksummed sources, stand-ins and feature costs."""
