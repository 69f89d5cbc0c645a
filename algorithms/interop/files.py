"""Forests of other libraries as files of this package: loaded without the library.

The format is that of all estimators (:mod:`algorithms.estimators.files`), and a file is read as
distrustfully: whatever it holds, it is refused or is a forest that can be followed.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from ..costs import check_split_cost
from ..estimators.files import (
    MOST_FEATURES,
    SavedModel,
    entry,
    finite_number,
    refusing_parameters,
    restore_column_numbers,
    restored,
    restored_classes,
    stored_classes,
    stored_column_numbers,
    stored_parameter,
    whole_number,
)
from ..trees.forest import NODE_DTYPES, Forest, check_forest
from ..validation.types import StrPath
from .nodes import AS_SEEN, ClassLink, FlatTrees, InverseLink

_PRICES = ("feature_costs", "split_cost", "feature_groups", "group_costs", "feature_sharing")
_NAME_OF = {function: name for name, function in AS_SEEN.items()} | {np.asarray: "double"}
_LIKELIHOODS = (None, "logistic", "multinomial")
_MOST_CHARACTERS = 80  # of a library's name


def stored_meter(meter: Any) -> dict:
    """Entries of a header: how a meter compares rows with thresholds, and its prices."""
    as_seen = _NAME_OF.get(getattr(meter, "_as_seen", np.asarray))
    if as_seen is None:
        raise ValueError("Only forests read from a library can be saved, not made by hand.")
    return {
        "as_seen": as_seen,
        "prices": {name: stored_parameter(meter, name) for name in _PRICES},
    }


def checked_meter(header: dict) -> dict:
    """What :func:`stored_meter` stored, for `_metered`; prices are not yet checked."""
    as_seen = entry(header, "as_seen", str, "a name")
    if as_seen not in AS_SEEN:
        raise ValueError("it compares rows with thresholds in an unknown way")
    prices = entry(header, "prices", dict, "an object")
    if set(prices) != set(_PRICES):
        raise ValueError("it must hold prices of all kinds, and no others")
    return {"as_seen": AS_SEEN[as_seen], **{n: restored(value) for n, value in prices.items()}}


class SavedMeteredForest(SavedModel):
    """Files of a :class:`algorithms.interop.MeteredForest`; a mixin."""

    _stored_arrays: ClassVar = {
        "tree": (np.int64, "trees + 1"),
        **{name: (dtype, "nodes") for name, dtype in NODE_DTYPES.items()},
        "values": (np.float64, "nodes", "values of a leaf"),
        "numbers": (np.int64, "nodes"),
        "initial_scores": (np.float64, "outputs"),
    }

    def save(self, path: StrPath) -> None:
        """Write the forest and its prices to a file: arrays and JSON with a checksum, no pickle.

        To load it needs neither the library that grew it nor the data. The file appears whole or
        not at all.
        """
        self._write(path)

    def _contents(self) -> tuple[dict, dict[str, np.ndarray]]:
        names = getattr(self, "feature_names_in_", None)
        return {
            "class": "MeteredForest",
            "library": self.library,
            **stored_meter(self),
            "classes": None if self.link is None else stored_classes(self.link.classes),
            "likelihood": None if self.link is None else self.link.likelihood,
            **self._how_it_answers(),
            "allow_nan": self.allow_nan,
            "n_features": self.n_features_in_,
            "feature_names": None if names is None else names.tolist(),
            **stored_column_numbers(self),
        }, {
            **self._flat.forest._asdict(),
            "values": self._flat.values,
            "numbers": self._flat.numbers,
            "initial_scores": self.initial_scores_,
        }

    def _how_it_answers(self) -> dict:
        """What a file says of predictions and columns where it is not the usual."""
        said = {}
        if self.inverse_link is not None:
            said["inverse_link"] = self.inverse_link._asdict()
        if self.link is not None and self.link.second_if_zero:
            said["second_if_zero"] = True
        return said

    @classmethod
    def _from_file(cls, header: dict, arrays: dict[str, np.ndarray]):
        library = entry(header, "library", str, "a name")
        if not library.isprintable() or len(library) > _MOST_CHARACTERS:
            raise ValueError("its library has no name that could be shown")
        n_features = whole_number(header, "n_features", 1, MOST_FEATURES)
        allow_nan = "allow_nan" in header and entry(header, "allow_nan", bool, "true or false")
        meter, initial = checked_meter(header), arrays["initial_scores"]
        with refusing_parameters():
            forest = cls._metered(
                meter,
                _checked_forest(arrays, n_features, len(initial)),
                arrays["values"],
                initial,
                n_features,
                numbers=arrays["numbers"],
                library=library,
                feature_names=_names(header, n_features),
                link=_link(header, len(initial)),
                allow_nan=allow_nan,
                inverse_link=_inverse_link(header, len(initial)),
            )
            restore_column_numbers(forest, header)
            forest._refuse_wrong_prices()
        return forest

    @classmethod
    def _metered(
        cls,
        meter: dict,
        forest: Forest,
        values: np.ndarray,
        initial_scores: np.ndarray,
        n_features: int,
        *,
        numbers: np.ndarray | None = None,
        library: str = "saved",
        **how: Any,
    ):
        """Wrap a checked forest, so that it predicts and is charged by itself.

        `meter` is what :func:`checked_meter` gave. Leaves have `values`, (n_nodes, 1 or n_outputs),
        and `numbers`, else those of their nodes; `how` is more of what the constructor takes.
        """
        check_split_cost(meter["split_cost"])
        numbers = np.arange(len(values)) if numbers is None else numbers
        trees = FlatTrees.of_leaves(forest, values, numbers)
        told = {name: value for name, value in meter.items() if name != "feature_sharing"}
        metered = cls(trees, initial_scores, n_features, library=library, **told, **how)
        metered.feature_sharing = meter["feature_sharing"]
        metered._refuse_wrong_prices()
        return metered


def _names(header: dict, n_features: int) -> list[str] | None:
    names = entry(header, "feature_names", list | None, "a list or null")
    if names is not None and (
        len(names) != n_features or not all(isinstance(name, str) for name in names)
    ):
        raise ValueError(f"it does not hold a name for each of {n_features} features")
    return names


def _link(header: dict, n_outputs: int) -> ClassLink | None:
    stored = entry(header, "classes", dict | None, "an object or null")
    likelihood = entry(header, "likelihood", str | None, "a name or null")
    if likelihood not in _LIKELIHOODS:
        raise ValueError("its likelihood is of an unknown kind")
    if stored is None:
        return None
    classes = restored_classes(stored)
    if n_outputs != len(classes) and (n_outputs > 1 or len(classes) > 2):
        raise ValueError("it does not hold a score for each class")
    if likelihood is not None and (likelihood == "logistic") != (n_outputs == 1):
        raise ValueError("its likelihood does not fit the number of its scores")
    second = "second_if_zero" in header and entry(header, "second_if_zero", bool, "true or false")
    return ClassLink(classes, likelihood, second)


def _inverse_link(header: dict, n_outputs: int) -> InverseLink | None:
    stored = header.get("inverse_link")
    if stored is None:
        return None
    stored = entry(header, "inverse_link", dict, "an object")
    kind = entry(stored, "kind", str, "a name")
    link = InverseLink(kind, finite_number(stored, "slope"))
    link.check(n_outputs)
    return link


def _checked_forest(arrays: dict[str, np.ndarray], n_features: int, n_outputs: int) -> Forest:
    """Trees of a file whose leaves are such as readers of libraries give them."""
    forest = Forest(**{name: arrays[name] for name in Forest._fields})
    check_forest(forest, n_features, np.zeros(1), infinite_thresholds=True)
    values, numbers = arrays["values"], arrays["numbers"]
    if len(values) != len(forest.feature) or len(numbers) != len(forest.feature):
        raise ValueError("it does not hold values and a number for each node")
    if n_outputs < 1 or values.shape[1] not in (1, n_outputs):
        raise ValueError("its leaves do not hold one value, or one for each score")
    if values.shape[1] == 1 and forest.n_trees % n_outputs:
        raise ValueError("it does not hold whole rounds of trees")
    return forest
