"""Saved models: a round trip, and a clear error for whatever is not one."""

from __future__ import annotations

import contextlib
import io
import json
import warnings
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from algorithms import persistence
from algorithms.cegb import CEGBClassifier, CEGBRegressor
from algorithms.gbrt import GBRTClassifier, GBRTRegressor

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
    return cls(**(SMALL | parameters)).fit(X, TARGETS[target])


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
        (CEGBRegressor, "numbers"),
        (GBRTRegressor, "numbers"),
        *((cls, t) for cls in (CEGBClassifier, GBRTClassifier) for t in list(TARGETS)[1:]),
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
        warnings.simplefilter("ignore", UserWarning)
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


def test_a_missing_folder(tmp_path):
    with pytest.raises(FileNotFoundError):
        fit(CEGBRegressor, "numbers").save(tmp_path / "missing" / "model")


def test_saving_again_replaces_the_file(tmp_path):
    path = tmp_path / "model"
    fit(CEGBRegressor, "numbers", n_estimators=1).save(path)
    fit(CEGBRegressor, "numbers", n_estimators=2).save(path)
    assert CEGBRegressor.load(path).n_estimators_ == 2


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
            assert array.dtype.kind in "fi", name


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
        header["sha256"] = persistence._digest(header, arrays)
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
    folder = Path(__file__).parent / "models"
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
    header["sha256"] = persistence._digest(header, buffer.getvalue())
    persistence._write(tmp_path / "model", header, buffer.getvalue())
    with pytest.raises(ValueError, match="does not hold a whole CEGBRegressor"):
        CEGBRegressor.load(tmp_path / "model")


def test_missing_file(tmp_path):
    with pytest.raises(FileNotFoundError):
        CEGBRegressor.load(tmp_path / "nothing")
