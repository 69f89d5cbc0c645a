"""Load a data set, or a set of images, by its name."""

from __future__ import annotations

from datasets.dataset import Dataset
from datasets.images import ImageSet, PictureSpec
from datasets.registered import names, spec
from datasets.registry import Request, serve

__all__ = ["load", "load_images", "names", "spec"]


def load(name: str, *, scale: str = "laptop", data: str = "auto", seed: int = 0) -> Dataset:
    """Load a data set, split, with its feature costs and provenance.

    Parameters
    ----------
    name : str
        One of :func:`names`.
    scale : {"smoke", "laptop", "paper"}, default "laptop"
        ``smoke`` uses only synthetic data and bundled sets (about 2,000/1,000/1,000 rows; INRIA
        Person 60/20/60, Caltech-101 15/5/20, CBCL 599/151/1,000) and touches neither network nor
        cache nor mirror.
    data : {"auto", "real", "synthetic"}, default "auto"
        ``auto``: what the scale says; ``real``: real data, which ``smoke`` never has;
        ``synthetic``: generated data of the same form, on which nothing can be reproduced.
    seed : int, default 0
        Selects the split (or the rows of synthetic data). Frozen: see :mod:`datasets.splits`.

    Returns
    -------
    Dataset
        Frozen record; ``provenance["kind"]`` is "real", "synthetic" or, of a simulation of a
        paper's own, "simulation".

    Raises
    ------
    UnknownDataset
        No set has this name.
    ValueError
        Unknown scale or data, or a seed that is none.
    DataUnavailable
        No source has it; the message ends with what gets it. Or there is no synthetic form.
    ChecksumMismatch
        A file is not the one on record.

    Notes
    -----
    Downloads above 300 MB (HEPMASS: 7.9 GB) are never made in passing, not with ``data="real"``
    either; ``python -m experiments data fetch NAME`` makes them.
    """
    return serve(spec(name), Request(name, scale, data, seed))


def load_images(name: str, *, scale: str = "laptop", data: str = "auto", seed: int = 0) -> ImageSet:
    """Load a set of images as bytes; arguments and errors are those of :func:`load`."""
    declared = spec(name)
    if not isinstance(declared, PictureSpec):
        raise ValueError(f"{name} is no set of images")
    return declared.images(scale=scale, data=data, seed=seed)
