"""Figure 2 of the CEGB paper: score against prediction cost on six data sets."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from experiments.artefact import Artefact, Cell
from experiments.cegb_2017.cells.measure import trace
from experiments.cegb_2017.show.curves_of_panel import draw_panel, lines_of_panels
from experiments.cegb_2017.show.panels import (
    GRID,
    PANELS,
    TRACE_TOLERANCES,
    Panel,
    panel_name,
    settings,
)
from experiments.claims import Claim
from experiments.curves import HALF_THE_COST, advantage, saving
from experiments.style import empty_entry

SHOWN = ("cegb", "cegb_shallow", "cegb_as_miser", "gbrt")
"""Methods of Figure 2."""


def make_cells(scale: str, seeds: range) -> list[Cell]:
    """Return the cells: panel × seed × method × λ; plain GBRT has no λ."""
    cells = []
    for panel in PANELS:
        dataset = panel.smoke_dataset if scale == "smoke" else panel.dataset
        if dataset is None:
            continue
        for seed in seeds:
            for method in SHOWN:
                tradeoffs = (0.0,) if method == "gbrt" else GRID[scale][panel.prices].tradeoffs
                for tradeoff in tradeoffs:
                    params = {
                        "panel": panel.key,
                        "tradeoff": tradeoff,
                        "settings": settings(scale, panel, method),
                    }
                    cells.append(Cell(dataset, method, params, seed))
    return cells


# --- claims -----------------------------------------------------------------------------------

_SMALLEST_EFFECT = 0.005
_PLACES = {
    "a": 'section 5, Fig. 2a: "even the shallow trees are already always strictly better"',
    "b": 'section 5, Fig. 2b: "again performs significantly better than others"',
    "c": 'section 5, Fig. 2c: "a significantly better predictor"',
    "d": 'section 5, Fig. 2d: "a significantly better predictor"',
    "e": 'section 5, Fig. 2e: "a classifier with a better tradeoff than GreedyMiser"',
    "f": 'section 5, Fig. 2f: "a classifier with a better tradeoff than GreedyMiser"',
}
_DEEP_PLACE_A = 'section 5, Fig. 2a: "better accuracy at a much lower cost"'


def make_claims(rows: pd.DataFrame, meta: Mapping) -> list[Claim]:
    """Return for each panel the claims that both CEGBs beat CEGB set up as Greedy Miser."""
    claims = []
    for panel in PANELS:
        mine = rows[rows["panel"] == panel.key]
        if mine.empty:
            continue
        dataset = mine["dataset"].iloc[0]
        score = "accuracy" if panel.relevant_from is None else "AP@5"
        for method, word in (("cegb", "deep"), ("cegb_shallow", "shallow")):
            place = _PLACES[panel.key[0]]
            if panel.key[0] == "a" and word == "deep":
                place = _DEEP_PLACE_A
            if panel.key[0] != "a" and word == "shallow":
                place = "section 5 says it of Fig. 2a; asked of every data set here"
            overlap = meta["data"][dataset].get("test_overlap", 0.0)
            only = " (on these test queries, the same for every seed)" if overlap == 1 else ""
            claims.append(
                Claim(
                    id=f"{panel.key}-{word}",
                    sentence=f"{panel_name(panel, dataset)}: {word} CEGB scores higher than CEGB "
                    f"set up as Greedy Miser at equal cost{only}.",
                    place=place,
                    dataset=dataset,
                    smallest_effect=_SMALLEST_EFFECT,
                    unit=score,
                    effects=partial(
                        advantage, panel=panel.key, better=method, worse="cegb_as_miser"
                    ),
                    overlap=overlap,
                )
            )
        if panel.key[0] == "a":
            claims.append(_saving_claim(panel, dataset, overlap, only))
    return claims


def _saving_claim(panel: Panel, dataset: str, overlap: float, only: str) -> Claim:
    """Return the claim that deep CEGB needs much less cost for the same score (Fig. 2a)."""
    return Claim(
        id=f"{panel.key}-saving",
        sentence=f"{panel_name(panel, dataset)}: at the highest score that both reach, deep CEGB "
        f"costs at most half as much as CEGB set up as Greedy Miser{only}.",
        place=_DEEP_PLACE_A,
        dataset=dataset,
        smallest_effect=HALF_THE_COST,
        unit="decades of cost",
        effects=partial(saving, panel=panel.key, better="cegb", worse="cegb_as_miser"),
        overlap=overlap,
    )


# --- picture ----------------------------------------------------------------------------------


def render(rows: pd.DataFrame, meta: Mapping) -> Figure:
    """Draw the eight panels; a panel without rows says so."""
    figure = Figure(figsize=(15, 8.2), layout="constrained")
    axes = figure.subplots(2, 4)
    for ax, panel in zip(axes.flat, PANELS, strict=True):
        _draw_panel(ax, panel, rows[rows["panel"] == panel.key], meta)
    handles, labels = axes.flat[0].get_legend_handles_labels()
    for ax in axes.flat[1:]:
        for handle, label in zip(*ax.get_legend_handles_labels(), strict=True):
            if label not in labels:
                handles.append(handle)
                labels.append(label)
    figure.legend(handles, labels, loc="outside lower center", ncols=3)
    figure.suptitle(
        f"CEGB (NIPS 2017), Figure 2 · scale {meta['scale']} · {len(meta['seeds'])} seeds, bands: "
        "95 % t intervals over seeds · for each budget the model with the best validation score",
        fontsize=9.5,
    )
    return figure


def _draw_panel(ax, panel: Panel, rows: pd.DataFrame, meta: Mapping) -> None:
    if rows.empty:
        ax.set_title(f"({panel.key}) {panel.name}", loc="left")
        why = "not part of the smoke scale" if meta["scale"] == "smoke" else "no stand-in exists"
        ax.text(0.5, 0.5, f"no data: {why}", ha="center", va="center", transform=ax.transAxes)
        ax.set_xticks([])
        ax.set_yticks([])
        return
    record = meta["data"][rows["dataset"].iloc[0]]
    label = "the same, every row paying for the whole forest (the paper's accounting)"
    draw_panel(ax, panel, rows, record, SHOWN, ("cegb_as_miser", label))
    empty_entry(ax, "budget_prune", "not built yet")


def alt(rows: pd.DataFrame, meta: Mapping) -> str:
    """Say for each panel how far deep CEGB lies above CEGB set up as Greedy Miser."""
    said = []
    for panel in PANELS:
        mine = rows[rows["panel"] == panel.key]
        gains = advantage(rows, panel.key, "cegb", "cegb_as_miser") if len(mine) else np.empty(0)
        if gains.size == 0 or np.isnan(gains).all():
            said.append(f"({panel.key}) {panel.name}: no data")
            continue
        dataset = mine["dataset"].iloc[0]
        score = "accuracy" if panel.relevant_from is None else "average precision at 5"
        standin = "" if meta["data"][dataset]["kind"] == "real" else ", stand-in"
        said.append(
            f"({panel.key}) {panel_name(panel, dataset)}{standin}: {np.nanmean(gains):+.3f} {score}"
        )
    return (
        "Eight panels of test score against mean prediction cost on a logarithmic axis, one curve "
        "each for deep CEGB, shallow CEGB, CEGB set up as Greedy Miser and plain boosting. Mean "
        f"height of deep CEGB's curve above that of CEGB set up as Greedy Miser: {'; '.join(said)}."
    )


ARTEFACT = Artefact(
    id="cegb-figure2",
    paper="cegb_2017",
    title="CEGB, Figure 2",
    shows="Score against prediction cost: CEGB deep and shallow, CEGB set up as Greedy Miser, "
    "GBRT.",
    minutes={"smoke": 0.3, "laptop": 10, "overnight": 280, "paper": 600},
    seeds={"smoke": 2, "laptop": 5, "overnight": 10, "paper": 5},
    make_cells=make_cells,
    run_cell=trace,
    keys=("panel", "tradeoff", "rounds"),
    tolerances=TRACE_TOLERANCES,
    render=render,
    make_claims=make_claims,
    alt=alt,
    lines=lambda rows, meta: lines_of_panels(PANELS, rows, meta, SHOWN),
    paper_numbers="Figure 2 prints curves without numbers; there is no table to compare with.",
)
