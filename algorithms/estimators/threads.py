"""How many threads a model may use, by either name of the parameter."""

from __future__ import annotations

from numbers import Integral
from typing import Any

from ..kernels.decorators import available_threads, resolve_n_threads


def threads_of(model: Any) -> int:
    """Threads that a model may use: by `n_threads`, or by scikit-learn's name `n_jobs`."""
    n_threads, n_jobs = resolve_n_threads(model.n_threads), getattr(model, "n_jobs", None)
    if n_jobs is None:
        return n_threads
    if isinstance(n_jobs, bool) or not isinstance(n_jobs, Integral) or n_jobs == 0:
        raise ValueError(
            "n_jobs must be None, a whole number >= 1, or -1 for all threads, -2 for all but one "
            f"and so on, got {n_jobs!r:.80}."
        )
    wanted = int(n_jobs) if n_jobs > 0 else max(1, available_threads() + 1 + int(n_jobs))
    if model.n_threads is not None and model.n_threads != wanted:
        raise ValueError(
            f"n_jobs is scikit-learn's name of n_threads: n_jobs={n_jobs} and "
            f"n_threads={model.n_threads} differ. Give one of them."
        )
    return resolve_n_threads(wanted)


def threads_elsewhere(model: Any) -> int | None:
    """What a model says of threads to a process that may have more or fewer of them than this one.

    Parameters
    ----------
    model : estimator
        With `n_threads`, and perhaps `n_jobs`.

    Returns
    -------
    int or None
        None means all that there are.

    Raises
    ------
    ValueError
        As :func:`threads_of`.
    """
    here, n_jobs = threads_of(model), getattr(model, "n_jobs", None)
    if n_jobs is None:
        return model.n_threads
    if n_jobs == -1:
        return None
    return int(n_jobs) if n_jobs > 0 else here
