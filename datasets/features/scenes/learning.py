"""Learn codebooks and detectors on pictures of Caltech-101, once, for all draws of Scene-15.

Nothing is learned on Scene-15 itself, so that a descriptor depends on its own picture alone.
Codebooks are the centres of k-means (scikit-learn, seed 0, 20 rounds) on 20,000 descriptors drawn
from every tenth picture, rounded to whole numbers.
"""

from __future__ import annotations

import functools
from pathlib import Path

import numpy as np

from datasets.features.families import source_digest
from datasets.features.pixels import grey
from datasets.features.scenes.detectors import N_TEMPLATE, TEMPLATE, resized, windows
from datasets.features.scenes.self_similarity import N_WORDS as SIMILARITY_WORDS
from datasets.features.scenes.self_similarity import similarities
from datasets.features.scenes.spatial_hog import N_WORDS as HOG_WORDS
from datasets.features.scenes.spatial_hog import blocks
from datasets.features.scenes.textons import N_TEXTONS, filter_responses
from datasets.sources.storage import announce, decoded
from datasets.splits import split_generator

EVERY, N_POINTS, ROUNDS = 10, 20_000, 20
SHRINKAGE = 0.1
"""Share of the mean variance in the covariance of the detectors' windows."""
LENGTH = 4096.0
"""Length of a detector: times a window's, at most 3,190, it is below 2^24."""


def learn(pictures: np.ndarray, labels: np.ndarray, checksum: str) -> str:
    """Learn what the descriptors need on Caltech-101's pictures, unless the cache has it.

    Gives the key for :func:`datasets.features.scenes.learned.learned_arrays`.
    """
    key = f"learned-{checksum[:16]}-{source_digest(__name__)[:16]}"
    decoded("scene15", key, functools.partial(_learn, pictures, labels))
    return key


def _learn(pictures: np.ndarray, labels: np.ndarray, out: Path) -> None:
    announce("scene15: learning codebooks and detectors on Caltech-101, four minutes, once")
    levels = [grey(picture[None])[0] for picture in pictures]
    sampled = levels[::EVERY]
    for name, function, n_words in (
        ("hog_words", blocks, HOG_WORDS),
        ("similarity_words", similarities, SIMILARITY_WORDS),
        ("textons", filter_responses, N_TEXTONS),
    ):
        points = [function(picture) for picture in sampled]
        np.save(out / f"{name}.npy", _centres(name, points, n_words))
    for name, array in _detectors(levels, np.asarray(labels)).items():
        np.save(out / f"{name}.npy", array)


def _centres(name: str, points: list[np.ndarray], n_words: int) -> np.ndarray:
    """Give centres of k-means, rounded: (n_words, d) float32."""
    from sklearn.cluster import KMeans

    pool = np.concatenate([part.reshape(-1, part.shape[2]) for part in points])
    rng = split_generator(f"scene15 {name}", 0)
    pool = pool[np.sort(rng.choice(len(pool), min(N_POINTS, len(pool)), replace=False))]
    means = KMeans(n_words, n_init=1, max_iter=ROUNDS, random_state=0).fit(pool)
    return np.rint(means.cluster_centers_).astype(np.float32)


def _detectors(levels: list[np.ndarray], labels: np.ndarray) -> dict[str, np.ndarray]:
    """Give whitened templates, the response of the mean window, and that of the own category."""
    positions = np.concatenate([windows(resized(picture, TEMPLATE)) for picture in levels])
    positions = positions.reshape(-1, N_TEMPLATE).astype(np.float64)
    mean = positions.mean(axis=0)
    centres = np.stack([positions[labels == c].mean(axis=0) for c in range(int(labels.max()) + 1)])
    within = positions - centres[labels]
    covariance = within.T @ within / len(positions)
    shrunk = (1 - SHRINKAGE) * covariance
    shrunk += SHRINKAGE * np.trace(covariance) / N_TEMPLATE * np.eye(N_TEMPLATE)
    templates = np.linalg.solve(shrunk, (centres - mean).T).T
    templates *= LENGTH / np.linalg.norm(templates, axis=1, keepdims=True)
    templates = np.rint(templates).astype(np.float32)
    offset = templates @ mean
    own = np.einsum("ij,ij->i", templates, centres) - offset
    return {"detectors": templates, "detector_offset": offset, "detector_own": own}
