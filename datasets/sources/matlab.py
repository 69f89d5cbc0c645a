"""Read one array of bytes from a MATLAB file (version 5), and nothing else that may be in it."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from datasets.errors import DamagedData


def read_bytes(path: Path, name: str, shape: tuple[int, ...]) -> np.ndarray:
    """Read the only variable of a file: an array of bytes of a known shape."""
    from scipy.io import loadmat, whosmat

    expected = [(name, tuple(shape), "uint8")]
    try:
        inside = whosmat(path, appendmat=False)
        if inside == expected:
            array = loadmat(path, appendmat=False, variable_names=[name])[name]
    except Exception as error:  # a damaged file leads SciPy's reader to errors of any kind
        raise DamagedData(f"{path}: no MATLAB file that can be read ({error})") from error
    if inside != expected:
        raise DamagedData(f"{path}: holds {inside}, expected {expected}")
    if not isinstance(array, np.ndarray) or array.shape != shape or array.dtype != np.uint8:
        raise DamagedData(f"{path}: {name} is not as the file says that it is")
    return array
