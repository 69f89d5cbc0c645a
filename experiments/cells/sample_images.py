"""Which images of a set are shown as examples, their pixels as text, and back again."""

from __future__ import annotations

import base64
import zlib
from collections.abc import Mapping

import numpy as np

from experiments.cell import Cell, Tolerance, rounded

TOLERANCES = {
    **{name: Tolerance() for name in ("image", "label", "height", "width", "channels")},
    "mean": Tolerance(absolute=1.0),
}
"""What ``check`` lets pass in the rows of :func:`run_cell`."""


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
    classes_shown = np.sort(rng.choice(len(classes), min(n, len(classes)), replace=False))
    return np.array([rng.choice(of_class[k]) for k in classes_shown], dtype=np.int64)


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
                "mean": rounded(image.mean()),
                "pixels": "x" + text,
            }
        )
    return rows


def picture(row: Mapping) -> np.ndarray:
    """Return the image of a row, (height, width) or (height, width, 3) uint8."""
    pixels = np.frombuffer(zlib.decompress(base64.b64decode(row["pixels"][1:])), dtype=np.uint8)
    shape = (int(row["height"]), int(row["width"]), int(row["channels"]))
    return pixels.reshape(shape[:2] if shape[2] == 1 else shape)


def mosaic(images: list[np.ndarray], per_line: int) -> np.ndarray:
    """Return images of one size side by side, (height, width, 3) uint8, white between them."""
    colour = [image if image.ndim == 3 else np.repeat(image[..., None], 3, 2) for image in images]
    height, width, _ = colour[0].shape
    gap = max(1, width // 14)
    n_lines = -(-len(images) // per_line)
    shape = (n_lines * (height + gap) - gap, per_line * (width + gap) - gap, 3)
    board = np.full(shape, 255, dtype=np.uint8)
    for i, image in enumerate(colour):
        top, left = (i // per_line) * (height + gap), (i % per_line) * (width + gap)
        board[top : top + height, left : left + width] = image
    return board
