"""101 detectors of objects, which stand for the 177 of Object Bank.

L.-J. Li, H. Su, E. Xing, L. Fei-Fei, "Object bank", NIPS 2010, apply 177 detectors of objects to a
picture at 12 scales and keep the largest response in each of 21 cells of a spatial pyramid. Their
detectors (parts models trained on ImageNet and LabelMe) are not available. Ours are linear
templates on gradient histograms, one for each of Caltech-101's categories, learned in closed form
from 30 pictures of each category: w = Σ⁻¹ (mean of the category - mean of all), the whitened
templates of B. Hariharan, J. Malik, D. Ramanan, "Discriminative decorrelation for clustering and
classification", ECCV 2012; Σ is the covariance within categories, shrunk.

A template covers 48×48 pixels (5×5 blocks of :mod:`datasets.features.scenes.spatial_hog`'s kind,
900 values); the picture is resized so that this is 0.24, 0.33, 0.46 and 0.67 of its side; the
largest response in each of 21 cells: 84 values of each detector. Each detector is a descriptor of
its own that works independently of the others, as the paper says, and is priced so, with its own
pass over the picture's gradients; the cache computes all 101 in one pass.
"""

from __future__ import annotations

import numpy as np
from PIL import Image

from datasets.features.scenes.learned import learned_arrays
from datasets.features.scenes.spatial_hog import BLOCK_VALUES, blocks
from datasets.features.scenes.words import N_CELLS

SIDES = (200, 144, 104, 72)
"""Sides to which a picture is resized."""
TEMPLATE, TEMPLATE_BLOCKS = 48, 5
N_TEMPLATE = TEMPLATE_BLOCKS**2 * BLOCK_VALUES
N_RESPONSES = len(SIDES) * N_CELLS
N_DETECTORS = 101
ZERO, OWN = 64, 128
"""Byte of a response of 0, and how much the mean response to the own category adds."""


def resized(image: np.ndarray, side: int) -> np.ndarray:
    """Resize a grey picture to a square (Pillow's bilinear filter, in whole numbers)."""
    return np.asarray(Image.fromarray(image).resize((side, side), Image.Resampling.BILINEAR))


def windows(image: np.ndarray) -> np.ndarray:
    """Give the gradient histograms of all windows of a picture, whole numbers."""
    size = (TEMPLATE_BLOCKS, TEMPLATE_BLOCKS)
    slid = np.lib.stride_tricks.sliding_window_view(blocks(image), size, axis=(0, 1))
    return np.ascontiguousarray(slid).reshape(*slid.shape[:2], N_TEMPLATE)


def pooled(scores: np.ndarray) -> np.ndarray:
    """Give the largest of scores in the cells of a spatial pyramid."""
    for axis in (0, 1):
        starts = -(-np.arange(4) * scores.shape[axis] // 4)
        scores = np.maximum.reduceat(scores, starts, axis=axis)
    quarters = scores.reshape(2, 2, 2, 2, -1).max(axis=(1, 3))
    parts = (quarters.max(axis=(0, 1))[None], quarters, scores)
    return np.concatenate([part.reshape(-1, scores.shape[2]) for part in parts])


def detections(images: np.ndarray, *, learned: str, detector: int | None = None) -> np.ndarray:
    """Apply one detector, or all."""
    arrays = learned_arrays(learned)
    chosen = slice(None) if detector is None else slice(detector, detector + 1)
    templates = np.ascontiguousarray(arrays["detectors"][chosen].T)
    offset, own = arrays["detector_offset"][chosen], arrays["detector_own"][chosen]
    rows = []
    for image in images:
        # Templates and windows are whole numbers of lengths that make the products exact.
        scores = [pooled(windows(resized(image, side)) @ templates) for side in SIDES]
        response = (np.concatenate(scores).astype(np.float64) - offset) / own
        levels = np.clip(np.rint(ZERO + OWN * response), 0, 255).astype(np.uint8)
        rows.append(np.ascontiguousarray(levels.T).reshape(-1))
    return np.stack(rows)
