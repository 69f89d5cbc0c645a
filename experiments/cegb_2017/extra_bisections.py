"""Beside Figure 2 of the CEGB paper: whether the gaps of its curves are gaps of the methods.

Where two neighbouring models of a curve differ by more than a factor of two in cost, λ is bisected
between the two of the grid whose models lie on either side.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace

import pandas as pd

from experiments.artefact import Artefact, Cell, Tolerance
from experiments.cegb_2017.cells.bisect import bisect_gaps
from experiments.cegb_2017.show.design import (
    REPETITIONS,
    THINNED,
    cells_of,
    repetitions,
    tradeoffs,
)
from experiments.cegb_2017.show.panels import PANELS, TRACE_TOLERANCES
from experiments.cells.bisection import MOST
from experiments.cells.gaps import IN_A_ROW
from experiments.publishing.bisections import outcome
from experiments.style import LOOKS

_WITH_TRADEOFF = ("cegb", "cegb_shallow", "greedy_miser", "cegb_as_miser")
"""Plain boosting has no λ."""

CURVES = {
    "a'": _WITH_TRADEOFF,
    "b'": _WITH_TRADEOFF,
    "w": _WITH_TRADEOFF,
    "y": ("cegb_shallow", "cegb_as_miser"),
    "m": ("cegb", "greedy_miser", "cegb_as_miser"),
    "d": ("cegb_as_miser",),
    **dict.fromkeys(THINNED, _WITH_TRADEOFF),
}
"""Curves of Figure 2 whose gaps are bisected: those that have a gap and a λ in the rows published
overnight. Of panels whose data only their owners have no rows are published that could say where
gaps are: there all that have a λ. At other scales the same, as far as Figure 2 has them."""

SMOKE_CURVES = {"a": ("cegb_as_miser",), "b": ("cegb",), "f": ("cegb_shallow",)}
"""What is always there, at smoke scale."""


def make_cells(scale: str, seeds: range) -> list[Cell]:
    """Return the cells: panel × method × seed; a cell trains Figure 2's models of all λ."""
    chosen = SMOKE_CURVES if scale == "smoke" else CURVES
    cells = []
    for panel in PANELS:
        for method in chosen.get(panel.key, ()):
            if scale == "laptop" and method == "cegb_as_miser":  # not in Figure 2 there
                continue
            grid = tradeoffs(scale, panel, method)
            if scale == "smoke":  # Figure 2's own two leave no gap
                grid = (0.0, tradeoffs("overnight", panel, method)[-1])
            for seed in repetitions(scale, panel, seeds):
                model, *_ = cells_of(scale, panel, method, seed, grid)
                params = {name: model.params[name] for name in ("panel", "settings")}
                params |= {"tradeoffs": list(grid), "thinned": panel.key in THINNED}
                cells.append(replace(model, params=params))
    return cells


# --- table --------------------------------------------------------------------------------------

KINDS = {
    "hidden": "filled by models of the grid that no budget chooses",
    "closed": "closed by models that bisections found",
    "narrowed": f"narrowed, then {IN_A_ROW} bisections in a row without a model inside",
    "empty": f"without a model inside in {IN_A_ROW} bisections",
    "no bracket": "without two λ of the grid on either side",
    "unfinished": f"given up, after {MOST} bisections at most",
}


def _gaps(rows: pd.DataFrame):
    return rows.groupby(["panel", "algorithm", "seed", "gap"])


def render(rows: pd.DataFrame, meta: Mapping) -> str:
    """Return the table: one line per gap that λ was bisected at; the others are counted."""
    results = [(key, steps.sort_values("step"), outcome(steps)) for key, steps in _gaps(rows)]
    counts = Counter(result.kind for _, _, result in results)
    lines = [
        f"# CEGB, Figure 2: gaps bisected (scale {meta['scale']})",
        "",
        "A gap of one curve on one repetition is two neighbouring models whose costs "
        "differ by more than a factor of two. λ is bisected between two neighbours of the grid "
        "whose models lie on either side after equal rounds; a model counts after any of the "
        "rounds at which models are measured.",
        "",
        f"{len(results)} gaps, {sum(result.tried for *_, result in results)} bisections:",
        "",
        *(f"* {counts[kind]} {words};" for kind, words in KINDS.items() if counts[kind]),
        "",
        f"Not bisected, as the grid fills them: {_counted(results)}. Bisected:",
        "",
        "| panel | method | seed | from | to | factor | between λ | bisections | what they found |",
        "|---|---|---:|---:|---:|---:|---|---:|---|",
    ]
    for (panel, method, seed, _), steps, result in results:
        if result.kind == "hidden":
            continue
        first = steps.iloc[0]
        lines.append(
            f"| {panel} | {LOOKS[method].label} | {seed} | {first['below']:.4g} | "
            f"{first['above']:.4g} | {first['above'] / first['below']:.1f} | {_between(steps)} | "
            f"{result.tried} | {result.words} |"
        )
    return "\n".join(lines) + "\n"


def _counted(results) -> str:
    """Count the gaps of each curve that models of the grid fill."""
    filled = Counter(key[:2] for key, _, result in results if result.kind == "hidden")
    said = (f"({panel}) {LOOKS[method].label}: {n}" for (panel, method), n in filled.items())
    return "; ".join(said) or "none"


def _between(steps: pd.DataFrame) -> str:
    """Name the λ between which the first bisection was made."""
    if len(steps) == 1:
        return "–"
    first = steps.iloc[1]
    return f"{first['tradeoff_low']:g} and {first['tradeoff_high']:g}"


def alt(rows: pd.DataFrame, meta: Mapping) -> str:
    """Say how many gaps were bisected, and what became of them."""
    counts = Counter(outcome(steps).kind for _, steps in _gaps(rows))
    said = "; ".join(f"{counts[kind]} {words}" for kind, words in KINDS.items() if counts[kind])
    return f"A table of {counts.total()} gaps in the curves of Figure 2, bisected by λ: {said}."


_COSTS = ("below", "above", "part_below", "part_above")
_TRADEOFFS = ("tradeoff_low", "tradeoff_high", "tradeoff")

ARTEFACT = Artefact(
    id="cegb-bisections",
    paper="cegb_2017",
    title="Beside CEGB: the gaps of Figure 2, bisected",
    shows="Whether a finer grid of λ has models where a curve of Figure 2 has none.",
    minutes={"smoke": 0.3, "laptop": 5, "overnight": 12, "paper": 900},
    seeds={**REPETITIONS, "smoke": 1},
    make_cells=make_cells,
    run_cell=bisect_gaps,
    keys=("panel", "gap", "step"),
    tolerances={
        **dict.fromkeys(_COSTS, Tolerance(absolute=0.01, relative=0.05)),
        **dict.fromkeys(_TRADEOFFS, Tolerance(relative=1e-5)),
        "inside": Tolerance(),
        "rounds": Tolerance(),
        **TRACE_TOLERANCES,
        "widest_left": Tolerance(relative=0.05),
    },
    render=render,
    make_claims=lambda rows, meta: [],
    alt=alt,
    paper_numbers="The paper has no such table: it does not print its grid of λ.",
)
