"""What asv measures: every algorithm has a line, every benchmark runs."""

from __future__ import annotations

import inspect
import pickle
import subprocess
import sys
import time

import numpy as np
import pytest
from sklearn.base import is_classifier

from algorithms.feature_sampling import SAMPLERS as REGISTERED
from algorithms.registry.registered import ESTIMATORS
from benchmarks.followed import long, newcomer, rows, special, suite, table, tracked, twins
from experiments import cli

KINDS = ("time_", "track_", "peakmem_", "timeraw_")


def test_what_is_followed_imports_nothing_else():
    """It would count in peaks of memory, and an earlier commit may not have it.

    What all processes need is imported once, before asv forks them.
    """
    program = (
        "import importlib, pkgutil, sys\n"
        "import numba, sklearn.frozen\n"
        "before = set(sys.modules)\n"
        "import benchmarks.followed as room\n"
        "for module in pkgutil.iter_modules(room.__path__):\n"
        "    importlib.import_module(f'benchmarks.followed.{module.name}')\n"
        "print({name.split('.')[0] for name in set(sys.modules) - before} "
        "- set(sys.stdlib_module_names) - {'__mp_main__'})"
    )
    said = subprocess.run(
        [sys.executable, "-c", program], check=True, capture_output=True, text=True
    )
    assert said.stdout.strip() == "{'benchmarks'}"


def benchmarks_of(cls):
    return [name for name, _ in inspect.getmembers(cls) if name.startswith(KINDS)]


@pytest.fixture
def tiny(tmp_path, monkeypatch):
    """A folder as asv gives one, few rows, and no process beside pytest's own."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(suite, "IN_CHILD", False)
    monkeypatch.setattr(suite, "SINGLE", 2)
    monkeypatch.setattr(suite, "N_TEST", 50)


def test_every_estimator_of_the_registry_is_measured():
    lines = {line.estimator.split(".")[0] for line in table.TABLE.values()}
    registered = {cls.__module__.removeprefix("algorithms.") for cls in ESTIMATORS}
    assert registered <= lines
    classifiers = {f"{c.__module__}.{c.__name__}" for c in ESTIMATORS if is_classifier(c())}
    assert {
        f"algorithms.{line.estimator}" for line in table.TABLE.values()
    } - {"algorithms.early_exit.EarlyExit"} <= classifiers  # fmt: skip
    assert registered | {"early_exit"} <= set(twins.TWINS)
    assert set(table.SAMPLERS) | {"all_features"} >= set(REGISTERED)


def test_asv_finds_what_the_table_names():
    everything = {"time_fit", "time_predict", "peakmem_fit", "track_accuracy", "track_cost"}
    for name, line in table.TABLE.items():
        found = set(benchmarks_of(getattr(tracked, name)))
        assert found == everything - set(line.without)
        alone = getattr(rows, name)
        assert benchmarks_of(alone) == ["time_predict_rows"]
        assert list(map(len, alone.params)) == [1, 1]
    assert set(table.GROWN) == {name for name in vars(long) if name in table.TABLE}
    assert all(getattr(long, name).params[0] == [1_000_000] for name in table.GROWN)


def test_a_model_is_fitted_once_for_all_benchmarks(tiny, monkeypatch):
    one = tracked.Gbrt()
    one.setup(200, "dense")
    monkeypatch.setattr(suite, "fitted", lambda *given: pytest.fail("fitted again"))
    other = tracked.Gbrt()
    other.setup(200, "dense")
    other.setup(200, "dense")
    assert other.track_accuracy(200, "dense") == one.track_accuracy(200, "dense") > 0.5
    assert other.track_cost(200, "dense") > 0


def test_a_version_without_the_algorithm_is_skipped_and_a_failure_is_not(tiny, tmp_path, capsys):
    line = suite.Algorithm("not_yet.NotYet", {"any": suite.Variant()})
    cls = suite.suite_of("NotYet", line, __name__)
    for _ in range(2):
        with pytest.raises(NotImplementedError, match="not_yet"):
            cls().setup(200, "any")
    assert capsys.readouterr().out.count("skipped: not_yet.NotYet") == 1
    unknown = suite.Variant(lambda costs: {"no_such_parameter": 1})
    line = suite.Algorithm("gbrt.GBRTClassifier", {"any": unknown})
    with pytest.raises(NotImplementedError, match="no_such_parameter"):
        suite.suite_of("Unknown", line, __name__)().setup(200, "any")
    bad = suite.Variant(lambda costs: {"n_estimators": -1})
    line = suite.Algorithm("gbrt.GBRTClassifier", {"any": bad})
    with pytest.raises(ValueError, match="n_estimators"):
        suite.suite_of("Bad", line, __name__)().setup(200, "any")


@pytest.mark.skipif("fork" not in suite.multiprocessing.get_all_start_methods(), reason="no fork")
def test_another_process_makes_what_is_kept(tmp_path):
    import os

    path = tmp_path / "pid.pickle"
    assert suite.kept(path, os.getpid) != os.getpid()
    assert suite.kept(path, os.getpid) == pickle.loads(path.read_bytes())

    def broken():
        raise ValueError("broken")

    with pytest.raises(RuntimeError, match="model could not be fitted"):
        suite.kept(tmp_path / "model.pickle", broken)


def test_data_are_those_of_their_seed():
    dense, hot, missing = (suite.task(kind, 100) for kind in ("dense", "one-hot", "missing"))
    np.testing.assert_array_equal(hot.X[:, 10:].sum(axis=1), 1)
    assert 0.08 < np.isnan(missing.X).mean() < 0.12
    assert abs(dense.y.mean() - 0.5) < 0.1
    assert len(dense.Z) == suite.N_TEST


@pytest.mark.parametrize("variant", special.Wheel.params[0])
def test_the_wheel_is_imported_and_predicts(tiny, variant, monkeypatch):
    monkeypatch.setattr(special.Wheel, "package", "algorithms")  # the same files by another name
    wheel = special.Wheel()
    wheel.setup(variant)
    for code in (wheel.timeraw_import(variant), wheel.timeraw_first_prediction(variant)):
        exec(code, {})
    monkeypatch.setattr(special.Wheel, "package", "no_such_package")
    with pytest.raises(NotImplementedError, match="no_such_package"):
        special.Wheel().make(variant)


def test_a_newcomers_clock_counts_children_and_begins_with_an_empty_cache(monkeypatch):
    """A grandchild computes, and its parent sleeps."""
    child = (
        "import os, pathlib, time, algorithms\n"
        "assert not pathlib.Path(os.environ['COST_AWARE_BOOSTING_CACHE']).exists()\n"
        "assert 'NUMBA_CACHE_DIR' not in os.environ\n"
        "while time.process_time() < 0.5: pass\n"
    )
    program = (
        "import subprocess, sys, time\n"
        "time.sleep(0.5)\n"
        f"subprocess.run([sys.executable, '-c', {child!r}], check=True)\n"
        "assert len(open('table.csv').readlines()) == 2001\n"
    )
    monkeypatch.setenv("NUMBA_CACHE_DIR", "elsewhere")
    monkeypatch.setattr(newcomer, "arguments", lambda answer: ["-c", program])
    begin = time.perf_counter()
    counted = newcomer.seconds("CEGB")
    # What sleeps is not counted, however slow the machine is.
    assert 0.5 < counted < time.perf_counter() - begin - 0.5
    monkeypatch.setattr(newcomer, "arguments", lambda answer: ["-c", "raise SystemExit(1)"])
    with pytest.raises(subprocess.CalledProcessError):
        newcomer.seconds("CEGB")


def test_a_newcomers_commands_are_those_of_the_command_line(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "table.csv").touch()
    for answer in newcomer.COMMANDS:
        _, _, name, *options = newcomer.arguments(answer)
        context = cli.commands.commands[name].make_context(name, options)
        assert context.params["quiet"]


# --- each of them, at a size that takes no time ---------------------------------------------------


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", table.TABLE)
def test_every_line_runs(name, tiny):
    cls = getattr(tracked, name)
    for variant in cls.params[1]:
        one = cls()
        one.setup(300, variant)
        values = {each: getattr(one, each)(300, variant) for each in benchmarks_of(cls)}
        assert 0 <= values["track_accuracy"] <= 1
        assert values["track_cost"] >= 0
        one.predict_rows(300, variant)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("algorithm", twins.TWINS)
def test_every_reference_runs(algorithm, monkeypatch):
    monkeypatch.setattr(twins, "RATIO_RUNS", 1)
    one = twins.Reference()
    one.setup(algorithm)
    one.time_reference_fit(algorithm)
    assert one.track_factor(algorithm) > 0


@pytest.mark.slow
@pytest.mark.parametrize("algorithm", newcomer.FITS)
def test_every_first_fit_runs(algorithm):
    exec(newcomer.arguments(algorithm)[1], {})


@pytest.mark.slow
@pytest.mark.parametrize(
    ("cls", "variant"),
    [(cls, variant)
     for cls in (special.CegbOnDemand, special.TenLabels, special.OneRow, special.OnDask)
     for variant in cls.params[0]],
)  # fmt: skip
def test_every_special_benchmark_runs(cls, variant, tiny, monkeypatch):
    monkeypatch.setattr(cls, "N_ROWS", 400, raising=False)
    one = cls()
    one.setup(variant)
    for name in benchmarks_of(cls):
        getattr(one, name)(variant)
    if cls is special.OnDask:
        one.close()
