"""Segmentation by connected components, and the SEG measure of the cell tracking challenge.

M. Maška et al.: A benchmark for comparison of cell tracking algorithms. Bioinformatics 30 (2014),
pages 1609-1617. A reference object R is matched with the segmented object S that covers more than
half of it, |R ∩ S| > |R| / 2, of which there is at most one; its score is the Jaccard index
|R ∩ S| / |R ∪ S|, or 0 if there is none. SEG is the mean over all reference objects of all frames.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np
from numpy.typing import ArrayLike
from scipy import ndimage

_EIGHT = np.ones((3, 3), dtype=bool)


def segment(scores: ArrayLike, threshold: float, min_area: int) -> np.ndarray:
    """Segment an image: connected components of the pixels whose score exceeds a threshold."""
    scores = np.asarray(scores)
    if scores.ndim != 2:
        raise ValueError(f"scores must be an image of shape (h, w), got the shape {scores.shape}.")
    labels, n = ndimage.label(scores > threshold, structure=_EIGHT)
    if n == 0:
        return labels
    taken = np.flatnonzero(labels)
    _, first = np.unique(labels.ravel()[taken], return_index=True)
    kept = np.bincount(labels.ravel()[taken], minlength=n + 1)[1:] >= min_area
    number = np.zeros(n + 1, dtype=np.int32)
    order = np.argsort(first)
    order = order[kept[order]]
    number[order + 1] = np.arange(1, len(order) + 1)
    return number[labels]


def object_scores(truth: ArrayLike, result: ArrayLike) -> np.ndarray:
    """Jaccard index of each reference object of a frame with the object that matches it."""
    truth, result = _labels(truth, "truth"), _labels(result, "result")
    if truth.shape != result.shape:
        raise ValueError(f"truth and result have different shapes: {truth.shape}, {result.shape}.")
    truth, result = truth.ravel(), result.ravel()
    inside = np.flatnonzero(truth)
    objects, row, area = np.unique(truth[inside], return_inverse=True, return_counts=True)
    labels_inside, column = np.unique(result[inside], return_inverse=True)
    if len(objects) == 0:
        return np.zeros(0)
    pairs, shared = np.unique(row * len(labels_inside) + column, return_counts=True)
    r, s = pairs // len(labels_inside), labels_inside[pairs % len(labels_inside)]
    matched = (s > 0) & (2 * shared > area[r])
    r, s, shared = r[matched], s[matched], shared[matched]
    # A segmented object's area counts outside the reference objects, too.
    labels, every_area = np.unique(result[np.flatnonzero(result)], return_counts=True)
    areas = every_area[np.searchsorted(labels, s)]
    scores = np.zeros(len(objects))
    scores[r] = shared / (area[r] + areas - shared)
    return scores


def seg_measure(scores: Iterable[np.ndarray]) -> float:
    """SEG: mean of the scores of all reference objects of all frames."""
    every = np.concatenate([np.zeros(0), *scores])
    return math.fsum(every) / len(every) if len(every) else math.nan


def _labels(image, name: str) -> np.ndarray:
    image = np.asarray(image)
    if image.ndim != 2 or image.dtype.kind not in "iu" or (image.size and image.min() < 0):
        raise ValueError(f"{name} must be an image of shape (h, w) of whole numbers >= 0.")
    return image
