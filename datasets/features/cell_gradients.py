"""Gradient histograms in cells, of the set of families `mash`.

Each function takes uint8 images of shape (n, h, w[, 3]) and gives (n, n_features) uint8. Gradients
are central differences, of the channel with the largest magnitude. A value v is kept as
255·sqrt(v / largest), the largest being 1 for blocks, the largest magnitude for blurred ones, and
for Felzenszwalb's what four truncated bins, or 18 of them, can come to.
"""

from __future__ import annotations

import numpy as np

from datasets.features.gradient_histograms import cell_histograms, hog, orientation_table
from datasets.features.padded_transforms import blur_radius, blurred, rooted_magnitude
from datasets.features.pixels import magnitude_steps, strongest_gradient

BLUR_CELL, BLUR_PART, BLUR_BINS = 2, 6, 8
SIDE, SIGNED = 8, 18
"""Pixels of the side of a cell, and signed orientations, of Felzenszwalb's histograms."""
CUT = 0.2
"""Where normalised bins are cut, as published."""
PER_CELL = SIGNED + SIGNED // 2 + 4


def block_hog(images: np.ndarray, cell: int, bins: int) -> np.ndarray:
    """Give unoriented histograms in cells, in blocks of 2×2 cells, "L2-Hys"."""
    height, width = (side // cell * cell for side in images.shape[1:3])
    whole = np.ascontiguousarray(images[:, :height, :width])
    return hog(whole, cell=cell, bins=bins, oriented=False)


def blurred_hog_size(shape: tuple[int, ...]) -> int:
    """Give the number of values of :func:`blurred_hog` for images of a shape."""
    return (shape[0] // BLUR_CELL) * (shape[1] // BLUR_CELL) * BLUR_BINS


def blurred_hog(images: np.ndarray) -> np.ndarray:
    """Give histograms of 8 orientations in 2×2 pixels, each bin blurred three times by a box."""
    sums = cell_histograms(images, BLUR_CELL, BLUR_BINS, oriented=True)
    means = blurred(sums, blur_radius(images.shape[1:], BLUR_PART), (1, 2)) / BLUR_CELL**2
    return rooted_magnitude(means).reshape(len(images), -1)


def felzenszwalb_cells(shape: tuple[int, ...]) -> tuple[int, int]:
    """Give how many cells of eight pixels there are down and across, halves rounded up."""
    return (shape[0] + SIDE // 2) // SIDE, (shape[1] + SIDE // 2) // SIDE


def felzenszwalb_size(shape: tuple[int, ...]) -> int:
    """Give the number of values of :func:`felzenszwalb` for images of a shape."""
    rows, columns = felzenszwalb_cells(shape)
    return rows * columns * PER_CELL


def shared_cells(images: np.ndarray) -> np.ndarray:
    """Sum gradient magnitudes by cell and signed orientation, each pixel shared by four cells."""
    gx, gy = strongest_gradient(images)
    n, height, width = gx.shape
    rows, columns = felzenszwalb_cells(gx.shape[1:])
    place = (gy.astype(np.int32) + 255) * 511 + (gx + 255)
    orientation = orientation_table(SIGNED, True)[place].astype(np.int64)
    weights = magnitude_steps(gx, gy).astype(np.float64)
    (row, down), (column, right) = _shares(height), _shares(width)
    # One more cell on every side takes what is lost.
    total = np.zeros(n * (rows + 2) * (columns + 2) * SIGNED)
    image = np.arange(n)[:, None, None] * (rows + 2)
    for r in (0, 1):
        for c in (0, 1):
            index = (image + (row + r)[:, None]) * (columns + 2) + column + c
            index = index * SIGNED + orientation
            shares = weights * (down[r][:, None] * right[c])
            total += np.bincount(index.ravel(), shares.ravel(), minlength=len(total))
    total = total.reshape(n, rows + 2, columns + 2, SIGNED)
    return total[:, 1:-1, 1:-1]


def _shares(length: int) -> tuple[np.ndarray, np.ndarray]:
    """Cell before each pixel, 0 being beyond the border, and its and the next one's sixteenths."""
    twice = 2 * np.arange(length) + 1 + SIDE  # in sixteenths, from the middle of that cell
    after = twice % (2 * SIDE)
    return twice // (2 * SIDE), np.stack((2 * SIDE - after, after))


def felzenszwalb(images: np.ndarray) -> np.ndarray:
    """Give Felzenszwalb's histograms: 18 signed and 9 unsigned bins and 4 energies for each cell.

    P. Felzenszwalb, R. Girshick, D. McAllester, D. Ramanan: Object detection with discriminatively
    trained part based models. PAMI 32 (2010). A cell is normalised by the four blocks of 2×2 cells
    that it is in, and each bin cut at 0.2; cells at the border stand for those beyond it.
    """
    signed = shared_cells(images)
    half = SIGNED // 2
    unsigned = signed[..., :half] + signed[..., half:]
    energy = np.zeros(signed.shape[:3])
    for b in range(half):  # one fixed order
        energy += unsigned[..., b] * unsigned[..., b]
    wide = np.pad(energy, ((0, 0), (1, 1), (1, 1)), mode="edge")
    corners = wide[:, :-1, :-1] + wide[:, :-1, 1:] + wide[:, 1:, :-1] + wide[:, 1:, 1:]
    bins = np.concatenate((signed, unsigned), axis=-1)
    sums, energies = np.zeros_like(bins), []
    rows, columns = energy.shape[1:]
    for r in (0, 1):
        for c in (0, 1):
            block = corners[:, r : r + rows, c : c + columns]
            length = np.sqrt(np.where(block > 0, block, 1.0))[..., None]
            cut = np.minimum(bins / length, CUT)
            sums += cut
            texture = np.zeros(energy.shape)
            for b in range(SIGNED):
                texture += cut[..., b]
            energies.append(texture)
    shares = np.concatenate(
        (sums / (4 * CUT), np.stack(energies, axis=-1) / (SIGNED * CUT)), axis=-1
    )
    return np.rint(255.0 * np.sqrt(shares)).astype(np.uint8).reshape(len(images), -1)
