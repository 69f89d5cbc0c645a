"""Figure 4 of the CEGB paper: multi-scale segmentation, SEG against cost per pixel."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from experiments.artefact import Artefact, Cell, Tolerance
from experiments.cegb_2017.cells.segment import trace
from experiments.curves import curves
from experiments.data_kinds import in_words
from experiments.estimates import t_interval
from experiments.looks import LOOKS
from experiments.panels import finish, legend_entries
from experiments.style import (
    draw_band,
    draw_curve,
    frame,
    headline,
    label_points,
    log_cost_axis,
)

LEVELS = (1, 2, 4, 8)
DATASET, PANEL, LEVEL_PANEL = "phc_c2dl_psc", "b3", "c3"
"""The frames, and the keys of the curves by method and by the resolutions available."""

BY_LEVEL = 1e-2
"""λ of panel c."""

FIRST_SEED = 5
"""Repetitions 0 to 2 are those of this figure's first version."""

TRADEOFFS = {
    "smoke": (0.0, 1e-2),
    "laptop": (0.0, 1e-3, 1e-2, 1e-1),
    "overnight": (0.0, 1e-4, 3e-4, 1e-3, 3e-3, 1e-2, 3e-2, 1e-1),
    "paper": (0.0, 1e-4, 3e-4, 1e-3, 3e-3, 1e-2, 3e-2, 1e-1),
}
"""λ, in decades around the 1e-3 of section 5.1 and beyond; fixed before any score was seen."""


STOPPING = 1e-1
"""λ of the variant that stops; it grows the same trees at smaller ones."""

ROUNDS = {
    "smoke": (1, 2, 4),
    "laptop": (1, 2, 4, 8),
    "overnight": (1, 2, 4, 8, 16, 32, 64, 128),
    "paper": (1, 2, 4, 8, 16, 32, 64, 128),
}
LEARNING_RATE = {"smoke": 0.3, "laptop": 0.3, "overnight": 0.1, "paper": 0.1}
FRAMES = {"valid": 3, "test": 12}
"""Frames of each part that are looked at, at most: all."""


def _models(scale: str) -> list[dict]:
    """Return what is trained on a draw."""
    wanted = [(PANEL, "gbrt", LEVELS[-1], 0.0)]
    wanted += [(PANEL, "cegb", LEVELS[-1], tradeoff) for tradeoff in TRADEOFFS[scale]]
    wanted.append((PANEL, "cegb_stops", LEVELS[-1], STOPPING))
    wanted += [(LEVEL_PANEL, "cegb", coarsest, BY_LEVEL) for coarsest in LEVELS[:-1]]
    names = ("panel", "algorithm", "coarsest", "tradeoff")
    return [dict(zip(names, one, strict=True)) for one in wanted]


def make_cells(scale: str, seeds: range) -> list[Cell]:
    """Return the cells, one for each seed: it trains all models and reads each frame once."""
    settings = {
        "n_estimators": ROUNDS[scale][-1],
        "learning_rate": LEARNING_RATE[scale],
        "max_leaves": 32,
        "min_samples_leaf": 20,
        "checkpoints": list(ROUNDS[scale]),
    }
    params = {"models": _models(scale), "settings": settings, "frames": FRAMES}
    return [Cell(DATASET, "cegb", params, FIRST_SEED + seed) for seed in seeds]


# --- picture ----------------------------------------------------------------------------------

_LEVEL_LOOKS = {
    1: ("#000000", "x", ":"),
    2: ("#E69F00", "^", "-."),
    4: ("#56B4E9", "s", "--"),
    8: ("#0072B2", "o", "-"),
}
"""Colour, marker and line by the coarsest resolution available; 8 is CEGB's own look."""

_NAMES = {
    "cegb": "CEGB, best λ and rounds for each budget",
    "gbrt": "plain boosting (Ψ = 0 or Friedman's), best",
}
_EACH = " by λ"
_TRACES = {
    "gbrt": ("gbrt", ":", "plain boosting"),
    "cegb": ("cegb", "-", f"CEGB{_EACH}"),
    "cegb_stops": ("cegb_all_splits", (0, (4, 2)), f"CEGB that stops, λ = {STOPPING:g}"),
}
"""Whose colour a thin trace has, its line, and its entry in the legend."""


def render(rows: pd.DataFrame, meta: Mapping) -> Figure:
    """Draw SEG against cost by method and by the resolutions available."""
    figure = Figure(figsize=(11.0, 5.0), layout="constrained")
    record = meta["data"][DATASET]
    left, right = figure.subplots(1, 2)
    ends = _draw_methods(left, rows)
    _draw_levels(right, by_levels(rows))
    by_model = "(b) by method\nthin: each model, round by round"
    by_resolution = f"(c) by the resolutions available,\nCEGB, λ = {BY_LEVEL:g}"
    _finish(left, PANEL, record, by_model, headroom=0.18)
    _finish(right, LEVEL_PANEL, record, by_resolution)
    label_points(left, ends, width=0.14, height=0.93)
    shown = {}  # one entry for all traces of a method
    for label, handle in legend_entries(figure).items():
        shown.setdefault(label.partition(":")[0] if _EACH in label else label, handle)
    figure.legend(shown.values(), shown, loc="outside lower center", ncols=3, fontsize=7)
    n_seeds = rows["seed"].nunique()
    headline(
        figure,
        f"CEGB (NIPS 2017), Figure 4 · scale {meta['scale']} · {in_words(record)}, "
        + (f"{n_seeds} seeds, bands: 95 % t intervals over seeds" if n_seeds > 1 else "one seed"),
    )
    return figure


def by_method(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of whole parts; λ = 0 is no CEGB, but with Friedman's plain boosting."""
    mine = rows[(rows["panel"] == PANEL) & (rows["kind"] == "score")]
    plain = mine[(mine["tradeoff"] == 0) & mine["algorithm"].isin(("gbrt", "cegb"))]
    others = mine[mine["tradeoff"] > 0]
    return pd.concat([plain.assign(algorithm="gbrt"), others], ignore_index=True)


def by_levels(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of panel c: CEGB at one λ by the coarsest resolution available."""
    same = (rows["algorithm"] == "cegb") & (rows["tradeoff"] == BY_LEVEL)
    return rows[same & rows["panel"].isin((PANEL, LEVEL_PANEL))]


def _stages(rows: pd.DataFrame) -> pd.DataFrame:
    """Return a model's mean over seeds at the rounds that every seed has."""
    found = rows.groupby("rounds").agg(
        cost=("test_cost", "mean"), score=("test_score", "mean"), n=("seed", "nunique")
    )
    # A constant has no place on a logarithmic axis.
    return found[(found["n"] == rows["seed"].nunique()) & (found["cost"] > 0)]


def _draw_methods(ax, rows: pd.DataFrame) -> dict[str, tuple[float, float]]:
    """Draw what validation chooses for each budget, over the traces of all models."""
    score = by_method(rows)
    for method, name in _NAMES.items():
        if (curve := curves(score, PANEL, method)) is not None:
            draw_curve(ax, method, *curve.summary(), label=name)
    ends = {}
    raw = rows[(rows["panel"] == PANEL) & (rows["kind"] == "score")]
    for method, (look, line, label) in _TRACES.items():
        for tradeoff, mine in raw[raw["algorithm"] == method].groupby("tradeoff"):
            stages, colour = _stages(mine), LOOKS[look].colour
            style = {"color": colour, "linestyle": line, "linewidth": 0.8, "markersize": 3}
            one = label if _EACH not in label else f"{label}: {tradeoff:g}"
            ax.plot(stages["cost"], stages["score"], marker=".", label=one, **style)
            if method == "cegb" and len(stages):
                ends[f"λ={tradeoff:g}"] = stages["cost"].iloc[-1], stages["score"].iloc[-1]
    return ends


def _draw_levels(ax, rows: pd.DataFrame) -> None:
    """Draw CEGB at one λ, round by round, by the resolutions it may use."""
    score = rows[rows["kind"] == "score"]
    for level, (colour, marker, line) in _LEVEL_LOOKS.items():
        mine = score[score["coarsest"] == level]
        stages = _stages(mine)
        names = ", ".join(str(n) for n in LEVELS if n <= level)
        style = {"color": colour, "marker": marker, "linestyle": line}
        ax.plot(stages["cost"], stages["score"], **style, label=f"c: resolutions {{{names}}} px")
        if mine["seed"].nunique() > 1 and len(stages):
            values = mine.pivot(index="seed", columns="rounds", values="test_score")
            draw_band(ax, colour, stages["cost"], *t_interval(values[stages.index].to_numpy()))


def _finish(ax, panel: str, record: Mapping, title: str, headroom: float = 0.0) -> None:
    log_cost_axis(ax)
    ax.margins(x=0.08)
    heights = np.concatenate([[], *(line.get_ydata() for line in ax.get_lines())])
    if len(heights):
        frame(ax, heights, headroom=headroom)
    else:
        ax.text(0.5, 0.5, "not run at this scale", ha="center", transform=ax.transAxes)
    finish(ax, panel, record, title, "cost of a pixel [split evaluations]", "test SEG")


ARTEFACT = Artefact(
    id="cegb-figure4",
    paper="cegb_2017",
    title="CEGB, Figure 4",
    shows="Multi-scale segmentation of microscopy: SEG against split evaluations per pixel, CEGB "
    "and plain boosting, and CEGB by the resolutions it may use.",
    minutes={"smoke": 0.2, "laptop": 8, "overnight": 400, "paper": 400},
    seeds={"smoke": 1, "laptop": 1, "overnight": 5, "paper": 5},
    make_cells=make_cells,
    run_cell=trace,
    keys=("panel", "kind", "coarsest", "tradeoff", "rounds", "line"),
    tolerances={
        "valid_score": Tolerance(absolute=0.02),
        "valid_cost": Tolerance(absolute=0.01, relative=0.05),
        "test_score": Tolerance(absolute=0.02),
        "test_cost": Tolerance(absolute=0.01, relative=0.05),
        "test_splits": Tolerance(absolute=0.01, relative=0.05),
        # Recorded only: near a flat maximum it jumps, and SEG judges what comes of it.
        "threshold": Tolerance(absolute=1.0),
    },
    render=render,
    paper_numbers="Figure 4 prints a curve without numbers; there is no table to compare with.",
    drawn_columns=("pixels",),
)
