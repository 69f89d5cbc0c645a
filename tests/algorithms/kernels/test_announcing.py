"""A fit that compiles for long says so, once; any other says nothing."""

import logging

import numba
import numpy as np
import pytest

from algorithms.estimators.fitting import all_or_nothing
from algorithms.kernels import decorators


@pytest.fixture
def patience(monkeypatch):
    monkeypatch.setattr(decorators, "_announcer", decorators._Announcer())
    return lambda seconds: monkeypatch.setattr(decorators, "PATIENCE", seconds)


class Compiler:
    """Its fit compiles a kernel, and one that it calls."""

    @all_or_nothing
    def fit(self):
        @numba.njit
        def small(x):
            return x + 1

        @numba.njit
        def large(x):
            return small(x) * 2

        self.fitted_ = large(np.float64(1.0))


def test_a_long_compilation_is_said_once(patience, caplog):
    patience(-1.0)
    with decorators.silence():
        Compiler().fit()
    assert not caplog.records
    for _ in range(2):
        assert Compiler().fit().fitted_ == 4.0
    (record,) = caplog.records
    assert record.levelno == logging.WARNING  # Python shows it without any configuration
    assert "python -m algorithms.registry" in record.getMessage()


def test_a_short_one_and_one_outside_a_fit_are_not(patience, caplog):
    patience(60.0)
    Compiler().fit()
    patience(-1.0)
    numba.njit(lambda x: x + 1)(1)
    assert not caplog.records
