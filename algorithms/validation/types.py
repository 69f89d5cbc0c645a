"""Types of what users hand to estimators, for the annotations of the whole package."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import csr_matrix

# One number for each column, or by their names. A Series is an ArrayLike; None is the default.
FeatureCosts: TypeAlias = ArrayLike | Mapping[str, float] | None
# A label for each column, or by the columns' names.
FeatureGroups: TypeAlias = ArrayLike | Mapping[str, int] | Mapping[str, str] | None
# A price for each label.
GroupCosts: TypeAlias = Mapping[int, float] | Mapping[str, float] | None
# A factor for each label, by its value, or "balanced".
ClassWeight: TypeAlias = str | Mapping[Any, float] | None
Seed: TypeAlias = int | np.random.RandomState | None
StrPath: TypeAlias = str | os.PathLike[str]
# Which row asked for which feature: sparse where there are many features.
AcquiredFeatures: TypeAlias = np.ndarray | csr_matrix
# A name, or a function of true and predicted values.
Metric: TypeAlias = str | Callable[..., Any]
# The same in scikit-learn's words; None is the estimator's own score.
Scoring: TypeAlias = str | Callable[..., Any] | None
# (X, y), (X, y, query_id), or a list of one such tuple.
EvalSet: TypeAlias = tuple[Any, ...] | list[tuple[Any, ...]] | None
