"""The early exits by hand, and what must hold for any model."""

import math

import numpy as np
import pytest

from reference import boosting, early_exit, forest_costs, gbrt, greedy_miser, losses, metrics
from reference.beyond.by_name import fit


def stages(*columns):
    """Scores after 0, 1, … rounds (the rounds given), one column each."""
    return [np.zeros((len(columns[0]), 1)), *(np.array(c, dtype=float)[:, None] for c in columns)]


# --- proximity ------------------------------------------------------------------------------

# Seven documents of one query, an exit after each of two rounds, s = 1: margins 1 and 0.
#   exit 1: the fifth best is 6; 5.5 is within 1 of it, 4 is not and leaves.
#   exit 2: six remain: 10 9 8 7 3 6.5; the fifth best is 6.5, and 3 leaves, more than 0 below.
# The document that left first ranks last, though it left with 4, which is more than 3, and would
# have had 100.
SEVEN = stages([10, 9, 8, 7, 6, 5.5, 4], [10, 9, 8, 7, 3, 6.5, 100])


def test_proximity_by_hand():
    exits = early_exit.leave(SEVEN, s=1.0, every=1)
    np.testing.assert_array_equal(exits.exit, [3, 3, 3, 3, 2, 3, 1])
    np.testing.assert_array_equal(exits.rounds, [2, 2, 2, 2, 2, 2, 1])
    np.testing.assert_array_equal(exits.scores[:, 0], [10, 9, 8, 7, 3, 6.5, 4])
    np.testing.assert_array_equal(exits.ranking, [6, 5, 4, 3, 1, 2, 0])


def test_who_is_at_the_margin_stays():
    # 4 is exactly 2 below the fifth best, 5.5 is 0.5 below it.
    np.testing.assert_array_equal(early_exit.leave(SEVEN, s=2.0, every=1).exit[6], 3)
    np.testing.assert_array_equal(early_exit.leave(SEVEN, s=1.99, every=1).exit[6], 1)
    exits = early_exit.leave(SEVEN, s=0.4, every=1)
    np.testing.assert_array_equal(exits.exit, [3, 3, 3, 3, 3, 1, 1])


def test_margins_by_hand():
    margins = [early_exit.proximity_margin(i, 4, 1.5) for i in (1, 2, 3, 4)]
    np.testing.assert_allclose(margins, [1.5, 1.0, 0.5, 0.0], rtol=1e-15)
    assert early_exit.proximity_margin(300, 300, 0.4) == 0
    assert early_exit.proximity_margin(1, 300, 0.4) == 0.4
    assert early_exit.proximity_margin(1, 1, 0.4) == 0.4


def test_a_single_exit_has_the_margin_s():
    # E = 1 after the only round, or in the middle of three: the second round is no exit.
    for rounds in (SEVEN[:2], [*SEVEN, SEVEN[1]]):
        exits = early_exit.leave(rounds, s=1.0, every=len(rounds) // 2)
        assert set(exits.exit) == {1, 2}
    exits = early_exit.leave(SEVEN[:2], s=1.0, every=1)
    np.testing.assert_array_equal(exits.exit, [2, 2, 2, 2, 2, 2, 1])
    np.testing.assert_array_equal(exits.ranking, [6, 5, 4, 3, 2, 1, 0])


def test_fewer_than_five_documents_all_stay():
    exits = early_exit.leave([scores[3:] for scores in SEVEN], s=0.0, every=1)
    np.testing.assert_array_equal(exits.exit, 3)
    # The fifth decides: with it the sixth leaves.
    exits = early_exit.leave([scores[1:] for scores in SEVEN], s=0.0, every=1)
    np.testing.assert_array_equal(exits.exit, [3, 3, 3, 3, 3, 1])


def test_each_query_has_its_own_fifth():
    # The second query's scores are the first's less 100: the same leave.
    both = [np.concatenate([scores, scores - 100]) for scores in SEVEN]
    query = np.repeat([8, 3], 7)
    exits, alone = (
        early_exit.leave(both, query, s=1.0, every=1),
        early_exit.leave(SEVEN, s=1.0, every=1),
    )
    np.testing.assert_array_equal(exits.exit, np.tile(alone.exit, 2))
    np.testing.assert_array_equal(exits.ranking, np.tile(alone.ranking, 2))
    # As one query all of the second part leave at once.
    merged = early_exit.leave(both, s=1.0, every=1)
    np.testing.assert_array_equal(merged.exit[7:], 1)


# --- the other rules ------------------------------------------------------------------------


def test_score_by_hand():
    # Below 5.5: only the last at first; then the one with 3.
    exits = early_exit.leave(SEVEN, rule="score", s=5.5, every=1)
    np.testing.assert_array_equal(exits.exit, [3, 3, 3, 3, 2, 3, 1])


def test_capacity_by_hand():
    # Half of 7 is 4 (rounded up), half of those is 2. Ranked: the survivors, then exit 2, exit 1.
    exits = early_exit.leave(SEVEN, rule="capacity", s=0.5, every=1)
    np.testing.assert_array_equal(exits.exit, [3, 3, 2, 2, 1, 1, 1])
    np.testing.assert_array_equal(exits.ranking, [6, 5, 4, 3, 2, 1, 0])
    np.testing.assert_array_equal(early_exit.leave(SEVEN, rule="capacity", s=1.0, every=1).exit, 3)
    np.testing.assert_array_equal(early_exit.leave(SEVEN, rule="capacity", s=0.0, every=1).exit, 1)


def test_rank_by_hand():
    # Beyond rank 6 is the last only; at the second exit six are left.
    exits = early_exit.leave(SEVEN, rule="rank", s=6, every=1)
    np.testing.assert_array_equal(exits.exit, [3, 3, 3, 3, 3, 3, 1])
    exits = early_exit.leave(SEVEN, rule="rank", s=4, every=1)
    np.testing.assert_array_equal(exits.exit, [3, 3, 3, 3, 1, 1, 1])


@pytest.mark.parametrize(("rule", "s"), [("capacity", 0.1), ("rank", 1), ("proximity", 0.0)])
def test_ties_share_their_fate(rule, s):
    tied = stages([2.0] * 8, [2.0] * 8)
    exits = early_exit.leave(tied, rule=rule, s=s, every=1)
    np.testing.assert_array_equal(exits.exit, 3)
    np.testing.assert_array_equal(exits.ranking, 0)
    # One better than the rest: it stays alone, except where five places are looked at.
    ahead = stages([2.0] * 7 + [3.0], [2.0] * 7 + [3.0])
    left = early_exit.leave(ahead, rule=rule, s=s, every=1).exit == 1
    assert left.sum() == (0 if rule == "proximity" else 7)


@pytest.mark.parametrize("rule", ["score", "capacity", "rank", "proximity"])
def test_the_order_of_rows_does_not_matter(rule):
    rng = np.random.default_rng(0)
    scores = [rng.integers(0, 6, (30, 1)).astype(float) for _ in range(5)]
    s = {"score": 2.0, "capacity": 0.7, "rank": 9, "proximity": 1.5}[rule]
    order = rng.permutation(30)
    ours = early_exit.leave(scores, rule=rule, s=s, every=2)
    theirs = early_exit.leave([stage[order] for stage in scores], rule=rule, s=s, every=2)
    np.testing.assert_array_equal(ours.exit[order], theirs.exit)
    np.testing.assert_array_equal(ours.ranking[order], theirs.ranking)
    assert len(set(ours.exit)) > 1


def test_likelihood_by_hand():
    # Three classes, scores 0 and log 8: likelihoods 1/3 each, then 8/10 and 1/10. Two classes,
    # log-odds ±log 4: 0.8 either way.
    start, sure = np.zeros((3, 3)), np.array([[0, 0, 0], [math.log(8), 0, 0], [0, 0, 0]])
    exits = early_exit.leave(
        [start, sure, start - 1], rule="likelihood", s=0.79, every=1, loss="multinomial"
    )
    np.testing.assert_array_equal(exits.exit, [3, 1, 3])
    np.testing.assert_array_equal(exits.scores[1], sure[1])
    np.testing.assert_array_equal(exits.scores[0], [-1, -1, -1])
    assert exits.ranking is None
    none = early_exit.leave([start, sure], rule="likelihood", s=0.81, every=1, loss="multinomial")
    np.testing.assert_array_equal(none.exit, 2)
    odds = np.array([[math.log(4)], [-math.log(4)], [0.1]])
    exits = early_exit.leave([0 * odds, odds], rule="likelihood", s=0.79, every=1, loss="logistic")
    np.testing.assert_array_equal(exits.exit, [1, 1, 2])


# --- exits and stages -----------------------------------------------------------------------


def test_exits_every_so_many_rounds():
    assert early_exit.exit_rounds(30, 10) == [10, 20, 30]
    assert early_exit.exit_rounds(29, 10) == [10, 20]
    assert early_exit.exit_rounds(9, 10) == []
    assert early_exit.exit_rounds(0, 10) == []
    assert len(early_exit.exit_rounds(3000, 10)) == 300


def test_without_an_exit_all_rows_see_all_rounds():
    exits = early_exit.leave(SEVEN, s=0.0, every=3)
    np.testing.assert_array_equal(exits.rounds, 2)
    np.testing.assert_array_equal(exits.scores, SEVEN[2])
    np.testing.assert_array_equal(exits.ranking, [5, 4, 3, 2, 0, 1, 6])
    # A model without rounds: the start is all there is.
    empty = early_exit.leave(SEVEN[:1], s=0.0)
    np.testing.assert_array_equal(empty.rounds, 0)
    np.testing.assert_array_equal(empty.ranking, 0)


RULES = [("proximity", 0.3), ("score", 0.4), ("capacity", 0.9), ("rank", 6)]


def ranking_data(seed=0, n=240):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 8, (n, 4)).astype(float)
    y = np.clip(np.rint(X[:, 0] / 3 + X[:, 1] / 5 + rng.normal(size=n)), 0, 4)
    query = np.repeat(np.arange(20)[::-1], rng.multinomial(n - 40, np.full(20, 0.05)) + 2)
    return X, y, query


def ranking_model(**options):
    X, y, query = ranking_data()
    model = fit(greedy_miser, X, y, n_estimators=12, max_depth=3, min_samples_leaf=5, **options)
    return model, X, y, query


@pytest.mark.parametrize(("rule", "s"), RULES)
def test_later_leavers_rank_higher(rule, s):
    model, X, _, query = ranking_model()
    exits = early_exit.leave(early_exit.stages_of(model, X).scores, query, rule=rule, s=s, every=3)
    pairs = 0
    for rows in metrics.query_slices(query):
        for i in range(rows.start, rows.stop):
            for j in range(rows.start, rows.stop):
                if exits.exit[i] > exits.exit[j]:
                    assert exits.ranking[i] > exits.ranking[j]
                    pairs += 1
                elif exits.exit[i] == exits.exit[j]:
                    higher = exits.scores[i, 0] > exits.scores[j, 0]
                    assert (exits.ranking[i] > exits.ranking[j]) == higher
    assert pairs > 50


def test_a_margin_that_lets_all_stay_leaves_the_first_five_places_alone():
    # Only the last exit, whose margin is 0, takes any, and those are below the fifth.
    model, X, y, query = ranking_model()
    stages = early_exit.stages_of(model, X)
    exits = early_exit.leave(stages.scores, query, s=1e9, every=3)
    assert set(exits.exit) == {4, 5}
    for score in (metrics.ndcg_at_k, metrics.ndcg_letor_at_k):
        assert score(y, exits.ranking, query, 5) == score(y, stages.scores[-1][:, 0], query, 5)


# --- costs ----------------------------------------------------------------------------------


def test_costs_by_hand():
    # One row each of a model of two stumps: round 1 on feature 0, round 2 on feature 1. The second
    # row leaves after round 1.
    passed = [np.zeros((2, 2), int), np.array([[1, 0], [1, 0]]), np.array([[1, 1], [1, 1]])]
    scores = [np.zeros((2, 1)), np.array([[1.0], [0.0]]), np.array([[1.0], [9.0]])]
    stages = early_exit.Stages(scores, passed, np.array([0, 1, 2]), 2)
    exits = early_exit.leave(scores, rule="score", s=0.5, every=1)
    np.testing.assert_array_equal(exits.rounds, [2, 1])
    np.testing.assert_array_equal(early_exit.passed_until_exit(stages, exits), [[1, 1], [1, 0]])
    # Features 5 and 20, a node ¼, a tree 1.
    cost = early_exit.row_cost(
        stages, exits, feature_costs=[5.0, 20.0], split_cost=0.25, tree_cost=1.0
    )
    np.testing.assert_array_equal(cost, [5 + 20 + 0.5 + 2, 5 + 0.25 + 1])
    bill = early_exit.forest_cost_until_exit([0.0, 6.0, 27.0], exits)
    np.testing.assert_array_equal(bill, [27, 6])


PRICES = {"feature_costs": [1.0, 5.0, 20.0, 0.5], "split_cost": 0.25}


@pytest.mark.parametrize(("rule", "s"), RULES)
def test_rows_pay_until_their_exit(rule, s):
    model, X, _, query = ranking_model()
    stages = early_exit.stages_of(model, X)
    exits = early_exit.leave(stages.scores, query, rule=rule, s=s, every=3)
    by_stage = [np.zeros(len(X)), *boosting.staged_cost(model, X, **PRICES)]
    expected = [by_stage[t][row] for row, t in enumerate(exits.rounds)]
    np.testing.assert_array_equal(early_exit.row_cost(stages, exits, **PRICES), expected)
    full = boosting.prediction_cost(model, X, **PRICES)
    assert np.all(expected <= full)
    assert np.mean(expected) < np.mean(full)
    # The paper's bill: all features of the trees evaluated; never below the meter's.
    prices = {"feature_costs": PRICES["feature_costs"], "tree_cost": 1.0}
    bills = [0.0, *forest_costs.staged_forest_cost(model, 4, **prices)]
    billed = early_exit.forest_cost_until_exit(bills, exits)
    metered = early_exit.row_cost(stages, exits, **prices)
    assert np.all(billed >= metered)
    assert np.any(billed > metered)


def test_rows_that_never_leave_have_the_models_own_scores_and_costs():
    rng = np.random.default_rng(1)
    X = rng.integers(0, 8, (90, 3)).astype(float)
    y = np.digitize(X[:, 0] + rng.normal(size=90), [2.5, 5.5])
    model = fit(gbrt, X, y, loss="multinomial", n_estimators=5, max_leaves=4)
    stages = early_exit.stages_of(model, X)
    exits = early_exit.leave(stages.scores, rule="likelihood", s=1.0, every=2, loss="multinomial")
    np.testing.assert_array_equal(exits.scores, boosting.predict(model, X))
    prices = {"feature_costs": [1.0, 2.0, 0.1]}
    full = boosting.prediction_cost(model, X, **prices)
    np.testing.assert_array_equal(early_exit.row_cost(stages, exits, **prices), full)
    trees = early_exit.row_cost(stages, exits, tree_cost=1.0)
    np.testing.assert_array_equal(trees, sum(t.n_splits > 0 for r in model.rounds for t in r))
    # A lower threshold lets the sure ones go, at a lower cost.
    exits = early_exit.leave(stages.scores, rule="likelihood", s=0.5, every=2, loss="multinomial")
    left = exits.exit <= 2
    assert 0 < left.sum()
    largest = np.max(losses.probabilities("multinomial", exits.scores), axis=0)
    assert np.all(largest[left] > 0.5)
    assert np.all(early_exit.row_cost(stages, exits, **prices) <= full)


def test_a_tighter_rule_costs_less():
    model, X, _, query = ranking_model()
    stages = early_exit.stages_of(model, X)

    def rounds(rule, s):
        return early_exit.leave(stages.scores, query, rule=rule, s=s, every=3).rounds.sum()

    for rule, settings in [
        ("proximity", [1e9, 0.3, 0.1, 0.0]),
        ("capacity", [1.0, 0.9, 0.5, 0.1]),
        ("rank", [100, 8, 6, 1]),
        ("score", [-1e9, 1.0, 1.5, 1e9]),
    ]:
        spent = [rounds(rule, s) for s in settings]
        assert spent == sorted(spent, reverse=True)
        assert spent[-1] < spent[0]
