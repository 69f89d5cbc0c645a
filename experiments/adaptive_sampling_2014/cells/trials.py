"""Failures of Laminating in trials with exact binomial votes: Lemma 1 and Theorem 1."""

from __future__ import annotations

import numpy as np

from experiments.cell import Cell

_CHUNK = 2**21  # votes counted at a time


def run_cell(cell: Cell, nothing: object) -> list[dict]:
    """Count in how many of many trials the best learner is lost.

    One learner has the edge δ/2 and all others -δ/2, just far enough below for a failure: none
    lies between, where keeping it would be none, nor further below, where it would be no rival.

    Parameters
    ----------
    cell : Cell
        Its parameters: "procedure" ("one iteration" or "whole"), "votes" ("independent": of each
        other; "opposed": all others vote against the best one, always), "n_features" Q, "delta",
        "strengths", the values of δ²S, and "trials".

    Returns
    -------
    list of dict
        For each strength the examples S, the failures and the trials.
    """
    params = cell.params
    rng = np.random.default_rng(cell.seed)
    rows = []
    for strength in params["strengths"]:
        n_examples = round(strength / params["delta"] ** 2)
        failures, left = 0, params["trials"]
        size = max(1, _CHUNK // params["n_features"])
        while left:
            n_trials = min(size, left)
            failures += count_failures(params, n_examples, n_trials, rng)
            left -= n_trials
        rows.append(
            {
                "procedure": params["procedure"],
                "votes": params["votes"],
                "n_features": params["n_features"],
                "strength": strength,
                "n_examples": n_examples,
                "failures": failures,
                "trials": params["trials"],
            }
        )
    return rows


def count_failures(params: dict, n_examples: int, n_trials: int, rng: np.random.Generator) -> int:
    """Run some trials of Algorithm 4, or of its first iteration, and count the lost ones."""
    right = (1 + params["delta"] / 2) / 2
    Q, kept = params["n_features"], n_trials
    while Q > 1:
        best = rng.binomial(n_examples, right, size=(kept, 1))
        if params["votes"] == "opposed":
            ahead = (Q - 1) * (n_examples - best >= best).sum(axis=1)
        else:
            others = rng.binomial(n_examples, 1 - right, size=(kept, Q - 1))
            ahead = (others >= best).sum(axis=1)
        kept = int(np.count_nonzero(ahead < Q // 2))  # equal ones are lost, as the lemma counts
        if params["procedure"] == "one iteration":
            break
        Q, n_examples = Q // 2, 2 * n_examples
    return n_trials - kept
