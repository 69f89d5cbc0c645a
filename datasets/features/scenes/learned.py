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
    """Read codebooks and detectors."""
    folder = learned_folder(key)
    if not (folder / "index.json").exists():
        raise DataUnavailable(
            f"the codebooks and detectors of scene15 are not in {folder}. Next: "
            "run python -m experiments data fetch scene15, with a cache folder that can be written."
        )
    return _read(folder)
