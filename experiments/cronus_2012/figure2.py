"""Figure 2 of the Cronus paper: precision@5 against test-time cost, its steps and its rivals."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import pairwise

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from experiments.artefact import Artefact, Cell
from experiments.claims import Claim, Subject
from experiments.cronus_2012.cells.measure import FAMILIES, run_cell
from experiments.cronus_2012.show.comparison import (
    MARGIN,
    PAPER,
    RULES,
    chosen_by_validation,
    decades_saved,
    lead,
    least_lead,
    models,
    there,
    times_as_long,
    whole_models,
)
from experiments.cronus_2012.show.panels import (
    MODEL_KEYS,
    MODEL_TOLERANCES,
    PANELS,
    Panel,
    cost_label,
    make_cell,
    panel_title,
    repetitions,
    score_label,
    shown,
)
from experiments.curves import HALF_THE_COST, curves
from experiments.lines import lines_of
from experiments.style import GAP_IN_WORDS, draw_curve, frame, headline, log_cost_axis, stamp


def make_cells(scale: str, seeds: range) -> list[Cell]:
    """Return the cells: panel × seed × family of methods."""
    return [
        make_cell(scale, panel, family, seed)
        for panel in shown(scale)
        for seed in repetitions(scale, panel, seeds)
        for family in FAMILIES
    ]


STEPS = ("gbrt", "single_stage", "cronus_initial", "cronus")
RIVALS = ("gbrt", "early_exit", "raykar_cascade", "and_or_cascade", "cronus")


# --- claims ---------------------------------------------------------------------------------------

TENFOLD = 1.0
"""Decades of cost: "an order of magnitude"."""

_SMALLEST_EFFECT = 0.01
_SMALLEST_DECADES = 0.05

_LEFT = 'section 4, Fig. 2 left: "each step improves the precision-cost curve"'
_TENFOLD = (
    'section 1: "reduces the average cost … by an order of magnitude … with only a marginal '
    'reduction in retrieval precision"'
)
_INITIAL = (
    'section 1: "even our initialization already significantly outperforms the current '
    'state-of-the-art"'
)
_LIMITED = 'section 4: "the benefits from early-exiting are very limited in our scenario"'
_PROXIMITY = 'section 4: "the best-performing method, Early Exits Using Proximity Threshold"'
_POOR = (
    'section 4: "both methods perform rather poorly … Because both algorithms assign trees to '
    'stages prior to learning"'
)
_WHOLE = (
    'section 3.1: "forcing the classifier to pick many weak-learners that require it, or none at '
    'all"'
)
_SLOWER = (
    'section 4: "both require several hours for a single training … Cronus can be … trained in '
    'less than one hour"'
)
_NAMES = {
    "gbrt": "GBRT",
    "single_stage": "the single stage",
    "cronus_initial": "the initialisation",
    "cronus": "Cronus",
    "early_exit": "early exit",
    "raykar_cascade": "the soft cascade",
    "and_or_cascade": "AND-OR",
}


def make_claims(rows: pd.DataFrame, meta: Mapping) -> list[Claim]:
    """Return what the paper says, for each data set; costs by the paper's bill."""
    claims = []
    for panel in PANELS:
        if (rows["panel"] == panel.key).any():
            overlap = meta["data"][panel.dataset].get("test_overlap", 0.0)
            claim = Subject(panel.key, panel.name, panel.dataset, overlap).claim
            unit = "precision@5" if panel.ranking else "average precision"
            claims += [*_step_claims(claim, unit), *_rival_claims(claim, unit)]
            claims += _exit_claims(claim, unit, panel)
    return claims


def _ahead(claim: Callable, unit: str, place: str, better: str, worse: str) -> Claim:
    """Return the claim that one method lies above another."""
    text = f"{_NAMES[better]} scores higher than {_NAMES[worse]} at equal cost"
    short = {"cronus_initial": "initial", "single_stage": "single"}
    name = "-above-".join(short.get(m, m).replace("_", "-") for m in (better, worse))
    return claim(name, text, place, _SMALLEST_EFFECT, unit, lead, better=better, worse=worse)


def _step_claims(claim: Callable, unit: str) -> list[Claim]:
    claims = [_ahead(claim, unit, _LEFT, b, a) for a, b in pairwise(STEPS)]
    text = f"as good as GBRT within {MARGIN:g}, Cronus costs at most a tenth as much"
    claims.append(
        claim("tenfold", text, _TENFOLD, TENFOLD, "decades of cost", decades_saved, method="cronus")
    )
    text = "the single stage scores higher than a plain ℓ1 penalty with as many features"
    claims.append(
        claim("whole-features", text, _WHOLE, _SMALLEST_EFFECT, unit, lead,
              better="single_stage", worse="plain_l1", accounting="_features")
    )  # fmt: skip
    return claims


def _rival_claims(claim: Callable, unit: str) -> list[Claim]:
    rivals = ("early_exit", "raykar_cascade", "and_or_cascade")
    claims = [_ahead(claim, unit, _INITIAL, "cronus_initial", rival) for rival in rivals]
    for rival, free in (("raykar_cascade", "raykar_free"), ("and_or_cascade", "and_or_free")):
        name = _NAMES[rival]
        claims.append(_ahead(claim, unit, _POOR, "cronus", rival))
        text = f"{name} scores higher with trees in boosting order than with trees by price"
        claims.append(
            claim(f"{free.replace('_', '-')}-control", text, _POOR, _SMALLEST_EFFECT, unit, lead,
                  better=free, worse=rival)
        )  # fmt: skip
        text = f"one training of {name} takes at least twice as long as one of Cronus"
        claims.append(
            claim(f"{rival.replace('_', '-')}-slower", text, _SLOWER, HALF_THE_COST,
                  "decades of processor time", times_as_long, method=rival, than="cronus")
        )  # fmt: skip
    return claims


def _exit_claims(claim: Callable, unit: str, panel: Panel) -> list[Claim]:
    text = f"early exit as good as GBRT within {MARGIN:g} costs more than half as much"
    claims = [
        claim("exit-limited", text, _LIMITED, _SMALLEST_DECADES,
              "decades of cost above a half", above_half)
    ]  # fmt: skip
    if panel.ranking:
        text = "early exit by proximity scores higher than by each other rule at equal cost"
        others = tuple(f"early_exit_{rule}" for rule in RULES if rule != "proximity")
        claims.append(
            claim("proximity-best", text, _PROXIMITY, _SMALLEST_EFFECT, unit, least_lead,
                  better="early_exit_proximity", others=others)
        )  # fmt: skip
    return claims


def above_half(rows: pd.DataFrame, panel: str) -> np.ndarray:
    """Return log10 of early exit's cost to half of GBRT's, where it is as good."""
    return np.log10(2) - decades_saved(rows, panel, "early_exit")


# --- picture --------------------------------------------------------------------------------------


def render(rows: pd.DataFrame, meta: Mapping) -> Figure:
    """Draw for each data set the steps (left), the rivals (middle) and both, metered (right)."""
    panels = [panel for panel in PANELS if (rows["panel"] == panel.key).any()]
    figure = Figure(figsize=(14, 1.4 + 3.7 * len(panels)), layout="constrained")
    axes = figure.subplots(len(panels), 3, squeeze=False)
    whole, named = models(rows), {}
    for line, panel in zip(axes, panels, strict=True):
        record = meta["data"][panel.dataset]
        drawn = [
            *_draw(line[0], whole, panel, STEPS, PAPER),
            *_draw(line[1], whole, panel, RIVALS, PAPER),
            *_draw(line[2], whole, panel, tuple(dict.fromkeys(STEPS + RIVALS)), ""),
        ]
        frame(line, np.concatenate(drawn))
        for ax, accounting in zip(line, (PAPER, PAPER, ""), strict=True):
            ax.set_label(panel.key)
            log_cost_axis(ax)
            ax.set_title(panel_title(panel, record), loc="left")
            ax.set_xlabel(cost_label(panel, record, accounting))
            ax.set_ylabel(score_label(panel))
            if record["kind"] != "real":
                stamp(ax, "STAND-IN")
            for handle, label in zip(*ax.get_legend_handles_labels(), strict=True):
                named.setdefault(label, handle)
    figure.legend(named.values(), named.keys(), loc="outside lower center", ncols=4)
    headline(
        figure,
        f"Cronus (AISTATS 2012), Figure 2 · scale {meta['scale']} · up to {len(meta['seeds'])} "
        "seeds · for each budget the model with the best validation score, bands: 95 % t intervals "
        "over seeds\nleft: the steps; middle: prior work; both by the paper's bill · right: all of "
        f"them, metered\n{GAP_IN_WORDS} (listed are those of metered costs)",
    )
    return figure


def _draw(ax, whole: pd.DataFrame, panel: Panel, methods, accounting: str) -> list[np.ndarray]:
    drawn = []
    for method in methods:
        if (curve := curves(whole, panel.key, method, accounting)) is not None:
            x, y, low, high = curve.summary()
            draw_curve(ax, method, x, y, low, high, gaps=curve.gaps())
            drawn.append(y)
    return drawn


def alt(rows: pd.DataFrame, meta: Mapping) -> str:
    """Say for each data set how many times cheaper the steps and early exit are than GBRT."""
    said = []
    for panel in PANELS:
        if not there(rows, panel.key, "gbrt", "cronus"):
            continue
        standin = "" if meta["data"][panel.dataset]["kind"] == "real" else ", stand-in"
        times = [
            f"{10 ** np.mean(decades_saved(rows, panel.key, method)):.1f}"
            for method in ("single_stage", "cronus_initial", "cronus", "early_exit")
        ]
        said.append(f"({panel.key}) {panel.name}{standin}: {', '.join(times)}")
    return (
        "For each data set three panels of test score against cost on a logarithmic axis: the "
        "steps of Cronus, its rivals, and all of them metered. How many times cheaper than GBRT "
        f"the single stage, the initialisation, Cronus and early exit are at a score at most "
        f"{MARGIN:g} lower: {'; '.join(said)}."
    )


ARTEFACT = Artefact(
    id="cronus-figure2",
    paper="cronus_2012",
    title="Cronus, Figure 2",
    shows="Precision@5 against test-time cost: GBRT, single stage, initialisation, optimisation; "
    "early exits, soft cascade, AND-OR.",
    minutes={"smoke": 0.3, "laptop": 6, "overnight": 12.5, "paper": 1500},
    seeds={"smoke": 1, "laptop": 3, "overnight": 5, "paper": 10},
    make_cells=make_cells,
    run_cell=run_cell,
    keys=MODEL_KEYS,
    tolerances=MODEL_TOLERANCES,
    render=render,
    make_claims=make_claims,
    alt=alt,
    curve=("method", "valid_cost"),
    lines=lines_of(render, "95 % t interval over seeds"),
    paper_numbers="Figure 2 prints curves without numbers. The text: an order of magnitude less "
    "cost for a marginal loss of precision; soft cascade and AND-OR several hours for a single "
    "training, Cronus less than one.",
    timing_columns=("fit_seconds",),
    select=whole_models,
    chosen=chosen_by_validation,
)
