"""A model and what is wrapped around it, in one file of the format of all estimators.

The header holds the wrapped model's own header as its entry ``model``; the arrays are the model's.
Each half is checked by the one that wrote it, so a file is either refused or whole. The model's
class is found among those of boosted trees that are imported; this package's are imported here.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

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
from ..inputs.types import StrPath


class SavedWithModel(SavedModel):
    """Files of an estimator around a fitted model of boosted trees, its parameter `model`; a mixin.

    A subclass defines `_check_restored`.
    """

    _fitted_params: ClassVar = ("model",)

    def save(self, path: StrPath) -> None:
        """Write this and the wrapped model, as both are now, to a file of arrays and JSON.

        It has a checksum and no pickle inside, and appears whole or not at all. What becomes of the
        model later makes no difference to it.
        """
        models = known_classes(BoostedTrees)
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
        return _model_class(header)._array_kinds(header["model"])

    @classmethod
    def _from_file(cls, header: dict, arrays: dict[str, np.ndarray]):
        params = known_parameters(cls, header)
        model_class = _model_class(header)
        try:
            model = model_class._from_file(header["model"], arrays)
        except ValueError as error:
            raise ValueError(f"in its {model_class.__name__}, {error}") from None
        with refusing_parameters():
            estimator = cls(model, **{name: restored(value) for name, value in params.items()})
            estimator._check_restored()
        return estimator


def _model_class(header: dict) -> type[BoostedTrees]:
    """Class of the wrapped model."""
    name = entry(entry(header, "model", dict, "an object"), "class", str, "the name of a class")
    models = known_classes(BoostedTrees)
    if name not in models:
        raise ValueError(f"its model is of class {name:.80}, not one of {', '.join(models)}")
    return models[name]
