"""Beside the MDDAG paper: what our choices and the paper's settings change."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from experiments.artefact import Artefact, Cell, Tolerance
from experiments.data_kinds import aside
from experiments.mddag_2012.cells.variants import VARIANTS, varied
from experiments.mddag_2012.show.choices import (
    SHOWN,
    VALUES,
    mean_by_seed,
    panels_there,
)
from experiments.mddag_2012.show.panels import EPISODES, Panel
from experiments.tables import mean_and_deviation

BETAS = {
    "smoke": [0.01],
    "laptop": [0.03, 0.01, 0.003, 0.001],
    "overnight": [0.03, 0.01, 0.003, 0.001],
    "paper": [0.03, 0.01, 0.003, 0.001],
}
"""Around that of Figure 1."""

POOL = {"smoke": 20, "laptop": 1000, "overnight": 1000, "paper": 1000}
"""N is the paper's: with many base classifiers eleven bins are too few."""

SAYS = {
    "bins_11": "11 uniform bins of f (ours: 1,001 for N = 1,000)",
    "bins_101": "101 uniform bins of f",
    "negative_weight_5": "negatives weigh 5 in the policy",
    "running": "f divided by Σα of what was evaluated (ours: of all)",
    "tie_is_right": "a tie is no error, as printed",
    "rate_0.02": "learning rate 0.02 (the paper and ours: 0.2)",
    "rate_decreasing": "learning rate 0.2/k after k scorings",
    "by_accuracy": "the policy with the fewest errors is kept (ours: that of the least (8))",
    "q_lambda": "Q(λ), as in the authors' program (the paper and ours: SARSA(λ))",
    "descent": "coordinate descent (ours, not the paper's)",
    "descent_from_sarsa": "coordinate descent from SARSA's policy",
    "exponential": "exponential loss",
    "exponential_0.02": "exponential loss, learning rate 0.02",
    "exponential_of_shares": "exponential loss of f/Σα, as footnote 1 reads",
    "exponential_of_shares_0.02": "exponential loss of f/Σα, learning rate 0.02",
    "literal_exponential": "exponential loss as printed, the square of the usual one",
    "gaussians": "values as sums of Gaussians with growing centres (ours: bins)",
}
"""The table's words for each line."""


def make_cells(scale: str, seeds: range) -> list[Cell]:
    """Return the cells: panel × seed, with all variants on one pool."""
    return [
        Cell(
            panel.dataset,
            "mddag",
            {
                "panel": panel.key,
                "n_estimators": POOL[scale],
                "n_episodes": EPISODES[scale],
                "betas": BETAS[scale],
                "variants": list(VARIANTS),
            },
            seed,
        )
        for panel in SHOWN
        if scale != "smoke" or panel.in_smoke
        for seed in seeds
    ]


# --- table ----------------------------------------------------------------------------------------


_HEADER = (
    "| change | data | objective (8), training | test | test error | classifiers, test "
    "| TPR at FPR 0.05 | paths |",
    "|---|---|---:|---:|---:|---:|---:|---:|",
)
_FORMS = (".4f", ".4f", ".4f", ".2f", ".4f", ".0f")


def render(rows: pd.DataFrame, meta: Mapping) -> str:
    """Return the table: one line per change and data set."""
    betas = ", ".join(f"{beta:g}" for beta in BETAS[meta["scale"]])
    lines = [
        f"# MDDAG: what our choices change (scale {meta['scale']})",
        "",
        f"Each line trains MDDAG.I on {POOL[meta['scale']]:,} stumps of AdaBoost, on the "
        f"same draws, with one change. Means over β of {betas}; ± standard deviation over "
        f"{len(meta['seeds'])} divisions. The objective is always (8) with the 0-1 loss in which a "
        "tie is an error, whatever a variant minimises. *Classifiers*: mean over all test windows. "
        "*Paths*: different ones that the training windows take.",
        "",
        *_HEADER,
    ]
    for panel in panels_there(rows):
        lines.append(_line("(ours)", "ours", panel, rows, meta))
    for variant, says in _there(rows).items():
        lines += [_line(says, variant, panel, rows, meta) for panel in panels_there(rows)]
    return "\n".join(lines) + "\n"


def _there(rows: pd.DataFrame) -> dict[str, str]:
    """Return the variants that there are rows on, with the table's words."""
    measured = set(rows["variant"])
    return {variant: says for variant, says in SAYS.items() if variant in measured}


def _line(says: str, variant: str, panel: Panel, rows: pd.DataFrame, meta: Mapping) -> str:
    noted = aside(meta["data"][panel.dataset])
    table = mean_by_seed(rows, panel.key, variant)
    cells = [
        mean_and_deviation(table[value], form) for value, form in zip(VALUES, _FORMS, strict=True)
    ]
    return f"| {says} | {panel.name}{noted} | {' | '.join(cells)} |"


ARTEFACT = Artefact(
    id="mddag-choices",
    paper="mddag_2012",
    title="Beside MDDAG: what our choices change",
    shows="The objective, errors, classifiers and paths with bins, normalisation, ties, learning "
    "rates, selection, Q(λ), losses and value functions done otherwise.",
    minutes={"smoke": 0.2, "laptop": 2.4, "overnight": 2.4, "paper": 2.4},
    seeds={"smoke": 1, "laptop": 5, "overnight": 5, "paper": 5},
    make_cells=make_cells,
    run_cell=varied,
    keys=("panel", "variant", "setting"),
    tolerances={
        "tradeoff": Tolerance(),
        **{name: Tolerance(absolute=0.02) for name in ("test_error", "train_error", "test_tpr_05")},
        **{f"{part}_objective": Tolerance(absolute=0.02) for part in ("train", "test")},
        **{
            f"{part}_evaluations": Tolerance(absolute=0.3, relative=0.1)
            for part in ("train", "test")
        },
        "n_paths": Tolerance(absolute=5, relative=0.2),
    },
    render=render,
    paper_numbers="The paper gives no numbers on these choices but their values: rate 0.2, λ = "
    "0.95, 10^6 episodes, the policy evaluated every 10,000.",
    timing_columns=("fit_seconds",),
)
