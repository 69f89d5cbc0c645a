"""One kind of array for a kernel: numba compiles it anew for each that it is called with."""

from __future__ import annotations

import numpy as np


def read_only(values: np.ndarray) -> np.ndarray:
    """View that cannot be written to, as columns of tables and mapped files cannot."""
    view = values.view()
    view.setflags(write=False)  # sooner done than by an object of flags
    return view
