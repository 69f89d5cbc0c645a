"""One λ for all libraries: that of Eq. (2) of the CEGB paper, in the units of each one's gain.

By Eq. (12) a split on a feature that n rows of the node have not paid for yet must bring λ·β·n.
With g and h, the loss's derivatives, each library calls something else the gain of a split:

=============================  =====================  ==========================================
library                        gain of a split        its coefficient for λ
=============================  =====================  ==========================================
ours, Eq. (12)                 ½ Δ Σ (Σg)²/Σh         λ
LightGBM                       Δ Σ (Σg)²/Σh           2 λ
CatBoost, score function L2    Δ Σ (Σg)²/n            2 λ h, with h = 1 (squared loss), else ¼
=============================  =====================  ==========================================

CatBoost's usual trees are oblivious: a level's question is put to all rows, so that prices per row
and per model are one and the same model there. Prices per row are therefore tried with the policy
``Lossguide``, whose rows part ways, and prices per model (β · training rows) with oblivious trees.
Neither ever stops because of a price: the cheapest question is asked, however little it brings.
Of several binary features CatBoost 1.2 prices only the one that is best without prices, so that a
free one behind an expensive one is not found (ran; Covertype has 44 binary columns).
"""

from __future__ import annotations

from typing import Any

import numpy as np

LARGEST_LOGISTIC_HESSIAN = 0.25
"""h = p(1 - p) at p = ½."""

_DEEPEST = 16  # CatBoost's own limit on the depth of its trees


def lightgbm_per_row(tradeoff: float, feature_costs: np.ndarray) -> dict[str, Any]:
    """Give LightGBM's penalties per row ("lazy"); the coupled ones are wrong.

    See ``benchmarks/lightgbm_cegb_defect.py``.
    """
    prices = feature_costs.tolist()
    return {"cegb_tradeoff": 2 * tradeoff, "cegb_penalty_feature_lazy": prices}


def catboost_at_first_use(
    tradeoff: float, feature_costs: np.ndarray, n_rows: int, classifies: bool
) -> dict[str, Any]:
    """Give CatBoost's penalties at the model's first use of a feature: those of all rows."""
    prices = (feature_costs * n_rows).tolist()
    return _catboost(tradeoff, classifies) | {"first_feature_use_penalties": prices}


def catboost_per_object(
    tradeoff: float,
    feature_costs: np.ndarray,
    max_leaves: int,
    min_samples_leaf: int,
    classifies: bool,
) -> dict[str, Any]:
    """Give CatBoost's penalties for each row that first needs a feature, and trees that part."""
    return _catboost(tradeoff, classifies) | {
        "per_object_feature_penalties": feature_costs.tolist(),
        "grow_policy": "Lossguide",
        "depth": _DEEPEST,
        "max_leaves": max_leaves,
        "min_data_in_leaf": min_samples_leaf,
    }


def _catboost(tradeoff: float, classifies: bool) -> dict[str, Any]:
    hessian = LARGEST_LOGISTIC_HESSIAN if classifies else 1.0
    return {"score_function": "L2", "penalties_coefficient": 2 * tradeoff * hessian}
