"""Beside the CEGB paper: what our deviations from it change."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import pandas as pd

from experiments.ablation import OURS, Change, Column, Line, of, table
from experiments.artefact import Artefact, Cell, Tolerance
from experiments.cegb_2017.cells.measure import final_score
from experiments.cegb_2017.show.panels import MIDDLE, PANELS, Panel, panel_name, settings
from experiments.data_kinds import aside
from experiments.tables import page

SHOWN = tuple(panel for panel in PANELS if panel.key in ("a'", "c", "d"))
"""Real data, with prices and with uniform costs."""

MISSING = 1 - 125_649 / 130_064
"""Share of MiniBooNE's rows that its rebuilt file lacks; as many again are left out."""

LARGE = {"priced": 3e-3, "uniform": 1e-1}
"""λ at which the stop is tried, too."""

EXACT_ROUNDS = {"smoke": 3, "laptop": 30, "overnight": 500, "paper": 500}
"""Rounds of the comparison with exact thresholds, which take scikit-learn long."""


CHANGES = (
    Change("exact", "every threshold instead of at most 255 bins (plain boosting)"),
    Change("bins_127", "127 bins instead of 255"),
    Change("bins_63", "63 bins instead of 255"),
    Change("bins_31", "31 bins instead of 255"),
    Change("all_splits", "splits on at negative net gain, as the authors' program does"),
    Change("start_at_zero", "starts from 0, as the paper does, instead of the mean"),
    Change(
        "fewer_rows",
        f"as many rows left out again as the file lacks ({MISSING:.1%})",
        panels=("c",),
    ),
)
"""Names as :func:`experiments.cegb_2017.cells.measure.final_score` knows them."""

COLUMNS = (
    Column("test score, change − ours", "test_score", "difference", "+.4f"),
    Column("test cost, change / ours", "test_cost", "ratio", ".3f"),
)


def method_of(change: Change) -> str:
    """Return whose training is varied: scikit-learn's exact thresholds know no costs."""
    return "gbrt" if change.name == "exact" else "cegb"


def tradeoffs(panel: Panel, change: Change) -> tuple[float, ...]:
    """Return the λ a change is tried at: for the stop a large one, too."""
    if method_of(change) == "gbrt":
        return (0.0,)
    middle = MIDDLE[panel.prices]
    return (middle, LARGE[panel.prices]) if change.name == "all_splits" else (middle,)


def make_cells(scale: str, seeds: range) -> list[Cell]:
    """Return the cells: panel × seed × (ours and every change) × λ."""
    cells = {}
    for panel in SHOWN:
        # Without synthetic data of its own, the priced panel takes that of Yahoo! LTR.
        dataset = (panel.smoke_dataset or "yahoo_ltr") if scale == "smoke" else panel.dataset
        for seed in seeds:
            for change in CHANGES:
                if change.panels and panel.key not in change.panels:
                    continue
                method = method_of(change)
                base = settings(scale, panel, method)
                if method == "gbrt":
                    base = base | {"n_estimators": EXACT_ROUNDS[scale]}
                for tradeoff in tradeoffs(panel, change):
                    for variant in (OURS, change.name):
                        params = {
                            "panel": panel.key,
                            "tradeoff": tradeoff,
                            "variant": variant,
                            "settings": base,
                        }
                        if variant == "fewer_rows":
                            params["left_out"] = round(MISSING, 6)
                        cell = Cell(dataset, method, params, seed)
                        cells[(panel.key, seed, method, variant, tradeoff)] = cell
    return list(cells.values())


def lines_of(rows: pd.DataFrame, meta: Mapping) -> Iterator[Line]:
    """Yield a line for each change, data set and λ that there are rows on."""
    for change in CHANGES:
        for panel in SHOWN:
            for tradeoff in tradeoffs(panel, change):
                where = {
                    "panel": panel.key,
                    "algorithm": method_of(change),
                    "tradeoff": tradeoff,
                }
                mine = of(rows, {**where, "variant": change.name})
                if len(mine):
                    dataset = mine["dataset"].iloc[0]
                    name = f"{panel_name(panel, dataset)}{aside(meta['data'][dataset])}"
                    score = "AP@5" if panel.relevant_from else "accuracy"
                    yield Line((change.says, name, f"{tradeoff:g}", score), change.name, where)


def render(rows: pd.DataFrame, meta: Mapping) -> str:
    """Return the table: one line per change, data set and λ."""
    heads = ("change", "data", "λ", "score")
    return page(
        f"CEGB: what our deviations change (scale {meta['scale']})",
        "Each line trains the same model once as we do and once with the change, on the same "
        f"draws. Mean ± standard deviation over {len(meta['seeds'])} seeds; a positive "
        "difference says that the change scores higher, a ratio below 1 that it costs less.",
        table(rows, heads, COLUMNS, lines_of(rows, meta)),
    )


ARTEFACT = Artefact(
    id="cegb-deviations",
    paper="cegb_2017",
    title="Beside CEGB: what our deviations change",
    shows="Test score and cost with binning, stopping rule, start and missing rows done otherwise.",
    minutes={"smoke": 0.2, "laptop": 3.3, "overnight": 110, "paper": 300},
    seeds={"smoke": 1, "laptop": 5, "overnight": 10, "paper": 5},
    make_cells=make_cells,
    run_cell=final_score,
    keys=("panel", "variant", "tradeoff"),
    tolerances={
        "test_score": Tolerance(absolute=0.01),
        "test_cost": Tolerance(absolute=0.01, relative=0.05),
    },
    render=render,
    paper_numbers="The deviations are ours; the paper has no numbers for them.",
)
