"""Cached kernels start the threads they call, in whatever order they were compiled; and forks."""

from __future__ import annotations

import ctypes
import os
import re
import subprocess
import sys
from pathlib import Path

import numba
import numpy as np
import pytest

import algorithms
from algorithms.gbrt import GBRTRegressor
from algorithms.kernels import decorators as kernels
from algorithms.kernels import thread_pool
from algorithms.kernels.cache import cache_folder

ROOT = Path(algorithms.__file__).resolve().parent.parent
NEEDS_FORK = pytest.mark.skipif(not hasattr(os, "fork"), reason="no forks on this system")

# A parallel kernel, two that call it, and one that calls one of these.
KERNELS = """
from numba import prange
from algorithms.kernels.decorators import kernel, parallel_kernel

@parallel_kernel
def add_one(x):
    for i in prange(x.shape[0]):
        x[i] += 1.0

@kernel
def add_two(x):
    add_one(x)
    add_one(x)

@kernel
def add_one_more(x):
    add_one(x)

@kernel
def add_three(x):
    add_two(x)
    add_one(x)
"""

USE = """
import sys
import numpy as np
sys.path.insert(0, sys.argv[1])
import mine
for name in sys.argv[2:]:
    x = np.zeros(100)
    getattr(mine, name)(x)
    print(int(x.sum()) // 100, end=" ")
"""


def run(command: list[str], environment: dict) -> subprocess.CompletedProcess:
    return subprocess.run(
        [sys.executable, *command],
        capture_output=True, text=True, cwd=ROOT, env=os.environ | environment, timeout=600,
    )  # fmt: skip


def without_its_start(folder: Path) -> list[str]:
    """Compiled kernels that name functions of the pool, and not what starts it."""
    files = sorted(folder.rglob("*.nbc"))
    assert files
    contents = {path.name: path.read_bytes() for path in files}
    assert any(b"numba_parallel_for" in content for content in contents.values())
    names = [re.escape(name.encode()) for name in thread_pool._OF_POOL]
    of_pool = re.compile(rb"(?<!\w)(?:" + b"|".join(names) + rb")(?!\w)")
    return [
        name
        for name, content in contents.items()
        if of_pool.search(content) and b"start_pool" not in content
    ]


@pytest.mark.slow
@pytest.mark.parametrize(
    "orders",
    [
        # What is compiled first is loaded as a callee of what is compiled next.
        [["add_one"], ["add_two"], ["add_three"], ["add_three"], ["add_two"], ["add_one"]],
        [["add_two"], ["add_one_more"], ["add_one_more"]],
        [["add_three"], ["add_one_more"], ["add_two"], ["add_one_more", "add_one"]],
    ],
)
def test_a_loaded_kernel_starts_the_threads(orders, tmp_path):
    (tmp_path / "mine.py").write_text(KERNELS)
    sums = {"add_one": "1", "add_two": "2", "add_three": "3", "add_one_more": "1"}
    cache = {"NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    for names in orders:
        done = run(["-c", USE, str(tmp_path), *names], cache)
        assert done.returncode == 0, (names, done.returncode, done.stderr)
        assert done.stdout.split() == [sums[name] for name in names]
    assert not without_its_start(tmp_path / "cache")


def test_every_kernel_in_the_cache_starts_the_threads_it_needs():
    """Of all that this and earlier runs of the tests have compiled."""
    rng = np.random.default_rng(0)
    GBRTRegressor(n_estimators=1).fit(rng.normal(size=(60, 2)), np.arange(60)).predict(
        rng.normal(size=(30, 2))
    )
    if cache_folder() is not None:
        assert not without_its_start(cache_folder())


LOCAL = """
import numpy as np
from algorithms.cegb import CEGBRegressor
X = np.random.default_rng(0).normal(size=(200, 3))
CEGBRegressor(n_estimators=2, tradeoff=0.01, feature_costs=np.arange(3.0)).fit(X, X[:, 0])
"""


@pytest.mark.slow
@pytest.mark.parametrize("local_first", [True, False])
def test_the_example_of_the_cluster_runs_again_and_again(local_first, tmp_path):
    """Word for word, from an empty cache, before or after a fit on one machine."""
    text = (ROOT / "docs" / "cluster.md").read_text("utf-8")
    (example,) = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    (tmp_path / "example.py").write_text(example, "utf-8")
    environment = {
        "COST_AWARE_BOOSTING_CACHE": str(tmp_path / "cache"), "NUMBA_CACHE_DIR": "",
        "PYTHONPATH": str(ROOT),
    }  # fmt: skip
    fits = [["-c", LOCAL], *[[str(tmp_path / "example.py")]] * 3]
    for command in fits if local_first else [*fits[1:2], fits[0], *fits[2:]]:
        done = run(command, environment)
        assert done.returncode == 0, (done.returncode, done.stderr)
        assert done.stdout.strip() == ("" if command[0] == "-c" else "True")
    assert not without_its_start(tmp_path / "cache")


THREADS = "from algorithms.kernels.decorators import threads\nwith threads(1, 9): pass\n"


@pytest.mark.parametrize(
    ("name", "value", "first"),
    [
        ("THREADING_LAYER", "tbb", ""),
        ("THREADING_LAYER", "nonsense", THREADS),  # before any kernel is compiled or loaded
        ("THREADING_LAYER_PRIORITY", "omp", ""),
    ],
)
def test_a_threading_layer_that_is_not_there(name, value, first):
    without_tbb = "import sys\nsys.modules['numba.np.ufunc.tbbpool'] = None\n"
    done = run(["-c", without_tbb + first + LOCAL + "print('fitted')"], {f"NUMBA_{name}": value})
    assert done.stdout == "fitted\n", done.stderr
    (said,) = re.findall("RuntimeWarning: numba cannot start threads .*", done.stderr)
    assert value in said


# --- forks -------------------------------------------------------------------------------------


@pytest.fixture
def as_if_forked(monkeypatch):
    """As in the child of a process with threads, whose copy of the flag compiled code reads."""
    thread_pool._forked.value = 1
    yield
    thread_pool._forked.value = 0


def test_a_forked_process_computes_on_one_thread_and_says_so(as_if_forked):
    assert isinstance(thread_pool._forked, ctypes.c_int32)
    if kernels.available_threads() > 1:
        with (
            pytest.warns(RuntimeWarning, match="start workers by spawn"),
            kernels.threads(2, 10**6),
        ):
            assert numba.get_num_threads() == 1
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    before = GBRTRegressor(n_estimators=2, n_threads=1).fit(X, X[:, 0])
    thread_pool._forked.value = 0
    after = GBRTRegressor(n_estimators=2, n_threads=1).fit(X, X[:, 0])
    np.testing.assert_array_equal(before.predict(X), after.predict(X))


def test_nothing_is_said_where_one_thread_is_enough(as_if_forked, recwarn):
    for n_threads, n_values in ((1, 10**6), (kernels.available_threads(), 1000)):
        with kernels.threads(n_threads, n_values):
            assert numba.get_num_threads() == 1
    assert not recwarn.list


@NEEDS_FORK
def test_the_child_of_a_process_that_fitted():
    """It predicts, bills and fits as its parent, in all sizes, and is not ended."""
    done = run(["-m", "tests.algorithms.kernels.forking", "trees"], {})
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == ["parent", "child: equal"]
    if kernels.available_threads() > 1:
        assert "start workers by spawn" in done.stderr


@NEEDS_FORK
@pytest.mark.slow
def test_the_children_of_all_estimators():
    done = run(["-m", "tests.algorithms.kernels.forking", "all"], {})
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == ["parent", "child: equal"]


@NEEDS_FORK
def test_a_fork_while_a_thread_of_the_parent_computes():
    """The lock that it holds is nobody's in the child."""
    done = run(["-m", "tests.algorithms.kernels.forking", "locked"], {})
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == ["parent", "child: equal"]
