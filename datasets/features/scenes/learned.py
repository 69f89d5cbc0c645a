"""What descriptors learned on Caltech-101: where it is kept, and how it is read."""

from __future__ import annotations

import functools
from pathlib import Path

import numpy as np

from datasets.errors import DataUnavailable
from datasets.sources.storage import cache_folder, read_decoded


def learned_folder(key: str) -> Path:
    """Give the folder of the cache that holds the codebooks and detectors of a key."""
    return cache_folder() / "scene15" / "decoded" / key


@functools.lru_cache(maxsize=4)
def _read(folder: Path) -> dict[str, np.ndarray]:
    return {name: np.array(array) for name, array in read_decoded(folder)[0].items()}


def learned_arrays(key: str) -> dict[str, np.ndarray]:
    """Read codebooks and detectors.

    Parameters
    ----------
    key : str
        Of :func:`datasets.features.scenes.learning.learn`.

    Returns
    -------
    dict of str to ndarray
        ``hog_words`` (300, 36), ``similarity_words`` (300, 30), ``textons`` (256, 32),
        ``detectors`` (101, 900): float32 whole numbers; ``detector_offset``, ``detector_own``
        (101,): float64.

    Raises
    ------
    DataUnavailable
        If they are not in the cache.
    ChecksumMismatch
        If they were changed after they were written.
    """
    folder = learned_folder(key)
    if not (folder / "index.json").exists():
        raise DataUnavailable(
            f"the codebooks and detectors of scene15 are not in {folder}. Next: "
            "run python -m experiments data fetch scene15, with a cache folder that can be written."
        )
    return _read(folder)
