"""Stumps on Haar-like features, decided on an integral image that all windows of a picture share.

P. Viola and M. Jones, Rapid object detection using a boosted cascade of simple features, CVPR
(2001). Stumps are trained on bytes: a value v is the difference of the means of the white and the
black rectangles in standard deviations of the window, and its byte is 128 + 32 v rounded down and
cut to 0..255. A constant window has a deviation of 1 in the place of 0, so that all its values are
0. Here no byte is computed: whether it lies above a stump's threshold follows from one product, and
only where that is closer than rounding may be off are the byte's own quotients formed. The answers
are those on the bytes, every one.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..kernels.decorators import kernel, small_kernel

STEPS, ZERO = 32.0, 128.0
"""Bytes for a standard deviation, and the byte of zero."""
N_CORNERS = 9
LARGEST_WINDOW = 2**20
"""Pixels; up to here SLACK is far above what rounding may be off."""
_SLACK = 2.0**-8
_INT32 = 2**31 - 1

# Rectangles down and across, and how often each cell of that grid counts: white ones as often as
# there are black ones, and the other way round.
_KINDS = (
    ((1, 2), [[1, -1]]),
    ((2, 1), [[1], [-1]]),
    ((1, 3), [[-1, 2, -1]]),
    ((3, 1), [[-1], [2], [-1]]),
    ((2, 2), [[2, -2], [-2, 2]]),
)
_PRODUCTS = np.array([1, 1, 2, 2, 4])  # rectangles of each colour, multiplied


class HaarFeatures(NamedTuple):
    """The columns of a table of Haar-like bytes: what each of them is in a window.

    Attributes
    ----------
    kinds : ndarray of shape (n_features,), int
        0: two rectangles side by side, the left one white; 1: two on top of each other, the upper
        one white; 2 and 3: three in a row and in a column, the middle one white; 4: four, the upper
        left and lower right ones white.
    boxes : ndarray of shape (n_features, 4), int
        Outline: top, left, bottom, right; the last two are exclusive.
    window : tuple of int
        Height and width of a window.
    """

    kinds: np.ndarray
    boxes: np.ndarray
    window: tuple[int, int]


class HaarStumps(NamedTuple):
    """Stumps on Haar-like features as the kernels read them."""

    # (n_stumps, 9) int64: places in the integral image, from a window's upper left corner
    offset: np.ndarray
    # (n_stumps, 9) int64: how often the sum there counts; 0 beyond the last corner
    times: np.ndarray
    # (n_stumps,) float64: what the sum must reach for each standard deviation to go right; infinite
    # if all windows go the same way
    bound: np.ndarray
    area: np.ndarray  # (n_stumps,) float64
    cut: np.ndarray  # (n_stumps,) float64: lowest byte that goes right


def check_features(features: HaarFeatures, n_features: int) -> HaarFeatures:
    """Check the description of a model's columns, which kernels follow unseen."""
    try:
        kinds, boxes = (np.asarray(part) for part in features[:2])
        height, width = (int(side) for side in features[2])
    except (TypeError, ValueError, IndexError) as error:
        raise ValueError(f"features must be HaarFeatures, got {features!r}.") from error
    if height < 1 or width < 1 or height * width > LARGEST_WINDOW:
        raise ValueError(
            f"A window must have 1 to {LARGEST_WINDOW} pixels, not {height}×{width} of them."
        )
    if kinds.shape != (n_features,) or boxes.shape != (n_features, 4):
        raise ValueError(
            f"The model has {n_features} features, but kinds {kinds.shape} and boxes {boxes.shape} "
            "are described."
        )
    if kinds.dtype.kind not in "iu" or boxes.dtype.kind not in "iu":
        raise ValueError("kinds and boxes must be whole numbers.")
    kinds, boxes = kinds.astype(np.int64), boxes.astype(np.int64)
    if n_features and not 0 <= kinds.min() <= kinds.max() < len(_KINDS):
        raise ValueError(f"kinds must be 0 to {len(_KINDS) - 1}, got {kinds.min()}…{kinds.max()}.")
    extent = boxes[:, 2:] - boxes[:, :2]
    grids = np.array([grid for grid, _ in _KINDS])[kinds]
    inside = (boxes >= 0) & (boxes <= np.array([height, width] * 2))
    wrong = ~inside.all(axis=1) | (extent < 1).any(axis=1) | (extent % grids != 0).any(axis=1)
    if wrong.any():
        m = int(np.argmax(wrong))
        raise ValueError(
            f"Feature {m}, of kind {kinds[m]}, cannot have the outline {boxes[m].tolist()} in a "
            f"window of {height}×{width} pixels."
        )
    return HaarFeatures(kinds, boxes, (height, width))


class Corners(NamedTuple):
    """The corners of features' rectangles, those of two rectangles once."""

    row: np.ndarray  # row, column: (n_features, 9) int64: in the window
    column: np.ndarray
    times: np.ndarray  # (n_features, 9) int64: how often the integral image counts there
    # (n_features,) float64: pixels of a rectangle, by the number of white and of black ones
    area: np.ndarray


def corners_of(features: HaarFeatures) -> Corners:
    """Give the corners of features; of a checked description."""
    n_features = len(features.kinds)
    row, column, times = np.zeros((3, n_features, N_CORNERS), dtype=np.int64)
    area = np.zeros(n_features)
    for kind, ((down, across), cells) in enumerate(_KINDS):
        chosen = np.flatnonzero(features.kinds == kind)
        top, left, bottom, right = features.boxes[chosen].T
        height, width = (bottom - top) // down, (right - left) // across
        area[chosen] = height * width * _PRODUCTS[kind]
        # A cell counts once at its lower right and upper left corner, and less so at the others.
        weight = np.zeros((down + 1, across + 1), dtype=np.int64)
        for (i, j), count in np.ndenumerate(np.array(cells)):
            weight[i : i + 2, j : j + 2] += count * np.array([[1, -1], [-1, 1]])
        for place, (i, j) in enumerate(zip(*np.nonzero(weight), strict=True)):
            row[chosen, place] = top + i * height
            column[chosen, place] = left + j * width
            times[chosen, place] = weight[i, j]
    return Corners(row, column, times, area)


def haar_stumps(corners: Corners, feature: np.ndarray, cut: np.ndarray, width: int) -> HaarStumps:
    """Make the stumps of a model for pictures of a width."""
    area = corners.area[feature]
    bound = (cut - ZERO) / STEPS * area
    bound[cut <= 0], bound[cut > 255] = -np.inf, np.inf
    offset = corners.row * (width + 1) + corners.column
    return HaarStumps(offset[feature], corners.times[feature], bound, area, cut.astype(np.float64))


class IntegralImages(NamedTuple):
    """Sums of a picture, and of its squares, over all that is above and left of a corner."""

    sums: np.ndarray  # ((height + 1) ·(width + 1),), int32, or int64 for large pictures
    squares: np.ndarray
    width: int  # Corners in a row: width + 1


def integral_images(picture: np.ndarray) -> IntegralImages:
    """Sum up a picture."""
    size = (picture.shape[0] + 1) * (picture.shape[1] + 1)
    dtype = np.int32 if 255 * picture.size <= _INT32 else np.int64
    sums, squares = np.zeros(size, dtype=dtype), np.zeros(size, dtype=np.int64)
    _sum_up(np.ascontiguousarray(picture), sums, squares)
    return IntegralImages(sums, squares, picture.shape[1] + 1)


@kernel
def _sum_up(picture, sums, squares):
    """Fill the sums, row by row; their first row and column stay 0."""
    height, width = picture.shape
    for i in range(height):
        above, own = i * (width + 1), (i + 1) * (width + 1)
        total, squared = np.int64(0), np.int64(0)
        for j in range(width):
            pixel = np.int64(picture[i, j])
            total += pixel
            squared += pixel * pixel
            sums[own + j + 1] = sums[above + j + 1] + total
            squares[own + j + 1] = squares[above + j + 1] + squared


@small_kernel
def deviation_at(images: IntegralImages, at: int, height: int, width: int) -> float:
    """Standard deviation of the window with its upper left corner at a place; 1 if it is 0."""
    right, below = at + width, at + height * images.width
    last = below + width
    sums, squares = images.sums, images.squares
    total = np.int64(sums[last]) - sums[right] - sums[below] + sums[at]
    squared = squares[last] - squares[right] - squares[below] + squares[at]
    n_pixels = height * width
    spread = np.sqrt(np.float64(n_pixels * squared - total * total)) / n_pixels
    if spread == 0.0:
        spread = 1.0
    return spread


@small_kernel
def goes_right(stumps: HaarStumps, t: int, sums: np.ndarray, at: int, deviation: float) -> bool:
    """Whether the byte of stump t's feature is its cut or more in a window."""
    difference = np.int64(0)
    for corner in range(9):
        place = np.uintp(at + stumps.offset[t, corner])  # unsigned: no look for a negative index
        difference += stumps.times[t, corner] * np.int64(sums[place])
    above = np.float64(difference) - stumps.bound[t] * deviation
    right = above > 0.0
    if abs(above) < _SLACK:
        value = np.float64(difference) / stumps.area[t] / deviation
        right = ZERO + STEPS * value >= stumps.cut[t]
    return right
