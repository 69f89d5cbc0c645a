"""Beside the adaptive sampling paper: what its open choices and our deviations change."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd

from experiments.ablation import Change, Column, Line, of, table
from experiments.adaptive_sampling_2014.cells.grid import MAX_COST
from experiments.adaptive_sampling_2014.cells.variants import read
from experiments.adaptive_sampling_2014.show.paper_tables import SETS
from experiments.adaptive_sampling_2014.show.tables import kind_of
from experiments.artefact import Artefact, Cell, Tolerance
from experiments.data_kinds import is_synthetic

_ROUNDS = (10, 100, 1_000)
ROUNDS = {"smoke": (10,), "laptop": _ROUNDS, "overnight": _ROUNDS, "paper": _ROUNDS}
_EXACT = (10, 100, 200)
EXACT_ROUNDS = {"smoke": (10,), "laptop": _EXACT, "overnight": _EXACT, "paper": _EXACT}
"""After these rounds losses are read; the last is how many are trained."""

N_EXACT = 2_000
"""Training images of the comparison with exact thresholds: the first of the set."""

EXACT_FAMILIES = ("fourier_magnitude", "gradient_magnitude", "hog_unoriented_7")
"""Families whose values are real numbers before they become bytes."""

TITLES = {dataset: printed.title for dataset, printed in SETS.items()}
"""The data sets, in the order of the paper's tables."""


@dataclass(frozen=True)
class Choice:
    """A sampler as we have it by default, and what else it could be."""

    # sampler, name: Key in :data:`algorithms.feature_sampling.SAMPLERS`; the paper's name
    sampler: str
    name: str
    default: Change
    changes: tuple[Change, ...]


_UNIFORMLY = Change("uniform_draws", "examples drawn uniformly", {"by_weight": False})
CHOICES = (
    Choice(
        "laminating",
        "Laminating",
        Change("default", "Q = 32, examples drawn by weight"),
        (
            *(Change(f"Q_{Q}", f"Q = {Q:,}", {"n_features": Q}) for Q in (128, 512, 2_048)),
            _UNIFORMLY,
        ),
    ),
    Choice(
        "mas_naive",
        "M.A.S. Naive",
        Change("default", "3 components, examples drawn by weight"),
        (
            Change("components_1", "1 component", {"n_components": 1}),
            Change("components_5", "5 components", {"n_components": 5}),
            _UNIFORMLY,
        ),
    ),
    Choice(
        "tasting_1q",
        "Tasting 1.Q",
        Change("default", "R = 10 features tasted"),
        (
            Change("R_3", "R = 3", {"n_tasted": 3}),
            Change("R_30", "R = 30", {"n_tasted": 30}),
        ),
    ),
)
THRESHOLDS = Choice(
    "uniform_naive",
    "Uniform Naive",
    Change("8_bit", "8-bit columns"),
    (Change("exact", "real values, exact thresholds"),),
)


def make_cells(scale: str, seeds: range) -> list[Cell]:
    """Return the cells: data set × seed × (every default and change), and exact thresholds."""
    cells = []
    for dataset in ("mnist",) if scale == "smoke" else TITLES:
        for seed in seeds:
            for choice in CHOICES:
                for change in (choice.default, *choice.changes):
                    params = _params(change, ROUNDS[scale]) | {"given": dict(change.changes)}
                    cells.append(Cell(dataset, choice.sampler, params, seed))
    for seed in seeds:
        for change in (THRESHOLDS.default, *THRESHOLDS.changes):
            params = _params(change, EXACT_ROUNDS[scale]) | {
                "exact": change.name == "exact",
                "families": list(EXACT_FAMILIES),
                "n_train": N_EXACT,
            }
            cells.append(Cell("mnist", THRESHOLDS.sampler, params, seed))
    return cells


def _params(change: Change, rounds: tuple[int, ...]) -> dict[str, Any]:
    return {
        "variant": change.name,
        "n_estimators": rounds[-1],
        "max_cost": MAX_COST,
        "rounds": list(rounds),
    }


def render(rows: pd.DataFrame, meta: Mapping) -> str:
    """Return a table for each data set, and one of exact thresholds."""
    families, n_seeds = ", ".join(EXACT_FAMILIES), len(meta["seeds"])
    drawn = any(is_synthetic(record) for record in meta["data"].values())
    images = ", and of synthetic data in the images" if drawn else "; the images are the same"
    parts = [
        f"# Adaptive sampling: what the paper leaves open, and our deviations "
        f"(scale {meta['scale']})",
        "",
        "The first line of each method is the way we have it: mean log₁₀ of the training loss and "
        "mean test error (%) after T rounds. The lines below it do one thing otherwise: "
        "**differences** from the first line, paired by seed; below zero the change is better. "
        f"± is the standard deviation over {n_seeds} seed{'s' * (n_seeds > 1)}, which differ in "
        f"what the methods draw{images}. Cost: evaluations of a feature on an "
        "example in a round, in units of N training images, as the paper counts them and (in "
        f"brackets) all. † more than the {MAX_COST} allowed: Laminating begins with one example at "
        "least.",
        "",
    ]
    for dataset in TITLES:
        if dataset in set(rows["dataset"]):
            parts += [f"## {_title(dataset, meta)}", "", *_table(rows, dataset, CHOICES), ""]
    n_train = min(N_EXACT, meta["data"]["mnist"]["rows"]["train"])
    parts += [
        f"## 8-bit columns against exact thresholds: {_title('mnist', meta)}",
        "",
        f"The first {n_train:,} training images, all test images, and the families {families}: "
        "as bytes, and as the real numbers they are before, with a threshold at every midpoint "
        f"between neighbouring values. {MAX_COST} features drawn uniformly in a round, the same "
        "in both.",
        "",
        *_table(rows, "mnist", (THRESHOLDS,)),
    ]
    return "\n".join(parts) + "\n"


def _title(dataset: str, meta: Mapping) -> str:
    record = meta["data"][dataset]
    return f"{TITLES[dataset]} ({kind_of(record)}), N = {record['rows']['train']:,}"


def _table(rows: pd.DataFrame, dataset: str, choices: tuple[Choice, ...]) -> list[str]:
    samplers = [choice.sampler for choice in choices]
    mine = rows[(rows["dataset"] == dataset) & rows["algorithm"].isin(samplers)]
    rounds = sorted(set(mine["rounds"]))
    columns = [
        Column(f"T = {t:,}: {name}", value, "difference", f"+{form}", form, {"rounds": t})
        for t in rounds
        for name, value, form in (("loss", "log10_loss", ".3f"), ("error", "test_error", ".2f"))
    ]
    lines = []
    for choice in choices:
        default, where = choice.default, {"algorithm": choice.sampler}
        for change in (default, *choice.changes):
            name = f"**{choice.name}**" if change is default else ""
            last = of(mine, {**where, "variant": change.name, "rounds": rounds[-1]})
            labels = (name, change.says, _cost(last))
            lines.append(Line(labels, change.name, where, default.name))
    return table(mine, ("method", "", "cost (all)"), columns, lines)


def _cost(rows: pd.DataFrame) -> str:
    paper, every = rows["paper_cost"].mean(), rows["evaluations"].mean()
    dagger = "†" if round(paper, 1) > MAX_COST else ""
    return f"{paper:.1f}{dagger} ({every:.1f})"


ARTEFACT = Artefact(
    id="sampling-choices",
    paper="adaptive_sampling_2014",
    title="Beside adaptive sampling: open choices and deviations",
    shows="Loss and test error with other Q, mixtures, tasted features, draws and thresholds.",
    minutes={"smoke": 0.2, "laptop": 8, "overnight": 26, "paper": 30},
    seeds={"smoke": 2, "laptop": 3, "overnight": 10, "paper": 5},
    make_cells=make_cells,
    run_cell=read,
    keys=("variant", "rounds"),
    tolerances={
        "log10_loss": Tolerance(absolute=0.03),
        "test_error": Tolerance(absolute=4.0),
        "paper_cost": Tolerance(relative=0.05),
        "evaluations": Tolerance(relative=0.05),
    },
    render=render,
    paper_numbers="The choices are ours; the paper does not state what it took.",
    data_form="features",
)
