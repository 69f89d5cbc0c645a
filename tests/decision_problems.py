"""Small decision processes, for the reference of MDDAG and for its kernels alike."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from algorithms.decision_dag import rewards
from algorithms.decision_dag.episodes import Objective
from reference import mddag

KINDS = {"zero_one": rewards.ZERO_ONE, "exponential": rewards.EXPONENTIAL}


class Both(NamedTuple):
    """The same process for the reference, and for the kernels."""

    problem: mddag.Problem
    environment: rewards.Environment
    objective: Objective


def both(
    seed: int = 0, *, n=25, n_base=6, n_columns=1, n_codes=3, n_bins=9, loss="zero_one", beta=0.03,
    priced=False, running=False, function=None, size=4, gaussians=False, negative_weight=1.0,
) -> Both:  # fmt: skip
    """Draw base classifiers with tied answers, a constant one, rows that are equal, and weights."""
    rng = np.random.default_rng(seed)
    answers = rng.integers(-size, size + 1, size=(n_base, n_codes, n_columns)).astype(float)
    answers[0, 0], answers[-1] = size, answers[-1, :1]
    codes = rng.integers(0, n_codes, size=(n, n_base)).astype(np.min_scalar_type(n_codes - 1))
    codes[n // 2] = codes[0]
    sizes = np.abs(answers).max(axis=(1, 2))
    unit = sizes.sum() / 2.0**40
    values, sizes = (np.rint(part / unit).astype(np.int64) for part in (answers, sizes))
    initial = (seed % 2) * np.rint(0.5 * rng.normal(size=n_columns) / unit).astype(np.int64)
    labels = rng.integers(0, max(2, n_columns), size=n)
    copies = rng.integers(1, 4, size=n)
    kind = KINDS[loss] if function is None else rewards.CUSTOM
    exponent = rewards.loss_exponent(kind, int(copies.sum()), negative_weight)
    of_world, of_problem = _prices(rng, codes, n_codes) if priced else (_ones(answers), None)
    environment = rewards.Environment(
        codes, values, 1, rewards.Cells(initial, sizes, n_columns > 1, n_bins, running),
        rewards.losses(kind, labels, unit, exponent, negative_weight), of_world,
    )  # fmt: skip
    problem = mddag.Problem(
        outputs=values[np.arange(n_base), codes], sizes=sizes, normaliser=2**40, unit=unit,
        initial=initial, labels=labels, copies=copies, beta_step=beta,
        prices=of_problem, loss=loss if function is None else function.py_func,
        loss_exponent=exponent, n_bins=n_bins, running=running, negative_weight=negative_weight,
        kind="gaussians" if gaussians else "margin" if n_columns > 1 else "bins",
    )  # fmt: skip
    return Both(problem, environment, Objective(2.0**-exponent, beta, copies, int(copies.sum())))


def _ones(answers: np.ndarray) -> rewards.Prices:
    each, nothing = np.ones(answers.shape[:2], dtype=np.int64), np.zeros(0, dtype=np.int64)
    return rewards.Prices(each, np.zeros(each.size + 1, dtype=np.int64), nothing, nothing)


def _prices(rng, codes: np.ndarray, n_codes: int):
    """Items that leaves ask for, some by several, and what evaluations cost besides."""
    n_base, n_items = codes.shape[1], 4
    asks = rng.random((n_base, n_codes, n_items)) < 0.4
    each = rng.integers(0, 3, size=(n_base, n_codes))
    price = rng.integers(1, 9, size=n_items)
    items = [np.flatnonzero(leaf) for leaf in asks.reshape(-1, n_items)]
    start = np.cumsum([0, *map(len, items)])
    at = (np.arange(n_base), codes)
    return (
        rewards.Prices(each, start, np.concatenate(items), price),
        mddag.Prices(each[at], asks[at], price),
    )
