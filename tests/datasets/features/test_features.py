"""The families of image features: how many, frozen, whatever the block; what is refused."""

import hashlib
from functools import partial

import numpy as np
import pytest

from datasets import features
from datasets.errors import UnknownDataset
from datasets.features import families, gradient_histograms, nineteen
from datasets.features.families import PAPER_TOTALS, SHAPES, Family, check_images
from datasets.features.gradient_histograms import hog
from datasets.features.intensity_histograms import histogram, patch_sums

NINETEEN = ("mnist", "cifar10", "inria_person")
FROZEN = {
    # of five pictures, of `mash` of four
    "mnist": "05a100bd30fd5485",
    "cifar10": "7f466d578fb2d7ab",
    "inria_person": "550f44b5e6313a63",
    "mnist_mash": "2445e319a6d322df",
    "cifar10_mash": "58be2a34567b0f16",
    "inria_person_mash": "01dedc0d5ee6adeb",
}


def pictures(shape: tuple[int, ...], n: int = 5) -> np.ndarray:
    """Smooth and noisy images, one flat, some with few levels; the same on every machine."""
    rng = np.random.RandomState(0)
    images = rng.randint(0, 256, (n, *shape))
    images[1] = 77
    ramp = np.add.outer(np.arange(shape[0]) * 5, np.arange(shape[1]) * 3) % 256
    images[2] = ramp.reshape(ramp.shape + (1,) * (len(shape) - 2))
    images[3] = images[3] // 128 * 255
    return images.astype(np.uint8)


# --- what there is -------------------------------------------------------------------------------


@pytest.mark.parametrize("name", features.NAMES)
def test_families_are_near_the_papers_total(name):
    """Their own sizes and kinds are in the README, which another test makes anew."""
    sizes = features.sizes(name)
    assert len(sizes) == (33 if name == "caltech101" else 19)
    assert abs(sum(sizes.values()) / PAPER_TOTALS[name] - 1) < (0.06 if "mash" in name else 0.05)


@pytest.mark.slow
@pytest.mark.parametrize("name", FROZEN)
def test_columns_do_not_depend_on_the_block(name):
    images = pictures(SHAPES[name], 4)
    for family in features.families_of(name):
        together = family.columns(images)
        assert together.shape == (4, family.size(SHAPES[name]))
        apart = np.concatenate([family.columns(image[None]) for image in images])
        np.testing.assert_array_equal(together, apart, err_msg=family.name)
        np.testing.assert_array_equal(family.columns(images[::-2]), together[::-2])
        assert (together[1] != together[0]).any(), family.name


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=pytest.mark.slow if "mash" in name else ()) for name in FROZEN],
)
def test_families_are_frozen(name):
    """Columns are never to change; the Fourier families' logarithms may differ in a last bit."""
    digest = hashlib.sha256()
    images = pictures(SHAPES[name], 4 if "mash" in name else 5)
    for family in features.families_of(name):
        if not family.name.startswith("fourier"):
            digest.update(family.columns(images).tobytes())
    assert digest.hexdigest()[:16] == FROZEN[name]


# --- what is refused -----------------------------------------------------------------------------


def test_unknown_set_is_named():
    with pytest.raises(UnknownDataset, match="did you mean cifar10"):
        features.sizes("cifar")
    with pytest.raises(UnknownDataset, match="known are mnist, cifar10, inria_person, caltech101"):
        features.load("covertype")


@pytest.mark.parametrize(
    "images",
    [
        np.zeros((2, 28, 27), np.uint8),
        np.zeros((2, 28, 28, 3), np.uint8),
        np.zeros((28, 28), np.uint8),
        np.zeros((2, 28, 28)),
    ],
)
def test_images_of_another_size_are_refused(images):
    with pytest.raises(
        ValueError, match=r"mnist: images must be uint8 of shape \(n, 28, 28\), not"
    ):
        check_images("mnist", images)


def nothing(images):
    return np.zeros((len(images), 0), np.uint8)


def test_a_family_without_columns_is_refused(monkeypatch):
    empty = Family("empty", "none", lambda shape: 0, nothing)
    with pytest.raises(ValueError, match=r"family empty has no columns for images of .*28, 28"):
        empty.columns(np.zeros((1, 28, 28), np.uint8))
    monkeypatch.setitem(nineteen.FAMILIES, "mnist", (empty,))
    with pytest.raises(ValueError, match="family empty has no columns"):
        features.sizes("mnist")
    with pytest.raises(ValueError, match="family empty has no columns"):
        features.load("mnist", scale="smoke")
    # One level of HOG cells is no block.
    assert gradient_histograms.hog_size((7, 7), 7, 9) == 0


def test_cells_that_do_not_cover_an_image_are_refused():
    images = np.zeros((1, 28, 28), np.uint8)
    with pytest.raises(ValueError, match="28×28 pixels have no whole 8×8 cells"):
        hog(images, cell=8, bins=9, oriented=False)
    with pytest.raises(ValueError, match="a grid of 3×4 does not divide 28×28 pixels"):
        histogram(images, bins=16, grid=(3, 4))


def test_a_family_that_breaks_its_promise_is_named():
    family = Family("short", "none", lambda shape: 2, nothing)
    with pytest.raises(RuntimeError, match=r"short gave uint8 of shape \(3, 0\), not .*\(3, 2\)"):
        family.columns(np.zeros((3, 28, 28), np.uint8))
    with pytest.raises(ValueError, match="two families are called short"):
        families.check_families((family, family), (28, 28))


# --- what determines the columns -----------------------------------------------------------------


def test_the_key_follows_parameters_and_source(monkeypatch):
    def family(**parameters):
        return Family("patches", "none", lambda shape: 1, partial(patch_sums, **parameters))

    assert family(n=5).key() == family(n=5).key()
    assert family(n=5).key() != family(n=6).key()
    before = family(n=5).key()
    monkeypatch.setattr(families, "source_digest", lambda module: "edited")
    assert family(n=5).key() != before


def test_the_source_digest_ignores_words_only():
    def code(source):
        return families.ast.unparse(families._without_docstrings(families.ast.parse(source)))

    said = code('"""Module."""\ndef f(x):\n    """Say."""\n    return x + 1  # so\n')
    assert said == code("def f(x):\n    return x + 1\n")
    assert said != code("def f(x):\n    return x + 2\n")
    assert families.source_digest("datasets.features.gradient_histograms") != (
        families.source_digest("datasets.features.pixels")
    )
