"""Writes what came out: tables, picture, and how the chosen models are loaded."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import matplotlib
import pandas as pd
from matplotlib.figure import Figure

from experiments.compare.choosing import along_the_costs
from experiments.compare.methods import Method
from experiments.compare.outcome import Outcome, Search
from experiments.compare.preparing import Asked
from experiments.compare.reading import shown
from experiments.running.store import write_atomically
from experiments.style import LOOKS, Look, house_style, log_cost_axis, picture_bytes

WHEEL = "cost_aware_boosting"
"""What the package ``algorithms`` is called in the wheel."""

_SALT = "compare"
_OF_THE_USERS = (
    Look("", "#000000", "X", "--"),
    Look("", "#7A5C00", "H", "-."),
    Look("", "#3F3D99", "8", ":"),
)
_SCORES = {
    "accuracy": "accuracy (share of rows)",
    "balanced_accuracy": "balanced accuracy (mean share over classes)",
    "neg_mean_squared_error": "minus the mean squared error",
    "neg_mean_absolute_error": "minus the mean absolute error",
}


def write(folder: Path, outcome: Outcome, asked: Asked, search: Search) -> None:
    """Write all files of a comparison but the models.

    Parameters
    ----------
    folder : Path
    outcome : Outcome
    asked, search
        What the command was asked.
    """
    texts = {
        "rows.csv": _csv(outcome.rows),
        "table.csv": _csv(outcome.table),
        "table.md": markdown(outcome),
        "differences.csv": _csv(outcome.differences),
        "README.txt": summary(outcome, asked, search, folder) + "\n",
    }
    for name, text in texts.items():
        write_atomically(folder / name, text.encode())
    # A user's names are no formulas, and may have letters that the font lacks.
    as_it_is = matplotlib.rc_context({"text.parse_math": False})
    with house_style(_SALT), as_it_is, warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing from", UserWarning)
        drawn = picture_bytes(picture(outcome, asked, search), "png", _SALT)
    write_atomically(folder / "picture.png", drawn)


def _csv(table: pd.DataFrame) -> str:
    return table.to_csv(index=False, lineterminator="\n")


def _labels(outcome: Outcome) -> dict[str, str]:
    return {method.slug: method.label for method in outcome.methods}


# --- text ---------------------------------------------------------------------------------------


def markdown(outcome: Outcome) -> str:
    """Give the table of each budget, best validation score first, and the differences."""
    labels, metric = _labels(outcome), outcome.prepared.metric
    different = outcome.differences.set_index(["budget", "method"])
    lines = []
    for budget, pool in outcome.table.groupby("budget", sort=True):
        best = labels[pool.loc[pool["recommended"], "method"].iloc[0]]
        lines += [
            f"Budget {budget:g}: {best}",
            "",
            f"| method | validation {metric} | test {metric} | 95 % interval | test cost | less "
            "the recommended | real? |",
            "|---|--:|--:|---|--:|---|---|",
        ]
        for line in pool.sort_values("valid_score", ascending=False, kind="stable").itertuples():
            versus, real = "recommended", ""
            if not line.recommended:
                d = different.loc[(budget, line.method)]
                versus = f"{d['difference']:+.4f} ({d['low']:+.4f} to {d['high']:+.4f})"
                real = "yes" if d["real"] else "no"
            lines.append(
                f"| {labels[line.method]} | {line.valid_score:.4f} | {line.test_score:.4f} | "
                f"{line.test_low:.4f} to {line.test_high:.4f} | {line.test_cost:.4g} | {versus} | "
                f"{real} |"
            )
        lacking = [labels[slug] for slug in labels if slug not in set(pool["method"])]
        if lacking:
            lines += ["", f"No model within this budget: {', '.join(lacking)}."]
        lines.append("")
    return "\n".join(lines)


def recommendation(outcome: Outcome) -> list[str]:
    """Give a line for each budget: the method, its test score and cost, who is really worse."""
    labels, lines = _labels(outcome), []
    for line in outcome.table[outcome.table["recommended"]].itertuples():
        pool = outcome.differences[outcome.differences["budget"] == line.budget]
        worse = [labels[m] for m in pool.loc[pool["real"] & (pool["difference"] < 0), "method"]]
        better = [labels[m] for m in pool.loc[pool["real"] & (pool["difference"] > 0), "method"]]
        text = (
            f"budget {line.budget:g}: {labels[line.method]}, test {outcome.prepared.metric} "
            f"{line.test_score:.4f} ({line.test_low:.4f} to {line.test_high:.4f}) at a cost of "
            f"{line.test_cost:.4g}"
        )
        if worse:
            text += f"; really worse: {', '.join(worse)}"
        if better:
            text += f"; really better on the test rows: {', '.join(better)}"
        if len(pool) and not worse and not better:
            text += "; no difference to another method is real"
        lines.append(text)
    return lines


def loading(model: dict[str, Any], task: str) -> list[str]:
    """Give the four lines that load a model and use it."""
    if model["path"] is None:
        return [f"# {model['method']} has no save(path): train it with the parameters in rows.csv."]
    lines = [
        f"from {model['module']} import {model['class']}"
        f"  # with the wheel alone: from {model['module'].replace('algorithms', WHEEL, 1)}",
        f"model = {model['class']}.load({str(model['path'])!r})",
    ]
    if task == "ranking" and model["method"] == "early_exit":
        return [
            *lines,
            "scores = model.ranking_score(X, query)  # a query's rows stand together",
            "print(model.prediction_cost(X, query).mean())",
        ]
    return [
        *lines,
        "predictions = model.predict(X)  # a table with the same columns, in this order",
        "print(model.prediction_cost(X).mean())",
    ]


def summary(outcome: Outcome, asked: Asked, search: Search, folder: Path) -> str:
    """Give README.txt: what was compared, what came out, how to go on."""
    prepared, n = outcome.prepared, outcome.prepared.n_rows
    lines = [
        f"{shown(asked.table)}: {prepared.task} of {asked.target!r}, {prepared.metric} (larger is "
        "better).",
        f"{n['train']} rows train, {n['valid']} choose, {n['test']} judge. Costs: "
        f"{prepared.prices.origin}; each evaluated split costs {asked.split_cost:g}.",
        f"Each method had {search.trials} draws of its parameters, the same for all, up to "
        f"{search.rounds} rounds, and was measured at many rounds (or thresholds) of each.",
        "For each budget the best validation score within it was chosen; scores and costs here are "
        f"of the test rows, intervals and differences from resampled {prepared.resampled} (95 %, "
        "differences corrected after Holm).",
        *(f"Note: {line}." for line in prepared.notes),
        *(f"Left out: {line}." for line in outcome.left_out),
        "",
        *recommendation(outcome),
        "",
        "table.md, table.csv: every method at every budget. differences.csv: which are real.",
        "rows.csv: every trial. picture.png: score against cost. trials/: what need not be "
        "computed again.",
    ]
    for budget, model in outcome.models.items():
        lines += ["", f"# the model for budget {budget:g}", *loading(model, prepared.task)]
    return "\n".join(lines)


# --- picture ------------------------------------------------------------------------------------


def _look(method: Method, number: int) -> Look:
    if method.slug in LOOKS:
        return LOOKS[method.slug]
    return _OF_THE_USERS[number % len(_OF_THE_USERS)]


def _in_the_legend(label: str) -> str:
    """Give a label; one that begins with _ would be left out."""
    return f" {label}" if label.startswith("_") else label


def picture(outcome: Outcome, asked: Asked, search: Search) -> Figure:
    """Draw test score against cost: a line for each method, its models at the asked budgets."""
    prepared = outcome.prepared
    figure = Figure(figsize=(9.5, 5.2), layout="constrained")
    ax = figure.subplots()
    curves = along_the_costs(outcome.rows, search.budgets)
    for number, method in enumerate(outcome.methods):
        look = _look(method, number)
        curve = curves[(curves["method"] == method.slug) & (curves["test_cost"] > 0)]
        if curve.empty:
            continue
        ax.plot(
            curve["test_cost"], curve["test_score"], color=look.colour, marker=look.marker,
            linestyle=look.line, label=_in_the_legend(method.label), markersize=4, linewidth=1.2,
            alpha=0.9,
        )  # fmt: skip
        at = outcome.table[(outcome.table["method"] == method.slug) & outcome.table["recommended"]]
        ax.errorbar(
            at["test_cost"], at["test_score"],
            yerr=[at["test_score"] - at["test_low"], at["test_high"] - at["test_score"]],
            fmt="none", ecolor=look.colour, elinewidth=1.4, capsize=4,
        )  # fmt: skip
        ax.plot(
            at["test_cost"], at["test_score"], linestyle="none", marker="o", markersize=13,
            markerfacecolor="none", markeredgecolor=look.colour, markeredgewidth=1.6,
        )  # fmt: skip
    for budget in search.budgets:
        ax.axvline(budget, color="0.6", linewidth=0.8, linestyle=(0, (4, 3)), zorder=0)
        ax.annotate(
            f"budget {budget:g}", (budget, 1), xycoords=("data", "axes fraction"),
            xytext=(3, -3), textcoords="offset points", rotation=90, va="top", fontsize=7,
            color="0.35",
        )  # fmt: skip
    log_cost_axis(ax)
    unit = shown(asked.unit or "") or f"unit of {prepared.prices.origin}"
    ax.set_xlabel(f"mean cost of a prediction on the test rows ({unit}, log scale)")
    ax.set_ylabel(f"{_SCORES.get(prepared.metric, prepared.metric)}, test rows")
    ax.set_title(
        f"{shown(asked.table)}, {asked.target}: {search.trials} draws a method; circles: chosen on "
        "validation for a budget, with 95 % interval"
    )
    figure.legend(
        *ax.get_legend_handles_labels(), loc="outside right upper", fontsize=7, handlelength=3
    )
    return figure
