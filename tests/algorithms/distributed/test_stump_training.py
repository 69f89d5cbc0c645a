"""AdaBoost.MH on rows of several workers: the bytes of the model are those of one machine."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import dask.array as da
import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from algorithms.adaboost_mh import AdaBoostMH
from algorithms.adaptive_sampling import Laminating, MASNaive
from algorithms.distributed import stump_training, stump_workers, workers
from algorithms.estimators.fitting import ConstantModelWarning
from algorithms.feature_sampling import BEST_FAMILY, SAMPLERS, UCB
from algorithms.stumps.pair_weights import PairWeights
from algorithms.stumps.sampling import Sampler, on_all_examples
from algorithms.stumps.search import DefaultCodes, search
from tests.test_adaboost_mh import draw_data
from tests.test_adaboost_mh_weights import draw_weights

from .clusters import Frame, addresses_of, laid_out, saved

ROOT = Path(__file__).resolve().parents[3]
N = 403
FAMILIES = [[0, 1, 2], [3], [4, 5, 6, 7, 8]]
SMALL = AdaBoostMH(n_estimators=6, max_cost=3, families=FAMILIES, random_state=5, n_threads=1)
BYTES, Y = draw_data(np.random.default_rng(31), N, 9, 3)
FLOATS = np.random.default_rng(32).normal(size=(N, 9)).round(1) + (BYTES > 99)
WEIGHTS = {
    kind: draw_weights(np.random.default_rng(33), N, kind)
    for kind in ("whole", "fractions", "far apart", "many copies")
}
WITH_ZEROS = WEIGHTS["whole"] * (np.arange(N) % 3 > 0) * (Y != 1)  # and one class not at all
WITH_ZEROS[:90] = 0.0  # a whole block

# Rows, classes, weights and parameters.
FITS = {
    "bytes": (BYTES, Y, None, {}),
    "two classes, binned": (FLOATS, Y > 0, None, {}),
    "names, copies": (FLOATS, np.array(["a", "bb", "ccc"])[Y], WEIGHTS["whole"], {}),
    "fractions, balanced": (BYTES, Y, WEIGHTS["fractions"], {"initial_weights": "balanced"}),
    "far apart": (FLOATS, Y == 2, WEIGHTS["far apart"], {}),
    "many copies": (BYTES, Y, WEIGHTS["many copies"], {"smoothing": 0.01}),
    "weights of 0": (FLOATS, Y, WITH_ZEROS, {}),
    "float32": (FLOATS.astype(np.float32), Y, None, {"sampler": "all_features"}),
}
SAMPLED = [*SAMPLERS, BEST_FAMILY, "uniform draws", "list"]
OBJECTS = {
    "uniform draws": [MASNaive(by_weight=False), Laminating(4, 30, by_weight=False)],
    "list": [UCB(scale=2.0), UCB(scale=8.0, shuffle=True), "laminating"],
}


def there_and_here(model, client, X, y, weights=None, n_blocks=5):
    """The model of all workers, and that of one machine."""
    here = clone(model).fit(X, y, sample_weight=weights)
    rows, classes = laid_out(client, X, n_blocks), laid_out(client, y, n_blocks)
    weights = None if weights is None else laid_out(client, weights, n_blocks)
    return clone(model).fit(rows, classes, sample_weight=weights), here


@pytest.mark.slow
@pytest.mark.parametrize("name", FITS)
def test_the_model_is_that_of_one_machine(name, client, used):
    X, y, weights, parameters = FITS[name]
    model = clone(SMALL).set_params(**{"sampler": "uniform_naive"} | parameters)
    there, here = there_and_here(model, client, X, y, weights)
    assert used == [len(addresses_of(client))]
    assert len(np.unique(here.stumps_.feature)) > 1
    assert len(np.unique(here.stumps_.alpha)) > 1
    assert saved(there) == saved(here)


@pytest.mark.slow
@pytest.mark.parametrize("client", [2], indirect=True)
@pytest.mark.parametrize("name", SAMPLED)
def test_samplers_see_and_draw_the_same(name, client):
    """Also those that draw examples: draws are made once, and rows are found where they are."""
    model = clone(SMALL).set_params(sampler=OBJECTS.get(name, name))
    for X, y, weights in ((BYTES, Y, None), (FLOATS, Y > 0, WEIGHTS["fractions"])):
        there, here = there_and_here(model, client, X, y, weights)
        assert len(np.unique(here.stumps_.feature)) > 1
        assert saved(there) == saved(here)
        assert getattr(there, "best_sampler_", None) == getattr(here, "best_sampler_", None)


TREES = {
    "bytes": (BYTES, Y, None, {}),
    "two classes, binned": (FLOATS, Y > 0, WEIGHTS["fractions"], {"sampler": "tasting_q1"}),
    "balanced, copies": (BYTES, Y, WEIGHTS["whole"], {"initial_weights": "balanced"}),
    "list": (FLOATS, Y, None, {"sampler": BEST_FAMILY}),
    "pure leaves": (BYTES, BYTES[:, 8] > 99, None, {"sampler": "all_features"}),
    "roots alone": (np.full((N, 9), 3.0), Y == 0, None, {}),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", TREES)
def test_hamming_trees_are_those_of_one_machine(name, client):
    X, y, weights, parameters = TREES[name]
    model = clone(SMALL).set_params(weak_learner="hamming_tree", n_leaves=5, sampler="uniform_q1")
    there, here = there_and_here(model.set_params(**parameters), client, X, y, weights)
    n_nodes = np.diff(here.trees_.tree)
    assert n_nodes.max() == {"pure leaves": 3, "roots alone": 1}.get(name, 9)
    assert saved(there) == saved(here)


@pytest.mark.parametrize("client", [4], indirect=True)
@pytest.mark.parametrize(
    "sampler",
    [
        "all_features",
        pytest.param("laminating", marks=pytest.mark.slow),
        pytest.param("mas_1q", marks=pytest.mark.slow),
    ],
)
def test_a_worker_with_one_row_and_workers_without_a_class(sampler, client, used):
    order = np.argsort(Y, kind="stable")
    model = clone(SMALL).set_params(sampler=sampler)
    ends = [1, *np.searchsorted(Y[order], [1, 2])]
    there, here = there_and_here(model, client, BYTES[order], Y[order], None, ends)
    assert used == [4]
    assert saved(there) == saved(here)


@pytest.mark.parametrize("client", [2], indirect=True)
def test_ties_go_to_the_lowest_feature_and_cut(client):
    """Columns twice, upside down, and of few values: many stumps of a round are equal."""
    X = np.random.default_rng(2).integers(0, 2, (80, 3)).astype(np.uint8) * 7
    X = np.concatenate([X, 7 - X, X, np.full((80, 1), 9, np.uint8)], axis=1)
    y = (X[:, 0] > 0) ^ (np.arange(80) % 5 == 0)
    model = AdaBoostMH(n_estimators=5, n_threads=1)
    for rows in (X, X * 1.5):
        there, here = there_and_here(model, client, rows, y, n_blocks=3)
        assert here.stumps_.feature.max() < 3
        assert saved(there) == saved(here)


@pytest.mark.parametrize("client", [2], indirect=True)
def test_bytes_on_one_worker_and_wider_numbers_on_another(client):
    X = np.where(np.arange(N)[:, None] < 200, BYTES, FLOATS)

    def as_they_fit(block):
        return block.astype(np.uint8) if (block == block.astype(np.uint8)).all() else block

    rows = laid_out(client, X, [200]).map_blocks(as_they_fit, dtype=float)
    assert [block.compute().dtype for block in rows.blocks] == [np.uint8, np.float64]
    there = clone(SMALL).fit(rows, laid_out(client, Y, [200]))
    assert saved(there) == saved(clone(SMALL).fit(X, Y))


@pytest.mark.parametrize("client", [4], indirect=True)
def test_a_constant_target_and_rows_of_no_weight(client):
    with pytest.warns(ConstantModelWarning, match="y is constant"):
        there, here = there_and_here(SMALL, client, BYTES, np.full(N, 4))
    assert saved(there) == saved(here)
    with pytest.raises(ValueError, match="zero for every row"):
        clone(SMALL).fit(laid_out(client, BYTES), Y, sample_weight=np.zeros(N))


@pytest.mark.parametrize("client", [2], indirect=True)
def test_blocks_of_unknown_length(client):
    kept, rows = BYTES[:, 0] % 3 > 0, da.from_array(BYTES, chunks=(100, 9))
    mask = da.from_array(kept, chunks=100)
    model = clone(SMALL).set_params(sampler="laminating")
    there = clone(model).fit(rows[mask], da.from_array(Y, chunks=100)[mask])
    assert saved(there) == saved(model.fit(BYTES[kept], Y[kept]))


@pytest.mark.parametrize("client", [2], indirect=True)
def test_frames_have_names_to_which_prices_belong(client):
    names = list("abcdefghi")
    prices = dict(zip(names[::-1], np.arange(9.0), strict=True))
    model = clone(SMALL).set_params(feature_costs=prices)
    here = clone(model).fit(pd.DataFrame(FLOATS, columns=names), Y)
    there = clone(model).fit(Frame(FLOATS, pd.Index(names)), Y)
    assert there.feature_names_in_.tolist() == names
    assert saved(there) == saved(here)
    del prices["i"]
    with pytest.raises(ValueError, match="no value for 'i'"):
        clone(SMALL).set_params(feature_costs=prices).fit(Frame(FLOATS, pd.Index(names)), Y)


# --- histograms ------------------------------------------------------------------------------


@pytest.fixture
def asked(monkeypatch):
    """What all workers were asked, and the most bytes of an array that one told."""
    noted, ask = [], workers.Workers.ask

    def noting(self, method, *args):
        told = ask(self, method, *args)
        noted.append((method, max(getattr(part, "nbytes", 0) for part in told)))
        return told

    monkeypatch.setattr(workers.Workers, "ask", noting)
    return noted


@pytest.mark.parametrize("n_labels", [1, 3, 8, 9, 12, 20])
def test_histograms_give_the_search_of_one_machine(n_labels):
    """Dense and sparse columns, any number of labels, in parts and in chunks."""
    rng = np.random.default_rng(n_labels)
    columns = rng.integers(0, rng.choice([1, 3, 256], 11), (90, 11)).astype(np.uint8).T.copy()
    columns[:4] = np.where(rng.random((4, 90)) < 0.8, 40, columns[:4])
    pairs = PairWeights(rng.choice([-1, 1], (90, n_labels)).astype(np.int8), rng.random(90))
    features, n_codes = np.array([1, 2, 3, 5, 6, 7, 9, 10]), columns.max(axis=1) + np.int64(1)
    told = np.zeros(n_labels * n_codes[features].sum(), dtype=np.int64)
    for n_threads, rows in ((1, slice(0, 7)), (2, slice(7, 90))):
        some, signed = np.ascontiguousarray(columns[:, rows]), pairs.signed[rows]
        part, defaults = np.full_like(told, -99), DefaultCodes(some).of(features)
        assert (defaults >= 0).any()
        total = signed.sum(axis=0, dtype=np.int64)
        stump_workers.tell_histograms(
            some, features, defaults, n_codes[features], signed, total, n_labels, n_threads, part
        )
        told += part
    expected = search(columns, features, pairs.signed, 1)
    total = pairs.totals[:n_labels]
    edges, cuts, of_labels = stump_workers.best_cuts(told, n_codes[features], total)
    np.testing.assert_array_equal(edges, expected.edges)
    np.testing.assert_array_equal(cuts, expected.cuts)
    right = columns[features][:, :, None] > cuts[:, None, None]
    weights = pairs.signed[:, :n_labels].astype(np.int64)
    np.testing.assert_array_equal(of_labels, np.where(right, weights, -weights).sum(axis=1))


@pytest.mark.parametrize("client", [2], indirect=True)
@pytest.mark.parametrize(
    "parameters",
    [{}, {"sampler": "laminating"}, {"weak_learner": "hamming_tree", "n_leaves": 3}],
)
def test_many_features_are_told_in_parts(parameters, client, asked, monkeypatch):
    model = clone(SMALL).set_params(**parameters)
    there, here = there_and_here(model, client, BYTES, Y)
    told = len(asked)
    monkeypatch.setattr(stump_training, "_ENTRIES_AT_ONCE", 500)
    in_parts, _ = there_and_here(model, client, BYTES, Y)
    assert len(asked) - told > told + model.n_estimators / 2
    assert saved(in_parts) == saved(there) == saved(here)


@pytest.mark.parametrize("client", [2], indirect=True)
def test_a_round_takes_two_exchanges(client, asked):
    """As docs/cluster.md says; and how long what workers send is."""
    model = clone(SMALL).set_params(sampler="all_features")
    model.fit(laid_out(client, FLOATS), laid_out(client, Y))
    told = [n_bytes for method, n_bytes in asked if method == "histograms"]
    # The last loss takes one more.
    assert [method for method, _ in asked if method == "add"] == 6 * ["add"]
    assert len(told) == 7
    n_labels, n_blocks = 3, 5
    n_bins = sum(len(np.unique(column)) for column in FLOATS.T)
    assert told[0] == 8 * (n_labels * n_bins + n_labels + n_blocks)
    assert told[6] == 8 * (n_labels + n_blocks)


@pytest.mark.parametrize("client", [2], indirect=True)
@pytest.mark.parametrize("n_leaves", [2, 4])
def test_a_tree_takes_three_exchanges_for_each_split(n_leaves, client, asked):
    model = clone(SMALL).set_params(weak_learner="hamming_tree", initial_weights="balanced")
    model.set_params(n_leaves=n_leaves).fit(laid_out(client, FLOATS), laid_out(client, Y))
    assert (np.diff(model.trees_.tree) == 2 * n_leaves - 1).all()
    methods = [method for method, _ in asked]
    # The last loss takes one more.
    assert len(methods) - methods.index("restart") - 2 == 6 * 3 * (n_leaves - 1)


# --- what is refused -------------------------------------------------------------------------


class Tastes(Sampler):
    """The best of all features on some rows, in whatever order they come."""

    def propose(self, problem):
        features, rows = problem.all_features(), problem.rng.permutation(problem.n_samples)[:50]
        edges = problem.edges(features, rows)
        return on_all_examples(problem, features[[np.argmax(edges)]])


class Weighs(Sampler):
    """The feature whose number a sample's weight ends with, and its neighbour."""

    def propose(self, problem):
        sample = problem.sample(21, by_weight=False)
        first = sample.weight % (problem.n_features - 1)
        return on_all_examples(problem, np.array([first, first + 1]))


class Reads(Sampler):
    """What only rows of this process have."""

    def __init__(self, what):
        self.what = what

    def propose(self, problem):
        if self.what == "given":
            problem.edges(np.arange(2), np.arange(3), np.ones((3, 4), np.int32))
        eval(self.what, {"problem": problem})


@pytest.mark.parametrize("client", [2], indirect=True)
@pytest.mark.parametrize("sampler", [Tastes(), Weighs()])
def test_samplers_of_ones_own(sampler, client):
    model = clone(SMALL).set_params(sampler=sampler)
    with pytest.warns(UserWarning, match="A file cannot hold the sampler"):
        files = [saved(fitted) for fitted in there_and_here(model, client, BYTES, Y)]
    assert files[0] == files[1]


@pytest.mark.parametrize("client", [2], indirect=True)
@pytest.mark.parametrize(
    "what",
    ["problem.columns", "problem.weights.signed", "tuple(problem.sample(9, True))", "given"],
)
def test_samplers_that_read_rows_are_refused(what, client):
    with pytest.raises(ValueError, match=r"This sampler reads .*give X\.compute"):
        clone(SMALL).set_params(sampler=Reads(what)).fit(laid_out(client, BYTES), Y)


@pytest.mark.parametrize("client", [2], indirect=True)
def test_wrong_rows_end_in_a_sentence_and_leave_the_model(client):
    model = clone(SMALL).fit(BYTES, Y)
    before, rows = saved(model), laid_out(client, FLOATS)
    with pytest.raises(ValueError, match="contains NaN"):
        model.fit(da.where(rows > 1, np.nan, rows), Y)
    with pytest.raises(ValueError, match=r"Block 0 of the rows, .*, 8\), .* 9 columns"):
        model.fit(rows.map_blocks(lambda block: block[:, 1:], meta=rows._meta), Y)
    with pytest.raises(ValueError, match="continuous"):
        model.fit(rows, FLOATS[:, 0])
    with pytest.raises(ValueError, match="column that X lacks"):
        model.fit(rows[:, :4], Y)
    assert saved(model) == before


@pytest.mark.slow
def test_a_worker_that_dies():
    """Two processes: equal bytes; then one dies in the second round, and no model comes of it."""
    command = [
        sys.executable,
        "-m",
        "tests.algorithms.distributed.losing_a_worker",
        "stumps",
        "dies",
    ]
    child = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=240)
    assert child.returncode == 0, child.stderr
    equal, sentence, earlier = child.stdout.splitlines()
    assert equal == "equal True"
    assert sentence.startswith("WorkerLost The worker tcp://127.0.0.1:")
    assert earlier == "earlier True"
