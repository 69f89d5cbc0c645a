"""Pure-NumPy references: one module per algorithm, in the order of its paper."""
