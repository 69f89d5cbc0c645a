"""Another 19 families of MNIST, CIFAR-10 and INRIA Person: the set `mash`.

The paper names kinds of features, not parameters. The first author's public program of those years
(``idiap/mash``) has a file for each of 75 kinds; these nineteen are programmed anew from a
description of such files, none of their code was used. Which nineteen the paper took is not known:
no choice of them was found that has its 16,775, 29,879 and 230,503 features at once; these have
16,832, 31,656 and 217,912. Kinds, parameters and seeds were fixed before any classifier was trained
on them. Grey images count as colour images with three equal channels in the joint histogram, and
as one channel elsewhere.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from datasets.features import cell_gradients as cells
from datasets.features import padded_transforms as transforms
from datasets.features import rectangle_sums as rectangles
from datasets.features.families import Family
from datasets.features.gradient_histograms import hog_size
from datasets.features.image_transforms import grey, identity
from datasets.features.intensity_histograms import histogram, joint_histogram

TRANSFORMS, INTENSITY, GRADIENTS = "image transform", "intensity histogram", "gradient histogram"
RECTANGLES = 1_000
"""Random rectangles, or Haar-like features, of a family."""
NAMES = ("mnist_mash", "cifar10_mash", "inria_person_mash")


def joint_of_three(images: np.ndarray, bins: int) -> np.ndarray:
    """Give the joint histogram of red, green and blue; a grey level is all three."""
    colour = images if images.ndim == 4 else np.repeat(images[..., None], 3, axis=3)
    return joint_histogram(colour, bins)


def _values(shape: tuple[int, ...]) -> int:
    return int(np.prod(shape))


def _pixels(shape: tuple[int, ...]) -> int:
    return shape[0] * shape[1]


def _constant(n: int) -> Callable[[tuple[int, ...]], int]:
    return lambda shape: n


def _drawn(name: str, category: str, compute: Callable, **parameters) -> Family:
    compute = partial(compute, n=RECTANGLES, **parameters)
    return Family(name, category, _constant(RECTANGLES), compute)


def _block_hog(cell: int) -> Family:
    compute = partial(cells.block_hog, cell=cell, bins=9)
    return Family(f"hog_blocks_{cell}", GRADIENTS, partial(hog_size, cell=cell, bins=9), compute)


def _blurred_gradient(name: str, part: int) -> Family:
    return Family(name, TRANSFORMS, _values, partial(transforms.blurred_gradient, part=part))


_TRANSFORMS = (
    Family("identity", TRANSFORMS, _values, identity),
    Family("grey", TRANSFORMS, _pixels, grey),
    Family(
        "fourier",
        TRANSFORMS,
        lambda shape: 2 * transforms.padded_size(shape),
        transforms.fourier_polar,
    ),
    Family("haar", TRANSFORMS, transforms.padded_size, transforms.haar_pyramid),
    _blurred_gradient("blurred_gradient_wide", 3),
    _blurred_gradient("blurred_gradient_narrow", 6),
    Family("lbp", TRANSFORMS, transforms.inner_size, transforms.inner_lbp),
    Family("ilbp", TRANSFORMS, transforms.inner_size, transforms.inner_ilbp),
)
_INTENSITY = (
    _drawn("boxed_sums", INTENSITY, rectangles.boxed_sums),
    Family("histogram", INTENSITY, _constant(256), partial(histogram, bins=256)),
    Family("histogram_joint", INTENSITY, _constant(8**3), partial(joint_of_three, bins=8)),
)
_GRADIENTS = (
    _drawn("oriented_edges", GRADIENTS, rectangles.oriented_edges),
    _drawn(
        "hog_rectangles",
        GRADIENTS,
        rectangles.gradient_sums,
        bins=12,
        oriented=True,
        normal=False,
    ),
    _drawn(
        "hog_normalised",
        GRADIENTS,
        rectangles.gradient_sums,
        bins=9,
        oriented=False,
        normal=True,
    ),
    _block_hog(8),
    _block_hog(4),
    Family("hog_blurred", GRADIENTS, cells.blurred_hog_size, cells.blurred_hog),
    Family("hog_felzenszwalb", GRADIENTS, cells.felzenszwalb_size, cells.felzenszwalb),
    _drawn("haar_like", GRADIENTS, rectangles.haar_divided),
)
NINETEEN = (*_TRANSFORMS, *_INTENSITY, *_GRADIENTS)

FAMILIES: dict[str, tuple[Family, ...]] = dict.fromkeys(NAMES, NINETEEN)
"""The same families for each set; how many features they have depends on the size of its images."""
