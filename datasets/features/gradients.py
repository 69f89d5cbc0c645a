"""Grey levels, opponent colours, differences and spatial cells of one image, in whole numbers.

Whole numbers make sums exact in any order, so that features that rest on them are the same on every
processor.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from datasets.features.pixels import grey


def image_by_image(
    images: np.ndarray, n_features: int, function: Callable[[np.ndarray], np.ndarray]
) -> np.ndarray:
    """Compute the features of each image by itself.

    A sum over a block of images may round differently from a sum over one of them; one image at a
    time cannot depend on its neighbours.
    """
    if images.ndim != 4 or images.shape[3] != 3 or images.dtype != np.uint8:
        raise ValueError(
            f"images must be uint8 of shape (n, height, width, 3), not {images.dtype} of shape "
            f"{images.shape}"
        )
    height, width = images.shape[1:3]
    if height % 8 or width % 8 or not height * width:
        raise ValueError(f"images of {height}×{width} pixels cannot be cut into 8 by 8 cells")
    columns = np.empty((len(images), n_features), dtype=np.uint8)
    for image, row in zip(images, columns, strict=True):
        row[:] = function(image)
    return columns


def luma(image: np.ndarray) -> np.ndarray:
    """Give the grey levels of a colour image, by the weights of ITU-R BT.601."""
    return grey(image[None])[0]


def opponent(image: np.ndarray) -> np.ndarray:
    """Give grey levels, red minus green and yellow minus blue."""
    red, green, blue = (image[:, :, channel].astype(np.int32) for channel in range(3))
    colours = ((red - green + 255) // 2, (red + green - 2 * blue + 510) // 4)
    return np.stack((luma(image), *(colour.astype(np.uint8) for colour in colours)))


def differences(channel: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Give central differences down and to the right; edges are repeated beyond the image."""
    padded = np.pad(channel, 1, mode="edge").astype(np.int32)
    return padded[2:, 1:-1] - padded[:-2, 1:-1], padded[1:-1, 2:] - padded[1:-1, :-2]


def cell_numbers(shape: tuple[int, int], level: int) -> np.ndarray:
    """Number the cells of a level of the spatial pyramid, row by row."""
    side = 2**level
    if shape[0] % side or shape[1] % side:
        raise ValueError(f"{shape[0]}×{shape[1]} places cannot be cut into {side} by {side} cells")
    rows, columns = (np.arange(size) * side // size for size in shape)
    return rows[:, None] * side + columns


def n_cells(level: int) -> int:
    """Count the cells of a level of the spatial pyramid, 4^level."""
    return 4**level
