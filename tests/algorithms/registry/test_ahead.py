"""``python -m algorithms.registry``: every estimator's kernels, with and without weights."""

import pytest

from algorithms.registry import ahead
from algorithms.registry.registered import ESTIMATORS


@pytest.mark.parametrize("weighted", [True])
def test_every_estimator_is_fitted(weighted, monkeypatch):
    fitted = {}
    for estimator in ESTIMATORS:

        def fit(self, X, y, sample_weight=None, fit=estimator.fit):
            fitted[type(self)] = sample_weight is not None
            return fit(self, X, y, sample_weight=sample_weight)

        monkeypatch.setattr(estimator, "fit", fit)
    assert ahead.compile_for(weighted) == len(ESTIMATORS)
    assert fitted == dict.fromkeys(ESTIMATORS, weighted)


def test_without_a_folder_nothing_is_compiled(monkeypatch, capsys):
    monkeypatch.setattr(ahead, "cache_folder", lambda: None)
    assert ahead.compile_all() == 1
    assert "nothing that is compiled can be kept" in capsys.readouterr().out
