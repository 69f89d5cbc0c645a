"""Pure-NumPy references: one module per algorithm, in the order of its paper.

:mod:`reference.beyond` has what no paper here has.
"""
