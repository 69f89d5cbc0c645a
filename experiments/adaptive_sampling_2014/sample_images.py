"""Which images of a set are shown as examples, and their pixels as text."""

from __future__ import annotations

import base64
import zlib

import numpy as np

from experiments.artefact import Cell


def chosen(labels: np.ndarray, rule: str, n: int, rng: np.random.Generator) -> np.ndarray:
    """Return the numbers of the images to show.

    Parameters
    ----------
    labels : (n_images,) int
        Class of each.
    rule : {"first of each class", "first", "random of each class", "random"}
        "random" takes images of different classes, as far as there are enough.
    n : int
        Images in all, or of each class.
    rng : numpy.random.Generator

    Returns
    -------
    ndarray of int64
    """
    classes = np.unique(labels)
    if rule == "first":
        return np.arange(min(n, len(labels)))
    of_class = [np.flatnonzero(labels == k) for k in classes]
    if rule == "first of each class":
        return np.concatenate([numbers[:n] for numbers in of_class])
    if rule == "random of each class":
        drawn = [rng.choice(m, min(n, len(m)), replace=False) for m in of_class]
        return np.concatenate([np.sort(numbers) for numbers in drawn])
    some = np.sort(rng.choice(len(classes), min(n, len(classes)), replace=False))
    return np.array([rng.choice(of_class[k]) for k in some], dtype=np.int64)


def run_cell(cell: Cell, images) -> list[dict]:
    """Choose training images by the rule in the cell's parameters; one row for each.

    Pixels are base64 of zlib of bytes, row by row; ``x`` in front keeps them text.
    """
    rng = np.random.default_rng(cell.seed)
    numbers = chosen(np.asarray(images.y_train), cell.params["rule"], cell.params["n"], rng)
    rows = []
    for place, number in enumerate(numbers.tolist()):
        image = np.ascontiguousarray(images.train[number])
        text = base64.b64encode(zlib.compress(image.tobytes(), 9)).decode()
        rows.append(
            {
                "place": place,
                "image": number,
                "label": int(images.y_train[number]),
                "height": image.shape[0],
                "width": image.shape[1],
                "channels": 1 if image.ndim == 2 else image.shape[2],
                "mean": float(f"{image.mean():.6g}"),
                "pixels": "x" + text,
            }
        )
    return rows
