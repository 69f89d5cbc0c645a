"""Models come back from their files whatever their class is."""

import numpy as np
import pytest

from algorithms.cegb import CEGBClassifier, CEGBRegressor
from algorithms.early_exit import EarlyExit
from algorithms.estimators.files import SavedModel, known_classes
from algorithms.registry import load_model
from algorithms.registry.registered import ESTIMATORS
from tests.algorithms.estimators.test_files import rewritten

X = np.arange(60.0).reshape(30, 2) % 7
SMALL = {"n_estimators": 2, "min_samples_leaf": 3, "feature_costs": [1.0, 2.0], "n_threads": 1}


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    path = tmp_path_factory.mktemp("models") / "model"
    CEGBRegressor(**SMALL).fit(X, X[:, 0]).save(path)
    return path


def test_a_model_of_its_class(saved, tmp_path):
    loaded = load_model(saved)
    assert type(loaded) is CEGBRegressor
    model = CEGBRegressor.load(saved)
    assert loaded.predict(X).tobytes() == model.predict(X).tobytes()
    assert loaded.prediction_cost(X).tobytes() == model.prediction_cost(X).tobytes()
    classifier = CEGBClassifier(**SMALL).fit(X, X[:, 0] > 3)
    EarlyExit(classifier, rule="likelihood", threshold=0.9).fit().save(tmp_path / "e")
    early = load_model(tmp_path / "e")
    assert type(early) is EarlyExit
    assert type(early.model) is CEGBClassifier


def test_every_class_that_saves_is_found():
    """What learns from data, and what is around or read from elsewhere."""
    names = {cls.__name__ for cls in ESTIMATORS} | {"EarlyExit", "MeteredForest", "TableModel"}
    assert set(known_classes(SavedModel)) == names


def test_a_file_is_refused_before_anything_is_built(saved, tmp_path, monkeypatch):
    (tmp_path / "text").write_text("no model")
    with pytest.raises(ValueError, match="not a saved model, or it is damaged"):
        load_model(tmp_path / "text")
    with pytest.raises(FileNotFoundError):
        load_model(tmp_path / "none")
    content = saved.read_bytes()

    def built(*args):
        raise AssertionError("built something")

    monkeypatch.setattr(CEGBRegressor, "__init__", built)
    for name in ("Popen", "SavedModel", "BoostedTrees", None, ["CEGBRegressor"]):
        path = rewritten(content, tmp_path, **{"class": name})
        with pytest.raises(ValueError, match="which this package does not have; it has AdaBoostMH"):
            load_model(path)
    with pytest.raises(ValueError, match="its checksum does not match"):
        load_model(rewritten(content, tmp_path, checksum=False, n_features=3))
    with pytest.raises(ValueError, match="does not hold a whole CEGBClassifier"):
        load_model(rewritten(content, tmp_path, **{"class": "CEGBClassifier"}))
    with pytest.raises(ValueError, match="does not hold a whole AdaBoostMH: it"):
        load_model(rewritten(content, tmp_path, **{"class": "AdaBoostMH"}))
