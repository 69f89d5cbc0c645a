"""Cascades as files, and models with what is wrapped around them, in the format of all estimators.

Of a cascade that is the weights of all trees, and the trees with the prices that they had. Whatever
the trees came from, a loaded cascade holds them as a :class:`algorithms.interop.MeteredForest`,
which needs no other library. It is also the loaded model's `estimator`: fitted again, the cascade
takes the same trees. Prices of the cascade's own are parameters of it, and stored as such.

Around a wrapped model the header holds the model's own header as its entry ``model``; the arrays
are the model's. Each half is checked by the one that wrote it, so a file is either refused or
whole. The model's class is found among those of boosted trees that are imported; this package's are
imported here.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from sklearn.utils.validation import check_is_fitted

from .. import cegb, gbrt, greedy_miser  # noqa: F401 - their classes register themselves
from ..boosted_trees.estimator import BoostedTrees
from ..estimators.files import (
    SavedModel,
    entry,
    known_classes,
    known_parameters,
    refusing_parameters,
    restored,
)
from ..estimators.parameters import checked_parameters
from ..interop.files import checked_meter, stored_meter
from ..interop.forest import MeteredForest
from ..trees.forest import NODE_DTYPES, Forest, check_forest
from ..validation.types import StrPath
from .fitted_trees import FittedTrees, fitted_trees_of

LARGEST_SCORE = np.finfo(np.float64).max / 4


def largest_answers(forest: Forest) -> np.ndarray:
    """Largest value of each tree in size: (n_trees,) float64."""
    if not forest.n_trees:
        return np.zeros(0)
    return np.maximum.reduceat(np.abs(forest.value), forest.tree[:-1])


class SavedCascade(SavedModel):
    """Files of a cascade; a mixin."""

    _fitted_params: ClassVar = ("estimator",)
    _stored_arrays: ClassVar = {
        "tree": (np.int64, "trees + 1"),
        **{name: (dtype, "nodes") for name, dtype in NODE_DTYPES.items()},
        "coef": (np.float64, "stages", "trees"),
        "intercept": (np.float64, "stages"),
        "thresholds": (np.float64, "thresholds"),
    }
    # What a file also holds: attributes that are one number, without their last underscore.
    _stored_numbers: ClassVar[tuple[str, ...]] = ("objective",)

    def _stored(self) -> tuple[dict, dict[str, np.ndarray]]:
        header = {
            **stored_meter(self._responses_.meter),
            **{name: float(getattr(self, f"{name}_")) for name in self._stored_numbers},
        }
        return header, self._stored_stages() | self._responses_.forest._asdict()

    def _stored_stages(self) -> dict[str, np.ndarray]:
        """What the stages make of the trees."""
        return {
            "coef": np.ascontiguousarray(self.coef_),
            "intercept": self.intercept_,
            "thresholds": self.thresholds_,
        }

    def _restore(self, header: dict, arrays: dict[str, np.ndarray]) -> None:
        forest = Forest(**{name: arrays[name] for name in Forest._fields})
        check_forest(forest, self.n_features_in_, np.zeros(1), infinite_thresholds=True)
        if len(self.classes_) > 2:
            raise ValueError("it must hold at most two classes")
        meter = MeteredForest._metered(
            checked_meter(header),
            forest,
            forest.value[:, None],
            np.zeros(1),
            self.n_features_in_,
            feature_names=getattr(self, "feature_names_in_", None),
        )
        for name in self._stored_numbers:
            number = entry(header, name, float, "a number")
            if not abs(number) <= LARGEST_SCORE:
                raise ValueError(f"{name} in its header must be a finite number")
            setattr(self, f"{name}_", number)
        self._restore_trees(meter)
        self._restore_stages(fitted_trees_of(meter), arrays)

    def _restore_trees(self, meter: MeteredForest) -> None:
        """Take over the trees: fitted again, the cascade takes the same."""
        self.estimator = self.estimator_ = meter

    def _restore_stages(self, responses: FittedTrees, arrays: dict[str, np.ndarray]) -> None:
        """Take over what the stages make of the trees."""
        coef, intercept = arrays["coef"], arrays["intercept"]
        self._set_up(responses, coef, intercept, arrays["thresholds"])
        with np.errstate(over="ignore"):
            scores = np.abs(coef) @ largest_answers(responses.forest) + np.abs(intercept)
        if not np.all(scores <= LARGEST_SCORE):
            raise ValueError("its scores are so large that they are no finite numbers")

    def _check_restored(self) -> None:
        check_is_fitted(self)
        checked_parameters(self)
        self._priced(self._responses_)


class SavedWithModel(SavedModel):
    """Files of an estimator around a fitted model, its parameter `model`; a mixin.

    A subclass defines `_check_restored`.
    """

    _fitted_params: ClassVar = ("model",)
    _wraps: ClassVar[type[SavedModel]] = BoostedTrees

    def save(self, path: StrPath) -> None:
        """Write this and the wrapped model, as both are now, to a file of arrays and JSON.

        It has a checksum and no pickle inside, and appears whole or not at all. What becomes of the
        model later makes no difference to it.
        """
        models = self._model_classes()
        if models.get(type(self.model).__name__) is not type(self.model):
            listed = ", ".join(models)
            raise ValueError(
                f"Cannot save the {type(self).__name__} of a {type(self.model).__name__}: only "
                f"these are saved with it: {listed}. Save any other model in its library's own "
                "format, load it from there, and wrap it again."
            )
        super().save(path)

    def _contents(self) -> tuple[dict, dict[str, np.ndarray]]:
        model, arrays = self.model._contents()
        return {
            "class": type(self).__name__,
            "params": self._stored_params(),
            "model": model,
        }, arrays

    @classmethod
    def _array_kinds(cls, header: dict):
        return cls._model_class(header)._array_kinds(header["model"])

    @classmethod
    def _from_file(cls, header: dict, arrays: dict[str, np.ndarray]):
        params = known_parameters(cls, header)
        model_class = cls._model_class(header)
        try:
            model = model_class._from_file(header["model"], arrays)
        except ValueError as error:
            raise ValueError(f"in its {model_class.__name__}, {error}") from None
        with refusing_parameters():
            estimator = cls(model, **{name: restored(value) for name, value in params.items()})
            estimator._check_restored()
        return estimator

    @classmethod
    def _model_classes(cls) -> dict[str, type[SavedModel]]:
        """Classes that the wrapped model may be of, by their names."""
        known = known_classes(cls._wraps)
        return {name: kind for name, kind in known.items() if kind is not cls}

    @classmethod
    def _model_class(cls, header: dict) -> type[SavedModel]:
        """Class of the wrapped model."""
        name = entry(entry(header, "model", dict, "an object"), "class", str, "the name of a class")
        models = cls._model_classes()
        if name not in models:
            raise ValueError(f"its model is of class {name:.80}, not one of {', '.join(models)}")
        return models[name]
