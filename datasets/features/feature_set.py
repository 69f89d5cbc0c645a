"""The record that :func:`datasets.features.load` returns."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from datasets.features import prices


@dataclass(frozen=True)
class FeatureSet:
    """The features of one set of images, in families."""

    name: str  # Set of images
    # train, test: (n_features, n_images) uint8: one row per feature, read-only and memory-mapped:
    # pages are read when a row is used, so the whole is never in memory. Load anew in a worker
    # process rather than send it
    train: np.ndarray
    test: np.ndarray
    y_train: np.ndarray  # y_train, y_test: (n_images,) int64: classes, from 0
    y_test: np.ndarray
    # names, categories: Of the families: name and kind, in the order of their features
    names: tuple[str, ...]
    categories: tuple[str, ...]
    # Feature numbers of each family: ascending, contiguous, disjoint, together all
    families: list[np.ndarray]
    # As `ImageSet.provenance`; ``families`` are their sizes,
    # ``features_checksum`` is that of the columns
    provenance: dict[str, Any] = field(default_factory=dict)

    @property
    def n_features(self) -> int:
        """Number of features."""
        return len(self.train)

    @property
    def cost_unit(self) -> str:
        """Unit of what a family costs an image."""
        return "ms"

    @property
    def cost_origin(self) -> str:
        """Who measured it, and when."""
        return self.milliseconds_origin

    @property
    def milliseconds(self) -> np.ndarray:
        """CPU time to compute each family, (n_families,) float64, milliseconds per image."""
        table = prices.read()
        return np.array([prices.of_family(table, self.name, name) for name in self.names])

    @property
    def milliseconds_origin(self) -> str:
        """Processor and date of the measurement."""
        return prices.origin(prices.read(), self.name)
