"""The data sets there are: a line for each names the module that declares it.

What a stored result depends on is followed along imports, and at this list only to the data set
that serves it (:mod:`experiments.running.closure`): a new line leaves every other set's results as
they are. A module is imported when its set is asked for.
"""

from __future__ import annotations

from importlib import import_module

from datasets.errors import UnknownDataset
from datasets.images import ImageSpec
from datasets.registry import DatasetSpec

TABLES = {
    "aslib_sat12": "aslib_sat12",
    "cbcl": "cbcl",
    "cbcl_divided": "cbcl",
    "clueweb09": "clueweb09",
    "covertype": "covertype",
    "daimler_pedestrians": "daimler_pedestrians",
    "digits": "digits",
    "heart": "turney",
    "hepmass_1000": "hepmass",
    "hepmass_not1000": "hepmass",
    "miniboone": "miniboone",
    "mq2007": "letor",
    "mq2008": "letor",
    "mslr": "mslr",
    "mslr_web10k": "mslr_web",
    "mslr_web30k": "mslr_web",
    "phc_c2dl_psc": "phc_c2dl_psc",
    "pima": "turney",
    "scene15": "scene15",
    "thyroid": "thyroid",
    "toy": "toy",
    "vj_faces": "vj_faces",
    "yahoo_ltr": "yahoo_ltr",
    "yahoo_ltr_sample": "yahoo_ltr_sample",
    "yahoo_ltr_small": "yahoo_ltr_small",
}
"""Registration of the tables: name to module in this package, which declares ``SPEC``, or several
in ``SPECS``."""

IMAGES = {
    "mnist": "mnist",
    "cifar10": "cifar10",
    "inria_person": "inria_person",
    "caltech101": "caltech101",
}
"""Registration of the sets of images; their ``SPEC`` is an :class:`ImageSpec`."""

FEATURES = {
    "mnist_mash": ("mnist", "datasets.features.mash"),
    "cifar10_mash": ("cifar10", "datasets.features.mash"),
    "inria_person_mash": ("inria_person", "datasets.features.mash"),
}
"""Further families of features of a set of images, beside those that its ``SPEC`` names: name to
the set of images and the module with ``FAMILIES``. They are no data sets of their own."""


def images_named(name: str) -> str:
    """Give the set of images that a set of features is computed from; any other name as it is."""
    return FEATURES[name][0] if name in FEATURES else name


def names() -> list[str]:
    """Give the names of all data sets, sorted."""
    return sorted({**TABLES, **IMAGES})


def modules_of(name: str) -> tuple[str, ...]:
    """Give the modules that define a data set: its own, and that of its families of features."""
    registered = {**TABLES, **IMAGES}
    if name in FEATURES:
        images, families = FEATURES[name]
        return (f"datasets.{registered[images]}", families)
    if name not in registered:
        return ()
    families = getattr(spec(name), "families", "")
    return (f"datasets.{registered[name]}", *([families] if families else []))


def spec(name: str) -> DatasetSpec:
    """Give the declaration of a data set."""
    registered = {**TABLES, **IMAGES}
    if name not in registered:
        raise UnknownDataset(name, names())
    module = import_module(f"datasets.{registered[name]}")
    return module.SPECS[name] if hasattr(module, "SPECS") else module.SPEC


def image_specs() -> dict[str, ImageSpec]:
    """Give the declarations of all sets of images, in the order of their registration."""
    return {name: spec(name) for name in IMAGES}
