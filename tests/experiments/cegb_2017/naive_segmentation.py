"""The SEG measure of the cell tracking challenge, object by object.

M. Maška et al.: A benchmark for comparison of cell tracking algorithms. Bioinformatics 30 (2014),
pages 1609-1617, used in section 5.2 of the CEGB paper. The fast twin is
:mod:`experiments.cegb_2017.cells.segmentation`.

=========  ==========================================
symbol     name here
=========  ==========================================
R          ``reference_object``, a set of pixels
S          ``segmented_object``, a set of pixels
J(S, R)    ``jaccard``
=========  ==========================================
"""

import math

import numpy as np


def segment(scores: np.ndarray, threshold: float, min_area: int) -> np.ndarray:
    """Number the 8-connected components of the pixels with a score above the threshold."""
    height, width = scores.shape
    labels = np.zeros((height, width), dtype=np.int32)
    seen = np.zeros((height, width), dtype=bool)
    n = 0
    for y in range(height):
        for x in range(width):
            if seen[y, x] or not scores[y, x] > threshold:
                continue
            component, queue = [], [(y, x)]
            seen[y, x] = True
            while queue:
                a, b = queue.pop()
                component.append((a, b))
                for c in range(max(a - 1, 0), min(a + 2, height)):
                    for d in range(max(b - 1, 0), min(b + 2, width)):
                        if not seen[c, d] and scores[c, d] > threshold:
                            seen[c, d] = True
                            queue.append((c, d))
            if len(component) >= min_area:
                n += 1
                for a, b in component:
                    labels[a, b] = n
    return labels


def jaccard(reference_object: np.ndarray, segmented_object: np.ndarray) -> float:
    """J(S, R) = |R ∩ S| / |R ∪ S|."""
    shared = int(np.sum(reference_object & segmented_object))
    return shared / int(np.sum(reference_object | segmented_object))


def object_score(reference_object: np.ndarray, result: np.ndarray) -> float:
    """Score of one reference object: J with the S for which |R ∩ S| > |R| / 2, else 0."""
    for label in range(1, int(np.max(result)) + 1):
        segmented_object = result == label
        shared = int(np.sum(reference_object & segmented_object))
        if 2 * shared > int(np.sum(reference_object)):
            return jaccard(reference_object, segmented_object)  # there is no second one
    return 0.0


def object_scores(truth: np.ndarray, result: np.ndarray) -> np.ndarray:
    """Score of each reference object of a frame, in ascending order of the labels."""
    labels = [label for label in np.unique(truth) if label > 0]
    return np.array([object_score(truth == label, result) for label in labels], dtype=np.float64)


def seg_measure(frames: list[tuple[np.ndarray, np.ndarray]]) -> float:
    """SEG: mean over all reference objects of all frames (truth, result); NaN without any."""
    scores = [score for truth, result in frames for score in object_scores(truth, result)]
    return math.fsum(scores) / len(scores) if scores else math.nan
