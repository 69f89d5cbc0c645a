"""Figure 1 of the Greedy Miser paper: NDCG@5 against test-time cost, traces and all methods."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

import numpy as np
import pandas as pd
from matplotlib import colormaps
from matplotlib.figure import Figure

from experiments.artefact import Artefact, Cell
from experiments.claims import Claim, Subject
from experiments.cronus_2012.show import panels as cronus_panels
from experiments.curves import HALF_THE_COST, advantage, curves
from experiments.greedy_miser_2012.cells.methods import run_cell
from experiments.greedy_miser_2012.show.comparison import (
    BASELINE,
    PAPER,
    RIVALS,
    chosen,
    decades_saved,
    feature_share,
    largest_step,
    of_panel,
    pooled,
    shortfall_left,
)
from experiments.greedy_miser_2012.show.panels import (
    BISECTED,
    FIRST_SEEDS,
    LEFT_TRADEOFFS,
    LIKELIHOODS,
    MARGINS,
    PANELS,
    RIGHT_TRADEOFFS,
    TRACE_TOLERANCES,
    TRADEOFFS,
    WITH_CRONUS,
    WITH_EXITS,
    Panel,
    cost_label,
    make_cell,
    panel_title,
    repetitions,
    score_label,
    shown,
)
from experiments.lines import lines_of
from experiments.style import (
    GAP_IN_WORDS,
    draw_curve,
    frame,
    headline,
    label_points,
    log_cost_axis,
    stamp,
)


def make_cells(scale: str, seeds: range) -> list[Cell]:
    """Return the cells: panel × seed × (λ, subsets, early exits, λ with early exits, Cronus)."""
    cells = []
    for panel in shown(scale):
        first = FIRST_SEEDS.get(panel.key, 0)
        for seed in repetitions(scale, panel, seeds):
            cells += _cells(scale, panel, first + seed)
    return cells


def _cells(scale: str, panel: Panel, seed: int) -> list[Cell]:
    cell = partial(make_cell, scale, panel)
    tradeoffs = TRADEOFFS[scale] if panel.rivals or scale == "smoke" else LEFT_TRADEOFFS
    cells = [cell("greedy_miser" if t else BASELINE, seed, tradeoff=t) for t in tradeoffs]
    if not panel.rivals:
        return cells
    exits = MARGINS if panel.ranking else LIKELIHOODS
    limits = panel.limits
    if scale == "smoke":
        exits, limits = exits[2:6:2], limits[1:2]
    cells += [cell("stagewise_subsets", seed, limit=limit) for limit in limits]
    cells.append(cell("early_exit", seed, exits=exits))
    cells += [
        cell("greedy_miser_early_exit", seed, tradeoff=t, exits=exits) for t in WITH_EXITS[scale]
    ]
    if panel.key in WITH_CRONUS[scale]:
        cells.append(_cronus(scale, panel, seed))
    return cells


def _cronus(scale: str, panel: Panel, seed: int) -> Cell:
    """Return the cell of Cronus: that of its own Figure 2 on the same data, scored as here."""
    (own,) = (one for one in cronus_panels.PANELS if one.dataset == panel.dataset)
    cascade = cronus_panels.make_cell(scale, own, "cronus", seed).params
    params = {"panel": panel.key, "cascade": cascade}
    if panel.key in BISECTED:
        params["bisected"] = True
    return Cell(panel.dataset, "cronus", params, seed)


# --- claims ---------------------------------------------------------------------------------------

A_TENTH = 1.0
"""Decades of cost."""

_SMALLEST_EFFECT = 0.005
_HALF_THE_MARGIN = 0.0025
_GRADUAL, _SURELY_GRADUAL = 0.01, 0.005
_SMALLEST_SHARE = 0.05

_RIGHT = "section 6, Fig. 1 right: "
_TENTH = (
    f'{_RIGHT}"almost match the ranking accuracy of stage-wise regression with 1/10 of the cost"'
)
_HALF = f'{_RIGHT}"Early-Exits to 1/2"'
_ABOVE = f'{_RIGHT}"stays consistently above that of Cronus and Early Exits"'
_ABOVE_SUBSETS = f"{_RIGHT}drawn above the curve of feature subsets"
_REACH = (
    f'{_RIGHT}"all algorithms manage to match the unconstrained cost-results of stage-wise '
    'regression"'
)
_DROPS = 'section 6, Fig. 1 left: "drops very gradually"'
_LIMITED = (
    'section 6: "limited because the cost is dominated by the feature acquisition, rather than '
    'tree computation"'
)
_FUTURE = "section 6 and 7: early exits are complementary and should be combined (future work)"


def make_claims(rows: pd.DataFrame, meta: Mapping) -> list[Claim]:
    """Return what section 6 says, for each data set; costs in the paper's accounting."""
    claims = []
    for panel in PANELS:
        if of_panel(rows, panel.key, BASELINE).empty:
            continue
        overlap = meta["data"][panel.dataset].get("test_overlap", 0.0)
        claim = Subject(panel.key, panel.name, panel.dataset, overlap).claim
        claims.append(_gradual(claim))
        if panel.rivals:
            claims += _saving_claims(claim)
            claims += _rival_claims(claim, panel)
    return claims


def _gradual(claim: Callable) -> Claim:
    return claim(
        "gradual",
        f"between neighbouring λ from 0 to {LEFT_TRADEOFFS[-1]:g} the score never differs by more "
        f"than {_GRADUAL:g}",
        _DROPS,
        _SURELY_GRADUAL,
        f"score inside the {_GRADUAL:g}",
        gradual,
    )


def gradual(rows: pd.DataFrame, panel: str) -> np.ndarray:
    """Return by how much the largest step between the paper's λ stays below the margin."""
    tried = set(of_panel(rows, panel, "greedy_miser")["tradeoff"]) | {0.0}
    papers = tuple(t for t in tried if t <= LEFT_TRADEOFFS[-1])
    return _GRADUAL - largest_step(rows, panel, papers)


def _saving_claims(claim: Callable) -> list[Claim]:
    """Return how much cheaper the baseline's score is had."""
    text = "as good as λ = 0 within 0.005, {} costs {} as much"
    unit = "decades of cost"
    return [
        claim("tenth", text.format("Greedy Miser", "at most a tenth"), _TENTH, A_TENTH, unit,
              decades_saved, method="greedy_miser"),
        claim("half", text.format("early exit", "at most half"), _HALF, HALF_THE_COST, unit,
              decades_saved, method="early_exit"),
    ]  # fmt: skip


def _rival_claims(claim: Callable, panel: Panel) -> list[Claim]:
    """Return who lies above whom, who reaches the baseline, and what limits early exit."""
    unit = "NDCG@5" if panel.ranking else "accuracy"
    claims = []
    rivals = dict(RIVALS)
    if panel.key not in WITH_CRONUS["paper"]:
        del rivals["cronus"]
    for rival, name in rivals.items():
        place = _ABOVE_SUBSETS if rival == "stagewise_subsets" else _ABOVE
        text = f"Greedy Miser scores higher than {name} at equal cost"
        claims.append(
            claim(f"above-{rival.replace('_', '-')}", text, place, _SMALLEST_EFFECT, unit,
                  lead, better="greedy_miser", worse=rival)
        )  # fmt: skip
    # Feature subsets end at the whole set, which is the baseline.
    ending = {"greedy_miser": "Greedy Miser", **rivals}
    del ending["stagewise_subsets"]
    for method, name in ending.items():
        claims.append(
            claim(f"reaches-{method.replace('_', '-')}",
                  f"the best model of {name} scores no less than 0.005 below λ = 0",
                  _REACH, _HALF_THE_MARGIN, f"{unit} inside the 0.005", shortfall_left,
                  method=method)
        )  # fmt: skip
    if panel.tree_cost:  # else there is nothing but features
        claims.append(
            claim("exit-limited",
                  "where early exit is as good as λ = 0 within 0.005, features are at least half "
                  "of what is left of its cost",
                  _LIMITED, _SMALLEST_SHARE, "share of the cost above ½", above_half,
                  tree_cost=panel.tree_cost)
        )  # fmt: skip
    claims.append(
        claim("with-exits", "Greedy Miser with early exits scores higher than Greedy Miser at "
              "equal cost", _FUTURE, _SMALLEST_EFFECT, unit, lead,
              better="greedy_miser_early_exit", worse="greedy_miser")
    )  # fmt: skip
    return claims


def lead(rows: pd.DataFrame, panel: str, better: str, worse: str) -> np.ndarray:
    """Return the mean lead over shared budgets, logarithmically spaced, one value per seed."""
    if any(of_panel(rows, panel, method).empty for method in (better, worse)):
        return np.empty(0)
    return advantage(pooled(rows), panel, better, worse, PAPER)


def above_half(rows: pd.DataFrame, panel: str, tree_cost: float) -> np.ndarray:
    """Return by how much the features' share of early exit's cost lies above a half."""
    if of_panel(rows, panel, "early_exit").empty:
        return np.empty(0)
    return feature_share(rows, panel, tree_cost) - 0.5


# --- picture --------------------------------------------------------------------------------------


def render(rows: pd.DataFrame, meta: Mapping) -> Figure:
    """Draw for each data set the traces of λ (left) and all methods (right)."""
    panels = [panel for panel in PANELS if not of_panel(rows, panel.key, BASELINE).empty]
    lines = -(-len(panels) // 2)
    figure = Figure(figsize=(17, 1.6 + 3.7 * lines), layout="constrained")
    axes = figure.subplots(lines, 4, squeeze=False).reshape(-1, 2)
    named = {}
    for pair, panel in zip(axes, panels, strict=False):
        record = meta["data"][panel.dataset]
        _draw_traces(pair[0], of_both(rows, panel))
        if panel.rivals:
            _draw_methods(pair[1], rows, panel)
        else:
            pair[1].set_axis_off()
            pair[1].text(0.5, 0.5, "all methods: panel (b), as in the paper", ha="center")
        for ax in pair if panel.rivals else pair[:1]:
            ax.set_label(panel.key)
            ax.set_title(panel_title(panel, record), loc="left")
            ax.set_xlabel(cost_label(panel, record))
            ax.set_ylabel(score_label(panel))
            if record["kind"] != "real":
                stamp(ax, "STAND-IN")
            for handle, label in zip(*ax.get_legend_handles_labels(), strict=True):
                named.setdefault(label, handle)
    for ax in axes[len(panels) :].flat:
        ax.set_axis_off()
    figure.legend(named.values(), named.keys(), loc="outside lower center", ncols=5)
    headline(
        figure,
        f"Greedy Miser (ICML 2012), Figure 1 · scale {meta['scale']} · up to "
        f"{rows.groupby('panel')['seed'].nunique().max()} seeds · left of each pair: traces over "
        "rounds, circles: best iteration by validation\nright: for each budget the model with the "
        "best validation score, bands: 95 % t intervals over seeds; numbers: Greedy Miser's λ, "
        f"each at its best iteration\n{GAP_IN_WORDS} (listed are those of metered costs)",
    )
    return figure


def of_both(rows: pd.DataFrame, panel: Panel) -> pd.DataFrame:
    """Return the rows of λ = 0 and of Greedy Miser."""
    return pd.concat([of_panel(rows, panel.key, m) for m in (BASELINE, "greedy_miser")])


_MARKERS = "os^Dv"
_LINES = ("-", "--", "-.", ":", (0, (5, 1, 1, 1)))
"""Of the traces of :data:`LEFT_TRADEOFFS`."""


def _draw_traces(ax, rows: pd.DataFrame) -> None:
    """Draw score against cost over rounds, one line for each λ, and where validation stops."""
    tried = sorted(set(rows["tradeoff"]) & set(LEFT_TRADEOFFS))
    scores, ends = [], []
    for i, tradeoff in enumerate(tried):
        mine = rows[(rows["tradeoff"] == tradeoff) & (rows["rounds"] > 0)]
        stages = mine.groupby("rounds")[["test_cost_paper", "test_score"]]
        # A stage is drawn if every seed reached it.
        mean = stages.mean()[stages.size() == mine["seed"].nunique()]
        colour = colormaps["viridis"](0.9 * i / max(1, len(tried) - 1))
        ax.plot(mean["test_cost_paper"], mean["test_score"], color=colour, marker=_MARKERS[i],
                markersize=3.5, linestyle=_LINES[i], linewidth=1.2,
                label=f"λ = {tradeoff:g}")  # fmt: skip
        end = mine[mine["best"] == 1][["test_cost_paper", "test_score"]].mean()
        ends.append(end)
        scores.append(mean["test_score"])
    ends = pd.DataFrame(ends)
    ax.plot(ends["test_cost_paper"], ends["test_score"], "-", color="#D55E00", marker="o",
            markerfacecolor="none", markersize=8, linewidth=1.0,
            label="best iteration by validation")  # fmt: skip
    log_cost_axis(ax)
    frame(ax, np.concatenate([*scores, ends["test_score"]]))


_DRAWN = (BASELINE, *RIVALS, "greedy_miser", "greedy_miser_early_exit")


def _draw_methods(ax, rows: pd.DataFrame, panel: Panel) -> None:
    """Draw one curve for each method, and numbers at the paper's λ."""
    together, drawn = pooled(rows), []
    for method in _DRAWN:
        if (curve := curves(together, panel.key, method, PAPER)) is not None:
            x, y, low, high = curve.summary()
            draw_curve(ax, method, x, y, low, high, gaps=curve.gaps())
            drawn.append(y)
    frame(ax, np.concatenate(drawn), headroom=0.15)
    log_cost_axis(ax)
    named = {}
    for tradeoff in RIGHT_TRADEOFFS[1:]:
        at = chosen(rows, panel.key, "greedy_miser", tradeoff=tradeoff)
        if len(at):
            named[f"{tradeoff:.3g}"] = at["test_cost_paper"].mean(), at["test_score"].mean()
    label_points(ax, named)


def alt(rows: pd.DataFrame, meta: Mapping) -> str:
    """Say for each data set how much cheaper Greedy Miser and its rivals are than λ = 0."""
    said = []
    for panel in PANELS:
        if not panel.rivals or of_panel(rows, panel.key, BASELINE).empty:
            continue
        standin = "" if meta["data"][panel.dataset]["kind"] == "real" else ", stand-in"
        times = [
            f"{10 ** np.nanmean(decades_saved(rows, panel.key, m)):.1f}"
            for m in ("greedy_miser", "early_exit", "cronus")
            if not of_panel(rows, panel.key, m).empty
        ]
        said.append(f"({panel.key}) {panel.name}{standin}: {', '.join(times)}")
    return (
        "Pairs of panels of test score against cost on a logarithmic axis: traces of Greedy Miser "
        "over rounds for several λ, and one curve for each method. How many times cheaper than "
        "λ = 0 Greedy Miser, early exit and (where it is drawn) Cronus are at a score that is at "
        f"most 0.005 lower: {'; '.join(said)}."
    )


ARTEFACT = Artefact(
    id="miser-figure1",
    paper="greedy_miser_2012",
    title="Greedy Miser, Figure 1",
    shows="Score against test-time cost: traces for several λ, and Greedy Miser beside stage-wise "
    "regression, feature subsets, early exits and Cronus.",
    minutes={"smoke": 0.3, "laptop": 8, "overnight": 400, "paper": 2000},
    seeds={"smoke": 2, "laptop": 5, "overnight": 10, "paper": 10},
    make_cells=make_cells,
    run_cell=run_cell,
    keys=("panel", "tradeoff", "limit", "exit", "rounds"),
    tolerances=TRACE_TOLERANCES,
    render=render,
    make_claims=make_claims,
    alt=alt,
    curve=("algorithm", "valid_cost"),
    lines=lines_of(render, "95 % t interval over seeds"),
    paper_numbers="Figure 1 prints curves without numbers. The text: Greedy Miser costs 1/10 of "
    "stage-wise regression at nearly its score, Cronus 1/4, early exits 1/2.",
)
