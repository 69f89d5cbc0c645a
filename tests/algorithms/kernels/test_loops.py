"""Kernels are loaded with and without threads; and forks."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import algorithms
from algorithms.kernels import decorators as kernels
from algorithms.kernels import loops
from tests.quick import QUICK

ROOT = Path(algorithms.__file__).resolve().parent.parent
NEEDS_FORK = pytest.mark.skipif(not hasattr(os, "fork"), reason="no forks on this system")

# A loop that is shared, a kernel with it, and one that calls that.
KERNELS = """
from algorithms.kernels.decorators import kernel
from algorithms.kernels.loops import for_each

@kernel
def add_one_to(i, x):
    x[i] += 1.0

@kernel
def add_one(x):
    for_each(add_one_to, x.shape[0], True, (x,))

@kernel
def add_two(x):
    add_one(x)
    add_one(x)
"""

USE = """
import sys
import numpy as np
from numba.np.ufunc import parallel
from algorithms.kernels.decorators import available_threads, threads
sys.path.insert(0, sys.argv[1])
import mine
for n_threads in (1, available_threads()):
    x = np.zeros(1000)
    with threads(n_threads, 10**6):
        mine.add_two(x)
        mine.add_one(x)
    assert x.tolist() == [3.0] * 1000
    assert parallel._is_initialized == (n_threads > 1)
print(sum(sum(f.stats.cache_misses.values()) for f in (mine.add_one, mine.add_two)))
"""


def run(command: list[str], environment: dict) -> subprocess.CompletedProcess:
    return subprocess.run(
        [sys.executable, *command],
        capture_output=True, text=True, cwd=ROOT, env=os.environ | environment, timeout=600,
    )  # fmt: skip


@pytest.mark.slow
def test_a_loaded_kernel_needs_no_threads_and_finds_those_that_there_are(tmp_path):
    (tmp_path / "mine.py").write_text(KERNELS)
    for compiled in (2, 0, 0):
        done = run(["-c", USE, str(tmp_path)], {"NUMBA_CACHE_DIR": str(tmp_path / "cache")})
        assert done.returncode == 0, (done.returncode, done.stderr)
        assert int(done.stdout) == compiled


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
        "PYTHONPATH": str(ROOT), **QUICK,
    }  # fmt: skip
    local, example = ["-c", LOCAL], [str(tmp_path / "example.py")]
    for command in [local, example, example] if local_first else [example, local, example]:
        done = run(command, environment)
        assert done.returncode == 0, (done.returncode, done.stderr)
        assert done.stdout.strip() == ("" if command[0] == "-c" else "True")


THREADS = "from algorithms.kernels.decorators import threads\nwith threads(2, 10**6): pass\n"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("THREADING_LAYER", "tbb"),
        ("THREADING_LAYER", "nonsense"),
        ("THREADING_LAYER_PRIORITY", "omp"),
    ],
)
def test_a_threading_layer_that_is_not_there(name, value):
    """It is said where threads are wanted, and ends nothing."""
    code = f"import sys\nsys.modules['numba.np.ufunc.tbbpool'] = None\n{LOCAL}print('fitted')\n"
    for threads, n_warnings in (("", 0), (THREADS, 1)):
        done = run(["-c", code + threads], {f"NUMBA_{name}": value})
        assert done.stdout == "fitted\n", done.stderr
        said = re.findall("RuntimeWarning: numba cannot start threads .*", done.stderr)
        assert len(said) == n_warnings
        assert all(value in one for one in said)


# --- forks -------------------------------------------------------------------------------------


@pytest.fixture
def as_if_forked(monkeypatch):
    """As in the child of a process with threads."""
    monkeypatch.setattr(loops, "_forked", True)


def test_a_forked_process_computes_on_one_thread_and_says_so(as_if_forked):
    with (
        pytest.warns(RuntimeWarning, match="start workers by spawn"),
        kernels.threads(2, 10**6),
    ):
        assert loops._pool.n_threads == 1


def test_nothing_is_said_where_one_thread_is_enough(as_if_forked, recwarn):
    for n_threads, n_values in ((1, 10**6), (2, 1000)):
        with kernels.threads(n_threads, n_values):
            assert loops._pool.n_threads == 1
    assert not recwarn.list


@pytest.mark.slow
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


@pytest.mark.slow
@NEEDS_FORK
def test_a_fork_while_a_thread_of_the_parent_computes():
    """The lock that it holds is nobody's in the child."""
    done = run(["-m", "tests.algorithms.kernels.forking", "locked"], {})
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == ["parent", "child: equal"]
