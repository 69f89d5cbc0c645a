"""Figure 3 of the CEGB paper: the feature penalty (a), and best-first growth (b)."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
import pandas as pd
from matplotlib import colormaps
from matplotlib.figure import Figure

from experiments.artefact import Artefact, Cell
from experiments.cegb_2017.cells.measure import trace
from experiments.cegb_2017.show.panels import (
    PANELS,
    TRACE_TOLERANCES,
    Panel,
    cost_label,
    panel_name,
    panel_title,
    score_label,
    settings,
)
from experiments.claims import Claim, Subject
from experiments.curves import HALF_THE_COST, advantage, curves, lead_at_each_budget
from experiments.style import draw_curve, frame, log_cost_axis, stamp

SHOWN = tuple(panel for panel in PANELS if panel.key in ("a", "a'"))
"""Section 5.1 uses Yahoo! LTR; MSLR beside it is real for everybody."""

TRADEOFFS = {
    "smoke": (0.0, 1e-3),
    "laptop": (0.0, 1e-5, 1e-4, 3e-4, 1e-3, 3e-3),
    "overnight": (0.0, 1e-6, 1e-5, 3e-5, 1e-4, 3e-4, 1e-3, 3e-3, 1e-2),
    "paper": (0.0, 1e-6, 1e-5, 3e-5, 1e-4, 3e-4, 1e-3, 3e-3, 1e-2),
}
"""λ from 0 to 1e-3, which the paper shows, and beyond."""

UNIT_COST_TRADEOFFS = {
    "smoke": (1e-3,),
    "laptop": (1e-4, 1e-3),
    "overnight": (1e-4, 1e-3),
    "paper": (1e-4, 1e-3),
}
"""λ of the models trained at β = 1; the paper does not say which it took."""

CONVERGES_LOWER = 1e-3


def make_cells(scale: str, seeds: range) -> list[Cell]:
    """Return the cells: panel × seed × (both growths and β = 1) × λ.

    Cells that Figure 2 has too are the same cells, and are computed once.
    """
    cells = []
    for panel in SHOWN:
        if scale == "smoke" and panel.smoke_dataset is None:
            continue
        for seed in seeds:
            for method, grid in (
                ("cegb", TRADEOFFS),
                ("cegb_breadth_first", TRADEOFFS),
                ("cegb_unit_costs", UNIT_COST_TRADEOFFS),
            ):
                for tradeoff in grid[scale]:
                    params = {
                        "panel": panel.key,
                        "tradeoff": tradeoff,
                        "settings": settings(scale, panel, method),
                    }
                    cells.append(Cell(panel.dataset, method, params, seed))
    return cells


# --- claims -----------------------------------------------------------------------------------

_SMALLEST_EFFECT = 0.005
_SIMILAR = 0.01
_NEARER = 0.1
_LARGE = (1e-4, 3e-4)
"""λ called large: the largest of the grid below the one that "converges to a lower accuracy"."""


def final(rows: pd.DataFrame, panel: str, algorithm: str, tradeoff: float) -> pd.DataFrame:
    """Return the last stage of each seed's model, indexed by seed.

    Parameters
    ----------
    rows : DataFrame
        ``panel, algorithm, seed, tradeoff, rounds, test_score, test_cost, …``.
    panel, algorithm, tradeoff
        Which model.
    """
    mine = rows[
        (rows["panel"] == panel) & (rows["algorithm"] == algorithm) & (rows["tradeoff"] == tradeoff)
    ]
    return mine.sort_values("rounds").groupby("seed").last()


def _decades(expensive: pd.DataFrame, cheap: pd.DataFrame) -> pd.Series:
    """Return log10 of a ratio of final costs; models without any cost give no value."""
    costs = [frame["test_cost"].where(frame["test_cost"] > 0) for frame in (expensive, cheap)]
    return np.log10(costs[0] / costs[1])


def loss_within(rows: pd.DataFrame, panel: str, tradeoff: float) -> np.ndarray:
    """Return by how much the final score stays within the margin below that of λ = 0."""
    free, priced = (final(rows, panel, "cegb", t) for t in (0.0, tradeoff))
    return (_SIMILAR - (free["test_score"] - priced["test_score"])).to_numpy()


def cost_saved(rows: pd.DataFrame, panel: str, tradeoff: float) -> np.ndarray:
    """Return how many decades the final cost lies below that of λ = 0."""
    free, priced = (final(rows, panel, "cegb", t) for t in (0.0, tradeoff))
    return _decades(free, priced).to_numpy()


def score_lost(rows: pd.DataFrame, panel: str, tradeoff: float) -> np.ndarray:
    """Return how far the final score lies below that of λ = 0."""
    free, priced = (final(rows, panel, "cegb", t) for t in (0.0, tradeoff))
    return (free["test_score"] - priced["test_score"]).to_numpy()


def nearer_to_free(rows: pd.DataFrame, panel: str, tradeoff: float) -> np.ndarray:
    """Return how much nearer a model trained at β = 1 is in cost to λ = 0 than to true prices.

    Distances between final costs are in decades; positive means nearer to λ = 0.
    """
    unit = final(rows, panel, "cegb_unit_costs", tradeoff)
    free, priced = (final(rows, panel, "cegb", t) for t in (0.0, tradeoff))
    return (_decades(unit, priced).abs() - _decades(unit, free).abs()).to_numpy()


def smallest_lead(rows: pd.DataFrame, panel: str) -> np.ndarray:
    """Return at the worst budget for it how far best-first growth lies above breadth-first."""
    leads = lead_at_each_budget(rows, panel, "cegb", "cegb_breadth_first")
    return leads.min(axis=1) if leads.size else np.empty(0)


_FIG_3A = "section 5.1, Fig. 3a: "
_FIG_3B = 'section 5.1, Fig. 3b: "always reaches a higher accuracy for a given prediction cost"'


def make_claims(rows: pd.DataFrame, meta: Mapping) -> list[Claim]:
    """Return what section 5.1 says, for each data set."""
    claims = []
    for panel in SHOWN:
        mine = rows[rows["panel"] == panel.key]
        if mine.empty:
            continue
        there = set(mine["tradeoff"])
        overlap = meta["data"][panel.dataset].get("test_overlap", 0.0)
        claim = Subject(panel.key, panel_name(panel, panel.dataset), panel.dataset, overlap).claim
        claims += _penalty_claims(claim, there)
        claims += _growth_claims(claim)
    return claims


def _penalty_claims(claim: Callable, tradeoffs: set[float]) -> list[Claim]:
    """Return the claims of Fig. 3a for those λ that were run."""
    similar = _FIG_3A + '"a large λ reach similar accuracy as those with smaller λ"'
    cheaper = _FIG_3A + '"at a much cheaper cost"'
    lower = _FIG_3A + '"Only λ = 0.001 converges to a lower accuracy"'
    unit = _FIG_3A + '"behaves similarly to one learned with λ = 0"'
    claims = []
    for t in (t for t in _LARGE if t in tradeoffs):
        # Worded as it is judged: the effect is what is left of the margin.
        text = (
            f"λ = {t:g} ends at most {_SIMILAR - _SMALLEST_EFFECT:g} below the score of λ = 0, "
            f"and surely less than {_SIMILAR:g}"
        )
        claims.append(
            claim(
                f"similar-{t:g}",
                text,
                similar,
                _SMALLEST_EFFECT,
                f"AP@5 inside the {_SIMILAR:g}",
                loss_within,
                tradeoff=t,
            )
        )
        text = f"λ = {t:g} ends at no more than half the cost of λ = 0"
        claims.append(
            claim(
                f"cheaper-{t:g}",
                text,
                cheaper,
                HALF_THE_COST,
                "decades of cost",
                cost_saved,
                tradeoff=t,
            )
        )
    if CONVERGES_LOWER in tradeoffs:
        t = CONVERGES_LOWER
        text = f"λ = {t:g} ends with a lower score than λ = 0"
        claims.append(claim("lower", text, lower, _SMALLEST_EFFECT, "AP@5", score_lost, tradeoff=t))
        text = f"trained at β = 1 with λ = {t:g}, the final cost is nearer to λ = 0 than to β"
        claims.append(
            claim("unit-costs", text, unit, _NEARER, "decades of cost", nearer_to_free, tradeoff=t)
        )
    return claims


def _growth_claims(claim: Callable) -> list[Claim]:
    """Return the claims of Fig. 3b: on average, and at any given budget."""
    text = "best-first growth scores higher than breadth-first at equal cost"
    worst = "best-first growth scores higher than breadth-first at each seed's worst budget for it"
    both = {"better": "cegb", "worse": "cegb_breadth_first"}
    return [
        claim("best-first", text, _FIG_3B, _SMALLEST_EFFECT, "AP@5", advantage, **both),
        claim("every-budget", worst, _FIG_3B, _SMALLEST_EFFECT, "AP@5", smallest_lead),
    ]


# --- picture ----------------------------------------------------------------------------------

_LINES = ("-", "--", "-.", ":", (0, (5, 1, 1, 1)), (0, (1, 1)), "-", "--", "-.")
_MARKERS = "osv^DPX*h"


def render(rows: pd.DataFrame, meta: Mapping) -> Figure:
    """Draw for each data set the traces of every λ (a), and both growths (b)."""
    panels = [panel for panel in SHOWN if (rows["panel"] == panel.key).any()]
    figure = Figure(figsize=(11, 1.4 + 4.1 * len(panels)), layout="constrained")
    axes = figure.subplots(len(panels), 2, squeeze=False)
    for (left, right), panel in zip(axes, panels, strict=True):
        mine = rows[rows["panel"] == panel.key]
        record = meta["data"][panel.dataset]
        shown = [_draw_traces(left, mine), _draw_growths(right, mine, panel)]
        for ax, letter, scores in zip((left, right), "ab", shown, strict=True):
            key = panel.key.replace("a", letter)
            log_cost_axis(ax)
            frame(ax, scores)
            ax.set_title(panel_title(panel, panel.dataset, record, key), loc="left")
            ax.set_xlabel(cost_label(panel, record))
            ax.set_ylabel(score_label(panel))
            if record["kind"] != "real":
                stamp(ax, "STAND-IN", upper=True)
    left, right = (ax.get_legend_handles_labels() for ax in axes[0])
    figure.legend(left[0] + right[0], left[1] + right[1], loc="outside lower center", ncols=5)
    figure.suptitle(
        f"CEGB (NIPS 2017), Figure 3 · scale {meta['scale']} · mean over seeds: "
        f"{len(meta['seeds'])}\n"
        "(a) traces over rounds, one for each λ   (b) for each budget the model with the best "
        "validation score, bands: 95 % t intervals",
        fontsize=9.5,
    )
    return figure


def _draw_traces(ax, rows: pd.DataFrame) -> np.ndarray:
    """Draw score against cost after 1, 2, 3, 5, … rounds, one line for each λ."""
    tradeoffs = sorted(set(rows["tradeoff"]))
    scores = []
    for i, tradeoff in enumerate(tradeoffs):
        # From dark to light: λ has an order, and grey keeps it.
        shade = 0.9 * i / max(1, len(tradeoffs) - 1)
        for algorithm in ("cegb", "cegb_unit_costs"):
            mine = rows[(rows["algorithm"] == algorithm) & (rows["tradeoff"] == tradeoff)]
            stages = mine[mine["rounds"] > 0].groupby("rounds")[["test_cost", "test_score"]]
            # A stage is drawn if every seed reached it.
            mean = stages.mean()[stages.size() == mine["seed"].nunique()]
            if mean.empty:
                continue
            true = algorithm == "cegb"
            ax.plot(
                mean["test_cost"],
                mean["test_score"],
                color=colormaps["viridis"](shade) if true else "0.55",
                linestyle=_LINES[i] if true else (0, (1, 1)),
                marker=_MARKERS[i],
                markerfacecolor=None if true else "white",
                label=f"λ = {tradeoff:g}" if true else f"λ = {tradeoff:g}, trained at β = 1",
            )
            scores.append(mean["test_score"].to_numpy())
    return np.concatenate(scores)


def _draw_growths(ax, rows: pd.DataFrame, panel: Panel) -> np.ndarray:
    scores = []
    for method in ("cegb", "cegb_breadth_first"):
        x, y, low, high = curves(rows, panel.key, method).summary()
        draw_curve(ax, method, x, y, low, high)
        scores.append(y)
    return np.concatenate(scores)


def alt(rows: pd.DataFrame, meta: Mapping) -> str:
    """Say where the traces end, and which growth lies higher."""
    said = []
    for panel in SHOWN:
        if not (rows["panel"] == panel.key).any():
            continue
        free = final(rows, panel.key, "cegb", 0.0)
        expensive = final(rows, panel.key, "cegb", CONVERGES_LOWER)
        unit = final(rows, panel.key, "cegb_unit_costs", CONVERGES_LOWER)
        lead = advantage(rows, panel.key, "cegb", "cegb_breadth_first")
        ends = "; ".join(
            f"{name} at {frame['test_score'].mean():.3f} for a cost of "
            f"{frame['test_cost'].mean():,.0f}"
            for name, frame in (
                ("λ = 0 ends", free),
                (f"λ = {CONVERGES_LOWER:g}", expensive),
                ("the same trained at β = 1", unit),
            )
        )
        standin = "" if meta["data"][panel.dataset]["kind"] == "real" else " (stand-in)"
        said.append(
            f"{panel_name(panel, panel.dataset)}{standin}: {ends}. Best-first growth lies "
            f"{np.nanmean(lead):+.3f} above breadth-first at equal cost."
        )
    return (
        "Average precision at 5 against mean prediction cost on a logarithmic axis: left one trace "
        "over rounds for each λ, right best-first against breadth-first growth. " + " ".join(said)
    )


ARTEFACT = Artefact(
    id="cegb-figure3",
    paper="cegb_2017",
    title="CEGB, Figure 3",
    shows="Influence of the feature penalty λ, of prices in training, and of best-first growth.",
    minutes={"smoke": 0.1, "laptop": 6, "overnight": 160, "paper": 300},
    seeds={"smoke": 2, "laptop": 5, "overnight": 10, "paper": 5},
    make_cells=make_cells,
    run_cell=trace,
    keys=("panel", "tradeoff", "rounds"),
    tolerances=TRACE_TOLERANCES,
    render=render,
    make_claims=make_claims,
    alt=alt,
    paper_numbers="Figure 3 prints curves without numbers; there is no table to compare with.",
)
