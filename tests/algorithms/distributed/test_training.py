"""Training on rows of several workers: the bytes of the model are those of one machine."""

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
from algorithms.cegb import CEGBClassifier, CEGBRegressor
from algorithms.distributed import row_partitions, workers
from algorithms.distributed.training import _in_order
from algorithms.estimators.fitting import ConstantModelWarning
from algorithms.fcboost import FCBoostClassifier
from algorithms.gbrt import GBRTClassifier, GBRTRegressor
from algorithms.greedy_miser import GreedyMiserClassifier, GreedyMiserRegressor

from .clusters import Frame, addresses_of, laid_out, make_rows, saved

ROOT = Path(__file__).resolve().parents[3]
SMALL = {"n_estimators": 3, "n_threads": 1, "min_samples_leaf": 5}
PRICES = {"feature_costs": [3.0, 1.0, 2.0, 1.0, 1.0, 2.0, 0.5]}
CEGB = SMALL | PRICES | {"max_leaves": 8, "tradeoff": 0.02, "split_cost": 0.01}
X, Y = make_rows()
CLASSES = np.array(["low", "medium", "high"])[np.digitize(Y, [-0.5, 0.7])]
FRACTIONS = 0.37 * np.random.default_rng(1).integers(0, 4, len(X))

# Of few kinds: kernels compile anew for each pair of a penalty and a form of weights.
FITS = {
    "regression": (GBRTRegressor(**SMALL, max_leaves=8), Y, None),
    "two classes": (GBRTClassifier(**SMALL, max_leaves=8), CLASSES == "high", FRACTIONS),
    "three classes": (GBRTClassifier(**SMALL, max_leaves=8), CLASSES, None),
    "an L2 penalty": (GBRTClassifier(**SMALL, reg_lambda=3.0), CLASSES == "high", None),
    "cegb": (CEGBRegressor(**CEGB, model_feature_costs=[0.5] * 7), Y, None),
    "cegb, groups, breadth first": (
        CEGBClassifier(
            **CEGB,
            growth="breadth_first",
            feature_groups=[0, 0, 1, 2, 3, 1, 4],
            group_costs={0: 2.0, 1: 1.0, 2: 0.0, 3: 1.0, 4: 0.5},
        ),
        CLASSES,
        None,
    ),
    "miser": (GreedyMiserRegressor(**SMALL, **PRICES, tradeoff=2.0, budget=9.0), Y, None),
    "miser, authors": (
        GreedyMiserClassifier(**SMALL, **PRICES, tradeoff=0.3, charging="authors", max_bins=9),
        CLASSES,
        None,
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", FITS)
def test_the_model_is_that_of_one_machine(name, client, used):
    model, y, weights = FITS[name]
    here = clone(model).fit(X, y, sample_weight=weights)
    assert here.trees_.n_trees >= 3
    assert len(here.trees_.feature) > 12
    # All that belongs to a block lies on one worker, so that Dask has no choice where it goes.
    rows, targets = laid_out(client, X), laid_out(client, y)
    weights = None if weights is None else laid_out(client, weights)
    there = clone(model).fit(rows, targets, sample_weight=weights)
    assert used == [len(addresses_of(client))]
    assert saved(there) == saved(here)


@pytest.mark.slow
def test_early_stopping_and_float32(client):
    narrow, model = X.astype(np.float32), GBRTRegressor(**SMALL, early_stopping_rounds=1)
    model.set_params(n_estimators=30, learning_rate=0.9)
    valid = narrow[::3], Y[::3][::-1]
    here = clone(model).fit(narrow, Y, eval_set=valid)
    there = clone(model).fit(laid_out(client, narrow), Y, eval_set=valid)
    assert 0 < here.n_estimators_ < 30
    np.testing.assert_array_equal(there.validation_scores_, here.validation_scores_)
    assert saved(there) == saved(here)


@pytest.mark.slow
def test_histograms_that_are_not_kept_are_told_anew(client, monkeypatch):
    """As where half a gibibyte does not hold those of all open leaves."""
    from algorithms.trees import grower

    allocate, model = grower.allocate, clone(FITS["cegb"][0])
    here = clone(model).fit(X, Y)

    def scarce(*arguments):
        memory = allocate(*arguments)
        free = memory.workspace.free_slots[:5].copy()  # one to hold, two for those without
        return memory._replace(workspace=memory.workspace._replace(free_slots=free))

    monkeypatch.setattr(grower, "allocate", scarce)
    there = model.fit(laid_out(client, X), Y)
    assert saved(there) == saved(here)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("kind", ["normal", "heavy", "tied", "missing"])
def test_edges_of_parts_are_those_of_all_rows(kind, weighted):
    rng = np.random.default_rng(0)
    values = rng.normal(size=20_000)
    if kind == "heavy":
        values[rng.random(len(values)) < 0.97] = 0.25
    elif kind == "tied":
        values = np.round(values, 2)
    elif kind == "missing":
        values[:9_000] = np.nan
    counts = rng.integers(1, 2**20, len(values)) if weighted else None
    told = []
    for rows in np.array_split(np.arange(len(values)), [3_000, 11_000, 11_001]):
        told.append(row_partitions.distinct(values[rows], None if counts is None else counts[rows]))
    for max_bins in (2, 16, 255):
        short = [row_partitions.in_short(part, 300) for part in told]
        assert sum(len(part[0]) for part in short) < 1_200
        bounds = row_partitions.intervals(short, max_bins)
        parts = told if bounds is None else [row_partitions.within(p, *bounds, 300) for p in told]
        if kind == "normal" and max_bins < 255:  # not nearly all values are told
            assert sum(len(part.values) for part in parts) < len(values) / 2
        expected = row_partitions.bin_edges(values, counts, max_bins)
        np.testing.assert_array_equal(row_partitions.edges_of(parts, max_bins), expected)


def test_exact_sums_are_exact():
    from fractions import Fraction

    from algorithms.distributed.row_partitions import exact_sums

    values = np.random.default_rng(0).random(1_000) * 2.0 ** np.arange(-50, 50).repeat(10)
    assert sum(map(Fraction, exact_sums(values))) == sum(map(Fraction, values.tolist()))
    assert exact_sums(np.zeros(0)) == []


@pytest.mark.parametrize("client", [2], indirect=True)
def test_a_constant_target_and_rows_of_no_weight(client):
    model, none = GBRTRegressor(**SMALL), np.zeros(len(X))
    with pytest.warns(ConstantModelWarning, match="y is constant"):
        there = clone(model).fit(laid_out(client, X), none + 2.0)
    with pytest.warns(ConstantModelWarning):
        here = clone(model).fit(X, none + 2.0)
    assert saved(there) == saved(here)
    with pytest.raises(ValueError, match="zero for every row"):
        model.fit(laid_out(client, X), Y, sample_weight=none)


def infinite():
    wrong = X.copy()
    wrong[77, 0] = np.inf
    return wrong


def declared_else(change, values=X):
    """Blocks of 100 rows, of which the second is another than the array declares."""
    whole = da.from_array(values, chunks=(100, *values.shape[1:]))
    return whole.map_blocks(
        lambda block, block_id: change(block) if block_id[0] == 1 else block, meta=whole._meta
    )


@pytest.mark.parametrize("client", [2], indirect=True)
@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (lambda: (declared_else(lambda rows: rows[:, :6]), Y), r"Block 1 .* \(100, 6\), .* 7 col"),
        (lambda: (declared_else(lambda rows: rows[:, [0, *range(7)]]), Y), r"Block 1 .*\(100, 8\)"),
        (lambda: (declared_else(lambda rows: rows[:, 0]), Y), r"Block 1 .* \(100,\), .* 7 columns"),
        (
            lambda: (declared_else(lambda rows: rows[:90]), Y),
            r"Block 1 .*X has 90 rows, .*\(100,\)",
        ),
        (lambda: (declared_else(lambda rows: rows[:0]), Y), r"Block 1 .*X has 0 rows, .*\(100,\)"),
        (
            lambda: (da.from_array(X, chunks=(100, 7)), declared_else(lambda y: y[:90], Y)),
            r"Block 1 .*X has 100 rows, and y the shape \(90,\)",
        ),
        (lambda: (declared_else(lambda rows: np.full(rows.shape, "a")), Y), "Block 1 .*string"),
        (lambda: (da.from_array(X)[:, 0], Y), "must have rows and columns"),
        (lambda: (da.from_array(X), Y[1:]), "X has 403 rows and y 402"),
        (lambda: (da.from_array(X), Y[:, None]), "y must have one dimension"),
        (lambda: (da.from_array(infinite(), chunks=50), Y), "contains infinity"),
        (lambda: (da.from_array(X), np.where(Y > 2, np.nan, Y)), "contains NaN"),
        (lambda: (da.from_array(X), CLASSES), "y must be numbers"),
        (lambda: (da.from_array(X)[da.from_array(Y) > 0], Y), "do not say how many rows"),
        (lambda: (da.from_array(X)[:0], Y[:0]), "X has no rows: there is nothing to fit"),
        (lambda: [da.from_array(v)[da.from_array(Y) > 1e9] for v in (X, Y)], "X has no rows"),
    ],
)
def test_wrong_rows_end_in_a_sentence(client, arguments, sentence):
    with pytest.raises(ValueError, match=sentence):
        GBRTRegressor(**SMALL).fit(*arguments())


@pytest.mark.parametrize("client", [2], indirect=True)
def test_of_nothing_no_stumps_are_boosted_either(client):
    none = da.from_array(Y, chunks=100) > 1e9
    rows, labels = (da.from_array(v, chunks=100) for v in (np.nan_to_num(X), CLASSES))
    for weights in (None, da.from_array(FRACTIONS, chunks=100)[none]):
        with pytest.raises(ValueError, match="X has no rows: there is nothing to fit"):
            AdaBoostMH().fit(rows[none], labels[none], sample_weight=weights)


@pytest.mark.slow
def test_blocks_of_unknown_length(client):
    kept, rows = np.nan_to_num(X[:, 0]) > 0, da.from_array(X, chunks=(100, 7))
    mask = da.from_array(kept, chunks=100)
    there = GBRTRegressor(**SMALL).fit(rows[mask], da.from_array(Y, chunks=100)[mask])
    here = GBRTRegressor(**SMALL).fit(X[kept], Y[kept])
    assert saved(there) == saved(here)


def test_a_worker_that_computes_otherwise_is_refused(client, monkeypatch):
    monkeypatch.setattr(workers, "fingerprint", lambda: ("sources 1", "exp and log 2"))
    with pytest.raises(ValueError, match="computes otherwise than this process"):
        GBRTRegressor(**SMALL).fit(da.from_array(X), Y)


NAMES = list("abcdefg")
BY_NAME = {"feature_costs": dict(zip(NAMES[::-1], PRICES["feature_costs"][::-1], strict=True))}


@pytest.mark.slow
def test_frames_have_names(client):
    model = CEGBRegressor(**SMALL | BY_NAME, max_leaves=8, tradeoff=0.02)
    here = clone(model).fit(pd.DataFrame(X, columns=NAMES), Y)
    there = clone(model).fit(Frame(X, pd.Index(NAMES)), Y)
    assert there.feature_names_in_.tolist() == NAMES
    assert saved(there) == saved(here)


@pytest.mark.slow
def test_real_frames(client):
    """Rows, targets and weights from Dask frames, in blocks whose lengths Dask does not know."""
    pytest.importorskip("pyarrow")
    import dask.dataframe as dd

    table = pd.DataFrame(X, columns=NAMES).assign(target=Y, weight=1.0 + np.arange(len(Y)) % 3)
    frame = dd.from_pandas(table, npartitions=4)
    frame = frame[frame["e"] > 0]  # of all rows; Dask does not know that
    target, weights = frame["target"], frame["weight"]
    model = CEGBRegressor(**SMALL | BY_NAME, max_leaves=8, tradeoff=0.02)
    kept = table[table["e"] > 0]
    here = clone(model).fit(kept[NAMES], kept["target"], sample_weight=kept["weight"])
    there = clone(model).fit(frame[NAMES], target, sample_weight=weights)
    assert saved(there) == saved(here)
    np.testing.assert_array_equal(there.predict(kept[NAMES]), here.predict(kept[NAMES]))


@pytest.mark.slow
def test_columns_of_a_frame_are_those_of_their_names_in_every_part(client):
    pytest.importorskip("pyarrow")
    import dask.dataframe as dd

    table = pd.DataFrame(X, columns=NAMES)
    halves = table[:200], table[200:][NAMES[::-1]]

    def framed(parts):
        return dd.from_map(parts.__getitem__, range(2), meta=table[:0], enforce_metadata=False)

    here = GBRTRegressor(**SMALL).fit(table, Y)
    there = GBRTRegressor(**SMALL).fit(framed(halves), Y)
    assert saved(there) == saved(here)
    halves = halves[0], halves[1].rename(columns={"g": "other"})
    with pytest.raises(ValueError, match="A part of the Dask frame has the columns"):
        GBRTRegressor(**SMALL).fit(framed(halves), Y)


def test_columns_of_a_part_are_put_in_order_by_name():
    part = pd.DataFrame(X, columns=NAMES)
    pd.testing.assert_frame_equal(_in_order(part[NAMES[::-1]], NAMES), part)
    assert _in_order(part, NAMES) is part
    for other in (part[NAMES[1:]], part.rename(columns={"a": "z"}), part[["a", *NAMES[:-1]]]):
        with pytest.raises(ValueError, match="give all parts the same columns"):
            _in_order(other, NAMES)


@pytest.mark.parametrize("names", [[0, "b", "c"], ["a", 1.5, "c"]])
def test_names_of_two_kinds_are_refused(names):
    with pytest.raises(TypeError, match="all or none"):
        GBRTRegressor().fit(Frame(X[:, :3], names), Y)


def test_what_is_not_read_is_refused():
    bag = type("Bag", (), {"__module__": "dask.bag.core"})()
    with pytest.raises(ValueError, match="Dask arrays and frames are read"):
        GBRTRegressor().fit(bag, Y)
    with pytest.raises(ValueError, match="FCBoostClassifier trains on rows of this process"):
        FCBoostClassifier().fit(da.from_array(X), CLASSES)


def test_without_a_client_or_with_queries(monkeypatch):
    def none_there():
        raise ValueError("No global client found and no address provided")

    monkeypatch.setattr("distributed.get_client", none_there)
    with pytest.raises(ValueError, match="this process has no client"):
        GBRTRegressor().fit(da.from_array(X), Y)
    with pytest.raises(ValueError, match="query_id"):
        GBRTRegressor().fit(da.from_array(X), Y, query_id=np.zeros(len(X)))


@pytest.mark.parametrize(
    ("model", "says"),
    [
        (GBRTRegressor(objective="lambdarank"), "'lambdarank' is not for Dask arrays"),
        (GBRTRegressor(warm_start=True), "subsample and colsample_bytree are not for Dask"),
        (GBRTRegressor(monotonic_cst=[1] * 7), "monotonic_cst is not read with Dask arrays"),
        (GBRTRegressor(subsample=0.5), "subsample and colsample_bytree are not for Dask"),
        (AdaBoostMH(class_weight="balanced"), "class_weight is not read with Dask arrays"),
        (AdaBoostMH(verbose=1), "callbacks and verbose are for one training in this process"),
    ],
)
def test_options_of_rows_in_this_process(model, says):
    with pytest.raises(ValueError, match=says):
        model.fit(da.from_array(X), np.rint(Y))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "fault", "says"),
    [
        ("trees", "dies", "WorkerLost The worker tcp://127.0.0.1:"),
        ("trees", "stops", "WorkerLost The worker tcp://127.0.0.1:"),
        ("trees", "scheduler", "SchedulerLost The Dask scheduler tcp://127.0.0.1:"),
        ("frame", "scheduler", "SchedulerLost The Dask scheduler tcp://127.0.0.1:"),
    ],
)
def test_what_is_lost_in_the_second_round(kind, fault, says):
    """Processes: equal bytes; then one dies or stops, and no model comes of it."""
    if kind == "frame":
        pytest.importorskip("pyarrow")
    command = [sys.executable, "-m", "tests.algorithms.distributed.losing_a_worker", kind, fault]
    child = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=240)
    assert child.returncode == 0, child.stderr
    equal, sentence, earlier = child.stdout.splitlines()
    assert equal == "equal True"
    assert sentence.startswith(says)
    assert earlier == "earlier True"
    assert ("which computes or is stopped, has not answered" in child.stderr) == (fault == "stops")
