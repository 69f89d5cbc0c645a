"""Beside Figures 2 and 3 of the CEGB paper: claims on ranking data, over queries.

Those two have t intervals over five repetitions, of which each is the mean of a dozen to a hundred
queries. Here every query speaks: its difference in AP@5 is one value.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pandas as pd

from experiments.artefact import Artefact, Cell
from experiments.cegb_2017 import figure2, figure3
from experiments.cegb_2017.cells.queries import score_queries
from experiments.cegb_2017.claims import both_kinds, of_queries
from experiments.cegb_2017.show.design import REPETITIONS
from experiments.cegb_2017.show.panels import TRACE_TOLERANCES
from experiments.claims import evaluate
from experiments.data_kinds import aside

KEYS = ("a'", "b'", "y", "m", "w")
"""Panels with real ranking data."""

SMOKE_KEYS = ("a",)
"""What is always there."""

METHODS = ("cegb", "cegb_shallow", "greedy_miser", "cegb_breadth_first")
"""Methods that the claims compare."""


def make_cells(scale: str, seeds: range) -> list[Cell]:
    """Return the cells: panel × seed × method; a cell trains the models of Figures 2 and 3."""
    shown = SMOKE_KEYS if scale == "smoke" else KEYS
    first, grids = {}, {}
    for figure in (figure2, figure3):
        for cell in figure.make_cells(scale, seeds):
            panel = cell.params["panel"]
            if panel in shown and cell.algorithm in METHODS:
                key = (panel, cell.seed, cell.algorithm)
                first.setdefault(key, cell)
                of_figure = grids.setdefault(key, {}).setdefault(figure.__name__, [])
                of_figure.append(cell.params["tradeoff"])
    return [
        replace(
            cell,
            params={name: cell.params[name] for name in ("panel", "settings")}
            | {"grids": list(grids[key].values())},
        )
        for key, cell in first.items()
    ]


# --- table --------------------------------------------------------------------------------------


def _evaluated(rows: pd.DataFrame, meta: Mapping) -> list[tuple[dict, dict]]:
    """Return each claim over repetitions and over queries."""
    kinds = zip(*both_kinds(rows, meta), strict=True)
    tables = [evaluate(claims, rows, meta["data"]).to_dict("records") for claims in kinds]
    return list(zip(*tables, strict=True))


def render(rows: pd.DataFrame, meta: Mapping) -> str:
    """Return the table: a line for each claim, over queries and beside it over repetitions."""
    judged = _evaluated(rows, meta)
    lines = [
        f"# CEGB, Figures 2 and 3: over queries (scale {meta['scale']})",
        "",
        "Differences in AP@5 of the models of Figures 2 and 3, with a value for each test query "
        f"that has a relevant document and each of {len(meta['seeds'])} repetitions, with 95 % "
        "intervals. Where all repetitions have the same queries, repetitions and queries are "
        "crossed factors: the interval is for new trainings and new queries. Where folds rotate, "
        "each query is tested once: the interval is for these trainings and new queries "
        "(bootstrap, BCa; of fewer than 100 queries a t interval). Beside it the t interval over "
        "repetitions, as in the figures.",
        "",
        "| panel | data | claim | queries | over queries | over repetitions |",
        "|---|---|---|---:|---:|---:|",
    ]
    for seeds, queries in judged:
        panel, _, name = seeds["claim"].partition("-")
        data = queries["dataset"] + aside(meta["data"][queries["dataset"]])
        lines.append(
            f"| {panel} | {data} | {name} | {queries['n']} | "
            f"{_interval(queries)} | {_interval(seeds)} |"
        )
    lines += ["", "Claims, in AP@5:", ""]
    lines += [f"* *{name}*: {words}" for name, words in _words(judged).items()]
    return "\n".join(lines) + "\n"


def _interval(row: Mapping) -> str:
    if np.isnan(row["low"]):
        return f"{row['effect']:+.4f}"
    return f"{row['effect']:+.4f} [{row['low']:+.4f}, {row['high']:+.4f}]"


def _words(judged: list[tuple[dict, dict]]) -> dict[str, str]:
    """Return what each claim's name means: its sentence, without the data."""
    said = {}
    for seeds, queries in judged:
        name = seeds["claim"].partition("-")[2]
        text = queries["sentence"].partition(": ")[2].rpartition(" (")[0]
        said.setdefault(name, f"{text}; of interest from {queries['smallest_effect']:g} on.")
    return said


def alt(rows: pd.DataFrame, meta: Mapping) -> str:
    """Say how wide intervals are beside those over repetitions, and which leave out 0."""
    judged = _evaluated(rows, meta)
    ratios = [
        (queries["high"] - queries["low"]) / (seeds["high"] - seeds["low"])
        for seeds, queries in judged
    ]
    known = [ratio for ratio in ratios if np.isfinite(ratio)]
    apart = [
        f"{seeds['claim']} ({queries['effect']:+.3f})"
        for seeds, queries in judged
        if queries["low"] > 0 or queries["high"] < 0
    ]
    width = (
        f" Intervals over queries are {min(known):.2f} to {max(known):.2f} times as wide as those "
        "over repetitions."
        if known
        else ""
    )
    return (
        "A table of differences in average precision at 5, with intervals over queries and over "
        f"repetitions.{width} Of {len(judged)} intervals over queries these leave out 0: "
        f"{'; '.join(apart) or 'none'}."
    )


ARTEFACT = Artefact(
    id="cegb-queries",
    paper="cegb_2017",
    title="Beside CEGB: over queries",
    shows="Claims of Figures 2 and 3 on ranking data, over queries.",
    minutes={"smoke": 0.3, "laptop": 2, "overnight": 5, "paper": 60},
    seeds=REPETITIONS,
    make_cells=make_cells,
    run_cell=score_queries,
    keys=("panel", "kind", "tradeoff", "rounds"),
    tolerances=TRACE_TOLERANCES,
    drawn_columns=("places",),
    render=render,
    make_claims=of_queries,
    alt=alt,
    paper_numbers="Figures 2 and 3 print curves without numbers: nothing to compare with.",
)
