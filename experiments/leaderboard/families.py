"""Pictures as tables of some features of each family, at measured milliseconds.

A family is computed as a whole, so it is paid once, and its features cost nothing besides. Only the
pictures that are drawn are computed: those that the same set has as a table of pixels.
"""

from __future__ import annotations

import numpy as np

from datasets import load_images
from datasets.dataset import Dataset
from datasets.features import families_of, prices
from datasets.features.families import Family, block_length
from experiments.leaderboard.rows import rows_of

PER_FAMILY = 12
"""Features of each family, as in Greedy Miser's table of MNIST."""


def table(name: str, of_data: str, most: tuple[int, int, int], seed: int) -> Dataset:
    """Give the table of some pictures.

    Parameters
    ----------
    name : str
        Set of images that has families.
    of_data : str
        Scale at which the images are loaded; they are real.
    most : tuple of int
        Most pictures that train, choose and judge.
    seed : int
        Of the division; the features are the same for all.
    """
    images = load_images(name, scale=of_data, data="real", seed=seed)
    train, valid = images.split(seed)
    sides = {
        "train": (images.train, images.y_train, train),
        "valid": (images.train, images.y_train, valid),
        "test": (images.test, images.y_test, np.arange(len(images.y_test))),
    }
    families = families_of(name)
    chosen = features_of(families, images.train.shape[1:])
    arrays = {}
    for (part, (pictures, labels, rows)), n in zip(sides.items(), most, strict=True):
        rows = rows[rows_of(part, len(rows), None, n, seed)]
        arrays[f"X_{part}"] = computed(families, chosen, pictures, rows)
        arrays[f"y_{part}"] = labels[rows]
    sizes, measured = [len(one) for one in chosen], prices.read()
    return Dataset(
        name=name,
        task="multiclass",
        **arrays,
        feature_costs=np.zeros(sum(sizes)),
        cost_unit="ms",
        cost_origin=prices.origin(measured, name),
        feature_names=tuple(
            f"{family.name}_{m}" for family, one in zip(families, chosen, strict=True) for m in one
        ),
        feature_groups=np.repeat(np.arange(len(sizes)), sizes),
        group_costs={
            k: prices.of_family(measured, name, family.name) for k, family in enumerate(families)
        },
        provenance=dict(images.provenance),
    )


def features_of(families: tuple[Family, ...], shape: tuple[int, ...]) -> list[np.ndarray]:
    """Draw features of each family; one that has fewer gives all.

    Returns
    -------
    list of (m,) int64
        Their numbers in the family, ascending.
    """
    rng = np.random.default_rng(2012)
    return [np.sort(rng.permutation(family.size(shape))[:PER_FAMILY]) for family in families]


def computed(families, chosen, pictures: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Compute features of some pictures, block by block."""
    X = np.empty((len(rows), sum(len(one) for one in chosen)))
    step = block_length(pictures.shape[1:])
    for start in range(0, len(rows), step):
        at = rows[start : start + step]
        block = np.ascontiguousarray(pictures[at])
        columns = [
            family.columns(block)[:, one] for family, one in zip(families, chosen, strict=True)
        ]
        X[start : start + len(at)] = np.concatenate(columns, axis=1)
    return X
