"""Beside Figure 1 of the Greedy Miser paper: MNIST with families of features at measured prices."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from experiments.artefact import Artefact, Cell
from experiments.data_kinds import aside
from experiments.greedy_miser_2012.cells.digits import run_cell
from experiments.greedy_miser_2012.cells.pictures import COLUMN
from experiments.greedy_miser_2012.claims_beside import of_digits
from experiments.greedy_miser_2012.show import pictures
from experiments.greedy_miser_2012.show.comparison import BASELINE, chosen
from experiments.greedy_miser_2012.show.digits import DIGITS, METHODS, SHARES, beside_baseline
from experiments.greedy_miser_2012.show.panels import (
    LIKELIHOODS,
    TRACE_TOLERANCES,
    TRADEOFFS,
    make_cell,
)
from experiments.greedy_miser_2012.show.shares import draw_shares
from experiments.style import headline, mark

DRAWN = {"smoke": {"per_family": 4, "n_train": 120, "n_valid": 60}}
DRAWN["laptop"] = {"per_family": 12, "n_train": 10_000, "n_valid": 5_000}
DRAWN |= {"overnight": DRAWN["laptop"], "paper": DRAWN["laptop"]}
"""Features of each family, and images; all 10,000 test images are tested."""

ROUNDS = {"smoke": 5, "laptop": 100, "overnight": 100, "paper": 300}
"""Ten trees each."""

DENSER = (8.0, 24.0, 32.0, 48.0)
"""λ between the other panels'. A pilot (draws 0 and 1) bought 0.16 of λ = 0's bill at 16 and
0.006 at 64, and feature subsets lie between; draws from 100 on confirm."""

FIRST_SEEDS = {"smoke": 0, "laptop": 0, "overnight": 100, "paper": 100}


def make_cells(scale: str, seeds: range) -> list[Cell]:
    """Return the cells: draw × (λ, subsets of families, early exits)."""
    smoke, cells = scale == "smoke", []
    for seed in seeds:
        cell = partial(
            make_cell, scale, DIGITS, seed=FIRST_SEEDS[scale] + seed, n_estimators=ROUNDS[scale]
        )
        tradeoffs = TRADEOFFS[scale] if smoke else sorted({*TRADEOFFS[scale], *DENSER})
        made = [cell("greedy_miser" if t else BASELINE, tradeoff=t) for t in tradeoffs]
        made += [
            cell("stagewise_subsets", limit=limit)
            for limit in (DIGITS.limits[1:2] if smoke else DIGITS.limits)
        ]
        made.append(cell("early_exit", exits=LIKELIHOODS[2:6:2] if smoke else LIKELIHOODS))
        more = {"pictures": True, "drawn": DRAWN[scale]}
        cells += [Cell(c.dataset, c.algorithm, {**c.params, **more}, c.seed) for c in made]
    return cells


# --- picture --------------------------------------------------------------------------------------


def _beside(rows: pd.DataFrame, method: str, share: float) -> tuple[float, np.ndarray] | None:
    """Return λ = 0's accuracy and a method's effect on each digit, if every draw has a model."""
    ahead = pictures.beside_within(rows, DIGITS.key, method, share)
    if len(ahead) < rows["seed"].nunique():
        return None
    base = float(chosen(rows, DIGITS.key, BASELINE)["test_score"].mean())
    return base, pictures.of_each_picture(ahead)


def render(rows: pd.DataFrame, meta: Mapping) -> Figure:
    """Draw the accuracy of all methods at shares of λ = 0's bill."""
    figure = Figure(figsize=(7.2, 5.6), layout="constrained")
    ax = figure.subplots()
    draw_shares(ax, METHODS, SHARES, partial(_beside, rows))
    ax.set_label(DIGITS.key)
    ax.set_xlabel("share of λ = 0's bill that may be spent")
    ax.set_ylabel("test accuracy")
    ax.set_title(f"({DIGITS.key}) {DIGITS.name}", loc="left")
    mark(ax, meta["data"][DIGITS.dataset])
    ax.legend(fontsize=8)
    headline(
        figure,
        f"Greedy Miser (ICML 2012) on MNIST, families at measured prices · scale {meta['scale']} · "
        f"{rows['seed'].nunique()} draws\nmodels chosen by validation; bands: 95 % intervals over "
        "test images of the difference to λ = 0",
    )
    return figure


def alt(rows: pd.DataFrame, meta: Mapping) -> str:
    """Say the loss at a tenth and at half."""
    noted = aside(meta["data"][DIGITS.dataset])
    said = [
        f"{name} {values.mean():+.3f}" if len(values) else f"{name} no model"
        for name, values in (
            ("a tenth", beside_baseline(rows, 0.1)),
            ("half", beside_baseline(rows, 0.5)),
        )
    ]
    return (
        f"Curves of test accuracy on MNIST{noted} against the share of λ = 0's bill, families of "
        "features at their measured prices: Greedy Miser, feature subsets, early exit and λ = 0. "
        f"Greedy Miser's difference in accuracy to λ = 0 at shares of its bill: {', '.join(said)}."
    )


ARTEFACT = Artefact(
    id="miser-mnist",
    paper="greedy_miser_2012",
    title="Beside Greedy Miser: MNIST at measured prices",
    shows="Accuracy on 10,000 test images against the price of families of features as measured.",
    minutes={"smoke": 0.3, "laptop": 5, "overnight": 25, "paper": 60},
    seeds={"smoke": 1, "laptop": 2, "overnight": 10, "paper": 10},
    make_cells=make_cells,
    run_cell=run_cell,
    keys=("panel", "tradeoff", "limit", "exit", "rounds"),
    tolerances=TRACE_TOLERANCES,
    drawn_columns=(COLUMN,),
    render=render,
    make_claims=of_digits,
    alt=alt,
    data_form="features",
    paper_numbers="The paper has no such data; its sentences are those of Figure 1.",
)
