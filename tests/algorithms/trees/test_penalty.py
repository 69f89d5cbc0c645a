"""What splits pay: CEGB's penalty by hand, and two others that the same grower grows with."""

from __future__ import annotations

import hashlib
from collections import namedtuple
from pathlib import Path
from types import SimpleNamespace

import numba
import numpy as np
import pytest

from algorithms import boosting
from algorithms.grid import row_weights
from algorithms.losses import Loss
from algorithms.trees import penalty, splitter
from algorithms.trees.histogram import in_halves
from reference import boosting as reference_boosting
from reference import trees as reference
from reference.beyond import NOTHING
from tests.algorithms.trees.test_trees import derivatives
from tests.twins import assert_same_trees, awkward_data

# --- CEGB by hand ------------------------------------------------------------------------------


def accounts(**changes):
    """A penalty with two words of marks, a group (1 and 2), and a feature free per row (3)."""
    return penalty.CEGBPenalty(
        tradeoff=0.5,
        split_price=np.array([0.0, 0.1, 0.1, 0.1, 0.1]),
        row_price=np.array([0.0, 2.0, 2.0, 0.0, 2.0]),
        own_price=np.zeros(5),
        model_price=np.array([0.0, 3.0, 3.0, 9.0, 3.0]),
        unit=np.array([0, 1, 1, 2, 3]),
        mark=np.array([-1, 0, 0, -1, 1]),
        own_mark=np.full(5, -1),
        model_uses=np.zeros(4, dtype=np.uint8),
        marks=np.zeros((10, 1), dtype=np.uint64),
        all_fresh=np.array([10, 10]),
        fresh=np.zeros((3, 2), dtype=np.int64),
        mark_counts=np.zeros((1, 64), dtype=np.int64),
        weight_step=1.0,
    )._replace(**changes)


def test_ranking_by_net_gain():
    """Eqs. (12) and (13) and the ties."""
    raw = np.array([0.0, 8.0, 8.0, 10.0, 8.0])
    now = accounts()
    now.fresh[2] = 4, 0
    # 1, 2: 4 - ½ (1 + 3 + 8) = -2; 3: 5 - ½ (1 + 9) = 0; 4: 4 - ½ (1 + 3 + 0) = 2.
    assert splitter.rank_features(raw, now, 2, 10.0) == (2.0, 4)
    now.model_uses[2] = 1  # 3: 5 - ½ = 4.5
    assert splitter.rank_features(raw, now, 2, 10.0) == (4.5, 3)
    now.model_uses[1] = 1
    now.fresh[2, 0] = 0  # 1, 2: 4 - ½ = 3.5, as 4 would have; then the lowest number
    now.model_uses[3] = 1
    raw[3] = 8.0
    assert splitter.rank_features(raw, now, 2, 10.0) == (3.5, 1)
    # Weights on a grid: four fresh rows of half a step each cost half.
    now.fresh[2, 0] = 4
    raw[2:] = 0.0
    half = now._replace(weight_step=0.5)
    assert splitter.rank_features(raw, half, 2, 10.0) == (4 - 0.5 * 5, 1)
    assert splitter.rank_features(np.zeros(5), now, 2, 10.0) == (-np.inf, -1)


@numba.njit(error_model="numpy")
def split_root(accounts, feature, rows, n_small, gh):
    penalty.begin_tree(accounts)
    changed = penalty.pay(accounts, 0, feature, rows)
    penalty.divide(accounts, 0, (2, 1), rows[:n_small], gh, n_small)
    return changed


def test_accounts_of_a_split():
    """Eqs. (4) and (5): what is used, and how many rows of either leaf are fresh."""
    now, rows = accounts(), np.arange(10, dtype=np.int32)[::-1].copy()
    gh = np.ones((10, 2), dtype=np.int32)
    now.marks[[9, 0, 1], 0] |= np.uint64(2)  # three rows have used unit 3, one of them in node 2
    now.all_fresh[1] = 7
    assert split_root(now, 2, rows, 4, gh)  # model price 3: others are charged less
    np.testing.assert_array_equal(now.fresh[[2, 1]], [[0, 3], [0, 4]])
    np.testing.assert_array_equal(now.model_uses, [0, 1, 0, 0])
    np.testing.assert_array_equal(now.all_fresh, [0, 7])
    assert np.all(now.marks & np.uint64(1))
    assert not split_root(now, 1, rows, 4, gh)  # of the same group: paid for
    assert not split_root(now, 0, rows, 4, gh)  # free from the start
    assert split_root(now, 4, rows, 4, gh)
    np.testing.assert_array_equal(now.fresh, 0)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("n_marks", [1, 64, 65, 130])
@pytest.mark.parametrize("n", [0, 1, 3, 4, 251, 252, 253, 1000])
def test_marks(weighted, n_marks, n):
    rng = np.random.default_rng(n)
    n_words = -(-n_marks // 64)
    marks = np.zeros((1100, n_words), dtype=np.uint64)
    expected = np.zeros((1100, 64 * n_words), dtype=bool)
    rows = rng.permutation(1100).astype(np.int32)
    for mark in {0, n_marks - 1, n_marks // 2}:
        start, stop = sorted(rng.integers(0, 1101, 2))
        penalty.mark_rows(marks, rows[start:stop], mark)
        expected[rows[start:stop], mark] = True
    marks[:, -1] |= np.uint64(1)  # fills a one-byte counter to its limit
    expected[:, 64 * (n_words - 1)] = True
    bits = np.unpackbits(marks.view(np.uint8), axis=1, bitorder="little").astype(bool)
    np.testing.assert_array_equal(bits, expected)
    gh = derivatives(rng, 1100, weighted)
    counts = np.full(64 * n_words, -1, dtype=np.int64)
    inside = rows[60 : 60 + n]
    penalty.count_marks(marks, inside, in_halves(gh), counts)
    weights = gh[inside, 2] if weighted else np.ones(n, dtype=np.int64)
    np.testing.assert_array_equal(counts, weights @ expected[inside])


# --- other penalties, the same grower ------------------------------------------------------------

# numba keeps compiled code by the name of a type: with a digest of this file in the name, code
# compiled before an edit of it is not found again.
DIGEST = hashlib.sha256(Path(__file__).read_bytes()).hexdigest()[:12]


def penalty_class(name, fields):
    kind = namedtuple(f"{name}_{DIGEST}", fields)
    kind.__module__ = __name__
    globals()[kind.__name__] = kind
    return kind


PerNode = penalty_class("PerNode", "tradeoff price n_nodes")
FirstUse = penalty_class("FirstUse", "tradeoff price used to_come")


@penalty.implements(penalty.charge, PerNode)
def per_node_charge(penalty, leaf, feature, n_rows):
    return penalty.tradeoff * penalty.price[feature]


@penalty.implements(penalty.pay, PerNode)
def per_node_pay(penalty, node, feature, rows):
    penalty.n_nodes[0] += 1
    return False


@penalty.implements(penalty.charge, FirstUse)
def first_use_charge(penalty, leaf, feature, n_rows):
    return 0.0 if penalty.used[feature] else penalty.tradeoff * penalty.price[feature]


@penalty.implements(penalty.pay, FirstUse)
def first_use_pay(penalty, node, feature, rows):
    penalty.to_come[feature] = True
    return False


for kind in (PerNode, FirstUse):

    @penalty.implements(penalty.begin_tree, kind)
    def begin_tree(penalty):
        return

    @penalty.implements(penalty.divide, kind)
    def divide(penalty, node, leaves, rows, gh, n_rows):
        return


class ChargePerNode:
    """Every split node costs the price of its feature, again and again."""

    def __init__(self, tradeoff, price):
        self.tradeoff, self.price, self.n_paid = tradeoff, price, 0

    def begin(self, n_samples, total_weight, weight_step, n_nodes):
        self.n_nodes = np.zeros(1, dtype=np.int64)
        return PerNode(self.tradeoff, self.price, self.n_nodes)

    def end_round(self, penalty):
        pass

    def reference_charge(self, m):
        return self.tradeoff * self.price[m]

    def reference_pay(self, m):
        self.n_paid += 1

    def reference_end_round(self):
        pass


class ChargeFirstUse:
    """A feature costs until the end of the round in which the model first uses it."""

    def __init__(self, tradeoff, price):
        self.tradeoff, self.price = tradeoff, price
        self.paid, self.to_pay = set(), set()

    def begin(self, n_samples, total_weight, weight_step, n_nodes):
        return FirstUse(self.tradeoff, self.price, *np.zeros((2, len(self.price)), dtype=bool))

    def end_round(self, penalty):
        penalty.used[:] |= penalty.to_come

    def reference_charge(self, m):
        return 0.0 if m in self.paid else self.tradeoff * self.price[m]

    def reference_pay(self, m):
        self.to_pay.add(m)

    def reference_end_round(self):
        self.paid |= self.to_pay


def naive_fit(X, y, limits, rounds, charging):
    """Boost with the reference's grower and the charging's plain Python."""

    def grow(k, g, h, data, record):
        tree = reference.grow_tree(
            data,
            data.on_grid(g),
            data.on_grid(h, positive=True),
            limits,
            lambda raw, rows, m: 0.5 * raw - charging.reference_charge(m),
            lambda node, rows, m, threshold, net: charging.reference_pay(m),
        )
        charging.reference_end_round()
        return tree

    return reference_boosting.boost(
        grow, reference.training_data(X, y, 255), loss="squared", init="mean",
        n_estimators=rounds, learning_rate=0.5, beyond=NOTHING,
    )  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("growth", ["best_first", "breadth_first"])
@pytest.mark.parametrize("charging_of", [ChargePerNode, ChargeFirstUse])
def test_another_penalty_needs_no_other_grower(charging_of, growth):
    rng = np.random.default_rng(6)
    X, y = awkward_data(rng, 150, 6, "squared")
    price = np.array([0.0, 1, 2, 3, 1, 2])
    # A price that decides: the largest raw gain divided by some tens.
    tradeoff = 0.02 * float(np.sum((y - y.mean()) ** 2))
    charging = charging_of(tradeoff, price)
    limits = splitter.Limits(8, -1, 5.0, 0.0, growth == "best_first", True)
    options = boosting.Options(6, 0.5, limits, 255, True, False, True, None, 1)
    fitted = boosting.boost(X, y, row_weights(None, len(y)), Loss("squared"), options, charging)
    theirs = reference.Limits(8, None, 5, 0.0, growth)
    model = naive_fit(X, y, theirs, 6, charging)
    ours = SimpleNamespace(
        trees_=fitted.forest, initial_scores_=fitted.initial, n_estimators_=fitted.n_rounds
    )
    assert_same_trees(ours, model)
    splits = [tree.feature[tree.feature >= 0] for (tree,) in model.rounds]
    assert len(np.concatenate(splits)) > 5
    free = naive_fit(X, y, theirs, 6, charging_of(0.0, price))
    assert any(  # the price has decided something
        not np.array_equal(a[0].feature, b[0].feature)
        for a, b in zip(model.rounds, free.rounds, strict=False)
    )
    if charging_of is ChargePerNode:
        assert charging.n_nodes[0] == charging.n_paid
    else:
        assert charging.paid


def test_a_penalty_without_functions_is_refused():
    nothing = penalty_class("Nothing", "price")
    with pytest.raises(numba.TypingError, match="begin_tree"):
        split_root(nothing(np.zeros(2)), 0, np.arange(4, dtype=np.int32), 2, np.ones((4, 2)))
    with pytest.raises(NotImplementedError, match="compiled code only"):
        penalty.charge(accounts(), 0, 0, 1.0)
