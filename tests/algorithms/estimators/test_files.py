"""Saved models: a round trip, and a clear error for whatever is not one."""

from __future__ import annotations

import concurrent.futures
import contextlib
import io
import json
import os
import stat
import tracemalloc
import unittest.mock
import warnings
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from algorithms.cegb import CEGBClassifier, CEGBRegressor
from algorithms.estimators import archives
from algorithms.estimators.files import restored_classes, stored_classes
from algorithms.estimators.fitting import ConstantModelWarning
from algorithms.gbrt import GBRTClassifier, GBRTRegressor
from algorithms.greedy_miser import GreedyMiserClassifier, GreedyMiserRegressor
from algorithms.registry import load_model
from algorithms.registry.registered import ESTIMATORS
from algorithms.trees.forest import Forest
from tests.algorithms.estimators.kinds import (
    REGRESSORS,
    TREE_CLASSIFIERS,
    TREE_REGRESSORS,
    small_size,
)

RNG = np.random.default_rng(5)
X = RNG.normal(size=(90, 4))
TARGETS = {
    "numbers": X[:, 0] + X[:, 1] * X[:, 2],
    "two": (X[:, 0] > 0).astype(int),
    "words": np.array(["no", "perhaps", "yes"])[np.digitize(X[:, 0], [-0.5, 0.5])],
    "objects": np.array(["no", "yes"], dtype=object)[(X[:, 0] > 0).astype(int)],
    "truth": X[:, 0] > 0,
    "floats": np.where(X[:, 0] > 0, 2.0, -1.0),
}
SMALL = {"n_estimators": 3, "max_leaves": 4, "min_samples_leaf": 5}
PRICES = {
    "feature_costs": np.array([1.0, 2.0, 2.0, 0.1]),
    "feature_groups": (0, 1, 1, 2),
    "feature_sharing": [1.0, 4, 4, 1],
    "split_cost": np.float64(0.25),
}


def fit(cls, target, **parameters):
    return cls(**small_size(cls) | parameters).fit(X, TARGETS[target])


def assert_equal(ours, theirs):
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))
    np.testing.assert_array_equal(ours._raw_scores(X), theirs._raw_scores(X))
    for a, b in zip(ours._staged_raw_scores(X), theirs._staged_raw_scores(X), strict=True):
        np.testing.assert_array_equal(a, b)
    for a, b in zip(ours.staged_cost(X), theirs.staged_cost(X), strict=True):
        np.testing.assert_array_equal(a, b)
    np.testing.assert_array_equal(ours.prediction_cost(X), theirs.prediction_cost(X))
    np.testing.assert_array_equal(ours.acquired_features(X), theirs.acquired_features(X))
    np.testing.assert_array_equal(ours.evaluations(X), theirs.evaluations(X))
    np.testing.assert_array_equal(ours.validation_scores_, theirs.validation_scores_)
    assert ours.model_cost() == theirs.model_cost()
    for name, values in ours.trees_._asdict().items():
        other = getattr(theirs.trees_, name)
        assert values.dtype == other.dtype, name
        np.testing.assert_array_equal(values, other)


@pytest.mark.parametrize(
    ("cls", "target"),
    [
        *((cls, "numbers") for cls in TREE_REGRESSORS),
        *((cls, target) for cls in TREE_CLASSIFIERS for target in list(TARGETS)[1:]),
    ],
)
def test_round_trip(cls, target, tmp_path):
    model = fit(cls, target, **PRICES)
    model.save(tmp_path / "model")
    loaded = cls.load(str(tmp_path / "model"))
    assert type(loaded) is cls
    assert_equal(loaded, model)
    assert model.prediction_cost(X).max() > 0
    if "Classifier" in cls.__name__:
        np.testing.assert_array_equal(loaded.classes_, model.classes_)
        np.testing.assert_array_equal(loaded.predict_proba(X), model.predict_proba(X))
        assert type(loaded.predict(X[:1])[0]) is type(np.asarray(TARGETS[target].tolist())[0])
    for name, value in model.get_params().items():
        np.testing.assert_array_equal(getattr(loaded, name), value, name)
    assert [path.name for path in tmp_path.iterdir()] == ["model"]  # no temporary file stays


@pytest.mark.parametrize("budget", [None, 6.5, np.float64(6.5), np.inf])
def test_round_trip_of_a_miser(budget, tmp_path):
    prices = {"group_costs": {0: 1.0, 1: 0.5, 2: np.float64(2.0)}, "feature_groups": (0, 1, 1, 2)}
    model = fit(
        GreedyMiserClassifier, "words", budget=budget, tradeoff=0.5, charging="authors",
        tree_cost=0.25, feature_costs=[0.0, 0.1, 0.2, 0.3], **prices,
    )  # fmt: skip
    model.save(tmp_path / "model")
    loaded = GreedyMiserClassifier.load(tmp_path / "model")
    assert_equal(loaded, model)
    assert list(loaded.staged_forest_cost()) == list(model.staged_forest_cost())
    assert loaded.budget == budget
    assert_equal(loaded.fit(X, TARGETS["words"]), model)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"budget": -1.0}, "budget must be None or a number >= 0"),
        ({"tree_cost": "1"}, "tree_cost must be a finite number"),
        ({"charging": "never"}, "charging must be 'first_use' or 'authors'"),
        ({"group_costs": {"labels": ["a"], "values": [1.0]}}, "group_costs needs feature_groups"),
        (
            {"feature_groups": [1, 1, 2, 2], "group_costs": {"labels": [1], "values": [1.0]}},
            "no price for 2",
        ),
        ({"feature_groups": [1] * 4, "group_costs": [1.0]}, "group_costs must be a dict"),
    ],
)
def test_wrong_headers_of_a_miser_are_named(change, message, tmp_path):
    model = fit(GreedyMiserRegressor, "numbers")
    model.save(tmp_path / "saved")
    content = (tmp_path / "saved").read_bytes()
    params = model.get_params() | change
    with pytest.raises(ValueError, match=message):
        GreedyMiserRegressor.load(rewritten(content, tmp_path, params=params))


def test_round_trip_of_a_validated_model_with_names(tmp_path):
    frame = pd.DataFrame(X, columns=["a", "b", "c", "d"])
    model = CEGBRegressor(**SMALL, early_stopping_rounds=2)
    model.fit(frame, TARGETS["numbers"], eval_set=(frame, TARGETS["numbers"]))
    model.save(tmp_path / "model")
    loaded = CEGBRegressor.load(tmp_path / "model")
    np.testing.assert_array_equal(loaded.predict(frame), model.predict(frame))
    np.testing.assert_array_equal(loaded.validation_scores_, model.validation_scores_)
    assert len(loaded.validation_scores_) == 3
    with pytest.raises(ValueError, match="feature names"):
        loaded.predict(frame[["b", "a", "c", "d"]])
    assert loaded.n_features_in_ == 4


@pytest.mark.parametrize("target", ["constant", "one class"])
def test_round_trip_without_trees(target, tmp_path):
    cls = CEGBRegressor if target == "constant" else CEGBClassifier
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConstantModelWarning)
        model = cls(**SMALL).fit(X, np.full(len(X), 7))
    model.save(tmp_path / "model")
    loaded = cls.load(tmp_path / "model")
    assert_equal(loaded, model)
    np.testing.assert_array_equal(loaded.predict(X), 7)


def test_many_leaves_and_blocks_of_trees(tmp_path):
    deep = GBRTRegressor(n_estimators=2, max_leaves=None, min_samples_leaf=1)
    long = GBRTRegressor(n_estimators=300, max_leaves=3, min_samples_leaf=9)
    for model in (deep, long):
        model.fit(X, TARGETS["numbers"]).save(tmp_path / "model")
        assert_equal(GBRTRegressor.load(tmp_path / "model"), model)


def test_a_parameter_set_after_fit_changes_no_prediction(tmp_path):
    model = fit(GBRTRegressor, "numbers", learning_rate=0.5)
    before = model.predict(X)
    model.set_params(learning_rate=0.25)
    model.save(tmp_path / "model")
    loaded = GBRTRegressor.load(tmp_path / "model")
    for other in (model, loaded):
        assert other.learning_rate == 0.25
        np.testing.assert_array_equal(other.predict(X), before)
        np.testing.assert_array_equal(list(other.staged_predict(X))[-1], before)


# --- what cannot be written ------------------------------------------------------------------


def test_functions_are_not_saved(tmp_path):
    model = fit(CEGBRegressor, "numbers", eval_metric=lambda y, scores, query_id: 0.0)
    with pytest.raises(ValueError, match="Cannot save a model whose eval_metric is <function"):
        model.save(tmp_path / "model")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "classes",
    [
        np.array(["2026-11-28", "2026-11-29"], dtype=">M8[25s]"),
        np.array([-1, 3], dtype="m8[ns]"),
        np.array([-1, 3], dtype=np.longdouble),
        np.array(["", "a\0", "a\nb", "\ud800"], dtype=object),
        np.array([*map(str, range(1000, 3000)), "z" * 2**14], dtype=object),  # padded: 128 MB
    ],
)
def test_classes_of_every_kind_are_written(classes):
    stored = json.loads(json.dumps(stored_classes(classes)))
    tracemalloc.start()
    restored = restored_classes(stored)
    assert tracemalloc.get_traced_memory()[1] < 2**20
    tracemalloc.stop()
    assert restored.dtype == classes.dtype
    np.testing.assert_array_equal(restored, classes)


def test_classes_that_a_file_would_hold_as_others():
    with pytest.raises(ValueError, match="classes are numbers beyond float64"):
        stored_classes(np.array([2**53, 2**53 + 1], dtype=np.longdouble))
    for dtype in ("<f12", "<M8[3]", "O", "|S3"):
        with pytest.raises(ValueError, match="have the unknown dtype"):
            restored_classes({"dtype": dtype, "values": [0, 1]})


def test_a_missing_folder(tmp_path):
    with pytest.raises(FileNotFoundError):
        fit(CEGBRegressor, "numbers").save(tmp_path / "missing" / "model")


def test_saving_again_replaces_the_file(tmp_path):
    path, link = tmp_path / "model", tmp_path / "link"
    fit(CEGBRegressor, "numbers", n_estimators=1).save(path)
    (tmp_path / "new").touch()
    assert path.stat().st_mode == (tmp_path / "new").stat().st_mode  # as the umask has it
    path.chmod(0o640)
    link.symlink_to("model")
    model = fit(CEGBRegressor, "numbers", n_estimators=2)
    model.save(link)
    assert link.is_symlink()
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert CEGBRegressor.load(path).n_estimators_ == 2
    written = path.read_bytes()
    with unittest.mock.patch("time.time", return_value=2e9):
        model.save(path)
    assert path.read_bytes() == written


def test_threads_that_save_to_one_path_while_others_load(tmp_path):
    """And processes of one number, as two containers may have on one volume."""
    models = [fit(CEGBRegressor, "numbers", n_estimators=n) for n in (1, 2, 3, 4)]
    models[0].save(tmp_path / "model")

    def save(model):
        for _ in range(25):
            model.save(tmp_path / "model")

    def load(_):
        return [CEGBRegressor.load(tmp_path / "model").n_estimators_ for _ in range(50)]

    with concurrent.futures.ThreadPoolExecutor(6) as threads:
        saving, loaded = threads.map(save, models), threads.map(load, range(2))
        assert {n for numbers in loaded for n in numbers} <= {1, 2, 3, 4}
        assert list(saving) == [None] * 4
    assert [path.name for path in tmp_path.iterdir()] == ["model"]


@pytest.mark.parametrize(
    ("path", "error", "message"),
    [
        (None, TypeError, "path must be the path of a file, str or path-like, got None"),
        (3, TypeError, "path must be the path of a file, str or path-like, got 3"),
        (io.BytesIO(), TypeError, "path must be the path of a file, str or path-like, got <_io"),
        ("pipe", ValueError, "pipe is not a saved model, and cannot become one: it is a folder, a"),
        (".", ValueError, "is not a saved model, and cannot become one: it is a folder, a device"),
    ],
)
def test_what_is_no_file_is_neither_read_nor_written(path, error, message, tmp_path):
    os.mkfifo(tmp_path / "pipe")
    path = tmp_path / path if isinstance(path, str) else path
    model = fit(CEGBRegressor, "numbers")
    for use in (model.save, CEGBRegressor.load, load_model):
        with pytest.raises(error, match=message):
            use(path)
    assert (tmp_path / "pipe").is_fifo()


def test_no_pickle_inside(tmp_path):
    fit(CEGBClassifier, "words").save(tmp_path / "model")
    with zipfile.ZipFile(tmp_path / "model") as archive:
        assert sorted(archive.namelist()) == ["arrays.npz", "header.json"]
        header = json.loads(archive.read("header.json"))
        arrays = archive.read("arrays.npz")
    assert header["version"] == 1
    with zipfile.ZipFile(io.BytesIO(arrays)) as inner:
        for name in inner.namelist():
            with inner.open(name) as file:  # object arrays would need pickle
                array = np.lib.format.read_array(file, allow_pickle=False)
            assert array.dtype.kind in "fiu", name


# --- what cannot be read ---------------------------------------------------------------------


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    path = tmp_path_factory.mktemp("saved") / "model"
    fit(CEGBRegressor, "numbers", **PRICES).save(path)
    return path.read_bytes()


def load(content, tmp_path, cls=CEGBRegressor):
    (tmp_path / "model").write_bytes(content)
    return cls.load(tmp_path / "model")


def test_any_damaged_byte(saved, tmp_path):
    expected = load(saved, tmp_path).predict(X)
    refused, places = 0, range(0, len(saved), 3)
    for i in places:
        wrong = bytearray(saved)
        wrong[i] ^= 1 << (i // 3 % 8)
        with contextlib.suppress(ValueError):  # and nothing else
            refused += 1
            model = load(bytes(wrong), tmp_path)
            refused -= 1
            np.testing.assert_array_equal(model.predict(X), expected)  # a date in the zip, say
    assert refused > 0.9 * len(places)


def test_every_byte_of_the_contents_counts(saved, tmp_path):
    with zipfile.ZipFile(io.BytesIO(saved)) as archive:
        places = {
            info.filename: (saved.index(archive.read(info)), info.file_size)
            for info in archive.infolist()
        }
    for name, (start, size) in places.items():
        for i in (0, size // 3, size - 1):
            wrong = bytearray(saved)
            wrong[start + i] ^= 4
            with pytest.raises(ValueError, match="damaged"):
                load(bytes(wrong), tmp_path)
        assert size > 100, name


@pytest.mark.parametrize("share", [0.0, 0.01, 0.5, 0.9, 0.999])
def test_cut_off(saved, tmp_path, share):
    with pytest.raises(ValueError, match="not a saved model, or it is damaged"):
        load(saved[: int(share * len(saved))], tmp_path)


def test_foreign_files(tmp_path):
    for content in (b"", b"hello", b"\x80\x04K\x01.", b"PK\x03\x04" + bytes(100)):
        with pytest.raises(ValueError, match="not a saved model"):
            load(content, tmp_path)
    with zipfile.ZipFile(tmp_path / "model", "w") as archive:
        archive.writestr("something", "else")
    with pytest.raises(ValueError, match="not a saved model"):
        CEGBRegressor.load(tmp_path / "model")
    np.savez(tmp_path / "model.npz", a=np.zeros(3))
    with pytest.raises(ValueError, match="not a saved model"):
        CEGBRegressor.load(tmp_path / "model.npz")
    with pytest.raises(ValueError, match="not a saved model"):
        CEGBRegressor.load(tmp_path)  # a folder


def rewritten(saved, tmp_path, checksum=True, **changes):
    """Change the header of a saved model, with the checksum that belongs to it."""
    with zipfile.ZipFile(io.BytesIO(saved)) as archive:
        header = json.loads(archive.read("header.json")) | changes
        arrays = archive.read("arrays.npz")
    if checksum:
        header["sha256"] = archives.digest(header, arrays)
    with zipfile.ZipFile(tmp_path / "model", "w") as archive:
        archive.writestr("header.json", json.dumps(header))
        archive.writestr("arrays.npz", arrays)
    return tmp_path / "model"


def test_other_headers(saved, tmp_path):
    assert CEGBRegressor.load(rewritten(saved, tmp_path)).n_estimators_ == 3
    with pytest.raises(ValueError, match="format version 2; this is version 1"):
        CEGBRegressor.load(rewritten(saved, tmp_path, version=2))
    with pytest.raises(ValueError, match="not a saved model of this package"):
        CEGBRegressor.load(rewritten(saved, tmp_path, format="another"))
    with pytest.raises(ValueError, match="checksum does not match"):
        CEGBRegressor.load(rewritten(saved, tmp_path, checksum=False, learning_rate=0.2))


@pytest.mark.parametrize("cls", [CEGBClassifier, GBRTRegressor])
def test_other_classes(saved, tmp_path, cls):
    with pytest.raises(ValueError, match=f"a model of class CEGBRegressor, not {cls.__name__}"):
        load(saved, tmp_path, cls)


def test_files_of_earlier_versions():
    """Written before AdaBoostMH could be saved; their answers as they were then."""
    folder = Path(__file__).resolve().parents[2] / "models"
    answers = json.loads((folder / "answers.json").read_text())
    for name, cls in (
        ("cegb_regressor_1", CEGBRegressor),
        ("gbrt_classifier_1", GBRTClassifier),
    ):
        model = cls.load(folder / name)
        assert set(answers[name]) > {"predict"}
        for method, expected in answers[name].items():
            np.testing.assert_array_equal(getattr(model, method)(answers["rows"]), expected)


def test_parameters_of_a_newer_version(saved, tmp_path):
    with zipfile.ZipFile(io.BytesIO(saved)) as archive:
        params = json.loads(archive.read("header.json"))["params"]
    path = rewritten(saved, tmp_path, params=params | {"colour": "red"})
    with pytest.raises(
        ValueError, match=r"newer version of this package: .* no parameter 'colour'"
    ):
        CEGBRegressor.load(path)


def test_contents_that_are_not_whole(saved, tmp_path):
    with zipfile.ZipFile(io.BytesIO(saved)) as archive:
        header = json.loads(archive.read("header.json"))
    buffer = io.BytesIO()
    np.savez(buffer, feature=np.zeros(3))
    header["sha256"] = archives.digest(header, buffer.getvalue())
    archives.write_archive(tmp_path / "model", header, buffer.getvalue())
    with pytest.raises(ValueError, match="does not hold a whole CEGBRegressor"):
        CEGBRegressor.load(tmp_path / "model")


# What is wrong with a file is said; that none does harm is for test_mutations.py.
def arrays_of(saved):
    with zipfile.ZipFile(io.BytesIO(saved)) as archive:
        content = archive.read("arrays.npz")
    with np.load(io.BytesIO(content)) as stored:
        return {name: stored[name] for name in stored.files}


def changed(**places):
    """Change one value of an array: `left={0: 5}`."""

    def change(arrays):
        for name, values in places.items():
            for place, value in values.items():
                arrays[name][place] = value

    return change


def without(name):
    return lambda arrays: arrays.pop(name)


def replaced(name, convert):
    return lambda arrays: arrays.update({name: convert(arrays[name])})


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (changed(left={0: 0}), "child of its trees does not come after its parent"),
        (changed(left={0: 10**6}), "child of its trees does not come after its parent"),
        (changed(left={0: 2}), "not reached exactly once"),
        (changed(left={0: -1}), "neither a leaf nor a split"),
        (changed(feature={0: 4}), "beyond the 4 there are"),
        (changed(tree={0: 1}), "one after the other"),
        (changed(threshold={0: np.nan}), "threshold of its trees must be finite, node 0 has nan"),
        (changed(value={1: np.inf}), "value of its trees must be finite"),
        (replaced("value", lambda a: np.full_like(a, 1.7e308)), "sum is no finite number"),
        (changed(depth={0: 3}), "depth of its trees"),
        (changed(missing_left={0: 2}), "missing_left of its trees must be 0 or 1, and 0 in leaves"),
        (changed(missing_left={-1: 1}), "missing_left of its trees must be 0 or 1, and 0 in"),
        (changed(initial_scores={0: np.inf}), "initial scores must be finite"),
        (without("gain"), "lacks the array gain"),
        (replaced("gain", lambda a: a[:-1]), "its array .* is for .* nodes, and its array .* for"),
        (replaced("left", lambda a: a.astype(">i4")), "must have dtype <i4 and 1"),
        (replaced("left", lambda a: a[None]), "must have dtype <i4 and 1"),
        (replaced("tree", lambda a: a[:-1]), "one after the other"),
        (
            replaced("initial_scores", lambda a: np.zeros(2)),
            "initial_scores is for 2 scores, where its header has 1",
        ),
        (lambda arrays: arrays.update(other=np.zeros(1)), "unknown array 'other.npy'"),
    ],
)
def test_wrong_arrays_are_named(saved, tmp_path, change, message):
    with zipfile.ZipFile(io.BytesIO(saved)) as archive:
        header = json.loads(archive.read("header.json"))
    arrays = arrays_of(saved)
    change(arrays)
    content = archives.packed(arrays)
    header["sha256"] = archives.digest(header, content)
    archives.write_archive(tmp_path / "model", header, content)
    with pytest.raises(ValueError, match=f"model does not hold a whole CEGBRegressor: .*{message}"):
        CEGBRegressor.load(tmp_path / "model")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"n_features": "4"}, "n_features in its header must be a whole number, got '4'"),
        ({"n_features": True}, "n_features in its header must be a whole number"),
        ({"n_features": 3}, "beyond the 3 there are|each of the 3 features"),
        ({"n_features": 2**40}, "n_features in its header must be from 1 to"),
        ({"n_estimators": 4}, "1 tree.s. for each of 4 rounds, got 3"),
        ({"learning_rate": -0.1}, "learning_rate in its header must be a finite number"),
        ({"learning_rate": 1e400}, "holds Infinity|must be a finite number"),
        ({"feature_names": ["a"]}, "a name for each of 4 features"),
        ({"column_numbers": [3, 1, 2]}, "a number of its own for each of 4 features"),
        ({"column_numbers": [3, 1, 2, 2]}, "a number of its own for each of 4 features"),
        ({"column_numbers": [3, 0, 2, True]}, "a number of its own for each of 4 features"),
        (
            {"column_numbers": [3, 0, 2, 1], "feature_names": list("abcd")},
            "for each of 4 features that have no names",
        ),
        ({"column_numbers": "3012"}, "column_numbers in its header must be a list"),
        ({"classes": {"dtype": "<i8", "values": [0, 1]}}, "classes if it is a classifier"),
        ({"params": []}, "params in its header must be an object"),
        (
            {"params": {"n_estimators": -1}},
            "n_estimators must be a whole number from 0",
        ),
        ({"params": {"max_bins": 1e9}}, "max_bins must be a whole number from 2"),
        ({"params": {"random_state": {"a": 1}}}, "random_state must be None, a whole number >= 0"),
        ({"params": {"eval_metric": {"a": 1}}}, "eval_metric"),
        ({"params": {"feature_costs": [1, 2, 3]}}, "feature_costs must have one value for each"),
        ({"params": {"feature_costs": [1e308] * 4}}, r"must not be above 1e\+270"),
    ],
)
def test_wrong_headers_are_named(saved, tmp_path, change, message):
    with pytest.raises(ValueError, match=message):
        CEGBRegressor.load(rewritten(saved, tmp_path, **change))


def test_a_file_without_a_direction_for_missing_values(saved, tmp_path):
    """As earlier versions wrote it."""
    with zipfile.ZipFile(io.BytesIO(saved)) as archive:
        header = json.loads(archive.read("header.json"))
    arrays = arrays_of(saved)
    assert arrays.pop("missing_left").any()
    content = archives.packed(arrays)
    header["sha256"] = archives.digest(header, content)
    archives.write_archive(tmp_path / "model", header, content)
    model = CEGBRegressor.load(tmp_path / "model")
    whole = load(saved, tmp_path)
    right = np.zeros_like(whole.trees_.missing_left)
    whole.trees_ = whole.trees_._replace(missing_left=right)
    assert_equal(model, whole)
    assert model.trees_.missing_left.dtype == np.uint8
    nothing = np.full((1, 4), np.nan)  # goes right everywhere
    rightmost = whole.first_rounds(0)._raw_scores(nothing)
    for begin, end in zip(whole.trees_.tree[:-1], whole.trees_.tree[1:], strict=True):
        leaf = begin
        while whole.trees_.left[leaf] >= 0:
            leaf = whole.trees_.left[leaf] + 1
        assert leaf < end
        rightmost += whole._contributions[leaf]
    np.testing.assert_array_equal(model._raw_scores(nothing), rightmost)


@pytest.mark.parametrize("cls", [*TREE_REGRESSORS, *TREE_CLASSIFIERS])
def test_missing_values_go_the_same_way_after_loading(cls, tmp_path):
    rng = np.random.default_rng(8)
    Z = np.where(rng.random(X.shape) < 0.4, np.nan, X)
    model = cls(**small_size(cls)).fit(Z, TARGETS["two"], eval_set=(Z, TARGETS["two"]))
    model.save(tmp_path / "model")
    loaded = cls.load(tmp_path / "model")
    np.testing.assert_array_equal(loaded._raw_scores(Z), model._raw_scores(Z))
    np.testing.assert_array_equal(loaded.prediction_cost(Z), model.prediction_cost(Z))
    np.testing.assert_array_equal(list(loaded.staged_predict(Z))[-1], loaded.predict(Z))
    np.testing.assert_array_equal(loaded.trees_.missing_left, model.trees_.missing_left)


@pytest.mark.parametrize(
    ("bombs", "allowance", "message"),
    [
        (["gain"], 2**20, r"would take .* bytes"),
        (["gain"], 2**28, "is for 1048576 nodes, and its array|and its array gain for 1048576"),
        (["tree"], 2**28, "is for 1048575 trees, where its header has 3"),
        (["validation_scores"], 2**28, "is for 1048576 scored rounds, where a file has no room"),
        (Forest._fields[1:], 2**28, "is for 1048576 nodes, where a file has no room"),
    ],
)
def test_a_bomb_is_not_unpacked(saved, tmp_path, monkeypatch, bombs, allowance, message):
    """Many zeros, declared as such, in a small file; with less allowance, to be done sooner."""
    monkeypatch.setattr(archives, "_ALLOWANCE", allowance)
    with zipfile.ZipFile(io.BytesIO(saved)) as archive:
        header = json.loads(archive.read("header.json"))
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, values in arrays_of(saved).items():
            file = io.BytesIO()
            np.save(file, np.zeros(2**20, values.dtype) if name in bombs else values)
            archive.writestr(f"{name}.npy", file.getvalue())
    header["sha256"] = archives.digest(header, buffer.getvalue())
    archives.write_archive(tmp_path / "model", header, buffer.getvalue())
    assert (tmp_path / "model").stat().st_size < 2**20
    tracemalloc.start()
    with pytest.raises(ValueError, match=message):
        CEGBRegressor.load(tmp_path / "model")
    assert tracemalloc.get_traced_memory()[1] < 2**22
    tracemalloc.stop()


@pytest.mark.parametrize("cls", ESTIMATORS)
def test_many_features_take_no_memory(cls, tmp_path):
    """A header says that there are 2**24, which no array bears out and none contradicts."""
    y = TARGETS["numbers" if cls in REGRESSORS else "two"]
    cls(**small_size(cls)).fit(X, y).save(tmp_path / "model")
    path = rewritten((tmp_path / "model").read_bytes(), tmp_path, n_features=2**24)
    tracemalloc.start()
    assert cls.load(path).n_features_in_ == 2**24
    assert tracemalloc.get_traced_memory()[1] < 2**24
    tracemalloc.stop()


def test_members_and_keys_that_a_model_does_not_have(saved, tmp_path):
    (tmp_path / "model").write_bytes(saved)
    with zipfile.ZipFile(tmp_path / "model", "a") as archive:
        archive.writestr("more", "")
    with pytest.raises(ValueError, match=r"header.json and arrays.npz, each once"):
        CEGBRegressor.load(tmp_path / "model")
    for text, message in (('{"a": 1, "a": 2}', "a key twice"), ('{"a": NaN}', "holds NaN")):
        with zipfile.ZipFile(tmp_path / "model", "w") as archive:
            archive.writestr("header.json", text)
            archive.writestr("arrays.npz", b"")
        with pytest.raises(ValueError, match=message):
            CEGBRegressor.load(tmp_path / "model")


def test_what_load_would_refuse_is_not_saved(tmp_path):
    model = fit(CEGBRegressor, "numbers")
    model.set_params(max_bins=1)
    with pytest.raises(ValueError, match=r"Cannot save the CEGBRegressor: .*max_bins must be"):
        model.save(tmp_path / "model")
    assert list(tmp_path.iterdir()) == []


def test_missing_file(tmp_path):
    with pytest.raises(FileNotFoundError):
        CEGBRegressor.load(tmp_path / "nothing")
