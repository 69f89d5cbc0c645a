"""The project's one numba decorator, its on-disk cache, and the number of threads.

numba's cache notices an edit of the file that defines a kernel, not of a kernel it calls in
another file, and would then return stale results. The cache folder is therefore keyed by a hash
of every source file of this package (DESIGN §4).
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import tempfile
import threading
from collections.abc import Iterator
from numbers import Integral
from pathlib import Path

# GNU OpenMP lets a thread that waits for another spin for milliseconds before it sleeps. Beside one
# other busy process that made a fit of 0.3 s last 3 to 10 s. This much spinning (some 0.1 ms) keeps
# both: 0.4 s in company, and within a few per cent of the default alone. Read when the library is
# loaded, so it must be set before; a user's own setting wins.
os.environ.setdefault("GOMP_SPINCOUNT", "3000")

import numba
from numba.core import config as numba_config

_PACKAGE = Path(__file__).resolve().parent


def source_hash() -> str:
    """Hash of all sources of the package: 16 hexadecimal digits."""
    digest = hashlib.sha256()
    for path in sorted(_PACKAGE.rglob("*.py")):
        digest.update(path.relative_to(_PACKAGE).as_posix().encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def _cache_folder() -> Path:
    base = os.environ.get("COST_AWARE_BOOSTING_CACHE") or os.path.join(
        os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache"),
        "cost-aware-boosting",
    )
    folder = Path(base) / "numba" / source_hash()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return folder
    except OSError:  # a read-only home: compile anew per user rather than fail
        return Path(tempfile.gettempdir()) / f"cost-aware-boosting-numba-{source_hash()}"


if "NUMBA_CACHE_DIR" not in os.environ:
    numba_config.CACHE_DIR = str(_cache_folder())

# fastmath would re-associate and contract, which breaks the equality of the twins; error_model
# "numpy" lets a division by zero give inf as in NumPy instead of a branch per division.
_OPTIONS = {"cache": True, "nogil": True, "fastmath": False, "error_model": "numpy"}

kernel = numba.njit(**_OPTIONS)
parallel_kernel = numba.njit(parallel=True, **_OPTIONS)

_PARALLEL_VALUES = 100_000

# numba's fallback threading layer ("workqueue") aborts the process on concurrent use. Re-entrant:
# a validation score may itself predict with another model.
_one_parallel_region = threading.RLock()


def available_threads() -> int:
    """Return the number of threads that numba may use in this process."""
    return numba_config.NUMBA_NUM_THREADS


def resolve_n_threads(n_threads: int | None) -> int:
    """Return the number of threads to use.

    Parameters
    ----------
    n_threads : int or None
        None means all; more than there are is cut to what there is.

    Raises
    ------
    ValueError
        If `n_threads` is not a positive integer.
    """
    if n_threads is None:
        return available_threads()
    if isinstance(n_threads, bool) or not isinstance(n_threads, Integral) or n_threads < 1:
        raise ValueError(f"n_threads must be None or a whole number >= 1, got {n_threads!r}.")
    return min(int(n_threads), available_threads())


@contextlib.contextmanager
def threads(n_threads: int, n_values: int) -> Iterator[None]:
    """Run the parallel kernels inside the block on several threads, one block at a time.

    Parameters
    ----------
    n_threads : int
    n_values : int
        Size of the data; if small, one thread does it sooner. No result depends on it.
    """
    with _one_parallel_region:
        before = numba.get_num_threads()
        numba.set_num_threads(n_threads if n_values >= _PARALLEL_VALUES else 1)
        try:
            yield
        finally:
            numba.set_num_threads(before)
