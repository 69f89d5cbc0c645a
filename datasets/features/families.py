"""What a family of image features is, and which families each set of images has.

A family turns a block of images into 8-bit columns, each value by a fixed rule from its own image
alone, so that the columns of an image do not depend on the images beside it. The families of a set
are frozen: a change of any of them changes every published number.

Who defines families gives a module with ``FAMILIES``, a dictionary of set to tuple of
:class:`Family`; the set's ``SPEC`` (:class:`datasets.images.ImageSpec`) names it. A second set of
families of the same images has a name of its own (:data:`datasets.registered.FEATURES`).
"""

from __future__ import annotations

import ast
import functools
import hashlib
import importlib
import inspect
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from datasets.errors import DamagedData, UnknownDataset
from datasets.registered import FEATURES, image_specs

_IMAGES = image_specs()
_SPECS = {name: spec for name, spec in _IMAGES.items() if spec.families}
_MODULES = {name: spec.families for name, spec in _SPECS.items()}
_MODULES |= {name: module for name, (_, module) in FEATURES.items()}
_SPECS |= {name: _IMAGES[images] for name, (images, _) in FEATURES.items()}

SHAPES: dict[str, tuple[int, ...]] = {name: spec.image_shape for name, spec in _SPECS.items()}
"""Height, width and, in colour, channels of the images of each set."""

PAPER_TOTALS = {name: spec.paper_features for name, spec in _SPECS.items()}
"""Features in all, section 6.2 of the paper."""

NAMES = tuple(SHAPES)
"""Sets of images with features."""

PACKAGE = "datasets.features"

BLOCK_PIXELS = 2**20
"""Pixels of a block of images: enough to vectorise over, little enough for any memory."""


@dataclass(frozen=True)
class Family:
    """Features that are computed together."""

    name: str  # Unique within its set
    category: str  # Kind of feature, in the paper's words (section 6.1)
    # ``shape -> int``: how many there are for images of this (height, width[, 3])
    n_features: Callable[[tuple[int, ...]], int]
    # ``images -> columns``: (n, height, width[, 3]) uint8 to (n, n_features) uint8, image by image
    # independent. Parameters are bound with :func:`functools.partial`
    compute: Callable[[np.ndarray], np.ndarray]

    @property
    def parameters(self) -> dict[str, Any]:
        """Parameters bound to `compute`, by name."""
        return dict(getattr(self.compute, "keywords", {}))

    def columns(self, images: np.ndarray) -> np.ndarray:
        """Compute the features of a block of images."""
        n_features = self.size(images.shape[1:])
        columns = self.compute(np.ascontiguousarray(images))
        if columns.shape != (len(images), n_features) or columns.dtype != np.uint8:
            raise RuntimeError(
                f"family {self.name} gave {columns.dtype} of shape {columns.shape}, not uint8 of "
                f"shape {(len(images), n_features)}"
            )
        return columns

    def size(self, shape: tuple[int, ...]) -> int:
        """Give the number of features for images of a shape."""
        n_features = self.n_features(tuple(shape))
        if n_features < 1:
            raise ValueError(f"family {self.name} has no columns for images of shape {shape}")
        return n_features

    def key(self) -> str:
        """Give a digest of what determines the columns: name, parameters and source."""
        function = getattr(self.compute, "func", self.compute)
        record = {
            "name": self.name,
            "function": f"{function.__module__}.{function.__qualname__}",
            "parameters": self.parameters,
            "source": source_digest(function.__module__),
        }
        return hashlib.sha256(json.dumps(record, sort_keys=True).encode()).hexdigest()


def families_of(name: str) -> tuple[Family, ...]:
    """Give the families of a set of images, in the order of their features."""
    if not isinstance(name, str):
        raise ValueError(f"the name of a set of images must be text, not {name!r}")
    if name not in NAMES:
        raise UnknownDataset(name, NAMES)
    families = importlib.import_module(_MODULES[name]).FAMILIES[name]
    check_families(families, SHAPES[name])
    return families


def check_families(families: tuple[Family, ...], shape: tuple[int, ...]) -> None:
    """Refuse a family without columns and a name that occurs twice."""
    names = [family.name for family in families]
    for family in families:
        family.size(shape)
        if names.count(family.name) > 1:
            raise ValueError(f"two families are called {family.name}")


def sizes(name: str) -> dict[str, int]:
    """Give the number of features of each family of a set, without computing any."""
    return {family.name: family.size(SHAPES[name]) for family in families_of(name)}


def check_images(name: str, images: np.ndarray) -> None:
    """Refuse images that are not uint8 or not of the size that a set's families are made for."""
    shape = SHAPES[name]
    if images.shape[1:] != shape or images.dtype != np.uint8:
        raise DamagedData(
            f"{name}: images must be uint8 of shape (n, {', '.join(map(str, shape))}), not "
            f"{images.dtype} of shape {images.shape}"
        )


def block_length(shape: tuple[int, ...]) -> int:
    """Give how many images of a shape are computed at once: about a million pixels."""
    return max(1, BLOCK_PIXELS // (shape[0] * shape[1]))


@functools.cache
def source_digest(module: str) -> str:
    """Give a digest of the code of a module and of what it imports from this package.

    Comments, layout and docstrings do not count, so that rewording recomputes nothing.
    """
    parts, waiting = {}, [module]
    while waiting:
        current = waiting.pop()
        if current in parts:
            continue
        path = inspect.getsourcefile(importlib.import_module(current))
        tree = _without_docstrings(ast.parse(Path(path).read_text(encoding="utf-8")))
        parts[current] = ast.unparse(tree)
        waiting += [
            node.module
            for node in ast.walk(tree)
            if isinstance(node, ast.ImportFrom)
            and node.module
            and node.module.startswith(f"{PACKAGE}.")
            and node.module != __name__
        ]
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


def _without_docstrings(tree: ast.Module) -> ast.Module:
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if isinstance(body, list):
            statements = [
                line
                for line in body
                if not (isinstance(line, ast.Expr) and isinstance(line.value, ast.Constant))
            ]
            node.body = statements or [ast.Pass()]
    return tree
