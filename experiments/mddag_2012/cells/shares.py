"""Footnote 1 of the paper: the output is divided by Σα, so that the exponential loss is of f/Σα."""

from __future__ import annotations

import copy
import math
from collections.abc import Mapping

import numpy as np

from algorithms.adaboost_mh import AdaBoostMH

NORMALISED = "normalised"
"""Whether scores are divided by Σα before the loss, as footnote 1 reads; it is the pool's weights
that are divided. The authors' program does not."""


def total_of(pool: AdaBoostMH) -> float:
    """Return Σα of all base classifiers of a pool."""
    return math.fsum(np.abs(_learners(pool)[1].alpha))


def normalised(pool: AdaBoostMH) -> AdaBoostMH:
    """Return AdaBoost's model with weights α that sum to 1."""
    shares, (name, learners) = copy.copy(pool), _learners(pool)
    setattr(shares, name, learners._replace(alpha=learners.alpha / total_of(pool)))
    return shares


def as_asked(pool: AdaBoostMH, options: Mapping) -> tuple[AdaBoostMH, dict]:
    """Return the pool that some options ask for, and the options that the estimator knows."""
    known = {name: value for name, value in options.items() if name != NORMALISED}
    return (normalised(pool) if options.get(NORMALISED) else pool), known


def _learners(pool: AdaBoostMH) -> tuple:
    """Name of what was boosted, and what it is."""
    name = "trees_" if hasattr(pool, "trees_") else "stumps_"
    return name, getattr(pool, name)
