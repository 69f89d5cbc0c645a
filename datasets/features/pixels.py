"""What the families share: grey levels, gradients in whole numbers, rectangle sums, rounding.

All integer arithmetic, or sums, products, quotients and square roots in double precision, so that
every processor and every block of images gives the same bytes.
"""

from __future__ import annotations

import zlib

import numpy as np

MAGNITUDE_STEPS = 16
"""Steps per grey level in which gradient magnitudes are rounded, so that their sums are exact."""


def grey(images: np.ndarray) -> np.ndarray:
    """Convert to grey levels: 0.299 R + 0.587 G + 0.114 B (ITU-R BT.601), rounded half up."""
    if images.ndim == 3:
        return images
    red, green, blue = (images[..., c].astype(np.int32) for c in range(3))
    return ((299 * red + 587 * green + 114 * blue + 500) // 1000).astype(np.uint8)


def channels(images: np.ndarray) -> np.ndarray:
    """Put the channels of each image first."""
    if images.ndim == 3:
        return images[:, None]
    return np.ascontiguousarray(np.moveaxis(images, -1, 1))


def central_differences(images: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Compute right minus left and lower minus upper neighbour; 0 along the border."""
    signed = images.astype(np.int16)
    gx, gy = np.zeros_like(signed), np.zeros_like(signed)
    np.subtract(signed[..., 2:], signed[..., :-2], out=gx[..., 1:-1])
    np.subtract(signed[..., 2:, :], signed[..., :-2, :], out=gy[..., 1:-1, :])
    return gx, gy


def strongest_gradient(images: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Compute central differences, in colour of each pixel's channel with the largest magnitude."""
    gx, gy = central_differences(channels(images))
    x, y = gx[:, 0].copy(), gy[:, 0].copy()
    best = _squared(x, y)
    for c in range(1, gx.shape[1]):
        square = _squared(gx[:, c], gy[:, c])
        larger = square > best
        np.copyto(x, gx[:, c], where=larger)
        np.copyto(y, gy[:, c], where=larger)
        np.copyto(best, square, where=larger)
    return x, y


def _squared(gx: np.ndarray, gy: np.ndarray) -> np.ndarray:
    x, y = gx.astype(np.int32), gy.astype(np.int32)
    return x * x + y * y


def magnitude_steps(gx: np.ndarray, gy: np.ndarray) -> np.ndarray:
    """Compute the gradient's magnitude in steps of 1/16 grey level."""
    return np.rint(MAGNITUDE_STEPS * np.sqrt(_squared(gx, gy).astype(np.float64))).astype(np.int32)


def integral_images(images: np.ndarray) -> np.ndarray:
    """Sum all pixels above and to the left."""
    n, height, width = images.shape
    sums = np.zeros((n, height + 1, width + 1), dtype=np.int32)
    np.cumsum(images, axis=1, dtype=np.int32, out=sums[:, 1:, 1:])
    np.cumsum(sums[:, 1:, 1:], axis=2, out=sums[:, 1:, 1:])
    return sums.reshape(n, -1)


def rectangle_sums(integral: np.ndarray, width: int, rectangles: np.ndarray) -> np.ndarray:
    """Sum images over rectangles."""
    top, left, bottom, right = rectangles.T
    row = width + 1
    total = integral[:, bottom * row + right]
    total -= integral[:, top * row + right]
    total -= integral[:, bottom * row + left]
    total += integral[:, top * row + left]
    return total


def frozen_generator(*words: str | int) -> np.random.Generator:
    """Give the generator that draws the frozen positions of a family."""
    return np.random.default_rng(zlib.crc32("-".join(map(str, words)).encode()))


def signed_root(values: np.ndarray, largest: float) -> np.ndarray:
    """Map -largest..largest to 1..255 by 128 + 127·sign(v)·sqrt(abs(v) / largest), rounded.

    Differences between neighbouring pixels are mostly small: the root keeps those apart.
    """
    root = np.sqrt(np.abs(values) / largest)
    return np.rint(128.0 + 127.0 * np.copysign(root, values)).astype(np.uint8)


def rooted_share(counts: np.ndarray, total: np.ndarray | float) -> np.ndarray:
    """Map shares 0..1 to 0..255 by the square root, which keeps small shares apart."""
    counts = np.asarray(counts, dtype=np.float64)
    total = np.maximum(np.asarray(total, dtype=np.float64), 1.0)
    return np.rint(255.0 * np.sqrt(counts / total)).astype(np.uint8)
