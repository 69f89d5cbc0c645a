"""The 33 feature families of Caltech-101.

The paper (section 6.1) takes the features of P. Gehler & S. Nowozin, "On feature combination for
multiclass object classification", ICCV 2009, without their subwindow kernels: five kinds, each
scale of a spatial pyramid a subset of its own, 33 subsets, 360,630 features. Those features are no
longer available, and neither text gives all parameters: these are features of the same five kinds
computed from the images, 33 families, 356,837 features, 1.1 % fewer than the paper's.

=================================  =========================  ========  ========
Kind                               Variants                   Families  Features
=================================  =========================  ========  ========
PHOG shape descriptors             180 and 360 degrees,              8     5,100
                                   levels 0-3
Appearance (SIFT) descriptors      grey and colour, 300 and         16   221,000
                                   1,000 words, levels 0-3
Region covariance                  levels 0-2                        3       945
Local binary patterns              levels 0-2                        3     5,376
V1-like normalised Gabor filters   three scales                      3   124,416
=================================  =========================  ========  ========

Level l of the pyramid has 4^l cells. Each family is computed by itself from the pixels, so that its
milliseconds are what a classifier pays that needs only this family. Histograms of fine cells are
sparse: of the bytes of 1,000 words on level 3, 99 % are 0.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from datasets.features.families import Family
from datasets.features.gabor import FREQUENCIES, gabor, n_gabor
from datasets.features.phog import BINS, n_phog, phog
from datasets.features.textures import covariance, n_covariance, n_patterns, patterns
from datasets.features.visual_words import n_words, visual_words

CATEGORIES = (
    "PHOG shape descriptors",
    "appearance (SIFT) descriptors",
    "region covariance",
    "local binary patterns",
    "V1-like Gabor filters",
)
"""The five kinds, in the paper's order."""

WORDS = (300, 1000)
"""Sizes of the codebooks."""


def _size(shape: tuple[int, ...], *, n_features: int) -> int:
    """Give a number of features that depends on the pyramid's cells only, not on the image."""
    return n_features


def _family(
    name: str, category: str, n_features: int, compute: Callable[..., np.ndarray], **parameters
) -> Family:
    size = partial(_size, n_features=n_features)
    return Family(name, category, size, partial(compute, **parameters))


def _families() -> tuple[Family, ...]:
    shape, appearance, region, binary, cortex = CATEGORIES
    return (
        *(
            _family(f"phog_{d}_{level}", shape, n_phog(d, level), phog, degrees=d, level=level)
            for d in BINS
            for level in range(4)
        ),
        *(
            _family(
                f"words_{'colour' if colour else 'grey'}_{words}_{level}",
                appearance,
                n_words(words, level),
                visual_words,
                words=words,
                colour=colour,
                level=level,
            )
            for colour in (False, True)
            for words in WORDS
            for level in range(4)
        ),
        *(
            _family(f"covariance_{level}", region, n_covariance(level), covariance, level=level)
            for level in range(3)
        ),
        *(
            _family(f"lbp_{level}", binary, n_patterns(level), patterns, level=level)
            for level in range(3)
        ),
        *(
            _family(f"gabor_{scale}", cortex, n_gabor(), gabor, scale=scale)
            for scale in range(len(FREQUENCIES))
        ),
    )


FAMILIES = {"caltech101": _families()}
"""The families, in the order of their features."""
