"""Expected edge of the learner that looks best, if edges and noise are Gaussian, and a check."""

from __future__ import annotations

import numpy as np

from algorithms.edge_models import expected_edge_of_one_gaussian
from experiments.cell import Cell, rounded

_CHUNK = 2**21  # edges drawn at a time


def _rounded(value: float) -> float:
    return rounded(round(value, 12) + 0.0)  # what is 0 but for rounding becomes 0


def run_cell(cell: Cell, nothing: object) -> list[dict]:
    """Compute E[ε*] of a surface, or compute and simulate it along lines of equal cost.

    Parameters
    ----------
    cell : Cell
        Its parameters: "std" of the true edges, "kind" ("surface" or "line"); of a surface
        "sizes", the values of Q and of S; of lines "costs" Q·S, "sizes" of Q, and "draws".

    Returns
    -------
    list of dict
        For each Q and S the expectation; of lines also its estimate and the estimate's standard
        error.
    """
    params = cell.params
    if params["kind"] == "surface":
        places = [(0, Q, S) for Q in params["sizes"] for S in params["sizes"]]
        drawn = [(float("nan"), float("nan"))] * len(places)
    else:
        places = [(c, Q, c / Q) for c in params["costs"] for Q in params["sizes"] if Q <= c]
        drawn = simulate(params["std"], places, params["draws"], np.random.default_rng(cell.seed))
    expected = expected_edge_of_one_gaussian(
        np.array([Q for _, Q, _ in places]), np.array([S for _, _, S in places]), params["std"]
    )
    return [
        {
            "kind": params["kind"],
            "std": params["std"],
            "cost": cost,
            "n_features": Q,
            "n_examples": _rounded(S),
            "expected": _rounded(expectation),
            "simulated": _rounded(mean),
            "error": _rounded(error),
        }
        for (cost, Q, S), expectation, (mean, error) in zip(places, expected, drawn, strict=True)
    ]


def simulate(std: float, places: list, n_draws: int, rng: np.random.Generator) -> list[tuple]:
    """Estimate E[ε*] by drawing: the true edge of the learner with the largest noisy one.

    The same draws serve all places, smaller Q taking the first of them, so that places differ by
    little else than what they are.
    """
    widest = max(Q for _, Q, _ in places)
    sums, squares = np.zeros(len(places)), np.zeros(len(places))
    size, left = max(1, _CHUNK // widest), n_draws
    while left:
        n = min(size, left)
        edges = std * rng.standard_normal((n, widest))
        noise = rng.standard_normal((n, widest))
        for i, (_, Q, S) in enumerate(places):
            chosen = np.argmax(edges[:, :Q] + noise[:, :Q] / np.sqrt(S), axis=1)
            values = edges[np.arange(n), chosen]
            sums[i] += values.sum()
            squares[i] += np.square(values).sum()
        left -= n
    means = sums / n_draws
    errors = np.sqrt((squares / n_draws - means**2) / (n_draws - 1))
    return list(zip(means.tolist(), errors.tolist(), strict=True))
