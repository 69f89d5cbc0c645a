"""Figure 3 of the CEGB paper: the feature penalty (a), and best-first growth (b)."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
import pandas as pd
from matplotlib import colormaps
from matplotlib.figure import Figure

from experiments.artefact import Artefact, Cell, Tolerance
from experiments.cegb_2017.cells.measure import trace_and_describe
from experiments.cegb_2017.show.curves_of_panel import say_speaking_queries
from experiments.cegb_2017.show.design import REPETITIONS, cells_of, repetitions, tradeoffs
from experiments.cegb_2017.show.panels import (
    PANELS,
    TRACE_TOLERANCES,
    Panel,
    cost_label,
    panel_name,
    panel_title,
    score_label,
)
from experiments.claims import Claim, Subject
from experiments.curves import HALF_THE_COST, advantage, curves, smallest_lead
from experiments.estimates import t_interval
from experiments.lines import lines_of
from experiments.style import draw_band, draw_curve, frame, headline, log_cost_axis, stamp

SHOWN = tuple(panel for panel in PANELS if panel.key in ("a", "a'", "y", "m", "w"))
"""Section 5.1 uses Yahoo! LTR; the other four are real for everybody."""

PROGRAMS_TRADEOFF = 5e-4
"""The authors' gain has no 1/2: if Fig. 3's λ = 0.001 is their program's, it is 5e-4 here."""

UNIT_COST_TRADEOFFS = (1e-4, 1e-3)
"""λ of the models trained at β = 1; the paper does not say which it took."""

CONVERGES_LOWER = 1e-3


def make_cells(scale: str, seeds: range) -> list[Cell]:
    """Return the cells: panel × seed × (both growths and β = 1) × λ.

    Cells that Figure 2 has too are the same cells, and are computed once.
    """
    cells = []
    for panel in SHOWN:
        grid = tuple(sorted({*tradeoffs(scale, panel, "cegb"), CONVERGES_LOWER}))
        unit = (CONVERGES_LOWER,)
        if scale != "smoke":
            grid = tuple(sorted({*grid, *_LARGE, PROGRAMS_TRADEOFF}))
            unit = UNIT_COST_TRADEOFFS
        for seed in repetitions(scale, panel, seeds):
            for method, values in (
                ("cegb", grid),
                ("cegb_breadth_first", grid),
                ("cegb_unit_costs", unit),
            ):
                cells += cells_of(scale, panel, method, seed, values)
    return cells


# --- claims -----------------------------------------------------------------------------------

_SMALLEST_EFFECT = 0.005
SIMILAR = 0.01
_NEARER = 0.1
_FEWER_ROWS = 0.1
_DEEPER = 0.0414
"""log10(1.1): a tenth."""
_LARGE = (3e-4,)
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
    return (SIMILAR - (free["test_score"] - priced["test_score"])).to_numpy()


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


def fewer_buy_dear(rows: pd.DataFrame, panel: str, tradeoff: float) -> np.ndarray:
    """Return by how much the share of test rows that buy a dearest feature falls from λ = 0's."""
    free, priced = (final(rows, panel, "cegb", t) for t in (0.0, tradeoff))
    return (free["test_dear"] - priced["test_dear"]).to_numpy()


def deeper_than_paths(rows: pd.DataFrame, panel: str, tradeoff: float) -> np.ndarray:
    """Return how many decades further best-first trees reach below their mean path.

    Depth of a tree's deepest leaf over the split nodes that a test row passes in it, best-first
    against breadth-first growth.
    """
    grown = (final(rows, panel, m, tradeoff) for m in ("cegb", "cegb_breadth_first"))
    best, breadth = (
        one["mean_depth"] / one["mean_path"].where(one["mean_path"] > 0) for one in grown
    )
    return np.log10(best / breadth).to_numpy()


_FIG_3A = "section 5.1, Fig. 3a: "
_SECTION_43 = 'section 4.3: "deep trees that are nevertheless cheap to compute on average"'
_SUBSET = 'section 5.1: "limiting usage of expensive features to a small subset of inputs"'
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
        if _LARGE[-1] in there:
            claims += _cheap_though_deep(claim)
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
            f"λ = {t:g} ends at most {SIMILAR - _SMALLEST_EFFECT:g} below the score of λ = 0, "
            f"and surely less than {SIMILAR:g}"
        )
        claims.append(
            claim(
                f"similar-{t:g}",
                text,
                similar,
                _SMALLEST_EFFECT,
                f"AP@5 inside the {SIMILAR:g}",
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
    for t in (t for t in (PROGRAMS_TRADEOFF, CONVERGES_LOWER) if t in tradeoffs):
        text = f"λ = {t:g} ends with a lower score than λ = 0"
        name = f"lower-{t:g}"
        claims.append(claim(name, text, lower, _SMALLEST_EFFECT, "AP@5", score_lost, tradeoff=t))
    if CONVERGES_LOWER in tradeoffs:
        t = CONVERGES_LOWER
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
        claim("every-budget", worst, _FIG_3B, _SMALLEST_EFFECT, "AP@5", smallest_lead, **both),
    ]


def _cheap_though_deep(claim: Callable) -> list[Claim]:
    """Return why deep trees are cheap: few rows buy dear features, and few go all the way down."""
    t = _LARGE[-1]
    few = f"with λ = {t:g} fewer rows buy a feature of the highest price than with λ = 0"
    deep = f"with λ = {t:g} best-first trees reach further below their mean path than breadth-first"
    dear = (_FEWER_ROWS, "share of test rows", fewer_buy_dear)
    return [
        claim("dear", few, _SUBSET, *dear, tradeoff=t),
        claim("deep", deep, _SECTION_43, _DEEPER, "decades", deeper_than_paths, tradeoff=t),
    ]


# --- picture ----------------------------------------------------------------------------------

_LINES = ("-", "--", "-.", ":", (0, (5, 1, 1, 1)), (0, (1, 1)), "-", "--", "-.", ":")
_MARKERS = "osv^DPX*hp"


def render(rows: pd.DataFrame, meta: Mapping) -> Figure:
    """Draw for each data set the traces of every λ (a), and both growths (b)."""
    panels = [panel for panel in SHOWN if (rows["panel"] == panel.key).any()]
    figure = Figure(figsize=(11, 1.6 + 3.6 * len(panels)), layout="constrained")
    axes = figure.subplots(len(panels), 2, squeeze=False)
    tradeoffs = sorted(set(rows["tradeoff"]))
    for (left, right), panel in zip(axes, panels, strict=True):
        mine = rows[rows["panel"] == panel.key]
        record = meta["data"][panel.dataset]
        shown = [_draw_traces(left, mine, tradeoffs), _draw_growths(right, mine, panel)]
        for ax, letter, scores in zip((left, right), "ab", shown, strict=True):
            key = f"{letter}{panel.key[1:]}" if panel.key[0] == "a" else f"{letter}, {panel.key}"
            ax.set_label(panel.key)
            log_cost_axis(ax)
            frame(ax, scores)
            ax.set_title(panel_title(panel, panel.dataset, record, key), loc="left")
            say_speaking_queries(ax, mine)
            ax.set_xlabel(cost_label(panel, record))
            ax.set_ylabel(score_label(panel))
            if record["kind"] != "real":
                stamp(ax, "STAND-IN")
    left, right = (
        max((ax.get_legend_handles_labels() for ax in column), key=lambda entries: len(entries[1]))
        for column in axes.T
    )
    figure.legend(left[0] + right[0], left[1] + right[1], loc="outside lower center", ncols=5)
    headline(
        figure,
        f"CEGB (NIPS 2017), Figure 3 · scale {meta['scale']} · {len(meta['seeds'])} seeds, bands: "
        "95 % t intervals over seeds\n"
        "(a) traces over rounds, one for each λ   (b) for each budget the model with the best "
        "validation score",
    )
    return figure


def _draw_traces(ax, rows: pd.DataFrame, tradeoffs: list[float]) -> np.ndarray:
    """Draw score against cost after 1, 2, 3, 5, … rounds, one line for each λ of any panel."""
    scores = []
    for i, tradeoff in enumerate(tradeoffs):
        # From dark to light: λ has an order, and grey keeps it.
        shade = 0.9 * i / max(1, len(tradeoffs) - 1)
        for algorithm in ("cegb", "cegb_unit_costs"):
            mine = rows[(rows["algorithm"] == algorithm) & (rows["tradeoff"] == tradeoff)]
            if mine.empty:
                continue
            stages = mine[mine["rounds"] > 0].pivot(index="seed", columns="rounds")
            # A stage is drawn if every seed reached it.
            stages = stages[["test_cost", "test_score"]].dropna(axis="columns")
            true = algorithm == "cegb"
            colour = colormaps["viridis"](shade) if true else "0.55"
            cost, score = (stages[name].to_numpy() for name in ("test_cost", "test_score"))
            mean = cost.mean(axis=0), score.mean(axis=0)
            draw_band(ax, colour, mean[0], *t_interval(score), alpha=0.08)
            ax.plot(
                *mean,
                color=colour,
                linestyle=_LINES[i] if true else (0, (1, 1)),
                marker=_MARKERS[i],
                markerfacecolor=None if true else "white",
                label=f"λ = {tradeoff:g}" if true else f"λ = {tradeoff:g}, trained at β = 1",
            )
            scores.append(mean[1])
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
        "over rounds for each λ with its spread, right best-first against breadth-first growth. "
        + " ".join(said)
    )


ARTEFACT = Artefact(
    id="cegb-figure3",
    paper="cegb_2017",
    title="CEGB, Figure 3",
    shows="Influence of the feature penalty λ, of prices in training, and of best-first growth.",
    minutes={"smoke": 0.2, "laptop": 7, "overnight": 15, "paper": 300},
    seeds=REPETITIONS,
    make_cells=make_cells,
    run_cell=trace_and_describe,
    keys=("panel", "tradeoff", "rounds"),
    tolerances=TRACE_TOLERANCES
    | {
        "rounds_trained": Tolerance(),
        "speaking_queries": Tolerance(),
        "test_dear": Tolerance(absolute=0.02),
        "mean_depth": Tolerance(relative=0.05),
        "mean_path": Tolerance(relative=0.05),
    },
    render=render,
    make_claims=make_claims,
    alt=alt,
    lines=lines_of(render, "95 % t interval over seeds"),
    paper_numbers="Figure 3 prints curves without numbers; there is no table to compare with.",
)
