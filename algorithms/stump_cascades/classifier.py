"""Cascades that train their own decision stumps: rows as 8-bit columns, stumps as trees."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, NamedTuple

import numpy as np

from ..estimators.parameters import Parameter
from ..exits.classifier import CascadeClassifier
from ..exits.responses import Responses, responses_of
from ..interop.as_seen import AS_SEEN
from ..interop.forest import MeteredForest
from ..interop.nodes import Leaf, Split, Tree
from ..prices.by_name import take_column_numbers


class Stump(NamedTuple):
    """A stump, and what it adds to the score of its stage."""

    feature: int  # -1 is a constant vote
    threshold: float
    vote: int  # 1 or -1, of values above the threshold; the others get minus that
    alpha: float

    def answers(self, X: np.ndarray) -> np.ndarray:
        """What it adds to the score of each row, (n_samples,) float64."""
        step = self.alpha * self.vote
        if self.feature < 0:
            return np.full(len(X), step)
        return np.where(X[:, self.feature] > self.threshold, step, -step)


def forest_of(stumps: list[Stump], n_features: int, names: Sequence[str] | None) -> MeteredForest:
    """Stumps as trees that answer with their votes."""

    def read(node):
        stump, sign = node
        if sign or stump.feature < 0:
            return Leaf((float(stump.vote * (sign or 1)),), sign)
        return Split(int(stump.feature), float(stump.threshold), (stump, -1), (stump, 1))

    return MeteredForest(
        [Tree((stump, 0), read) for stump in stumps],
        np.zeros(1),
        n_features,
        as_seen=AS_SEEN["double"],
        library="cascade's",
        feature_names=names,
    )


class StumpCascade(CascadeClassifier):
    """Base of these cascades; not to be used by itself."""

    _attributes: ClassVar[dict[str, Parameter]] = {
        name: parameter
        for name, parameter in CascadeClassifier._attributes.items()
        if name != "estimator_"
    } | {
        "n_stumps_": Parameter(
            "ndarray of shape (n_stages,), int64",
            "Stumps that each stage is the first to evaluate; constant votes are not evaluated.",
        )
    }

    def _responses(self, stumps: list[Stump]) -> Responses:
        """Stumps as a model; wrong prices are refused."""
        names = getattr(self, "feature_names_in_", None)
        meter = forest_of(stumps, self.n_features_in_, names)
        take_column_numbers(meter, self)
        responses = responses_of(meter)
        self._priced(responses)
        return responses

    def _set_up(self, responses, coef, intercept, thresholds, final_threshold=0.0) -> None:
        super()._set_up(responses, coef, intercept, thresholds, final_threshold)
        evaluated = self._hard_.responses.forest.n_split_trees(1)
        self.n_stumps_ = np.diff(evaluated[self._hard_.stops], prepend=0)

    def _restore_trees(self, meter: MeteredForest) -> None:
        """Nothing: trained again, the cascade has other stumps."""
