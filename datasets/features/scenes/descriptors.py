"""The 108 descriptors of Scene-15: families that are computed together, and what each one is.

=====================================  =====================  =======  ============
Paper                                  Here                   Values   Kernel
=====================================  =====================  =======  ============
GIST                                   ``gist``                   512  RBF
spatial HOG                            ``spatial_hog``          6,300  intersection
Local Binary Pattern                   ``lbp``                  1,239  intersection
self-similarity                        ``self_similarity``      6,300  intersection
texton histogram                       ``texton``                 256  intersection
geometric texton                       ``geometric_texton``     1,024  intersection
geometric color                        ``geometric_intensity``    256  intersection
Object Bank, 177 detectors             ``detector_0`` … 100    84 each  RBF
=====================================  =====================  =======  ============

184 descriptors and 2,760 features in the paper, 108 and 1,620 here. Parameters were frozen before
any classifier was trained.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np

from datasets.features.families import Family
from datasets.features.scenes.binary_patterns import N_LBP, N_PATTERNS, binary_patterns
from datasets.features.scenes.detectors import N_DETECTORS, N_RESPONSES, detections
from datasets.features.scenes.gist import N_GIST, gist
from datasets.features.scenes.intensities import N_BINS, N_INTENSITIES, geometric_intensities
from datasets.features.scenes.regions import REGIONS
from datasets.features.scenes.self_similarity import N_SELF_SIMILARITY, self_similarity
from datasets.features.scenes.self_similarity import N_WORDS as SIMILARITY_WORDS
from datasets.features.scenes.spatial_hog import N_HOG, spatial_hog
from datasets.features.scenes.spatial_hog import N_WORDS as HOG_WORDS
from datasets.features.scenes.textons import (
    N_GEOMETRIC_TEXTONS,
    N_TEXTONS,
    geometric_textons,
    texton_histogram,
)

PYRAMID_WEIGHTS = (0.25, 0.25 / 4, 0.5 / 16)
"""Of a cell of each level: the levels weigh 1/4, 1/4 and 1/2, as in Lazebnik et al. (2006)."""


@dataclass(frozen=True)
class Descriptor:
    """One descriptor: which columns it has and which kernel compares them."""

    name: str  # Unique
    kernel: str  # See :mod:`datasets.features.scenes.kernels`
    first: int  # Its first column
    # Consecutive numbers of columns with their weight in an intersection
    parts: tuple[tuple[int, float], ...]

    @property
    def columns(self) -> slice:
        """Its columns."""
        return slice(self.first, self.first + sum(size for size, _ in self.parts))


def _size(shape: tuple[int, ...], *, n_features: int) -> int:
    return n_features


def _family(name: str, n_features: int, compute: Callable[..., np.ndarray], **parameters) -> Family:
    size = partial(_size, n_features=n_features)
    return Family(name, "scene descriptors", size, partial(compute, **parameters))


def families(learned: str) -> tuple[Family, ...]:
    """Give the families in the order of their columns; all detectors are one family."""
    return (
        _family("gist", N_GIST, gist),
        _family("spatial_hog", N_HOG, spatial_hog, learned=learned),
        _family("lbp", N_LBP, binary_patterns),
        _family("self_similarity", N_SELF_SIMILARITY, self_similarity, learned=learned),
        _family("texton", N_TEXTONS, texton_histogram, learned=learned),
        _family("geometric_texton", N_GEOMETRIC_TEXTONS, geometric_textons, learned=learned),
        _family("geometric_intensity", N_INTENSITIES, geometric_intensities),
        _family("detectors", N_DETECTORS * N_RESPONSES, detections, learned=learned),
    )


def detector_family(learned: str, detector: int) -> Family:
    """Give one detector as a family of its own, to measure what it costs alone."""
    return _family(
        f"detector_{detector}", N_RESPONSES, detections, learned=learned, detector=detector
    )


def _pyramid(n_words: int) -> tuple[tuple[int, float], ...]:
    return tuple((n_words * 4**level, weight) for level, weight in enumerate(PYRAMID_WEIGHTS))


def _descriptors() -> tuple[Descriptor, ...]:
    layout = [
        ("gist", "rbf", ((N_GIST, 1.0),)),
        ("spatial_hog", "intersection", _pyramid(HOG_WORDS)),
        ("lbp", "intersection", _pyramid(N_PATTERNS)),
        ("self_similarity", "intersection", _pyramid(SIMILARITY_WORDS)),
        ("texton", "intersection", ((N_TEXTONS, 1.0),)),
        ("geometric_texton", "intersection", ((N_TEXTONS * len(REGIONS), 1.0),)),
        ("geometric_intensity", "intersection", ((N_BINS * len(REGIONS), 1.0),)),
        *((f"detector_{k}", "rbf", ((N_RESPONSES, 1.0),)) for k in range(N_DETECTORS)),
    ]
    descriptors, first = [], 0
    for name, kernel, parts in layout:
        descriptors.append(Descriptor(name, kernel, first, parts))
        first = descriptors[-1].columns.stop
    return tuple(descriptors)


DESCRIPTORS = _descriptors()
"""The descriptors, in the order of their columns and features."""


def synthetic_descriptors(n_values: int) -> tuple[Descriptor, ...]:
    """Give the same descriptors with a few columns each, as the synthetic set draws them."""
    return tuple(
        Descriptor(d.name, d.kernel, k * n_values, ((n_values, 1.0),))
        for k, d in enumerate(DESCRIPTORS)
    )
