"""Saved AdaBoostMH models: round trips, samplers that a file cannot hold, and foreign files."""

from __future__ import annotations

import contextlib
import json
import re
import warnings
import zipfile

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from algorithms.adaboost_mh import AdaBoostMH
from algorithms.adaptive_sampling import Laminating
from algorithms.estimators import archives
from algorithms.estimators.fitting import ConstantModelWarning
from algorithms.feature_sampling import BEST_FAMILY, SAMPLERS, UCB, Exp3P, FixedFamily, Tasting1Q
from algorithms.gbrt import GBRTClassifier
from algorithms.stumps.files import known_samplers
from algorithms.stumps.sampling import Proposal, Sampler
from tests.algorithms.estimators.changed_files import rewritten
from tests.test_adaboost_mh import draw_data

X, Y = draw_data(np.random.default_rng(30), 80, 7, 4)
FAMILIES = [np.array([6, 1, 2]), range(3, 6), [0]]


def fit(X=X, y=Y, **parameters):
    return AdaBoostMH(**{"n_estimators": 6, "random_state": 1} | parameters).fit(X, y)


def assert_equal(a, b, X=X):
    assert set(vars(a)) == set(vars(b))  # nothing that was fitted is forgotten
    for name, value in a.stumps_._asdict().items():
        other = getattr(b.stumps_, name)
        assert value.dtype == other.dtype, name
        np.testing.assert_array_equal(value, other, name)
    for name, value in vars(a).items():
        if name.endswith("_") and name != "stumps_":
            np.testing.assert_array_equal(getattr(b, name), value, name)
    for method in ("predict", "decision_function", "prediction_cost", "evaluations"):
        np.testing.assert_array_equal(getattr(a, method)(X), getattr(b, method)(X))
    for method in ("staged_predict", "staged_decision_function", "staged_cost"):
        np.testing.assert_array_equal(list(getattr(a, method)(X)), list(getattr(b, method)(X)))


def described(sampler):
    if isinstance(sampler, list | tuple):
        return [described(one) for one in sampler]
    return sampler if isinstance(sampler, str) else (type(sampler), vars(sampler))


@pytest.mark.parametrize(
    "sampler",
    [
        *SAMPLERS,
        BEST_FAMILY,
        Laminating(n_features=np.int64(4), n_examples=20, by_weight=False),
        FixedFamily(2),
        (UCB(2.0), UCB(scale=4.0), "exp3p", Exp3P(eta=0.5)),
        [Tasting1Q(n_tasted=3)],
    ],
    ids=repr,
)
def test_round_trip(sampler, tmp_path):
    model = fit(
        sampler=sampler, families=FAMILIES, feature_costs=np.arange(7.0), split_cost=0.5, max_cost=2
    )
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.save(tmp_path / "model")
        loaded = AdaBoostMH.load(str(tmp_path / "model"))
    assert_equal(model, loaded)
    assert model.prediction_cost(X).max() > 0
    assert described(loaded.sampler) == described(model.sampler)
    assert_equal(clone(loaded).fit(X, Y), model)  # the parameters are the same
    assert [path.name for path in tmp_path.iterdir()] == ["model"]  # no temporary file stays


@pytest.mark.parametrize(
    "y",
    [
        np.array(["no", "perhaps", "yes", "zero"])[Y],
        np.array(["no", "yes"], dtype=object)[Y % 2],
        Y % 2 == 0,
        Y - 2.0,
    ],
    ids=["words", "objects", "truth", "floats"],
)
def test_kinds_of_classes_and_features(y, tmp_path):
    frame = pd.DataFrame(X * 0.5, columns=list("abcdefg"))
    model = fit(frame, y)
    model.save(tmp_path / "model")
    loaded = AdaBoostMH.load(tmp_path / "model")
    assert_equal(model, loaded, frame)
    assert type(loaded.predict(frame)[0]) is type(np.asarray(y.tolist())[0])
    with pytest.raises(ValueError, match="feature names"):
        loaded.predict(frame[list("bacdefg")])


def test_no_stumps(tmp_path):
    with pytest.warns(ConstantModelWarning, match="y is constant"):
        constant = fit(y=np.full(len(X), "only"))
    for model in (constant, fit(n_estimators=0), fit(n_estimators=0, sampler=BEST_FAMILY)):
        model.save(tmp_path / "model")
        loaded = AdaBoostMH.load(tmp_path / "model")
        assert set(vars(model)) == set(vars(loaded))
        np.testing.assert_array_equal(loaded.predict(X), model.predict(X))
        assert list(loaded.staged_predict(X)) == []
    with pytest.raises(NotFittedError):
        AdaBoostMH().save(tmp_path / "model")


def test_no_pickle_inside(tmp_path):
    fit(sampler=[UCB(2.0)]).save(tmp_path / "model")
    with zipfile.ZipFile(tmp_path / "model") as archive:
        header = json.loads(archive.read("header.json"))
        with archive.open("arrays.npz") as file:
            arrays = np.load(file, allow_pickle=False)
            assert {arrays[name].dtype.kind for name in arrays.files} <= set("fi")
    assert header["class"] == "AdaBoostMH"
    assert header["params"]["sampler"] == [
        {"class": "UCB", "parameters": {"scale": 2.0, "shuffle": False}}
    ]


def test_nothing_of_an_earlier_fit_is_kept():
    model = fit(sampler=BEST_FAMILY)
    assert model.best_sampler_ == 0
    assert not hasattr(model.set_params(sampler="all_features").fit(X, Y), "best_sampler_")


# --- what a file cannot hold -----------------------------------------------------------------


class Mine(Sampler):
    """Feature 0 in every round; a class that the package does not know."""

    def propose(self, problem):
        return Proposal(np.array([0]), problem.n_samples)


class UCBOfMine(UCB):
    pass


@pytest.mark.parametrize("kind", [Mine, UCBOfMine])
def test_a_sampler_of_ones_own_is_named_and_the_model_kept(kind, tmp_path):
    model = fit(sampler=[kind(), "uniform_naive"])
    name = re.escape(f"{__name__}.{kind.__name__}")
    with pytest.warns(UserWarning, match=f"cannot hold the sampler, an object of class {name}"):
        model.save(tmp_path / "model")
    loaded = AdaBoostMH.load(tmp_path / "model")
    assert_equal(model, loaded)
    for again in (loaded, clone(loaded)):
        with pytest.raises(ValueError, match=f"was an object of class {name}, which its file does"):
            again.fit(X, Y)
    with warnings.catch_warnings():  # what could not be held is not missed twice
        warnings.simplefilter("error")
        loaded.save(tmp_path / "again")
    assert_equal(loaded, AdaBoostMH.load(tmp_path / "again"))
    assert_equal(loaded.set_params(sampler=[kind(), "uniform_naive"]).fit(X, Y), model)


def test_a_parameter_of_a_sampler_that_is_no_number(tmp_path):
    model = fit(sampler=UCB(2.0))
    model.sampler.scale = np.random.default_rng(0)
    with pytest.warns(UserWarning, match="algorithms.feature_sampling.UCB"):
        model.save(tmp_path / "model")
    np.testing.assert_array_equal(AdaBoostMH.load(tmp_path / "model").predict(X), model.predict(X))


def test_the_state_of_a_generator_is_not_kept(tmp_path):
    model = fit(sampler="uniform_naive", random_state=np.random.RandomState(3))
    with pytest.warns(UserWarning, match="state of a random number generator"):
        model.save(tmp_path / "model")
    loaded = AdaBoostMH.load(tmp_path / "model")
    assert loaded.random_state is None
    assert_equal(model, loaded)


def test_every_sampler_of_the_package_is_known():
    known = known_samplers()
    assert {cls.__name__: cls for cls in SAMPLERS.values()}.items() <= known.items()
    assert "Mine" not in known
    for cls in SAMPLERS.values():  # what a file relies on
        assert set(cls().get_params()) == set(vars(cls()))
    assert repr(Exp3P(2.0)) == "Exp3P(scale=2.0)"


# --- what cannot be read ---------------------------------------------------------------------


def test_files_of_other_classes(tmp_path):
    fit().save(tmp_path / "stumps")
    GBRTClassifier(n_estimators=2, min_samples_leaf=5).fit(X, Y).save(tmp_path / "trees")
    with pytest.raises(ValueError, match="a model of class AdaBoostMH, not GBRTClassifier"):
        GBRTClassifier.load(tmp_path / "stumps")
    with pytest.raises(ValueError, match="a model of class GBRTClassifier, not AdaBoostMH"):
        AdaBoostMH.load(tmp_path / "trees")


def test_damaged_and_foreign_files(tmp_path):
    path = tmp_path / "model"
    model = fit()
    model.save(path)
    saved = path.read_bytes()
    refused, places = 0, range(0, len(saved), 7)
    for i in places:
        wrong = bytearray(saved)
        wrong[i] ^= 1 << (i // 7 % 8)
        path.write_bytes(wrong)
        with contextlib.suppress(ValueError):  # and nothing else
            refused += 1
            other = AdaBoostMH.load(path)
            refused -= 1
            np.testing.assert_array_equal(other.predict(X), model.predict(X))  # a date, say
    assert refused > 0.8 * len(places)
    for content in (b"", b"hello", saved[: len(saved) // 2]):
        path.write_bytes(content)
        with pytest.raises(ValueError, match="not a saved model, or it is damaged"):
            AdaBoostMH.load(path)


@pytest.mark.parametrize(
    "sampler",
    [
        {"class": "Halving", "parameters": {}},
        {"class": "UCB", "parameters": {"colour": "red"}},
        {"class": "Sampler", "parameters": {}},
        {"class": "Bandit", "parameters": {}},
    ],
)
def test_samplers_of_a_newer_version(sampler, tmp_path):
    path = tmp_path / "model"
    fit().save(path)
    header, arrays = archives.read_archive(path)
    header["params"]["sampler"] = sampler
    header["sha256"] = archives.digest(header, arrays)
    archives.write_archive(path, header, arrays)
    with pytest.raises(ValueError, match=f"sampler {sampler['class']} was saved by a newer"):
        AdaBoostMH.load(path)


def put(name, place, value):
    def change(header, arrays):
        arrays[name][place] = value

    return change


def store(name, value):
    return lambda header, arrays: arrays.update({name: value})


def parameter(name, value):
    return lambda header, arrays: header["params"].update({name: value})


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (put("feature", 0, 7), "tests a feature beyond the 7"),
        (put("feature", 0, -2), "tests a feature beyond the 7"),
        (put("threshold", 0, np.nan), "threshold of its stumps must be finite"),
        (put("alpha", 0, np.inf), "alpha of its stumps must be finite"),
        (put("alpha", slice(None), 1e308), "scores are no finite numbers"),
        (put("votes", (0, 0), 0), "votes must be -1 or 1"),
        (put("edge", 0, 1.5), "edge of its stumps must be from 0 to 1"),
        (store("votes", np.ones((6, 3), dtype=np.int8)), "for each of the 4 label"),
        (
            store("edge", np.zeros(5)),
            "its array edge is for 5 rounds, and its array log_train_loss_ for 6",
        ),
        (store("train_loss_", np.zeros(5)), "its array train_loss_ is for 5 rounds"),
        (store("sampling_cost_", np.zeros((6, 1), dtype=np.int64)), "must have two columns"),
        (lambda header, arrays: header.update(best_sampler="a"), "best_sampler in its header"),
        (parameter("sampler", {"class": "UCB", "parameters": {"scale": -1}}), "scale must be"),
        (parameter("sampler", {"class": "UCB"}), "lacks 'parameters'"),
        (parameter("sampler", "nothing"), "sampler must be one of"),
        (parameter("sampler", [["ucb"]]), "list of samplers cannot hold a list"),
        (parameter("families", [[0]]), "families must hold every column"),
        (parameter("random_state", -1), "random_state must be"),
        (parameter("feature_costs", [1e308] * 7), "must not be above 1e.270"),
    ],
)
def test_wrong_contents_are_named(change, message, tmp_path):
    fit(sampler=UCB(2.0), families=FAMILIES).save(tmp_path / "model")
    rewritten(tmp_path / "model", change)
    with pytest.raises(ValueError, match=f"does not hold a whole AdaBoostMH: .*{message}"):
        AdaBoostMH.load(tmp_path / "model")
