"""A defect of LightGBM's cost penalties: ``python -m benchmarks.lightgbm_cegb_defect``.

400 rows, two features. The root splits on x0. In its left leaf (200 rows) x1 gains 39.8, in its
right leaf much more. A split costs 0.2 for each row of the leaf, so the left leaf's split would
cost 40: its net gain is -0.2 and it must not be made, whatever the order.

LightGBM 4.7.0 does as it should, until a coupled penalty (paid once per model and feature) is
given as well, however small. It then keeps each leaf's best split of every feature *without* its
penalties, and when another leaf pays the coupled penalty of a feature, it adds that penalty to the
bare gain: split and lazy penalties are gone, and the split is made. Here every open leaf is ranked
again, with all its penalties.

Gains are in LightGBM's unit: without the 1/2 of the paper's Eq. (12), so that its
``cegb_tradeoff`` of 1 is ours of 1/2.
"""

from __future__ import annotations

import sys
from typing import NamedTuple

import numpy as np

from algorithms.cegb import CEGBRegressor

TINY = 1e-9


class Case(NamedTuple):
    """Penalties of one run: per row and split, per row and feature, per model and feature."""

    name: str
    split: float
    lazy: tuple[float, float]
    coupled: float


CASES = [
    Case("split penalty", 0.2, (0.0, 0.0), 0.0),
    Case("split penalty, coupled penalty", 0.2, (0.0, 0.0), TINY),
    Case("lazy penalty", 0.0, (0.0, 0.2), 0.0),
    Case("lazy penalty, coupled penalty", 0.0, (0.0, 0.2), TINY),
]


class Split(NamedTuple):
    """One split that was made."""

    n_rows: int
    feature: int
    reported: float


def data() -> tuple[np.ndarray, np.ndarray]:
    """400 rows: features in {0, 1}, and targets."""
    X = np.array([[a, b] for a in (0, 1) for b in (0, 1) for _ in range(100)], dtype=np.float64)
    effect = np.where(X[:, 0] == 0, np.sqrt(39.8 / 200), 5.0)  # of x1: n * effect**2 is its gain
    return X, np.where(X[:, 0] == 0, -20.0, 20.0) + np.where(X[:, 1] == 0, -effect, effect)


def our_splits(X: np.ndarray, y: np.ndarray, case: Case) -> list[Split]:
    """Grow one tree with this suite; its splits in order."""
    model = CEGBRegressor(
        n_estimators=1,
        max_leaves=4,
        min_samples_leaf=1,
        init="zero",
        tradeoff=0.5,
        split_cost=case.split,
        feature_costs=case.lazy,
        model_feature_costs=[case.coupled, case.coupled],
    ).fit(X, y)
    forest = model.trees_
    nodes = np.flatnonzero(forest.feature >= 0)
    nodes = nodes[np.argsort(forest.left[nodes])]
    return [
        Split(int(forest.count[n]), int(forest.feature[n]), 2 * float(forest.gain[n]))
        for n in nodes
    ]


def their_splits(X: np.ndarray, y: np.ndarray, case: Case) -> list[Split]:
    """Grow one tree with LightGBM; its splits in order."""
    import lightgbm

    parameters = {
        "objective": "regression",
        "num_leaves": 4,
        "min_data_in_leaf": 1,
        "min_data_in_bin": 1,
        "min_sum_hessian_in_leaf": 0,
        "feature_pre_filter": False,
        "boost_from_average": False,
        "force_col_wise": True,
        "num_threads": 1,
        "verbosity": -1,
        "cegb_tradeoff": 1.0,
        "cegb_penalty_split": case.split,
        "cegb_penalty_feature_lazy": list(case.lazy),
    }
    if case.coupled:
        parameters["cegb_penalty_feature_coupled"] = [case.coupled, case.coupled]
    model = lightgbm.train(parameters, lightgbm.Dataset(X, y), 1)
    splits = {}

    def visit(node: dict) -> None:
        if "split_feature" in node:
            split = Split(node["internal_count"], node["split_feature"], node["split_gain"])
            splits[node["split_index"]] = split
            visit(node["left_child"])
            visit(node["right_child"])

    visit(model.dump_model()["tree_info"][0]["tree_structure"])
    return [splits[number] for number in sorted(splits)]


def left_leaf_s_net_gain(X: np.ndarray, y: np.ndarray, case: Case) -> float:
    """Gain of splitting the root's left leaf on x1, less all its penalties, x1 being paid for."""
    leaf = X[:, 0] == 0
    sides = [y[leaf & (X[:, 1] == b)] for b in (0, 1)]
    raw = sum(side.sum() ** 2 / len(side) for side in sides) - y[leaf].sum() ** 2 / leaf.sum()
    return raw - leaf.sum() * (case.split + case.lazy[1])


def table() -> list[str]:
    """Both behaviours, line by line."""
    X, y = data()
    splits = "splits: rows, feature (gain said)"
    lines = [f"{'penalties':<33}{'program':<11}{splits:<58}net gain on the left"]
    for case in CASES:
        net = left_leaf_s_net_gain(X, y, case)
        for program, grow in (("LightGBM", their_splits), ("this suite", our_splits)):
            splits = grow(X, y, case)
            made = "  ".join(f"{s.n_rows} x{s.feature} ({s.reported:.6g})" for s in splits)
            verdict = "SPLIT, wrongly" if len(splits) == 3 else "not split"
            lines.append(f"{case.name:<33}{program:<11}{made:<58}{net:+.1f}, {verdict}")
    return lines


def main() -> None:
    """Print the table, or say what is missing."""
    try:
        import lightgbm
    except ImportError:
        sys.exit("LightGBM is missing: run `make setup-peers`, then this script again.")
    print(f"LightGBM {lightgbm.__version__}; tradeoff 1, coupled penalty {TINY:g}")
    print("\n".join(table()))


if __name__ == "__main__":
    main()
