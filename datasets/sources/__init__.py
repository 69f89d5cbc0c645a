"""Where files come from: cache, mirror, address, wheel; and how they are read."""
